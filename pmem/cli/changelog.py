"""What the memory did between two git revisions, and which commits changed a record."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial
from typing import Final

from msgspec.structs import replace

from pmem.cli.screens.stories import change_line, field_label
from pmem.cli.screens.view import Row, drawn_rows, view_of
from pmem.cli.session import Answer, CommandSession, Line
from pmem.core.changelog import About, Changed, ChangeReason, LinkChange
from pmem.core.visible import escape_markdown, subject_before
from pmem.errors import UsageError
from pmem.memory.journal import HistoryRequest
from pmem.operations import table
from pmem.storage.git import repository
from pmem.values.fields import RangeRequest
from pmem.values.ids import short
from pmem.values.times import iso
from pmem.vcs.changelog import Changelog
from pmem.vcs.provenance import Provenance, Touch, What

_MOST: Final = 200
"""Entries under one heading of a Markdown page; GitHub takes no page beyond 1 MiB."""
_VALUE: Final = 60
_BODY: Final = 120
_BODIES: Final = ("content", "summary")
_REPLACED: Final = (ChangeReason.SUPERSEDED, ChangeReason.MERGED)
_DONE: Final = {
    What.ADDED: "green",
    What.CHANGED: "",
    What.REMOVED: "red",
    What.DAMAGED: "red",
}
_HEADINGS: Final = {
    "Learned": "green",
    "Changed": "",
    "Replaced": "magenta",
    "Forgotten": "red",
}

_GAP: Final = ("; ", "")


def changelog_answer(session: CommandSession, revisions: str, format_: str) -> Answer:
    """Show what was learned, changed and forgotten in a range."""
    found = session.run(table.CHANGELOG, RangeRequest(revisions=revisions)).changelog
    if format_ == "markdown" and not session.json:
        return Answer(data=found, raw="".join(f"{line}\n" for line in _page(found)))
    ends = f"{_end(found.start.commit)} and {_end(found.end.commit)}"
    return Answer(
        data=found,
        screen=partial(_section_screen, session, found),
        note="" if found.total else f"nothing changed between {ends}",
    )


def provenance_answer(session: CommandSession, request: HistoryRequest) -> Answer:
    """Return the commits that touched a record, the newest first."""
    if isinstance(request.at, datetime):
        raise UsageError("--git goes with a revision, not with a time")
    found = session.run(table.PROVENANCE, request)
    found = replace(found, events=found.events[::-1], commits=found.commits[::-1])
    note = "" if found.commits else f"no commit has {found.kind} {found.id} yet"
    return Answer(data=found, lines=_provenance_lines(found), note=note)


def _sections(found: Changelog) -> Iterator[tuple[str, list[tuple[About, Line]]]]:
    """Yield every heading that has entries; what replaces another one is shown once, there."""
    texts = {entry.id: entry for entry in (*found.changed, *found.learned)}
    replaced = [entry for entry in found.forgotten if entry.how in _REPLACED]
    told = {entry.by for entry in replaced}
    rows: dict[str, list[tuple[About, Line]]] = {name: [] for name in _HEADINGS}
    for new in found.learned:
        if new.id not in told:
            restored = " (restored)" * (new.how is ChangeReason.RESTORED)
            ties = "".join(f"; {tie}" for tie in _ties(new.linked))
            rows["Learned"].append((new, [*_titled(new), (f"{restored}{ties}", "")]))
    for changed in found.changed:
        title = [] if any(name in changed.fields for name in _BODIES) else [_titled(changed)]
        spans = (span for part in (*title, *_changes_of(changed)) for span in (_GAP, *part))
        rows["Changed"].append((changed, list(spans)[1:]))
    for gone in replaced:
        successor = texts.get(gone.by or "")
        into = short(gone.by) if gone.by else "nothing"
        now = f"{successor.text} ({into})" if successor else into
        word = " (merged)" * (gone.how is ChangeReason.MERGED)
        rows["Replaced"].append((gone, [*_titled(gone), (f" → {now}{word}", "")]))
    for gone in found.forgotten:
        if gone.how not in _REPLACED:
            rows["Forgotten"].append((gone, [*_titled(gone), (f" ({gone.how})", "")]))
    yield from ((heading, entries) for heading, entries in rows.items() if entries)


def _changes_of(entry: Changed | Touch) -> Iterator[Line]:
    """Yield what has changed in a record, texts word by word; then its links."""
    for name, change in entry.fields.items():
        is_body = name in _BODIES
        told = change_line(
            name, {name: change.before}, {name: change.after}, _BODY if is_body else _VALUE
        )
        yield told if is_body else [field_label(name), *told]
    for tie in (*_ties(entry.linked), *_ties(entry.unlinked, "no longer ")):
        yield [(tie, "dim")]


def _ties(links: Iterable[LinkChange], word: str = "") -> Iterator[str]:
    return (f"{word}{link.type.replace('_', ' ')} {short(link.target)}" for link in links)


def _titled(entry: About) -> Line:
    return [(subject_before(entry.subject, entry.text), "bold"), (entry.text, "")]


def _type_of(entry: About) -> str:
    """Return the type of what an entry is about: of a memory as `--type` takes it."""
    return entry.type if entry.kind == "memory" else entry.type.replace("_", " ")


def _section_screen(session: CommandSession, found: Changelog, width: int) -> Iterator[Line]:
    """Draw every heading that has entries, and its entries."""
    for heading, rows in _sections(found):
        yield [(heading, f"bold {_HEADINGS[heading]}".strip()), (f"  {len(rows)}", "dim")]
        drawn = (
            Row([("  " + entry.short, "cyan"), (_type_of(entry), "dim")], said)
            for entry, said in rows
        )
        yield from drawn_rows(drawn, view_of(session, width), most=0)


def _page(found: Changelog) -> Iterator[str]:
    """Yield the lines of a Markdown page."""
    parts = list(_sections(found))
    said = ", ".join(f"{len(rows)} {heading.lower()}" for heading, rows in parts)
    end = _end(found.end.commit)
    yield f"## Memory: {said or 'nothing changed'}"
    yield ""
    yield f"`{_end(found.start.commit)}` to {f'`{end}`' if found.end.commit else end}"
    for heading, rows in parts:
        yield ""
        yield f"### {heading} ({len(rows)})"
        yield ""
        for entry, line in rows[:_MOST]:
            text = escape_markdown("".join(part for part, _ in line))
            yield f"- **{escape_markdown(_type_of(entry))}** {text} `{entry.short}`"
        if len(rows) > _MOST:
            yield f"- and {len(rows) - _MOST} more"


def _end(commit: str | None) -> str:
    return "the working tree" if commit is None else repository.short(commit)


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
        yield from ([("    ", ""), *change] for change in _changes_of(touch))
