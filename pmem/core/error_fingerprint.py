"""The fingerprint of an error: a digest of its most specific line, with details masked.

That line is the last exception of a trace, else the first line that says `error:` or the
like, else the last line; one that says next to nothing is passed over. What a log, a test runner
or a compiler puts before it is left out, so that the same error is the same in each of them.
Masked are numbers and times, paths, and what stands in quotes, so that the same mistake elsewhere
is the same; quotes count where little else is said. Time is linear.
"""

import re
from collections.abc import Iterator
from hashlib import blake2b
from typing import Final

_MARK: Final = "error:"  # as in `core.outcomes`, which a hook has no time to load
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

_MOST_BEFORE: Final = 8
"""So many things before an error are left out at the most."""
_BEFORE: Final = tuple(
    map(
        re.compile,
        (
            r"\s+",
            r"(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?"
            r"(?: ?(?:Z|[+-]\d\d:?\d\d|UTC))?:?\s+",
            r"\[[^\[\]]{1,60}\]:?\s+",
            r"npm (?:ERR!|error)\s+",
            r"FAILED \S{1,300} - ",
            r"E\s+",
            r"(?:Uncaught|Caused by:|Unhandled exception\.)\s+",
            r"[\w.-]{1,30}:\s+(?=(?i:error|fatal)\b)",
            r"[^\s:()]{1,300}[:(]\d{1,7}(?:[:,]\d{1,7})?\)?:?\s+(?:-\s+)?",
            r"\d{1,7}:\d{1,7}\s+",
            r"(?i:error|fatal|critical|severe)(?:\s*[:!]\s*|\s+)",
            r"(?:WARN|INFO|DEBUG)\w{0,4}:?\s+",
            r"\|\s+",
        ),
    )
)
_NAMED: Final = re.compile(r"(?<![\w.$])[A-Za-z_][\w.$]{0,200}(?:Error|Exception)(?: \[\w+\])?: ")
_PANICKED: Final = re.compile(r"thread '[^']{0,100}'(?: \(\d+\))? panicked at ")
_OLD_PANICKED: Final = re.compile(r"'(.{1,400})', [^\s,']{1,300}:\d+:\d+\Z")
_PLACE: Final = re.compile(r"[^\s:]{1,300}:\d+:\d+:\s*")
_SEARCHED: Final = 200

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
_CODE: Final = re.compile(r"[A-Z]{1,8}\d{2,6}|E[A-Z]{4,14}")
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
    """Return what recognises an error, in hexadecimal; None where no line says enough."""
    said = _telling(text)[1].encode("utf-8", "replace")
    return blake2b(said, digest_size=_BYTES).hexdigest() if said else None


def evidence_of(text: str) -> tuple[str, ...]:
    """Return an error as memories may name it, `error:` and a fingerprint; nothing without one."""
    found = fingerprint(text)
    return () if found is None else (_MARK + found,)


def telling_line(text: str) -> str:
    """Return the line of an error that tells it from others; empty where none does."""
    return _telling(text)[0]


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


def _telling(text: str) -> tuple[str, str]:
    """Return the first line that says enough, and what counts of it; two empty texts for none."""
    for line in _candidates(text):
        said = essence(line)
        for keeps_quoted, nothing in ((False, _VAGUE), (True, _SAY_NOTHING)):
            left = masked(said, keeps_quoted=keeps_quoted)
            if _is_telling(left, nothing):
                return line.strip(), left
    return "", ""


def _is_telling(said: str, nothing: frozenset[str]) -> bool:
    """Tell whether enough words are left; a code such as `E0382` is enough by itself.

    Letters without spaces between words count in pairs.
    """
    words = {word for word in _LETTERS.findall(said) if word.lower() not in nothing}
    if any(map(_CODE.fullmatch, words)):
        return True
    distinct = {word.lower() for word in words}
    return sum(1 if word.isascii() else len(word) // 2 for word in distinct) >= _LEAST_WORDS


def essence(line: str) -> str:
    """Return what a line says of an error, whoever reports it."""
    panic = _PANICKED.match(line)
    if panic:
        rest = line[panic.end() :]
        old = _OLD_PANICKED.match(rest)
        return f"panicked: {old[1] if old else _PLACE.sub('', rest, count=1)}"
    left = _without_before(line)
    named = _NAMED.search(left[:_SEARCHED])
    return left[named.start() :] if named else left


def _without_before(line: str) -> str:
    for _ in range(_MOST_BEFORE):
        found = next((match for each in _BEFORE if (match := each.match(line))), None)
        if found is None or found.end() == len(line):
            return line
        line = line[found.end() :]
    return line
