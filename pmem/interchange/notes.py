"""Instruction files of assistants (CLAUDE.md, AGENTS.md, rules): what they say, rule by rule.

A rule is what can be understood by itself, below its heading:

    an entry of a list, with all below it       a numbered list, its steps together
    a list below a sentence that leads to it    a list that says what names stand for
    the commands of a code block                the rows of a table
    a paragraph that tells what to do, or states a decision

What is too long together is taken one by one. The nearest heading is the subject,
all headings above are the tags.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from pmem.core.lines import split_lines
from pmem.errors import InvalidValue
from pmem.interchange import UnusedPart
from pmem.interchange.markdown import MarkdownBlock, MarkdownKind, plain_text, read_markdown
from pmem.interchange.rule_mood import is_placeholder, is_rule, type_of
from pmem.interchange.rule_scope import scope_of
from pmem.values.records import MemoryType

LONGEST: Final = 600
"""Characters of what is kept together, and of a paragraph."""
LONGEST_STEPS: Final = 1200
"""Characters of the steps of a numbered list."""
LONGEST_LEAD: Final = 100
"""Characters of a sentence that each entry below it is told with."""
_TASK: Final = re.compile(r"\[[ xX]\]\s")
_LINK: Final = re.compile(r"\[[^\]]*\]\([^)]*\)\Z")
_IMPORT: Final = re.compile(r"@[\w./~-]+\s*$")
_NAMED: Final = re.compile(r"`[^`]+`(?:,? (?:and |or )?`[^`]+`)*(?: \([^)]*\))?\s*(?::|[-–—] |→)")
_SHELLS: Final = frozenset(
    "bash bat cmd console fish powershell ps1 sh shell shell-session terminal zsh".split()
)
_REMARK: Final = re.compile(r"\s+#\s+(.*)\Z")
_NO_TAG: Final = re.compile(r"[^\w]+")
_NUMBER: Final = re.compile(r"\A(?:\d+[.)]\s*)+")
_LED: Final = (MarkdownKind.BULLET, MarkdownKind.CODE, MarkdownKind.TABLE)
_PAIR: Final = 2
_MOST_TAG: Final = 40
_MOST_SUBJECT: Final = 80


class Note(NamedTuple):
    """A rule.

    Attributes:
        text: What it says, on one line and without marks.
        tags: The headings above it, the outermost first.
        lines: Its first and its last line, counted from one.
        subject: The nearest heading; none where that is the file's title.
        type: What it is.
    """

    text: str
    tags: tuple[str, ...]
    lines: tuple[int, int]
    subject: str | None
    type: MemoryType


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


class _Said(NamedTuple):
    """What one block says, or several that belong together; no text where it is left out."""

    text: str
    blocks: Sequence[MarkdownBlock]
    type: MemoryType | None = None


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
    titles = [block for block in found.blocks if block.level == 1]
    title = titles[0].text if len(titles) == 1 else None
    notes: list[Note] = []
    left_out: list[UnusedPart] = []
    for said in _said_in(found.blocks):
        if said.text and not is_placeholder(said.text):
            notes.append(_note(said, title))
        else:
            left_out += (UnusedPart(file, _name_of(one), one.lines) for one in said.blocks)
    place = f"{project}/{file}" if project else file
    return NotesFile(tuple(notes), tuple(left_out), scope_of(place, found.front))


def _note(said: _Said, title: str | None) -> Note:
    headings = said.blocks[0].headings
    tags = map(tag_of, headings)
    nearest = headings[-1] if headings and headings != (title,) else ""
    subject = _NUMBER.sub("", plain_text(nearest)).strip(" :")[:_MOST_SUBJECT]
    lines = min(one.lines[0] for one in said.blocks), max(one.lines[1] for one in said.blocks)
    type_ = said.type or type_of(said.text)
    return Note(said.text, tuple(dict.fromkeys(filter(None, tags))), lines, subject or None, type_)


def tag_of(heading: str) -> str:
    """Return a heading as a tag."""
    bare = _NUMBER.sub("", plain_text(heading))
    return _NO_TAG.sub("-", bare.casefold()).strip("-")[:_MOST_TAG]


def _name_of(block: MarkdownBlock) -> str:
    """Return what a block is called that is left out."""
    if _is_import(block):
        return "import"
    if block.kind is MarkdownKind.BULLET and _TASK.match(block.text):
        return "task"
    return "link" if _is_link(block) else block.kind


def _is_link(block: MarkdownBlock) -> bool:
    return block.kind is MarkdownKind.BULLET and _LINK.match(block.text) is not None


def _is_import(block: MarkdownBlock) -> bool:
    is_text = block.kind in (MarkdownKind.PARAGRAPH, MarkdownKind.BULLET)
    return is_text and _IMPORT.match(block.text) is not None


def _said_in(blocks: Iterable[MarkdownBlock]) -> Iterator[_Said]:
    """Yield what blocks say, a sentence that leads to a list, code or table with that."""
    lead: MarkdownBlock | None = None
    for _, group in groupby(blocks, key=lambda one: one.among or -one.lines[0]):
        part = list(group)
        if lead is not None and not (part[0].kind in _LED and part[0].headings == lead.headings):
            yield _paragraph(lead)
            lead = None
        if part[0].kind is MarkdownKind.PARAGRAPH and part[0].text.rstrip(" *_").endswith(":"):
            lead = part[0]
        else:
            yield from _part(part, lead)
            lead = None
    if lead is not None:
        yield _paragraph(lead)


def _part(part: Sequence[MarkdownBlock], lead: MarkdownBlock | None) -> Iterator[_Said]:
    """Yield what a list says, or one block outside lists."""
    block = part[0]
    if block.among:
        yield from _list(part, lead)
    elif block.kind is MarkdownKind.PARAGRAPH:
        yield _paragraph(block)
    elif block.kind is MarkdownKind.CODE and (lead is not None or block.headings):
        yield _commands(block, lead)
    elif block.kind is MarkdownKind.TABLE:
        yield from _table(block, lead)
    elif block.kind is not MarkdownKind.HEADING:
        yield _Said("", [*_blocks(lead), block])


def _paragraph(block: MarkdownBlock) -> _Said:
    text = plain_text(block.text)
    is_note = len(text) <= LONGEST and not text.endswith(":") and is_rule(text)
    return _Said(text if is_note and not _is_import(block) else "", [block])


def _commands(block: MarkdownBlock, lead: MarkdownBlock | None) -> _Said:
    """Return the commands of a code block, after the sentence that leads to it."""
    told = _command_line(block)
    text = f"{plain_text(lead.text)} {told}" if lead is not None and told else told
    return _Said(text, [*_blocks(lead), block], MemoryType.PROCEDURE)


def _list(part: Sequence[MarkdownBlock], lead: MarkdownBlock | None) -> Iterator[_Said]:
    """Yield a list as one, or its entries, each with a short sentence that leads to them."""
    entries = [_entry(group) for group in _by_entry(part)]
    yield from (one for one in entries if not one.text)
    kept = [one for one in entries if one.text]
    are_steps = bool(part[0].step) and len(kept) > 1
    are_named = len(kept) > 1 and all(_NAMED.match(one.text) for one in kept)
    opening = plain_text(lead.text) if lead is not None else ""
    texts = [f"{one.blocks[0].step}. {one.text}" if are_steps else one.text for one in kept]
    whole = _sentences([opening, *texts])
    longest = LONGEST_STEPS if are_steps else LONGEST
    if kept and len(whole) <= longest and (opening or are_steps or are_named):
        blocks = [*_blocks(lead), *(block for one in kept for block in one.blocks)]
        does = are_steps or any(one.type is MemoryType.PROCEDURE for one in kept)
        named = MemoryType.FACT if are_named and not does else None
        yield _Said(whole, blocks, MemoryType.PROCEDURE if does else named)
        return
    is_told = 0 < len(opening) <= LONGEST_LEAD
    if lead is not None and not (is_told and kept):
        yield _paragraph(lead)
    for one in kept:
        yield one._replace(text=f"{opening} {one.text}" if is_told else one.text)


def _by_entry(part: Sequence[MarkdownBlock]) -> Iterator[list[MarkdownBlock]]:
    """Yield each entry of a list with the blocks that are in it."""
    entry: list[MarkdownBlock] = []
    for block in part:
        if block.kind is MarkdownKind.BULLET and entry:
            yield entry
            entry = []
        entry.append(block)
    yield entry


def _entry(blocks: Sequence[MarkdownBlock]) -> _Said:
    """Return what an entry of a list says, with the commands of code that is in it."""
    first = blocks[0]
    is_said = first.kind is MarkdownKind.BULLET and not _TASK.match(first.text)
    if not is_said or _is_import(first) or _is_link(first):
        return _Said("", blocks)
    codes = [_command_line(one) for one in blocks[1:] if one.kind is MarkdownKind.CODE]
    does = MemoryType.PROCEDURE if any(codes) else None
    text = plain_text(first.text)
    return _Said(_sentences([text if does else text.removesuffix(":"), *codes]), blocks, does)


def _table(block: MarkdownBlock, lead: MarkdownBlock | None) -> Iterator[_Said]:
    """Yield the rows of a table as one, or row by row; a cell is told with its column's name."""
    head, *rows = ([plain_text(cell) for cell in row] for row in block.rows)
    told = [_row(head, row) for row in rows]
    whole = _sentences([plain_text(lead.text) if lead is not None else "", *told])
    if len(whole) <= LONGEST:
        yield _Said(whole, [*_blocks(lead), block], MemoryType.FACT)
        return
    if lead is not None:
        yield _paragraph(lead)
    for line, text in enumerate(told, start=block.lines[0] + 2):
        yield _Said(text, [block._replace(lines=(line, line))], MemoryType.FACT)


