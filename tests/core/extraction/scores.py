"""Labelled messages and dialogues, and how well the rules do on them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from pmem.core.extraction.episodes import Moment, moments
from pmem.core.extraction.facts import Candidate, extract
from pmem.values.records import EpisodeType, MemoryType, Message, Role
from tests.conftest import NOW

HERE: Final = Path(__file__).parent
MESSAGES: Final = ("tuning", "wordings", "held_out", "fresh", "unseen", "last")
DIALOGUES: Final = ("tuning", "held_out", "fresh", "unseen", "last")


class Score:
    """Counts of what was found, found in vain and missed, by type, with the failures."""

    def __init__(self) -> None:
        self.right: Counter[str] = Counter()
        self.extra: Counter[str] = Counter()
        self.missed: Counter[str] = Counter()
        self.failures: list[str] = []

    def types(self) -> list[str]:
        """Return the types that were expected or found."""
        return sorted({*self.right, *self.extra, *self.missed})

    def precision(self, kind: str | None = None) -> float:
        """Return the share of what was found that was expected, of one type or of all."""
        return _share(_count(self.right, kind), _count(self.extra, kind))

    def recall(self, kind: str | None = None) -> float:
        """Return the share of what was expected that was found, of one type or of all."""
        return _share(_count(self.right, kind), _count(self.missed, kind))

    def expected(self, kind: str | None = None) -> int:
        """Return how many were expected, of one type or of all."""
        return _count(self.right, kind) + _count(self.missed, kind)

    def miss(self, kind: str, said: str) -> None:
        """Count something expected that was not found."""
        self.missed[kind] += 1
        self.failures.append(f"missed {kind}: {said}")

    def find_in_vain(self, kind: str, found: str, said: str) -> None:
        """Count something found that was not expected."""
        self.extra[kind] += 1
        self.failures.append(f"not a {kind}: {found!r} in: {said}")


class Labelled(NamedTuple):
    """A message, and the type and words of each fact that it states."""

    message: Message
    facts: list[tuple[MemoryType, list[str]]]


class Expected(NamedTuple):
    """A moment that a dialogue has: its type, its message, and where it begins, if that is set."""

    type: EpisodeType
    at: int
    first: int | None
    outcome: str


class Dialogue(NamedTuple):
    """A dialogue and its moments."""

    said: list[Message]
    moments: list[Expected]


def message(content: str, role: Role = Role.USER, speaker: str | None = None) -> Message:
    """Return a message that says something."""
    return Message(id="m-00000001", role=role, speaker=speaker, content=content, created_at=NOW)


def labelled_messages(name: str) -> Iterator[Labelled]:
    """Yield the messages of a file."""
    for line in (HERE / "facts" / f"{name}.jsonl").read_bytes().splitlines():
        read = orjson.loads(line)
        facts = [(MemoryType(kind), words) for kind, *words in read["facts"]]
        yield Labelled(message(read["text"], Role(read["role"])), facts)


def labelled_dialogues(name: str) -> Iterator[Dialogue]:
    """Yield the dialogues of a file."""
    for line in (HERE / "episodes" / f"{name}.jsonl").read_bytes().splitlines():
        read = orjson.loads(line)
        said = [message(text, Role(role)) for role, text in read["said"]]
        yield Dialogue(
            said,
            [
                Expected(
                    EpisodeType(one["type"]), one["at"], one.get("first"), one.get("outcome", "")
                )
                for one in read["moments"]
            ],
        )


def score_messages(labelled: Iterable[Labelled]) -> Score:
    """Extract the facts of messages and compare; a match has the type and all the words."""
    score = Score()
    for said, facts in labelled:
        found = extract(said)
        for kind, words in facts:
            match = next((one for one in found if _matches(one, kind, words)), None)
            if match is None:
                score.miss(kind.value, said.content)
            else:
                found.remove(match)
                score.right[kind.value] += 1
        for one in found:
            score.find_in_vain(one.type.value, one.content, said.content)
    return score


def score_dialogues(labelled: Iterable[Dialogue]) -> Score:
    """Follow dialogues message by message and compare; a match has the type and the message."""
    score = Score()
    for said, expected in labelled:
        found = [(end, one) for end in range(len(said)) for one in moments(said[: end + 1])]
        for wanted in expected:
            match = next((pair for pair in found if _is_expected(pair, wanted)), None)
            text = said[wanted.at].content
            if match is None:
                score.miss(wanted.type.value, text)
            else:
                found.remove(match)
                score.right[wanted.type.value] += 1
                _check_beginning(score, match[1], wanted, text)
        for end, moment in found:
            score.find_in_vain(moment.type.value, moment.title, said[end].content)
    return score


def _matches(found: Candidate, kind: MemoryType, words: list[str]) -> bool:
    return found.type is kind and all(word in found.content for word in words)


def _is_expected(pair: tuple[int, Moment], wanted: Expected) -> bool:
    end, moment = pair
    told = f"{moment.title} {moment.outcome}"
    return end == wanted.at and moment.type is wanted.type and wanted.outcome in told


def _check_beginning(score: Score, moment: Moment, wanted: Expected, said: str) -> None:
    if wanted.first is not None and moment.first != wanted.first:
        score.failures.append(f"begins at {moment.first}, not {wanted.first}: {said}")


def _count(counter: Counter[str], kind: str | None) -> int:
    return counter.total() if kind is None else counter[kind]


def _share(right: int, wrong: int) -> float:
    return right / (right + wrong) if right + wrong else 1.0
