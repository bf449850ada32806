"""The screens of what happened: to one record, to all of them, and what an edit changed."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Final

from pmem.cli.screens import drawing
from pmem.cli.session import Line, Span
from pmem.core.history_values import PROSE, is_citation, say_link, say_place, say_value
from pmem.core.journal import JournalEntry, entry, one_line, steps
from pmem.core.trust import origin_mark
from pmem.core.visible import subject_before, visible
from pmem.values.ids import short
from pmem.values.records import EventKind, Memory

REMOVED: Final = "red"
ADDED: Final = "green"
COLOURS: Final = {
    EventKind.ADD: "green",
    EventKind.UPDATE: "",
    EventKind.DELETE: "red",
    EventKind.TTL: "red",
    EventKind.MERGE: "magenta",
    EventKind.SUPERSEDE: "magenta",
    EventKind.ARCHIVE: "magenta",
    EventKind.RESTORE: "green",
    EventKind.LINK: "cyan",
    EventKind.UNLINK: "cyan",
}
_BODIES: Final = ("content", "title", "summary")
_INDENT: Final = "    "
_HANG: Final = 6
_TO: Final = (" → ", "dim")
_WHOLE: Final = 4000
_VALUE: Final = 200
_LOGGED: Final = 60
"""Characters of each side of a change in the log, where it is not told word by word."""
_DETAIL: Final = 40
_REASONS: Final = ("reason", "failure", "consent")
_COMMON_START: Final = 20
"""Characters before the first difference of two long values that are shown."""
_UNSAID: Final = ("replaced", "branch")
"""What an event holds for pmem alone, or for another part of the same event."""
_ALIKE: Final = 0.4  # A share of common words below which two texts are not compared word by word
_AROUND: Final = 8  # words that are shown before and behind a change
_MOST_WORDS: Final = 2000


def memory_text(memory: Memory) -> Line:
    """Return what a memory says on one line, its subject first."""
    content = drawing.folded(memory.content)
    return [(subject_before(drawing.folded(memory.subject or ""), content), "bold"), (content, "")]


def who_did(actor: str, agent: str, source: str) -> str:
    """Say who did something: a person, or the agent that did it for them in brackets."""
    who = actor or agent or source or "-"
    return f"{who} ({agent})" if actor and agent else who


def story_screen(entries: Sequence[JournalEntry], view: drawing.ScreenView) -> Iterator[Line]:
    """Draw a block for each event of one record: who did it, and below it what changed."""
    heads = drawing.aligned(
        [(view.when(event.at), "dim"), (event.event, COLOURS[event.event])] for event in entries
    )
    for head, event in zip(heads, entries, strict=True):
        who = who_did(event.actor, event.agent, event.source)
        yield from drawing.hung([*head, (who, "cyan")], view.width)
        if event.event is EventKind.ADD and event.text:
            told: Line = [_doubt(event), ("now: " * event.is_present, "dim"), (event.text, "")]
            yield from drawing.wrapped([(_INDENT, ""), *told], view.width, hang=len(_INDENT))
        for name in event.before:
            is_now = event.is_present and name in _BODIES
            label = [_doubt(event)] * is_now + [field_label(f"{name}, now" if is_now else name)]
            change = change_line(name, event.before, event.after, _VALUE)
            yield from drawing.wrapped([(_INDENT, ""), *label, *change], view.width, hang=_HANG)
        for said in _details_of(event.detail, _WHOLE):
            yield from drawing.wrapped([(_INDENT, ""), (said, "")], view.width, hang=_HANG)


def _doubt(event: JournalEntry) -> Span:
    """Return what is told before a text that may not be what the event led to."""
    return (origin_mark(event.origin) * event.is_present, "red")


def edit_screen(
    memory: Memory, view: drawing.ScreenView, *, is_changed: bool, below: Sequence[Line] = ()
) -> Iterator[Line]:
    """Draw what an edit has changed, and further lines below it."""
    last = entry(steps(memory)[-1])
    head: Line = [("edited " if is_changed else "unchanged ", "green"), (short(memory.id), "cyan")]
    told = memory_text(memory) if is_changed else [("it says so already", "dim")]
    if is_changed and "content" in last.before:
        yield head
    else:
        yield from drawing.wrapped([*head, ("  ", ""), *told], view.width, hang=_HANG, most=2)
    for name in last.before if is_changed else ():
        yield from change_screen(name, last.before, last.after, view.width)
    yield from drawing.all_hung(below, view.width)


def change_screen(
    name: str, before: dict[str, Any], after: dict[str, Any], width: int
) -> Iterator[Line]:
    """Draw a change of a field behind its name."""
    label: Line = [(_INDENT, ""), field_label(name)]
    return iter(
        drawing.wrapped([*label, *change_line(name, before, after, _VALUE)], width, hang=_HANG)
    )


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


def log_screen(entries: Sequence[JournalEntry], view: drawing.ScreenView) -> Iterator[Line]:
    """Draw the log, the newest first: when, what, which record, and what that was about."""
    names = [who_did(entry.actor, entry.agent, entry.source) for entry in entries]
    is_one = not view.is_pipe and len(entries) > 1 and len(set(names)) == 1
    rows = []
    for each, name in zip(entries, names, strict=True):
        head = [(view.when(each.at), "dim"), (each.event, COLOURS[each.event])]
        head.append((short(each.id), "cyan"))
        rows.append(
            drawing.Row(head, list(_about(each)), [] if is_one else [(f"by {name}", "dim")])
        )
    yield from drawing.drawn_rows(rows, view)
    if is_one:
        yield from drawing.hung([(f"all by {names[0]}", "dim")], view.width)


def _about(entry: JournalEntry) -> Iterator[Span]:
    """Say what an event was about; a change of the text shows the text."""
    changed = entry.before if entry.event is EventKind.UPDATE else ()
    parts: list[Line] = []
    if "content" not in changed:
        parts.append([_doubt(entry), (entry.text or f"({entry.kind})", "")])
    for name in changed:
        label = [] if name == "content" else [field_label(name)]
        change = change_line(name, entry.before, entry.after, _LOGGED)
        parts.append([*label, *[_doubt(entry)] * (name in _BODIES), *change])
    parts += [[(said, "dim")] for said in _details_of(entry.detail, _DETAIL)]
    for number, part in enumerate(parts):
        yield "  " * bool(number), ""
        yield from part


def _details_of(detail: dict[str, Any], reason: int) -> Iterator[str]:
    """Say what an event holds beside the earlier values; `reason` limits a reason's characters."""
    for name, value in detail.items():
        if name == "link" and isinstance(value, dict):
            links = detail.get("replaced")
            known = links[0] if isinstance(links, list) and links else None
            was = f", was ({known.get('strength')})" if isinstance(known, dict) else ""
            yield say_link(value) + was
        elif name == "removed" and isinstance(value, list):
            yield from (f"no longer {say_link(link)}" for link in value if isinstance(link, dict))
        elif name not in _UNSAID and value not in (None, "", [], {}):
            most = reason if name in _REASONS else _DETAIL
            yield f"{name.replace('_', ' ')}: {say_value(name, value, most)}"


