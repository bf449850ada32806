"""What is stated at work with an assistant: directives, causes, outcomes, each with who said it."""

import msgspec
import pytest

from pmem.core.extraction import shapes
from pmem.core.extraction.attempts import outcome
from pmem.core.extraction.cues import CUES, REPORTS
from pmem.core.extraction.facts import Candidate, category_of, extract
from pmem.core.extraction.third_person import in_third_person, leaves_open, with_others
from pmem.core.style_rules import MOST_CHARACTERS
from pmem.values.records import Fact, MemoryType, Role
from tests.conftest import NOW
from tests.core.extraction.scores import MESSAGES, labelled_messages, message
from tests.labelled import read_rows

DIRECTIVES = {
    "Add a `--dry` option to the import command.": MemoryType.GOAL,
    "Let's make the retry limit a setting.": MemoryType.DECISION,
    "lets only build the small image for now": MemoryType.DECISION,
    "We should split the parser from the printer.": MemoryType.DECISION,
    "Instead of three flags, use one with a list.": MemoryType.DECISION,
    "No, use tabs for it.": MemoryType.DECISION,
    "Make it 8082 instead.": MemoryType.DECISION,
    "Make sure the log goes to a file of its own.": MemoryType.CONSTRAINT,
    "The button should be at the end of the row.": MemoryType.CONSTRAINT,
    "Each plugin should just export one function by name.": MemoryType.CONSTRAINT,
    "Handlers should never touch the store.": MemoryType.CONSTRAINT,
    "It should support several backends.": MemoryType.CONSTRAINT,
    "There should be no copies of a template.": MemoryType.CONSTRAINT,
    "If there is one task, there is no need to list all of them.": MemoryType.CONSTRAINT,
    "We should keep in mind that the disk gets full.": MemoryType.CONSTRAINT,
    "When reading tables, never parse them by hand, but use `csvkit`.": MemoryType.CONSTRAINT,
    "This should not be done, only `--fast` should install the hook.": MemoryType.CONSTRAINT,
    "The number will be stored with the run.": MemoryType.FACT,
    "We want the build in its own folder.": MemoryType.GOAL,
    "`load()` assumes a path that exists.": MemoryType.FACT,
}
CAUSES_FOUND = (
    "The upload fails because `token` is read too early.",
    "The problem was the default of `max_age`.",
    "The issue here is `retries`, which nobody resets.",
)
LIVES = {
    "I joined a choir last week.": MemoryType.FACT,
    "I just got a new bike.": MemoryType.FACT,
    "I've been learning the cello.": MemoryType.FACT,
    "I have always lived by the sea.": MemoryType.FACT,
    "I love baking bread on Sundays.": MemoryType.PREFERENCE,
    "I'm thinking of studying law.": MemoryType.GOAL,
    "My timezone is Europe/London.": MemoryType.FACT,
}
DONE = (
    "I've added `retry.py` with three attempts.",
    "Committed as `ab12cd3`, all tests pass.",
    "Committed. The two files of `src/a.py` are in one commit.",
    "Here's a summary of the changes:\n- `a.py`: the limit is a setting",
    "`parse()` has been moved to `src/text.py`.",
    "The parser now skips blocks of `code`.",
)


def facts(text: str, role: Role = Role.USER, speaker: str | None = None) -> list[Candidate]:
    return extract(message(text, role, speaker))


@pytest.mark.parametrize(("text", "kind"), [*DIRECTIVES.items(), *LIVES.items()])
def test_what_a_person_asks_rules_or_tells_of_himself_is_a_fact(
    text: str, kind: MemoryType
) -> None:
    assert [kind] == [fact.type for fact in facts(text)]


@pytest.mark.parametrize("role", [Role.USER, Role.ASSISTANT])
@pytest.mark.parametrize("text", CAUSES_FOUND)
def test_a_cause_that_was_found_is_a_fact_whoever_found_it(text: str, role: Role) -> None:
    assert [text.rstrip(".")] == [fact.content for fact in facts(text, role)]


