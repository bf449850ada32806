"""`pmem review`: which memories a change has to do with."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby
from typing import Final, Literal

from msgspec.structs import replace

from pmem.cli.asking import asks, own
from pmem.cli.screens.drawing import Row, drawn_rows, view_of
from pmem.cli.screens.stories import change_line, field_label
from pmem.cli.session import Answer, CommandSession, Line, counted
from pmem.core import findings
from pmem.core.changelog import About, Changed, ChangeReason, LinkChange
from pmem.core.findings import Finding
from pmem.core.review import ChangedPlace, ReviewFinding, ReviewKind
from pmem.core.visible import escape_markdown, one_visible_line, subject_before
from pmem.errors import UsageError
from pmem.memory.journal import HistoryRequest
from pmem.operations import table
from pmem.storage.git import repository
from pmem.values.fields import RangeRequest
from pmem.values.ids import short
from pmem.values.records import STORES, Memory
from pmem.values.times import iso
from pmem.vcs.changelog import Changelog, End
from pmem.vcs.provenance import Provenance, Touch, What
from pmem.vcs.review import NOW, Reviewed, ReviewRequest

Format = Literal["text", "markdown", "github", "gitlab"]
MARK: Final = "<!-- pmem review -->"
"""The first line of a Markdown page, by which a CI job finds the comment that it wrote before."""
_MOST: Final = 50  # findings of one kind on a Markdown page, and places of one finding
_HEADINGS: Final = {
    ReviewKind.STOPS: "These were marked to stop edits of what this change edits",
    ReviewKind.STANDING: "Dead ends that rest on what this change edits",
    ReviewKind.CITED: "This change edits what these rest on",
    ReviewKind.CLASH: "These say something else than another memory on the same subject",
    ReviewKind.APPLIES: "These apply to what this change edits",
    ReviewKind.UNSOURCED: "These were added without a source",
    ReviewKind.SETTLED: "Dead ends that this change settles",
}


@asks(ReviewRequest)
def review(
    session: CommandSession,
    request: ReviewRequest,
    strict: bool = own("Exit with 1 if anything waits for an answer."),
    format_: Format = own(
        "For people, a pull request, or the CI of GitHub or GitLab.", "text", flag="--format"
    ),
) -> Answer:
    """Show which memories a change to the project touches.

    It names memories whose cited text you edit, rules and dead ends for the files, dead ends that
    you settle, memories without a source, and those that clash. It ignores reformatting, moves and
    changes elsewhere in a file. It only fails with --strict.
    """
    if session.json and format_ != "text":
        raise UsageError("--json and --format exclude each other", "give one of them")
    if request.staged and request.revisions != NOW:
        raise UsageError("--staged and revisions exclude each other", "give one of them")
    found = session.run(table.REVIEW, request)
    code = int(strict and found.waiting > 0)
    if format_ == "text" or session.json:
        return Answer(data=found, lines=_lines(found), note=_summary(found), exit_code=code)
    session.is_telling = True
    if format_ == "markdown":
        raw = "".join(f"{line}\n" for line in _page(found))
    else:
        tell = findings.github if format_ == "github" else findings.gitlab
        raw = tell([_as_finding(each, found.folder) for each in found.items], None)
    return Answer(data=found, raw=raw, exit_code=code)


def _lines(found: Reviewed) -> Iterator[Line]:
    for each in found.items:
        yield [
            (f"{each.kind:<10}", "red" if each.waits else "cyan"),
            (each.short, "cyan"),
            (f"  {each.type.replace('_', ' '):<10} ", "dim"),
            (_headline(each), "bold"),
        ]
        said = "; ".join(one_visible_line(_where(place)) for place in each.places)
        for line in filter(None, (said, _more(each), each.advice.replace("`", ""))):
            yield [(f"          {line}", "dim" if line == said else "")]


def _summary(found: Reviewed) -> str:
    if found.is_of_index and not found.files and not found.items:
        return "nothing is staged for the next commit: `git add` stages a change"
    if not found.files and not found.items:
        return "no file has changed; `pmem review A..B` looks at what changed between two commits"
    return f"{counted(found.files, 'file')} changed: {_count_text(found)}"


def _count_text(found: Reviewed) -> str:
    known = len(found.items) - found.waiting
    asked = f"{found.waiting} need{'s' * (found.waiting == 1)} an answer" * bool(found.waiting)
    told = f"{known} to keep in mind" * bool(known)
    return ", ".join(filter(None, (asked, told))) or "nothing to answer"


def _headline(each: ReviewFinding) -> str:
    return subject_before(each.subject, each.text) + each.text


def _more(each: ReviewFinding) -> str:
    if each.other is not None:
        word = "beside" if each.kind is ReviewKind.CLASH else "fixed by"
        return f"{word} {short(each.other)}: {each.other_text}"
    return f"settled: {each.reason}" if each.reason else ""


def _where(place: ChangedPlace) -> str:
    line = "" if place.line is None else f":{place.line}"
    is_told = place.cited in (None, f"{place.file}{line}", place.file)
    told = "" if is_told else f" (cited as {place.cited})"
    return f"{place.file}{line}{told}{f': {place.change}' if place.change else ''}"


def _page(found: Reviewed) -> Iterator[str]:
    """Yield the lines of a Markdown page; nothing of a memory is more than text in it."""
    yield MARK
    yield f"## Memory: {_count_text(found)}"
    yield ""
    yield f"{_end(found.start)} to {_end(found.end)}, files changed: {found.files}"
    for kind, group in groupby(found.items, key=lambda each: each.kind):
        rows = list(group)
        yield ""
        yield f"### {_HEADINGS[kind]} ({len(rows)})"
        yield ""
        for each in rows[:_MOST]:
            type_ = escape_markdown(each.type.replace("_", " "))
            yield f"- **{type_}** {escape_markdown(_headline(each))}"
            places = ", ".join(escape_markdown(_where(place)) for place in each.places[:_MOST])
            left = len(each.places) - _MOST
            places += f" and {left} more" * (left > 0)
            for line in filter(None, (places, escape_markdown(_more(each)), each.advice)):
                yield f"  - {line}"
        if len(rows) > _MOST:
            yield f"- and {len(rows) - _MOST} more"


def _end(end: End) -> str:
    return end.name if end.commit is None else f"`{repository.short(end.commit)}`"


def _as_finding(each: ReviewFinding, folder: str) -> Finding:
    """Return what was found as a CI shows it: at the first place, else at the record's file."""
    record = f"{folder}{STORES[Memory]}/{each.id}.json"
    first = each.places[0] if each.places else ChangedPlace(file=record)
    others = [_where(place) for place in each.places[1:_MOST]]
    parts = (
        f"{each.meaning}: {_headline(each)} ({each.short}, {each.type.replace('_', ' ')})",
        _more(each),
        first.change,
        f"also at {', '.join(others)}" if others else "",
        each.advice.replace("`", ""),
    )
    severity: Literal["warning", "notice"] = "warning" if each.waits else "notice"
    message = ". ".join(filter(None, parts))
    return Finding(first.file, each.kind, message, first.line, severity)


