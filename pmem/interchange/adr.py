"""Architecture decision records as values: those of Nygard, and of MADR.

Sources: Michael Nygard, "Documenting Architecture Decisions" (2011), and MADR 4.0 (adr.github.io).
"""

import re
from collections.abc import Iterator
from datetime import date
from typing import Final, NamedTuple

_HEADING: Final = re.compile(r"^(#{1,4})\s+(.+?)\s*#*$")
_NUMBER: Final = re.compile(r"^(?:ADR[- ]?)?(\d{1,5})\s*[.:)-]\s*", re.IGNORECASE)
_FILE_NUMBER: Final = re.compile(r"(?:^|/)(?:adr-?)?0*(\d{1,5})[-_.]", re.IGNORECASE)
_FIELD: Final = re.compile(r"^[*\s>-]*\**(status|date)\**\s*:\s*\**\s*(.+?)\**\s*$", re.IGNORECASE)
_DATE: Final = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_BY: Final = re.compile(r"supersed(?:ed|ed by)[^\n]*?(\d{1,5})", re.IGNORECASE)
_TAKES: Final = re.compile(r"\bsupersedes[^\n]*?(\d{1,5})", re.IGNORECASE)
_CHOSEN: Final = re.compile(r"chosen option\s*:?\s*[\"'“*]*([^\"'”*,]+)[\"'”*]*", re.IGNORECASE)
_BULLET: Final = re.compile(r"^\s*[-*+]\s+(.+)$")
_STATES: Final = ("accepted", "superseded", "deprecated", "rejected", "proposed", "draft")
_SECTIONS: Final = {
    "status": "status",
    "date": "date",
    "context": "context",
    "context and problem statement": "context",
    "decision": "decision",
    "decision outcome": "decision",
    "consequences": "consequences",
    "positive consequences": "consequences",
    "negative consequences": "consequences",
    "considered options": "options",
    "options considered": "options",
    "alternatives": "options",
    "alternatives considered": "options",
}


class DecisionRecord(NamedTuple):
    """A decision as its file tells it.

    Attributes:
        number: its number, by its title or its file's name.
        title: what it is about.
        state: one of accepted, superseded, deprecated, rejected, proposed, draft; or nothing.
        day: when it was taken.
        context: why there was something to decide, the first paragraph.
        decision: what was decided, the first paragraph.
        consequences: what follows, the first paragraph or list.
        lines: the first and the last line of the section that says it, counted from one.
        rejected: the options that were considered and not chosen.
        superseded_by: the number of the record that takes its place.
        supersedes: the number of the record whose place it takes.
    """

    number: int | None
    title: str
    state: str
    day: date | None
    context: str
    decision: str
    consequences: str
    lines: tuple[int, int]
    rejected: tuple[str, ...]
    superseded_by: int | None
    supersedes: int | None


class _Section(NamedTuple):
    name: str
    start: int
    lines: list[str]


def read_decision(name: str, text: str) -> DecisionRecord | None:
    """Read a decision record; None where a file has no decision in it.

    Args:
        name: The file's name.
        text: What it says.
    """
    title, sections = _sections(text)
    by_name = {section.name: section for section in reversed(sections)}
    decided = by_name.get("decision")
    said = _first_part(decided)
    if not title or decided is None or not said:
        return None
    fields = dict(_fields(text))
    told = " ".join(by_name["status"].lines) if "status" in by_name else fields.get("status", "")
    number = _NUMBER.match(title) or _FILE_NUMBER.search(name)
    when = " ".join(by_name["date"].lines) if "date" in by_name else fields.get("date", "")
    by, takes = _BY.search(told), _TAKES.search(told)
    return DecisionRecord(
        number=int(number[1]) if number else None,
        title=_NUMBER.sub("", title).strip(),
        state=_state(told),
        day=_day(when) or _day(told),
        context=_first_part(by_name.get("context")),
        decision=said,
        consequences=_first_part(by_name.get("consequences")),
        lines=(decided.start + 1, decided.start + len(decided.lines) + 1),
        rejected=tuple(_rejected(by_name.get("options"), said)),
        superseded_by=int(by[1]) if by else None,
        supersedes=int(takes[1]) if takes else None,
    )


def _sections(text: str) -> tuple[str, list[_Section]]:
    """Return the title, and the sections that are known, without the empty lines at their ends."""
    title = ""
    found: list[_Section] = []
    level = 0
    for place, line in enumerate(text.splitlines()):
        heading = _HEADING.match(line)
        if heading and not title:
            title, level = heading[2], len(heading[1])
        elif heading:
            name = _SECTIONS.get(heading[2].casefold().rstrip(":"), "")
            if name or len(heading[1]) <= level + 1:
                found.append(_Section(name, place, []))
        elif found:
            found[-1].lines.append(line)
    for section in found:
        while section.lines and not section.lines[-1].strip():
            section.lines.pop()
    return title, found


def _fields(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines()[:40]:
        found = _FIELD.match(line)
        if found:
            yield found[1].lower(), found[2]


def _state(told: str) -> str:
    words = told.casefold()
    if "superseded" in words:
        return "superseded"
    return next((state for state in _STATES if state in words), "")


def _day(text: str) -> date | None:
    found = _DATE.search(text)
    if found is None:
        return None
    try:
        return date(*map(int, found.groups()))
    except ValueError:
        return None


def _first_part(section: _Section | None) -> str:
    """Return a section's first paragraph; of a list its entries, one after another."""
    text = "" if section is None else "\n".join(section.lines).strip()
    first = re.split(r"\n\s*\n", text)[0]
    entries = [_BULLET.match(line) for line in first.splitlines()]
    if entries and all(entries):
        return "; ".join(entry[1].strip().rstrip(".;") for entry in entries if entry)
    return " ".join(first.split())


def _rejected(options: _Section | None, decision: str) -> Iterator[str]:
    """Yield the options that were not chosen."""
    if options is None:
        return
    chosen = _CHOSEN.search(decision)
    taken = chosen[1].strip().casefold() if chosen else None
    for line in options.lines:
        bullet = _BULLET.match(line)
        option = bullet[1].strip() if bullet else ""
        if option and taken is not None and not option.casefold().startswith(taken):
            yield option
