"""What a memory is worth to a task, and in which order memories fill a budget.

    value = how well it answers the task                   relative to the best answer
          + 1 where it applies to a file that the task is about; that also puts it first
          + 0.3 where it has the subject of a first answer, other than itself, that is good;
                a fact, an entity or a goal only where it answers the task, too
          + 0.4 * how well a rule answers the standing question, relative to the best
          + 0.4 where its importance lifts it, and where contexts show all of its category
          + up to 0.1 by its type                          rules before facts

    order = value / tokens ** 0.3

The last four count for what has no place: what has one is for its files alone. What each rule
brings was measured: `docs/contexts.md`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from math import exp, sqrt
from typing import Final, NamedTuple

import msgspec

from pmem.core.context.parts import Format, Item
from pmem.core.context.writing import (
    TURNS,
    chat_frame,
    entry,
    heading,
    longest_text,
    marker,
    section,
)
from pmem.core.policy import PROCEDURAL, is_procedural
from pmem.core.selection import TYPE_WORTH
from pmem.values.bounds import CONTEXT_CHARACTERS
from pmem.values.ids import SHORT_LENGTH
from pmem.values.records import Memory, MemoryType

_STRICTEST: Final = ("none", "rag", "", "all")


def mode_of(memory: Memory, modes: Mapping[str, str]) -> str:
    """Return how a context shows a memory: `all`, `rag`, `none`, or `` for the usual way.

    What tells how something is done is also of the category `procedural`, whatever its own; the
    stricter of the two modes holds.
    """
    mode = modes.get(memory.category, "")
    if is_procedural(memory):
        return min(mode, modes.get(PROCEDURAL, mode), key=_STRICTEST.index)
    return mode


class Lengths:
    """Counts the memories that were found, of each category that is shown by `rag`."""

    def __init__(self, modes: Mapping[str, str], most: Mapping[str, int]) -> None:
        self._modes = modes
        self._most = most
        self._seen: Counter[str] = Counter()

    def take(self, memory: Memory) -> bool:
        """Tell whether there is still room for a memory of its category, and take it."""
        if mode_of(memory, self._modes) != "rag" or memory.category not in self._most:
            return True
        self._seen[memory.category] += 1
        return self._seen[memory.category] <= self._most[memory.category]


LIFTED_FROM: Final = 0.9
"""From this importance on a memory is lifted."""
FIRST_ANSWERS: Final = 12
"""Memories of the subject of so many first answers are kin."""
GOOD_ANSWER: Final = 0.25
"""Of those that are so good, relative to the best one."""
SURE_ANSWER: Final = 0.75
"""One so good, relative to the best, needs no more to speak for it."""
TELLING: Final = 1.2
"""Nats that an answer tells, at the least: what its shared words tell, for how well it answers."""

RULE_TYPES: Final = frozenset(
    (MemoryType.CONSTRAINT, MemoryType.PROCEDURE, MemoryType.PREFERENCE, MemoryType.DECISION)
)
"""The types that bind any change, where they have no place."""
INFORMING: Final = frozenset((MemoryType.FACT, MemoryType.ENTITY, MemoryType.GOAL))
"""The types that only inform: they have to answer the task themselves."""


class Logit(NamedTuple):
    """How much each part says about whether a task needs a memory: a logistic model.

    It was fitted to labelled tasks.
    """

    bias: float = -4.55
    answers: float = 2.01
    root: float = 1.72
    kin: float = 0.64
    standing: float = 1.40
    lifted: float = 1.88


LOGIT: Final = Logit()
LEAST_LIKELY: Final = 0.03
"""A context without a budget leaves out what is less likely to be needed."""


KIN: Final = 0.3
"""What the subject of a first answer counts."""
STANDING: Final = 0.4
"""What answering the standing question best counts."""
LIFTED: Final = 0.4
"""What importance counts, and a category that contexts show whole."""
TYPE: Final = 0.1
"""What the most binding type counts."""
THRIFT: Final = 0.3
"""The power of its tokens that a value is divided by."""
FLOOR: Final = 0.1
"""What is worth less is left out, whatever room there is."""
ALWAYS: Final = 0.3
"""From so much on, whatever the task, a memory is one that every task needs."""


def per_token(value: float, tokens: int) -> float:
    """Return what puts one thing before another: its value for what it costs."""
    return value / float(max(1, tokens) ** THRIFT)


class Worth(NamedTuple):
    """What speaks for a memory, each part as it counts."""

    answers: float = 0.0
    place: float = 0.0
    kin: float = 0.0
    standing: float = 0.0
    lifted: float = 0.0
    whole: float = 0.0
    type: float = 0.0

    @property
    def always(self) -> float:
        """What it is worth whatever the task."""
        return self.standing + self.lifted + self.whole + self.type

    @property
    def value(self) -> float:
        """What it is worth to the task."""
        return self.answers + self.place + self.kin + self.always

    @property
    def reason(self) -> str:
        """The part that counts most; what only a rule's words or type speak for is a `rule`."""
        part = max(zip(self[:-1], self._fields, strict=False), key=lambda part: part[0])
        return "rule" if part[1] == "standing" or not part[0] else part[1]

    @property
    def connects(self) -> bool:
        """Whether something connects it with the task, or it stands for every task."""
        return self.value > self.type

    @property
    def likelihood(self) -> float:
        """The probability that a task needs it, from 0 to 1, as `LOGIT` has it."""
        if self.place:
            return 1.0
        odds = sum(weight * part for weight, part in zip(LOGIT, self.features, strict=True))
        return 1 / (1 + exp(-odds))

    @property
    def features(self) -> tuple[float, ...]:
        """The parts as `LOGIT` takes them, each from 0 to 1; of rules only the first stand out."""
        answers = min(1.0, self.answers)
        kin, standing = self.kin / KIN, self.standing / STANDING
        lifted = max(self.lifted, self.whole) / LIFTED
        return (1.0, answers, sqrt(answers), kin, standing**4, lifted)


