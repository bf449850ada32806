"""What an import had no use for, as lines for people."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

from pmem.cli.session import Line
from pmem.core.secrets import unsecret
from pmem.core.visible import one_visible_line

if TYPE_CHECKING:
    from pmem.interchange import UnusedPart

_FILES: Final = 10
_PLACES: Final = 5


def left_out_lines(parts: "Sequence[UnusedPart]") -> list[Line]:
    """Return a line for each file, and one for all files after the first ten."""
    files = [(file, list(found)) for file, found in groupby(parts, key=lambda part: part.file)]
    lines = [f"left out of {file}: {', '.join(_counts(found))}" for file, found in files[:_FILES]]
    rest = [part for _, found in files[_FILES:] for part in found]
    if rest:
        counts = ", ".join(_counts(rest, has_lines=False))
        lines.append(f"left out of {len(files) - _FILES} more files: {counts}")
    return [[(unsecret(line), "dim")] for line in lines]


def _counts(parts: "Iterable[UnusedPart]", *, has_lines: bool = True) -> Iterator[str]:
    """Yield how many there are of each kind, and in which lines."""
    kinds: dict[str, list[tuple[int, int]]] = {}
    for part in parts:
        kinds.setdefault(part.what, []).append(part.lines)
    for what, found in kinds.items():
        count = f"{len(found)} {what}{'s' * (len(found) != 1)}"
        places = [f"{first}-{last}" if last > first else f"{first}" for first, last in found]
        is_one_line = places == [f"{found[0][0]}"]
        listed = ", ".join(places[:_PLACES]) + ", ..." * (len(places) > _PLACES)
        yield f"{count} (line{'s' * (not is_one_line)} {listed})" if has_lines else count


def reasons_line(counts: Mapping[str, int]) -> list[Line]:
    """Return one line about what was left out how often; none where nothing was."""
    parts = ", ".join(f"{reason} ({count})" for reason, count in counts.items())
    return [[(one_visible_line(f"left out: {parts}"), "dim")]] if parts else []
