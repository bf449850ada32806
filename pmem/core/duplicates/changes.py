"""What a sentence about a change says was valid before, and what it says is valid now.

"The limit was raised from 100 to 200" tells of two states, "the limit is 100" and "the limit is
200"; "we use RabbitMQ instead of Kafka" tells that "we use Kafka" held. So a change is compared
with a state as one state with another.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pmem.core.duplicates import tables
from pmem.core.duplicates.lexicon import Meaning, WordClass
from pmem.core.duplicates.reading import Claim

IN: Final = Meaning(WordClass.PREPOSITION, "in")
"""Stands for "in", "on" and "at" in a state."""
_MOST_WORDS: Final = 3
"""The most words of a value that came instead of another."""
_NEAREST: Final = 8
"""Items behind a verb among which the word before the new value is looked for."""
_LONGEST: Final = 64
"""Items of a claim in whose places a denied value is tried."""
_INSTEAD: Final = Meaning(WordClass.SIGN, "instead")
_FROM: Final = Meaning(WordClass.PREPOSITION, "from")
_BE: Final = Meaning(WordClass.BE, "")
_TO: Final = Meaning(WordClass.PREPOSITION, "to")
_STILL: Final = Meaning(WordClass.SIGN, "still")
_NOT: Final = Meaning(WordClass.SIGN, "not")
_BUT: Final = Meaning(WordClass.SIGN, "although")
_BREAK: Final = Meaning(WordClass.BREAK, ",")
_NAMES: Final = (WordClass.CONTENT, WordClass.EXACT)
_PLACES: Final = ("in", "on", "at")
_STATES: Final = (WordClass.BE, WordClass.USE, WordClass.SOFT)
_UNSAID: Final = (WordClass.SUBJECT, WordClass.AND, WordClass.BREAK, WordClass.PASSIVE)
ToldChange = tuple[Sequence[Meaning], Sequence[Meaning]]
"""How what held before begins, and what holds now; either is empty where it is not told."""


def changes(claim: Claim) -> Iterator[ToldChange]:
    """Tell what changed as a claim has it; what it says in several ways comes several times."""
    if "instead" in claim.signs:
        yield from _instead(claim.items)
    if _NOT.value in claim.signs:
        yield from _corrected(claim.items)
        begin = 2 if claim.items[:2] == (_NOT, _BREAK) else 0
        yield from _denied(claim.items[begin:])
    if not (
        tables.CHANGED.keys().isdisjoint(claim.content)
        and tables.CHANGED.keys().isdisjoint(claim.soft)
    ):
        yield from _changed(claim.items)


def state(items: Iterable[Meaning]) -> list[Meaning]:
    """Return what holds now by a claim's items; "is", "uses" and "runs" are one in it."""
    found: list[Meaning] = []
    for item in items:
        if item == _INSTEAD:
            break
        if item.kind in _STATES:
            found += () if found[-1:] == [_BE] else (_BE,)
        elif item.kind is WordClass.PREPOSITION and item.value in _PLACES:
            found.append(IN)
        elif item.kind not in _UNSAID:
            found.append(item)
    return found


def _instead(items: Sequence[Meaning]) -> Iterator[ToldChange]:
    """What held before "use X instead of Y"; how many words X has cannot be seen."""
    place = items.index(_INSTEAD)
    for words in range(1, min(_MOST_WORDS, place) + 1):
        yield state([*items[: place - words], *items[place + 1 :]]), ()


def _corrected(items: Sequence[Meaning]) -> Iterator[ToldChange]:
    """What "X is not Y but Z" denies."""
    if _NOT in items and _BUT in items[items.index(_NOT) :]:
        denied = items[: items.index(_BUT, items.index(_NOT))]
        yield state(item for item in denied if item != _NOT), ()


