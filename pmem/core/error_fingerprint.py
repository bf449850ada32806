"""What recognises an error that was seen before: a digest of its telling line, details masked.

The telling line is the last exception of a trace, else the first line that says `error:` or the
like, else the last line; one that says next to nothing is passed over. What a log, a test runner or
a compiler puts before it is left out (see `error_forms`), so that the same error is the same in
each of them. Masked are numbers and times, paths, and what stands in quotes, so that the same
mistake elsewhere is the same; quotes count where little else is said. A digest stands in memories
that go from clone to clone: what was kept is looked for as it was kept, by `evidence_of` in full.
Time is linear.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import Final, NamedTuple

from pmem.core.error_forms import essence

_MARK: Final = "error:"  # as in `core.dead_ends`, which a hook has no time to load
DIGITS: Final = 16
"""Hexadecimal digits of a fingerprint."""
_BYTES: Final = DIGITS // 2
_LONGEST_LINE: Final = 4000
"""Of a line so many characters are read, and of what is masked the first few hundred count."""
_TELLING: Final = 400
_LEAST_WORDS: Final = 2
"""With fewer words a line would be like too many others."""
_LEAST_HEX: Final = 7

_COLOURS: Final = re.compile(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")
_EXCEPTION: Final = re.compile(
    r"(?:E +|Caused by: |Unhandled exception\. |Uncaught |Exception in thread \S+ )?"
    r"[A-Za-z_][\w.$]*(?:Error|Exception|Interrupt|Exit)(?: \[\w+\])?(?::|$)"
)
_PLAIN: Final = re.compile(r"(?:Uncaught )?(?:Error|Exception)(?: \[\w+\])?(?::|$)")
"""What exceptions, and the errors of many programs, begin with; a trace below it tells."""
_ERROR: Final = re.compile(
    r"(?:^|[\s:\]>)-])(?:(?i:error|fatal|panic|fail|err!)(?: ?\[?[A-Z]{1,8}\d{1,6}\]?)? ?[:!]"
    r"|(?i:err!|\[error\]|npm error)|ERROR(?=\s))"
)
_COMPLAINT: Final = re.compile(
    r"(?i:not found|no such file|permission denied|cannot |could not |unable to |refused"
    r"|timed out|undefined|unknown|invalid|failed|failure)"
)
_TRACE: Final = "Traceback (most recent call last):"
_PANIC: Final = " panicked at "
_WENT_WRONG: Final = "* What went wrong:"

_QUOTED: Final = (
    r'"[^"]*"|`[^`\u2018\u2019]*[`\u2019]|\'[^\']*\'(?!\w)|\u2018[^\u2018\u2019]*\u2019'
    r"|\u201c[^\u201c\u201d]*\u201d|\u00ab[^\u00ab\u00bb]*\u00bb"
)
_WORD: Final = r"[^\s\"'`()\[\]{}<>,;=|\u2018\u2019\u201c\u201d\u00ab\u00bb][^\s\"`()\[\]{}<>,;=|]*"
_PIECES: Final = re.compile(f"(?P<quoted>{_QUOTED})|(?P<word>{_WORD})|(?P<space>\\s+)")
_BARE_PIECES: Final = re.compile(f"(?P<word>{_WORD})|(?P<space>\\s+)")
_FILE_AND_LINE: Final = re.compile(r"[^:]+\.\w{1,5}:\d")
_RUN: Final = re.compile(r"[0-9A-Za-z_]+")
_NUMBER: Final = re.compile(r"(?<!\w)[+-]?0(?:[.,:+-]0)*")
_LETTERS: Final = re.compile(r"[A-Z]{1,8}\d{2,6}|[^\W\d_]{2,}")
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_SAY_NOTHING: Final = frozenset(
    "error errors err exception fatal fail failed failure assert assertionerror exit exited code"
    " status command make makefile npm path errno syscall build at in on of to the an with"
    " line".split()
)


_VAGUE: Final = _SAY_NOTHING | frozenset(
    "solve process did not complete successfully returned non zero subprocess calledprocesserror"
    " task script job step goal execute execution run running target recipe for stopped ended"
    " lifecycle signal terminated rule needed because".split()
)
"""Words that many failures share: with no others, what stands in quotes tells them apart."""


def fingerprint(text: str) -> str | None:
    """Return what recognises an error.

    Returns:
        Hexadecimal digits; None where no line says enough to be told from others.
    """
    return _digest(_telling(_candidates(text), _NOW)[1])


def evidence_of(text: str) -> tuple[str, ...]:
    """Return an error as memories may name it, `error:` and a fingerprint; nothing without one.

    Returns:
        First what a memory is to name; behind it what one names that was kept before forms of
        errors were told apart.
    """
    lines = list(_candidates(text))
    found = (_digest(_telling(lines, way)[1]) for way in (_NOW, _EARLY))
    return tuple(_MARK + each for each in dict.fromkeys(found) if each is not None)


def _digest(said: str) -> str | None:
    data = said.encode("utf-8", "replace")
    return blake2b(data, digest_size=_BYTES).hexdigest() if said else None


def telling_line(text: str) -> str:
    """Return the line of an error that tells it from others; empty where none does."""
    return _telling(_candidates(text), _NOW)[0]


def masked(line: str, *, keeps_quoted: bool = False) -> str:
    """Return a line without what differs from one time to the next."""
    pieces = _BARE_PIECES if keeps_quoted else _PIECES
    return pieces.sub(_masked_piece, line[:_LONGEST_LINE]).strip()[:_TELLING]


def _masked_piece(found: "re.Match[str]") -> str:
    if found.lastgroup == "quoted":
        return '""'
    if found.lastgroup == "space":
        return " "
    word = found[0]
    if "/" in word or "\\" in word or _FILE_AND_LINE.match(word):
        return "/"
    return _NUMBER.sub("0", _RUN.sub(_masked_run, word))


def _masked_run(found: "re.Match[str]") -> str:
    """Mask a number with its unit, or a hexadecimal one; a code such as `E0382` tells."""
    run = found[0]
    if run[0].isdigit():
        return "0"
    is_hex = len(run) >= _LEAST_HEX and _HEX.issuperset(run) and not run.isalpha()
    return "0" if is_hex else run


def _shown(line: str) -> str:
    """Return what a terminal shows of a line: no colours, and what was written over gone."""
    if "\x1b" in line:
        line = _COLOURS.sub("", line)
    return line.rstrip().rpartition("\r")[2][:_LONGEST_LINE]


def _exceptions(lines: list[str]) -> Iterator[str]:
    """Yield the lines that name an exception: after a trace, or by the name's end."""
    in_trace = False
    before = ""
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if line.strip() == _TRACE:
            in_trace = True
        elif in_trace and line and not line[0].isspace():
            in_trace = False
            yield line
        elif _PANIC in line and line.endswith(":"):
            yield f"{line} {after}"
        elif line == _WENT_WRONG:
            yield after
        elif line.startswith("E ") and not before.startswith("E "):
            yield line[1:]
        elif _PLAIN.match(line):
            if after.lstrip().startswith("at "):
                yield line
        elif _EXCEPTION.match(line):
            yield line
        before = line


