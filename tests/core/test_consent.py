"""Which texts and names need consent: labelled statements, and what no text can do to the rules."""

import pytest

from pmem.core.consent import benign, sensitive
from pmem.values.rules import CONSENT_FIELDS as FIELDS
from tests.labelled import sections
from tests.work import STALLED, seconds

SETS = sections("core/sets/consent.txt")


def told(text: str, **names: str) -> str | None:
    """Return the sensitive field of a text."""
    return sensitive(text, FIELDS, **names)


@pytest.mark.row("S1.10.1")
def test_the_labelled_statements_are_told_apart_with_few_mistakes() -> None:
    personal = [line.split("|") for line in SETS["personal"]]
    found = [(field, told(text), text) for field, text in personal]
    missed = [text for field, got, text in found if got != field]
    alarms = [text for text in SETS["plain"] if told(text)]
    assert missed == []
    assert len(alarms) <= 0.04 * len(SETS["plain"]), alarms


def test_statements_that_were_written_after_the_rules_are_told_apart_as_well() -> None:
    missed = [text for text in SETS["personal, written after the rules"] if not told(text)]
    assert missed == ["The user lives with a dog in Rouen."]
    assert [text for text in SETS["plain, written after the rules"] if told(text)] == []


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_is_known_by_its_own_name_as_a_category(field: str) -> None:
    assert told("Anything at all", category=field) == field
    assert told("Anything at all", category=field.replace("_", " ").title()) == field


@pytest.mark.parametrize("subject", ["pronouns", "Preferred name", "home_address", "date of birth"])
def test_a_subject_or_a_tag_may_name_a_field(subject: str) -> None:
    assert told("xyz", subject=subject)
    assert sensitive("xyz", FIELDS, tags=[subject])


@pytest.mark.parametrize("word", ["language", "health", "contact", "city"])
def test_a_subject_that_names_a_part_of_a_program_says_too_little(word: str) -> None:
    assert told("It returns 200", subject=word) is None


def test_a_language_is_personal_where_people_speak_it() -> None:
    assert told("German", subject="language") == "language"
    assert told("Python 3.12", subject="language") is None


def test_a_name_counts_where_the_memory_is_filed_under_people() -> None:
    assert told("Quux lives in Lisbon") is None
    assert told("Quux lives in Lisbon", category="person") == "city"
    assert told("Quux is 34 years old", category="profile") == "birthday"


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("health", "The new hire is diabetic"),
        ("health", "Quux works here and is allergic to nuts"),
        ("health", "Colleague was diagnosed with flu"),
        ("language", "Our designer (Quux) speaks French"),
        ("birthday", "Was born in 1980"),
        ("birthday", "A colleague's birthday is in May"),
        ("health", "Quux has asthma"),
        ("beliefs", "my boss is Jewish"),
        ("preferred_name", "Goes by Zed"),
        ("pronouns", "boss uses they/them"),
    ],
)
def test_filed_under_people_no_name_is_needed(field: str, text: str) -> None:
    assert told(text, category="relationships") == field
    assert told(text) is None


def test_who_relocates_anywhere_has_a_home_there() -> None:
    assert told("I relocated to Smalltown") == "city"


@pytest.mark.row("S1.10.1")
def test_a_given_name_counts_wherever_the_memory_is_filed() -> None:
    texts = [line.partition("|")[2] for line in SETS["of people with given names"]]
    found = [f"{told(text)}|{text}" for text in texts]
    assert found == SETS["of people with given names"]
    assert [text for text in SETS["of no such people"] if told(text)] == []


@pytest.mark.row("S1.10.1")
def test_a_town_is_a_home_where_no_noun_follows_whoever_moves_there() -> None:
    assert {told(text) for text in SETS["homes"]} == {"city"}
    assert [text for text in SETS["no homes"] if told(text)] == []


def test_a_field_of_ones_own_is_told_by_its_name() -> None:
    assert sensitive("4,000", ["salary"], subject="Salary") == "salary"
    assert sensitive("My salary is 4,000", ["salary"]) is None


@pytest.mark.parametrize(
    "text",
    [
        "I live\nin Berlin",
        "I  live \t in   Berlin",
        "I\u00a0live in Berlin",
        "I\u200b live in\u2060 Berlin",
        "I live in **Berlin**",
        'The user lives in "Berlin"',
        "The user's city is `Berlin`",
        "*I* live in Berlin",
        "As for the office,\r\nI live\r\nin Berlin",
    ],
)
def test_line_breaks_and_marks_between_words_hide_nothing(text: str) -> None:
    assert told(text) == "city"


def test_only_the_fields_that_are_asked_for_count() -> None:
    assert sensitive("I live in Berlin", ["pronouns"]) is None
    assert sensitive("I live in Berlin", []) is None


def test_benign_fields_are_told_by_names_alone() -> None:
    fields = ("tone", "goals")
    assert benign(fields, ["tone"]) == "tone"
    assert benign(fields, ["project", "Goals"]) == "goals"
    assert benign(fields, ["project", "database"]) is None


@pytest.mark.long
@pytest.mark.parametrize(
    "piece",
    [
        "i live in ",
        "my ",
        "a",
        "a@",
        "+1 ",
        "+",
        "call me ",
        "Ana ",
        "user's ",
        "é",
        "the user Mira ",
    ],
)
def test_a_long_text_is_judged_quickly(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    assert seconds(lambda: told(text, category="person")) < STALLED
