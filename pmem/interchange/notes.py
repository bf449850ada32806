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
from itertools import compress, groupby, zip_longest
from typing import Final, NamedTuple

from pmem.core.lines import split_lines
from pmem.errors import InvalidValue
from pmem.interchange import UnusedPart
from pmem.interchange.markdown import MarkdownBlock, MarkdownKind, plain_text, read_markdown
from pmem.interchange.rule_mood import (
    describes,
    forbids,
    has_label,
    is_binding,
    is_command,
    is_order,
    is_placeholder,
    is_rule,
    is_statement,
    type_of,
)
from pmem.interchange.rule_scope import is_instructions, scope_of
from pmem.values.records import MemoryType

LONGEST: Final = 600
"""Characters of what is kept together, and of a paragraph."""
LONGEST_STEPS: Final = 1200
"""Characters of the steps of a numbered list."""
LONGEST_LEAD: Final = 100
"""Characters of a sentence that each entry below it is told with."""
_TITLE: Final = re.compile(r"\*\*[^*\n:.]{1,60}\*\*|[^\s.:;!?*]+(?: [^\s.:;!?*]+){0,5}")
_ABOUT: Final = re.compile(
    r"(?:(?:in|under|within|inside|below)(?: the)?(?: \w+)? |the )?"
    r"`((?=[^`]*[./])[\w.-]+(?:/[\w.*-]+)*/?)`",
    re.IGNORECASE,
)
_FORBIDS: Final = re.compile(
    r"\W*(?:must not|do not|don['’]ts?|never|avoid)(?: \w+)?\W*", re.IGNORECASE
)
_LABELLED: Final = re.compile(r"(\*\*|__)(?:(?!\1).)+(?::\1|\1\s*(?::|[-–—]))")
_POINTS: Final = re.compile(r"(?:This|These|That|Those|It|They|Here|Below|Above|See)\b")
_CALLOUT: Final = re.compile(r"\A\s*\[!\w+\]\s*")
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
_CALL: Final = re.compile(r"\W*\w+!")
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
        about: The file, the folder or the pattern that its beginning names.
    """

    text: str
    tags: tuple[str, ...]
    lines: tuple[int, int]
    subject: str | None
    type: MemoryType
    about: str = ""


class NotesFile(NamedTuple):
    """The notes of a file, and what is no note.

    Attributes:
        notes: The notes in their order.
        left_out: All else, except headings.
        places: Where they apply: see `scope_of`.
    """

    notes: tuple[Note, ...]
    left_out: tuple[UnusedPart, ...]
    places: tuple[str, ...]


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
    is_theirs = is_instructions(file)
    has_parts = any(block.level and block.text != title for block in found.blocks)
    for said in _said_in(_with_titles(_with_whole_steps(found.blocks))):
        is_opening = said.blocks[0].headings in ((), (title,))
        is_body = is_theirs and not (has_parts and is_opening)
        told = _description(said) if is_body and not said.text else said
        is_said = bool(told.text) and not is_placeholder(told.text)
        if is_said and not (has_parts and is_opening and _is_prose(told)):
            notes.append(_note(told, title))
        else:
            left_out += (UnusedPart(file, _name_of(one), one.lines) for one in said.blocks)
    place = f"{project}/{file}" if project else file
    return NotesFile(tuple(notes), tuple(left_out), scope_of(place, found.front))


def _note(said: _Said, title: str | None) -> Note:
    headings = said.blocks[0].headings
    tags = map(tag_of, headings)
    nearest = headings[-1] if headings and headings != (title,) else ""
    if _FORBIDS.fullmatch(nearest) and not forbids(said.text):
        said = said._replace(text=f"{nearest.rstrip(':')}: {said.text}", type=MemoryType.CONSTRAINT)
    subject = _NUMBER.sub("", plain_text(nearest)).strip(" :")[:_MOST_SUBJECT]
    lines = min(one.lines[0] for one in said.blocks), max(one.lines[1] for one in said.blocks)
    type_ = said.type or type_of(said.text)
    is_single = len(said.blocks) == 1 and type_ is not MemoryType.PROCEDURE
    named = _ABOUT.match(said.text) if is_single else None
    about = named[1] if named else ""
    tags_ = tuple(dict.fromkeys(filter(None, tags)))
    return Note(said.text, tags_, lines, subject or None, type_, about)


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


def _description(said: _Said) -> _Said:
    """Return what a paragraph says that is no rule, if it can be understood below its heading."""
    if [one.kind for one in said.blocks] != [MarkdownKind.PARAGRAPH]:
        return said
    text = plain_text(said.blocks[0].text)
    points = _POINTS.match(text) or text.endswith(":") or _is_import(said.blocks[0])
    is_kept = len(text) <= LONGEST and len(text.split()) > _PAIR and not points
    return said._replace(text=text, type=MemoryType.FACT) if is_kept else said


def _is_prose(said: _Said) -> bool:
    """Tell whether something is a paragraph that neither binds nor states anything."""
    is_paragraph = all(one.kind is MarkdownKind.PARAGRAPH for one in said.blocks)
    return is_paragraph and not (is_binding(said.text) or is_statement(said.text))


def _with_whole_steps(blocks: Sequence[MarkdownBlock]) -> Iterator[MarkdownBlock]:
    """Yield blocks, numbered lists that go on after code as one, the code with the step before."""
    between: list[MarkdownBlock] = []
    last: MarkdownBlock | None = None
    joined: dict[int, int] = {}
    for block in blocks:
        goes_on = last is not None and block.headings == last.headings
        if goes_on and last is not None and block.kind is MarkdownKind.CODE and not block.among:
            between.append(block)
            continue
        if last is not None and goes_on and block.step == last.step + 1:
            joined[block.among] = last.among
        among = joined.get(block.among, block.among)
        is_next = last is not None and among == last.among
        yield from (one._replace(among=among) if is_next else one for one in between)
        between = []
        if not among:
            last = None
        elif block.kind is MarkdownKind.BULLET:
            last = block._replace(among=among) if block.step else None
        yield block._replace(among=among)
    yield from between


def _with_titles(blocks: Iterable[MarkdownBlock]) -> Iterator[MarkdownBlock]:
    """Yield blocks, a short line alone above a list, code or table as a heading of these."""
    above: tuple[tuple[str, ...], str] | None = None
    found = list(blocks)
    for block, after in zip_longest(found, found[1:]):
        is_title = after is not None and after.kind in _LED and after.headings == block.headings
        if is_title and block.kind is MarkdownKind.PARAGRAPH and _TITLE.fullmatch(block.text):
            above = (block.headings, block.text.strip("*_ "))
            yield block._replace(kind=MarkdownKind.HEADING)
            continue
        if above is not None and block.headings != above[0]:
            above = None
        own = (*block.headings, above[1]) if above is not None else block.headings
        yield block._replace(headings=own)


def _said_in(blocks: Iterable[MarkdownBlock]) -> Iterator[_Said]:
    """Yield what blocks say, a sentence that leads to a list, code or table with that."""
    lead: MarkdownBlock | None = None
    parts = [list(part) for _, part in groupby(blocks, key=lambda one: one.among or -one.lines[0])]
    nothing: list[MarkdownBlock] = []
    before: MarkdownBlock | None = None
    for part, after in zip_longest(parts, parts[1:], fillvalue=nothing):
        if lead is not None and not (part[0].kind in _LED and part[0].headings == lead.headings):
            yield _paragraph(lead)
            lead = None
        if part[0].kind is MarkdownKind.PARAGRAPH and _leads(part[0], after):
            lead = part[0]
        else:
            is_first = before is not None and before.kind is MarkdownKind.HEADING
            yield from _heading_above(part[0]) if is_first and lead is None else ()
            yield from _part(part, lead)
            lead = None
        before = part[-1]
    if lead is not None:
        yield _paragraph(lead)


def _heading_above(code: MarkdownBlock) -> Iterator[_Said]:
    """Yield the heading that orders above code that is no command."""
    heading = plain_text(code.headings[-1]) if code.headings else ""
    if code.kind is MarkdownKind.CODE and not _command_line(code) and is_order(heading):
        yield _Said(heading, [code])


def _leads(block: MarkdownBlock, after: Sequence[MarkdownBlock]) -> bool:
    """Tell whether a paragraph leads to what is after it: with a colon, or to commands."""
    runs = bool(after) and after[0].kind is MarkdownKind.CODE and bool(_command_line(after[0]))
    return block.text.rstrip(" *_").endswith(":") or (runs and len(block.text) <= LONGEST)


def _part(part: Sequence[MarkdownBlock], lead: MarkdownBlock | None) -> Iterator[_Said]:
    """Yield what a list says, or one block outside lists."""
    block = part[0]
    if block.among:
        yield from _list(part, lead)
    elif block.kind in (MarkdownKind.PARAGRAPH, MarkdownKind.QUOTE):
        yield _paragraph(block)
    elif block.kind is MarkdownKind.CODE and (lead is not None or block.headings):
        yield from _commands(block, lead)
    elif block.kind is MarkdownKind.TABLE:
        yield from _table(block, lead)
    elif block.kind is not MarkdownKind.HEADING:
        yield _Said("", [*_blocks(lead), block])


def _paragraph(block: MarkdownBlock) -> _Said:
    """Return what a paragraph or quotation says, if it is a rule; one that leads on must order."""
    text = plain_text(_CALLOUT.sub("", block.text))
    leads = text.endswith(":")
    is_note = len(text) <= LONGEST and (is_order(text) if leads else is_rule(text))
    told = f"{text[:-1]}." if leads else text
    return _Said(told if is_note and not _is_import(block) else "", [block])


def _commands(block: MarkdownBlock, lead: MarkdownBlock | None) -> Iterator[_Said]:
    """Yield the commands of a code block after the sentence that leads to it, else that alone."""
    told = _command_line(block)
    if told:
        text = f"{plain_text(lead.text)} {told}" if lead is not None else told
        yield _Said(text, [*_blocks(lead), block], MemoryType.PROCEDURE)
        return
    yield from map(_paragraph, _blocks(lead))
    yield _Said("", [block])


def _list(part: Sequence[MarkdownBlock], lead: MarkdownBlock | None) -> Iterator[_Said]:
    """Yield a list as one, or its entries, each with a short sentence that leads to them."""
    is_told = [one.kind is not MarkdownKind.CODE or bool(_command_line(one)) for one in part]
    yield from (_Said("", [one]) for one, told in zip(part, is_told, strict=True) if not told)
    entries = [_entry(group) for group in _by_entry(list(compress(part, is_told)))]
    yield from (one for one in entries if not one.text)
    kept = [one for one in entries if one.text]
    are_rules = all(_LABELLED.match(one.blocks[0].text) for one in kept)
    are_steps = bool(part[0].step) and len(kept) > 1 and not are_rules
    are_named = len(kept) > 1 and all(_NAMED.match(one.text) for one in kept)
    opening = plain_text(lead.text) if lead is not None else ""
    texts = [f"{one.blocks[0].step}. {one.text}" if are_steps else one.text for one in kept]
    whole = _sentences([opening, *texts])
    longest = LONGEST_STEPS if are_steps else LONGEST
    if kept and len(whole) <= longest and (opening or are_steps or are_named):
        blocks = [*_blocks(lead), *(block for one in kept for block in one.blocks)]
        yield _Said(whole, blocks, _type_of_list(opening, kept, are_steps, are_named))
        return
    is_short = 0 < len(opening) <= LONGEST_LEAD
    if lead is not None and not (is_short and kept):
        yield _paragraph(lead)
    for one in _alike(kept):
        yield one._replace(text=f"{opening} {one.text}" if is_short else one.text)


def _type_of_list(
    opening: str, entries: Sequence[_Said], are_steps: bool, are_named: bool
) -> MemoryType | None:
    """Return what a list is that is kept whole; None where its text decides."""
    if forbids(opening):
        return MemoryType.CONSTRAINT
    if are_steps or any(one.type is MemoryType.PROCEDURE for one in entries):
        return MemoryType.PROCEDURE
    return _type_of_rows([one.text for one in entries]) if are_named else None


def _alike(entries: Sequence[_Said]) -> Iterator[_Said]:
    """Yield entries of a list; where most order, one that does not surely describe orders, too."""
    types = [one.type or type_of(one.text) for one in entries]
    order = 2 * types.count(MemoryType.CONSTRAINT) > len(entries)
    for one, type_ in zip(entries, types, strict=True):
        if order and type_ is MemoryType.FACT and not describes(one.text):
            yield one._replace(type=MemoryType.CONSTRAINT)
        elif not order and has_label(one.text) and not is_binding(one.text):
            yield one._replace(type=MemoryType.FACT if type_ is MemoryType.CONSTRAINT else type_)
        else:
            yield one._replace(type=type_)


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
    if not is_said or _is_import(first) or _is_link(first) or _CALL.fullmatch(first.text):
        return _Said("", blocks)
    codes = [_command_line(one) for one in blocks[1:] if one.kind is MarkdownKind.CODE]
    does = MemoryType.PROCEDURE if any(codes) else None
    head, *more = map(plain_text, first.text.split("\n\n"))
    head = head if does or more else head.removesuffix(":")
    return _Said(_sentences([head, *more, *codes]), blocks, does)


def _table(block: MarkdownBlock, lead: MarkdownBlock | None) -> Iterator[_Said]:
    """Yield the rows of a table as one, or row by row; a cell is told with its column's name."""
    head, *rows = ([plain_text(cell) for cell in row] for row in block.rows)
    told = [_row(head, row) for row in rows]
    whole = _sentences([plain_text(lead.text) if lead is not None else "", *told])
    if len(whole) <= LONGEST:
        yield _Said(whole, [*_blocks(lead), block], _type_of_rows(told))
        return
    if lead is not None:
        yield _paragraph(lead)
    for line, text in enumerate(told, start=block.lines[0] + 2):
        yield _Said(text, [block._replace(lines=(line, line))], _type_of_rows([text]))


def _type_of_rows(rows: Sequence[str]) -> MemoryType:
    """Return what rows are: commands where most of them begin with one, else facts."""
    does = sum(map(is_command, rows))
    return MemoryType.PROCEDURE if 2 * does > len(rows) else MemoryType.FACT


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
            remark = f"{remark} {command.strip('# ')}".strip()
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