class Valuation(msgspec.Struct, frozen=True):
    """What memories are worth to one task.

    `answers` and `standing` say by id how well memories answer the task and the standing question,
    relative to the best; `subjects` are those of the first answers, with the ids that have them;
    `applying` are the ids of what applies to a file of the task. `information` is, in nats, how
    much the words tell that an answer shares with the task: the sum of their idfs.
    """

    answers: Mapping[str, float] = {}
    subjects: Mapping[str, tuple[str, ...]] = {}
    standing: Mapping[str, float] = {}
    applying: frozenset[str] = frozenset()
    modes: Mapping[str, str] = {}
    information: Mapping[str, float] = {}

    def worth(self, memory: Memory) -> Worth:
        """Return what speaks for a memory."""
        is_general = not memory.places
        is_rule, answers = _is_rule(memory), self.answers.get(memory.id, 0.0)
        may_be_kin = is_general and (answers > 0 or memory.type not in INFORMING)
        return Worth(
            answers=answers,
            place=float(memory.id in self.applying),
            kin=KIN * may_be_kin * (self.akin(memory) is not None),
            standing=STANDING * is_rule * self.standing.get(memory.id, 0.0),
            lifted=LIFTED * is_general * (memory.importance >= LIFTED_FROM),
            whole=LIFTED * is_general * (mode_of(memory, self.modes) == "all"),
            type=TYPE * is_general * TYPE_WORTH[memory.type],
        )

    def is_apt(self, memory: Memory, worth: Worth) -> bool:
        """Tell whether more speaks for a memory than a word that it shares with many."""
        is_tied = worth.value > worth.answers + worth.type
        tells = worth.answers * self.information.get(memory.id, 0.0) >= TELLING
        return is_tied or tells or worth.answers >= SURE_ANSWER or _is_rule(memory)

    def akin(self, memory: Memory) -> str | None:
        """Return the id of the first answer that has the subject of a memory, itself apart."""
        answers = self.subjects.get(subject_of(memory), ())
        return next((identifier for identifier in answers if identifier != memory.id), None)

    def standing_first(self, memories: Iterable[Memory]) -> list[Memory]:
        """Return the memories that every task needs: the pinned ones, then by worth for tokens."""
        always = [(memory, self.worth(memory).always) for memory in memories]
        chosen = [one for one in always if one[0].pinned or one[1] >= ALWAYS]
        chosen.sort(
            key=lambda one: (
                not one[0].pinned, -per_token(one[1], one[0].tokens), *tie(one[0])
            )
        )  # fmt: skip
        return [memory for memory, _ in chosen]


