"""The parts of the check: what each is asked, looks at and reports."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec

from pmem.cli.session import CommandSession, Line
from pmem.core import findings
from pmem.core.citations import CitationState, Lines
from pmem.core.findings import Finding
from pmem.core.visible import one_visible_line
from pmem.errors import UsageError
from pmem.memory.accepting import AcceptedCitation
from pmem.memory.changes import RecordsRequest
from pmem.memory.citations import BrokenCitation, Verified, VerifyRequest
from pmem.operations import table
from pmem.values.fields import asked
from pmem.values.records import Citation

if TYPE_CHECKING:
    from datetime import datetime

    from pmem.upkeep.doctor import Diagnosis
    from pmem.values.records import Memory

Format = Literal["text", "github", "gitlab"]


class CheckPart(StrEnum):
    """What can be checked."""

    RECORDS = "records"
    CITATIONS = "citations"
    DUE = "due"
    SECRETS = "secrets"
    SETUP = "setup"
    MERGES = "merges"


class CheckOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the command is asked."""

    parts: Annotated[
        tuple[CheckPart, ...],
        asked("Check only this, and print all of it.", shown="PART...", is_argument=True),
    ] = ()
    fix: Annotated[bool, asked("Update citations of code that moved; fix the setup.")] = False
    accept: Annotated[
        tuple[str, ...],
        asked("It is still right: cite the text as it is.", shown="REF", completes="memory"),
    ] = ()
    within: Annotated[
        str | None, asked("Also what is due within this time, such as 2w.", shown="TIME")
    ] = None
    staged: Annotated[bool, asked("Only what is staged for the next commit.")] = False
    history: Annotated[bool, asked("Look for secrets in every version that git has.")] = False
    range: Annotated[
        str | None, asked("Redo the merges between two git revisions.", shown="A..B")
    ] = None
    full: Annotated[bool, asked("Check unchanged records too.")] = False
    strict: Annotated[bool, asked("Fail on warnings too.")] = False
    format: Annotated[Format, asked("For people, or for the CI of GitHub or GitLab.")] = "text"


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What one part found.

    `summary` is a few words for its line among other parts, `problems` the lines of each problem
    below them. `lines` and `note` are printed where the part is alone. `found` is what a CI reads.
    `exit_code` is that of the error which kept the part from being checked.
    """

    data: object
    summary: str
    problems: Sequence[Sequence[Line]] = ()
    lines: Iterable[Line] = ()
    note: str = ""
    errors: int = 0
    warnings: int = 0
    found: Sequence[Finding] = ()
    is_fixable: bool = False
    exit_code: int = 0


def _records(session: CommandSession, options: CheckOptions) -> Report:
    from pmem.upkeep.integrity import CheckRequest
    from pmem.values.requests import NoArguments

    if options.staged:
        done = session.run(table.CHECK_STAGED, NoArguments())
    else:
        done = session.run(table.CHECK, CheckRequest(full=options.full))
    severities = Counter(finding.severity for finding in done.findings)
    wrong = ", ".join(count_text(count, severity) for severity, count in severities.items())
    return _findings_report(
        done,
        done.findings,
        looked_at=count_text(done.records, "record"),
        summary=wrong or f"{done.records} ok",
    )


def _due(session: CommandSession, options: CheckOptions) -> Report:
    from pmem.memory.outcomes import DueRequest

    found = session.run(table.DUE, DueRequest(until=session.ahead(options.within)))
    told = [_due_lines(memory, found.moment) for memory in found.items]
    dated = told[: found.total - found.waiting]
    waiting = told[len(dated) :]
    heading: list[Line] = [[("not due; look again if this happens:", "bold")]]
    nothing = "nothing is due; `pmem edit REF --review 4w` asks for another look"
    return Report(
        data=found,
        summary=f"{found.due} due" if found.due else "none",
        problems=dated,
        lines=chain(*dated, heading * bool(waiting), *waiting),
        note="" if told else nothing,
        warnings=found.due,
    )


def _due_lines(memory: "Memory", now: "datetime") -> list[Line]:
    from pmem.cli.memory import memory_line
    from pmem.core.outcomes import is_due
    from pmem.values.times import day

    lines = [memory_line(memory)]
    if memory.review_at is not None:
        word = "due since" if is_due(memory, now) else "due"
        lines.append([(f"     {word} {day(memory.review_at).strip()}", "dim")])
    if memory.review_if:
        lines.append([(f"     if {one_visible_line(memory.review_if)}", "dim")])
    return lines


def _secrets(session: CommandSession, options: CheckOptions) -> Report:
    from pmem.upkeep.secret_scan import ScanRequest

    request = ScanRequest(staged=options.staged, history=options.history)
    done = session.run(table.SCAN, request)
    files = count_text(done.files, "version" if options.history else "file")
    summary = f"{len(done.findings) or 'none'} in {files}"
    return _findings_report(done, done.findings, looked_at=files, summary=summary)


def _setup(session: CommandSession, options: CheckOptions) -> Report:
    from pmem.upkeep.doctor import DoctorRequest

    found = session.run(table.DOCTOR, DoctorRequest(fix=options.fix))
    has_other_parts = not (options.parts or options.fix)  # one of them checks the records
    items = [item for item in found.items if item.name != CheckPart.RECORDS or not has_other_parts]
    states = Counter(map(_state, items))
    return Report(
        data=found,
        summary=", ".join(f"{count} {state}" for state, count in states.items()),
        problems=[[_diagnosis(item)] for item in items if _state(item) != "ok"],
        lines=map(_diagnosis, items),
        errors=states["wrong"],
        is_fixable=bool(states["wrong"]) and not options.fix,
    )


def _state(item: "Diagnosis") -> str:
    return "fixed" if item.fixed else "ok" if item.ok else "wrong"


def _diagnosis(item: "Diagnosis") -> Line:
    colour = "green" if item.ok else "red"
    return [(f"{_state(item):<6}", colour), (f"{item.name:<10}", "bold"), (item.detail, "")]


def _merges(session: CommandSession, options: CheckOptions) -> Report:
    from pmem.values.requests import RangeRequest

    if options.range is None:
        raise UsageError("merges needs a range", "`pmem check merges --range main..HEAD`")
    done = session.run(table.CHECK_MERGES, RangeRequest(revisions=options.range))
    merges = count_text(done.merges, "merge")
    return _findings_report(done, done.findings, looked_at=merges, summary=merges)


def _findings_report(
    data: object, found: Sequence[Finding], *, looked_at: str, summary: str
) -> Report:
    errors = sum(finding.severity == "error" for finding in found)
    problems = [[_finding_line(finding)] for finding in found]
    colour = "red" if errors else "yellow" if found else "green"
    count = (count_text(len(found), "finding"), colour)
    return Report(
        data=data,
        summary=summary,
        problems=problems,
        lines=[*chain(*problems), [(f"{looked_at}, ", ""), count]],
        errors=errors,
        warnings=len(found) - errors,
        found=found,
    )


def _finding_line(finding: Finding) -> Line:
    colour = "red" if finding.severity == "error" else "yellow"
    return list(zip(findings.text(finding), ("bold", colour, ""), strict=True))


def count_text(count: int, what: str) -> str:
    """Return a number of things in words."""
    return f"{count} {what}{'s' * (count != 1)}"


_COLOURS = {CitationState.MOVED: "yellow", CitationState.CHANGED: "red", CitationState.GONE: "red"}
_LOST: Final = (CitationState.CHANGED, CitationState.GONE)
_HAPPENED: Final = {
    CitationState.MOVED: "has moved",
    CitationState.CHANGED: "has changed",
    CitationState.GONE: "is gone",
}


def _citations(session: CommandSession, options: CheckOptions) -> Report:
    """Check whether the code that memories cite still says the same."""
    if options.accept:
        return _accept(session, options)
    done = session.run(table.VERIFY, VerifyRequest(update=options.fix))
    moved = done.counts[CitationState.MOVED] - done.updated
    warnings = 0 if options.parts else moved
    problems = [[_citation_line(finding)] for finding in done.items]
    counts = {"ok": done.counts[CitationState.FRESH], "updated": done.updated, "moved": moved}
    counts |= {str(state): done.counts[state] for state in _LOST}
    summary = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    return Report(
        data=done,
        summary=summary or "none",
        problems=problems,
        lines=chain(*problems),
        note=_citations_note(done, summary),
        errors=done.stale - warnings,
        warnings=warnings,
        found=[_citation_finding(each, named=bool(options.parts)) for each in done.items],
        is_fixable=bool(moved),
    )


def _accept(session: CommandSession, options: CheckOptions) -> Report:
    """Note that memories are still right: they cite the text as it is now."""
    done = session.run(table.ACCEPT, RecordsRequest(references=options.accept))
    return Report(
        data=done,
        summary=f"{len(done.items)} accepted",
        lines=map(_accepted_line, done.items),
        note="" if done.items else "what is cited stands as it was; nothing to accept",
    )


def _accepted_line(each: AcceptedCitation) -> Line:
    was, now = one_visible_line(each.was), one_visible_line(each.now)
    return [
        (each.short, "cyan"),
        (" accepted ", "green"),
        (now if was == now else f"{was} -> {now}", "bold"),
        (f"  {each.text}", "dim"),
    ]


def _citation_line(finding: BrokenCitation) -> Line:
    place = _cited_place(finding.file, finding, finding.lines)
    return [
        (finding.short, "cyan"),
        (f" {finding.state:<8}", _COLOURS[finding.state]),
        (one_visible_line(place), "bold"),
        (_whither(finding), ""),
        (f"  {finding.text}", "dim"),
    ]


def _citation_finding(broken: BrokenCitation, *, named: bool) -> Finding:
    """Return a citation as a CI shows it: at the lines that are cited."""
    is_warning = broken.state is CitationState.MOVED and not named
    happened = f"{_HAPPENED[broken.state]}{_whither(broken)}"
    return Finding(
        broken.file,
        "citation",
        f"what memory {broken.short} cites here {happened}: {broken.text}",
        broken.lines[0] if broken.lines else None,
        "warning" if is_warning else "error",
    )


def _whither(finding: BrokenCitation) -> str:
    if finding.now is None:
        return f" ({one_visible_line(finding.reason)})" if finding.reason else ""
    return f" -> {one_visible_line(_cited_place(finding.now.file, finding, finding.now.lines))}"


def _cited_place(file: str, finding: BrokenCitation, lines: Lines | None) -> str:
    """Say what is cited, or would be, in a file."""
    return Citation(file=file, lines=lines, symbol=finding.symbol, digest="").place


def _citations_note(done: Verified, summary: str) -> str:
    total = sum(done.counts.values())
    if not total:
        return "no memory cites a file; `pmem add --cite FILE:10-20` makes one that does"
    said = f"{total} citation{'s' * (total > 1)}: {summary}"
    if done.counts[CitationState.MOVED] > done.updated:
        said += "; `pmem check --fix` cites what has moved where it is now"
    if any(done.counts[state] for state in _LOST):
        said += "; `pmem inbox` settles what has changed"
    if not done.complete:
        said += "\nthe project is too large to be looked through: a text may have moved further"
    return said


PARTS: Final[Mapping[CheckPart, Callable[[CommandSession, CheckOptions], Report]]] = {
    CheckPart.RECORDS: _records,
    CheckPart.CITATIONS: _citations,
    CheckPart.DUE: _due,
    CheckPart.SECRETS: _secrets,
    CheckPart.SETUP: _setup,
    CheckPart.MERGES: _merges,
}
"""What checks each part."""
