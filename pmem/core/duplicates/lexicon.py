"""What single words mean in a comparison: the tables, looked up once for each word."""

import re
from enum import IntEnum
from functools import lru_cache
from typing import Final, NamedTuple

from pmem.core.duplicates import tables
from pmem.core.duplicates.tables import BE, WHOLE
from pmem.core.text.words import IRREGULAR_FORMS

BEFORE_NUMBERS: Final = {
    "about": "roughly", "around": "roughly", "under": "less-than", "below": "less-than",
    "over": "more-than", "above": "more-than",
}  # fmt: skip
"""What some words mean before a number."""

MOST_KEPT: Final = 64  # characters of a word in the memo
MOST_KNOWN: Final = 50_000
"""Words in the memo; it is emptied when it is full."""

_UNSPACED: Final = (
    ("\u3040", "\u30ff"),
    ("\u3400", "\u4dbf"),
    ("\u4e00", "\u9fff"),
    ("\u0e01", "\u0eff"),
)
_OWN_FORMS: Final = frozenset(
    """better best worse worst less least farther further farthest furthest left people
    selves self mean bound lives life""".split()
)
_VOWELS: Final = frozenset("aeiouy")
_WEAK: Final = frozenset("on in out up down".split())  # no opposites where they are prepositions
_ARTICLES: Final = frozenset("the a an our".split())
_PRONOUNS: Final = frozenset("we i you they he she it wir ich".split())
_CLAUSES: Final = frozenset(
    "before after when whenever if unless because while whereas until till since once".split()
)


class WordClass(IntEnum):
    """What part an item plays."""

    CONTENT = 1
    EXACT = 2
    NUMBER = 3
    SIGN = 4
    PREPOSITION = 5
    SOFT = 6
    BE = 7
    AND = 8
    BREAK = 9
    PASSIVE = 10
    UNIT = 11
    CLAUSE = 12
    SUBJECT = 13
    USE = 14


class Meaning(NamedTuple):
    """A word, or what it stands for."""

    kind: WordClass
    value: str


class Special(IntEnum):
    """What of a word depends on the words around it."""

    PAST = 1
    UNIT = 2
    ODD = 3
    BEFORE_NUMBER = 4
    ARTICLE = 5


class WordMeaning(NamedTuple):
    """What a word stands for, and what depends on the words around it."""

    items: tuple[Meaning, ...]
    special: Special | None


_memo: dict[str, WordMeaning] = {}


def look(word: str) -> WordMeaning:
    """Return what a word stands for.

    Args:
        word: In lower case.
    """
    try:
        return _memo[word]
    except KeyError:
        if len(_memo) >= MOST_KNOWN:
            _memo.clear()
        found = _word(word)
        if len(word) <= MOST_KEPT:
            _memo[word] = found
        return found


def _word(word: str) -> WordMeaning:
    items = _listed_words().get(word)
    if items is None:
        if word in _same():
            items = _content(word)
        elif not word.isalpha() or (not word.isascii() and is_unspaced(word)):
            return WordMeaning((), Special.ODD)
        else:
            items = _content(word)
    if items and items[0].kind is WordClass.UNIT:
        return WordMeaning(items, Special.UNIT)
    if word in BEFORE_NUMBERS:
        return WordMeaning(items, Special.BEFORE_NUMBER)
    if word in _ARTICLES:
        return WordMeaning(items, Special.ARTICLE)
    return WordMeaning(items, Special.PAST if is_past(word) else None)


def _content(word: str) -> tuple[Meaning, ...]:
    meant = stem(word)
    if meant in _soft():
        return (Meaning(WordClass.SOFT, _alike().get(meant, meant)),)
    return (Meaning(WordClass.CONTENT, meant),)


@lru_cache(maxsize=1)
def _listed_words() -> dict[str, tuple[Meaning, ...]]:
    """Words with a part of their own. A later table does not change what an earlier one says."""
    found: dict[str, tuple[Meaning, ...]] = {
        ",": (Meaning(WordClass.BREAK, ","),),
        ".": (Meaning(WordClass.BREAK, "."),),
        "to": (Meaning(WordClass.PREPOSITION, "to"),),
    }
    found |= {word: (Meaning(WordClass.AND, ""),) for word in ("and", "und", "&")}
    found |= {
        word: (Meaning(WordClass.SIGN, "or"), Meaning(WordClass.AND, "")) for word in ("or", "oder")
    }
    for line in tables.SIGNS.strip().splitlines():
        name, _, words = line.partition(": ")
        for word in words.split():
            found.setdefault(word, (Meaning(WordClass.SIGN, name),))
    for word in ("avoid", "refuse", "prevent", "lack", "refrain"):
        found[word + "s"] = found[word]
    for word in _CLAUSES:
        sign, *_ = found.get(word, (Meaning(WordClass.SIGN, word),))
        found[word] = (sign, Meaning(WordClass.CLAUSE, word))
    for word in tables.PREPOSITIONS:
        if word not in found:
            opposite = (
                (Meaning(WordClass.SIGN, word),)
                if word in _opposites() and word not in _WEAK
                else ()
            )
            found[word] = (*opposite, Meaning(WordClass.PREPOSITION, word))
    for word in BE:
        was = (Meaning(WordClass.SIGN, "was"),) if word in ("was", "were", "got") else ()
        found[word] = (*found.get(word, ()), *was, Meaning(WordClass.BE, ""))
    for word in tables.EMPTY.split():
        found.setdefault(word, ())
    found |= {word: (Meaning(WordClass.USE, ""),) for word in tables.USE}
    for word in _PRONOUNS:
        found[word] = (*found.get(word, ()), Meaning(WordClass.SUBJECT, ""))
    for word, meant in _numbers().items():
        found[word] = (Meaning(WordClass.NUMBER, meant),)
    for word, meant in _pairs(tables.UNITS):
        other = found.get(word) or (() if len(word) < 2 else _content(word))
        found[word] = (
            Meaning(WordClass.UNIT, meant),
            *(other or (Meaning(WordClass.CONTENT, word),)),
        )
    return found


