"""A word without its inflection, by its ending: "stored" is "store", "planned" is "plan".

Only endings go that leave the meaning as it is. The stemmer of searches takes more: for it an
"organ" is an "organisation", and what is "important" an "import".
"""

import re
from functools import lru_cache
from typing import Final

from pmem.core.duplicates import tables
from pmem.core.text.words import IRREGULAR_FORMS, IRREGULAR_PASTS, IRREGULAR_VERB_FORMS

_VOWELS: Final = frozenset("aeiouy")
_OWN_FORMS: Final = frozenset(
    """better best worse worst less least farther further farthest furthest left people
    selves self mean bound lives life""".split()
)
"""Forms that say something else than what they are forms of."""
_MORE_PASTS: Final = frozenset("run set put read cut hit split overridden".split())
_E_DROPPED: Final = re.compile(
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
