"""Architecture decision records as values: those of Nygard, of MADR, and what is like them.

Sources: Michael Nygard, "Documenting Architecture Decisions" (2011), and MADR 4.0 (adr.github.io).
What a record says of its state: `interchange.adr_states`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import takewhile
from typing import Final, NamedTuple

from pmem.interchange import UnusedPart
from pmem.interchange.adr_states import (
    UNFILLED,
    UNKNOWN,
    RecordName,
    bare_title,
    number_of,
    predecessor_in,
    state_of,
    successor_in,
    whole_status,
)
from pmem.interchange.front_matter import named
from pmem.interchange.markdown import (
    MarkdownBlock,
    MarkdownFile,
    MarkdownKind,
    plain_text,
    read_markdown,
)

_FIELD: Final = re.compile(r"[*_\s>-]{0,20}([A-Za-z][\w -]{2,18}?)[*_\s]{0,20}:(.*)")
_MARKS: Final = "*_ \t"
_IN_HEADING: Final = re.compile(r"(status|date)\s*(?::|\s[-–—]\s)\s*(\S.*)", re.IGNORECASE)
_IN_TITLE: Final = re.compile(r"[(\[]([^()\[\]]+)[)\]]")
_ORDINAL: Final = re.compile(r"^[\W\d_]+|[\W_]+$")
_DATE: Final = re.compile(r"(?<!\d)(\d{4})-?(\d{2})-?(\d{2})(?!\d)")
_CHOSEN: Final = re.compile(r"chosen option\s*:?\s*[\"'“*]*([^\"'”*,]+)[\"'”*]*", re.IGNORECASE)
_PLACEHOLDER: Final = re.compile(
    r"^[\W\d_]*(?:adr[-_ #]?\w*\W+)?[{\[<][^{}\[\]<>]*[}\]>]\W*$", re.IGNORECASE
)
_TEMPLATE: Final = re.compile(r"(?:^|[\W_])template(?:[\W_]|$)", re.IGNORECASE)
_NOTHING: Final = frozenset({"", "none", "null", "na", "no"})
_STATUS: Final = frozenset({"status", "state"})
_BY: Final = frozenset({"supersededby", "replacedby"})
_TAKES: Final = frozenset({"supersedes", "replaces"})
_FIELDS: Final = frozenset({*_STATUS, *_BY, *_TAKES, "date"})
_SECTIONS: Final = {
    "status": "status",
    "state": "status",
    "date": "date",
    "context": "context",
    "context and problem statement": "context",
    "kontext": "context",
    "decision": "decision",
    "decision outcome": "decision",
    "entscheidung": "decision",
    "consequences": "consequences",
    "positive consequences": "consequences",
    "negative consequences": "consequences",
    "konsequenzen": "consequences",
    "considered options": "options",
    "options considered": "options",
    "alternatives": "alternatives",
    "alternatives considered": "alternatives",
}
_USED: Final = ("context", "consequences", "options", "alternatives", "status", "date")
_ENDS: Final = (".", "!", "?", "。")
_SAID: Final = (MarkdownKind.PARAGRAPH, MarkdownKind.BULLET)
_SILENT: Final = (MarkdownKind.HEADING, MarkdownKind.COMMENT)


class DecisionRecord(NamedTuple):
    """A decision as its file tells it.

    Attributes:
        number: its number, by its title or its file's name.
        title: what it is about.
        state: what `state_of` makes of it; or nothing.
        told: what it says of its state itself, on one line.
        day: when it was taken.
        context: why there was something to decide, the first paragraph.
        decision: what was decided, the first paragraph.
        consequences: what follows, the first paragraph or list.
        lines: the first and the last line of the section that says it, counted from one.
        rejected: the options that were considered and not chosen.
        superseded_by: the record that takes its place.
        supersedes: the record whose place it takes.
        left_out: what of the file is in none of these.
    """

    number: int | None
    title: str
    state: str
    told: str
    day: date | None
    context: str
    decision: str
    consequences: str
    lines: tuple[int, int]
    rejected: tuple[str, ...]
    superseded_by: RecordName | None
    supersedes: RecordName | None
    left_out: tuple[UnusedPart, ...]

    @property
    def why_not(self) -> str:
        """Why it is no decision that holds, to be read after its name; empty where it is one."""
        if self.state == UNFILLED:
            return "offers several states and has none"
        if self.state == UNKNOWN:
            return f"has a status that is not known: {self.told}"
        if self.state in ("", "accepted", "superseded"):
            return ""
        return "is a draft" if self.state == "draft" else f"is {self.state}"


class _Section(NamedTuple):
    name: str
    start: int
    level: int
    blocks: list[MarkdownBlock]


def read_decision(file: str, text: str) -> DecisionRecord | str:
    """Read a decision record, or return why a file is none, to be read after its name.

    Args:
        file: Its path, with slashes.
        text: What it says.
    """
    name = file.rpartition("/")[2]
    found = read_markdown(text)
    if not found.front.is_readable:
        return f"has front matter in lines 1-{found.front.lines} that is no YAML"
    title, sections = _sections(found, name)
    by_name = {section.name: section for section in reversed(sections)}
    decided = by_name.get("decision")
    said = _first_part(decided)
    if _TEMPLATE.search(name) or _PLACEHOLDER.match(title):
        return "is a template"
    told, when = _status_and_date(found, sections, title)
    state = state_of(told)
    if decided is None or not said:
        is_over = state not in ("", "accepted", UNFILLED, UNKNOWN)
        return f"is {state}" if is_over else "has no section Decision with text in it"
    used = [decided, *(by_name[name] for name in _USED if name in by_name)]
    return DecisionRecord(
        number=number_of(title, name),
        title=bare_title(title),
        state=state,
        told=" ".join(told.split()),
        day=_day(when) or (_day(told) if state == "accepted" else None) or _day(name),
        context=_first_part(by_name.get("context")),
        decision=said,
        consequences=_first_part(by_name.get("consequences")),
        lines=(decided.start, max((one.lines[1] for one in decided.blocks), default=decided.start)),
        rejected=tuple(_rejected(by_name, bare_title(title), said)),
        superseded_by=successor_in(told),
        supersedes=predecessor_in(told),
        left_out=tuple(_left_out(file, found, used)),
    )


def _sections(found: MarkdownFile, name: str) -> tuple[str, list[_Section]]:
    """Return the title, and the sections; one without a name is what comes before the first."""
    title = next(iter(found.front.texts("title")), "")
    sections = [_Section("", 0, 0, [])]
    for block in found.blocks:
        if block.kind is not MarkdownKind.HEADING:
            sections[-1].blocks.append(block)
            continue
        words = block.text.casefold()
        known = _SECTIONS.get(_ORDINAL.sub("", words), "")
        known = "decision" if block.level > 1 and words == "decisions" else known
        if not known and _IN_HEADING.match(words):
            known = "status" if words.startswith("status") else "date"
        if not known and not title:
            title = " ".join(block.text.split())
        elif known or block.level <= sections[-1].level or not sections[-1].name:
            sections.append(_Section(known, block.lines[0], block.level, []))
        else:
            sections[-1].blocks.append(block)
    return title or re.sub(r"[-_]", " ", name.rpartition(".")[0]), sections


def _status_and_date(
    found: MarkdownFile, sections: Sequence[_Section], title: str
) -> tuple[str, str]:
    """Return what a record says of its state, line by line, and of its date."""
    told: list[str] = []
    when: list[str] = []
    for key, value in [*_front(found), *_headings(found), *_fields(sections)]:
        is_nothing = re.sub(r"\W", "", value).casefold() in _NOTHING
        if key == "date":
            when.append(value)
        elif key in _STATUS:
            told.append(value)
        elif not is_nothing:
            told.append(f"{'Superseded by' if key in _BY else 'Supersedes'} {value}")
    for section in sections:
        if section.name == "status" and section.blocks:
            told += [_plain(block) for block in section.blocks if block.kind not in _SILENT]
        elif section.name == "date":
            when += [_plain(block) for block in section.blocks]
    if not told:
        told = [one for one in _IN_TITLE.findall(title) if state_of(one) not in ("", UNKNOWN)]
    return whole_status("\n".join(told)), "\n".join(when)


def _front(found: MarkdownFile) -> Iterator[tuple[str, str]]:
    for key in sorted(_FIELDS):
        for value in found.front.texts(key):
            yield key, value


def _headings(found: MarkdownFile) -> Iterator[tuple[str, str]]:
    for block in found.blocks:
        field = _IN_HEADING.match(block.text) if block.kind is MarkdownKind.HEADING else None
        if field:
            yield field[1].casefold(), field[2]


def _fields(sections: Sequence[_Section]) -> Iterator[tuple[str, str]]:
    """Yield the fields before the first section that says something of the decision itself."""
    for section in sections:
        if section.name not in ("", "status", "date"):
            return
        for block in section.blocks:
            if block.kind is MarkdownKind.TABLE:
                yield from _cells(block.rows)
            elif block.kind not in (MarkdownKind.CODE, MarkdownKind.COMMENT):
                for one in map(_FIELD.match, block.text.split("\n")):
                    if one is not None and _is_field(one[1]):
                        yield named(one[1]), one[2].strip(_MARKS)


def _cells(rows: Sequence[Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a table: a name, and the cell right of it, or below it in its column."""
    for at, row in enumerate(rows):
        for place, cell in enumerate(row):
            if not _is_field(cell):
                continue
            right = row[place + 1] if place + 1 < len(row) else ""
            below = rows[at + 1][place] if at + 1 < len(rows) else ""
            is_column = not right or any(map(_is_field, row[place + 1 :]))
            yield named(_ORDINAL.sub("", cell)), below if is_column and below else right


