"""`pmem check`: records, citations, what is due, secrets, the setup and merges."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from enum import StrEnum
from itertools import chain, product
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec

from pmem.cli.asking import asks
from pmem.cli.session import Answer, CommandSession, Line, counted
from pmem.core import findings
from pmem.core.citations import CitationState, Lines
from pmem.core.findings import Finding
from pmem.core.outcomes import is_due
from pmem.core.trust import RecordOrigin
from pmem.core.visible import one_visible_line
from pmem.errors import PmemError, UsageError
from pmem.memory.accepting import AcceptedCitation
from pmem.memory.changes import RecordsRequest
from pmem.memory.citations import BrokenCitation, VerifyRequest
from pmem.operations import table
from pmem.operations.operation import plain_form
from pmem.values.fields import NoArguments, RangeRequest, asked
from pmem.values.ids import short
from pmem.values.records import Citation, Memory
from pmem.values.times import day

if TYPE_CHECKING:
    from pmem.upkeep.doctor import Diagnosis

Format = Literal["text", "github", "gitlab"]


class CheckPart(StrEnum):
    """What can be checked."""

    RECORDS = "records"
    ORIGIN = "origin"
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
        asked(
            "It is right as it is: its text, and what it cites.", shown="REF", completes="memory"
        ),
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
    signed: Annotated[bool, asked("Only signed commits may have brought it.")] = False
    strict: Annotated[bool, asked("Fail on warnings too.")] = False
    format: Annotated[Format, asked("For people, or for the CI of GitHub or GitLab.")] = "text"


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What one part found.

    `summary` is a few words for its line, `problems` the lines of each problem below it, `steps`
    what to do next. `found` is what a CI reads. `exit_code` is that of the error which kept the
    part from being checked.
    """

    data: object
    summary: str
    problems: Sequence[Sequence[Line]] = ()
    errors: int = 0
    warnings: int = 0
    found: Sequence[Finding] = ()
    steps: Sequence[str] = ()
    exit_code: int = 0


_FIX: Final = "`pmem check --fix` fixes what is safe to fix"
_SETTLE: Final = "`pmem inbox` settles what has changed"
_CITED_COLOURS: Final = {"moved": "yellow", "accepted": "green"}
_SEE_CHANGES: Final = (
    "`pmem check origin` shows what changed outside pmem; `--accept REF` takes it as yours"
)
_FEW: Final = 5
_LOST: Final = (CitationState.CHANGED, CitationState.GONE)


def _records(session: CommandSession, options: CheckOptions) -> Report:
    from pmem.upkeep.integrity import CheckRequest
    from pmem.vcs.ignoring import DISTRUSTED

    if options.staged:
        done = session.run(table.CHECK_STAGED, NoArguments())
    else:
        done = session.run(table.CHECK, CheckRequest(full=options.full))
    is_told = options == msgspec.structs.replace(_BARE, strict=options.strict)  # by the setup
    found = [it for it in done.findings if not (is_told and it.code == DISTRUSTED)]
    severities = Counter(finding.severity for finding in found)
    wrong = ", ".join(counted(count, severity) for severity, count in severities.items())
    return _findings_report(done, found, wrong or f"{done.records} ok")


def _origin(session: CommandSession, options: CheckOptions) -> Report:
    from pmem.upkeep.origins import NOTHING_REVIEWED, OriginRequest

    if options.accept:
        return _take(session, options)
    asked = OriginRequest(signed=options.signed, named=bool(options.parts))
    done = session.run(table.CHECK_ORIGINS, asked)
    found = done.findings
    if options.parts:
        found = tuple(
            msgspec.structs.replace(one, severity="error")
            if one.severity == "warning" and (options.signed or one.code != NOTHING_REVIEWED)
            else one
            for one in found
        )
    else:
        found = tuple(one for one in found if one.severity != "notice")
    told = {
        RecordOrigin.WRITTEN: "written by pmem" if done.writers else "not committed",
        RecordOrigin.BROUGHT: "not reviewed",
        RecordOrigin.OUTSIDE: "changed outside pmem",
        RecordOrigin.MISSING: "removed outside pmem",
    }
    counts = [f"{count} {told.get(origin, origin)}" for origin, count in done.origins.items()]
    counts += [f"{count} by {writer}" for writer, count in done.writers.items()]
    report = _findings_report(done, found, ", ".join(counts) or "none")
    changed = [
        one.path for one in found if one.code in (RecordOrigin.OUTSIDE, RecordOrigin.MISSING)
    ]
    if not changed:
        return report
    commit, since = ("commit it, or ", " since the last commit") if done.reviewed else ("", "")
    if options.parts or options.signed:
        return msgspec.structs.replace(
            report, steps=[f"what you changed yourself: {commit}`pmem check origin --accept REF`"]
        )
    names = [short(os.path.basename(path).removesuffix(".json")) for path in changed]
    few = ", ".join(names[:_FEW]) + ", ..." * (len(names) > _FEW)
    line = f"{counted(len(names), 'record')} changed outside pmem{since}: {few}"
    problems = [[[(line, "yellow")]]]
    return msgspec.structs.replace(report, problems=problems, steps=[_SEE_CHANGES])


