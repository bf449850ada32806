"""Whether two texts differ in the forms of their words only, in any language, word by word.

A form begins as the other one does. Where a noun changes its number, so may what agrees with it:
a short word before it (an article) may be another or be left out, and one short verb behind it may
be another ("jest" and "są"). No other word may be missing, so that none is a "not" or a name.
"""

from typing import Final

from pmem.core.duplicates import lexicon
from pmem.core.text.terms import fold

_LONGEST: Final = 600
"""Characters of a text; a longer one is not compared."""
_LEAST_WORDS: Final = 2
"""Words that are the same or forms of each other; one alone says nothing."""
_START: Final = 3
"""Letters with which forms begin alike at least, and half of the longer form."""
_ARTICLE: Final = 4
"""The most letters of an article that one of the texts leaves out."""
_ARTICLES: Final = 3
"""The most letters of two articles, which share one: "el" and "los"."""
_VERB: Final = (3, 4)
"""The most letters of two forms of a verb that have no beginning in common, the shorter first."""
_MARKS: Final = '.,;:!?…()[]"“”„«»…。،؛؟।'


def in_other_forms(one: str, other: str) -> bool:
    """Tell whether two texts have the same words in the same order, some in other forms."""
    if max(len(one), len(other)) > _LONGEST:
        return False
    mine, theirs = _words(one), _words(other)
    matched, changed, verbs = 0, 0, 0
    while mine and theirs:
        first, second = mine[0], theirs[0]
        if _is_same(first, second) or _is_form(first, second):
            matched += 1
            changed += first != second
            mine, theirs = mine[1:], theirs[1:]
        elif not changed and (skipped := _article(mine, theirs)):
            mine, theirs = mine[skipped[0] :], theirs[skipped[1] :]
        elif changed == 1 and not verbs and _fits(first, second):
            verbs += not (first.startswith(second) or second.startswith(first))
            mine, theirs = mine[1:], theirs[1:]
        else:
            return False
    return not mine and not theirs and changed > 0 and matched >= _LEAST_WORDS


def _words(text: str) -> list[str]:
    spaced = fold(text).casefold().replace("'", " ").replace("’", " ").split()
    return [word for word in (each.strip(_MARKS) for each in spaced) if word]


def _is_same(one: str, other: str) -> bool:
    """Tell whether two words are one, or stand for the same sign or the same stem."""
    return one == other or lexicon.look(one).items[:1] == lexicon.look(other).items[:1] != ()


def _is_form(one: str, other: str) -> bool:
    if not _is_word(one) or not _is_word(other):
        return False
    common = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    return common >= _START and 2 * common >= max(len(one), len(other))


def _is_word(word: str) -> bool:
    return word.isalpha() if word.isascii() else not any(map(str.isdigit, word))


def _article(mine: list[str], theirs: list[str]) -> tuple[int, int] | None:
    """How many words to skip on either side: two articles, or one before a form of a noun."""
    if max(len(mine[0]), len(theirs[0])) <= _ARTICLES and set(mine[0]) & set(theirs[0]):
        return 1, 1
    if _is_left_out(mine, theirs[0]):
        return 1, 0
    return (0, 1) if _is_left_out(theirs, mine[0]) else None


def _is_left_out(words: list[str], noun: str) -> bool:
    article, *nouns = words[:2]
    return len(article) <= _ARTICLE and nouns != [noun] and any(_is_form(n, noun) for n in nouns)


def _fits(one: str, other: str) -> bool:
    """Tell whether two short words may be one verb: "is" and "zijn"."""
    shortest, longest = sorted((len(one), len(other)))
    return shortest <= _VERB[0] and longest <= _VERB[1]