def _is_field(text: str) -> bool:
    return named(_ORDINAL.sub("", text)) in _FIELDS


def _plain(block: MarkdownBlock) -> str:
    return "\n".join(cell for row in block.rows for cell in row) or block.text


def _day(text: str) -> date | None:
    for found in _DATE.finditer(text):
        try:
            return date(*map(int, found.groups()))
        except ValueError:
            continue
    return None


def _first_part(section: _Section | None) -> str:
    """Return what `_first_blocks` say, on one line; of a list its entries, one after another."""
    said = [(block.kind, plain_text(block.text)) for block in _first_blocks(section)]
    lead = [text for kind, text in said if kind is MarkdownKind.PARAGRAPH]
    entries = [text.rstrip(".;") for kind, text in said if kind is MarkdownKind.BULLET]
    return " ".join([*lead, "; ".join(entries)]).strip()


def _first_blocks(section: _Section | None) -> list[MarkdownBlock]:
    """Return a section's first paragraph or list; the list too that an unfinished one leads to."""
    said = [one for one in section.blocks if one.kind in _SAID] if section is not None else []
    if said and said[0].kind is MarkdownKind.PARAGRAPH and said[0].text.endswith(_ENDS):
        return said[:1]
    more = takewhile(lambda block: block.kind is MarkdownKind.BULLET, said[1:])
    return [*said[:1], *more]


