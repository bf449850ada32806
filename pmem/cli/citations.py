"""The part of the check that sees whether what memories cite is still as it was."""

from itertools import chain
from typing import Final

from pmem.cli.check_report import CheckOptions, Report
from pmem.cli.session import CommandSession, Line
from pmem.core.citations import CitationState, Lines
from pmem.core.findings import Finding
from pmem.core.visible import one_visible_line
from pmem.memory.accepting import AcceptedCitation
from pmem.memory.changes import RecordsRequest
from pmem.memory.citations import BrokenCitation, Verified, VerifyRequest
from pmem.operations import table
from pmem.values.records import Citation

_COLOURS = {CitationState.MOVED: "yellow", CitationState.CHANGED: "red", CitationState.GONE: "red"}

_LOST: Final = (CitationState.CHANGED, CitationState.GONE)
_HAPPENED: Final = {
    CitationState.MOVED: "has moved",
    CitationState.CHANGED: "has changed",
    CitationState.GONE: "is gone",
}


def verify(session: CommandSession, options: CheckOptions) -> Report:
    """Check whether the code that memories cite still says the same."""
    done = session.run(table.VERIFY, VerifyRequest(update=options.fix))
    moved = done.counts[CitationState.MOVED] - done.updated
    warnings = 0 if options.parts else moved
    problems = [[_line(finding)] for finding in done.items]
    counts = {"ok": done.counts[CitationState.FRESH], "updated": done.updated, "moved": moved}
    counts |= {str(state): done.counts[state] for state in _LOST}
    summary = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    return Report(
        data=done,
        summary=summary or "none",
        problems=problems,
        lines=chain(*problems),
        note=_note(done, summary),
        errors=done.stale - warnings,
        warnings=warnings,
        found=[_finding(each, named=bool(options.parts)) for each in done.items],
        is_fixable=bool(moved),
    )


def accept(session: CommandSession, options: CheckOptions) -> Report:
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


def _line(finding: BrokenCitation) -> Line:
    place = _place(finding.file, finding, finding.lines)
    return [
        (finding.short, "cyan"),
        (f" {finding.state:<8}", _COLOURS[finding.state]),
        (one_visible_line(place), "bold"),
        (_whither(finding), ""),
        (f"  {finding.text}", "dim"),
    ]


def _finding(broken: BrokenCitation, *, named: bool) -> Finding:
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
    return f" -> {one_visible_line(_place(finding.now.file, finding, finding.now.lines))}"


def _place(file: str, finding: BrokenCitation, lines: Lines | None) -> str:
    """Say what is cited, or would be, in a file."""
    return Citation(file=file, lines=lines, symbol=finding.symbol, digest="").place


def _note(done: Verified, summary: str) -> str:
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
