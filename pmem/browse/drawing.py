"""How memories look in a terminal: as a row of a list, and whole, with their history."""

from collections.abc import Iterator
from typing import Final

from textual.content import Content

from pmem.browse.desk import Reading, choices_of
from pmem.core.history_values import tell_value, word_changes
from pmem.core.inbox import InboxItem, InboxKind
from pmem.core.journal import JournalStep, one_line
from pmem.core.trust import Trust, trust_of
from pmem.core.visible import one_visible_line, subject_before, visible
from pmem.values.ids import short
from pmem.values.records import Memory, State
from pmem.values.times import day

Piece = Content | tuple[str, str]

_ROW: Final = 300
"""Characters of a memory in a list."""
_MARKS: Final = {
    "same": ("", "", ""),
    "removed": ("[-", "-]", "$text-error"),
    "added": ("{+", "+}", "$text-success"),
}
_KIND: Final = max(map(len, InboxKind)) + 2
_LABEL: Final = 11
_SOFT: Final = "$text-muted"
_PAST: Final = "$text-disabled"


def draw_row(memory: Memory) -> Content:
    """Return a memory as a row of a list."""
    subject = one_visible_line(subject_before(memory.subject, memory.content))
    is_past = memory.state is not State.ACTIVE
    return Content.assemble(
        (f"{memory.type.replace('_', ' '):<{_LABEL}}", "$text-accent" if not is_past else _PAST),
        (subject, "bold" if not is_past else _PAST),
        (one_visible_line(one_line(memory.content, _ROW)), "" if not is_past else _PAST),
        ("  pinned" if memory.pinned else "", _SOFT),
        (f"  {_state(memory)}" if is_past else "", _SOFT),
    )


def draw_item(item: InboxItem) -> Content:
    """Return what waits for somebody, with the keys that settle it."""
    keys = (f"{place} {one.does}" for place, one in enumerate(choices_of(item), start=1))
    return Content.assemble(
        (f"{item.kind:<{_KIND}}", "$text-warning"),
        one_visible_line(one_line(item.text, _ROW)),
        (f"\n{one_visible_line(item.why)}", _SOFT),
        (f"\n{'   '.join(keys)}", "$text-accent"),
    )


def draw_reading(reading: Reading) -> Content:
    """Return a memory whole: what it says, what is known of it, and what happened to it."""
    return Content("\n").join([*_head(reading), Content(""), *_story(reading)])


def _head(reading: Reading) -> Iterator[Content]:
    memory = reading.memory
    if memory.subject:
        yield Content.styled(one_visible_line(memory.subject), "bold $text-accent")
    yield Content(visible(memory.content))
    yield Content("")
    for name, value in _facts(reading):
        yield Content.assemble((f"{name:<{_LABEL}}", _SOFT), one_visible_line(value))
    for place in reading.stale:
        yield Content.styled(f"{'stale':<{_LABEL}}{one_visible_line(place)}", "$text-warning")
    for name, value in reading.disputed.items():
        other = one_visible_line(tell_value(name, value))
        said = f"{'disputed':<{_LABEL}}{name}: the other side says {other}"
        yield Content.styled(said, "$text-warning")


def _facts(reading: Reading) -> Iterator[tuple[str, str]]:
    memory = reading.memory
    yield "id", f"{short(memory.id)}  {memory.type.replace('_', ' ')}, {memory.category}"
    until = f" to {day(memory.valid_until)}" if memory.valid_until else ""
    yield "valid", f"{'from' if until else 'since'} {day(memory.valid_from)}{until}"
    if memory.state is not State.ACTIVE:
        yield "state", _state(memory)
    trust = trust_of(memory)
    if trust is not None and trust is not Trust.HIGH:
        yield "trust", trust
    if memory.tags:
        yield "tags", " ".join(f"#{tag}" for tag in memory.tags)
    if memory.pinned:
        yield "pinned", "it never fades"
    for cited in memory.citations:
        yield "cites", cited.place
    for tie in memory.relationships:
        yield tie.type.replace("_", " "), short(tie.target)


def _story(reading: Reading) -> Iterator[Content]:
    for step in reversed(reading.steps):
        event = step.event
        by = f"  {event.actor}" if event.actor else ""
        agent = f" ({event.agent})" if event.agent else ""
        line = f"{day(event.at)}  {event.event.lower()}{one_visible_line(by + agent)}"
        yield Content.styled(line, _SOFT)
        yield from (_draw_change(step, name) for name in step.after)


def _draw_change(step: JournalStep, name: str) -> Content:
    values = (step.earlier(name), step.after[name])
    before, after = (one_visible_line(tell_value(name, value)) for value in values)
    label: Piece = ("" if name == "content" else f"{name.replace('_', ' ')}: ", _SOFT)
    return Content.assemble("  ", label, *_differing(before, after))


def _differing(before: str, after: str) -> Iterator[Piece]:
    """Yield one text with what was taken out of it and what was put in marked."""
    for fate, text in word_changes(before, after):
        opens, closes, style = _MARKS[fate]
        yield (f"{opens}{text}{closes} ", style)


def _state(memory: Memory) -> str:
    is_removed = memory.state is State.SOFT_DELETED
    return "removed" if is_removed else memory.state.replace("_", " ")
