"""Summaries of what is no talk: logs, tool output, endless sentences, and next to no share."""

import pytest

from pmem.core.summaries.summary import MOST_TOKENS, merged, summarise
from pmem.core.tokens import count_tokens
from tests.core.summaries.test_summary import chatter
from tests.work import STALLED, calls, seconds

GOVERNED = (
    ", but aaaaaaaaaaaaaa" * 240 + ", but you may not go there now" + ", and I bbbbbbbb" * 320
)
ALTERNATING = "a, if b, c, but d, " * 500
TALK = (
    "The import died again last night, can you look?",
    "{}",
    "The connection pool of the importer was too small, we raised it to 40.",
    "Release 3.2 goes out on Thursday.",
)
ROUTINE = (
    "2026-03-02 01:14:{:02} INFO batch {} of warehouse Rotterdam done",
    "[2026-03-02T01:14:{:02}.120Z] [debug] cache miss for customer {} in Rotterdam",
    "INFO:importer.rows:{:02} rows of table {} read from Rotterdam",
    "Mar  2 01:14:{:02} rotterdam importer[{}]: connection accepted",
    "[{:02}/400] Building Rotterdam module {}",
    "Rotterdam {:02}%|████████      | {}/400",
    "- [id:mwr9sx{:02}-{}] Rotterdam is where the warehouse is",
    "(pmem: {:02} messages of Rotterdam were left out, {} in all)",
    "Downloading rotterdam wheel {:02} of {}",
)


def log(shape: str, lines: int = 300) -> str:
    return "\n".join(shape.format(n % 60, n) for n in range(lines))


@pytest.mark.parametrize("sentence", [GOVERNED, ALTERNATING, "so I think we may go, " * 450])
def test_an_endless_sentence_takes_time_by_its_length(sentence: str) -> None:
    parts, whole = chatter(*[sentence] * 10), chatter(sentence * 10)
    assert calls(lambda: summarise(whole, count_tokens)) < 2 * calls(
        lambda: summarise(parts, count_tokens)
    )
    assert seconds(lambda: summarise(whole, count_tokens)) < STALLED


@pytest.mark.parametrize("shape", ROUTINE)
@pytest.mark.parametrize("fence", ["{}", "```\n{}\n```"])
def test_a_long_log_leaves_the_summary_to_what_people_said(shape: str, fence: str) -> None:
    pasted = fence.format(log(shape))
    found = summarise(chatter(*(text.format(pasted) for text in TALK)), count_tokens)
    assert found.casefold().count("rotterdam") + found.count("accepted") <= 1
    assert "raised it to 40" in found
    assert "Release 3.2" in found


def test_of_a_log_the_line_that_decides_may_be_told() -> None:
    lines = log(ROUTINE[0]).splitlines()
    lines[200:200] = [
        f"2026-03-02 01:14:{n} ERROR pool exhausted for shard {n}" for n in range(10, 40)
    ]
    lines.append("2026-03-02 01:20:00 FATAL importer stopped: MemoryError in parse_rows")
    found = summarise(chatter(*(text.format("\n".join(lines)) for text in TALK)), count_tokens)
    assert "MemoryError in parse_rows" in found
    assert found.count("pool exhausted") <= 1


@pytest.mark.parametrize(
    "line",
    [
        "The INFO lines of the log are useless, we drop them.",
        "At 14:05 the deploy of release 7 was done.",
        "Error 502 came from the proxy.",
        "The identifier [id:x] is what the importer writes into each row of the table.",
        "We are at 80% of the budget.",
    ],
)
def test_talk_about_logs_is_no_log(line: str) -> None:
    assert line in summarise(chatter("Good morning!", line), count_tokens, 1.0)


def test_no_summary_has_more_than_the_most() -> None:
    said = [f"Customer {n} moved from Lisbon{n} to Oslo{n} in May. " * 3 for n in range(900)]
    assert MOST_TOKENS * 0.8 < count_tokens(summarise(chatter(*said), count_tokens)) <= 200


@pytest.mark.parametrize(
    ("proposed", "decided", "kept"),
    [
        ("I propose a queue with Celery.", "After the test: plain pika, no Celery.", "plain pika"),
        ("Shall we store the sessions in Redis?", "We decided against Redis.", "against Redis"),
        ("Maybe we could host it on Heroku.", "Heroku was rejected by legal.", "rejected"),
        ("What about GraphQL for the gateway?", "GraphQL is replaced by REST.", "by REST"),
    ],
)
def test_of_a_proposal_and_what_became_of_it_the_outcome_stays(
    proposed: str, decided: str, kept: str
) -> None:
    filling = ("It rained in the morning, so we were late.", "Lunch was good, as it always is.")
    said = chatter(proposed, *filling, decided, "Fine, see you then.")
    assert kept in summarise(said, count_tokens, 0.3)


@pytest.mark.parametrize("empty", ["", " \n", "Earlier: \n\nThen: ", "Earlier: \n\nThen:"])
def test_nothing_has_no_part_in_a_merged_summary(empty: str) -> None:
    assert merged(empty, "Ada: One.", count_tokens, 50) == "Ada: One."
    assert merged("Ada: One.", empty, count_tokens, 50) == "Ada: One."
    assert merged(empty, empty, count_tokens, 50) == ""


@pytest.mark.parametrize("part", ["Earlier: Ada: One.\n\nThen: ", "Earlier: \n\nThen: Ada: One."])
def test_a_part_that_was_empty_is_taken_out_again(part: str) -> None:
    assert merged(part, "Bob: Two.", count_tokens, 50) == "Earlier: Ada: One.\n\nThen: Bob: Two."
    assert merged("Bob: Two.", part, count_tokens, 50) == "Earlier: Bob: Two.\n\nThen: Ada: One."
