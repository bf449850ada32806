"""What of an instruction file is one rule: blocks that belong together, and what they say."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, groupby, zip_longest
from typing import Final, NamedTuple

from pmem.interchange.markdown import (
    LONGEST,
    MarkdownBlock,
    MarkdownKind,
    command_line,
    plain_text,
    rows,
    shown,
    whole_text,
)
from pmem.interchange.rule_mood import (
    NAME,
    acts,
    depends,
    describes,
    ends_open,
    forbids,
    is_binding,
    is_command,
    is_order,
    is_rule,
    is_sure_order,
    sentences,
    type_of,
)
from pmem.values.records import MemoryType

PATH: Final = r"`((?=[^`]*[./])[\w.-]+(?:/[\w.*-]+)*/?)`"
"""A file, a folder or a pattern in back quotes."""
_PHRASE: Final = 3
_PAIR: Final = 2
LONGEST_STEPS: Final = 1200
"""Characters of the steps of a numbered list."""
LONGEST_LEAD: Final = 120
"""Characters of a sentence that each entry below it is told with."""
_BOLD: Final = re.compile(r"\*\*[^*\n:.]{1,60}\*\*(?=\n|\Z)")
_TITLE: Final = re.compile(rf"{_BOLD.pattern}|[^\s.:;!?*]+(?: [^\s.:;!?*]+){{0,5}}")
_RULES: Final = re.compile(
    r"\b(?:rules?|conventions?|guidelines|standards|principles|definition of done|style)\b",
    re.IGNORECASE,
)
_WHEN: Final = re.compile(r"\b(?:when|if|until|unless|before|once)\b")
_LABELLED: Final = re.compile(r"(\*\*|__)(?:(?!\1).)+(?::\1|\1\s*(?::|[-–—]))")
_LABEL: Final = re.compile(r"[^`:.]{1,60}(?:: | [-–—]{1,2} )")
_VALUE: Final = re.compile(rf"{_LABEL.pattern}`[^`]+`")
_DATA: Final = re.compile(r"<([a-z][\w-]*)>\s*\n\s*[\w-]+:(?:\s|\Z)")
_CALLOUT: Final = re.compile(r"\A\s*\[!\w+\]\s*")
_OPEN_TASK: Final = re.compile(r"\[ \]\s+")
_SEE: Final = re.compile(r"([^.,]*, )?(?:please )?(?:see|refer to) ", re.IGNORECASE)
_LINK: Final = re.compile(r"\[[^\]]*\]\([^)]*\)\Z")
_IMPORT: Final = re.compile(r"@[\w./~-]+\s*$")
_NAMED: Final = re.compile(
    rf"{NAME}(?:[,/]? (?:and |or |/ )?{NAME})*(?: \([^)]*\))?\s*(?::|[-–—]{{1,2}} |→)"
)
_WORD_ALONE: Final = re.compile(rf"(?:{NAME}|\S+)(?: \([^)]*\))?")
_LED: Final = (MarkdownKind.BULLET, MarkdownKind.CODE, MarkdownKind.TABLE)
_CONDITION: Final = frozenset("if when unless until before after".split())
_GOES_ON: Final = re.compile(r"(?:And|But|Or|Otherwise|Then|Instead|So)\b")
POINTS: Final = re.compile(
    r"(?:It|They|Here|Below|Above)\b|(?:This|That) (?:[a-z]+[^s]s|is|was|has|can|will|must|may)\b"
    r"|(?:These|Those) (?:are|were|have|can|will|must|may)\b"
)
"""The beginning of what says nothing without what comes before it."""
_CALL: Final = re.compile(r"\W*\w+!")
TASK: Final = re.compile(r"\[[ xX]\]\s")
_LONGEST_NAME: Final = 3
"""Words of a heading that may be a name, and no order."""


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


def _is_elsewhere(block: MarkdownBlock) -> bool:
    """Tell whether a block only names where something else is told."""
    text = plain_text(block.text)
    found = _SEE.match(text) if len(sentences(text)) == 1 else None
    is_named = found is not None and (depends(text) or len((found[1] or "").split()) <= _PHRASE)
    return is_named or is_import(block) or is_link(block)


def _with_whole_steps(blocks: Iterable[MarkdownBlock]) -> Iterator[MarkdownBlock]:
    """Yield blocks, numbered lists that go on after code as one, the code with the step before.

    So is code with the entry before that ends with a colon.
    """
    between: list[MarkdownBlock] = []
    last: MarkdownBlock | None = None
    joined: dict[int, int] = {}
    colon = 0
    for block in blocks:
        if colon and block.kind is MarkdownKind.CODE and not block.among:
            yield block._replace(among=colon)
            continue
        colon = block.among if block.text.rstrip(" *_").endswith(":") else 0
        colon = joined.get(colon, colon)
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


def _without_data(blocks: Sequence[MarkdownBlock]) -> Iterator[MarkdownBlock]:
    """Yield blocks, what is in an element of named values as HTML."""
    end = ""
    for block in blocks:
        found = _DATA.match(block.text) if block.kind is MarkdownKind.HTML else None
        if found and any(f"</{found[1]}>" in one.text for one in blocks):
            end = f"</{found[1]}>"
        yield block._replace(kind=MarkdownKind.HTML, among=0, step=0) if end else block
        end = "" if end and end in block.text else end


def _with_titles(blocks: Iterable[MarkdownBlock]) -> Iterator[MarkdownBlock]:
    """Yield blocks, a short line alone above a list, code or table as a heading of these.

    A plain line above code begins its sentence.
    """
    above: tuple[tuple[str, ...], str] | None = None
    found = list(blocks)
    for block, after in zip_longest(found, found[1:]):
        is_title = after is not None and after.kind in _LED and after.headings == block.headings
        is_plain = after is not None and after.kind is MarkdownKind.CODE and block.text[:1] != "*"
        is_title = is_title and block.kind is MarkdownKind.PARAGRAPH and not is_plain
        if is_title and _TITLE.fullmatch(block.text):
            above = (block.headings, block.text.strip("*_ "))
            yield block._replace(kind=MarkdownKind.HEADING)
            continue
        if above is not None and block.headings != above[0]:
            above = None
        own = (*block.headings, above[1]) if above is not None else block.headings
        yield block._replace(headings=own)


class _Lead(NamedTuple):
    """What a list, code, table or quotation is told with: a sentence above it, or a heading."""

    text: str = ""
    blocks: Sequence[MarkdownBlock] = ()


def units_in(blocks: Sequence[MarkdownBlock]) -> Iterator[Said]:
    """Yield what the blocks of a file say, each with those that belong to it.

    A sentence that leads to a list, code or table is told with that, and one that leads to
    sections with the lists in these. A paragraph that only goes on belongs to what is before it.
    """
    last: Said | None = None
    for said in _units(_with_titles(_with_whole_steps(_without_data(blocks)))):
        joined = _together(last, said) if last is not None else None
        if last is not None and joined is None:
            yield last
        last = joined or said
    if last is not None:
        yield last


def _together(last: Said, said: Said) -> Said | None:
    """Return what two units say together; None where each can be understood alone."""
    block, before = said.blocks[0], last.blocks[-1]
    is_one = block.headings == before.headings and not last.blocks[0].among
    if block.kind is not MarkdownKind.PARAGRAPH or not is_one:
        return None
    texts = [one.text or prose(one) for one in (last, said)]
    goes_on = _GOES_ON.match(texts[1]) is not None
    is_part = POINTS.match(texts[1]) or (before.kind is MarkdownKind.QUOTE and len(last.blocks) > 1)
    longest = LONGEST_STEPS if goes_on else LONGEST
    if not (goes_on or is_part) or not all(texts) or sum(map(len, texts)) > longest:
        return None
    types = {last.type, said.type}
    type_ = MemoryType.PROCEDURE if MemoryType.PROCEDURE in types else None
    is_told = bool(last.text or said.text)
    whole = ". ".join(texts) if texts[0][-1] not in ".!?:" else " ".join(texts)
    return Said(whole if is_told else "", [*last.blocks, *said.blocks], type_)


def prose(said: Said) -> str:
    """Return the text of paragraphs that are no rules, without what leads to something else."""
    block = said.blocks[0]
    if block.kind is not MarkdownKind.PARAGRAPH or _is_elsewhere(block):
        return ""
    text = whole_text(plain_text(one.text) for one in said.blocks)
    return " ".join(sentences(text)[:-1]) if text.endswith(":") else text


def _units(blocks: Iterable[MarkdownBlock]) -> Iterator[Said]:
    """Yield what blocks say, each with what leads to it."""
    parts = [list(part) for _, part in groupby(blocks, key=lambda one: one.among or -one.lines[0])]
    lead: MarkdownBlock | None = None
    carried: MarkdownBlock | None = None
    nothing: list[MarkdownBlock] = []
    for part, after in zip_longest(parts, parts[1:], fillvalue=nothing):
        block = part[0]
        if carried is not None and not _is_below(block, carried):
            carried = None
        if lead is not None and not _is_led(block, lead):
            yield _paragraph(lead)
            carried = lead if _is_below(block, lead) and ends_open(lead.text) else carried
            lead = None
        if block.kind is MarkdownKind.PARAGRAPH and _leads(block, after):
            lead = block
        elif lead is not None:
            yield from _part(part, _Lead(_leading(lead.text), [lead]))
            lead = None
        else:
            yield from _part(part, _above(block, carried))
    if lead is not None:
        yield _paragraph(lead)


def _is_led(block: MarkdownBlock, lead: MarkdownBlock) -> bool:
    return block.kind in (*_LED, MarkdownKind.QUOTE) and block.headings == lead.headings


def _is_below(block: MarkdownBlock, lead: MarkdownBlock) -> bool:
    """Tell whether a block is, or begins, what is in a section below a paragraph."""
    count = len(lead.headings)
    is_deeper = bool(block.level) or len(block.headings) > count
    return is_deeper and block.headings[:count] == lead.headings


def _leads(block: MarkdownBlock, after: Sequence[MarkdownBlock]) -> bool:
    """Tell whether a paragraph leads to what is after it: by a colon, or with no end of its own."""
    text = block.text.rstrip(" *_")
    if text.endswith(":"):
        return True
    if not after or after[0].kind not in _LED or _VALUE.fullmatch(plain_text(text)):
        return False
    if after[0].kind is MarkdownKind.CODE:
        return len(text) <= LONGEST and bool(_code_parts(after[0]))
    return len(text) <= LONGEST_LEAD and text[-1:] not in ".!?;"


def _above(block: MarkdownBlock, carried: MarkdownBlock | None) -> _Lead:
    """Return what leads to a list from above its section, or its heading that begins a sentence."""
    if not block.among:
        return _Lead()
    if carried is not None:
        return _Lead(_leading(carried.text))
    heading = plain_text("".join(block.headings[-1:]))
    begins = " " in heading and heading.split()[-1] in _CONDITION
    return _Lead(_leading(heading) if begins else "")


def _leading(text: str) -> str:
    """Return a text that leads to something, with a colon where it has no end."""
    text = plain_text(text)
    return text if text[-1:] in ".:!?" else f"{text}:"


def _part(part: Sequence[MarkdownBlock], lead: _Lead) -> Iterator[Said]:
    """Yield what a list says, or one block outside lists."""
    block = part[0]
    if block.among:
        yield from _list(part, lead)
    elif block.kind is MarkdownKind.QUOTE and lead.text:
        yield Said(f"{lead.text} {plain_text(_CALLOUT.sub('', block.text))}", [*lead.blocks, block])
    elif block.kind in (MarkdownKind.PARAGRAPH, MarkdownKind.QUOTE):
        yield _paragraph(block)
    elif block.kind is MarkdownKind.CODE and (lead.text or block.headings):
        yield from _code(block, lead)
    elif block.kind is MarkdownKind.TABLE:
        yield from _table(block, lead)
    elif block.kind is not MarkdownKind.HEADING:
        yield Said("", [*lead.blocks, block])


def _paragraph(block: MarkdownBlock) -> Said:
    """Return what a paragraph or quotation says, if it is a rule; one that leads on must order."""
    text = plain_text(_CALLOUT.sub("", block.text))
    leads = text.endswith(":")
    if leads and ends_open(text):
        text = " ".join(sentences(text)[:-1])
    is_note = len(text) <= LONGEST_STEPS and (is_order(text) if leads else is_rule(text))
    told = f"{text[:-1]}." if text.endswith(":") else text
    return Said(told if is_note and not _is_elsewhere(block) else "", [block])


def _code_parts(block: MarkdownBlock) -> list[str]:
    """Return what a code block says, in parts: its commands, or what it shows."""
    runs = command_line(block)
    return [runs] if runs else shown(block)


def _code(block: MarkdownBlock, lead: _Lead) -> Iterator[Said]:
    """Yield what a code block says after the sentence or the heading that leads to it."""
    told, blocks = _code_parts(block), [*lead.blocks, block]
    above = lead.text or plain_text(block.headings[-1])
    if command_line(block):
        text = f"{above} {told[0]}" if lead.text else told[0]
        yield Said(text, blocks, MemoryType.PROCEDURE)
        return
    is_long = len(above.split()) > _LONGEST_NAME
    orders = is_order(above) if lead.text else is_long and is_sure_order(above)
    between = " " if above[-1:] in ".!?:" else ": "
    for text in told:
        type_ = type_of(above) if orders else MemoryType.FACT
        yield Said(f"{above}{between}{text}", blocks, type_)
    if not told:
        yield from map(_paragraph, lead.blocks)
        yield Said("", [block])


def _list(part: Sequence[MarkdownBlock], lead: _Lead) -> Iterator[Said]:
    """Yield a list as one, or its entries, each with a short sentence that leads to them."""
    bullets = [one.text for one in part if one.kind is MarkdownKind.BULLET]
    is_checklist = bool(lead.text) and all(map(_OPEN_TASK.match, bullets))
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
    are_alone = len(kept) > 1 and all(_WORD_ALONE.fullmatch(one.text) for one in kept)
    are_names = are_alone or (are_named and not any(is_binding(one.text) for one in kept))
    are_sentences = (
        bool(part[0].step) and not are_steps and all(one.text.endswith(".") for one in kept)
    )
    are_rules = are_rules or (are_sentences and bool(_WHEN.search(lead.text)))
    texts = [f"{one.blocks[0].step}. {one.text}" if are_steps else one.text for one in kept]
    whole = whole_text([lead.text, *texts])
    longest = LONGEST_STEPS if are_steps else 0 if are_sentences else LONGEST
    if kept and len(whole) <= longest and (lead.text or are_steps or are_named or are_alone):
        blocks = [*lead.blocks, *(block for one in kept for block in one.blocks)]
        type_ = _type_of_list(lead.text, kept, are_steps, are_named or are_alone, are_rules)
        yield Said(whole, blocks, type_)
        return
    *intro, opening = sentences(lead.text)
    is_short = 0 < len(opening) <= LONGEST_LEAD
    if not (is_short and kept):
        yield from map(_paragraph, lead.blocks)
    elif lead.blocks and is_rule(" ".join(intro)):
        yield Said(" ".join(intro), lead.blocks)
    told = _grouped(kept, len(opening)) if are_names else _alike(kept, are_rules, is_order(opening))
    for one in told:
        yield one._replace(text=f"{opening} {one.text}" if is_short else one.text)


def _grouped(entries: Sequence[Said], taken: int) -> Iterator[Said]:
    """Yield entries that name something in as few memories as may be."""
    group: list[Said] = []
    for one in [*entries, None]:
        texts = [other.text for other in group]
        if group and (one is None or taken + len(whole_text([*texts, one.text])) > LONGEST):
            blocks = [block for other in group for block in other.blocks]
            yield Said(whole_text(texts), blocks, _type_of_rows(texts))
            group = []
        group += [one] if one is not None else []


def _are_steps(entries: Sequence[Said], are_rules: bool) -> bool:
    """Tell whether numbered entries are done one after the other, as most say what to do."""
    types = [one.type or type_of(one.text) for one in entries]
    if MemoryType.PROCEDURE in types:
        return True
    does = [is_sure_order(one.text) and not is_binding(one.text) for one in entries]
    are_named = all(_LABELLED.match(one.blocks[0].text) for one in entries)
    return not (are_rules or are_named) and 2 * sum(does) >= len(does)


def _type_of_list(
    opening: str, entries: Sequence[Said], are_steps: bool, are_names: bool, are_rules: bool
) -> MemoryType | None:
    """Return what a list is that is kept whole; None where its text decides."""
    if forbids(opening):
        return MemoryType.CONSTRAINT
    if are_steps or any(one.type is MemoryType.PROCEDURE for one in entries):
        return MemoryType.PROCEDURE
    texts = [one.text for one in entries]
    if are_names:
        return _type_of_rows(texts)
    types = [type_of(one) for one in texts if not is_binding(one)]
    describes_most = 2 * types.count(MemoryType.FACT) >= len(types) == len(texts)
    if is_order(opening) or not describes_most:
        return None
    return MemoryType.CONSTRAINT if are_rules else MemoryType.FACT


def _alike(entries: Sequence[Said], are_rules: bool, asks: bool) -> Iterator[Said]:
    """Yield entries of a list: where half of them order, one that does not describe orders, too.

    Where they do not, what may be an order is a description. Below a heading of rules every
    entry of one sentence is one, and below a sentence that orders every entry.
    """
    types = [one.type or type_of(one.text) for one in entries]
    orders = types.count(MemoryType.CONSTRAINT) + types.count(MemoryType.PREFERENCE)
    others = [one for one, type_ in zip(entries, types, strict=True) if type_ is MemoryType.FACT]
    are_parts = orders > 0 and all(_is_part(one.text) for one in others)
    order = 2 * orders >= len(entries) or (are_rules and bool(entries[0].blocks[0].step))
    for one, type_ in zip(entries, types, strict=True):
        length, is_step = len(sentences(one.text)), one.blocks[0].step
        is_told = _NAMED.match(one.text) or (acts(one.text) and not is_step)
        is_rule = not is_told and ((are_rules and length == 1) or (is_step and order))
        is_alike = order and length <= _PAIR and not describes(one.text)
        is_alike = is_alike or asks or (are_parts and _is_part(one.text))
        may_order = order or asks or are_rules or is_sure_order(one.text)
        if type_ is MemoryType.FACT and (is_rule or is_alike):
            yield one._replace(type=MemoryType.CONSTRAINT)
        elif type_ is MemoryType.CONSTRAINT and not may_order:
            yield one._replace(type=MemoryType.FACT)
        else:
            yield one._replace(type=type_)


def _is_part(text: str) -> bool:
    """Tell whether a text neither states nor names anything: "Single quotes"."""
    is_named = _LABEL.match(text) or _NAMED.match(text)
    return len(sentences(text)) == 1 and not is_named and not describes(text)


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
    if not is_said or _is_elsewhere(first) or _CALL.fullmatch(first.text):
        return Said("", blocks)
    codes = [one for one in blocks[1:] if one.kind is MarkdownKind.CODE]
    does = MemoryType.PROCEDURE if any(map(command_line, codes)) else None
    head, *more = map(plain_text, first.text.split("\n\n"))
    head = head if codes or more else head.removesuffix(":")
    head = f"{head}:" if more and _BOLD.match(first.text) else head
    shows = [part for one in codes for part in _code_parts(one)]
    return Said(whole_text([head, *more, *shows]), blocks, does)


def _table(block: MarkdownBlock, lead: _Lead) -> Iterator[Said]:
    """Yield the rows of a table as one, or row by row; all of them are of one type."""
    told = rows(block)
    whole = whole_text([lead.text, *told])
    type_ = MemoryType.CONSTRAINT if all(map(depends, told)) else _type_of_rows(told)
    if len(whole) <= LONGEST:
        yield Said(whole, [*lead.blocks, block], type_)
        return
    yield from map(_paragraph, lead.blocks)
    columns = (
        [re.fullmatch(PATH, cell) for cell in column]
        for column in zip(*block.rows[1:], strict=False)
    )
    files = next((column for column in columns if all(column)), [None] * len(told))
    for line, (text, file) in enumerate(zip(told, files, strict=True), start=block.lines[0] + 2):
        about = (file[1],) if file is not None else ()
        yield Said(text, [block._replace(lines=(line, line))], type_, about)


def _type_of_rows(rows: Sequence[str]) -> MemoryType:
    """Return what rows are: commands where most of them begin with one, else facts."""
    does = sum(map(is_command, rows))
    return MemoryType.PROCEDURE if 2 * does > len(rows) else MemoryType.FACT
