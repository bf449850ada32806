"""What of an instruction file is one rule: blocks that belong together, and what they say."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, groupby, zip_longest
from typing import Final, NamedTuple

from pmem.core.lines import split_lines
from pmem.interchange.markdown import MarkdownBlock, MarkdownKind, plain_text
from pmem.interchange.rule_mood import (
    acts,
    depends,
    describes,
    forbids,
    is_binding,
    is_command,
    is_command_line,
    is_order,
    is_rule,
    is_sure_order,
    sentences,
    type_of,
)
from pmem.values.records import MemoryType

MOST_LINES: Final = 15
"""Lines of code that is shown, and no command."""
MOST_FILES: Final = 40
"""Lines of a drawn tree that is told."""
LONGEST: Final = 600
"""Characters of what is kept together, and of a paragraph."""
PATH: Final = r"`((?=[^`]*[./])[\w.-]+(?:/[\w.*-]+)*/?)`"
"""A file, a folder or a pattern in back quotes."""
_SHELLS: Final = frozenset(
    "bash bat cmd console fish powershell ps1 sh shell shell-session terminal zsh".split()
)
_PLAIN: Final = ("", "text", "txt", "plaintext")
_REMARK: Final = re.compile(r"\s+#\s+(.*)\Z")
_BRANCH: Final = re.compile(r"[├└]")
_IN_TREE: Final = re.compile(r"([\s\u2500-\u257f]*)(\S+)(?:\s+(?:(?:#|//|[←–—]|--?)\s*)?(.*))?")
_PHRASE: Final = 3
_PAIR: Final = 2
_WORD: Final = re.compile(r"\w")


LONGEST_STEPS: Final = 1200
"""Characters of the steps of a numbered list."""
LONGEST_LEAD: Final = 100
"""Characters of a sentence that each entry below it is told with."""
_TITLE: Final = re.compile(r"\*\*[^*\n:.]{1,60}\*\*|[^\s.:;!?*]+(?: [^\s.:;!?*]+){0,5}")
_CELL: Final = re.compile(PATH)
_RULES: Final = re.compile(
    r"\b(?:rules?|conventions?|guidelines|standards|principles|definition of done|style)\b",
    re.IGNORECASE,
)
_WHEN: Final = re.compile(r"\b(?:when|if|until|unless|before|once)\b")
_LABELLED: Final = re.compile(r"(\*\*|__)(?:(?!\1).)+(?::\1|\1\s*(?::|[-–—]))")
_CALLOUT: Final = re.compile(r"\A\s*\[!\w+\]\s*")
_OPEN_TASK: Final = re.compile(r"\[ \]\s+")
_SEE: Final = re.compile(r"(?:[^.,]*, )?(?:please )?(?:see|refer to) ", re.IGNORECASE)
_LINK: Final = re.compile(r"\[[^\]]*\]\([^)]*\)\Z")
_IMPORT: Final = re.compile(r"@[\w./~-]+\s*$")
_NAMED: Final = re.compile(
    r"`[^`]+`(?:,? (?:and |or )?`[^`]+`)*(?: \([^)]*\))?\s*(?::|[-–—]{1,2} |→)"
)
_LED: Final = (MarkdownKind.BULLET, MarkdownKind.CODE, MarkdownKind.TABLE)
_CALL: Final = re.compile(r"\W*\w+!")
TASK: Final = re.compile(r"\[[ xX]\]\s")
_LONGEST_NAME: Final = 3
"""Words of a heading that may be a name, and no order."""


def command_line(block: MarkdownBlock) -> str:
    """Return the commands of a code block, each in back quotes with what is remarked on it."""
    if "<<" in block.text or len(block.text) > 2 * LONGEST:
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
        can_run = block.language in _PLAIN and is_command_line(command)
        if command and block.language not in _SHELLS and not can_run:
            return ""
        if command:
            told.append(f"{remark + ': ' if remark else ''}`{command}`{after}")
            remark = ""
    return "; ".join(told)


def shown(block: MarkdownBlock) -> list[str]:
    """Return what a code block shows, in parts of one line; nothing of one that is too long.

    A drawn tree is told by its files, one after the other.
    """
    lines = [line for line in split_lines(block.text) if line.strip()]
    if _BRANCH.search(block.text):
        return _parts(_files(lines)) if len(lines) <= MOST_FILES else []
    between = "; " if block.language in _PLAIN else " "
    code = between.join(" ".join(line.split()) for line in lines)
    if len(lines) > MOST_LINES or len(code) > LONGEST:
        return []
    return [code if "`" in code else f"`{code}`"]


def _files(lines: Sequence[str]) -> Iterator[str]:
    """Yield the files of a drawn tree, each with its folders and what is said of it."""
    above: list[tuple[int, str]] = []
    found = [one for one in map(_IN_TREE.fullmatch, lines) if one is not None]
    for one, after in zip_longest(found, found[1:]):
        depth = len(one[1])
        above = [other for other in above if other[0] < depth]
        path = "".join(f"{name.rstrip('/')}/" for _, name in above) + one[2]
        above.append((depth, one[2]))
        remark = (one[3] or "").strip()
        if remark or after is None or len(after[1]) <= depth:
            yield f"`{path}`: {remark}" if remark else f"`{path}`"


def _parts(texts: Iterable[str]) -> list[str]:
    """Return texts one after the other, in as few parts as may be."""
    parts: list[str] = []
    for text in texts:
        if parts and len(parts[-1]) + len(text) < LONGEST:
            parts[-1] += f"; {text}"
        else:
            parts.append(text)
    return parts


def rows(block: MarkdownBlock) -> list[str]:
    """Return the rows of a table as sentences; a heading that is a phrase is told with its cell."""
    head, *others = ([plain_text(cell) for cell in row] for row in block.rows)
    return [_row(head, row) for row in others]


def _row(head: Sequence[str], row: Sequence[str]) -> str:
    """Return a row as a sentence: what it is about, and what it says of that."""
    named = len(row) > _PAIR
    cells = [
        f"{title} {cell}" if title and (named or _is_phrase(title)) else cell
        for title, cell in zip(head[1:], row[1:], strict=False)
        if _WORD.search(cell)
    ]
    first = f"{head[0].rstrip('.…: ')} {row[0]}" if row[0] and _is_phrase(head[0]) else row[0]
    return ": ".join(filter(None, [first, ", ".join(cells)]))


def _is_phrase(title: str) -> bool:
    return len(title.split()) >= _PHRASE


class Said(NamedTuple):
    """What one block says, or several that belong together; no text where it is left out."""

    text: str
    blocks: Sequence[MarkdownBlock]
    type: MemoryType | None = None
    about: tuple[str, ...] = ()


def is_link(block: MarkdownBlock) -> bool:
    """Tell whether a block is a link and nothing else."""
    is_text = block.kind in (MarkdownKind.PARAGRAPH, MarkdownKind.BULLET)
    return is_text and _LINK.match(block.text) is not None


def is_import(block: MarkdownBlock) -> bool:
    """Tell whether a block only names a file that a program reads in its place."""
    is_text = block.kind in (MarkdownKind.PARAGRAPH, MarkdownKind.BULLET)
    return is_text and _IMPORT.match(block.text) is not None


def is_pointer(text: str) -> bool:
    """Tell whether a text is a sentence that only names where something else is told."""
    return _SEE.match(text) is not None and len(sentences(text)) == 1


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


def units_in(blocks: Sequence[MarkdownBlock]) -> Iterator[Said]:
    """Yield what the blocks of a file say, each with those that belong to it.

    A sentence that leads to a list, code or table is told with that.
    """
    whole = _with_titles(_with_whole_steps(blocks))
    lead: MarkdownBlock | None = None
    parts = [list(part) for _, part in groupby(whole, key=lambda one: one.among or -one.lines[0])]
    nothing: list[MarkdownBlock] = []
    for part, after in zip_longest(parts, parts[1:], fillvalue=nothing):
        if lead is not None and not (part[0].kind in _LED and part[0].headings == lead.headings):
            yield _paragraph(lead)
            lead = None
        shows = bool(after) and after[0].kind is MarkdownKind.CODE and bool(_code_parts(after[0]))
        leads_on = part[0].text.rstrip(" *_").endswith(":")
        leads_on = leads_on or (shows and len(part[0].text) <= LONGEST)
        if part[0].kind is MarkdownKind.PARAGRAPH and leads_on:
            lead = part[0]
        else:
            yield from _part(part, lead)
            lead = None
    if lead is not None:
        yield _paragraph(lead)


def _part(part: Sequence[MarkdownBlock], lead: MarkdownBlock | None) -> Iterator[Said]:
    """Yield what a list says, or one block outside lists."""
    block = part[0]
    if block.among:
        yield from _list(part, lead)
    elif block.kind in (MarkdownKind.PARAGRAPH, MarkdownKind.QUOTE):
        yield _paragraph(block)
    elif block.kind is MarkdownKind.CODE and (lead is not None or block.headings):
        yield from _code(block, lead)
    elif block.kind is MarkdownKind.TABLE:
        yield from _table(block, lead)
    elif block.kind is not MarkdownKind.HEADING:
        yield Said("", [*_blocks(lead), block])


def _paragraph(block: MarkdownBlock) -> Said:
    """Return what a paragraph or quotation says, if it is a rule; one that leads on must order."""
    text = plain_text(_CALLOUT.sub("", block.text))
    leads = text.endswith(":")
    is_note = len(text) <= LONGEST and (is_order(text) if leads else is_rule(text))
    told = f"{text[:-1]}." if leads else text
    is_elsewhere = is_pointer(text) or is_import(block) or is_link(block)
    return Said(told if is_note and not is_elsewhere else "", [block])


def _code_parts(block: MarkdownBlock) -> list[str]:
    """Return what a code block says, in parts: its commands, or what it shows."""
    runs = command_line(block)
    return [runs] if runs else shown(block)


def _code(block: MarkdownBlock, lead: MarkdownBlock | None) -> Iterator[Said]:
    """Yield what a code block says after the sentence or the heading that leads to it."""
    told, blocks = _code_parts(block), [*_blocks(lead), block]
    above = plain_text(lead.text if lead is not None else block.headings[-1])
    if command_line(block):
        text = f"{above} {told[0]}" if lead is not None else told[0]
        yield Said(text, blocks, MemoryType.PROCEDURE)
        return
    is_long = len(above.split()) > _LONGEST_NAME
    orders = is_order(above) if lead is not None else is_long and is_sure_order(above)
    between = " " if above[-1:] in ".!?:" else ": "
    for text in told:
        type_ = type_of(above) if orders else MemoryType.FACT
        yield Said(f"{above}{between}{text}", blocks, type_)
    if not told:
        yield from map(_paragraph, _blocks(lead))
        yield Said("", [block])


def _list(part: Sequence[MarkdownBlock], lead: MarkdownBlock | None) -> Iterator[Said]:
    """Yield a list as one, or its entries, each with a short sentence that leads to them."""
    bullets = [one.text for one in part if one.kind is MarkdownKind.BULLET]
    is_checklist = lead is not None and all(map(_OPEN_TASK.match, bullets))
    if is_checklist:
        part = [one._replace(text=_OPEN_TASK.sub("", one.text)) for one in part]
    is_told = [one.kind is not MarkdownKind.CODE or bool(_code_parts(one)) for one in part]
    yield from (Said("", [one]) for one, told in zip(part, is_told, strict=True) if not told)
    entries = [_entry(group) for group in _by_entry(list(compress(part, is_told)))]
    yield from (one for one in entries if not one.text)
    kept = [one for one in entries if one.text]
    are_rules = is_checklist or bool(_RULES.search("".join(part[0].headings[-1:])))
    are_steps = bool(part[0].step) and len(kept) > 1 and _are_steps(kept, are_rules)
    are_named = len(kept) > 1 and all(_NAMED.match(one.text) for one in kept)
    opening = plain_text(lead.text) if lead is not None else ""
    are_sentences = (
        bool(part[0].step) and not are_steps and all(one.text.endswith(".") for one in kept)
    )
    are_rules = are_rules or (are_sentences and bool(_WHEN.search(opening)))
    texts = [f"{one.blocks[0].step}. {one.text}" if are_steps else one.text for one in kept]
    whole = _sentences([opening, *texts])
    longest = LONGEST_STEPS if are_steps else 0 if are_sentences else LONGEST
    if kept and len(whole) <= longest and (opening or are_steps or are_named):
        blocks = [*_blocks(lead), *(block for one in kept for block in one.blocks)]
        type_ = _type_of_list(opening, kept, are_steps, are_named)
        if are_rules and type_ is None and type_of(whole) is MemoryType.FACT:
            type_ = MemoryType.CONSTRAINT
        yield Said(whole, blocks, type_)
        return
    is_short = 0 < len(opening) <= LONGEST_LEAD
    if lead is not None and not (is_short and kept):
        yield _paragraph(lead)
    for one in _alike(kept, are_rules):
        yield one._replace(text=f"{opening} {one.text}" if is_short else one.text)


def _are_steps(entries: Sequence[Said], are_rules: bool) -> bool:
    """Tell whether numbered entries are done one after the other, as most say what to do."""
    types = [one.type or type_of(one.text) for one in entries]
    if MemoryType.PROCEDURE in types:
        return True
    does = [is_sure_order(one.text) and not is_binding(one.text) for one in entries]
    are_named = all(_LABELLED.match(one.blocks[0].text) for one in entries)
    return not (are_rules or are_named) and 2 * sum(does) >= len(does)


def _type_of_list(
    opening: str, entries: Sequence[Said], are_steps: bool, are_named: bool
) -> MemoryType | None:
    """Return what a list is that is kept whole; None where its text decides."""
    if forbids(opening):
        return MemoryType.CONSTRAINT
    if are_steps or any(one.type is MemoryType.PROCEDURE for one in entries):
        return MemoryType.PROCEDURE
    return _type_of_rows([one.text for one in entries]) if are_named else None


def _alike(entries: Sequence[Said], are_rules: bool) -> Iterator[Said]:
    """Yield entries of a list: where half of them order, one that does not describe orders, too.

    Where they do not, what may be an order is a description. Below a heading of rules every
    entry of one sentence is one.
    """
    types = [one.type or type_of(one.text) for one in entries]
    orders = types.count(MemoryType.CONSTRAINT) + types.count(MemoryType.PREFERENCE)
    order = 2 * orders >= len(entries) or (are_rules and bool(entries[0].blocks[0].step))
    for one, type_ in zip(entries, types, strict=True):
        length, is_step = len(sentences(one.text)), one.blocks[0].step
        is_told = _NAMED.match(one.text) or (acts(one.text) and not is_step)
        is_rule = not is_told and ((are_rules and length == 1) or (is_step and order))
        is_alike = order and length <= _PAIR and not describes(one.text)
        may_order = order or are_rules or is_sure_order(one.text)
        if type_ is MemoryType.FACT and (is_rule or is_alike):
            yield one._replace(type=MemoryType.CONSTRAINT)
        elif type_ is MemoryType.CONSTRAINT and not may_order:
            yield one._replace(type=MemoryType.FACT)
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


def _entry(blocks: Sequence[MarkdownBlock]) -> Said:
    """Return what an entry of a list says, with the commands of code that is in it."""
    first = blocks[0]
    is_said = first.kind is MarkdownKind.BULLET and not TASK.match(first.text)
    is_elsewhere = is_import(first) or is_link(first) or is_pointer(plain_text(first.text))
    if not is_said or is_elsewhere or _CALL.fullmatch(first.text):
        return Said("", blocks)
    codes = [one for one in blocks[1:] if one.kind is MarkdownKind.CODE]
    does = MemoryType.PROCEDURE if any(map(command_line, codes)) else None
    head, *more = map(plain_text, first.text.split("\n\n"))
    head = head if codes or more else head.removesuffix(":")
    shows = [part for one in codes for part in _code_parts(one)]
    return Said(_sentences([head, *more, *shows]), blocks, does)


def _table(block: MarkdownBlock, lead: MarkdownBlock | None) -> Iterator[Said]:
    """Yield the rows of a table as one, or row by row; all of them are of one type."""
    told = rows(block)
    whole = _sentences([plain_text(lead.text) if lead is not None else "", *told])
    type_ = MemoryType.CONSTRAINT if all(map(depends, told)) else _type_of_rows(told)
    if len(whole) <= LONGEST:
        yield Said(whole, [*_blocks(lead), block], type_)
        return
    if lead is not None:
        yield _paragraph(lead)
    columns = (
        [_CELL.fullmatch(cell) for cell in column] for column in zip(*block.rows[1:], strict=False)
    )
    files = next((column for column in columns if all(column)), [None] * len(told))
    for line, (text, file) in enumerate(zip(told, files, strict=True), start=block.lines[0] + 2):
        about = (file[1],) if file is not None else ()
        yield Said(text, [block._replace(lines=(line, line))], type_, about)


def _type_of_rows(rows: Sequence[str]) -> MemoryType:
    """Return what rows are: commands where most of them begin with one, else facts."""
    does = sum(map(is_command, rows))
    return MemoryType.PROCEDURE if 2 * does > len(rows) else MemoryType.FACT


def _sentences(texts: Iterable[str]) -> str:
    """Return texts one after the other, with a semicolon where one ends without a stop."""
    whole = ""
    for text in filter(None, texts):
        between = " " if whole[-1:] in ".!?:;" else "; "
        whole += f"{between}{text}" if whole else text
    return whole


def _blocks(lead: MarkdownBlock | None) -> list[MarkdownBlock]:
    return [] if lead is None else [lead]
