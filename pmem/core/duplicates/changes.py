"""What a claim that tells of a change says held before, and holds now.

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
_VERBS: Final = (WordClass.CONTENT, WordClass.SOFT)
_INSTEAD: Final = Meaning(WordClass.SIGN, "instead")
_FROM: Final = Meaning(WordClass.PREPOSITION, "from")
_BE: Final = Meaning(WordClass.BE, "")
_PLACES: Final = ("in", "on", "at")
_STATES: Final = (WordClass.BE, WordClass.USE, WordClass.SOFT)
_UNSAID: Final = (WordClass.SUBJECT, WordClass.AND, WordClass.BREAK, WordClass.PASSIVE)


ToldChange = tuple[Sequence[Meaning], Sequence[Meaning]]
"""How what held before begins, and what holds now; either is empty where it is not told."""


def changes(claim: Claim) -> Iterator[ToldChange]:
    """Tell what changed as a claim has it; what it says in several ways comes several times.

    Args:
        claim: What may tell of a change.
    """
    if "instead" in claim.signs:
        yield from _instead(claim.items)
    if not (
        tables.CHANGED.keys().isdisjoint(claim.content)
        and tables.CHANGED.keys().isdisjoint(claim.soft)
    ):
        yield from _changed(claim.items)


def state(items: Iterable[Meaning]) -> list[Meaning]:
    """Return what holds now by a claim's items; "is", "uses" and "runs" are one in it.

    Args:
        items: What the claim says; what follows "instead" does not hold.
    """
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


def _changed(items: Sequence[Meaning]) -> Iterator[ToldChange]:
    """What "X was raised from Y to Z", "we raised X to Z" and "we replaced Y with Z" tell."""
    for place in range(1, len(items)):
        kind, verb = items[place]
        links = tables.CHANGED.get(verb, ())
        if kind not in _VERBS or not links or not _has_happened(items[place - 1]):
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


def _has_happened(item: Meaning) -> bool:
    """Tell whether an item says that the verb behind it is past or passive."""
    told = item.value == "was" or item.value.startswith("past ")
    return item.kind is WordClass.PASSIVE or (item.kind is WordClass.SIGN and told)