def sides(name: str, before: dict[str, Any], after: dict[str, Any], most: int) -> list[str]:
    """Say what a field was and, where that is known, what it became, each in `most` characters."""
    if name not in after:
        return [say_value(name, before[name], most)]
    was, became = before[name], after[name]
    confirmed = _confirmed_places(was, became) if name == "citations" else []
    if confirmed:
        return [f"confirmed against {one_line(', '.join(confirmed), most)}"]
    if isinstance(was, str) and isinstance(became, str):
        was, became = _excerpt(was, became, most), _excerpt(became, was, most)
    return [say_value(name, was, most), say_value(name, became, most)]


def _confirmed_places(was: Any, became: Any) -> list[str]:
    """Name the places whose text is cited as it is now, where the same places are cited."""
    if not all(isinstance(side, list) and all(map(is_citation, side)) for side in (was, became)):
        return []
    if list(map(say_place, was)) != list(map(say_place, became)):
        return []
    return [say_place(new) for old, new in zip(was, became, strict=True) if old != new]


def _excerpt(text: str, other: str, most: int) -> str:
    """Return a text from shortly before the place where it begins to differ from another."""
    one, two = drawing.folded(text), drawing.folded(other)
    if max(len(one), len(two)) <= most:
        return one
    pairs = enumerate(zip(one, two, strict=False))
    same = next((place for place, (a, b) in pairs if a != b), len(two))
    start = max(0, min(same, len(one)) - _COMMON_START)
    return f"{'…' * bool(start)}{one[start:]}"


def word_difference(was: str, became: str) -> Line | None:
    """Return what was removed and added; None where the texts have too little in common."""
    old, new = _words(was), _words(became)
    if max(len(old), len(new)) > _MOST_WORDS:
        return None
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if not old or not new or matcher.ratio() < _ALIKE:
        return None
    found: Line = []
    codes = matcher.get_opcodes()
    for number, (tag, start, end, from_, to) in enumerate(codes):
        if tag == "equal":
            before = 0 if number == 0 else _AROUND
            behind = 0 if number == len(codes) - 1 else _AROUND
            found.append((_without_middle(old[start:end], before, behind), ""))
            continue
        removed, added = "".join(old[start:end]), "".join(new[from_:to])
        if removed:
            found += [(f"[-{removed.rstrip()}-]", REMOVED), (" " * bool(added), "")]
        if added:
            found.append((f"{{+{added.rstrip()}+}}", ADDED))
        found.append((" " * (added or removed).endswith(" "), ""))
    while found and not found[-1][0].strip():
        found.pop()
    return [*found[:-1], (found[-1][0].rstrip(), found[-1][1])] if found else found


def _words(text: str) -> list[str]:
    """Return the words of a text, each with the space behind it."""
    found = "\0".join(drawing.pieces(visible(drawing.folded(text)))).replace("\0 ", " ")
    return re.findall("[^\0]+", f"{found} " if found else "")


def _without_middle(words: Sequence[str], before: int, behind: int) -> str:
    """Return words that are the same, without those that are far from any change."""
    if len(words) <= before + behind + 1:
        return "".join(words)
    end = words[len(words) - behind :] if behind else ()
    return f"{''.join(words[:before])}… {''.join(end)}"
