"""What single words mean in a comparison, looked up once for each word.

A word is brought to its base by its ending: "stored" is "store", "planned" is "plan". Only endings
go that leave the meaning as it is. The stemmer of searches takes more: for it an "organ" is an
"organisation", and what is "important" an "import".
"""

from enum import IntEnum
from functools import lru_cache
from typing import Final, NamedTuple

from pmem.core.duplicates import tables
from pmem.core.text.words import (
    IRREGULAR_FORMS,
    IRREGULAR_PASTS,
    IRREGULAR_VERB_FORMS,
    MONTHS,
    WEEKDAYS,
)
from pmem.values.patterns import lazily

_VOWELS: Final = frozenset("aeiouy")
_OWN_FORMS: Final = frozenset(
    """better best worse worst less least farther further farthest furthest left people
    selves self mean bound lives life""".split()
)
"""Forms that say something else than what they are forms of."""
_MORE_PASTS: Final = frozenset("run set put read cut hit split overridden".split())
_E_DROPPED: Final = lazily(
    r"(?:[vzu]|(?<!yn)c|(?:[^n]|an|en)g|[^s]s|[bcdfgkptz]l|cach"
    r"|^[^aeiou]*(?:qu)?[aeiouy][^aeiouwxyh]"
    r"|(?:(?<![aeo])a|cre?a|u|mo|le)t|(?<![aeiou])[aiu][rdm]|(?<![aeiou])(?:in|ib|ap|[ao]k|[iuy]l)"
    r"|cod|quir|ignor|plor|stor)\Z"
)
"""What is left of a verb in -e without its -ed or -ing; others double a consonant, or have two."""


