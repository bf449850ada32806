"""How what happened looks: to one record, to all of them, and what an edit changed."""

import sys
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Final, NamedTuple

from pmem.cli.event_words import COLOURS, details_of, sides, who_did
from pmem.cli.screens.lists import memory_text
from pmem.cli.screens.view import Row, ScreenView, aligned, drawn_rows
from pmem.cli.screens.wrapping import hung, line_cells, pieces, wrapped
from pmem.cli.session import Line
from pmem.core.history_values import PROSE
from pmem.core.journal import JournalEntry, entry, steps
from pmem.core.visible import visible
from pmem.values.ids import short
from pmem.values.records import EventKind, Memory

_INDENT: Final = "    "
_HANG: Final = 6
_SHORT: Final = 80
"""Cells of a change that is told on one line."""
_WHOLE: Final = 4000
_VALUE: Final = 200
_LOGGED: Final = 60
"""Characters of each side of a change in the log, where it is not told word by word."""


def story_screen(entries: Sequence[JournalEntry], view: ScreenView) -> Iterator[Line]:
    """Draw a block for each event of one record: who did it, and below it what changed."""
    heads = aligned(
        [(view.when(event.at), "dim"), (event.event, COLOURS[event.event])] for event in entries
    )
    for head, event in zip(heads, entries, strict=True):
        who = who_did(event.actor, event.agent, event.source)
        yield from hung([*head, (who, "cyan")], view.width)
        if event.event is EventKind.ADD and event.text:
            yield from wrapped([(_INDENT, ""), (event.text, "")], view.width, hang=len(_INDENT))
        for name in event.before:
            yield from change_screen(name, event.before, event.after, view.width)
        for said in details_of(event.detail, _WHOLE):
            yield from wrapped([(_INDENT, ""), (said, "")], view.width, hang=_HANG)


def edit_screen(memory: Memory, view: ScreenView, *, is_changed: bool) -> Iterator[Line]:
    """Draw what an edit has changed."""
    last = entry(steps(memory)[-1])
    head: Line = [("edited " if is_changed else "unchanged ", "green"), (short(memory.id), "cyan")]
    told = memory_text(memory) if is_changed else [("it says so already", "dim")]
    if is_changed and "content" in last.before:
        yield head
    else:
        yield from wrapped([*head, ("  ", ""), *told], view.width, hang=_HANG, most=2)
    for name in last.before if is_changed else ():
        yield from change_screen(name, last.before, last.after, view.width)


def change_screen(
    name: str, before: dict[str, Any], after: dict[str, Any], width: int
) -> Iterator[Line]:
    """Draw a change: texts word by word where that can be read, else one side after the other."""
    label: Line = [(f"{_INDENT}{name.replace('_', ' ')}: ", "dim")]
    words = _changed_words(name, before, after)
    if words is not None:
        yield from wrapped([*label, *words], width, hang=_HANG)
        return
    was, *became = sides(name, before, after, _VALUE)
    new = [(" → ", "dim"), (became[0], ADDED)] if became else []
    told: Line = [*label, (was, REMOVED if became else ""), *new]
    if not became or name not in PROSE or line_cells(told) <= min(width, _SHORT):
        yield from wrapped(told, width, hang=_HANG)
        return
    yield label
    for sign, side, style in (("- ", was, REMOVED), ("+ ", became[0], ADDED)):
        line: Line = [(f"{_INDENT}  {sign}", style), (side, style)]
        yield from wrapped(line, width, hang=_HANG + 2)


def _changed_words(name: str, before: dict[str, Any], after: dict[str, Any]) -> Line | None:
    was, became = before.get(name), after.get(name)
    if name not in PROSE or not isinstance(was, str) or not isinstance(became, str):
        return None
    return word_difference(was, became)


