"""What the memory did between two git revisions, and which commits changed a record."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from pmem.cli.differing import HEADINGS, Differing, differences_of, sections, type_of
from pmem.cli.render import drawn
from pmem.cli.session import Answer, CommandSession, Line
from pmem.core.markdown import escaped
from pmem.errors import UsageError
from pmem.memory.journal import HistoryRequest
from pmem.operations import table
from pmem.storage.git import repository
from pmem.values.requests import RangeRequest
from pmem.values.times import iso
from pmem.vcs.changelog import Changelog
from pmem.vcs.provenance import Provenance, What

_MOST: Final = 200
"""Entries under one heading of a Markdown page; GitHub takes no page beyond 1 MiB."""
_DONE: Final = {
    What.ADDED: "green",
    What.CHANGED: "",
    What.REMOVED: "red",
    What.DAMAGED: "red",
}


def changelog_answer(session: CommandSession, revisions: str, format_: str) -> Answer:
    """Show what was learned, changed and forgotten in a range.

    Raises:
        InvalidValue: It is no range of a repository.
    """
    found = session.run(table.CHANGELOG, RangeRequest(revisions=revisions)).changelog
    if format_ == "markdown" and not session.json:
        return Answer(data=found, raw="".join(f"{line}\n" for line in _page(found)))
    return Answer(
        data=found,
        lines=section_lines(found),
        screen=drawn(session, "changes.section_screen", found),
        note="" if found.total else _nothing(found),
    )


def provenance_answer(session: CommandSession, request: HistoryRequest) -> Answer:
    """Return the commits that touched a record, the newest first.

    Raises:
        UsageError: It is asked for at a moment.
        NotFound, Ambiguous: The reference.
        InvalidValue: There is no repository.
    """
    if isinstance(request.at, datetime):
        raise UsageError("--git goes with a revision, not with a time")
    found = session.run(table.PROVENANCE, request)
    found = replace(found, events=found.events[::-1], commits=found.commits[::-1])
    note = "" if found.commits else f"no commit has {found.kind} {found.id} yet"
    return Answer(data=found, lines=_provenance_lines(found), note=note)


def section_lines(found: Differing) -> Iterator[Line]:
    """Yield every heading that has entries, and its entries."""
    for heading, rows in sections(found, str):
        yield [(heading, f"bold {HEADINGS[heading]}".strip()), (f"  {len(rows)}", "dim")]
        for entry, said in rows:
            yield [
                (f"  {entry.short}", "cyan"),
                (f"  {type_of(entry):<10} ", "dim"),
                (said, ""),
            ]


def _page(found: Changelog) -> Iterator[str]:
    """Yield the lines of a Markdown page."""
    yield f"## Memory: {_counts(found)}"
    yield ""
    yield f"`{_end(found.start.commit)}` to {_markdown_end(found)}"
    for heading, rows in sections(found, escaped):
        yield ""
        yield f"### {heading} ({len(rows)})"
        yield ""
        for entry, said in rows[:_MOST]:
            yield f"- **{escaped(type_of(entry))}** {said} `{entry.short}`"
        if len(rows) > _MOST:
            yield f"- and {len(rows) - _MOST} more"


def _counts(found: Changelog) -> str:
    counts = {name: len(getattr(found, name)) for name in ("learned", "changed", "forgotten")}
    said = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
    return said or "nothing changed"


def _nothing(found: Changelog) -> str:
    ends = f"{_end(found.start.commit)} and {_end(found.end.commit)}"
    return f"nothing changed between {ends}"


def _end(commit: str | None) -> str:
    return "the working tree" if commit is None else repository.short(commit)


def _markdown_end(found: Changelog) -> str:
    end = _end(found.end.commit)
    return f"`{end}`" if found.end.commit else end


def _provenance_lines(found: Provenance) -> Iterator[Line]:
    for touch in found.commits:
        here = found.origin is not None and touch.commit == found.origin.commit
        yield [
            (repository.short(touch.commit), "cyan"),
            (f"  {iso(touch.at)}", "dim"),
            (f"  {touch.what:<8} ", _DONE[touch.what]),
            (touch.author, "cyan"),
            (f"  {' '.join(touch.subject.split())}", ""),
            ("  (the present content)" if here else "", "green"),
        ]
        yield from ([(f"    {said}", "")] for said in differences_of(touch, str))