_MOST_ENTRIES: Final = 200
"""Entries under one heading of a Markdown page; GitHub takes no page beyond 1 MiB."""
_VALUE: Final = 60
_BODY: Final = 120
_BODIES: Final = ("content", "summary")
_REPLACED: Final = (ChangeReason.SUPERSEDED, ChangeReason.MERGED)
_DONE: Final = {What.ADDED: "green", What.CHANGED: "", What.REMOVED: "red", What.DAMAGED: "red"}
_COLOURS: Final = {"Learned": "green", "Changed": "", "Replaced": "magenta", "Forgotten": "red"}

_GAP: Final = ("; ", "")


def changelog_answer(session: CommandSession, revisions: str, format_: str) -> Answer:
    """Show what was learned, changed and forgotten in a range."""
    found = session.run(table.CHANGELOG, RangeRequest(revisions=revisions)).changelog
    if format_ == "markdown" and not session.json:
        return Answer(data=found, raw="".join(f"{line}\n" for line in _changelog_page(found)))
    ends = f"{_commit_end(found.start.commit)} and {_commit_end(found.end.commit)}"

    def screen(width: int) -> Iterator[Line]:
        for heading, rows in _sections(found):
            yield [(heading, f"bold {_COLOURS[heading]}".strip()), (f"  {len(rows)}", "dim")]
            drawn = (
                Row([("  " + entry.short, "cyan"), (_type_of(entry), "dim")], said)
                for entry, said in rows
            )
            yield from drawn_rows(drawn, view_of(session, width), most=0)

    note = "" if found.total else f"nothing changed between {ends}"
    return Answer(data=found, screen=screen, note=note)


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
    rows: dict[str, list[tuple[About, Line]]] = {name: [] for name in _COLOURS}
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
    return entry.type if entry.kind == "memory" else entry.type.replace("_", " ")


def _changelog_page(found: Changelog) -> Iterator[str]:
    parts = list(_sections(found))
    said = ", ".join(f"{len(rows)} {heading.lower()}" for heading, rows in parts)
    end = _commit_end(found.end.commit)
    yield f"## Memory: {said or 'nothing changed'}"
    yield ""
    yield f"`{_commit_end(found.start.commit)}` to {f'`{end}`' if found.end.commit else end}"
    for heading, rows in parts:
        yield ""
        yield f"### {heading} ({len(rows)})"
        yield ""
        for entry, line in rows[:_MOST_ENTRIES]:
            text = escape_markdown("".join(part for part, _ in line))
            yield f"- **{escape_markdown(_type_of(entry))}** {text} `{entry.short}`"
        if len(rows) > _MOST_ENTRIES:
            yield f"- and {len(rows) - _MOST_ENTRIES} more"


def _commit_end(commit: str | None) -> str:
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
