"""What `pmem undo` says: the command's own words, and a screen of what it took back."""

from pathlib import Path

from tests.cli.shell import pmem


def test_undo_of_a_large_batch_tells_some_of_it_and_how_many_there_were(project: str) -> None:
    lines = [f'{{"content": "Queue {number} is for parcels."}}' for number in range(25)]
    Path("batch.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert pmem("add", "--batch", "batch.jsonl", "--force").code == 0
    told = pmem("undo").text.splitlines()
    assert told[0].startswith("took back add --batch of ")
    assert told[-1] == "  and 5 more; --json has them all"
    assert len([line for line in told if line.endswith("is for parcels.")]) == 20
    assert pmem("list").text == ""


def test_undo_names_commands_as_they_are_typed(project: str) -> None:
    for words in (("conversation", "start", "Queues"), ("conversation", "pause")):
        assert pmem(*words).code == 0
    assert pmem("undo").text.startswith("took back conversation pause of ")
    Path("queue.py").write_text("PREFETCH = 50\n", encoding="utf-8")
    memory = pmem("add", "It takes 50", "--cite", "queue.py:1").text.split()[1]
    Path("queue.py").write_text("LIMIT = 7\n", encoding="utf-8")
    assert pmem("check", "--accept", memory).code == 0
    assert pmem("undo").text.startswith("took back check --accept of ")
    assert pmem("edit", memory, "It takes 40", "--supersede").code == 0
    assert pmem("undo").text.startswith("took back edit --supersede of ")


def test_undo_names_what_decided_a_fact(project: str) -> None:
    assert pmem("conversation", "start").code == 0
    said = "We should use RabbitMQ because it routes by topic."
    assert pmem("conversation", "say", said).code == 0
    for verb in ("accept", "reject"):
        fact = pmem("inbox", "facts").text.split()[0]
        assert pmem("inbox", verb, fact).code == 0
        assert pmem("undo").text.startswith(f"took back inbox {verb} of ")