@pytest.mark.parametrize("text", DONE)
def test_the_last_words_of_a_turn_say_what_was_done(text: str) -> None:
    (found,) = facts(text, Role.ASSISTANT)
    assert found.content == outcome(text)
    assert [] == [fact for fact in facts(text) if fact.content == outcome(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Let me check `a.py` first. I've added a line.",
        "I've added `a.py`. Now the tests:",
        "Would you like `a.py` to be changed?",
    ],
)
def test_who_goes_on_with_the_work_has_no_outcome_yet(text: str) -> None:
    assert outcome(text) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I've added `**kwargs` to `call`.", "I've added `**kwargs` to `call`."),
        ("I've added `src/**/*.py` to **all** lists.", "I've added `src/**/*.py` to all lists."),
        ("**I've added `a.py`**: it is short.", "I've added `a.py`: it is short."),
        ("**Done**: I've changed `2**n` to `1 << n`.", "Done: I've changed `2**n` to `1 << n`."),
        (
            "I've added two files:\n1. `a.py` - short\n2) `b.py` - long",
            "I've added two files: (1) `a.py` - short (2) `b.py` - long",
        ),
        (
            "I've split `a.py`. Here's what I did:\n- `b.py` is new",
            "I've split `a.py`. `b.py` is new",
        ),
        ("I've fixed it. Here's why: it was null.", "I've fixed it. Here's why: it was null."),
        (
            "I've fixed `a.py`. It reads more, e.g. links. All is well.",
            "I've fixed `a.py`. It reads more, e.g. links.",
        ),
    ],
)
def test_an_outcome_loses_the_marks_of_its_lists_and_nothing_else(text: str, told: str) -> None:
    assert outcome(text) == told


@pytest.mark.row("S1.9.7")
def test_f105_an_outcome_is_no_longer_than_a_memory_once_it_names_who_did_it() -> None:
    text = "I've added `a.py`, and " + "I've read on, and " * 14 + "all is well."
    (found,) = facts(text, Role.ASSISTANT, "Claude Code")
    assert found.content.startswith("Claude Code has added `a.py`, and Claude Code has read on")
    assert len(found.content) <= MOST_CHARACTERS < len(text) + 8 * 16


def test_an_outcome_takes_the_place_of_a_decision_that_it_begins_with() -> None:
    text = "I switched to `uv` because it is fast. The lock file is new."
    (found,) = facts(text, Role.ASSISTANT)
    assert (found.content, found.type) == (text, MemoryType.DECISION)


def test_f105_what_one_of_several_decided_is_about_no_one_of_them() -> None:
    (told,) = facts("We decided to use Kafka.", speaker="Ada")
    assert (told.content, told.subject) == ("Ada decided to use Kafka", None)
    (unnamed,) = facts("I prefer small commits.")
    assert (unnamed.content, unnamed.subject) == ("The user prefers small commits", None)
    (report,) = facts("We decided to use `a.py`.", Role.ASSISTANT, "Robo")
    assert report.content == "We decided to use `a.py`"


def noted(text: str, speaker: str | None) -> Fact:
    """Return the only fact of a message."""
    (told,) = facts(text, speaker=speaker)
    return Fact(
        id=message(text, Role.USER).id,
        content=told.content,
        type=told.type,
        confidence=told.confidence,
        subject=told.subject,
        user=speaker,
        message="m",
        extracted_at=NOW,
    )


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("Vault is our password manager.", "context"),
        ("Remember that the password manager is called Vault.", "knowledge"),
        ("Our coding assistant is Codex.", "context"),
        ("Sarah is our compliance manager.", "person"),
    ],
)
def test_a_manager_of_things_is_a_program_and_no_person(text: str, category: str) -> None:
    assert category == category_of(noted(text, "Ada"))


@pytest.mark.parametrize("speaker", ["Ada", None])
@pytest.mark.parametrize("text", ["I live in Graz.", "My office is in Graz.", "I work at Halden."])
def test_a_speakers_whereabouts_are_context_with_a_name_and_without(
    text: str, speaker: str | None
) -> None:
    fact = noted(text, speaker)
    assert "context" == category_of(fact)
    other = msgspec.structs.replace(fact, content="The office is in Graz", subject=None)
    assert "context" != category_of(other)


@pytest.mark.parametrize(
    "text",
    [
        "Ada and others keep them in the vault",
        "Ada and others went with it in the end",
        "The user prefers it",
        "They live in Porto",
        "Ada writes down some memories with you",
        "keep it short",
        "we agreed on it",
    ],
)
def test_f105_a_pronoun_before_anything_that_it_could_stand_for_leaves_it_open(text: str) -> None:
    assert leaves_open(text, "Ada")
    assert leaves_open(text.replace("Ada", "The user"), None)