def _denied(items: Sequence[Meaning]) -> Iterator[ToldChange]:
    """What "no, X is Z, not Y" denies: X with Y in the place of some word, in the same unit."""
    if _NOT not in items[2:]:
        return
    last = len(items) - 1 - items[::-1].index(_NOT)
    if items[last - 1] == _BREAK and last <= _LONGEST:
        holds, denied = state(items[: last - 1]), items[-1]
        for place, item in enumerate(holds):
            value = " ".join((denied.value, *item.value.split(" ")[1:]))
            yield [*holds[:place], Meaning(item.kind, value), *holds[place + 1 :]], ()


def values_gone(claim: Claim) -> Iterator[tuple[Sequence[Meaning], Sequence[Meaning]]]:
    """Tell what a claim says came out of use, with the words of what used it.

    "We moved the jobs from X to Y", "no longer use X for jobs" and "dropped X for jobs" give X.
    """
    items: Sequence[Meaning] = claim.items
    if not any(sign in ("was", "still") or sign.startswith("past ") for sign in claim.signs):
        return
    for place, item in enumerate(items):
        told = items[:place]
        others: Sequence[Meaning] = ()
        if item == _FROM:
            verbs = [each for each in told if each.value in tables.CHANGED]
            is_told = bool(verbs) and any(map(_is_past, told)) and _TO in items[place:]
            others = [each for each in told if each not in verbs]
        elif item.kind is WordClass.USE:
            is_told = _NOT in told and _STILL in told
        else:
            is_told = item.value in tables.DROPPED and any(map(_is_past, told))
        if is_told:
            value = _name_at(items, place + 1)
            rest = items[place + 1 + len(value) :]
            if item == _FROM:
                rest = rest[1 + len(_name_at(rest, 1)) :]
            yield value, [each for each in (*others, *rest) if each.kind in _NAMES]


def uses(claim: Claim, value: Sequence[Meaning]) -> bool:
    """Tell whether a claim says that something uses a value or runs on it, wherever that is."""
    items, size = claim.items, len(value)
    if claim.signs or not size:
        return False
    for place in range(1, len(items)):
        before, after = items[place - 1], items[place + size : place + size + 1]
        if items[place : place + size] == tuple(value) and not (after and after[0].kind in _NAMES):
            said = any(each.kind in _STATES for each in items[:place])
            if after and after[0].value in _PLACES:
                return False
            return before.kind is WordClass.USE or (before.kind is WordClass.PREPOSITION and said)
    return False


def _name_at(items: Sequence[Meaning], begin: int) -> Sequence[Meaning]:
    """The words of a name from a place on."""
    end = begin
    while end < len(items) and items[end].kind in _NAMES:
        end += 1
    return items[begin:end]


def _changed(items: Sequence[Meaning]) -> Iterator[ToldChange]:
    """What "X was raised from Y to Z", "we raised X to Z" and "we replaced Y with Z" tell."""
    for place in range(1, len(items)):
        verb = items[place].value
        links = tables.CHANGED.get(verb, ())
        if not links or not _has_happened(items[place - 1]):
            continue
        following = items[place + 1 :]
        link = next((p for p, i in enumerate(following[:_NEAREST]) if i.value in links), None)
        if link is None:
            return
        told = following[:link]
        subject = [
            item for item in items[:place] if item.kind not in _STATES and not _has_happened(item)
        ]
        if verb == "replace":
            yield state([_BE, *subject, *told]), ()
            return
        begin = told.index(_FROM) if _FROM in told else len(told)
        subject += told[:begin]
        before = [*subject, _BE, *told[begin + 1 :]] if begin < len(told) else ()
        inside = (IN,) if verb == "move" else ()
        yield state(before), state([*subject, _BE, *inside, *following[link + 1 :]])
        return


def _is_past(item: Meaning) -> bool:
    return item.value == "was" or item.value.startswith("past ")


def _has_happened(item: Meaning) -> bool:
    """Tell whether an item says that the verb behind it is past or passive."""
    return item.kind is WordClass.PASSIVE or _is_past(item)
