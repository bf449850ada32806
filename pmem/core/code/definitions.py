"""Finding where a name is defined in a program, and where the definition ends.

Git says which lines may begin a definition, by its own patterns (`storage.git.function_lines`).
What such a line defines, what encloses it and where it ends is read here, by brackets and by
indentation, with literals left out. Each pass is linear in the text.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from pmem.core.code.folding import indentation
from pmem.core.code.languages import Language, Layout, Stretch, pieces

MOST_CHARACTERS: Final = 200
"""A symbol's name is no longer."""
MOST_MENTIONS: Final = 10_000
"""So many lines with a name are looked at, the nearest to where it was."""
MOST_LINES: Final = 5000
"""A definition is no longer."""
HEAD: Final = 500
"""Bytes of a line by which it is told what it defines."""
_PART: Final = r"(?:[^\W\d][\w$?!-]*|[$#~@][\w$]+)"
_NAME: Final = re.compile(rf"{_PART}(?:(?:::|\.|#){_PART})*")
_SEPARATOR: Final = re.compile(r"::|\.|(?<=\w)#")
_QUOTED: Final = re.compile(rb'"[^"]*+"|\'[^\']*+\'|`[^`]*+`')
_ROUND: Final = re.compile(rb"\([^()]*+\)")
_OTHERS: Final = re.compile(rb"\[[^\[\]]*+\]|<[^<>();]*(?<![-=])>")
_MARK: Final = re.compile(rb"@[\w.]+\0?|\b__attribute__\s*\0")
_CHAIN: Final = rb"[\w$#~\x80-\xff]+[?!]?(?:(?:::|\.)[\w$#~\x80-\xff]+[?!]?)*"
"""A name, or several with dots or colons; below, a zero byte is what stands in round brackets."""
_FUNCTION: Final = re.compile(
    rb"\b(?:def|fn|fun|func|function|sub|defp|defmacro|macro_rules!)[\s*]+(?:\0\s*)?("
    + _CHAIN
    + rb")"
)
_IMPL: Final = re.compile(rb"\s*(?:unsafe\s+)?impl\b")
_KIND: Final = re.compile(
    rb"\b(?:enum\s+class|enum\s+struct|class|struct|enum|union|interface|trait|module|mod"
    rb"|namespace|type|record|object|protocol|extension|package|defmodule)\s+(" + _CHAIN + rb")"
)
_BEFORE_SIGN: Final = re.compile(rb"(" + _CHAIN + rb")\s*(\0|=(?![=>])|:(?!:)|\{)")
_LAST_WORD: Final = re.compile(rb"(" + _CHAIN + rb")\s*\Z")
_RETURNS: Final = ("cpp", "objc", "csharp", "java")
"""Drivers of languages in which `struct a *b()` defines b."""
_NO_ENCLOSER: Final = re.compile(
    rb"\s*(?:[^\w\s\x80-\xff]|where\b|(?:public|private|protected)\b[\w \t]*:\s*\Z|\Z)"
)
_ADORNS: Final = re.compile(rb"\s*(?:@\w|#\[)")
_GOES_ON: Final = re.compile(rb"\s*(?:[^\w\s\x80-\xff\"'`@#/]|where\b|throws\b|implements\b)")
_CLOSES: Final = re.compile(rb"\s*(?:end\b|fi\b|done\b|esac\b|[)}\]])")
_GOES_ON_INSIDE: Final = re.compile(rb"\s*(?:\{|else\b|elsif\b|elif\b|rescue\b|ensure\b|catch\b)")
_BRACKET: Final = re.compile(rb"[()\[\]{};\n]")
_OPENING: Final = b"([{"
_QUALIFIED: Final = rb"(?:[.:]|\bfunc\s*\([^()]*\)\s*)"


class Symbol(NamedTuple):
    """A name to look for: its last part, and those of what must enclose it."""

    name: bytes
    within: tuple[bytes, ...]


class Definition(NamedTuple):
    """Where something is defined: the first and the last line, and whether it has a body.

    `head` is the line that names it, all counted from one.
    """

    first: int
    last: int
    head: int
    has_body: bool


def parse_symbol(text: str) -> Symbol | None:
    """Read a name such as `settle`, `Billing.settle` or `Billing::settle`; None for no name."""
    if len(text) > MOST_CHARACTERS or not _NAME.fullmatch(text):
        return None
    *within, name = (part.encode() for part in _SEPARATOR.split(text))
    return Symbol(name, tuple(within))


