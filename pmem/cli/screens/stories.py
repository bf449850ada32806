"""How what happened looks: to one record, to all of them, and what an edit changed."""

import sys
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Final

from pmem.cli.event_words import COLOURS, details_of, sides, who_did
from pmem.cli.screens.lists import memory_text
from pmem.cli.screens.view import Row, ScreenView, aligned, drawn_rows
from pmem.cli.screens.wrapping import all_hung, hung, pieces, wrapped
from pmem.cli.session import Line, Span
from pmem.core.history_values import PROSE
from pmem.core.journal import JournalEntry, entry, steps
from pmem.core.visible import visible
from pmem.values.ids import short
from pmem.values.records import EventKind, Memory

_INDENT: Final = "    "
_HANG: Final = 6
_TO: Final = (" → ", "dim")
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


def edit_screen(
    memory: Memory, view: ScreenView, *, is_changed: bool, below: Sequence[Line] = ()
) -> Iterator[Line]:
    """Draw what an edit has changed, and further lines below it."""
    last = entry(steps(memory)[-1])
    head: Line = [("edited " if is_changed else "unchanged ", "green"), (short(memory.id), "cyan")]
    told = memory_text(memory) if is_changed else [("it says so already", "dim")]
    if is_changed and "content" in last.before:
        yield head
    else:
        yield from wrapped([*head, ("  ", ""), *told], view.width, hang=_HANG, most=2)
    for name in last.before if is_changed else ():
        yield from change_screen(name, last.before, last.after, view.width)
    yield from all_hung(below, view.width)


def change_screen(
    name: str, before: dict[str, Any], after: dict[str, Any], width: int
) -> Iterator[Line]:
    """Draw a change of a field behind its name."""
    label: Line = [(_INDENT, ""), field_label(name)]
    return iter(wrapped([*label, *change_line(name, before, after, _VALUE)], width, hang=_HANG))


def field_label(name: str) -> Span:
    """Return what stands before what became of a field."""
    return f"{name.replace('_', ' ')}: ", "dim"


def change_line(name: str, before: dict[str, Any], after: dict[str, Any], most: int) -> Line:
    """Tell a change: a text word by word where that can be read, else each side up to `most`."""
    was, became = before.get(name), after.get(name)
    if name in PROSE and isinstance(was, str) and isinstance(became, str):
        words = word_difference(was, became)
        if words is not None:
            return words
    told, *new = sides(name, before, after, most)
    return [
        (told, REMOVED if new else ""),
        *(part for side in new for part in (_TO, (side, ADDED))),
    ]


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


def _about(entry: JournalEntry) -> Iterator[Span]:
    """Say what an event was about; a change of the text shows the text."""
    changed = entry.before if entry.event is EventKind.UPDATE else ()
    parts: list[Line] = []
    if "content" not in changed:
        parts.append([(entry.text or f"({entry.kind})", "")])
    for name in changed:
        label = [] if name == "content" else [field_label(name)]
        parts.append([*label, *change_line(name, entry.before, entry.after, _LOGGED)])
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


def word_difference(was: str, became: str) -> Line | None:
    """Return what was removed and added; None where the texts have too little in common."""
    old, new = _words(was), _words(became)
    if max(len(old), len(new)) > _MOST_WORDS:
        return None
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if not old or not new or matcher.ratio() < _ALIKE:
        return None
    return wrapped(list(_changed_parts(matcher, old, new)), sys.maxsize)[0]


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


def _changed_parts(
    matcher: "SequenceMatcher[str]", old: Sequence[str], new: Sequence[str]
) -> Iterator[Span]:
    codes = matcher.get_opcodes()
    for number, (tag, start, end, from_, to) in enumerate(codes, start=1):
        if tag == "equal":
            is_first, is_last = number == 1, number == len(codes)
            yield _without_middle(old[start:end], is_first=is_first, is_last=is_last), ""
            continue
        removed, added = "".join(old[start:end]), "".join(new[from_:to])
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
