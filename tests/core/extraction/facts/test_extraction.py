"""What messages state: each fact once, in the message's own words, with a confidence."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pmem.core.extraction.facts import LEAST, Candidate, extract, key, stated
from pmem.core.extraction.phrases import clauses, opening
from pmem.core.text.sentences import LONGEST, sentences
from pmem.values.records import MemoryType, Role
from tests.core.extraction.scores import message
from tests.work import STALLED, seconds

PIECES = st.sampled_from(
    "we decided to use X|must not|from now on|remember that|I prefer|our goal is|, |. |? |! |\n|"
    'Sarah is our lead|```|> |"|`|if |maybe |and |but |because |8443|https://a.example/b|我们决定|'
    "必须|。|to deploy, run it|first |then |\t|    |{|}|’|don't|can not|the docs say |"
    "I changed the port to 9".split("|")
)
TEXTS = st.text(max_size=200) | st.lists(PIECES, max_size=30).map(" ".join)


def facts(text: str, role: Role = Role.USER) -> list[Candidate]:
    return extract(message(text, role))


def confidence(text: str, role: Role = Role.USER) -> float:
    (found,) = facts(text, role)
    return found.confidence


def test_a_message_states_several_facts_of_several_types() -> None:
    found = facts(
        "Hi! So, we decided to use Kafka for the events. The log must not lose messages. "
        "Also, Sarah is our tech lead, and I prefer small commits. How are you?"
    )
    assert [
        ("we decided to use Kafka for the events", MemoryType.DECISION),
        ("The log must not lose messages", MemoryType.CONSTRAINT),
        ("Sarah is our tech lead", MemoryType.ENTITY),
        ("The user prefers small commits", MemoryType.PREFERENCE),
    ] == [(fact.content, fact.type) for fact in found]


@pytest.mark.parametrize(
    ("text", "kind", "subject"),
    [
        ("Anna from Oslo is our new tech lead.", MemoryType.ENTITY, "Anna"),
        ("Anna Lind in Oslo is the lead of design.", MemoryType.ENTITY, "Anna Lind"),
        ("Every Friday, we update the docs.", MemoryType.PROCEDURE, None),
        ("Each release, run the tests.", MemoryType.PROCEDURE, None),
        ("Before every release, we run the tests.", MemoryType.PROCEDURE, None),
        ("Kafka is required.", MemoryType.CONSTRAINT, None),
        ("Our build runs on Linux.", MemoryType.FACT, None),
        ("deploy.sh runs on Linux.", MemoryType.FACT, "deploy.sh"),
        ("The `load_all` runs on Linux.", MemoryType.FACT, "load_all"),
        ("Our build runs on `main.c`.", MemoryType.FACT, None),
    ],
)
def test_a_plain_statement_is_found_with_its_type_and_whom_it_is_about(
    text: str, kind: MemoryType, subject: str | None
) -> None:
    assert [(kind, subject)] == [(fact.type, fact.subject) for fact in facts(text)]


@pytest.mark.parametrize(
    "text",
    [
        "We decided in the last meeting to use Kafka.",
        "As we decided, use Kafka.",
        "We decided, after a long talk, to keep it small.",
        "We decided with Dana on Kafka.",
        "We opted for weekly releases.",
        "We chose Emily.",
        "I have decided - Kafka it is.",
        "I have decided – Kafka it is.",
        "I have decided — Kafka it is.",
        "We decided: Kafka it is.",
    ],
)
def test_a_decision_says_what_behind_its_circumstances_too(text: str) -> None:
    assert [MemoryType.DECISION] == [fact.type for fact in facts(text)]


def test_an_assistant_reports_with_less_confidence_and_advises_without_any() -> None:
    said = "I decided to use Kafka."
    assert LEAST <= confidence(said, Role.ASSISTANT) < confidence(said)
    changed = "I changed the port to 8443."
    assert LEAST <= confidence(changed, Role.ASSISTANT) < confidence(changed)
    assert [] == facts("I will set the limit to 50.", Role.ASSISTANT)
    assert [] == facts("You should use Kafka. Always set a timeout.", Role.ASSISTANT)
    assert [] == facts("Let's use Kafka. It must not lose messages.", Role.ASSISTANT)


@given(TEXTS)
def test_words_and_their_places_belong_together(text: str) -> None:
    for sentence in sentences(text):
        assert len(sentence.words) == len(sentence.places)
        assert all(0 <= start < end <= len(sentence.text) for start, end in sentence.places)
        begin = opening(sentence.words)
        spans = list(clauses(sentence, begin))
        assert all(one.end == other.begin for one, other in pairwise(spans))


@given(TEXTS, st.sampled_from(Role))
def test_facts_are_the_messages_own_words_and_never_twice_the_same(text: str, role: Role) -> None:
    found = facts(text, role)
    own = [fact for sentence in sentences(text) for fact in stated(sentence, role)]
    assert all(" ".join(fact.content.split()) in " ".join(text.split()) for fact in own)
    assert len(found) <= len(own) + 1
    assert all(5 <= len(fact.content) <= LONGEST for fact in found)
    assert all(LEAST <= fact.confidence <= 1 for fact in found)
    assert len({key(fact.content) for fact in found}) == len(found)
    assert found == facts(text, role)


@given(TEXTS)
def test_code_and_quotations_add_no_fact(text: str) -> None:
    fenced = text.replace("`", "").replace("~", "")
    assert [] == facts(f"```\n{fenced}\n```")
    assert [] == facts("\n".join(f"> {line}" for line in text.splitlines()))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We decided to use Kafka.", "I've decided to use the KAFKA!"),
        ("The limit is 1,000 users", "limit is 1000 users"),
        ("Don't touch it", "do not touch it"),
        ("You can't do it", "you can not do it"),
        ("Use a “small” font", "use small font"),
        ("Café opens at 9", "cafe opens at 9"),
    ],
)
def test_facts_that_differ_in_dress_are_the_same(one: str, other: str) -> None:
    assert key(one) == key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We use Kafka", "We do not use Kafka"),
        ("The port is 8443", "The port is 8444"),
        ("It is 5 degrees", "It is -5 degrees"),
        ("Use C++", "Use C"),
        ("See https://a.example/x", "See https://a.example/y"),
        ("Load < 5", "Load > 5"),
        ("It costs 5 $", "It costs 5 €"),
        ("Version 2.3", "Version 23"),
        ("我们决定使用 Kafka", "我们决定使用 Redis"),
    ],
)
def test_facts_that_differ_in_substance_are_not_the_same(one: str, other: str) -> None:
    assert key(one) != key(other)


@given(TEXTS)
def test_a_key_is_its_own_key(text: str) -> None:
    assert key(text) == key(key(text))


@pytest.mark.long
@pytest.mark.parametrize(
    "pattern",
    [
        "a", "must ", "`", '"a', "\n", "dr. ", "we, ", "a.", "我们决定", "😀", "at ((", "don't ",
        ". ", "Sarah ", "-1,", "We decided to use it, and we must. ", "Sarah is our lead\n",
        "the goal is the goal ", "we want to by ", "wError", "```\n", "can not ", "our is our ",
    ],
)  # fmt: skip
def test_a_megabyte_of_anything_is_read_at_once(pattern: str) -> None:
    said = message(pattern * (1_000_000 // len(pattern)))
    assert seconds(lambda: extract(said)) < STALLED


@pytest.mark.parametrize(
    "fact",
    [
        ".env holds the database name",
        "$5 per month is the limit",
        "/api/v2 is the base path",
        "@ana owns the billing service",
        "#general is the channel for releases",
        "-5 is what it returns",
    ],
)
def test_a_fact_begins_with_the_sign_before_its_first_word(fact: str) -> None:
    assert [fact] == [found.content for found in facts(f"Note that {fact}.")]


@pytest.mark.parametrize(
    ("text", "kind", "sure"),
    [
        ("Remember that the port is 8080.", MemoryType.FACT, 0.95),
        ("Note for later: the key is under the mat.", MemoryType.FACT, 0.95),
        ("From now on, always answer in French.", MemoryType.PREFERENCE, 0.95),
        ("We decided to use Kafka.", MemoryType.DECISION, 0.9),
        ("We decided not to use Kafka.", MemoryType.DECISION, 0.9),
        ("We decided to use Kafka. I've decided to use the KAFKA!", MemoryType.DECISION, 0.9),
        ("We went with Kafka.", MemoryType.DECISION, 0.9),
        ("Let's go with option B.", MemoryType.DECISION, 0.85),
        ("Let's keep the old name.", MemoryType.DECISION, 0.85),
        ("I think we decided to use Kafka.", MemoryType.DECISION, 0.65),
        ("Our goal is to finish in May.", MemoryType.GOAL, 0.8),
        ("I prefer tea.", MemoryType.PREFERENCE, 0.8),
        ("I always want type hints in new code.", MemoryType.PREFERENCE, 0.75),
        ("Never hard-code credentials.", MemoryType.CONSTRAINT, 0.85),
        ("Please never paste customer names here.", MemoryType.CONSTRAINT, 0.7),
        ("It must never write outside its folder.", MemoryType.CONSTRAINT, 0.7),
        ("The service listens on port 5671.", MemoryType.FACT, 0.7),
        ("I changed the port to 8443.", MemoryType.FACT, 0.7),
        ("I decided to stay for a while.", MemoryType.DECISION, 0.9),
        ("记住：测试服务器的端口是 9000。", MemoryType.FACT, 0.95),
    ],
)
def test_confidence_says_how_surely_it_was_meant_to_last(
    text: str, kind: MemoryType, sure: float
) -> None:
    assert [(kind, sure)] == [(fact.type, fact.confidence) for fact in facts(text)]


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(
            ["Never mind the noise.", "Never again a Monday release!", "Never say never.",
             "Never tested builds.", "Let us keep in touch.", "It must be nice over there.",
             "I always want to sleep."],
            id="it only sounds like a rule",
        ),
        pytest.param(
            ["As we decided, they wait.", "We decided unanimously.", "We decided two weeks ago.",
             "As we decided last week, they wait.", "As we agreed earlier today, they wait.",
             "We have not decided to use Kafka.", "We decided nothing."],
            id="a decision does not say what",
        ),
        pytest.param(
            ["We decided to use Kafka?", "Maybe we decided to use Kafka.",
             "If we decided to use Kafka, it would be slow.", "In hindsight we chose Kafka.",
             "Tom said that we decided to use Kafka.", "> We decided to use Kafka.",
             "```\nWe decided to use Kafka.\n```", "    We decided to use Kafka.",
             'The text "we decided to use Kafka" is missing.', "ERROR We decided to use Kafka.",
             "<system-reminder>\nWe decided to use Kafka.\n</system-reminder>"],
            id="asked, guessed, quoted, logged, or put there by a program",
        ),
        pytest.param(
            ["go ahead", "try again please", "run all the tests and fix any errors",
             "Keep up the good work!", "It failed because of the weather.", "Remember that"],
            id="over once it is done, or only kind",
        ),
        pytest.param(
            ["I changed the port 8443.", "I changed the names to something nicer.",
             "Note that it fails."],
            id="it does not say what it became",
        ),
        pytest.param(
            ["为什么我们决定使用 Redis", "他说我们决定用 Redis", "我觉得我们决定用 Redis",
             "不要担心测试", "我们必须使用 Docker 吗？"],
            id="asked, thought or told in Chinese",
        ),
    ],
)  # fmt: skip
def test_what_is_not_stated_is_no_fact(texts: list[str]) -> None:
    assert [] == [text for text in texts if facts(text)]


def test_systems_tools_and_calls_state_no_facts() -> None:
    said = message("Remember that we decided to use Kafka.")
    others = (
        replace(said, role=Role.SYSTEM),
        replace(said, role=Role.TOOL),
        replace(said, tool_call={"name": "sh"}),
        replace(said, tool_result={"ok": True}),
    )
    assert extract(said)
    assert not any(map(extract, others))