def mentions(lines: Sequence[bytes], name: bytes, near: int) -> list[int]:
    """Return the lines that have a name as a word, counted from zero, in order.

    Of too many lines those nearest to `near` are looked at.
    """
    found = [at for at, line in enumerate(lines) if name in line]
    if len(found) > MOST_MENTIONS:
        found = sorted(sorted(found, key=lambda at: abs(at - near))[:MOST_MENTIONS])
    word = _word(name)
    return [at for at in found if word.search(lines[at][:HEAD])]


def defining(lines: Sequence[bytes], symbol: Symbol, language: Language, near: int) -> list[int]:
    """Return the lines that would define a name if git takes them for the start of a definition."""
    return [
        at
        for at in mentions(lines, symbol.name, near)
        if _defined(lines[at][:HEAD], language) == symbol.name
    ]


def enclosed(
    lines: Sequence[bytes], places: Collection[int], symbol: Symbol, language: Language
) -> list[int]:
    """Return those lines that stand in all that a symbol names.

    What encloses a line has its name above it, where less is indented, or before the name itself.
    """
    if not symbol.within or not places:
        return list(places)
    words = [_word(part) for part in symbol.within]
    kept = []
    for at, above in _with_enclosers(lines, places, language):
        own = lines[at][:HEAD]
        before = own[: own.rfind(symbol.name)]
        if all(any(map(word.search, (before, *above))) for word in words):
            kept.append(at)
    return kept


def is_within(lines: Sequence[bytes], at: int, symbol: Symbol) -> bool:
    """Tell whether a line stands in all that a symbol names, by the lines above it alone."""
    own = lines[at][:HEAD]
    left = [_word(part) for part in symbol.within]
    left = [word for word in left if not word.search(own[: own.rfind(symbol.name)])]
    width = indentation(lines[at])
    for above in range(at - 1, -1, -1):
        if not left or not width:
            break
        line = lines[above]
        if _NO_ENCLOSER.match(line) is None and indentation(line) < width:
            width = indentation(line)
            left = [word for word in left if not word.search(line[:HEAD])]
    return not left


def outermost(lines: Sequence[bytes], places: Iterable[int]) -> list[int]:
    """Return those lines that are indented least."""
    widths = {at: indentation(lines[at]) for at in places}
    least = min(widths.values(), default=0)
    return [at for at, width in widths.items() if width == least]


def unqualified(lines: Sequence[bytes], places: Sequence[int], name: bytes) -> list[int]:
    """Return those lines that give a name without what it belongs to, or all if none does."""
    plain = re.compile(_QUALIFIED + re.escape(name))
    return [at for at in places if not plain.search(lines[at][:HEAD])] or list(places)


def definition_at(lines: Sequence[bytes], head: int, language: Language) -> Definition:
    """Return how far a definition reaches."""
    rest = lines[head : head + MOST_LINES]
    has_body = True
    if language.layout is Layout.FREE:
        last, has_body = _by_brackets(rest, language)
    elif language.layout is Layout.INDENTED:
        last = _by_indentation(rest, language)
    else:
        last = _by_closing_word(rest, language)
    while last and not rest[last].strip():
        last -= 1
    first = head
    width = indentation(lines[head])
    while first and _ADORNS.match(lines[first - 1]) and indentation(lines[first - 1]) == width:
        first -= 1
    return Definition(first + 1, head + last + 1, head + 1, has_body)


def _word(name: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"(?<![\w$\x80-\xff])" + re.escape(name) + rb"(?![\w$\x80-\xff])")


def _defined(line: bytes, language: Language) -> bytes:
    """Return the name that a line defines; nothing if that cannot be told."""
    skeleton = _skeleton(line)
    if language.driver == "rust" and _IMPL.match(skeleton):
        return b""
    function = _FUNCTION.search(skeleton)
    kind, sign = _KIND.search(skeleton), _BEFORE_SIGN.search(skeleton)
    is_returned = sign and sign.group(2) == b"\0" and language.driver in _RETURNS
    found = function or (None if is_returned else kind) or sign or _LAST_WORD.search(skeleton)
    return re.split(rb"::|\.", found.group(1))[-1] if found else b""


