"""What a check finds, its line in a file, and how people, GitHub and GitLab read it."""

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Final, Literal

import msgspec
import orjson

from pmem.core.visible import one_visible_line, visible

_MARKS: Final = (b"<<<<<<< ", b">>>>>>> ")
_GRAVE: Final = frozenset({"damaged", "newer_schema", "unmerged", "markers", "dropped"})
"""Codes of what keeps a record from being read, or loses what somebody wrote."""

Severity = Literal["error", "warning", "notice"]


class Finding(msgspec.Struct, frozen=True):
    """Something that is wrong: where, the machine code, and one sentence.

    `path` is the whole path of a file; `line` counts from 1, and is None where no line of the
    file is to blame. A warning is a reason to look, and no fault by itself; a notice asks nothing.
    """

    path: str
    code: str
    message: str
    line: int | None = None
    severity: Severity = "error"

    @property
    def sentence(self) -> str:
        """The message without the path that it may begin with."""
        on_one_line = self.path.replace("\n", "\\n")  # as errors write it
        return self.message.removeprefix(self.path).removeprefix(on_one_line).lstrip(": ")


class FolderPlace(msgspec.Struct, frozen=True):
    """Where a memory folder is in its repository, for those who name files from there.

    `folder` is the memory folder's path, `prefix` the same from the repository's top, with a
    slash at the end.
    """

    folder: str
    prefix: str

    def name(self, path: str) -> str:
        """Return how the repository calls a file of the memory folder; others stay as they are."""
        inside = path[len(self.folder) :]
        if not path.startswith(self.folder) or inside[:1] not in ("", "/", "\\"):
            return path
        return (self.prefix + inside[1:].replace(inside[:1] or "/", "/")).rstrip("/")


def text(finding: Finding) -> tuple[str, str, str]:
    """Tell a finding as one line that editors understand: where, the code, the sentence."""
    line = "" if finding.line is None else f"{finding.line}:"
    return (
        f"{one_visible_line(finding.path)}:{line} ",
        f"{finding.code}: ",
        one_visible_line(finding.sentence),
    )


def github(findings: Sequence[Finding], place: FolderPlace | None) -> str:
    """Tell findings as workflow commands of GitHub Actions, which shows them at their lines.

    Without `place`, paths begin at the top of the repository.
    """
    return "".join(_command(finding, place) for finding in findings)


def gitlab(findings: Sequence[Finding], place: FolderPlace | None) -> str:
    """Tell findings as a Code Quality report of GitLab.

    Without `place`, paths begin at the top of the repository.
    """
    times: Counter[str] = Counter()
    report = []
    for finding in findings:
        path = visible(place.name(finding.path) if place else finding.path)
        what = f"{finding.code}\0{path}\0{finding.sentence}"
        times[what] += 1
        said = f"{what}\0{times[what]}".encode("utf-8", "backslashreplace")
        report.append(
            {
                "description": visible(finding.sentence),
                "check_name": finding.code,
                "fingerprint": sha256(said).hexdigest(),
                "severity": _gravity(finding),
                "location": {"path": path, "lines": {"begin": finding.line or 1}},
            }
        )
    return orjson.dumps(report, option=orjson.OPT_INDENT_2).decode() + "\n"


def line_of_damage(data: bytes) -> int | None:
    """Return the line at which a record's file goes wrong; None where no line is to blame."""
    marked = line_of_markers(data)
    if marked is not None:
        return marked
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError as error:
        try:
            data.decode()
        except UnicodeDecodeError as wrong:
            return _line_at(data, wrong.start)
        return error.lineno
    return None


def line_of_markers(data: bytes) -> int | None:
    """Return the line of the first of git's conflict markers that open or close a conflict."""
    places = [place for place in _marks(data) if place >= 0]
    return _line_at(data, min(places)) if places else None


def has_conflict(data: bytes) -> bool:
    """Tell whether a text has a whole conflict of git's, from an opening to a closing marker."""
    opening, closing = _marks(data)
    return 0 <= opening < closing


def line_of_field(data: bytes, field: str) -> int | None:
    """Return the line on which a field of a record stands."""
    key = f'"{field}":'.encode()
    written = data.find(b"\n  " + key)
    place = data.find(key) if written < 0 else written + 1
    return None if place < 0 else _line_at(data, place)


def line_of_value(data: bytes, value: str) -> int | None:
    """Return the line of the first text that is a value and nothing else."""
    place = data.find(f'"{value}"'.encode("utf-8", "backslashreplace"))
    return None if place < 0 else _line_at(data, place)


def _marks(data: bytes) -> list[int]:
    """Return where the first opening and the first closing marker are; -1 where there is none."""
    return [0 if data.startswith(mark) else (data.find(b"\n" + mark) + 1 or -1) for mark in _MARKS]


def _line_at(data: bytes, place: int) -> int:
    return data.count(b"\n", 0, place) + 1


def _command(finding: Finding, place: FolderPlace | None) -> str:
    where = {
        "file": place.name(finding.path) if place else finding.path,
        "line": finding.line,
        "title": f"pmem {finding.code}",
    }
    properties = ",".join(
        f"{name}={_data(str(value)).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in where.items()
        if value is not None
    )
    return f"::{finding.severity} {properties}::{_data(finding.sentence)}\n"


def _gravity(finding: Finding) -> str:
    if finding.severity != "error":
        return "minor" if finding.severity == "warning" else "info"
    return "critical" if finding.code in _GRAVE else "major"


def _data(text: str) -> str:
    """Escape a workflow command's message, as GitHub's toolkit does."""
    told = visible(text).replace("\t", "\\u{9}")
    return told.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