def _pairs(table: str) -> list[tuple[str, str]]:
    return [(word, meant) for entry in table.split() for word, meant in [entry.split(":")]]


@lru_cache(maxsize=1)
def units() -> dict[str, str]:
    """Return the units by their names."""
    return dict(_pairs(tables.UNITS))


@lru_cache(maxsize=1)
def _soft() -> frozenset[str]:
    return frozenset(map(stem, tables.SOFT))


@lru_cache(maxsize=1)
def _alike() -> dict[str, str]:
    groups = [group.split() for group in tables.ALIKE.replace("\n", "|").split("|")]
    return {word: group[0] for group in groups for word in group}


def is_number(words: list[str]) -> bool:
    """Tell whether the first of some words is a number.

    Args:
        words: Words in lower case, or none.
    """
    return bool(words) and (words[0][:1].isdigit() or words[0] in _numbers())


@lru_cache(maxsize=1)
def _numbers() -> dict[str, str]:
    return dict(_pairs(tables.NUMBERS))


@lru_cache(maxsize=1)
def _verbs() -> frozenset[str]:
    return frozenset(tables.VERBS.split()) | tables.SOFT


@lru_cache(maxsize=1)
def _same() -> dict[str, str]:
    groups = [group.split() for group in tables.SAME.replace("\n", "|").split("|")]
    found: dict[str, str] = {}
    for group in groups:
        for word in group:
            found.setdefault(word, group[0])
    return found


@lru_cache(maxsize=1)
def _opposites() -> dict[str, frozenset[str]]:
    """For each word, in its base form and as it is written, its opposites."""
    found: dict[str, set[str]] = {}
    words = tables.ANTONYMS.replace("|", " ").split()
    for one, other in zip(words[::2], words[1::2], strict=True):
        for first, second in ((one, other), (stem(one), stem(other))):
            found.setdefault(first, set()).add(second)
            found.setdefault(second, set()).add(first)
    return {word: frozenset(others) for word, others in found.items()}


def are_opposite(one: str, other: str) -> bool:
    """Tell whether two words are listed as opposites.

    Args:
        one: A word as items hold it.
        other: Another.
    """
    return other in _opposites().get(one, ())


@lru_cache(maxsize=1)
def bases() -> dict[str, str]:
    """Return for each word with opposites the first of all that hang together."""
    found: dict[str, str] = {}
    for word in sorted(_opposites()):
        waiting = [] if word in found else [word]
        while waiting:
            each = waiting.pop()
            if each not in found:
                found[each] = word
                waiting += sorted(_opposites()[each])
    return found


def base(word: str) -> str:
    """Return what a word and its opposites have in common.

    Args:
        word: A word as items hold it.
    """
    return bases().get(word, word)


def weight(word: str) -> float:
    """Return how much a common word says about what a claim is on.

    Args:
        word: As items hold it.
    """
    if word in tables.COMMON:
        return 0.5
    if word.isalpha():
        return 1.0
    return 1.5 if any(map(str.isalnum, word)) else 0.0


