"""What code blocks and tables of an instruction file say, in sentences."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Final

from pmem.core.lines import split_lines
from pmem.interchange.markdown import MarkdownBlock, plain_text
from pmem.interchange.rule_mood import is_command_line

MOST_LINES: Final = 15
"""Lines of code that is shown, and no command."""
MOST_FILES: Final = 40
"""Lines of a drawn tree that is told."""
LONGEST: Final = 600
"""Characters of what is kept together, and of a paragraph."""
PATH: Final = r"`((?=[^`]*[./])[\w.-]+(?:/[\w.*-]+)*/?)`"
"""A file, a folder or a pattern in back quotes."""
_SHELLS: Final = frozenset(
    "bash bat cmd console fish powershell ps1 sh shell shell-session terminal zsh".split()
)
_PLAIN: Final = ("", "text", "txt", "plaintext")
_REMARK: Final = re.compile(r"\s+#\s+(.*)\Z")
_BRANCH: Final = re.compile(r"[├└]")
_IN_TREE: Final = re.compile(r"([\s\u2500-\u257f]*)(\S+)(?:\s+(?:(?:#|//|[←–—]|--?)\s*)?(.*))?")
_PHRASE: Final = 3
_PAIR: Final = 2
_WORD: Final = re.compile(r"\w")


def command_line(block: MarkdownBlock) -> str:
    """Return the commands of a code block, each in back quotes with what is remarked on it."""
    if "<<" in block.text or len(block.text) > 2 * LONGEST:
        return ""
    told: list[str] = []
    remark = ""
    for line in split_lines(block.text.replace("\\\n", " ")):
        command = " ".join(line.removeprefix("$ ").split())
        if command.startswith("#"):
            remark = f"{remark} {command.strip('# ')}".strip()
            continue
        found = _REMARK.search(line)
        after = f" ({found[1].strip()})" if found else ""
        command = " ".join(_REMARK.sub("", line).removeprefix("$ ").split())
        can_run = block.language in _PLAIN and is_command_line(command)
        if command and block.language not in _SHELLS and not can_run:
            return ""
        if command:
            told.append(f"{remark + ': ' if remark else ''}`{command}`{after}")
            remark = ""
    return "; ".join(told)


def shown(block: MarkdownBlock) -> list[str]:
    """Return what a code block shows, in parts of one line; nothing of one that is too long.

    A drawn tree is told by its files, one after the other.
    """
    lines = [line for line in split_lines(block.text) if line.strip()]
    if _BRANCH.search(block.text):
        return _parts(_files(lines)) if len(lines) <= MOST_FILES else []
    between = "; " if block.language in _PLAIN else " "
    code = between.join(" ".join(line.split()) for line in lines)
    if len(lines) > MOST_LINES or len(code) > LONGEST:
        return []
    return [code if "`" in code else f"`{code}`"]


def _files(lines: Sequence[str]) -> Iterator[str]:
    """Yield the files of a drawn tree, each with its folders and what is said of it."""
    above: list[tuple[int, str]] = []
    found = [one for one in map(_IN_TREE.fullmatch, lines) if one is not None]
    for one, after in zip_longest(found, found[1:]):
        depth = len(one[1])
        above = [other for other in above if other[0] < depth]
        path = "".join(f"{name.rstrip('/')}/" for _, name in above) + one[2]
        above.append((depth, one[2]))
        remark = (one[3] or "").strip()
        if remark or after is None or len(after[1]) <= depth:
            yield f"`{path}`: {remark}" if remark else f"`{path}`"


def _parts(texts: Iterable[str]) -> list[str]:
    """Return texts one after the other, in as few parts as may be."""
    parts: list[str] = []
    for text in texts:
        if parts and len(parts[-1]) + len(text) < LONGEST:
            parts[-1] += f"; {text}"
        else:
            parts.append(text)
    return parts


def rows(block: MarkdownBlock) -> list[str]:
    """Return the rows of a table as sentences; a heading that is a phrase is told with its cell."""
    head, *others = ([plain_text(cell) for cell in row] for row in block.rows)
    return [_row(head, row) for row in others]


def _row(head: Sequence[str], row: Sequence[str]) -> str:
    """Return a row as a sentence: what it is about, and what it says of that."""
    named = len(row) > _PAIR
    cells = [
        f"{title} {cell}" if title and (named or _is_phrase(title)) else cell
        for title, cell in zip(head[1:], row[1:], strict=False)
        if _WORD.search(cell)
    ]
    first = f"{head[0].rstrip('.…: ')} {row[0]}" if row[0] and _is_phrase(head[0]) else row[0]
    return ": ".join(filter(None, [first, ", ".join(cells)]))


def _is_phrase(title: str) -> bool:
    return len(title.split()) >= _PHRASE
