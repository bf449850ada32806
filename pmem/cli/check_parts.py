"""The parts of the check: what each looks at, and how people read what it found."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final

from pmem.cli.check_report import CheckOptions, CheckPart, Report
from pmem.cli.session import CommandSession, Line
from pmem.core import findings
from pmem.core.findings import Finding
from pmem.errors import UsageError
from pmem.operations import table

if TYPE_CHECKING:
    from datetime import datetime

    from pmem.upkeep.doctor import Diagnosis
    from pmem.values.records import Memory


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


def _citations(session: CommandSession, options: CheckOptions) -> Report:
    from pmem.cli import citations

    if options.accept:
        return citations.accept(session, options)
    return citations.verify(session, options)


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
    from pmem.core.visible import one_visible_line
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


PARTS: Final[Mapping[CheckPart, Callable[[CommandSession, CheckOptions], Report]]] = {
    CheckPart.RECORDS: _records,
    CheckPart.CITATIONS: _citations,
    CheckPart.DUE: _due,
    CheckPart.SECRETS: _secrets,
    CheckPart.SETUP: _setup,
    CheckPart.MERGES: _merges,
}
"""What checks each part."""
