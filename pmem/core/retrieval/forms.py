"""Forms of a word in any language: terms of the collection that begin as it does.

Endings, and what compounds put behind a word, leave its beginning as it is: "Rechnung" finds
"Rechnungen", "Lager" finds "Lagerverwaltung". What a compound ends with is a word of its own:
"Testdatenbank" finds "Datenbank". No language has to be known for that.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from itertools import takewhile
from operator import add
from typing import TYPE_CHECKING, Final

from pmem.core.text.terms import terms
from pmem.values.patterns import lazily

if TYPE_CHECKING:
    from pmem.core.retrieval.collection import CollectionStatistics

MOST_FORMS: Final = 30
_HEBREW: Final = "".join(map(chr, range(0x05D0, 0x05EB)))
_START: Final = 4
"""So many letters at least are common to forms; one less of a word that has no more than these."""
_END: Final = 5
"""So many letters at least has a word that a compound ends with."""
_FRONT: Final = 3
"""And so many has what stands before it."""
_SAME: Final = 0.7
"""The least likeness of that word and another."""
_UMLAUT: Final = lazily("([aou])e")
_VOWEL: Final = lazily("[aou](?![aeiou])")
_ALIKE: Final = 0.55
"""The least likeness of forms; a word that begins a longer one is always a form of it."""
_WEIGHT: Final = 0.5
"""What a form weighs that is all but the word itself."""


def likeness(word: str, other: str) -> float:
    """Return how alike two terms begin, from 0 to 1: twice the common part, by both lengths.

    It is 0 where they are no forms of each other. What has digits or signs has no forms, and the
    name of a category that pmem itself gives is none of what somebody asks.
    """
    if not common_start(word) or not _is_word(other) or other in _category_terms():
        return 0.0
    if other in spelt_otherwise(word):
        return 1.0
    if word[0] in _HEBREW or other[0] in _HEBREW:
        begin = max(_begin_alike(one, two) for one in _bare(word) for two in _bare(other))
    else:
        begin = _begin_alike(word, other)
    return begin or _end_alike(word, other)


def _begin_alike(word: str, other: str) -> float:
    start = common_start(word)
    if not start or not other.startswith(start):
        return 0.0
    pairs = zip(word, other, strict=False)
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    alike = 2.0 * common / (len(word) + len(other))
    begins = common >= _START and common in (len(word), len(other))
    return alike if begins or alike >= _ALIKE else 0.0


def _end_alike(word: str, other: str) -> float:
    """Return how alike a word and the end of a compound are, one of which begins the other."""
    at = word.find(other[:_END], _FRONT) if len(other) >= _END else -1
    if at < 0:
        return 0.0
    shorter, longer = sorted((word[at:], other), key=len)
    alike = 2.0 * len(shorter) / (len(shorter) + len(longer))
    return alike if longer.startswith(shorter) and alike >= _SAME else 0.0


def common_start(word: str) -> str:
    """Return what every form of a term begins with; nothing for a term that has no forms."""
    if len(word) < _START - 1 or not _is_word(word):
        return ""
    return word[: _START if len(word) > _START else _START - 1]


def _bare(word: str) -> tuple[str, ...]:
    """Return a term, in Hebrew also without its first letter, which may be a word ("the")."""
    return (word, word[1:]) if word[1:] and word[0] in _HEBREW else (word,)


def starts(word: str) -> list[str]:
    """Return with what a form of a term may begin; in Hebrew any letter may stand in front."""
    begun = [start for start in map(common_start, _bare(word)) if start]
    fronts = _HEBREW if word[0] in _HEBREW else ""
    places = range(_FRONT, len(word) - _END + 1) if begun else ()
    ends = [word[at : at + _END] for at in places]
    return [*begun, *(front + start for start in begun for front in fronts), *ends]


@lru_cache(maxsize=1024)
def spelt_otherwise(word: str) -> frozenset[str]:
    """Return a word with its "ae", "oe" and "ue" as one letter, and as two instead of one.

    "Müller" is folded to "muller", and is written "Mueller" where there is no "ü".
    """
    if not word.isascii() or len(word) < _START:
        return frozenset()
    found = {_UMLAUT.sub(r"\1", word)}
    found |= {f"{word[: at.end()]}e{word[at.end() :]}" for at in _VOWEL.finditer(word)}
    return frozenset(found - {word})


def forms(word: str, statistics: "CollectionStatistics") -> dict[str, float]:
    """Return the other terms of a collection that are forms of a term, with their weights."""
    begun = starts(word)
    known = {*statistics.beginning(begun), *spelt_otherwise(word)} if begun else set()
    alike = sorted((-likeness(word, other), other) for other in known if other != word)
    return {other: -_WEIGHT * value for value, other in alike[:MOST_FORMS] if value}


def with_forms(
    own: Mapping[int, float], word: str, statistics: "CollectionStatistics"
) -> Mapping[int, float]:
    """Return how often a term or a form of it occurs, by ascending number; forms count less."""
    found = dict(own)
    for other, weight in forms(word, statistics).items():
        for number, count in statistics.postings(other).items():
            found[number] = found.get(number, 0.0) + weight * count
    return dict(sorted(found.items())) if len(found) > len(own) else found


@cache
def _category_terms() -> frozenset[str]:
    from pmem.values.defaults import DEFAULT_CATEGORY

    return frozenset(term for category in DEFAULT_CATEGORY.values() for term in terms(category))


def _is_word(term: str) -> bool:
    """Tell words from numbers and names of code; marks of a vowel are part of a word."""
    return term.isalpha() if term.isascii() else not any(map(str.isdigit, term))


_TOGETHER: Final = frozenset(
    """
    backup bookshelf bookstore boardgame breakup changelog checkin checkout cheesecake classmate
    cleanup codebase cupcake database dataset everyday fallback feedback filename fundraiser
    getaway haircut hairstyle handmade handoff healthcare homemade hometown icecream kickoff layout
    lifestyle login logoff logon logout lookup makeup meetup namespace payback pickup playlist
    popup roadtrip rollback roommate runtime setup shutdown signin signup songwriting soundtrack
    standup startup takeout teammate timeout timestamp toolchain tradeoff turnaround videogame
    website workaround workflow workout
    """.split()
)
_LETTERS: Final = lazily(r"[A-Za-z]+")


def joined_words(text: str) -> list[str]:
    """Return the terms of words that `text` writes apart and others write together."""
    words = _LETTERS.findall(text.lower())
    together = list(map(add, words, words[1:]))
    if _TOGETHER.isdisjoint(together):
        return []
    return [term for word in together if word in _TOGETHER for term in terms(word)]
