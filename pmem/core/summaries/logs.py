"""Lines that programs wrote and not people: what a summary leaves to the transcript."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

LOOKED_AT: Final = 400
"""Characters of a line that tell what it is."""

REPEATED: Final = 6
"""Lines of one shape from which on only the first of them counts."""

_STAMP: Final = (
    r"(?:\d{4}-\d\d-\d\d[T ]|\d\d?/\w{2,3}/\d{4}[: ]|[A-Z][a-z]{2} [ \d]\d )?"
    r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?"
)
_LEVEL: Final = r"(?:INFO|DEBUG|TRACE|NOTICE|VERBOSE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|SEVERE)"
_LOGGED = re.compile(
    rf"\W{{0,4}}{_STAMP}\W{{1,4}}"
    rf"(?:(?i:{_LEVEL})\b|[\w.:/@\[\] -]{{0,60}}?(?:\b{_LEVEL}\b|\[\d+\]:))"
    rf"|\W{{0,4}}{_LEVEL}[\]:|] ?|{_LEVEL} +[\w.]{{1,60}}:|\W{{0,4}}level="
)
_FAILED = re.compile(
    r"\b(?:ERROR|FATAL|CRITICAL|SEVERE|PANIC)\b|[a-z](?:Error|Exception)\b"
    r"|(?i:[\[=](?:error|fatal|critical))"
)
_PROGRESS = re.compile(
    r"\s*[\[(]\s?\d{1,9} ?(?:/|of) ?\d{1,9}[\])]|.{0,80}[█▓▒░━]{3}|.{0,80}\[[#=. >-]{5,}\]"
    r"|.{0,80}\d{1,3}%\s?\|"
)
_FRAME = re.compile(r"\s*(?:File \"[^\"]{1,200}\", line \d|at [\w.$<>]{1,120} ?\()")
_OURS = re.compile(r"\W{0,8}[\[(](?:id|pmem): ?\S")
_ANY_WORD = re.compile(r"\w+")
_FIRST_WORD = re.compile(r"[^\W\d_]+")


def routine(lines: Sequence[str]) -> list[bool]:
    """Tell of each line of a message whether it is one of a log, of progress or of many alike.

    Of the errors in a log the first and the last are none, for one of them decides.

    Args:
        lines: All lines of one message.
    """
    heads = [line[:LOOKED_AT] for line in lines]
    failed = [
        place for place, head in enumerate(heads) if _LOGGED.match(head) and _FAILED.search(head)
    ]
    telling = {*failed[:1], *failed[-1:]}
    again = _find_repeated_heads(heads)
    return [
        place not in telling and (again[place] or _is_written(head))
        for place, head in enumerate(heads)
    ]


def _is_written(head: str) -> bool:
    """Tell whether a program wrote a line, by the line alone."""
    return any(pattern.match(head) is not None for pattern in (_LOGGED, _PROGRESS, _FRAME, _OURS))


def _find_repeated_heads(heads: Sequence[str]) -> list[bool]:
    """Tell of each line whether many of the message have its first word and its marks."""
    if len(heads) < REPEATED:
        return [False] * len(heads)
    shapes = list(map(_shape, heads))
    counted = Counter(shapes)
    seen: set[str] = set()
    found = []
    for shape in shapes:
        found.append(shape in seen and counted[shape] >= REPEATED)
        seen.add(shape)
    return found


def _shape(head: str) -> str:
    first = _FIRST_WORD.search(head)
    return f"{first.group() if first else ''} {_ANY_WORD.sub('0', head)}"
