"""Corrections of what was just said: "No, use 8082 instead" after "The port is 8081"."""

from collections.abc import Sequence
from typing import Final

from pmem.core.extraction.cues import CORRECTIONS
from pmem.core.extraction.phrases import first_word, is_exact, phrase_at
from pmem.core.text.sentences import LONGEST, ParsedSentence, read, sentences
from pmem.core.text.words import STOP_WORDS

NEAR: Final = 4
"""Messages of people and assistants before a correction that it may be about."""

_EMPTY: Final = STOP_WORDS | frozenset(
    "use using user asked decided make instead , : ; ( ) - –".split()
)

_CHANGE: Final = frozenset("changed changes moved moves now instead longer actually became".split())
"""Words of a statement that tells what something is from now on."""


def is_correction(text: str) -> bool:
    """Tell whether a message begins by taking back what was said before it."""
    first = next(sentences(text), None)
    if first is None or first.asked:
        return False
    words = first.words
    return bool(phrase_at(words, first_word(words), CORRECTIONS)) or words[-1:] == ["instead"]


def corrected(content: str, earlier: Sequence[str]) -> int | None:
    """Return the place of the statement that a correction takes the place of, if there is one.

    That is the one that shares the most words with it, else the latest with a value of the same
    kind: a number for a number, a name for a name.
    """
    new, before = read(content), list(map(read, earlier))
    words, kinds = _telling(new), _kinds(new)
    shared = [len(words & _telling(one)) for one in before]
    alike = [not kinds.isdisjoint(_kinds(one)) for one in before]
    best = max(range(len(earlier)), key=lambda at: (shared[at], alike[at], at), default=None)
    return best if best is not None and (shared[best] or alike[best]) else None


def outdated(said: Sequence[str]) -> dict[int, int]:
    """Return where statements stand that a later one takes the place of, and where that one does.

    A later one does so where it says that something has changed, is on the same matter, and gives
    a value of the same kind, or where it begins by taking back.
    """
    gone: dict[int, int] = {}
    for place, text in enumerate(said):
        is_taking_back = is_correction(text)
        if not is_taking_back and _CHANGE.isdisjoint(read(text).words):
            continue
        before = [at for at in range(place) if at not in gone]
        near = (
            before[-NEAR:] if is_taking_back else [at for at in before if _updates(text, said[at])]
        )
        at = corrected(text, [said[one] for one in near])
        if at is not None:
            gone[near[at]] = place
    return gone


def _updates(content: str, earlier: str) -> bool:
    new, old = read(content), read(earlier)
    alike = not _kinds(new).isdisjoint(_kinds(old))
    return alike and not _telling(new).isdisjoint(_telling(old))


def with_corrected(content: str, earlier: str) -> str:
    """Return a correction that says what it is about: what it replaces, where no word tells."""
    if _telling(read(content)) & _telling(read(earlier)):
        return content
    return f"{content} (before: {earlier})"[:LONGEST]


def _telling(sentence: ParsedSentence) -> frozenset[str]:
    """Its words that could say what it is about; names and numbers are what may change."""
    plain = (place for place in range(len(sentence.words)) if not is_exact(sentence, place))
    return frozenset(sentence.words[place] for place in plain) - _EMPTY


def _kinds(sentence: ParsedSentence) -> frozenset[bool]:
    """Whether it gives a number, or a name or code; its first word may be its speaker."""
    exact = (place for place in range(1, len(sentence.words)) if is_exact(sentence, place))
    return frozenset(sentence.words[place][0].isdigit() for place in exact)