def log_screen(entries: Sequence[JournalEntry], view: ScreenView) -> Iterator[Line]:
    """Draw the log, the newest first: when, what, which record, and what that was about."""
    names = [who_did(entry.actor, entry.agent, entry.source) for entry in entries]
    is_one = not view.is_pipe and len(entries) > 1 and len(set(names)) == 1
    rows = (
        Row(
            [
                (view.when(entry.at), "dim"),
                (entry.event, COLOURS[entry.event]),
                (short(entry.id), "cyan"),
            ],
            list(_about(entry)),
            [] if is_one else [(f"by {name}", "dim")],
        )
        for entry, name in zip(entries, names, strict=True)
    )
    yield from drawn_rows(rows, view)
    if is_one:
        yield from hung([(f"all by {names[0]}", "dim")], view.width)


def _about(entry: JournalEntry) -> Iterator[tuple[str, str]]:
    """Say what an event was about; a change of the text shows the text."""
    is_update = entry.event is EventKind.UPDATE
    words = _changed_words("content", entry.before, entry.after) if is_update else None
    parts: list[Line] = [] if words is None else [words]
    if not is_update or "content" not in entry.before:
        parts.append([(entry.text or f"({entry.kind})", "")])
    for name in entry.before if is_update else ():
        if name != "content" or words is None:
            change = " → ".join(sides(name, entry.before, entry.after, _LOGGED))
            parts.append([(f"{name.replace('_', ' ')}: ", "dim"), (change, "")])
    parts += [[(said, "dim")] for said in details_of(entry.detail)]
    for number, part in enumerate(parts):
        yield "  " * bool(number), ""
        yield from part


REMOVED: Final = "red"
ADDED: Final = "green"
_ALIKE: Final = 0.4
"""A share of common words below which two texts are not compared word by word."""
_AROUND: Final = 8
"""Words that are shown before and behind a change."""
_MOST_WORDS: Final = 2000


class _Stretch(NamedTuple):
    """Words that both texts have, or those of each that the other one does not have."""

    same: Sequence[str]
    removed: Sequence[str]
    added: Sequence[str]


def word_difference(was: str, became: str) -> Line | None:
    """Return one text with what was removed and what was added marked in it.

    Returns:
        None where they have too little in common for that to be read.
    """
    old, new = _words(was), _words(became)
    if max(len(old), len(new)) > _MOST_WORDS:
        return None
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if not old or not new or matcher.ratio() < _ALIKE:
        return None
    return wrapped(list(_drawn(list(_stretches(matcher, old, new)))), sys.maxsize)[0]


def _words(text: str) -> list[str]:
    """Return the words of a text, each with the space behind it."""
    found: list[str] = []
    for piece in pieces(visible(" ".join(text.split()))):
        if piece.isspace() and found:
            found[-1] += piece
        else:
            found.append(piece)
    if found:
        found[-1] = found[-1].rstrip() + " "
    return found


def _stretches(
    matcher: "SequenceMatcher[str]", old: Sequence[str], new: Sequence[str]
) -> Iterator[_Stretch]:
    for tag, start, end, from_, to in matcher.get_opcodes():
        if tag == "equal":
            yield _Stretch(old[start:end], (), ())
        else:
            yield _Stretch((), old[start:end], new[from_:to])


def _drawn(stretches: Sequence[_Stretch]) -> Iterator[tuple[str, str]]:
    for number, stretch in enumerate(stretches):
        is_last = number == len(stretches) - 1
        if stretch.same:
            yield _without_middle(stretch.same, is_first=number == 0, is_last=is_last), ""
            continue
        removed, added = "".join(stretch.removed), "".join(stretch.added)
        if removed:
            yield f"[-{removed.rstrip()}-]", REMOVED
            yield " " * bool(added), ""
        if added:
            yield f"{{+{added.rstrip()}+}}", ADDED
        yield " " * (added or removed).endswith(" "), ""


def _without_middle(words: Sequence[str], *, is_first: bool, is_last: bool) -> str:
    """Return words that are the same, without those that are far from any change."""
    before, behind = (0 if is_first else _AROUND), (0 if is_last else _AROUND)
    if len(words) <= before + behind + 1:
        return "".join(words)
    start, end = "".join(words[:before]), "".join(words[len(words) - behind :] if behind else ())
    return f"{start}… {end}"