def first_subjects(
    answers: Iterable[Memory], relative: Mapping[str, float]
) -> dict[str, tuple[str, ...]]:
    """Return the subjects of the first good answers, with the ids of those that have them."""
    found: dict[str, tuple[str, ...]] = {}
    for answer in islice(answers, FIRST_ANSWERS):
        subject = subject_of(answer)
        if subject and relative[answer.id] >= GOOD_ANSWER:
            found[subject] = (*found.get(subject, ()), answer.id)
    return found


def subject_of(memory: Memory) -> str:
    """Return a memory's subject as others are compared with it."""
    return " ".join((memory.subject or "").casefold().split())


def _is_rule(memory: Memory) -> bool:
    return memory.type in RULE_TYPES and not memory.places


def tie(memory: Memory) -> tuple[float, datetime, str, str]:
    """Return what orders memories of one value: type and time, and nothing that is random."""
    return (-TYPE_WORTH[memory.type], *made(memory), memory.content)


def made(memory: Memory) -> tuple[datetime, str]:
    """Return when a memory was made, and the time part of its id, which tells equals apart."""
    return memory.created_at, memory.id.partition("-")[0].rjust(SHORT_LENGTH)


SEAM: Final = 2
"""Two texts may count so many tokens less together than apart."""
BEYOND: Final = 10**12
"""What a text costs that is too long for any context."""


class Price:
    """Prices in tokens."""

    def __init__(
        self, format_: Format, count: Callable[[str], int], recent: Sequence[Item]
    ) -> None:
        self._format: Format = format_
        self._count = count
        self._known: dict[tuple[str, Item], int] = {}
        self.marker = self._item("recent", marker(recent))
        self.least_marker = self._item("recent", marker(()))

    def frame(self, name: str, longest: int) -> int:
        """A section without its items, so many backticks in a row among them."""
        if longest > CONTEXT_CHARACTERS:
            return BEYOND
        return self._text(section(name, (), self._format, longest))

    def headings(self, headings: Iterable[str]) -> int:
        """Headings within a section."""
        return sum(self._text(heading(text, self._format)) for text in headings)

    def items(self, name: str, items: Iterable[Item]) -> int:
        """Items of the section `name`."""
        return sum(self._item(name, item) for item in items)

    def shared(self, name: str, items: Iterable[Item]) -> int:
        """What items may cost less at the most, where calls and results stand together."""
        if self._format != "messages" or name not in TURNS:
            return 0
        tools = [item for item in items if item.calls or item.answers]
        return sum(2 * (self._text(chat_frame(item)) + SEAM) for item in tools)

    def section(self, name: str, items: Sequence[Item]) -> int:
        """A whole section."""
        return self._text(section(name, items, self._format))

    def _item(self, name: str, item: Item) -> int:
        key = (name, item)
        if longest_text([item]) > CONTEXT_CHARACTERS:
            return BEYOND
        if key not in self._known:
            self._known[key] = self._text(entry(name, item, self._format))
        return self._known[key]

    def _text(self, text: str) -> int:
        return self._count(text) if text else 0