def _skeleton(line: bytes) -> bytes:
    """Return a line without what stands in quotes and in brackets, and without marks."""
    line = _QUOTED.sub(b"", line.replace(b"\0", b""))
    while (smaller := _ROUND.sub(b"\0", line)) != line:
        line = smaller
    begun, opened, _ = line.partition(b"(")
    line = begun + b"\0" * len(opened)
    while (smaller := _OTHERS.sub(b"", line)) != line:
        line = smaller
    return _MARK.sub(b"", line)


def _with_enclosers(
    lines: Sequence[bytes], places: Collection[int], language: Language
) -> Iterator[tuple[int, list[bytes]]]:
    """Yield places, and the lines around them that are indented less and less."""
    wanted = set(places)
    part = lines[: max(wanted) + 1]
    inside = lines_inside(part, language)
    above: list[tuple[int, bytes]] = []
    for at, line in enumerate(part):
        is_encloser = at not in inside and not _NO_ENCLOSER.match(line)
        if not is_encloser and at not in wanted:
            continue
        width = indentation(line)
        while above and above[-1][0] >= width:
            above.pop()
        if at in wanted:
            yield at, [encloser for _, encloser in above]
        if is_encloser:
            above.append((width, line[:HEAD]))


def lines_inside(lines: Sequence[bytes], language: Language) -> set[int]:
    """Return the lines that begin inside of a string or a comment, counted from zero."""
    text = b"\n".join(lines)
    found: set[int] = set()
    line = 0
    for kind, start, end in pieces(text, language.literals):
        ends = text.count(b"\n", start, end)
        if kind is not Stretch.CODE:
            found.update(range(line + 1, line + ends + 1))
        line += ends
    return found


def _by_brackets(lines: Sequence[bytes], language: Language) -> tuple[int, bool]:
    """Return where brackets end a definition, and whether they hold a body."""
    text = b"\n".join(lines)
    depth = line = 0
    has_body = is_over = False
    for kind, start, end in pieces(text, language.literals):
        if kind is not Stretch.CODE:
            line += text.count(b"\n", start, end)
            continue
        for found in _BRACKET.finditer(text, start, end):
            sign = found.group()
            if sign == b"\n":
                if depth == 0 and (has_body or is_over or not _goes_on(lines, line)):
                    return line, has_body
                line += 1
            elif sign == b";":
                is_over = is_over or depth == 0
            elif sign in _OPENING:
                has_body = has_body or (sign == b"{" and depth == 0)
                depth += 1
            elif depth == 0:  # what encloses the definition ends
                return line - bool(line and _CLOSES.match(lines[line])), has_body
            else:
                depth -= 1
    return (_by_closing_word(lines, language), True) if depth else (len(lines) - 1, has_body)


def _goes_on(lines: Sequence[bytes], line: int) -> bool:
    """Tell whether a definition goes on after a line that leaves no bracket open."""
    if not lines[line].strip():
        return True
    following = next((one for one in lines[line + 1 :] if one.strip()), None)
    if following is None:
        return False
    width, own = indentation(following), indentation(lines[0])
    return width > own or (width == own and bool(_GOES_ON.match(following)))


def _by_indentation(lines: Sequence[bytes], language: Language) -> int:
    """Return where a definition ends whose body is indented."""
    text = b"\n".join(lines)
    own = indentation(lines[0])
    depth = line = last = 0
    for kind, start, end in pieces(text, language.literals):
        if kind is not Stretch.CODE:
            ends = text.count(b"\n", start, end)
            line += ends
            last = line if ends else last
            continue
        for found in _BRACKET.finditer(text, start, end):
            sign = found.group()
            if sign == b";":
                continue
            if sign != b"\n":
                depth = max(0, depth + (1 if sign in _OPENING else -1))
                continue
            line += 1
            following = lines[line].strip()
            if not following or following.startswith(b"#"):
                continue
            is_statement = depth == 0 and text[found.start() - 1 : found.start()] != b"\\"
            if is_statement and indentation(lines[line]) <= own:
                return last
            last = line
    return last


def _by_closing_word(lines: Sequence[bytes], language: Language) -> int:
    """Return where a definition ends that a word or a bracket closes where it began."""
    own, last = indentation(lines[0]), 0
    inside = lines_inside(lines, language)
    for at, line in enumerate(lines[1:], start=1):
        if not line.strip():
            continue
        width = indentation(line)
        if at not in inside and width <= own:
            if width == own and _CLOSES.match(line):
                return at
            if width < own or not _GOES_ON_INSIDE.match(line):
                return last
        last = at
    return last
