"""Text from outside inside Markdown: it reads as it was written and does nothing.

Escapes after CommonMark 0.31 (https://spec.commonmark.org/0.31.2/#backslash-escapes) and the
extensions of GitHub: mentions of people, references to issues, tables, strikethrough, formulas
and bare addresses. An invisible space breaks what no escape can.
"""

import re
from typing import Final

from pmem.core.visible import visible

_APART: Final = "&#8203;"
"""A space without width."""
_ESCAPED: Final = {
    **{sign: f"\\{sign}" for sign in "\\`*_[]|~"},
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    "$": "&#36;",
    "@": f"@{_APART}",
    "#": f"#{_APART}",
}
_SIGNS: Final = str.maketrans(_ESCAPED)
_ADDRESS: Final = re.compile(r"(:)(//)|(www)(\.)|(gh)(-)(?=\d)", re.IGNORECASE)


def escaped(text: str) -> str:
    """Return one line of Markdown that shows a text as it is, for the middle of a line."""
    folded = visible(" ".join(text.split())).translate(_SIGNS)
    return _ADDRESS.sub(_split_match, folded)


def _split_match(found: re.Match[str]) -> str:
    left, right = filter(None, found.groups())
    return f"{left}{_APART}{right}"
