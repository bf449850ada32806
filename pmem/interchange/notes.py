"""Instruction files of assistants (CLAUDE.md, AGENTS.md, rules): what they say, note by note.

A bullet is a note. So is a short paragraph that states something, with nothing but paragraphs
between it and its heading. The headings above a note are its tags.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from pmem.core.extraction.facts import extract
from pmem.errors import InvalidValue
from pmem.interchange import UnusedPart
from pmem.interchange.markdown import MarkdownBlock, MarkdownFile, MarkdownKind, read_markdown
from pmem.interchange.rule_scope import scope_of
from pmem.values.records import MemoryType, Message, Role
from pmem.values.times import UNDATED

LONGEST_PARAGRAPH: Final = 400
"""Characters of a paragraph from which on it is no note."""
_BINDING: Final = re.compile(r"\b(?:always|never|must|do not|don't|only)\b", re.IGNORECASE)
_TASK: Final = re.compile(r"\[[ xX]\]\s")
_IMPORT: Final = re.compile(r"@[\w./~-]+\s*$")
_NO_TAG: Final = re.compile(r"[^\w]+")
_MOST_TAG: Final = 40


class Note(NamedTuple):
    """A bullet, or a paragraph.

    Attributes:
        text: What it says, on one line.
        tags: The headings above it, the outermost first.
        lines: Its first and its last line, counted from one.
    """

    text: str
    tags: tuple[str, ...]
    lines: tuple[int, int]


class NotesFile(NamedTuple):
    """The notes of a file, and what is no note.

    Attributes:
        notes: The notes in their order.
        left_out: All else, except headings.
        places: Where they apply: see `scope_of`.
    """

    notes: tuple[Note, ...]
    left_out: tuple[UnusedPart, ...]
    places: tuple[str, ...] | None


def read_notes(file: str, text: str, project: str = "") -> NotesFile:
    """Read an instruction file.

    Args:
        file: Its path relative to the memory's project, with slashes.
        text: What it says.
        project: That project's path relative to the project root, where it is a part of it.

    Raises:
        InvalidValue: Where it applies cannot be read.
    """
    found = read_markdown(text)
    if not found.front.is_readable:
        raise InvalidValue(f"has front matter in lines 1-{found.front.lines} that is no YAML")
    notes: list[Note] = []
    left_out: list[UnusedPart] = []
    for block, what in _judged(found):
        if what:
            left_out.append(UnusedPart(file, what, block.lines))
        elif block.kind is not MarkdownKind.HEADING:
            notes.append(_note(block))
    place = f"{project}/{file}" if project else file
    return NotesFile(tuple(notes), tuple(left_out), scope_of(place, found.front))


def _judged(found: MarkdownFile) -> Iterator[tuple[MarkdownBlock, str]]:
    """Yield each block with its name where it is left out, else with nothing."""
    is_below = False
    for block in found.blocks:
        is_paragraph = block.kind is MarkdownKind.PARAGRAPH
        is_below = block.kind is MarkdownKind.HEADING or (is_below and is_paragraph)
        if _IMPORT.match(block.text) and (is_paragraph or block.kind is MarkdownKind.BULLET):
            yield block, "import"
        elif block.kind is MarkdownKind.BULLET:
            yield block, "task" if _TASK.match(block.text) else ""
        elif is_paragraph and is_below and _is_note(block.text):
            yield block, ""
        else:
            yield block, "" if block.kind is MarkdownKind.HEADING else block.kind


def _is_note(paragraph: str) -> bool:
    """Tell whether a paragraph is a note; one that ends with a colon leads to another block."""
    if len(paragraph) > LONGEST_PARAGRAPH or paragraph.rstrip(" *_").endswith(":"):
        return False
    return is_binding(paragraph) or bool(stated_types(paragraph))


def _note(block: MarkdownBlock) -> Note:
    tags = (_NO_TAG.sub("-", title.casefold()).strip("-")[:_MOST_TAG] for title in block.headings)
    text = " ".join(block.text.split())
    return Note(text, tuple(dict.fromkeys(filter(None, tags))), block.lines)


def stated_types(text: str) -> list[MemoryType]:
    """Return the types of what a text states, the surest first."""
    said = Message(id="note", role=Role.USER, content=text, created_at=UNDATED)
    return [fact.type for fact in sorted(extract(said), key=lambda fact: -fact.confidence)]


def is_binding(text: str) -> bool:
    """Tell whether a text says what has to be, or must not be."""
    return _BINDING.search(text) is not None