def _take(session: CommandSession, options: CheckOptions) -> Report:
    done = session.run(table.TAKE, RecordsRequest(references=options.accept))
    return Report(
        data=done,
        summary=f"{len(done.items)} accepted" if done.items else "nothing to accept",
        problems=[
            [
                [
                    (it.short, "cyan"),
                    (" removed " if it.gone else " accepted ", "green"),
                    (it.text, ""),
                ]
            ]
            for it in done.items
        ],
    )


def _due(session: CommandSession, options: CheckOptions) -> Report:
    from pmem.memory.outcomes import DueRequest

    found = session.run(table.DUE, DueRequest(until=session.ahead(options.within)))
    told = [_due_lines(memory, found.moment) for memory in found.items]
    dated = told[: found.total - found.waiting]
    return Report(
        data=found,
        summary=f"{found.due} due" if found.due else "none",
        problems=told if options.parts else dated,
        warnings=found.due,
    )


def _due_lines(memory: Memory, now: datetime) -> list[Line]:
    from pmem.cli.memory import memory_line

    lines = [memory_line(memory)]
    if memory.review_at is not None:
        word = "due since" if is_due(memory, now) else "due"
        lines.append([(f"     {word} {day(memory.review_at).strip()}", "dim")])
    if memory.review_if:
        lines.append([(f"     due if {one_visible_line(memory.review_if)}", "dim")])
    return lines


def _secrets(session: CommandSession, options: CheckOptions) -> Report:
    from pmem.upkeep.secret_scan import ScanRequest

    request = ScanRequest(staged=options.staged, history=options.history)
    done = session.run(table.SCAN, request)
    files = counted(done.files, "version" if options.history else "file")
    unread = sum(finding.code == "unread" for finding in done.findings)
    wrong = f"{len(done.findings) - unread or 'none'} in {files}"
    wrong += f", {unread} of them not read" * bool(unread)
    return _findings_report(done, done.findings, wrong)


def _setup(session: CommandSession, options: CheckOptions) -> Report:
    from pmem.upkeep.doctor import DoctorRequest

    found = session.run(table.DOCTOR, DoctorRequest(fix=options.fix))
    has_other_parts = not (options.parts or options.fix)  # one of them checks the records
    items = [item for item in found.items if item.name != CheckPart.RECORDS or not has_other_parts]
    states = Counter(map(_state, items))
    shown = ((item, _state(item), "green" if item.ok else "red") for item in items)
    return Report(
        data=found,
        summary=", ".join(f"{count} {state}" for state, count in states.items()),
        problems=[
            [[(f"{state:<6}", colour), (f"{item.name:<10}", "bold"), (item.detail, "")]]
            for item, state, colour in shown
            if options.parts or state != "ok"
        ],
        errors=states["wrong"],
        steps=_fix(session, wanted=states["wrong"] > 0 and not options.fix),
    )


def _fix(session: CommandSession, *, wanted: bool) -> list[str]:
    """Return how to fix something, if that is wanted and the folder can be written."""
    can = not session.read_only and os.access(session.workspace.root, os.W_OK)
    return [_FIX] * (wanted and can)


def _state(item: "Diagnosis") -> str:
    return "fixed" if item.fixed else "ok" if item.ok else "wrong"


def _merges(session: CommandSession, options: CheckOptions) -> Report:
    if options.range is None:
        raise UsageError("merges needs a range", "`pmem check merges --range main..HEAD`")
    done = session.run(table.CHECK_MERGES, RangeRequest(revisions=options.range))
    wrong = f"{len(done.findings) or 'none'} in {counted(done.merges, 'merge')}"
    return _findings_report(done, done.findings, wrong)


def _findings_report(data: object, found: Sequence[Finding], summary: str) -> Report:
    errors = sum(finding.severity == "error" for finding in found)
    problems: list[list[Line]] = []
    for each in found:
        styles = ("bold", "red" if each.severity == "error" else "yellow", "")
        problems.append([list(zip(findings.text(each), styles, strict=True))])
    return Report(
        data=data,
        summary=summary,
        problems=problems,
        errors=errors,
        warnings=sum(finding.severity == "warning" for finding in found),
        found=found,
    )


