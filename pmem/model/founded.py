"""Is what a model wrote founded in what it was given: names, numbers, paths, and its words.

Cheap and strict rather than wise: what is refused wrongly costs a better sentence, since the
rules' answer stands in its place; what is let through wrongly would be remembered.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import msgspec

from pmem.core.summaries.everyday import everyday_terms
from pmem.core.text.paths import named_paths, named_symbols
from pmem.core.text.terms import fold, terms
from pmem.core.text.words import NUMBER_WORDS, STOP_WORDS
from pmem.model.models import AnswerRefused
from pmem.model.tasks import Given

LEAST_SHARE: Final = 0.4
"""Of the words of an answer that say something, so many must stand in what was given."""
_FEW: Final = 4
"""So few words are held to no share: one of them must be known."""
_QUOTED: Final = 60
_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:[.,:]\d+)*|\d+")
_WORD: Final = re.compile(r"[^\W\d_][\w'’+#-]*")
_BEGINS: Final = re.compile(r"(?:^|[.!?:;。！？\n]|[-*•]\s)[\s\"'“”‘’()\[\]*_`-]*\Z")
_OPENERS: Final = frozenset(
    """agent app application argument assistant build bug chat client code command comment
    conversation customer database decision developer discussion engineer error exchange facts
    feature file fix folder issue maintainer meeting member message migration model nobody
    option people person project question release repository request requirement review
    service session setting somebody speaker speakers step system task team test tests tool
    topic user users version workflow writer both instead later earlier first second third
    next finally meanwhile then afterwards""".split()
)
"""Words that sentences about a conversation begin with, and that name nothing."""


class FoundedText(msgspec.Struct, frozen=True):
    """What a text names, ready to be compared with.

    Attributes:
        folded: The text without case and accents.
        words: Its words.
        stems: The base forms of its words.
        numbers: Its numbers, without the commas between thousands.
    """

    folded: str
    words: frozenset[str]
    stems: frozenset[str]
    numbers: frozenset[str]


def source_of(given: Given) -> FoundedText:
    """Return all that a task is given in words.

    Args:
        given: What it is given.
    """
    text = "\n".join(_texts_in(msgspec.to_builtins(given)))
    folded = _small(text)
    words = frozenset(match[0].strip("'’-") for match in _WORD.finditer(folded))
    parts = frozenset(part for word in words for part in re.split(r"['’+#-]", word))
    numbers = set(map(_plain_number, _NUMBER.findall(text)))
    numbers |= {NUMBER_WORDS[word] for word in words & NUMBER_WORDS.keys()}
    return FoundedText(folded, words | parts, frozenset(terms(text)), frozenset(numbers))


def check_founded(text: str, source: FoundedText, what: str, share: float = LEAST_SHARE) -> None:
    """See that a text names nothing that its source does not name, and speaks of the same.

    Args:
        text: What a model wrote.
        source: What it was given.
        what: What it is, for the sentence.
        share: Of its words that say something, so many must stand in the source, and one of few.

    Raises:
        AnswerRefused: A number, a path, a symbol or a name is not in the source, or too few of the
            words are: it may be invented, or in another language.
    """
    for kind, name in _unknown_names(text, source):
        raise AnswerRefused(f"{what} has the {kind} {name[:_QUOTED]!r}, which the source has not")
    telling = [term for term in dict.fromkeys(terms(text)) if term not in everyday_terms()]
    known = sum(term in source.stems for term in telling)
    enough = known >= share * len(telling) if len(telling) >= _FEW else known or not telling
    if not enough:
        raise AnswerRefused(f"{what} has {known} of {len(telling)} telling words from its source")


def _unknown_names(text: str, source: FoundedText) -> Iterator[tuple[str, str]]:
    for number in _NUMBER.findall(text):
        if not _has_number(_plain_number(number), source):
            yield "number", number
    for name in named_paths(text):
        if _small(name) not in source.folded:
            yield "path", name
    for name in named_symbols(text):
        if _small(name).removesuffix("()") not in source.folded:
            yield "name", name
    for match in _WORD.finditer(text):
        word = match[0].strip("'’-")
        if _is_name(word, bool(_BEGINS.search(text[: match.start()]))) and not _knows(source, word):
            yield "name", word


def _plain_number(text: str) -> str:
    return re.sub(r",(?=\d{3}(?!\d))", "", text).strip(".,:")


def _has_number(number: str, source: FoundedText) -> bool:
    """Tell whether a source has a number, perhaps as the first part of a longer one (`16.2`)."""
    return number in source.numbers or any(
        known.startswith((f"{number}.", f"{number}:")) or known.endswith(f":{number}")
        for known in source.numbers
    )


def _is_name(word: str, begins: bool) -> bool:
    """Tell whether a word is written as a name; the first of a sentence has a capital anyway."""
    if word == "I" or not any(map(str.isupper, word)):
        return False
    return not (begins and word[1:] == word[1:].lower() and _is_common(_small(word)))


@lru_cache(maxsize=4096)
def _is_common(word: str) -> bool:
    """Tell whether a word names nothing: one of everyday talk, or of talk about a task."""
    if word in STOP_WORDS or word in _OPENERS or word.removesuffix("s") in _OPENERS:
        return True
    stems = terms(word)
    return not stems or all(stem in everyday_terms() for stem in stems)


def _knows(source: FoundedText, word: str) -> bool:
    whole = re.sub(r"['’]s?\Z", "", _small(word))
    if whole in source.words or whole.removesuffix("s") in source.words:
        return True
    parts = [part for part in re.split(r"[-+#'’]", whole) if part]
    if len(parts) > 1 and all(part in source.words or _is_common(part) for part in parts):
        return True
    stems = terms(word)
    return bool(stems) and all(stem in source.stems for stem in stems)


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            if name != "id":
                yield from _texts_in(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts_in(part)


def _small(text: str) -> str:
    return fold(text).casefold()
