"""What the words of a stretch of conversation are worth to a later question.

A word's worth is e to the sum of the weights of what holds of it: a log-linear model of how many
of the answers asked for later have the word. The weights were fitted by Poisson regression on
conversations with questions, each conversation judged by the weights of the others, and rounded;
`python -m tests.benchmarks.summaries FOLDER --fit` repeats it. What those conversations hardly
hold (identifiers, errors, people beside assistants, technical decisions) has weights set by hand.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from pmem.core.summaries.clauses import Piece
from pmem.core.summaries.everyday import everyday_terms
from pmem.core.text.sentences import read
from pmem.core.text.terms import terms, time_vocabulary

WEIGHTS: Final[dict[str, float]] = {
    # of the word
    "everyday": -0.95,
    "name": 0.8,
    "number": 0.5,
    "identifier": 0.3,
    "time": 0.7,
    "long": 0.3,
    "short": 0.25,
    # of its place in the stretch
    "twice": 0.65,
    "often": 1.0,
    "widespread": 0.65,
    # of the piece it stands in
    "sparse": -0.5,
    "answer": 0.4,
    "question": -0.6,
    "proposal": -0.4,
    "outcome": 0.35,
    "vague": -0.2,
    "remark": -0.35,
    "self": 0.2,
    "person": 0.3,
}
"""Weights by feature; see `_word`, `_recurring` and `_piece` for what each means."""

_WORD: Final = re.compile(r"[^\W_][\w'’.:/@%+#&-]*")
_OUTCOMES: Final = """
decide decision agree choose pick settle conclude conclusion switch adopt reject approve drop plan
schedule deadline deploy release merge rollback revert migrate upgrade downgrade fix solve resolve
resolution workaround cause because root fail failure error exception timeout crash bug broken
breaking instead must should rule policy budget cost price result outcome finish win lose buy sell
hire join quit move born marry die name call favorite started finished
决定 决議 決定 结论 選択 选择 修复 修正 原因 错误 失败 失敗 結果 결정 선택 원인 오류
"""
_PROPOSES: Final = frozenset(
    """propose proposed proposes proposal proposing suggest suggests suggested suggestion maybe
    perhaps could might shall should let consider considering""".split()
)
_SELF: Final = frozenset("i me my mine we us our ours".split())
_VAGUE: Final = frozenset("it that this there these those they".split())
_COMMON: Final = frozenset({"everyday", "speaker"})
SPARSE: Final = 0.2
WIDE: Final = 4
REMEMBERED: Final = 40
"""Characters of the longest word whose analysis is kept."""


class TermUse(NamedTuple):
    """One occurrence of a term, and which of `WEIGHTS` hold for the word itself."""

    term: str
    held: tuple[str, ...]


def worths(found: Sequence[Piece], names: Iterable[str]) -> list[dict[str, float]]:
    """Return for each piece its terms and what each of them is worth there.

    A piece of nothing but everyday words and speakers' names is worth nothing.
    """
    known: dict[tuple[str, ...], float] = {}
    values: list[dict[str, float]] = []
    for occurrences in features(found, names):
        best: dict[str, float] = {}
        for term, held in occurrences:
            worth = known.get(held)
            if worth is None:
                worth = known[held] = math.exp(sum(WEIGHTS.get(name, 0.0) for name in held))
            if worth > best.get(term, 0.0):
                best[term] = worth
        told = any(_COMMON.isdisjoint(held) for _, held in occurrences)
        values.append(best if told else {})
    return values


def features(found: Sequence[Piece], names: Iterable[str]) -> list[list[TermUse]]:
    """Return for each piece its terms in order, and which of `WEIGHTS` hold for each."""
    speakers = {term for name in names for term in terms(name)}
    said = [_words(piece.text, speakers) for piece in found]
    recurring = _recurring(found, said)
    asking = {piece.message for piece in found if _asks(piece)}
    rows = []
    for piece, occurrences in zip(found, said, strict=True):
        whole = _piece(piece, occurrences, asking)
        rows.append([TermUse(term, held + recurring[term] + whole) for term, held in occurrences])
    return rows


def _asks(piece: Piece) -> bool:
    return piece.end in ("?", "？")


def _words(text: str, speakers: set[str]) -> list[TermUse]:
    """Take a piece apart; the capital of its first word makes no name of it."""
    found: list[TermUse] = []
    for match in _WORD.finditer(text):
        surface = match.group()
        analyse = _word if len(surface) <= REMEMBERED else _word.__wrapped__
        for word in analyse(surface):
            if word.term in speakers:
                found.append(TermUse(word.term, ("speaker",)))
            elif "name" in word.held and match.start() == 0:
                found.append(TermUse(word.term, tuple(h for h in word.held if h != "name")))
            else:
                found.append(word)
    return found


@lru_cache(maxsize=20_000)
def _word(surface: str) -> tuple[TermUse, ...]:
    """Return the terms of a word as it is written, each with what holds for it."""
    surface = surface.rstrip(".:/-'’&")
    identifier = is_identifier(surface)
    found = []
    for term in terms(surface):
        held = {
            "everyday": term in everyday_terms(),
            "name": surface[:1].isupper() and surface[:2] not in ("I'", "I’"),
            "number": term.isdigit(),
            "identifier": identifier and not term.isdigit(),
            "time": term in _time_terms(),
            "long": len(surface) >= 7,
            "short": len(surface) <= 3,
        }
        found.append(TermUse(term, tuple(name for name, holds in held.items() if holds)))
    return tuple(found)


def _recurring(
    found: Sequence[Piece], said: Sequence[Sequence[TermUse]]
) -> dict[str, tuple[str, ...]]:
    """Return by term how it recurs: twice, more often, in several messages."""
    counted = Counter(word.term for occurrences in said for word in occurrences)
    places: dict[str, set[int]] = {term: set() for term in counted}
    for piece, occurrences in zip(found, said, strict=True):
        for word in occurrences:
            places[word.term].add(piece.message)
    recurring: dict[str, tuple[str, ...]] = {}
    for term, count in counted.items():
        held = () if count < 2 else ("twice",) if count == 2 else ("often",)
        recurring[term] = (*held, "widespread") if len(places[term]) >= WIDE else held
    return recurring


def _piece(piece: Piece, said: Sequence[TermUse], asking: set[int]) -> tuple[str, ...]:
    """Return what holds for all the words of a piece."""
    plain = read(piece.text).words
    telling = {word.term for word in said if _COMMON.isdisjoint(word.held)}
    outcomes = _outcome_terms()
    asked = _asks(piece)
    held = {
        "sparse": len(telling) < SPARSE * (1 + len(piece.text.split())),
        "question": asked,
        "proposal": not _PROPOSES.isdisjoint(plain),
        "answer": not asked and piece.message - 1 in asking,
        "outcome": any(word.term in outcomes for word in said),
        "vague": bool(plain) and plain[0] in _VAGUE,
        "remark": piece.kind == "remark",
        "self": not _SELF.isdisjoint(plain),
        "person": piece.by_person,
    }
    return tuple(name for name, holds in held.items() if holds)


def is_identifier(surface: str) -> bool:
    """Tell a name from programs, files or protocols from a word: by what is inside it."""
    if surface.isalpha():
        return surface[1:] != surface[1:].lower() and not surface.isupper()
    return any(mark in surface for mark in "_./:@#") or any(map(str.isdigit, surface))


@lru_cache(maxsize=1)
def _outcome_terms() -> frozenset[str]:
    return frozenset(terms(_OUTCOMES))


@lru_cache(maxsize=1)
def _time_terms() -> frozenset[str]:
    return time_vocabulary()
