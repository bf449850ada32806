"""Characters that people do not see or that programs act on, made visible."""

import re
from bisect import bisect_right
from typing import Final, NamedTuple

from pmem.values.patterns import lazily

_UNSEEN: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Control, bidirectional, zero-width, filler and tag characters, variation selectors of no
emoji, and halves of pairs."""
_EMOJI: Final = (
    "\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_KEYS: Final = "#*0-9"
_JOINING: Final = "\u0600-\u109f\u1780-\u18af\ua840-\ua9df"
"""Letters and marks of the scripts from Arabic to Mongolian whose shapes joiners change."""

_HIDDEN: Final = lazily(
    f"[{_UNSEEN}]"
    f"|(?<![{_EMOJI}{_KEYS}])[\ufe0e\ufe0f]"
    f"|(?<![{_JOINING}])\u200c"
    f"|\u200d(?!(?<=[{_EMOJI}\ufe0f]\u200d)[{_EMOJI}]|(?<=[{_JOINING}]\u200d))"
)

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
_ADDRESS: Final = r"(?i)(:)(//)|(www)(\.)|(gh)(-)(?=\d)"


def visible(text: str) -> str:
    r"""Write hidden characters as `\u{...}`; line breaks and tabs stay.

    Joiners and emoji selectors stay where they shape what is seen, one at a time: between the
    parts of an emoji, behind an emoji, and behind a letter of a script that needs them.
    """
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(lambda found: f"\\u{{{ord(found[0]):x}}}", text)


def subject_before(subject: str | None, text: str) -> str:
    """Return what stands before a text to say what it is about; nothing where that is its title."""
    is_said = not subject or text.startswith((f"{subject}.", f"{subject}:"))
    return "" if is_said else f"{subject}: "


def one_visible_line(text: str) -> str:
    """Write out what would end a line or move the cursor, besides what `visible` does."""
    return visible(text).replace("\n", "\\u{a}").replace("\t", "\\u{9}")


def escaped(json: str) -> str:
    r"""Write hidden characters as JSON does, `\\uXXXX`: the text means the same."""
    return json if json.isascii() and "\x7f" not in json else _HIDDEN.sub(_as_json, json)


def escape_markdown(text: str) -> str:
    """Return one line of Markdown that shows a text as it is, for the middle of a line."""
    folded = visible(" ".join(text.split())).translate(_SIGNS)
    return re.sub(_ADDRESS, _split_match, folded)


def _as_json(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[n : n + 4]}" for n in range(0, len(units), 4))


def _split_match(found: re.Match[str]) -> str:
    left, right = filter(None, found.groups())
    return f"{left}{_APART}{right}"


MARKS: Final = frozenset(
    chr(code)
    for first, last in (
        (0x00AD, 0x00AD),
        (0x034F, 0x034F),
        (0x061C, 0x061C),
        (0x180B, 0x180E),
        (0x200B, 0x200F),
        (0x202A, 0x202E),
        (0x2060, 0x206F),
        (0xFE00, 0xFE0F),
        (0xFEFF, 0xFEFF),
        (0xE0000, 0xE007F),
    )
    for code in range(first, last + 1)
)
"""Soft hyphens, joiners, marks of direction, selectors and tags: none of them has a shape."""
_ANY: Final = f"[{''.join(sorted(MARKS))}]"
_SPLITTING: Final = lazily(rf"{_ANY}++|\\{_ANY}*+(?:\r{_ANY}*+)?\n")


class Joined(NamedTuple):
    """A text without what nobody sees, and where its pieces begin in it and in the original."""

    text: str
    starts: list[int]
    origins: list[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of the text stands in the original."""
        return self._origin(start), self._origin(end - 1) + 1

    def _origin(self, place: int) -> int:
        piece = bisect_right(self.starts, place) - 1
        return self.origins[piece] + place - self.starts[piece]


def has_any(text: str) -> bool:
    """Tell whether a text has what nobody sees, or lines that a backslash parts."""
    return not MARKS.isdisjoint(text) or "\\\n" in text or "\\\r\n" in text


def joined(text: str) -> Joined:
    """Return a text without invisible characters, and lines that a backslash parts as one."""
    pieces, starts, origins = [], [], []
    length = end = 0
    for match in _SPLITTING.finditer(text):
        pieces.append(text[end : match.start()])
        starts.append(length)
        origins.append(end)
        length += match.start() - end
        end = match.end()
    return Joined("".join((*pieces, text[end:])), [*starts, length], [*origins, end])
