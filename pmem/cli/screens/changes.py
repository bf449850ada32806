"""How what was learned, changed and forgotten looks on a terminal."""

from collections.abc import Iterator

from pmem.cli.changelog import BODIES, HEADINGS, linked, sections, sides_of, type_of
from pmem.cli.screens.differences import ADDED, REMOVED, word_difference
from pmem.cli.screens.view import Row, ScreenView, cell, column, drawn_rows
from pmem.cli.session import Line
from pmem.core.changelog import Changed, FieldChange
from pmem.vcs.changelog import Changelog


def section_screen(found: Changelog, view: ScreenView) -> Iterator[Line]:
    """Draw every heading that has entries, and its entries."""
    parts = list(sections(found))
    types = column(type_of(entry) for _, rows in parts for entry, _ in rows)
    for heading, rows in parts:
        yield [(heading, f"bold {HEADINGS[heading]}".strip()), (f"  {len(rows)}", "dim")]
        drawn = (
            Row(
                [("  ", ""), *cell(entry.short, 8, "cyan"), *cell(type_of(entry), types, "dim")],
                _change_line(entry) if isinstance(entry, Changed) else [(said, "")],
            )
            for entry, said in rows
        )
        yield from drawn_rows(drawn, view, most=0)


def _change_line(entry: Changed) -> Line:
    """Tell what has changed in a record: its texts word by word."""
    line: Line = []
    if not any(name in entry.fields for name in BODIES):
        subject = f"{entry.subject}: " if entry.subject else ""
        line += [(subject, "bold"), (entry.text, "")]
    for name, change in entry.fields.items():
        line += [("  " if line else "", ""), *_field(name, change)]
    for tie in linked(entry):
        line += [("  " if line else "", ""), (tie, "dim")]
    return line


def _field(name: str, change: FieldChange) -> Iterator[tuple[str, str]]:
    is_text = isinstance(change.before, str) and isinstance(change.after, str)
    words = word_difference(change.before, change.after) if is_text else None
    if name not in BODIES:
        yield f"{name.replace('_', ' ')}: ", "dim"
    if words is not None:
        yield from words
        return
    was, *became = sides_of(name, change)
    yield was, REMOVED if became else ""
    for side in became:
        yield " → ", "dim"
        yield side, ADDED
