"""What messages state: each fact once, in the message's own words, with a confidence."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.extraction.facts import LEAST, Candidate, extract, key, stated
from pmem.core.extraction.phrases import clauses, opening
from pmem.core.text.sentences import LONGEST, read, sentences
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


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("Remember that the port is 8080.", 0.95, 1.0),
        ("From now on, always answer in French.", 0.95, 1.0),
        ("Note for later: the key is under the mat.", 0.95, 1.0),
        ("We decided to use Kafka.", 0.85, 0.95),
        ("We went with Kafka.", 0.85, 0.95),
        ("Let's go with Kafka.", 0.8, 0.85),
        ("Let's go with option B.", 0.8, 0.85),
        ("Let's keep the old name.", 0.8, 0.85),
        ("We are going with Kafka.", 0.8, 0.85),
        ("The service must work offline.", 0.7, 0.85),
        ("I prefer tea.", 0.7, 0.85),
        ("Our goal is to finish in May.", 0.7, 0.85),
        ("I think we decided to use Kafka.", 0.5, 0.7),
    ],
)
def test_confidence_says_how_surely_it_was_meant_to_last(
    text: str, least: float, most: float
) -> None:
    assert least <= confidence(text) <= most


@pytest.mark.parametrize(
    ("text", "kind", "sure"),
    [
        ("Never hard-code credentials.", MemoryType.CONSTRAINT, 0.85),
        ("Never couple the parser to the printer.", MemoryType.CONSTRAINT, 0.7),
        ("Please never paste customer names here.", MemoryType.CONSTRAINT, 0.7),
        ("I always want type hints in new code.", MemoryType.PREFERENCE, 0.75),
        ("It must run on one small machine.", MemoryType.CONSTRAINT, 0.7),
        ("It must never write outside its folder.", MemoryType.CONSTRAINT, 0.7),
        ("The service listens on port 5671.", MemoryType.FACT, 0.7),
    ],
)
def test_commands_wishes_and_rules_in_plain_words_count(
    text: str, kind: MemoryType, sure: float
) -> None:
    assert [(kind, sure)] == [(fact.type, fact.confidence) for fact in facts(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Never mind.",
        "Never mind the noise.",
        "Never heard of that tool.",
        "Never again a Monday release!",
        "Never been to Oslo before.",
        "Never a dull moment here.",
        "Never knew that was possible.",
        "Never say never.",
        "Never gets old, that one.",
        "Let us keep in touch.",
        "Let us keep going.",
        "It must be nice over there.",
        "It must have been the cable.",
        "I always want to sleep.",
    ],
)
def test_what_only_sounds_like_a_rule_is_none(text: str) -> None:
    assert [] == facts(text)


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


def test_an_entity_says_whom_it_is_about() -> None:
    assert ["Sarah Lind"] == [fact.subject for fact in facts("Sarah Lind is our tech lead.")]
    assert ["Dr Weber"] == [fact.subject for fact in facts("My dentist is Dr Weber.")]


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
    ("text", "expected"),
    [
        ("It feeds two systems. We use Go.", ["It feeds two systems.", "We use Go."]),
        ("This one is best. We use Go.", ["This one is best.", "We use Go."]),
        ("Ask Dr. Weber (e.g. today). We use Go.", ["Ask Dr. Weber (e.g. today).", "We use Go."]),
        ("It holds approx. 5 MB. We use Go.", ["It holds approx. 5 MB.", "We use Go."]),
    ],
)
def test_a_sentence_ends_at_a_full_stop_but_not_at_an_abbreviation(
    text: str, expected: list[str]
) -> None:
    assert expected == [sentence.text for sentence in sentences(text)]


@pytest.mark.parametrize("other", ["Sarah is our tech lead", "Sarah Lind runs the shop"])
def test_a_name_and_what_its_bearer_does_begin_another_statement(other: str) -> None:
    found = facts(f"We decided to use Kafka and {other}.")
    assert found[0].content == "We decided to use Kafka"


def test_the_same_fact_is_found_once_in_a_message() -> None:
    assert len(facts("We decided to use Kafka. I've decided to use the KAFKA!")) == 1


def test_deciding_against_something_is_a_decision() -> None:
    assert [MemoryType.DECISION] == [f.type for f in facts("We decided not to use Kafka.")]
    assert [] == facts("We have not decided to use Kafka.")
    assert [] == facts("We decided nothing.")


@pytest.mark.parametrize(
    "text",
    [
        "As we decided, they wait.",
        "I have decided, and they will hear of it.",
        "We decided unanimously.",
        "As we agreed on Monday, they wait.",
        "We decided two weeks ago.",
        "As we decided last week, they wait.",
        "We decided yesterday.",
        "As we agreed earlier today, they wait.",
    ],
)
def test_a_decision_that_does_not_say_what_is_none(text: str) -> None:
    assert [] == facts(text)


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


@pytest.mark.parametrize(
    "text",
    [
        "Did we decide to use Kafka?",
        "Maybe we decided to use Kafka.",
        "If we decided to use Kafka, it would be slow.",
        "Tom said that we decided to use Kafka.",
        "> We decided to use Kafka.",
        "```\nWe decided to use Kafka.\n```",
        "~~~ text\nWe decided to use Kafka.",
        "    We decided to use Kafka.",
        "`We decided to use Kafka.`",
        'The text "we decided to use Kafka" is missing.',
        "ERROR We decided to use Kafka.",
        '{"a": "We decided to use Kafka."}',
        "Suppose we decided to use Kafka.",
        "In hindsight we chose Kafka.",
    ],
)
def test_what_is_asked_guessed_quoted_or_logged_is_no_decision(text: str) -> None:
    assert [] == facts(text)


@pytest.mark.parametrize("role", [Role.SYSTEM, Role.TOOL])
def test_systems_and_tools_state_no_facts(role: Role) -> None:
    assert [] == facts("Remember that we decided to use Kafka.", role)


def test_an_assistant_reports_with_less_confidence_and_advises_without_any() -> None:
    said = "I decided to use Kafka."
    assert LEAST <= confidence(said, Role.ASSISTANT) < confidence(said)
    changed = "I changed the port to 8443."
    assert LEAST <= confidence(changed, Role.ASSISTANT) < confidence(changed)
    assert [] == facts("I will set the limit to 50.", Role.ASSISTANT)
    assert [] == facts("You should use Kafka. Always set a timeout.", Role.ASSISTANT)
    assert [] == facts("Let's use Kafka. It must not lose messages.", Role.ASSISTANT)


def test_abbreviations_and_numbers_do_not_end_a_sentence() -> None:
    assert ["Dr. Weber is our tech lead", "The limit is 2.5 MB"] == [
        sentence.text.rstrip(".") for sentence in sentences("Dr. Weber is our tech lead. "
                                                            "The limit is 2.5 MB.")
    ]  # fmt: skip


def test_contractions_are_read_as_the_words_that_they_stand_for() -> None:
    words = read("We've said: it's late, I can't and won't. You can not, Sarah's dog does").words
    assert "we have said : it is late , i cannot and will not you cannot , sarah's dog does" == (
        " ".join(words)
    )


@given(TEXTS)
def test_words_and_their_places_belong_together(text: str) -> None:
    for sentence in sentences(text):
        assert len(sentence.words) == len(sentence.places)
        assert all(0 <= start < end <= len(sentence.text) for start, end in sentence.places)
        begin = opening(sentence.words)
        spans = list(clauses(sentence, begin))
        assert all(one.end == other.begin for one, other in pairwise(spans))


def test_a_wish_to_remember_nothing_is_no_fact() -> None:
    assert [] == facts("Remember that")


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


@given(st.text("abcdefghij XYZ019"))
def test_a_key_does_not_depend_on_case_and_final_marks(text: str) -> None:
    said = f"b{text}"
    assert key(said) == key(said.upper()) == key(f"{said}!") == key(f"{said} .")


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


def test_a_wish_in_chinese_is_understood_and_a_question_is_none() -> None:
    assert [("测试服务器的端口是 9000", MemoryType.FACT)] == [
        (fact.content, fact.type) for fact in facts("记住：测试服务器的端口是 9000。")
    ]
    assert [] == facts("我们必须使用 Docker 吗？")


@pytest.mark.parametrize(
    "text",
    ["为什么我们决定使用 Redis", "他说我们决定用 Redis", "我觉得我们决定用 Redis", "不要担心测试"],
)
def test_what_is_asked_thought_or_told_in_chinese_is_no_fact(text: str) -> None:
    assert [] == facts(text)


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


def test_a_while_at_the_end_is_no_link() -> None:
    assert ["The user decided to stay for a while"] == [
        found.content for found in facts("I decided to stay for a while.")
    ]


def test_a_note_of_three_words_says_nothing_to_keep() -> None:
    assert [] == facts("Note that it fails.")


@pytest.mark.parametrize(
    "text",
    [
        "I changed the port to 8443.",
        "We moved the parser to `src/a.py`.",
        "I bumped the library to 15.2.",
    ],
)
def test_a_change_that_says_what_it_became_is_a_fact(text: str) -> None:
    told = text.rstrip(".").replace("I ", "The user ")
    assert [found.content for found in facts(text)] == [told]


@pytest.mark.parametrize(
    "text",
    [
        "I changed the port 8443.",
        "We moved the parser in `src/a.py`.",
        "I bumped the library, see `setup.py`.",
        "I changed the names to something nicer.",
    ],
)
def test_a_change_that_does_not_say_what_it_became_is_none(text: str) -> None:
    assert not facts(text)
