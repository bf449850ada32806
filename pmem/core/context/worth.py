"""What a memory is worth to a task, and in which order memories fill a budget.

    value = how well it answers the task                   relative to the best answer
          + 1 where it applies to a file that the task is about; that also puts it first
          + 0.3 where it has the subject of a first answer
          + 0.4 * how well it answers the standing question, relative to the best
          + 0.4 where its importance lifts it, and where contexts show all of its category
          + up to 0.1 by its type                          rules before facts

    order = value / tokens ** 0.3

What each rule brings was measured: `docs/contexts.md`.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import islice
from typing import Final, NamedTuple

import msgspec

from pmem.core.context.modes import mode_of
from pmem.values.ids import SHORT_LENGTH
from pmem.values.records import Memory, MemoryType

LIFTED_FROM: Final = 0.9
"""From this importance on a memory is lifted."""
FIRST_ANSWERS: Final = 12
"""Memories of the subject of so many first answers are kin."""

TYPE_WORTH: Final = {
    MemoryType.CONSTRAINT: 1.0,
    MemoryType.DEAD_END: 0.8,
    MemoryType.PROCEDURE: 0.6,
    MemoryType.PREFERENCE: 0.4,
    MemoryType.DECISION: 0.3,
    MemoryType.INSIGHT: 0.2,
    MemoryType.GOAL: 0.1,
    MemoryType.FACT: 0.1,
    MemoryType.ENTITY: 0.0,
}
"""What a memory's type is worth: what binds comes before what informs."""


class Rules(msgspec.Struct, frozen=True):
    """How much each rule counts; zero switches one off.

    Attributes:
        place: for applying to a file that the task is about.
        kin: for the subject of one of the first answers.
        standing: for answering the standing question.
        lifted: for importance, and for a category that contexts show whole.
        type: for the type.
        thrift: the power of its tokens that a value is divided by.
        floor: what is worth less is left out, whatever room there is.
        always: from so much on, whatever the task, a memory is one that every task needs.
    """

    place: float = 1.0
    kin: float = 0.3
    standing: float = 0.4
    lifted: float = 0.4
    type: float = 0.1
    thrift: float = 0.3
    floor: float = 0.1
    always: float = 0.3

    def order(self, value: float, tokens: int) -> float:
        """Return what puts one thing before another: its value for what it costs."""
        return value / float(max(1, tokens) ** self.thrift)


MEASURED: Final = Rules()
"""The rules as measurement chose them."""


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
        """The part that counts most."""
        return max(zip(self, self._fields, strict=True), key=lambda part: part[0])[1]


class Valuation(msgspec.Struct, frozen=True):
    """What memories are worth to one task.

    Attributes:
        answers: how well memories answer the task, by id, relative to the best answer.
        subjects: those of the first answers.
        standing: how well memories answer the standing question, relative to the best.
        rules: how much each rule counts.
        applying: the ids of memories that apply to a file that the task is about.
        modes: how contexts show categories.
    """

    answers: Mapping[str, float] = {}
    subjects: frozenset[str] = frozenset()
    standing: Mapping[str, float] = {}
    rules: Rules = MEASURED
    applying: frozenset[str] = frozenset()
    modes: Mapping[str, str] = {}

    def worth(self, memory: Memory) -> Worth:
        """Return what speaks for a memory."""
        rules = self.rules
        return Worth(
            answers=self.answers.get(memory.id, 0.0),
            place=rules.place * (memory.id in self.applying),
            kin=rules.kin * (subject_of(memory) in self.subjects),
            standing=rules.standing * self.standing.get(memory.id, 0.0),
            lifted=rules.lifted * (memory.importance >= LIFTED_FROM),
            whole=rules.lifted * (mode_of(memory, self.modes) == "all"),
            type=rules.type * TYPE_WORTH[memory.type],
        )

    def standing_first(self, memories: Iterable[Memory]) -> list[Memory]:
        """Return the memories that every task needs: the pinned ones, then by worth for tokens."""
        always = [(memory, self.worth(memory).always) for memory in memories]
        rules = self.rules
        chosen = [one for one in always if one[0].pinned or one[1] >= rules.always]
        chosen.sort(
            key=lambda one: (
                not one[0].pinned, -rules.order(one[1], one[0].tokens), *tie(one[0])
            )
        )  # fmt: skip
        return [memory for memory, _ in chosen]


def first_subjects(answers: Iterable[Memory]) -> frozenset[str]:
    """Return the subjects of the first answers.

    Args:
        answers: What answers the task, the best first.
    """
    return frozenset(map(subject_of, islice(answers, FIRST_ANSWERS))) - {""}


def subject_of(memory: Memory) -> str:
    """Return a memory's subject as others are compared with it."""
    return " ".join((memory.subject or "").casefold().split())


def tie(memory: Memory) -> tuple[float, datetime, str, str]:
    """Return what orders memories of one value: type and time, and nothing that is random."""
    return (-TYPE_WORTH[memory.type], *made(memory), memory.content)


def made(memory: Memory) -> tuple[datetime, str]:
    """Return when a memory was made, and the time part of its id, which tells equals apart."""
    return memory.created_at, memory.id.partition("-")[0].rjust(SHORT_LENGTH)