@lru_cache(maxsize=1)
def same_words() -> dict[str, str]:
    """Return for each word of the groups that mean the same the first of its group."""
    groups = [group.split() for group in tables.SAME.strip().replace("\n", "|").split("|")]
    return {word: group[0] for group in reversed(groups) for word in group}


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return a word without its inflection, or the word that stands for its group."""
    same = same_words()
    if word in same:
        return same[word]
    if word not in _OWN_FORMS:
        word = IRREGULAR_FORMS.get(word, word)
    if word not in tables.WHOLE and len(word) > 3 and word.isascii():
        word = _uninflected(word)
    return same.get(word, word)


def _uninflected(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-2] if word.endswith(("sses", "xes", "ches", "shes")) else word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and not word.endswith("eed"):
            return _base_form(word, word[: -len(ending)])
    return word


def _base_form(word: str, cut: str) -> str:
    if len(cut) < 2 or _VOWELS.isdisjoint(cut):
        return word
    if word.endswith("ied"):
        return cut[:-1] + "y"
    if cut[-1] == cut[-2]:
        return cut if len(cut) < 4 or cut[-1] in "lsfze" else cut[:-1]
    return cut + "e" if _E_DROPPED.search(cut) else cut


def is_simple_past(word: str) -> bool:
    """Tell whether a word without an auxiliary tells of the past."""
    return word in IRREGULAR_PASTS or (word.endswith("ed") and stem(word) != word)


def is_past(word: str) -> bool:
    """Tell whether a word may be a past form or a participle."""
    return is_simple_past(word) or word in IRREGULAR_VERB_FORMS or word in _MORE_PASTS


MOST_KNOWN: Final = 50_000
"""Words whose meaning is kept."""
LONGEST_KEPT: Final = 64
"""Characters of a word whose meaning is kept."""
_UNSPACED: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e01-\u0eff"
_AMOUNT: Final = lazily(r"([-+$€£¥]{0,2})(\d[\d.,]*)-?([^\W\d_]{0,12})(%?)")
_THOUSANDS: Final = lazily(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_TIME: Final = lazily(r"(\d\d?)(?::([0-5]\d))?")
_TIME_OF_HALF: Final = lazily(r"(\d\d?:[0-5]\d)(am|pm)")  # 9:30am
_HALVES: Final = {"am": 0, "pm": 12}
_DATED: Final = lazily(r"v?\d[\d.:/-]*[.:/-]\d+")  # 04:00, 2026-03-01, v2.4.0
_WEAK: Final = frozenset("on in out up down".split())  # no opposites where they are prepositions
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
    CLAUSE = 11
    SUBJECT = 12
    USE = 13


class Meaning(NamedTuple):
    """A word, or what it stands for."""

    kind: WordClass
    value: str


class WordMeaning(NamedTuple):
    """What a word stands for, and whether it may be a past form or a participle."""

    items: tuple[Meaning, ...]
    is_past: bool


def look(word: str) -> WordMeaning:
    """Return what a word stands for."""
    return _look(word) if len(word) <= LONGEST_KEPT else _look.__wrapped__(word)


@lru_cache(maxsize=MOST_KNOWN)
def _look(word: str) -> WordMeaning:
    items = _listed_words().get(word)
    if items is not None:
        return WordMeaning(items, is_past(word) and items[:1] != (Meaning(WordClass.BE, ""),))
    if word in same_words() or (word.isalpha() and not is_unspaced(word)):
        return WordMeaning((_content(word),), is_past(word))
    return WordMeaning(_odd(word), False)


def _content(word: str) -> Meaning:
    meant = stem(word)
    if meant in tables.SOFT:
        return Meaning(WordClass.SOFT, _alike().get(meant, meant))
    return Meaning(WordClass.CONTENT, meant)


@lru_cache(maxsize=1)
def _listed_words() -> dict[str, tuple[Meaning, ...]]:
    """Words with a part of their own. A later table does not change what an earlier one says."""
    found: dict[str, tuple[Meaning, ...]] = {
        ",": (Meaning(WordClass.BREAK, ","),),
        ".": (Meaning(WordClass.BREAK, "."),),
    }
    found |= {word: (Meaning(WordClass.AND, ""),) for word in ("and", "und", "&")}
    found |= {
        word: (Meaning(WordClass.SIGN, "or"), Meaning(WordClass.AND, "")) for word in ("or", "oder")
    }
    for line in tables.SIGNS.strip().split("\n"):
        name, _, words = line.partition(": ")
        for word in words.split():
            found.setdefault(word, (Meaning(WordClass.SIGN, name),))
    for word in _CLAUSES:
        sign = found.get(word, (Meaning(WordClass.SIGN, word),))[:1]
        found[word] = (*sign, Meaning(WordClass.CLAUSE, word))
    for word in tables.PREPOSITIONS - found.keys():
        direction = word in _opposites() and word not in _WEAK
        opposite = (Meaning(WordClass.SIGN, word),) * direction
        found[word] = (*opposite, Meaning(WordClass.PREPOSITION, word))
    for word in tables.BE:
        was = (Meaning(WordClass.SIGN, "was"),) * (word in ("was", "were", "got"))
        found[word] = (*found.get(word, ()), *was, Meaning(WordClass.BE, ""))
    for word in tables.EMPTY.split():
        found.setdefault(word, ())
    for word in _PRONOUNS:
        found[word] = (*found.get(word, ()), Meaning(WordClass.SUBJECT, ""))
    found |= {word: (Meaning(WordClass.USE, ""),) for word in tables.USE}
    return found | {word: (Meaning(WordClass.NUMBER, n),) for word, n in _numbers().items()}


@lru_cache(maxsize=1)
def _numbers() -> dict[str, str]:
    days = {form: day for day in WEEKDAYS for form in (day, f"{day}s")}
    months = {month: month for month in MONTHS if month != "may"}
    return days | months | _pairs(tables.NUMBERS)


@lru_cache(maxsize=1)
def _units() -> dict[str, str]:
    return _pairs(tables.UNITS)


@lru_cache(maxsize=1)
def _alike() -> dict[str, str]:
    groups = [group.split() for group in tables.ALIKE.strip().split("\n")]
    return {word: group[0] for group in groups for word in group}


def _pairs(table: str) -> dict[str, str]:
    return dict(entry.split(":") for entry in table.split())


def measured(value: str, unit_: str) -> str:
    """Return a number with its unit; a time of day in one spelling, "6 pm" as "18:00"."""
    time = _TIME.fullmatch(value)
    if time is None or not (time[2] or unit_ in _HALVES):
        return f"{value} {unit_}".rstrip()
    hour = int(time[1])
    if unit_ in _HALVES and 1 <= hour <= 12:
        hour, unit_ = hour % 12 + _HALVES[unit_], ""
    return f"{hour}:{time[2] or '00'} {unit_}".rstrip()


def is_number(word: str) -> bool:
    """Tell whether a word is a number, a day or a month."""
    return word[:1].isdigit() or word in _numbers()


def unit(word: str) -> str:
    """Return the unit of measure that a word names behind a number, or nothing."""
    return _units().get(word) or _units().get(stem(word), "")


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
    """Tell whether two words are listed as opposites."""
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
    """Return what a word and its opposites have in common."""
    return bases().get(word, word)


def is_known(word: str) -> bool:
    """Tell whether a word is in the table of words that mean the same."""
    return word in same_words() or word in _opposites()


def _odd(word: str) -> tuple[Meaning, ...]:
    """What is no common word: an amount, an identifier, code, Chinese."""
    if word[0] == "`":
        return (Meaning(WordClass.EXACT, word[1:]),)
    if word[-1].isdigit() and _DATED.fullmatch(word):
        return (Meaning(WordClass.NUMBER, measured(word.lstrip("v"), "")),)
    time = _TIME_OF_HALF.fullmatch(word)
    if time:
        return (Meaning(WordClass.NUMBER, measured(*time.groups())),)
    amount = _AMOUNT.fullmatch(word) if len(word) <= LONGEST_KEPT else None
    if amount:
        return _amount(*amount.groups())
    if is_unspaced(word):
        return tuple(_unspaced(word))
    return (Meaning(WordClass.EXACT, word),)


def _amount(sign: str, digits: str, name: str, percent: str) -> tuple[Meaning, ...]:
    """An amount in one spelling: "1,000", "10MB" and "10 MB", "1st"."""
    plain = digits.rstrip(".,")
    value = sign + (plain.replace(",", "") if _THOUSANDS.fullmatch(plain) else plain)
    if name in ("st", "nd", "rd", "th"):
        return (Meaning(WordClass.NUMBER, value + name),)
    known = unit(name) if name else percent
    if name and not known:
        return (Meaning(WordClass.EXACT, value + name), Meaning(WordClass.NUMBER, value + name))
    return (Meaning(WordClass.NUMBER, measured(value, known)),)


_SPACELESS: Final = lazily(f"[{_UNSPACED}]")
"""A character of a script without spaces; so wide a class is compiled when first needed."""

_UNSPACED_PIECE: Final = lazily(
    rf"[{tables.CHINESE_NUMBERS}]+|\d+(?:[.:]\d+)*"
    rf"|(?:(?![{tables.CHINESE_NUMBERS}])[{_UNSPACED}])+|[^{_UNSPACED}\d]+"
)
"""A number, or a run of or without such characters; compiled when first needed."""


def is_unspaced(word: str) -> bool:
    """Tell whether a word is written in a script without spaces."""
    return not word.isascii() and _SPACELESS.search(word) is not None


def _unspaced(word: str) -> list[Meaning]:
    """A run of Chinese or Japanese: its negations, numbers, the rest."""
    for phrase, meant in tables.CHINESE:
        word = word.replace(phrase, meant)
    signs = [sign for sign in tables.ASIAN_NOT if sign in word]
    signs += [letter for letter in word if letter in tables.CHINESE_NOT]
    found = [Meaning(WordClass.SIGN, "not") for _ in signs]
    for piece in _UNSPACED_PIECE.findall("".join(w for w in word if w not in tables.CHINESE_NOT)):
        counts = piece[0] in tables.CHINESE_NUMBERS or piece[0].isdigit()
        found.append(Meaning(WordClass.NUMBER if counts else WordClass.CONTENT, piece))
    return found


Phrases = dict[tuple[str, str], list[tuple[tuple[str, ...], list[str]]]]


@lru_cache(maxsize=1)
def phrases() -> Phrases:
    """Return the turns of phrase by their first two words, the longest first."""
    found: Phrases = {}
    days = [f"is on {day}=is at {day}" for day in WEEKDAYS]
    for entry in (*tables.PHRASES.strip().replace("\n", "|").split("|"), *days):
        phrase, _, meant = entry.partition("=")
        words = tuple(phrase.split())
        found.setdefault((words[0], words[1]), []).append((words, meant.split()))
    for listed in found.values():
        listed.sort(key=lambda each: (-len(each[0]), each[0]))
    return found


@lru_cache(maxsize=1)
def leads() -> dict[str, list[tuple[str, ...]]]:
    """Return what may come before a statement by its first word, the longest first."""
    found: dict[str, list[tuple[str, ...]]] = {}
    listed = [tuple(lead.split()) for lead in tables.LEADS.strip().replace("\n", "|").split("|")]
    for lead in sorted(listed, key=lambda each: (-len(each), each)):
        found.setdefault(lead[0], []).append(lead)
    return found
