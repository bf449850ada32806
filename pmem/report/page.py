"""Drawing a report: one self-contained HTML file, and a small site of files that need no script.

The page asks no network for anything. Its policy lets run the one script and the one style sheet
that stand in it, known by their digests, and nothing else; what records say stands in a block of
JSON that no browser runs, and the script writes it as text alone.
"""

import os
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

import jinja2
import msgspec
from markupsafe import Markup

from pmem.core.filters import fold
from pmem.core.history_values import WordChange, tell_value, word_changes
from pmem.core.pages import group_by_subject, page_name
from pmem.errors import InvalidValue, StorageRefused
from pmem.report.document import ReportDocument, ToldMemory
from pmem.storage.files.durable import write_file
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
    """Return a report as one HTML page that holds all it says."""
    figures = head_figures(document) if document.memories else []
    text = dump_line(document).decode().translate(_IN_SCRIPTS)
    return _render(
        project=document.project,
        day=_written_day(document.now),
        figures=figures,
        data=Markup(text),  # noqa: S704 - nothing in it ends a script
    )


def render_live_page(address: str, changes: str) -> str:
    """Return the same page as a server shows it: it asks for all it says, and with a token alone.

    It holds nothing of the memory, so that whoever has no token may load it.
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
    """Return the page of one subject, which needs no script."""
    style = _asset("page.css")
    return _template("subject.html").render(
        project=document.project,
        subject=name,
        memories=memories[::-1],
        policy=_policy(style, "", ""),
        style=Markup(style),  # noqa: S704 - ours
    )


def head_figures(document: ReportDocument) -> list[tuple[str, int]]:
    """Return the figures at the top of a page, each with its name."""
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


@cache
def _asset(name: str) -> str:
    return files("pmem.report").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _template(name: str) -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["short"] = short
    environment.filters["happened"] = _HAPPENED.get
    environment.filters["word_changes"] = _word_changes
    environment.filters["day"] = _written_day
    return environment.from_string(_asset(name))


DEFAULT_FILE: Final = "memory-report.html"
FOLDER: Final = "subjects"
"""Where in a site the pages of subjects are."""
_BEGINNING: Final = 1_000


class WrittenReport(msgspec.Struct, frozen=True, kw_only=True):
    """Where a report was written, how many files and bytes it takes, and what is in it."""

    path: str
    files: int
    bytes: int
    memories: int


def write_report(document: ReportDocument, path: str) -> WrittenReport:
    """Write a report as one file."""
    if os.path.isdir(path):
        raise InvalidValue(f"{path} is a folder", "name a file, or use `--site` for a folder")
    size = _write(path, render_page(document))
    return WrittenReport(path=path, files=1, bytes=size, memories=len(document.memories))


def write_site(document: ReportDocument, folder: str) -> WrittenReport:
    """Write a report and a page for each subject; pages of subjects that are gone go."""
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise InvalidValue(f"{folder} is a file", "name a folder for `--site`")
    groups = group_by_subject(document.memories)
    pages = {name: f"{FOLDER}/{page_name(name, 'html')}" for name in groups}
    whole = msgspec.structs.replace(document, pages=pages)
    texts = {"index.html": render_page(whole)}
    texts |= {pages[name]: render_subject(document, name, each) for name, each in groups.items()}
    size = sum(_write(os.path.join(folder, *name.split("/")), text) for name, text in texts.items())
    _remove_others(os.path.join(folder, FOLDER), {os.path.basename(page) for page in texts})
    memories = len(document.memories)
    return WrittenReport(path=folder, files=len(texts), bytes=size, memories=memories)


def _write(path: str, text: str) -> int:
    """Write a file and return its bytes; refuse where something else than a report is there."""
    data = text.encode()
    try:
        if os.path.exists(path) and not _is_ours(path):
            raise InvalidValue(f"{path} is there and is no report", "name another file")
        write_file(os.path.abspath(path), data)
    except OSError as error:
        raise StorageRefused(f"{path} cannot be written: {error.strerror}") from None
    return len(data)


def _is_ours(path: str) -> bool:
    """Tell whether a file is a page of a report, or an empty one that waits for it."""
    with open(path, "rb") as file:
        beginning = file.read(_BEGINNING)
    return not beginning or MARK.encode() in beginning


def _remove_others(folder: str, kept: set[str]) -> None:
    """Remove the pages of subjects that are gone."""
    with suppress(OSError):
        for entry in list(os.scandir(folder)):
            is_page = entry.name.endswith(".html") and entry.is_file(follow_symlinks=False)
            if is_page and entry.name not in kept and _is_ours(entry.path):
                os.unlink(entry.path)
