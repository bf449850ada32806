"""What programs put before an error: a log's time and level, a place, the name of a test."""

import re
from typing import Final

_MOST: Final = 8
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
_EXCEPTION: Final = re.compile(
    r"(?<![\w.$])[A-Za-z_][\w.$]{0,200}(?:Error|Exception)(?: \[\w+\])?: "
)
_PANIC: Final = re.compile(r"thread '[^']{0,100}'(?: \(\d+\))? panicked at ")
_OLD_PANIC: Final = re.compile(r"'(.{1,400})', [^\s,']{1,300}:\d+:\d+\Z")
_PLACE: Final = re.compile(r"[^\s:]{1,300}:\d+:\d+:\s*")
_SEARCHED: Final = 200


def essence(line: str) -> str:
    """Return what a line says of an error, whoever reports it."""
    panic = _PANIC.match(line)
    if panic:
        rest = line[panic.end() :]
        old = _OLD_PANIC.match(rest)
        return f"panicked: {old[1] if old else _PLACE.sub('', rest, count=1)}"
    left = _without_before(line)
    named = _EXCEPTION.search(left[:_SEARCHED])
    return left[named.start() :] if named else left


def _without_before(line: str) -> str:
    for _ in range(_MOST):
        found = next((match for each in _BEFORE if (match := each.match(line))), None)
        if found is None or found.end() == len(line):
            return line
        line = line[found.end() :]
    return line
