"""How languages are written, as far as citing needs it: what white space means, what is a literal.

Literals are told in one pass: signs that may begin one are looked for, and what begins there is
taken whole. A string that has no end in its line is none, unless its language lets it go on; one
that may go on and has no end reaches to the end of the text. So any text is taken apart in linear
time.
"""

import re
from collections.abc import Iterator
from enum import Enum
from functools import cache
from typing import Final, NamedTuple


class Layout(Enum):
    """What white space means outside of literals."""

    FREE = "free"
    """It parts words, no more."""
    INDENTED = "indented"
    """Lines and how far they are indented have a meaning, except in brackets."""
    LINES = "lines"
    """So they have everywhere; so has a blank between two signs."""


class Language(NamedTuple):
    """A way of writing programs.

    `driver` is git's name of the patterns that find its functions; empty where git has none, and
    any line that begins with a letter counts. `literals` names how strings and comments are
    written (see `_LITERALS`).
    """

    driver: str
    layout: Layout
    literals: str


UNKNOWN: Final = Language("", Layout.LINES, "text")
_FREE: Final = Layout.FREE
_LINES: Final = Layout.LINES
_PYTHON: Final = Language("python", Layout.INDENTED, "python")
_SCRIPT: Final = Language("javascript", _FREE, "script")
_CPP: Final = Language("cpp", _FREE, "cpp")
_LANGUAGES: Final[dict[str, Language]] = {
    ".py .pyi": _PYTHON,
    ".js .jsx .mjs .cjs .ts .tsx .mts .cts": _SCRIPT,
    ".go": Language("golang", _FREE, "go"),
    ".rs": Language("rust", _FREE, "rust"),
    ".c .h .cc .cpp .cxx .hh .hpp .hxx": _CPP,
    ".m .mm": Language("objc", _FREE, "c"),
    ".java": Language("java", _FREE, "c"),
    ".kt .kts": Language("kotlin", _FREE, "c"),
    ".cs": Language("csharp", _FREE, "csharp"),
    ".php": Language("php", _FREE, "php"),
    ".swift .scala .dart": Language("", _FREE, "c"),
    ".css .scss .less": Language("css", _FREE, "c"),
    ".json .jsonc .json5": Language("", _FREE, "script"),
    ".rb": Language("ruby", _LINES, "ruby"),
    ".sh .bash .zsh": Language("bash", _LINES, "shell"),
    ".pl .pm": Language("perl", _LINES, "ruby"),
    ".ex .exs": Language("elixir", _LINES, "ruby"),
}
_BY_SUFFIX: Final = {
    suffix: language for suffixes, language in _LANGUAGES.items() for suffix in suffixes.split()
}


def language_of(suffix: str) -> Language:
    """Return how a file is written."""
    return _BY_SUFFIX.get(suffix.lower(), UNKNOWN)


class Stretch(Enum):
    """What a stretch of program text is."""

    CODE = 1
    STRING = 2
    COMMENT = 3


_Literal = tuple[Stretch, re.Pattern[bytes]]
"""What begins with a sign: what it is, and the whole of it."""


def _string(text: bytes) -> _Literal:
    return Stretch.STRING, re.compile(text, re.DOTALL | re.MULTILINE)


def _comment(text: bytes) -> _Literal:
    return Stretch.COMMENT, re.compile(text, re.DOTALL)