def _row(head: Sequence[str], row: Sequence[str]) -> str:
    """Return a row as a sentence: what it is about, and what it says of that."""
    named = len(row) > _PAIR
    cells = [
        f"{title} {cell}" if named and title else cell
        for title, cell in zip(head[1:], row[1:], strict=False)
        if cell
    ]
    return ": ".join(filter(None, [row[0], ", ".join(cells)]))


def _command_line(block: MarkdownBlock) -> str:
    """Return the commands of a code block, each in back quotes with what is remarked on it."""
    if block.language not in _SHELLS or "<<" in block.text or len(block.text) > 2 * LONGEST:
        return ""
    told: list[str] = []
    remark = ""
    for line in split_lines(block.text.replace("\\\n", " ")):
        command = " ".join(line.removeprefix("$ ").split())
        if command.startswith("#"):
            remark = command.strip("# ")
            continue
        found = _REMARK.search(line)
        after = f" ({found[1].strip()})" if found else ""
        command = " ".join(_REMARK.sub("", line).removeprefix("$ ").split())
        if command:
            told.append(f"{remark + ': ' if remark else ''}`{command}`{after}")
            remark = ""
    return "; ".join(told)


def _sentences(texts: Iterable[str]) -> str:
    """Return texts one after the other, with a semicolon where one ends without a stop."""
    whole = ""
    for text in filter(None, texts):
        between = " " if whole[-1:] in ".!?:;" else "; "
        whole += f"{between}{text}" if whole else text
    return whole


def _blocks(lead: MarkdownBlock | None) -> list[MarkdownBlock]:
    return [] if lead is None else [lead]
