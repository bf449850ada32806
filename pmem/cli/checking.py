"""The command that sees whether all is right, part by part."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, product
from typing import Final

from pmem.cli.asking import asks
from pmem.cli.check_parts import PARTS, CheckOptions, CheckPart, Report
from pmem.cli.session import Answer, CommandSession, Line
from pmem.core import findings
from pmem.errors import PmemError, UsageError
from pmem.operations import table
from pmem.operations.outcome import plain_form

_TELLING: Final = {CheckPart.RECORDS, CheckPart.SETUP, CheckPart.MERGES}
"""The parts that report themselves what cannot be read."""
_GOES_WITH: Final[Mapping[str, tuple[CheckPart, ...]]] = {
    "--accept": (CheckPart.CITATIONS,),
    "--fix": (CheckPart.CITATIONS, CheckPart.SETUP),
    "--format": (CheckPart.RECORDS, CheckPart.CITATIONS, CheckPart.SECRETS, CheckPart.MERGES),
    "--full": (CheckPart.RECORDS,),
    "--history": (CheckPart.SECRETS,),
    "--range": (CheckPart.MERGES,),
    "--staged": (CheckPart.RECORDS, CheckPart.SECRETS),
    "--within": (CheckPart.DUE,),
}
"""The parts that an option is for."""
_BARE: Final = CheckOptions()
_OPTIONS: Final = ("accept", "fix", "format", "full", "history", "range", "staged", "within")
_EXCLUDING: Final = (
    ("--json", "--format"),
    ("--staged", "--history"),
    ("--staged", "--full"),
    ("--accept", "--fix"),
)
_MOST: Final = 10
"""Problems of one part that are printed when no part is named."""


@asks(CheckOptions)
def check(session: CommandSession, options: CheckOptions) -> Answer:
    """Check that all is right; exits with 1 if something is wrong.

    A PART is records, citations (does the code that memories cite still say the same?), due (what
    needs another look?), secrets (did any get in? They are never shown), setup (does pmem work
    here?) or merges (what did the merges of --range lose?).

    Without a PART it checks all but merges: a line for each, then the problems. An option without
    a PART checks the parts that it is for; `pmem check --staged` is for a commit hook.

    Warnings only fail with --strict: memories that give orders to the model that reads them, what
    merges left in doubt, what is due, and unless you name citations, code that only moved.
    """
    given = [f"--{name}" for name in _OPTIONS if getattr(options, name) != getattr(_BARE, name)]
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
    if len(reports) == 1:
        alone = reports[chosen[0]]
        return Answer(data=data, lines=alone.lines, note=alone.note, exit_code=code)
    is_bare = not (options.parts or given)
    lines = _overview(reports, most=_MOST if is_bare else sys.maxsize)
    steps = _next_steps(session, reports.values()) if is_bare else ()
    return Answer(data=data, lines=chain(lines, steps), exit_code=code)


def _chosen(named: Sequence[CheckPart], given: Sequence[str]) -> list[CheckPart]:
    """Return the parts to check, in their order.

    Raises:
        UsageError: An option does not go with a part, or with another option.
    """
    for flags in _EXCLUDING:
        if set(flags) <= set(given):
            raise UsageError(f"{' and '.join(flags)} exclude each other", "give one of them")
    limits = {flag: parts for flag, parts in _GOES_WITH.items() if flag in given}
    for (flag, takes), part in product(limits.items(), named):
        if part not in takes:
            hint = f"it goes with {', '.join(takes)}"
            raise UsageError(f"{flag} does not go with {part}", hint)
    merges = {CheckPart.MERGES}
    candidates = set(named) or (merges if "--range" in given else set(CheckPart) - merges)
    chosen = [part for part in CheckPart if part in candidates.intersection(*limits.values())]
    if not chosen:
        raise UsageError(f"{' and '.join(limits)} exclude each other", "give one of them")
    return chosen


def _reports(
    session: CommandSession, chosen: Sequence[CheckPart], options: CheckOptions
) -> dict[CheckPart, Report]:
    """Check some parts; what keeps only a later one from being checked is told in its place.

    Raises:
        PmemError: The first part cannot be checked.
    """
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


def _next_steps(session: CommandSession, reports: Iterable[Report]) -> Iterator[Line]:
    """Yield what to do now, if there is anything."""
    from pmem.upkeep.inbox import InboxRequest

    steps = ["`pmem check --fix` fixes what is safe to fix"] * any(
        each.is_fixable for each in reports
    )
    with suppress(PmemError):  # the parts tell of what cannot be read
        waiting = session.run(table.INBOX, InboxRequest(limit=0)).total
        if waiting:
            steps.append(f"{waiting} {'waits' if waiting == 1 else 'wait'} for you: `pmem inbox`")
    yield from ([(step, "")] for step in ("", *steps) if steps)
