"""The command that says what a change has to do with what is remembered."""

from collections.abc import Iterator
from itertools import groupby
from typing import Final, Literal

from pmem.cli.asking import asks, own
from pmem.cli.session import Answer, CommandSession, Line, counted
from pmem.core import findings
from pmem.core.findings import Finding
from pmem.core.review import ChangedPlace, ReviewFinding, ReviewKind
from pmem.core.visible import escape_markdown, one_visible_line, subject_before
from pmem.errors import UsageError
from pmem.operations import table
from pmem.storage.git import repository
from pmem.values.ids import short
from pmem.values.records import STORES, Memory
from pmem.vcs.changelog import End
from pmem.vcs.review import NOW, Reviewed, ReviewRequest

Format = Literal["text", "markdown", "github", "gitlab"]
MARK: Final = "<!-- pmem review -->"
"""The first line of a Markdown page, by which a CI job finds the comment that it wrote before."""
_MOST: Final = 50
"""Findings of one kind on a Markdown page, and places of one finding."""
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
    """Say what the other memory says, or why a dead end is settled."""
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
