"""What recognises an error that was seen before: a digest of its telling line, details masked.

The telling line is the last exception of a trace, else the first line that says `error:` or the
like, else the last line; one that says next to nothing is passed over. Masked are numbers and
times, paths, and what stands in quotes, so that the same mistake elsewhere is the same. A digest
stands in memories that go from clone to clone: whatever changes here makes them forget, so what is
masked, and how, stays. Time is linear.
"""

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Final

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


def fingerprint(text: str) -> str | None:
    """Return what recognises an error.

    Args:
        text: What a program wrote as it failed, whole; colours and the like count for nothing.

    Returns:
        Hexadecimal digits; None where no line says enough to be told from others.
    """
    said = _telling(_candidates(text))[1]
    return (
        blake2b(said.encode("utf-8", "replace"), digest_size=_BYTES).hexdigest() if said else None
    )


def evidence_of(text: str) -> str | None:
    """Return an error as a memory names it, `error:` and its fingerprint; None without one.

    Args:
        text: What a program wrote as it failed.
    """
    found = fingerprint(text)
    return None if found is None else _MARK + found


def telling_line(text: str) -> str:
    """Return the line of an error that tells it from others; empty where none does.

    Args:
        text: What a program wrote as it failed.
    """
    return _telling(_candidates(text))[0]


def masked(line: str, *, keeps_quoted: bool = False) -> str:
    """Return a line without what differs from one time to the next.

    Args:
        line: One line.
        keeps_quoted: Mask only the numbers and paths in what stands in quotes.
    """
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


def _telling(lines: Iterable[str]) -> tuple[str, str]:
    """Return the first line that says enough, and what counts of it; two empty texts for none."""
    for line in lines:
        for keeps_quoted in (False, True):
            said = masked(line, keeps_quoted=keeps_quoted)
            if _is_telling(said):
                return line.strip(), said
    return "", ""


def _is_telling(said: str) -> bool:
    """Tell whether enough words are left; a code such as `E0382` is enough by itself.

    Letters without spaces between words count in pairs.
    """
    words = {word.lower() for word in _LETTERS.findall(said)} - _SAY_NOTHING
    return sum(map(_weight, words)) >= _LEAST_WORDS


def _weight(word: str) -> int:
    if word[-1].isdigit():
        return _LEAST_WORDS
    return 1 if word.isascii() else len(word) // 2
