"""What a clause states, by its phrases and its form; and steps that are written as a list."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

from pmem.core.extraction.cues import CUES, IMPERATIVES, REPORTS, SETS
from pmem.core.extraction.phrases import (
    BREAKS,
    Clause,
    Cues,
    is_exact,
    matches,
    name_at,
    read_cues,
    subject_of,
)
from pmem.core.text.sentences import LONGEST, MOST, ParsedSentence
from pmem.core.text.words import MONTHS, NUMBER_WORDS, STOP_WORDS, WEEKDAYS
from pmem.values.patterns import lazily
from pmem.values.records import MemoryType

_BE: Final = frozenset(("is", "are"))
_OWN: Final = frozenset(("our", "my"))
_ROLES: Final = frozenset(SETS["role"].split())
_LIKED: Final = frozenset(("favourite", "favorite", "preferred"))
_FLEETING: Final = frozenset(
    """error answer commit result output problem message status reason question build test issue
    point thing""".split()
)
_LEADS: Final = frozenset("to when whenever if after before once every each first".split())
"""What the part of a sentence begins with that says when, or what for, something is done."""
_ADDRESSED: Final = frozenset("you we first just simply always then also need have to".split())
_EACH: Final = frozenset(("every", "each"))
_TALKERS: Final = frozenset("you i we he she they it this that there".split())
_EMPTY: Final = (
    BREAKS | STOP_WORDS
    | frozenset((*NUMBER_WORDS, *MONTHS, *WEEKDAYS))
    | frozenset("ago day days week weeks month months year years morning evening night".split())
    | frozenset("earlier last today yesterday".split())
)  # fmt: skip
"""Words that say nothing of what was decided."""
_ANNOUNCED: Final = ([":"], ["-"], ["–"], ["—"])
"""What stands between "we decided" and what."""
PROCEDURE: Final = 0.75  # confidence


class StatementMatch(NamedTuple):
    """Where a clause states something, what kind of thing, and how surely."""

    place: int
    type: MemoryType
    confidence: float
    subject: str | None = None


Reader = Callable[[ParsedSentence, Clause], Iterator[StatementMatch]]


def phrased(sentence: ParsedSentence, clause: Clause) -> Iterator[StatementMatch]:
    """Yield what the phrases of `cues.CUES` and `cues.REPORTS` say about a clause."""
    for cues in (_cues(), _reports()):
        yield from _matched(sentence, clause, cues)


def reported(sentence: ParsedSentence, clause: Clause) -> Iterator[StatementMatch]:
    """Yield what counts of an assistant's words: reports, and decisions that are its own."""
    reports = _matched(sentence, clause, _reports())
    decisions = (
        hit for hit in _matched(sentence, clause, _cues()) if hit.type is MemoryType.DECISION
    )
    for hit in chain(reports, decisions):
        own = subject_of(sentence.words, clause.begin, hit.place) in ("i", "we")
        future = "will" in sentence.words[clause.begin : hit.place + 1]
        if (own and not future) or (not own and hit.type is not MemoryType.DECISION):
            yield hit


def _matched(sentence: ParsedSentence, clause: Clause, cues: Cues) -> Iterator[StatementMatch]:
    for place, cue in matches(sentence, clause, cues):
        kind, name = MemoryType(cue.label), None
        after = place + len(cue.words)
        if kind is MemoryType.DECISION and not _says_what(sentence, after, clause):
            continue
        if kind is MemoryType.ENTITY:
            named = clause.begin if cue.who == "name" else after
            name = name_at(sentence, named, clause.end)
        yield StatementMatch(place, kind, cue.confidence, name)


def _says_what(sentence: ParsedSentence, place: int, clause: Clause) -> bool:
    """Tell whether what follows "we decided" says what, not only when, where or with whom."""
    is_announced = sentence.words[place : place + 1] in _ANNOUNCED
    end = len(sentence.words) if is_announced else clause.end
    said = enumerate(sentence.words[place:end], start=place)
    return any(
        word not in _EMPTY and (not word.endswith("ly") or sentence.capital(at))
        for at, word in said
    )


def deciding(sentence: ParsedSentence) -> list[int]:
    """Return where "we" stands as who took a decision: "we decided", "we have settled on"."""
    words = sentence.words
    hits = matches(sentence, Clause(0, len(words)), _cues()) if "we" in words else ()
    ours = [
        place
        for place, cue in hits
        if cue.label == MemoryType.DECISION
        and cue.who in ("ours", "we")
        and subject_of(words, 0, place) == "we"
    ]
    return [place - 1 - words[place - 1 :: -1].index("we") for place in ours]


@lru_cache(maxsize=1)
def _cues() -> Cues:
    return read_cues(CUES)


@lru_cache(maxsize=1)
def _reports() -> Cues:
    return read_cues(REPORTS)