def _rejected(sections: Mapping[str, _Section], title: str, decision: str) -> Iterator[str]:
    """Yield the options that were not chosen, and alternatives that are not what it is about."""
    chosen = _CHOSEN.search(decision)
    section = sections.get("options" if chosen else "alternatives")
    if section is None:
        return
    taken = (chosen[1] if chosen else title).strip().casefold()
    has_own = any(block.kind is MarkdownKind.HEADING for block in section.blocks[:1])
    kind = MarkdownKind.HEADING if has_own else MarkdownKind.BULLET
    for block in section.blocks:
        option = plain_text(block.text.split("\n\n")[0])
        names = option.casefold(), *option.casefold().split(": ", 1)
        is_taken = (
            any(name.startswith(taken) for name in names)
            if chosen
            else any(name in taken for name in names)
        )
        if block.kind is kind and not is_taken:
            yield option


def _left_out(file: str, found: MarkdownFile, used: Sequence[_Section]) -> Iterator[UnusedPart]:
    """Yield the blocks that are in no part of a record."""
    taken: set[MarkdownBlock] = set()
    for section in used:
        whole = section.name in ("options", "alternatives", "status", "date")
        taken.update(section.blocks if whole else _first_blocks(section))
    for block in found.blocks:
        if block not in taken and block.kind not in _SILENT and not _has_field(block):
            yield UnusedPart(file, block.kind, block.lines)


def _has_field(block: MarkdownBlock) -> bool:
    lines = map(_FIELD.match, block.text.split("\n"))
    return any(one is not None and _is_field(one[1]) for one in lines) or any(
        _is_field(cell) for row in block.rows for cell in row
    )
