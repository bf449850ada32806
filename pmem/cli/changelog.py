"""The commands that look at the memory through git: changelog, and history with commits."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Any, Final, NamedTuple, Protocol

import typer

from pmem.cli.journal import sides
from pmem.cli.session import Answer, CommandSession, Line
from pmem.core.changelog import (
    About,
    Changed,
    ChangeReason,
    FieldChange,
    Forgotten,
    Learned,
    LinkChange,
)
from pmem.core.markdown import escaped
from pmem.errors import UsageError
from pmem.memory.journal import HistoryRequest
from pmem.operations import table
from pmem.storage.git import repository
from pmem.values.ids import short
from pmem.values.requests import RangeRequest
from pmem.values.times import iso
from pmem.vcs.changelog import Changelog
from pmem.vcs.provenance import Provenance, Touch, What

_MOST: Final = 200
"""Entries under one heading of a Markdown page; GitHub takes no page beyond 1 MiB."""
_VALUE: Final = 60
_BODY: Final = 120
_BODIES: Final = ("content", "summary")
_REPLACED: Final = (ChangeReason.SUPERSEDED, ChangeReason.MERGED)
_COLOURS: Final = {
    "Learned": "green",
    "Changed": "yellow",
    "Replaced": "magenta",
    "Forgotten": "red",
}
_DONE: Final = {
    What.ADDED: "green",
    What.CHANGED: "yellow",
    What.REMOVED: "red",
    What.DAMAGED: "red",
}

Say = Callable[[str], str]
"""Turns a text from the memory into one that its surroundings can hold."""


class Differing(Protocol):
    """What was learned, changed and forgotten, between whatever two states."""

    @property
    def learned(self) -> tuple[Learned, ...]:
        """What is recalled in the later one alone."""
        ...

    @property
    def changed(self) -> tuple[Changed, ...]:
        """What says something else in the later one."""
        ...

    @property
    def forgotten(self) -> tuple[Forgotten, ...]:
        """What is recalled in the earlier one alone."""
        ...


class ChangelogRow(NamedTuple):
    """One entry: which record it is about, and what is said of it."""

    entry: About
    said: str


def changelog(
    ctx: typer.Context,
    revisions: Annotated[
        str, typer.Argument(metavar="[A..B]", help="Two git revisions; `A..` is up to now.")
    ] = "HEAD..",
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Write Markdown, for a pull request or a CI job.")
    ] = False,
) -> Answer:
    """Show what was learned, changed and forgotten in a range."""
    session: CommandSession = ctx.obj
    found = session.run(table.CHANGELOG, RangeRequest(revisions=revisions)).changelog
    if markdown and not session.json:
        return Answer(data=found, raw="".join(f"{line}\n" for line in _page(found)))
    return Answer(
        data=found, lines=section_lines(found), note="" if found.total else _nothing(found)
    )


def provenance_answer(session: CommandSession, request: HistoryRequest) -> Answer:
    """Return the answer of `history --git`.

    Args:
        session: This run of the command line.
        request: Which record, at which revision.

    Raises:
        UsageError: It is asked for at a moment.
        NotFound, Ambiguous: The reference.
        InvalidValue: There is no repository.
    """
    if isinstance(request.at, datetime):
        raise UsageError("--git goes with a revision, not with a time")
    found = session.run(table.PROVENANCE, request)
    note = "" if found.commits else f"no commit has {found.kind} {found.id} yet"
    return Answer(data=found, lines=_provenance_lines(found), note=note)


def section_lines(
    found: Differing, by: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> Iterator[Line]:
    """Yield every heading that has entries, and its entries.

    Args:
        found: What was learned, changed and forgotten.
        by: Who did it, by the id of the record.
    """
    for heading, rows in _sections(found, str):
        yield [(heading, f"bold {_COLOURS[heading]}"), (f"  {len(rows)}", "dim")]
        for entry, said in rows:
            yield [
                (f"  {entry.short}", "cyan"),
                (f"  {_type(entry):<10} ", "dim"),
                (said, ""),
                (f" ({', '.join(by[entry.id])})" if by.get(entry.id) else "", "dim"),
            ]


def _page(found: Changelog) -> Iterator[str]:
    """Yield the lines of a Markdown page."""
    yield f"## Memory: {_counts(found)}"
    yield ""
    yield f"`{_end(found.start.commit)}` to {_markdown_end(found)}"
    for heading, rows in _sections(found, escaped):
        yield ""
        yield f"### {heading} ({len(rows)})"
        yield ""
        for entry, said in rows[:_MOST]:
            yield f"- **{escaped(_type(entry))}** {said} `{entry.short}`"
        if len(rows) > _MOST:
            yield f"- and {len(rows) - _MOST} more"


def _sections(found: Differing, say: Say) -> Iterator[tuple[str, list[ChangelogRow]]]:
    """Yield every heading that has entries; what stands for another one is told once, there."""
    texts = {entry.id: entry for entry in (*found.changed, *found.learned)}
    replaced = [entry for entry in found.forgotten if entry.how in _REPLACED]
    told = {entry.by for entry in replaced}
    sections = {
        "Learned": [_learned_row(entry, say) for entry in found.learned if entry.id not in told],
        "Changed": [_changed_row(entry, say) for entry in found.changed],
        "Replaced": [_replaced_row(entry, texts, say) for entry in replaced],
        "Forgotten": [_gone(entry, say) for entry in found.forgotten if entry.how not in _REPLACED],
    }
    yield from ((heading, rows) for heading, rows in sections.items() if rows)


def _learned_row(entry: Learned, say: Say) -> ChangelogRow:
    restored = " (restored)" if entry.how is ChangeReason.RESTORED else ""
    return ChangelogRow(
        entry, f"{_titled(entry, say)}{restored}{_after(_ties(entry.linked, '', say))}"
    )


def _changed_row(entry: Changed, say: Say) -> ChangelogRow:
    parts = list(_differences(entry, say))
    rewritten = any(name in entry.fields for name in _BODIES)
    return ChangelogRow(entry, "; ".join(parts if rewritten else [_titled(entry, say), *parts]))


def _differences(entry: Changed | Touch, say: Say) -> Iterator[str]:
    yield from _fields(entry.fields, say)
    yield from _ties(entry.linked, "", say)
    yield from _ties(entry.unlinked, "no longer ", say)


def _replaced_row(entry: Forgotten, texts: dict[str, Any], say: Say) -> ChangelogRow:
    into = "" if entry.by is None else say(short(entry.by))
    new = texts.get(entry.by or "")
    now = f"{say(new.text)} ({into})" if new else into or "nothing"
    word = " (merged)" if entry.how is ChangeReason.MERGED else ""
    return ChangelogRow(entry, f"{_titled(entry, say)} → {now}{word}")


def _gone(entry: Forgotten, say: Say) -> ChangelogRow:
    return ChangelogRow(entry, f"{_titled(entry, say)} ({entry.how})")


def _fields(fields: dict[str, FieldChange], say: Say) -> Iterator[str]:
    """Say field by field what was and what is; texts from where they begin to differ."""
    before = {name: change.before for name, change in fields.items()}
    after = {name: change.after for name, change in fields.items()}
    for name in fields:
        most = _BODY if name in _BODIES else _VALUE
        yield f"{say(name)}: " + " → ".join(map(say, sides(name, before, after, most)))


def _ties(links: Iterable[LinkChange], word: str, say: Say) -> Iterator[str]:
    for link in links:
        yield f"{word}{say(link.type.replace('_', ' '))} {say(short(link.target))}"


def _after(parts: Iterable[str]) -> str:
    return "".join(f"; {part}" for part in parts)


def _titled(entry: About, say: Say) -> str:
    return f"{say(entry.subject)}: {say(entry.text)}" if entry.subject else say(entry.text)


def _type(entry: About) -> str:
    return entry.type.replace("_", " ")


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
            (repository.short(touch.commit), "yellow"),
            (f"  {iso(touch.at)}", "dim"),
            (f"  {touch.what:<8} ", _DONE[touch.what]),
            (touch.author, "cyan"),
            (f"  {' '.join(touch.subject.split())}", ""),
            ("  (the present content)" if here else "", "green"),
        ]
        yield from ([(f"    {said}", "")] for said in _differences(touch, str))
