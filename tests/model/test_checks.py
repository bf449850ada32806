"""What an answer may say: founded, in form, and nothing that harms who reads it."""

import json
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

import pmem.model.tasks
from pmem.model import tasks
from pmem.model.checks import (
    CheckRules,
    check_founded,
    checked_answer,
    read_model_answer,
    source_of,
)
from pmem.model.models import AnswerRefused
from pmem.upkeep.work.trying import EXAMPLES

SOURCE = tasks.ChunkGiven(
    messages=(
        tasks.SaidMessage(
            who="Ada",
            text="We'll use PostgreSQL 16.2 for orders: MySQL lost 1,200 rows in March, see"
            " src/db/pool.py:12 and `make_pool()`. Port 5432, three retries.",
        ),
        tasks.SaidMessage(
            who="Ben", text="Jean-Luc's team in São Paulo agrees; I deploy on Monday."
        ),
    ),
    most_characters=400,
)


@pytest.mark.parametrize(
    "text",
    [
        "Ada chose PostgreSQL for the orders because MySQL lost rows.",
        "The team uses PostgreSQL 16 with 3 retries on port 5432.",
        "MySQL lost 1200 rows in March.",
        "See src/db/pool.py and make_pool() for the pool of orders.",
        "Jean-Luc's team from Sao Paulo agreed; Ben deploys on Monday.",
        "Decision: orders go to PostgreSQL. Afterwards, Ben deployed.",
        "PostgreSQL's port is 5432.",
        "Finally, everybody agreed to use PostgreSQL for orders.",
    ],
)
def test_what_the_source_says_in_other_words_is_founded(text: str) -> None:
    check_founded(text, source_of(SOURCE), "it")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Ada chose CockroachDB for the orders.", "CockroachDB"),
        ("Kubernetes runs the orders of Ada.", "Kubernetes"),
        ("PostgreSQL 17 is used for orders.", "17"),
        ("MySQL lost 1300 rows in March.", "1300"),
        ("MySQL lost rows in April.", "April"),
        ("See src/db/other.py for the pool of orders.", "src/db/other.py"),
        ("Call close_pool() for orders.", "close_pool"),
        ("Cleo agreed with Ada about the orders.", "Cleo"),
        ("The queue uses redis with celery workers and rabbit brokers.", "telling words"),
        ("todos los pedidos nuevos quedan guardados aquí desde ahora.", "telling words"),
        ("订单现在保存在新的数据库里，所有人都同意了。", "telling words"),
    ],
)
def test_what_the_source_does_not_say_is_not_founded(text: str, why: str) -> None:
    with pytest.raises(AnswerRefused, match=why):
        check_founded(text, source_of(SOURCE), "it")


def test_an_answer_in_the_language_of_the_source_is_founded() -> None:
    said = tasks.SaidMessage(
        who="李", text="我们决定使用 PostgreSQL 作为数据库，因为 MySQL 丢失了数据。"
    )
    given = tasks.ChunkGiven(messages=(said,), most_characters=300)
    check_founded("团队决定使用 PostgreSQL 数据库，因为 MySQL 丢失数据。", source_of(given), "it")


@pytest.mark.row("S0.3.5")
@pytest.mark.parametrize("reason", ["It is outdated.", "Obsolete.", "Redundant with another one."])
def test_a_reason_may_be_in_words_of_its_own(reason: str) -> None:
    known = {"action": "delete", "mergedMemoryId": None, "newContent": None}
    said = {**known, "targetMemoryId": "bbbbbbbb", "reason": reason}
    answer = read_model_answer("compaction", json.dumps(said))
    assert (
        checked_answer("compaction", EXAMPLES["compaction"], answer, CheckRules()).reason == reason
    )


@drawn(st.text(max_size=300), st.text(max_size=300))
def test_every_text_is_either_founded_or_refused(text: str, said: str) -> None:
    given = tasks.ChunkGiven(messages=(tasks.SaidMessage(who="a", text=said),), most_characters=300)
    with suppress(AnswerRefused):
        check_founded(text, source_of(given), "it")


