"""Finding the documents and commands that are about a word."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pmem.cli.documents import documents, text_of


class FoundSection(NamedTuple):
    """A part of a document below a heading: the document's name, the heading, the text."""

    document: str
    heading: str
    text: str


def find_sections(words: Sequence[str], *, named: bool = False) -> list[FoundSection]:
    """Return the sections that are about some words, one of each document, in the index's order.

    They are those with all words in their heading or in their document's name; where there are
    none, those with all words in their text.

    Args:
        words: Such as `two people`; other endings of a word match, too.
        named: Leave out those that only have them in their text.
    """
    wanted = [_pattern(word) for word in words]
    parts = [part for name in documents() if name != "commands" for part in _sections_of(name)]
    found = [part for part in parts if _has_all(wanted, f"{_last(part.document)} {part.heading}")]
    if not found and not named:
        found = [part for part in parts if _has_all(wanted, part.text)]
    return list({part.document: part for part in reversed(found)}.values())[::-1]


def find_commands(words: Sequence[str], commands: Mapping[str, Any]) -> dict[str, str]:
    """Return the commands that have some words in their summary, or as an option, with that."""
    wanted = [_pattern(word) for word in words]
    found = {}
    for name, told in commands.items():
        if _has_all(wanted, f"{name} {told['summary']}"):
            found[name] = told["summary"]
        elif len(words) == 1:
            flags = (one for one in told["options"] if f"--{words[0].lower()}" in one["flags"])
            found |= {f"{name} --{words[0].lower()}": one["help"] for one in flags}
    return found


def _sections_of(name: str) -> Iterator[FoundSection]:
    """Yield the sections of a document; the first has its title as heading."""
    for part in re.split(r"^#+ ", text_of(name), flags=re.MULTILINE)[1:]:
        heading, _, text = part.partition("\n")
        yield FoundSection(name, heading, text)


def _pattern(word: str) -> re.Pattern[str]:
    """Return what finds a word with any of the usual endings."""
    stem = re.sub(r"(?<=\w\w\w)(?:ing|e?s|ed|e)$", "", word.lower())
    return re.compile(rf"(?<!\w){re.escape(stem)}(?:e|e?s|e?d|ing|er)?(?!\w)")


def _has_all(wanted: Iterable[re.Pattern[str]], text: str) -> bool:
    low = text.lower()
    return all(each.search(low) for each in wanted)


def _last(name: str) -> str:
    return name.rpartition("/")[2].replace("-", " ")
