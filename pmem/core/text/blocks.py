"""A message's text in blocks: the author's prose, and code, logs, data and quotations.

Prose is the author's own word. Code, logs, data and quotations are shown, and what stands between
tags or comes from hooks was put there by a program. A block is told by its lines, each looked at
once and only in its first `LOOKED_AT` characters, so the time is linear in the text.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple

from pmem.values.patterns import lazily

LOOKED_AT: Final = 400
"""Characters of a line that tell what it is."""

REPEATED: Final = 6
"""Lines that differ only in their numbers, from which on a program has written them."""


class BlockKind(StrEnum):
    """What a block of a message is."""

    PROSE = "prose"
    CODE = "code"
    LOG = "log"
    QUOTE = "quote"
    DATA = "data"
    PASTED = "pasted"


class TextBlock(NamedTuple):
    """Lines of a message that are of one kind; blank lines between them belong to it."""

    kind: BlockKind
    text: str


_DATED: Final = (
    r"(?:\d{4}-\d\d-\d\d[T ]|\d\d?/\w{2,3}/\d{4}[: ]|[A-Z][a-z]{2} [ \d]\d )?"
    r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?"
)
_LEVEL: Final = r"(?:INFO|DEBUG|TRACE|NOTICE|VERBOSE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|SEVERE)"
_LOG = lazily(
    rf"\W{{0,4}}(?:{_DATED}(?:\W{{1,4}}|$)|level=)"
    rf"|\s*(?:\[?(?:{_LEVEL}|FAILED|FAIL|PASSED|PASS)\b"
    r"|npm ERR|Traceback \(|Caused by:|panic: |exit (?:code|status) \d|commit [0-9a-f]{7,40}$"
    r"|[+=~-]{3}|File \"|at [\w.$<>]{1,120} ?\(|\w{0,60}(?:Error|Exception): |ok  \t|\?   \t"
    r"|[✓✔✗✘×●] .{0,200}\(\d|\(?\d{1,6} (?:pass(?:ed)?|fail(?:ed)?|skipped)\b[^.]{0,80}$"
    r"|[\[(]\s?\d{1,9} ?(?:/|of) ?\d{1,9}[\])]|\d{1,3}%\s?\|)"
    r"|.{0,80}(?:[█▓▒░━]{3}|\[[#=. >-]{5,}\])"
)
_PROMPT = lazily(r"\s*(?:[$❯➜] |[\w.-]{1,40}[@:][\w.~/: -]{1,80}[$#%] )\S")
_DATA = lazily(r"\s*(?:[{}|]|[\[\]],?\s*$|\[[{\[\"\d]|\"[^\"]{1,80}\"\s?:|@@ |diff --git )")
_CODE = lazily(
    r"\s*(?:\d{1,6}→|<|//|/\*|\*/|#include|(?:const|let|var) [\w{\[][^=]{0,60}=|(?:export |async "
    r"|public |private |static ){0,3}(?:function|class|interface|def|func|fn) \w{1,60}[(<:{]"
    r"|import .{1,80} from ['\"]|from [\w.]{1,80} import |return\b[^.]{0,120};$)"
)
_CODE_ENDS: Final = ("{", "}", "};", "],", "=>", "\\", ");")
_KEY = lazily(r"[a-z_][\w.-]{0,60}:\s*$")
_INNER_KEY = lazily(r"(?: {2,8}|\t)(?:- )?[\w.-]{1,60}:(?:\s|$)")
_INDENTED: Final = ("    ", "\t")
_LISTED = lazily(r"\s{0,12}(?:[-*+•]|\d{1,3}[.)])\s")
_FENCE = lazily(r"\s{0,12}(`{3,}|~{3,})")
_DATA_FENCES: Final = frozenset(("json", "yaml", "yml", "toml", "xml", "csv", "diff", "patch"))

_NUMBER = lazily(r"\d{1,20}")
_TAG = lazily(r"(^[ \t]{0,8})?<(/?)([a-zA-Z][\w-]{1,60})(?: [^<>\n]{0,200})?>", re.MULTILINE)
OWN_TAGS: Final = frozenset(("user_query", "user-query", "user_message", "command-args"))
"""Tags by which a program marks what its user has said."""
_NOTICE = lazily(
    r"\s*\[(?:Request interrupted|Image|Pasted text|Attached file)\b[^\]\n]{0,200}\]\s*$"
    r"|\W{0,8}[\[(](?:id|pmem): ?\S"
)
_HOOK = lazily(
    r"\s*(?:(?:\w{1,30} ){0,2}hook (?:feedback|blocking error|error|success)\b"
    r"|\w{1,30} (?:stopped|blocked|denied) by (?:\w{1,30} )?hook:"
    r"|Caveat: The messages below were generated\b)"
)
_HANDED_OVER: Final = "This session is being continued from a previous conversation"


@lru_cache(maxsize=64)
def blocks(text: str) -> tuple[TextBlock, ...]:
    """Take a message apart; put together, the blocks' lines are the message's."""
    found: list[TextBlock] = []
    for pasted, part in _parts(text):
        if pasted:
            found.append(TextBlock(BlockKind.PASTED, part))
        else:
            found += _blocks_of_lines(part.splitlines())
    return tuple(found)


def read_prose(text: str) -> str:
    """Return only what a message's author says: its prose, line by line."""
    return "\n".join(prose_lines(text))