def _citations(session: CommandSession, options: CheckOptions) -> Report:
    if options.accept:
        return _accept(session, options)
    done = session.run(table.VERIFY, VerifyRequest(update=options.fix))
    moved = done.counts[CitationState.MOVED] - done.updated
    warnings = 0 if options.parts else moved
    problems = [
        [_citation_line(it, it.state, _cited_place(it.file, it, it.lines), _whither(it))]
        for it in done.items
    ]
    if not done.complete:
        problems.append([[("the project is too large: a text may have moved further", "dim")]])
    counts = {"ok": done.counts[CitationState.FRESH], "updated": done.updated, "moved": moved}
    counts |= {str(state): done.counts[state] for state in _LOST}
    summary = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    is_lost = any(done.counts[state] for state in _LOST)
    return Report(
        data=done,
        summary=summary or "none",
        problems=problems,
        errors=done.stale - warnings,
        warnings=warnings,
        found=[_citation_finding(each, named=bool(options.parts)) for each in done.items],
        steps=_fix(session, wanted=moved > 0) + [_SETTLE] * (is_lost and bool(options.parts)),
    )


def _accept(session: CommandSession, options: CheckOptions) -> Report:
    done = session.run(table.ACCEPT, RecordsRequest(references=options.accept))
    return Report(
        data=done,
        summary=f"{len(done.items)} accepted" if done.items else "nothing to accept",
        problems=[
            [_citation_line(it, "accepted", it.was, "" if it.was == it.now else f" -> {it.now}")]
            for it in done.items
        ],
    )


def _citation_line(
    cited: BrokenCitation | AcceptedCitation, word: str, place: str, whither: str
) -> Line:
    return [
        (cited.short, "cyan"),
        (f" {word:<7} ", _CITED_COLOURS.get(word, "red")),
        (one_visible_line(place), "bold"),
        (one_visible_line(whither), ""),
        (f"  {cited.text}", "dim"),
    ]


def _citation_finding(broken: BrokenCitation, *, named: bool) -> Finding:
    """Return a citation as a CI shows it: at the lines that are cited."""
    is_warning = broken.state is CitationState.MOVED and not named
    whither = one_visible_line(_whither(broken))
    return Finding(
        broken.file,
        "citation",
        f"what memory {broken.short} cites here is {broken.state}{whither}: {broken.text}",
        broken.lines[0] if broken.lines else None,
        "warning" if is_warning else "error",
    )


def _whither(finding: BrokenCitation) -> str:
    if finding.now is None:
        return f" ({finding.reason})" if finding.reason else ""
    return f" -> {_cited_place(finding.now.file, finding, finding.now.lines)}"


def _cited_place(file: str, finding: BrokenCitation, lines: Lines | None) -> str:
    return Citation(file=file, lines=lines, symbol=finding.symbol, digest="").place


PARTS: Final[Mapping[CheckPart, Callable[[CommandSession, CheckOptions], Report]]] = {
    CheckPart.RECORDS: _records,
    CheckPart.ORIGIN: _origin,
    CheckPart.CITATIONS: _citations,
    CheckPart.DUE: _due,
    CheckPart.SECRETS: _secrets,
    CheckPart.SETUP: _setup,
    CheckPart.MERGES: _merges,
}
"""What checks each part."""
_TELLING: Final = {CheckPart.RECORDS, CheckPart.SETUP, CheckPart.MERGES}
"""The parts that report themselves what cannot be read."""
_GOES_WITH: Final[Mapping[str, tuple[CheckPart, ...]]] = {
    "--accept": (CheckPart.ORIGIN, CheckPart.CITATIONS),
    "--fix": (CheckPart.CITATIONS, CheckPart.SETUP),
    "--format": (
        *(CheckPart.RECORDS, CheckPart.ORIGIN, CheckPart.CITATIONS, CheckPart.SECRETS),
        CheckPart.MERGES,
    ),
    "--full": (CheckPart.RECORDS,),
    "--history": (CheckPart.SECRETS,),
    "--range": (CheckPart.MERGES,),
    "--signed": (CheckPart.ORIGIN,),
    "--staged": (CheckPart.RECORDS, CheckPart.SECRETS),
    "--within": (CheckPart.DUE,),
}
"""The parts that an option is for."""
_BARE: Final = CheckOptions()
_EXCLUDING: Final = (
    ("--json", "--format"),
    ("--staged", "--history"),
    ("--staged", "--full"),
    ("--accept", "--fix"),
)
_MOST: Final = 10  # problems of one part that are printed when no part is named