@lru_cache(maxsize=1)
def _forms() -> dict[str, str]:
    return IRREGULAR_FORMS | dict(_pairs(tables.FORMS))


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return a word without its inflection, or the word that stands for its group.

    Only endings go that leave the meaning as it is: an "organ" is no "organisation".

    Args:
        word: In lower case.
    """
    same = _same()
    if word in same:
        return same[word]
    if word not in _OWN_FORMS:
        word = _forms().get(word, word)
    word = same.get(word, word)
    if word in WHOLE or len(word) < 4 or not word.isascii():
        return word
    plain = _uninflected(word)
    return same.get(plain, plain)


def _uninflected(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return _singular(word)
    for ending in ("ing", "ed"):
        if word.endswith(ending) and not word.endswith("eed"):
            return _verb(word, word[: -len(ending)])
    return word


def _singular(word: str) -> str:
    if word.endswith(("sses", "xes", "ches", "shes", "zes")) and word[:-1] not in _verbs():
        return word[:-2]
    return word[:-1]


def _verb(word: str, cut: str) -> str:
    """The base form of a verb: "stored" is "store", "planned" is "plan"."""
    if len(cut) < 2 or _VOWELS.isdisjoint(cut):
        return word
    verbs = _verbs()
    if cut.endswith("i") and word.endswith("ied"):
        return cut[:-1] + "y"
    for form in (cut + "e", cut, cut[:-1] if cut[-1] == cut[-2] else cut):
        if form in verbs:
            return form
    return word


def is_past(word: str) -> bool:
    """Tell whether a word may be a past form or a participle.

    Args:
        word: In lower case.
    """
    return (word.endswith("ed") and stem(word) != word) or word in _participles()


def is_simple_past(word: str) -> bool:
    """Tell whether a word without an auxiliary tells of the past.

    Args:
        word: In lower case.
    """
    return word in tables.PAST or (word.endswith("ed") and stem(word) != word)


@lru_cache(maxsize=1)
def _participles() -> frozenset[str]:
    verbs = _verbs()
    forms = {form for form, plain in _forms().items() if plain in verbs}
    return frozenset(forms | tables.PAST | frozenset("run set put read cut hit split".split()))


def is_request(word: str) -> bool:
    """Tell whether a word at the start of a sentence asks to do something.

    Args:
        word: In lower case.
    """
    return word in _verbs() or word in ("use", "be", "no", "must")


def is_verb(word: str) -> bool:
    """Tell whether a base form is a verb.

    Args:
        word: As items hold it.
    """
    return word in _verbs()


def is_known(word: str) -> bool:
    """Tell whether a word is in the table of words that mean the same.

    Args:
        word: In lower case, hyphens left out.
    """
    return word in _same() or word in _opposites()


def is_unspaced(word: str) -> bool:
    """Tell whether a word is written in a script without spaces.

    Args:
        word: Any word.
    """
    return any(first <= letter <= last for letter in word for first, last in _UNSPACED)


def unspaced(word: str) -> list[Meaning]:
    """Take a run of Chinese or Japanese apart: negations, numbers, the rest.

    Args:
        word: The run, which may hold other scripts.
    """
    for phrase, meant in tables.CHINESE:
        word = word.replace(phrase, meant)
    found = [Meaning(WordClass.SIGN, "not") for sign in tables.ASIAN_NOT if sign in word]
    found += [Meaning(WordClass.SIGN, "not") for letter in word if letter in tables.CHINESE_NOT]
    for piece in _pieces().findall(word.translate(_WITHOUT_NOT)):
        if piece[0] in tables.CHINESE_NUMBERS or piece[0].isdigit():
            found.append(Meaning(WordClass.NUMBER, piece))
        else:
            found.append(Meaning(WordClass.CONTENT, piece))
    return found


_WITHOUT_NOT: Final = dict.fromkeys(map(ord, tables.CHINESE_NOT))


@lru_cache(maxsize=1)
def _pieces() -> re.Pattern[str]:
    numbers = tables.CHINESE_NUMBERS
    asian = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e01-\u0eff"
    return re.compile(rf"[{numbers}]+|\d+(?:[.:]\d+)*|(?:(?![{numbers}])[{asian}])+|[^{asian}\d]+")


Phrases = dict[tuple[str, str], list[tuple[tuple[str, ...], list[str]]]]


@lru_cache(maxsize=1)
def phrases() -> Phrases:
    """Return the turns of phrase by their first two words, the longest first."""
    found: Phrases = {}
    for words, meant in _turns():
        if len(words) > 1:
            found.setdefault((words[0], words[1]), []).append((words, meant))
    for listed in found.values():
        listed.sort(key=lambda each: (-len(each[0]), each[0]))
    return found


def spelled_out(word: str) -> list[str]:
    """Return a word as the words that it stands for: "cannot" is "can not".

    Args:
        word: In lower case.
    """
    return _single().get(word) or [word]


@lru_cache(maxsize=1)
def _single() -> dict[str, list[str]]:
    return {words[0]: meant for words, meant in _turns() if len(words) == 1}


def _turns() -> list[tuple[tuple[str, ...], list[str]]]:
    entries = tables.PHRASES.strip().replace("\n", "|").split("|")
    parted = [entry.partition("=") for entry in entries]
    return [(tuple(phrase.split()), meant.split()) for phrase, _, meant in parted]


Leads = dict[str, list[tuple[str, ...]]]


@lru_cache(maxsize=1)
def leads() -> tuple[Leads, frozenset[str]]:
    """Return what may come before a statement, by its first word; what needs a colon behind it."""
    found = [tuple(lead.split()) for lead in tables.LEADS.strip().replace("\n", "|").split("|")]
    long: Leads = {}
    for lead in sorted(found, key=lambda each: (-len(each), each)):
        if len(lead) > 1 or lead[0] in ("please", "remember", "basically", "actually"):
            long.setdefault(lead[0], []).append(lead)
    return long, frozenset(lead[0] for lead in found if len(lead) == 1)