@pytest.mark.parametrize(
    "text",
    [
        "We decided to use RabbitMQ because it routes by topic",
        "Ada and others agreed that every service has its own database",
        "Ada prefers tabs because they are wide",
        "You must never log personal data",
        "The cache drops its oldest entry",
        "The port is 8081",
    ],
)
def test_f105_what_names_its_things_stands_on_its_own(text: str) -> None:
    assert not leaves_open(text, "Ada")
    assert not leaves_open(text.replace("Ada", "The user"), None)


@pytest.mark.parametrize(
    ("speaker", "text", "noted"),
    [
        ("Mira", "My name is Mira.", "The user's name is Mira"),
        ("mira", "Remember that I go by Mira.", "The user goes by Mira"),
        ("Mira Lind", "From now on call me Mira Lind.", "From now on call the user Mira Lind"),
        ("Mira", "I decided to keep Mira's laptop.", "Mira decided to keep Mira's laptop"),
        ("Will", "Remember that I will test it.", "Will will test it"),
        ("Mira", "We decided to call it Mira.", "Mira decided to call it Mira"),
    ],
)
def test_who_tells_the_own_name_is_called_the_user(speaker: str, text: str, noted: str) -> None:
    assert [noted] == [fact.content for fact in facts(text, speaker=speaker)]


def test_a_fact_is_about_its_speaker_where_it_names_him() -> None:
    (told,) = facts("I prefer small commits.", speaker="Ada")
    assert (told.content, told.subject) == ("Ada prefers small commits", "Ada")
    (rule,) = facts("The queue must not lose messages.", speaker="Ada")
    assert (rule.content, rule.subject) == ("The queue must not lose messages", None)
    (named,) = facts("My boss is Alec Ray.", speaker="Ada")
    assert (named.content, named.subject) == ("Ada's boss is Alec Ray", "Alec Ray")


@pytest.mark.long
@pytest.mark.parametrize("table", ["CUES", "REPORTS"])
def test_no_line_of_the_tables_can_go(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [*DIRECTIVES, *CAUSES_FOUND, *LIVES, *EXAMPLES]
    said = [message(text) for text in texts]
    said += [labelled.message for name in MESSAGES for labelled in labelled_messages(name)]
    before = [(one, found) for one in said if (found := extract(one))]
    lines = {"CUES": CUES, "REPORTS": REPORTS}[table].strip().splitlines()
    unheld = []
    for line in filter(None, lines):
        monkeypatch.setattr(shapes, table, "\n".join(one for one in lines if one != line))
        forget()
        if all(extract(one) == found for one, found in before):
            unheld.append(line)
    monkeypatch.undo()
    forget()
    assert unheld == []


def forget() -> None:
    """Have the tables read again."""
    shapes._cues.cache_clear()
    shapes._reports.cache_clear()


EXAMPLES = (
    "It must run on one small machine.",
    "We voted to keep the old name.",
    "The API only supports JSON.",
    "I work on the Platform team.",
)  # fmt: skip
"""What holds the lines that no labelled message holds."""


def told_of(how: str) -> list[list[str]]:
    """Return statements of Ada's and how they are told."""
    return [row[1:] for row in read_rows(__file__, "third_person.jsonl") if row[0] == how]


@pytest.mark.parametrize(("text", "expected"), told_of("alone"))
def test_a_statement_names_its_speaker(text: str, expected: str) -> None:
    assert expected == in_third_person(text, "Ada")
    assert text == in_third_person(text, None)


@pytest.mark.row("S1.9.7")
@pytest.mark.parametrize(("text", "expected"), told_of("with others"))
def test_f105_we_are_the_speaker_and_others_where_a_name_is_known(text: str, expected: str) -> None:
    assert with_others(text, "Ada") == expected
    assert [with_others(text, name) for name in (None, "user", "assistant")] == [text] * 3


@pytest.mark.row("S1.9.7")
@pytest.mark.parametrize(("text", "told"), told_of("fact"))
def test_f105_what_somebody_says_of_himself_ends_before_a_remark_with_a_pronoun(
    text: str, told: str
) -> None:
    assert [told] == [fact.content for fact in facts(text, speaker="Ada")]