@asks(CheckOptions)
def check(session: CommandSession, options: CheckOptions) -> Answer:
    """Check that all is right; exits with 1 if something is wrong.

    A PART is records, origin (what did others than pmem change?), citations (does the code that
    memories cite still say the same?), due (what needs another look?), secrets (did any get in?
    They are never shown), setup (does pmem work here?) or merges (what did those of --range lose?).

    Without a PART it checks all but merges: a line for each, then the problems. An option without
    a PART checks the parts that it is for; `pmem check --staged` is for a commit hook.

    Warnings only fail with --strict: memories that give orders to the model that reads them, what
    merges left in doubt, what is due, and unless you name citations, code that only moved.
    """
    given = [it for it in _GOES_WITH if getattr(options, it[2:]) != getattr(_BARE, it[2:])]
    chosen = _chosen(options.parts, [*given, *["--json"] * session.json])
    session.is_telling |= not _TELLING.isdisjoint(chosen)
    reports = _reports(session, chosen, options)
    data = {part: plain_form(report.data) for part, report in reports.items()}
    code = max(report.exit_code for report in reports.values())
    if any(report.errors or (options.strict and report.warnings) for report in reports.values()):
        code = 1
    if options.format != "text":
        from pmem.upkeep.integrity import place_of

        tell = findings.github if options.format == "github" else findings.gitlab
        found = [finding for report in reports.values() for finding in report.found]
        raw = tell(found, place_of(session.workspace))
        return Answer(data=data, raw=raw, exit_code=code)
    is_bare = not (options.parts or given)
    lines = _overview(reports, most=_MOST if is_bare else sys.maxsize)
    steps = dict.fromkeys(step for report in reports.values() for step in report.steps)
    if is_bare:
        from pmem.upkeep.inbox import InboxRequest

        with suppress(PmemError):  # the parts tell of what cannot be read
            if waiting := session.run(table.INBOX, InboxRequest(limit=0)).total:
                word = "waits" if waiting == 1 else "wait"
                steps[f"{waiting} {word} for you: `pmem inbox`"] = None
    after: list[Line] = [[(step, "")] for step in ("", *steps) if steps]
    return Answer(data=data, lines=chain(lines, after), exit_code=code)


def _chosen(named: Sequence[CheckPart], given: Sequence[str]) -> list[CheckPart]:
    """Return the parts to check, in their order; see that the options go with them."""
    for flags in _EXCLUDING:
        if set(flags) <= set(given):
            raise UsageError(f"{' and '.join(flags)} exclude each other", "give one of them")
    limits = {flag: parts for flag, parts in _GOES_WITH.items() if flag in given}
    for (flag, takes), part in product(limits.items(), named):
        if part not in takes:
            hint = f"it goes with {', '.join(takes)}"
            raise UsageError(f"{flag} does not go with {part}", hint)
    merges = {CheckPart.MERGES}
    asked_for = {*merges, CheckPart.ORIGIN} if "--accept" in given else merges
    candidates = set(named) or (merges if "--range" in given else set(CheckPart) - asked_for)
    chosen = [part for part in CheckPart if part in candidates.intersection(*limits.values())]
    if not chosen:
        raise UsageError(f"{' and '.join(limits)} exclude each other", "give one of them")
    return chosen


def _reports(
    session: CommandSession, chosen: Sequence[CheckPart], options: CheckOptions
) -> dict[CheckPart, Report]:
    """Check some parts; what keeps only a later one from being checked is told in its place."""
    reports: dict[CheckPart, Report] = {}
    for part in chosen:
        try:
            reports[part] = PARTS[part](session, options)
        except PmemError as error:
            if not reports:
                raise
            data = {"error": {"code": error.code, "message": error.message, "hint": error.hint}}
            summary = f"not checked: {error.message}"
            reports[part] = Report(data=data, summary=summary, exit_code=error.exit_code)
    return reports


def _overview(reports: Mapping[CheckPart, Report], most: int) -> Iterator[Line]:
    """Yield a line for each part, then the problems of each, so many at the most."""
    for part, report in reports.items():
        is_wrong = report.errors or report.exit_code
        colour = "red" if is_wrong else "yellow" if report.warnings else "green"
        yield [(f"{part:<11}", "bold"), (report.summary, colour)]
    for part, report in reports.items():
        shown = report.problems[:most]
        if shown:
            yield []
        yield from chain(*shown)
        if left := len(report.problems) - len(shown):
            yield [(f"and {left} more: `pmem check {part}`", "dim")]
