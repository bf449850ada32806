"""Drawing a report: one self-contained HTML file, and a small site of files that need no script.

The page asks no network for anything. Its policy lets run the one script and the one style sheet
that stand in it, known by their digests, and nothing else; what records say stands in a block of
JSON that no browser runs, and the script writes it as text alone.
"""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

import jinja2
from markupsafe import Markup

from pmem.core.filters import fold
from pmem.core.history_values import WordChange, tell_value, word_changes
from pmem.report.document import ReportDocument, ToldMemory
from pmem.values.ids import short
from pmem.values.records import KINDS, EventKind, Memory, dump_line

MARK: Final = '<meta name="generator" content="pmem report">'
"""Stands at the beginning of every file that is made here, and tells it from others."""
_IN_SCRIPTS: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
_MONTHS: Final = ("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec").split()
_ASKS: Final = "connect-src 'self'"
_HAPPENED: Final = {
    EventKind.ADD: "learned", EventKind.UPDATE: "changed", EventKind.DELETE: "removed",
    EventKind.MERGE: "merged", EventKind.ARCHIVE: "archived", EventKind.SUPERSEDE: "replaced",
    EventKind.LINK: "linked", EventKind.UNLINK: "unlinked", EventKind.TTL: "expired",
    EventKind.RESTORE: "restored",
}  # fmt: skip
_QUIET: Final = ("base-uri 'none'", "form-action 'none'", "img-src data:")


def render_page(document: ReportDocument) -> str:
    """Return a report as one HTML page that holds all it says.

    Args:
        document: What it says.
    """
    figures = head_figures(document) if document.memories else []
    return _render(
        project=document.project,
        day=_written_day(document.now),
        figures=figures,
        data=Markup(_as_json(document)),  # noqa: S704 - nothing in it ends a script
    )


def render_live_page(address: str, changes: str) -> str:
    """Return the same page as a server shows it: it asks for all it says, and with a token alone.

    It holds nothing of the memory, so that whoever has no token may load it.

    Args:
        address: Where operations are asked for, such as `/pmem/1/`.
        changes: Where changes are told as they happen.
    """
    return _render(live=address, changes=changes, project="Project memory")


def live_policy() -> str:
    """Return the content security policy of the page that a server shows, for its header."""
    return _policy(_asset("page.css"), _asset("page.js"), _ASKS)


def _render(
    *,
    project: str,
    day: str = "",
    figures: Sequence[tuple[str, int]] = (),
    data: str = "",
    live: str = "",
    changes: str = "",
) -> str:
    style, script = _asset("page.css"), _asset("page.js")
    return _template("page.html").render(
        project=project,
        day=day,
        figures=figures,
        policy=_policy(style, script, _ASKS if live else ""),
        style=Markup(style),  # noqa: S704 - ours
        script=Markup(script),  # noqa: S704 - ours
        data=data,
        live=live,
        changes=changes,
    )


def render_subject(document: ReportDocument, name: str, memories: list[ToldMemory]) -> str:
    """Return the page of one subject, which needs no script.

    Args:
        document: The whole report.
        name: The subject.
        memories: Those on it, the oldest first.
    """
    style = _asset("page.css")
    return _template("subject.html").render(
        project=document.project,
        subject=name,
        memories=memories[::-1],
        policy=_policy(style, "", ""),
        style=Markup(style),  # noqa: S704 - ours
    )


def head_figures(document: ReportDocument) -> list[tuple[str, int]]:
    """Return the figures at the top of a page, each with its name.

    Args:
        document: What the report says.
    """
    subjects = {fold(memory.subject) for memory in document.memories if memory.subject}
    week = document.week
    new, changed, forgotten = (
        sum(entry.kind == KINDS[Memory] for entry in entries)
        for entries in (week.learned, week.changed, week.forgotten)
    )
    return [
        ("remembered", document.counts.get("active", 0)),
        ("subjects", len(subjects)),
        ("new this week", new),
        ("older ones changed", changed),
        ("older ones forgotten", forgotten),
        ("open items", sum(need.count for need in document.needs)),
    ]


def _written_day(at: datetime) -> str:
    """Return a day as people write it, such as 9 Nov 2026, whatever the locale."""
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}"


def _word_changes(pair: tuple[Any, Any], name: str = "content") -> Iterator[WordChange]:
    """Yield the words of a value before and after, of any value that a field can have."""
    return word_changes(*(tell_value(name, each) for each in pair))


@cache
def _policy(style: str, script: str, further: str) -> str:
    """Return a content security policy that lets in these two texts and nothing else."""
    parts = ["default-src 'none'", *_QUIET, f"style-src {_digest(style)}"]
    parts += [f"script-src {_digest(script)}"] if script else []
    return "; ".join([*parts, further] if further else parts)


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _as_json(value: Any) -> str:
    """Return a value as JSON in which nothing can end the element that holds it."""
    return dump_line(value).decode().translate(_IN_SCRIPTS)


@cache
def _asset(name: str) -> str:
    return files("pmem.report").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _template(name: str) -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["short"] = short
    environment.filters["happened"] = _HAPPENED.get
    environment.filters["word_changes"] = _word_changes
    environment.filters["day"] = _written_day
    return environment.from_string(_asset(name))