def valued(sentence: ParsedSentence, clause: Clause) -> Iterator[StatementMatch]:
    """Yield what something of ours is: "our database is PostgreSQL", "my boss is Alec"."""
    words = sentence.words
    place = next((i for i in range(clause.begin, clause.end) if words[i] in _BE), clause.end)
    left = words[clause.begin : place]
    if place + 1 >= clause.end or not 2 <= len(left) <= 8 or "," in left:
        return
    value = _value(sentence, place + 1, clause.end)
    exact = value < clause.end and is_exact(sentence, value)
    who = left[0] in _OWN and not _ROLES.isdisjoint(left)
    if (who or (left[0] == "the" and left[1] in _ROLES)) and exact and sentence.capital(value):
        name = name_at(sentence, value, clause.end)
        yield StatementMatch(place, MemoryType.ENTITY, 0.85 if who else 0.75, name)
    elif left[0] in _OWN and len(left) > 2 and not _LIKED.isdisjoint(left):
        yield StatementMatch(place, MemoryType.PREFERENCE, 0.8)
    elif left[0] in ("our", "the") and _FLEETING.isdisjoint(left) and exact:
        yield StatementMatch(place, MemoryType.FACT, 0.65)


def _value(sentence: ParsedSentence, place: int, end: int) -> int:
    """The place of what is stated, behind articles and prepositions."""
    while place < end and sentence.words[place] in ("a", "an", "the", "at", "on", "in", "called"):
        place += 1
    return place


def procedure(sentence: ParsedSentence, begin: int) -> StatementMatch | None:
    """Return the hit of a sentence that says what to do when, or what for, if it does."""
    words = sentence.words[begin:]
    lead = words[2:] if words[:3] == ["in", "order", "to"] else words
    if len(words) < 4 or lead[0] not in _LEADS:
        return None
    step = lead.index(",") + 1 if "," in lead else len(lead)
    if lead[1] in _TALKERS and lead[step : step + 1] != ["always"]:
        return None
    steps = [step, *(place for place, word in enumerate(lead) if word in ("we", "you"))]
    if lead[0] == "to":
        steps += [i + 1 for i in range(step, len(lead)) if lead[i] in (",", "and", "then")]
    is_habit = not _EACH.isdisjoint(lead[:2]) and "we" in lead[:7]
    if not is_habit and not any(_is_step(lead, place) for place in steps):
        return None
    return StatementMatch(begin, MemoryType.PROCEDURE, PROCEDURE)


def _is_step(words: list[str], place: int) -> bool:
    """Tell whether an imperative stands at a place, or an address and then one."""
    while place < len(words) and words[place] in _ADDRESSED:
        place += 1
    return place < len(words) and words[place] in IMPERATIVES


STATEMENTS: Final[tuple[Reader, ...]] = (phrased, valued)
REPORTED: Final[tuple[Reader, ...]] = (reported,)
_FEWEST_STEPS: Final = 2
_NO_OCCASION: Final = (
    r"(?:me|you|us|all|everyone|the|do|be|answer|clarify|conclude|recap|sum|summari[sz]e)\b"
    r"|(?-i:[A-Z][a-z])"
)
"""What follows "to" where a list is for somebody, or is the talk's own."""


class Workflow(NamedTuple):
    """Numbered steps with what they are for, as they were written, and the prose around them."""

    steps: str
    rest: str


def split_workflow(text: str) -> Workflow | None:
    """Return the numbered steps that a message tells, apart from what else it says; None for none.

    "To roll back:" or "Steps for a release:" stands before them, each says what to do and is whole,
    and there are two or more. What "we need to" do is a task and comes once.
    """
    if "1. " not in text and "1) " not in text:
        return None
    from pmem.core.style_rules import lints_of_steps
    from pmem.core.text.blocks import read_prose

    prose = read_prose(text[:MOST])
    found = _WORKFLOW.search(prose)
    if found is None:
        return None
    steps = found[0].strip().rstrip(".")
    many = len(_NUMBER.findall(steps))
    is_whole = _plain(found[0]) in _plain(text) and not steps.endswith(":")  # else code stood there
    if many < _FEWEST_STEPS or len(steps) > LONGEST or not is_whole or lints_of_steps(steps):
        return None
    return Workflow(steps, f"{prose[: found.start()]}\n{prose[found.end() :]}")


def _plain(text: str) -> str:
    return " ".join(text.split())


_OCCASION: Final = (
    rf"(?:(?:in order )?to (?!{_NO_OCCASION})|how (?:to|we)\b|when(?:ever)? (?:you|we)\b"
    r"|every time\b|(?:the |our )?(?:steps|procedure|runbook|checklist) (?:to|for)\b)"
)
_WORKFLOW: Final = lazily(
    rf"^[ \t]*{_OCCASION}(?![^\n:]{{0,120}}\b(?:we (?:need|have|must|should|will)|let's|i)\b)"
    r"[^\n:]{2,120}:(?:[ \t]|[ \t]*\n{1,2}[ \t]*)1[.)] [^\n]+"
    r"(?:\n{1,2}[ \t]*\d{1,2}[.)] [^\n]+){0,20}",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBER: Final = lazily(r"(?:^|(?<=\s))\d{1,2}[.)] ")