def prose_lines(text: str) -> Iterator[str]:
    """Yield the lines of a message's prose, with a blank one where something is left out."""
    for block in blocks(text):
        if block.kind is BlockKind.PROSE:
            yield from block.text.splitlines()
        else:
            yield ""


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """Yield what stands between tags as pasted, and what stands around them as not."""
    if text.startswith(_HANDED_OVER) or _HOOK.match(text):
        yield True, text
        return
    end = 0
    for begin, close in _tagged(text) if "</" in text else ():
        if text[end:begin].strip():
            yield False, text[end:begin]
        yield True, text[begin:close]
        end = close
    if text[end:].strip():
        yield False, text[end:]


def _tagged(text: str) -> Iterator[tuple[int, int]]:
    """Yield where a pair of tags begins and ends that holds what is not the author's.

    A tag counts where it opens a line or has a name of several words, for such are no HTML. Of
    tags around the author's own words only the tags themselves are.
    """
    opened: list[re.Match[str]] = []
    closed: dict[str, list[int]] = {}
    for match in _TAG.finditer(text):
        if match.group(2):
            closed.setdefault(match.group(3), []).append(match.end())
        else:
            opened.append(match)
    end = 0
    for match in opened:
        name = match.group(3)
        ends = closed.get(name, [])
        place = bisect_left(ends, match.end())
        if match.start() < end or place == len(ends):
            continue
        if name.lower() in OWN_TAGS:
            yield match.span()
            yield ends[place] - len(name) - 3, ends[place]
        elif match.group(1) is not None or "-" in name or "_" in name:
            yield match.start(), ends[place]
        else:
            continue
        end = ends[place]


def _blocks_of_lines(lines: list[str]) -> Iterator[TextBlock]:
    kinds = list(_kinds(lines))
    shapes = [_NUMBER.sub("0", line[:LOOKED_AT]) for line in lines]
    counted = Counter(shapes) if len(lines) >= REPEATED else {}
    for place, kind in enumerate(kinds):
        if kind is None:
            kinds[place] = kinds[place - 1] if place else BlockKind.PROSE
        elif kind is BlockKind.PROSE and counted.get(shapes[place], 0) >= REPEATED:
            kinds[place] = BlockKind.LOG
    for kind, group in groupby(zip(kinds, lines, strict=True), key=lambda pair: pair[0]):
        if kind is not None:
            yield TextBlock(kind, "\n".join(line for _, line in group))


def _kinds(lines: list[str]) -> Iterator[BlockKind | None]:
    """Yield the kind of each line; None for a blank one that follows what is before it."""
    fence = ""
    fenced = BlockKind.CODE
    running: BlockKind | None = None
    listed = False
    for place, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            yield fenced
            if mark and mark.group(1).startswith(fence):
                fence = ""
            continue
        if mark:
            fence, running = mark.group(1), None
            fenced = _fenced(line[mark.end() :].strip().lower(), lines[place + 1 : place + 4])
            yield fenced
            continue
        head = line[:LOOKED_AT]
        if not head.strip():
            running = None
            yield None
            continue
        following = lines[place + 1][:LOOKED_AT] if place + 1 < len(lines) else ""
        running = _running(running, head, following)
        yield running or _kind_of(head, line.rstrip(), listed)
        if not head[0].isspace():
            listed = _LISTED.match(head) is not None


def _running(running: BlockKind | None, head: str, following: str) -> BlockKind | None:
    """Return the kind that holds until the next blank line, once something has begun one."""
    if running is BlockKind.DATA and not head[0].isspace():
        running = None
    if running is not None:
        return running
    if _PROMPT.match(head):
        return BlockKind.LOG
    if _HOOK.match(head):
        return BlockKind.PASTED
    if _KEY.match(head) and _INNER_KEY.match(following):
        return BlockKind.DATA
    return None


def _fenced(info: str, first: list[str]) -> BlockKind:
    if info in _DATA_FENCES:
        return BlockKind.DATA
    shown = [line[:LOOKED_AT] for line in first]
    is_log = not info and any(_LOG.match(line) or _PROMPT.match(line) for line in shown)
    return BlockKind.LOG if is_log else BlockKind.CODE


def _kind_of(head: str, line: str, listed: bool) -> BlockKind:
    """Tell what a line is by itself.

    `listed`: it stands below an item of a list, which indents what belongs to it.
    """
    if head.lstrip().startswith(">"):
        return BlockKind.QUOTE
    if _NOTICE.match(head):
        return BlockKind.PASTED
    if _LOG.match(head):
        return BlockKind.LOG
    if _DATA.match(head) or '":' in head:
        return BlockKind.DATA
    indented = head.startswith(_INDENTED) and not listed and not _LISTED.match(head)
    if indented or line.endswith(_CODE_ENDS) or _CODE.match(head):
        return BlockKind.CODE
    return BlockKind.PROSE