def _candidates(text: str) -> Iterator[str]:
    """Yield the lines that may tell an error from others, what tells most before others."""
    lines = [_shown(line) for line in text.split("\n")]
    yield from reversed(list(_exceptions(lines)))
    for pattern in (_ERROR, _COMPLAINT):
        yield from filter(pattern.search, lines)
    yield next((line for line in reversed(lines) if line.strip()), "")


class _Way(NamedTuple):
    """How the telling line is read: what of it counts, and which words and codes tell."""

    form: Callable[[str], str]
    vague: frozenset[str]
    codes: re.Pattern[str]


_NOW: Final = _Way(essence, _VAGUE, re.compile(r"[A-Z]{1,8}\d{2,6}|E[A-Z]{4,14}"))
_EARLY: Final = _Way(str, _SAY_NOTHING, re.compile(r"[A-Z]{1,8}\d{2,6}"))
"""As errors were read before their forms were told apart: for what was kept then."""


def _telling(lines: Iterable[str], way: _Way) -> tuple[str, str]:
    """Return the first line that says enough, and what counts of it; two empty texts for none."""
    for line in lines:
        said = way.form(line)
        for keeps_quoted, nothing in ((False, way.vague), (True, _SAY_NOTHING)):
            left = masked(said, keeps_quoted=keeps_quoted)
            if _is_telling(left, nothing, way.codes):
                return line.strip(), left
    return "", ""


def _is_telling(said: str, nothing: frozenset[str], codes: re.Pattern[str]) -> bool:
    """Tell whether enough words are left; a code such as `E0382` is enough by itself.

    Letters without spaces between words count in pairs.
    """
    words = {word for word in _LETTERS.findall(said) if word.lower() not in nothing}
    if any(map(codes.fullmatch, words)):
        return True
    return sum(map(_weight, {word.lower() for word in words})) >= _LEAST_WORDS


def _weight(word: str) -> int:
    return 1 if word.isascii() else len(word) // 2