@drawn(st.sampled_from(sorted(tasks.TASKS)), st.text(max_size=200) | st.binary(max_size=200))
def test_no_text_does_more_than_be_refused(kind: Any, said: Any) -> None:
    with suppress(AnswerRefused):
        answer = read_model_answer(kind, said)
        checked_answer(kind, EXAMPLES[kind], answer, CheckRules())


@pytest.mark.parametrize(
    "said", ['{"a":' * 5000, "{" * 5000, '{"summary": "\\ud800"}', "[1]", "", "null", "{}", "7"]
)
def test_nonsense_is_refused(said: str) -> None:
    with pytest.raises(AnswerRefused):
        read_model_answer("chunk_summary", said)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("He will use PostgreSQL for orders.", "begins with a pronoun"),
        ("We will use PostgreSQL for orders.", "writing rule"),
        ("PostgreSQL!!! FOR ALL ORDERS", "writing rule"),
        ("ok", "fewer than"),
        ("x" * 501, "the limit is 500"),
    ],
)
def test_a_fact_stands_alone(content: str, why: str) -> None:
    given = tasks.TurnGiven(who="Ada", text="We will use PostgreSQL for all orders, he said; ok.")
    fact = {"content": content, "type": "fact", "importance": 3}
    answer = read_model_answer("turn_facts", {"facts": [fact]})
    with pytest.raises(AnswerRefused, match=why):
        checked_answer("turn_facts", given, answer, CheckRules())


def test_an_episode_is_told_in_the_past() -> None:
    told = {"title": "Orders", "summary": "Ben moves the orders to PostgreSQL."}
    answer = read_model_answer("episode", told)
    with pytest.raises(AnswerRefused, match="past tense"):
        checked_answer("episode", EXAMPLES["episode"], answer, CheckRules())


def test_what_is_said_of_a_person_needs_consent() -> None:
    said = tasks.SaidMessage(who="Ada", text="I live in Hamburg, and orders go to PostgreSQL.")
    from pmem.model.tasks import ConversationGiven

    given = ConversationGiven(app="mail", messages=(said,), most_characters=200)
    answer = read_model_answer("conversation_summary", {"summary": "The user lives in Hamburg."})
    with pytest.raises(AnswerRefused, match="city"):
        checked_answer("conversation_summary", given, answer, CheckRules(private=("city",)))


def test_a_question_has_one_key_and_every_other_one_another() -> None:
    keys = {tasks.task_key(kind, "1.1", EXAMPLES[kind]) for kind in tasks.TASKS}
    assert len(keys) == len(tasks.TASKS)
    assert tasks.task_key("episode", "1.1", EXAMPLES["episode"]) in keys
    assert tasks.task_key("episode", "1.2", EXAMPLES["episode"]) not in keys


VERSIONS = dict(
    line.split() for line in Path(__file__).with_name("prompts.txt").read_text().splitlines()
)
"""The digest of every prompt, by its name and version."""


def test_a_prompt_that_changes_has_another_version() -> None:
    folder = Path(pmem.model.tasks.__file__).with_name("prompts")
    found = {}
    for path in sorted(folder.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        version = text.partition("\n")[0].removeprefix("version: ")
        found[f"{path.stem}/{version}"] = sha256(text.encode()).hexdigest()[:16]
    assert found == VERSIONS, "raise `version:` in the file, and write down its digest"


@pytest.mark.parametrize("kind", tasks.TASKS)
def test_every_prompt_has_its_data_and_its_schema(kind: Any) -> None:
    prompt = tasks.write_prompt(kind, EXAMPLES[kind])
    assert prompt.version == tasks.prompt_version(kind)
    assert "{data}" not in prompt.text
    assert prompt.text.count("```json\n") == 1
    assert '"additionalProperties":false' in prompt.text
