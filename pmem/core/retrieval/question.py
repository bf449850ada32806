"""From a question to a plan of what to look for. Pure."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from pmem.core.retrieval.forms import joined_words
from pmem.core.retrieval.related_words import related
from pmem.core.retrieval.signals import (
    NUMBER,
    QUOTED,
    TIME,
    TOOLS,
    asks_for_output,
    asks_how_many,
    asks_several,
    asks_what,
    asks_when,
)
from pmem.core.text.terms import parse_query, terms
from pmem.core.text.words import STOP_WORDS
from pmem.values.bounds import QUERY_CHARACTERS
from pmem.values.patterns import lazily

MAX_TERMS = 256  # distinct terms of a question; the rest of a pasted text is ignored
MAX_EXPANDED = 32  # terms whose related words are looked for
MAX_WORDS = 256  # words of a question that are looked at for keys
MAX_WORD = 64  # characters of such a word
MAX_QUOTING = 4096  # characters of a question that are looked at for single quoted words
SHORT = 2  # words of a question whose every word is a key
_ENGLISH = 0.18  # share of stop words; German, which has some of them, has less
_ACCENTED = 0.34  # the same for words of which one has an accent, as few in English have
ROLES = frozenset({"user", "assistant", "system", "tool", "human", "ai", "bot", "model"})

_PUNCTUATION = "\"'`“”‘’«»「」()[]{}<>.,;:!?。，？！、"
_IDENTIFIER = lazily(
    r"[A-Za-z0-9]_[A-Za-z0-9]|\w[.][A-Za-z]\w|::\w|/.*/"  # names in code, files, paths
    r"|^[a-z]{2,}[A-Z]|(?:[A-Z][a-z]+){3}"  # camelCase; two humps may be a brand ("YouTube")
    r"|[a-z](?:Error|Exception|Warning|Fault)s?$|^[A-Z]{6,}$"  # errors, ECONNRESET
    r"|^[A-Za-z]+-?[0-9]|[0-9][.][0-9]+[.][0-9]"  # tickets, versions
)
_QUANTITY = lazily(
    r"\b[0-9]+(?:[.][0-9]+)? ?(?:[nµm]s|[kKMGT]i?[Bb]|[kMG]?Hz|fps|px|dpi|rpm)\b", re.ASCII
)
_LONGER_WORD = lazily(r"[^\W\d_]{2,}")
_QUOTED_WORD = lazily(r'["“`][^"“”`\s]{1,64}["”`]')


class RequiredWord(NamedTuple):
    """A word that an answer must hold itself: its neighbours do not stand in for it.

    Attributes:
        whole: the terms of a message that says it.
        parts: for an identifier, the terms of a message that holds it within a longer one.
    """

    whole: tuple[str, ...]
    parts: tuple[str, ...] = ()


class QueryTerm(NamedTuple):
    """A term to look for, and the word of the question that it stands for, its `source`.

    Its weight is how often the question says the word, and less than 1 for a related word.
    """

    term: str
    weight: float
    source: str

    def rarity(self, known: Mapping[str, float], found: Mapping[str, Collection[int]]) -> float:
        """Return how rare it is; a related word is never rarer than the word it stands for."""
        own = known[self.term]
        return min(own, known[self.source]) if found[self.source] else own


class QuestionPlan(NamedTuple):
    """A question, ready to be ranked.

    `terms` are looked for in every document, words of the question first; `names`, which mean
    `speakers`, only in what nobody said. `wanted` are bits of `signals` that an answer probably
    shows, and `several` tells whether it is likely spread over sessions. `keys` are identifiers,
    quantities and single quoted words; of a short question every word.
    """

    terms: tuple[QueryTerm, ...]
    names: tuple[QueryTerm, ...]
    speakers: frozenset[str]
    phrases: tuple[tuple[str, ...], ...]
    wanted: int
    several: bool
    keys: tuple[RequiredWord, ...] = ()
    is_english: bool = False

    @property
    def asked(self) -> tuple[str, ...]:
        """The words of the question itself, without names of speakers."""
        return tuple(term.term for term in self.terms if term.term == term.source)

    @property
    def everything(self) -> tuple[QueryTerm, ...]:
        """All terms, those of names last."""
        return self.terms + self.names


def searched_part(question: str) -> str:
    """Return what is looked at of a question: all of it, or the beginning of a very long one."""
    return question[:QUERY_CHARACTERS]


def notes_on(question: str) -> tuple[str, ...]:
    """Say what is not looked at of a question; nothing where all of it is."""
    if len(question) <= QUERY_CHARACTERS:
        return ()
    most = f"only its first {QUERY_CHARACTERS:,} are searched for"
    return (f"the query has {len(question):,} characters: {most}",)


def plan_question(
    question: str, speakers: Mapping[str, Sequence[str]], related_weight: float
) -> QuestionPlan:
    """Plan the search for a question.

    Names of speakers are a field, not text: they leave the terms, unless nothing else remains.
    """
    query = parse_query(question)
    said = Counter(query.terms)
    distinct = list(said)[:MAX_TERMS]
    names = [term for term in distinct if term in speakers and term not in ROLES]
    words = [term for term in distinct if term not in names]
    if not words:
        words, names = names, []
    apart = dict.fromkeys(joined_words(question))  # as others write them
    wanted = TIME if asks_when(question) else QUOTED if asks_what(question) else 0
    wanted |= NUMBER if asks_how_many(question) else 0
    wanted |= TOOLS if asks_for_output(question) else 0
    return QuestionPlan(
        terms=tuple(
            _direct(words, said)
            + [QueryTerm(term, 1.0, words[0]) for term in apart if words and term not in words]
            + _related_terms(words, set(distinct), related_weight)
        ),
        names=tuple(_direct(names, said)),
        speakers=frozenset(speaker for name in names for speaker in speakers[name]),
        phrases=tuple(query.phrases),
        wanted=wanted,
        several=asks_several(question),
        keys=tuple(dict.fromkeys(_keys(question, set(words)))),
        is_english=is_english(question),
    )


def is_english(question: str) -> bool:
    """Tell whether a question has as many English stop words as only English has."""
    words = _LONGER_WORD.findall(question[:MAX_QUOTING].casefold())
    share = _ENGLISH if all(map(str.isascii, words)) else _ACCENTED
    return sum(word in STOP_WORDS for word in words) > share * len(words)


def language_of(question: str) -> str:
    """Return "english" for a question that surely is, else the script that most of it is in."""
    if is_english(question):
        return "english"
    names = (unicodedata.name(letter, "") for letter in question if letter.isalpha())
    scripts = Counter(name.partition(" ")[0].lower() for name in names)
    return max(sorted(scripts), key=scripts.__getitem__, default="")


def _direct(words: Sequence[str], said: Mapping[str, int]) -> list[QueryTerm]:
    return [QueryTerm(word, float(said[word]), word) for word in words]


def _related_terms(words: Sequence[str], known: set[str], weight: float) -> list[QueryTerm]:
    """Related words not asked for already; of two sources the first one counts."""
    found: list[QueryTerm] = []
    if weight:
        for word in words[:MAX_EXPANDED]:
            fresh = [term for term in related(word) if term not in known]
            known.update(fresh)
            found += [QueryTerm(term, weight, word) for term in fresh]
    return found


def _keys(question: str, words: set[str]) -> Iterator[RequiredWord]:
    """The words that an answer must hold itself; none that only names a speaker."""
    pieces = (word.strip(_PUNCTUATION) for word in question.split(maxsplit=MAX_WORDS)[:MAX_WORDS])
    written = [word for word in pieces if len(word) <= MAX_WORD]
    said = [word for word in written if words.intersection(terms(word))]
    short = len(said) <= SHORT and len(written) <= SHORT + 1
    for word in said:
        found = tuple(terms(word))
        if len(found) > 1 and _IDENTIFIER.search(word):
            yield RequiredWord(found[:1], found[1:])
        elif short or _IDENTIFIER.search(word):
            yield RequiredWord(found)
    if short:
        return
    text = " ".join(written)
    for special in _QUANTITY.findall(text) + _QUOTED_WORD.findall(question[:MAX_QUOTING]):
        found = tuple(terms(special))
        if words.intersection(found):
            yield RequiredWord(found)