_LINE: Final = rb"[^\n]*+"
_SHORT: Final = _string(rb"'(?:\\[^\n][^'\n]{0,10}|[^'\\\n\x80-\xff]|[\xc0-\xff][\x80-\xbf]{1,3})'")
"""A character, where a lone quote may be something else, such as a lifetime."""
_SINGLE: Final = _string(rb"'(?:[^'\\\n]|\\.)*'")
_DOUBLE: Final = _string(rb'"(?:[^"\\\n]|\\.)*"')
_LONG_SINGLE: Final = _string(rb"'(?:[^'\\]|\\.)*(?:'|\Z)")
_LONG_DOUBLE: Final = _string(rb'"(?:[^"\\]|\\.)*(?:"|\Z)')
_BACK: Final = _string(rb"`(?:[^`\\]|\\.)*(?:`|\Z)")
_TRIPLE: Final = _string(rb'"""(?:[^"\\]|\\.|"(?!""))*(?:"""|\Z)')
_TRIPLE_SINGLE: Final = _string(rb"'''(?:[^'\\]|\\.|'(?!''))*(?:'''|\Z)")
_SLASHES: Final = _comment(rb"//" + _LINE)
_STARRED: Final = _comment(rb"/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)")
_HASH: Final = _comment(rb"#" + _LINE)
_C: Final = {b"//": _SLASHES, b"/*": _STARRED, b'"': _DOUBLE, b"'": _SHORT}
_RAW: Final = _string(rb'r(?P<signs>#{0,16})".*?(?:"(?P=signs)|\Z)')
_HERE: Final = _string(
    rb"<<[-~]?(?P<quote>['\"]?)(?P<word>[A-Z_][A-Z0-9_]{0,40})(?P=quote)"
    rb"[^\n]*+\n.*?(?:^[ \t]*+(?P=word)\b|\Z)"
)
_LITERALS: Final[dict[str, dict[bytes, _Literal]]] = {
    "python": {b"#": _HASH, b'"""': _TRIPLE, b"'''": _TRIPLE_SINGLE, b'"': _DOUBLE, b"'": _SINGLE},
    "script": {
        **_C,
        b"'": _SINGLE,
        b"`": _BACK,
        b"/": _string(rb"/(?:[^/\\\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*\])+/"),
    },
    "go": {**_C, b"`": _string(rb"`[^`]*+(?:`|\Z)")},
    "rust": {**_C, b'"': _LONG_DOUBLE, b'r"': _RAW, b"r#": _RAW},
    "c": {**_C, b'"""': _TRIPLE},
    "cpp": {**_C, b'R"': _string(rb'R"(?P<mark>[^()\\\s]{0,16})\(.*?(?:\)(?P=mark)"|\Z)')},
    "csharp": {**_C, b'"""': _TRIPLE, b'@"': _string(rb'@"(?:[^"]|"")*(?:"(?!")|\Z)')},
    "php": {b"//": _SLASHES, b"/*": _STARRED, b"#": _HASH, b'"': _LONG_DOUBLE, b"'": _LONG_SINGLE},
    "ruby": {b"#": _HASH, b'"': _LONG_DOUBLE, b"'": _LONG_SINGLE, b"<<": _HERE},
    "shell": {b"#": _HASH, b'"': _LONG_DOUBLE, b"'": _string(rb"'[^']*+(?:'|\Z)"), b"<<": _HERE},
    "text": {b'"': _DOUBLE, b"'": _SINGLE, b"`": _string(rb"`[^`\n]*+`")},
}
_BEFORE: Final = 16
"""So many bytes before a sign tell whether a literal begins with it."""
_BEFORE_PATTERN: Final = re.compile(
    rb"(?:[(,=:\[!&|?{;+*%~^\n-]|\breturn|\bcase)[ \t]*\Z|\A[ \t]*\Z"
)
_BEFORE_HASH: Final = re.compile(rb"[\s;(]\Z|\A\Z")
_BEFORE_QUOTE: Final = re.compile(rb"[^\w\x80-\xff]\Z|\A\Z")
_BEGINNINGS: Final[dict[tuple[str, bytes], re.Pattern[bytes]]] = {
    ("script", b"/"): _BEFORE_PATTERN,
    ("shell", b"#"): _BEFORE_HASH,
    ("ruby", b"#"): _BEFORE_HASH,
    ("text", b"'"): _BEFORE_QUOTE,
    ("rust", b'r"'): _BEFORE_QUOTE,
    ("rust", b"r#"): _BEFORE_QUOTE,
}
"""What must stand before a sign, where a literal does not always begin with it."""


def pieces(text: bytes, literals: str, start: int = 0) -> Iterator[tuple[Stretch, int, int]]:
    """Take a program text apart; the pieces follow each other and are none of them empty.

    Yield what a piece is, where it begins and where it ends.
    """
    known, signs = _LITERALS[literals], _signs(literals)
    here = at = start
    dead: dict[bytes, int] = {}
    while found := signs.search(text, at):
        sign, begin = found.group(), found.start()
        literal = known.get(sign)
        if literal is None:  # a backslash, and what it takes its meaning from
            at = found.end()
            continue
        at = begin + 1
        before = _BEGINNINGS.get((literals, sign))
        may_begin = before is None or before.search(text[max(0, begin - _BEFORE) : begin])
        if begin < dead.get(sign, 0) or not may_begin:
            continue
        whole = literal[1].match(text, begin)
        if whole is None:
            if literal is not _SHORT:
                end = text.find(b"\n", begin)
                dead[sign] = len(text) if end < 0 else end
            continue
        if here < begin:
            yield Stretch.CODE, here, begin
        here = at = whole.end()
        yield literal[0], begin, here
    if here < len(text):
        yield Stretch.CODE, here, len(text)


@cache
def _signs(literals: str) -> re.Pattern[bytes]:
    longest_first = sorted(_LITERALS[literals], key=len, reverse=True)
    return re.compile(rb"\\.|" + b"|".join(map(re.escape, longest_first)), re.DOTALL)
