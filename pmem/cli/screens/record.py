"""How one record looks on a terminal: what it says first, who wrote it, what belongs to it."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from pmem.cli.event_words import who_did
from pmem.cli.memory import fields_of, title_of
from pmem.cli.screens.lists import folded, legend, marks_of
from pmem.cli.screens.view import Row, ScreenView, drawn_rows
from pmem.cli.screens.wrapping import hung, wrapped
from pmem.cli.session import Line
from pmem.memory.reading import LinkedText, ShownRecord
from pmem.values.ids import short
from pmem.values.records import Episode, Event, EventKind, Memory

_INDENT: Final = "  "
_MINOR: Final = frozenset(
    "importance category tokens events valid_from significance valence source".split()
)
"""What is told on one line below all else."""
_TOLD: Final = frozenset(
    "type subject summary title tags pinned created_at updated_at relationships linked_memories"
    " access".split()
)
"""What the screen tells in its own words."""
_USUAL: Final = (("state", "active"),)
_CHANGES: Final = frozenset(EventKind) - {EventKind.ADD, EventKind.LINK, EventKind.UNLINK}


def record_screen(found: ShownRecord, view: ScreenView) -> Iterator[Line]:
    """Draw a record."""
    record: Any = found.record
    marks = marks_of(record, view.now, stale=bool(found.stale), disputed=bool(found.disputed))
    kind = folded(str(getattr(record, "type", "")).replace("_", " "))
    head = [(f"{record.id}  ", "bold cyan"), (marks[0] and f"{marks[0]} ", marks[1])]
    head.append(("  ".join(filter(None, (title_of(record), kind))), "dim"))
    yield from hung(head, view.width)
    yield from _text(record, view)
    yield [("", "")]
    fields = dict(_fields(record, view))
    minor = [f"{_plain(name)} {fields.pop(name)}" for name in [*fields] if name in _MINOR]
    others = (_row(name, told) for name, told in fields.items())
    rows = [*_people(record, view), *_belongings(found, view), *others]
    yield from drawn_rows(rows, view, most=0)
    if minor:
        yield from wrapped([("  ·  ".join(minor), "dim")], view.width)
    yield from legend([marks], view)


def _fields(record: Any, view: ScreenView) -> Iterator[tuple[str, str]]:
    """Yield what else a record holds."""
    for name, value in fields_of(record):
        if name not in _TOLD and (name, value) not in _USUAL:
            at = getattr(record, name, None)
            yield name, view.when(at) if isinstance(at, datetime) else value


def _text(record: Any, view: ScreenView) -> Iterator[Line]:
    """Yield what a record says, with its subject above."""
    text = getattr(record, "content", None) or getattr(record, "summary", None)
    if not text:
        return
    yield [("", "")]
    subject = getattr(record, "subject", None)
    if subject:
        yield from wrapped([(_INDENT, ""), (folded(subject), "bold")], view.width, hang=2)
    for line in text.split("\n"):
        own = len(line) - len(line.lstrip(" "))
        hang = min(own + 2, view.width // 2)
        yield from wrapped([(_INDENT + line, "")], view.width, hang=hang)


def _people(record: Any, view: ScreenView) -> Iterator[Row]:
    """Yield who wrote a record, and who changed it last."""
    history: tuple[Event, ...] = getattr(record, "history", ())
    written = next((event for event in history if event.event is EventKind.ADD), None)
    if written is not None:
        yield _row("written", f"{view.when(written.at)} by {_who(written)}")
    elif hasattr(record, "created_at"):
        yield _row("written", view.when(record.created_at))
    changes = [event for event in history if event.event in _CHANGES]
    if changes:
        last, many = changes[-1], f"{len(changes)} times, last " * (len(changes) > 1)
        yield _row("changed", f"{many}{view.when(last.at)} by {_who(last)}")


def _who(event: Event) -> str:
    return folded(who_did(event.actor, event.agent, event.source))


def _belongings(found: ShownRecord, view: ScreenView) -> Iterator[Row]:
    """Yield what a record is filed under, links to, was used for, and what speaks against it."""
    record = found.record
    tags = getattr(record, "tags", ())
    if tags:
        yield _row("tags", "  ".join(f"#{folded(tag)}" for tag in tags))
    for link in found.links:
        yield _link_row(link)
    if isinstance(record, Memory | Episode):
        yield _row("recalled", _recalls(found, view))
    if found.use is not None:
        yield _row("used", f"in {found.use.used} of {found.use.shown} sessions that were shown it")
    if found.stale:
        yield _row("stale", ", ".join(found.stale), "red")
    for field, value in found.disputed.items():
        told = f"{_plain(field)}: {value} (the other side of a merge; `pmem resolve REF` decides)"
        yield _row("conflict", told, "red")


def _link_row(link: LinkedText) -> Row:
    text = "not here" if link.text is None else folded(link.text)
    return Row(
        [(_plain(link.type), "dim")],
        [(short(link.id), "cyan"), ("  ", ""), (text, "dim" if link.text is None else "")],
    )


def _recalls(found: ShownRecord, view: ScreenView) -> str:
    if not found.recalls:
        return "never"
    last = getattr(found.record, "access").last_at  # noqa: B009 - memories and episodes have it
    many = "once" if found.recalls == 1 else f"{found.recalls:,} times"
    return f"{many}, last saved {view.when(last)}" if last else many


def _row(name: str, value: str, style: str = "dim") -> Row:
    return Row([(_plain(name), style)], [(value, "")])


def _plain(name: str) -> str:
    return name.replace("_", " ")
