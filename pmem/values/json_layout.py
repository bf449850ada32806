"""JSON as formatters of projects leave it: a short list on one line, in 80 columns.

Prettier, and Biome with spaces, write a list of plain values on one line where it fits, and each
member of an object on a line of its own.
"""

from typing import TYPE_CHECKING, Final

from pmem.values.patterns import lazily

if TYPE_CHECKING:
    import re

WIDTH: Final = 80
"""The columns of a line, as both have them by default."""
_VALUE: Final = rb'(?:"(?:[^"\\\n]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null|\{\}|\[[^\n]*\])'
_LIST: Final = lazily(
    rb"\[\n(?P<inner> +)(?P<values>"
    + _VALUE
    + rb"(?:,\n(?P=inner)"
    + _VALUE
    + rb")*)\n *\](?P<comma>,?)(?=\n)"
)
_BETWEEN: Final = lazily(rb",\n +")
_NESTED: Final = lazily(rb"\[[^\n]*,[^\n]*\]")


def fold_lists(data: bytes) -> bytes:
    """Return JSON with each list of plain values on one line where that fits."""
    while b"[\n" in data:
        folded = _LIST.sub(_fold, data)
        if folded == data:
            break
        data = folded
    return data


def _fold(found: "re.Match[bytes]") -> bytes:
    values = _BETWEEN.split(found["values"])
    if len(values) > 1 and all(map(_NESTED.fullmatch, values)):
        return found[0]  # several lists of several values each stay apart
    start = found.string[found.string.rfind(b"\n", 0, found.start()) + 1 : found.start()]
    folded = b"[" + b", ".join(values) + b"]" + found["comma"]
    return folded if _columns(start + folded) <= WIDTH else found[0]


def _columns(line: bytes) -> int:
    if line.isascii():
        return len(line)
    from unicodedata import combining, east_asian_width

    text = line.decode("utf-8", "replace")
    return sum(0 if combining(one) else 2 if east_asian_width(one) in "WF" else 1 for one in text)
