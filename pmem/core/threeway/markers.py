"""Splitting a text with conflict markers into its versions.

See `git merge-file`, "CONFLICT MARKERS" in gitattributes(5) for their length, and
`merge.conflictStyle` for the styles `merge`, `diff3` and `zdiff3`.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

SURE: Final = 7
"""As many signs at the start of a line are a marker, even where nothing answers to it."""
_OURS, _BASE, _THEIRS = range(3)
_SIGNS: Final = b"<|=>"
_NEXT: Final = {b"": (b"<",), b"<": (b"|", b"="), b"|": (b"=",), b"=": (b">",)}
"""Which markers may come after which."""
_TRIES: Final = 4
"""Lengths of markers that are tried, where several could be those of the merge."""


class Apart(NamedTuple):
    """The two sides of a text with markers, and their base where every hunk shows it."""

    ours: bytes
    theirs: bytes
    base: bytes | None


def has_markers(data: bytes) -> bool:
    """Tell whether a text has conflict markers, be they complete or not.

    Every line of it counts, so it must be known not to be sound.
    """
    signs = map(_marker, data.split(b"\n"))
    is_sure = any(length >= SURE and sign in (b"<", b">") for sign, length in signs)
    return is_sure or apart(data) is not None


def apart(data: bytes) -> Apart | None:
    """Take a text with markers apart into its sides.

    What is outside of the markers belongs to both sides. All markers are equally
    long; a shorter or longer one, as a nested merge writes it, is text like any other.

    Returns:
        Its sides, or None where it has no markers, or they do not belong together.
    """
    lengths = {length for sign, length in map(_marker, _lines(data)) if sign == b"<"}
    likely = sorted(lengths, key=lambda length: (length < SURE, length))
    tries = (_apart(data, size) for size in likely[:_TRIES])
    return next((found for found in tries if found is not None), None)


def _apart(data: bytes, size: int) -> Apart | None:
    found: tuple[list[bytes], ...] = ([], [], [])
    inside, shown, whole, hunks = b"", False, True, 0
    for line in _lines(data):
        sign, length = _marker(line)
        if not sign or length != size or not (inside or sign in (b"<", b">")):
            _keep(found, inside, line)
            continue
        if sign not in _NEXT[inside]:
            return None
        hunks += sign == b"<"
        if sign == b"|":
            shown = True
        elif sign == b">":
            whole, shown = whole and shown, False
        inside = b"" if sign == b">" else sign
    if inside or not hunks:
        return None
    ours, base, theirs = (b"".join(lines) for lines in found)
    return Apart(ours, theirs, base if whole else None)


def plain_lines(data: bytes) -> set[bytes]:
    """Return the lines of a text that are no markers, without what surrounds them."""
    lines = {line.strip() for line in data.split(b"\n") if not _marker(line)[0]}
    return lines - {b""}


def _keep(found: tuple[list[bytes], ...], inside: bytes, line: bytes) -> None:
    if inside in (b"", b"<"):
        found[_OURS].append(line)
    if inside in (b"", b"|"):
        found[_BASE].append(line)
    if inside in (b"", b"="):
        found[_THEIRS].append(line)


def _marker(line: bytes) -> tuple[bytes, int]:
    """Return a marker's sign and length; no sign where a line is no marker."""
    sign = line[:1]
    if not sign or sign not in _SIGNS:
        return b"", 0
    rest = line.lstrip(sign)
    is_one = rest[:1] in (b"", b"\r", b"\n") or (sign != b"=" and rest[:1] == b" ")
    return (sign, len(line) - len(rest)) if is_one else (b"", 0)


def _lines(data: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        yield data[start:end]
        start = end
