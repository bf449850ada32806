"""Markdown files as blocks: what each line of a file belongs to, as CommonMark says it.

markdown-it-py decides where a block begins and ends. Every line with a word in it is in a block,
so that a reader can name all that it has no use for. Front matter is the YAML between two lines
`---` at the beginning. Many programs read it without a YAML parser, and people write for these:
`globs: **/*.ts` and `description: Rules: ours` are no YAML. Where the parser fails, each such value
counts as text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pmem.core.lines import split_lines
from pmem.interchange.rule_mood import is_command_line

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from markdown_it.tree import SyntaxTreeNode

_BARE: Final = re.compile(
    r"^([ \t]*(?:-|[\w-]+:)[ \t]+)(?![|>][-+]?[ \t]*$)([^\s\"'#].*?)[ \t]*$", re.MULTILINE
)
_KEY: Final = re.compile(r"^[\w-]+\s*:", re.MULTILINE)


_MATTER: Final = re.compile(r"[\w-]+:(?:[ \t].*)?(?:\n(?:[ \t-].*|[\w-]+:(?:[ \t].*)?))*")
"""Front matter below something else, which is a heading above a line `---`."""
_MOST_LEVELS: Final = 100
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_BEGIN: Final = re.compile(r"<!--\s*BEGIN\b", re.IGNORECASE)
_END: Final = re.compile(r"<!--\s*END\b", re.IGNORECASE)
_WORD: Final = re.compile(r"\w")
_REFERENCE: Final = re.compile(r"(`[^`]*`)|\[([^\[\]]+)\]\[[^\[\]]*\]")
_WORDS: Final = re.compile(r"`[^`]*`|[^\s`]+")
_PATTERN: Final = re.compile(r"/\*|\*/|\*\.\w|/__|__[./]\w")
"""In a file's name or a pattern of such names, where stars and lines stress nothing."""
_TO_FILE: Final = re.compile(
    r"\[([^\[\]]+)\]\((?:mdc:)?(?:\./)?((?!\w+:)[\w.@/-]+(?:\.\w+|/))(?:#[^)\s]*)?\)"
)
_MARKUP: Final = re.compile(
    r"<(?:!--|/?(?:a|b|br|code|em|i|img|kbd|p|span|strong|sub|sup|u)\b)", re.IGNORECASE
)

MOST_LINES: Final = 15
"""Lines of code that is shown, and no command."""
MOST_FILES: Final = 40
"""Lines of a drawn tree that is told."""
LONGEST: Final = 600
"""Characters of what is kept together, and of a paragraph."""
_SHELLS: Final = frozenset(
    "bash bat cmd console fish powershell ps1 sh shell shell-session terminal zsh".split()
)
_PLAIN: Final = ("", "text", "txt", "plaintext")
_CONTINUED: Final = re.compile(r"(?:\\| `)\n")
"""A line of a shell, or of PowerShell, that goes on in the next."""
_REMARK: Final = re.compile(r"\s+#\s+(.*)\Z")
_BRANCH: Final = re.compile(r"[├└]")
_IN_TREE: Final = re.compile(r"([\s\u2500-\u257f]*)(\S+)(?:\s+(?:(?:#|//|[←–—]|--?)\s*)?(.*))?")
_PHRASE: Final = 3
_PAIR: Final = 2


class FrontMatter(NamedTuple):
    """What a file says of itself.

    `values` has text, lists and mappings by their keys, in small letters without `-` and `_`;
    `lines` is how many lines it takes, none where there is no front matter.
    """

    values: dict[str, Any]
    lines: int
    is_readable: bool = True

    def texts(self, key: str) -> list[str]:
        """Return what a key has: the texts of a list, one text, or nothing."""
        value = self.values.get(key)
        values = value if isinstance(value, list | dict) else [value]
        return [one.strip() for one in values if isinstance(one, str) and one.strip()]


def read_front_matter(lines: Sequence[str]) -> FrontMatter:
    """Read the front matter of a file's lines."""
    if not lines or lines[0].rstrip() != "---":
        return FrontMatter({}, 0)
    ends = (n for n, line in enumerate(lines[1:], start=2) if line.rstrip() in ("---", "..."))
    end = next(ends, 0)
    text = "\n".join(lines[1 : end - 1])
    if not end or (text.strip() and not _KEY.search(text)):
        return FrontMatter({}, 0)
    found = _parse(text)
    if found is None:
        found = _parse(_BARE.sub(_quote, text))
    if not isinstance(found, dict):
        return FrontMatter({}, end, is_readable=found == "" or not text.strip())
    return FrontMatter({named(str(key)): value for key, value in found.items()}, end)


def _quote(bare: re.Match[str]) -> str:
    return "{}'{}'".format(bare[1], bare[2].replace("'", "''"))


def named(key: str) -> str:
    """Return a key as it is looked up: `superseded-by` and `supersededBy` are one."""
    return re.sub(r"[-_\s]", "", key).casefold()


def _parse(text: str) -> Any:
    """Return what YAML says, every scalar as text; None where it is no YAML."""
    import yaml

    try:
        return yaml.load(text, Loader=yaml.BaseLoader) or ""  # noqa: S506 - it makes texts alone
    except (yaml.YAMLError, RecursionError):
        return None


class MarkdownKind(StrEnum):
    """What a block is, as it is named to people."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    BULLET = "bullet"
    TABLE = "table"
    CODE = "code block"
    QUOTE = "quotation"
    HTML = "HTML block"
    COMMENT = "comment"
    GENERATED = "generated block"
    OTHER = "other line"


class MarkdownBlock(NamedTuple):
    """A part of a file.

    A bullet is an entry of a list that is in no other, numbered or not. It says all that is
    indented below it but code, tables, quotations and HTML, which are blocks after it; an empty
    line is between its parts. `lines` are the first and the last, counted from one; `headings`
    those above, the outermost first. `level` is a heading's, `rows` are a table's, the head first,
    `language` a code block's. In lists, `among` is the first line of the list, and `step` an
    entry's number.
    """

    kind: MarkdownKind
    text: str
    lines: tuple[int, int]
    headings: tuple[str, ...] = ()
    level: int = 0
    rows: tuple[tuple[str, ...], ...] = ()
    language: str = ""
    among: int = 0
    step: int = 0


class MarkdownFile(NamedTuple):
    """What a file says of itself, and its blocks in their order."""

    front: FrontMatter
    blocks: tuple[MarkdownBlock, ...]


_BY_TYPE: Final = {
    "paragraph": MarkdownKind.PARAGRAPH,
    "fence": MarkdownKind.CODE,
    "code_block": MarkdownKind.CODE,
    "blockquote": MarkdownKind.QUOTE,
    "html_block": MarkdownKind.HTML,
    "table": MarkdownKind.TABLE,
    "heading": MarkdownKind.HEADING,
}


def read_markdown(text: str) -> MarkdownFile:
    """Read a Markdown file; a byte-order mark at its beginning counts for nothing."""
    from markdown_it.tree import SyntaxTreeNode

    lines = split_lines(text.removeprefix("\ufeff"))
    front = read_front_matter(lines)
    prose = ["" if number < front.lines else line for number, line in enumerate(lines)]
    whole = "\n".join(prose).replace("\r", " ")  # which the parser would take for a line's end
    tree = SyntaxTreeNode(_parser().parse(whole))
    blocks = list(_with_generated(block for node in tree.children for block in _blocks_of(node)))
    blocks = sorted([*blocks, *_others(prose, blocks)], key=lambda block: block.lines)
    return MarkdownFile(front, tuple(_under_headings(blocks)))


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"maxNesting": _MOST_LEVELS})
    return made.enable("table").disable("inline")


def _blocks_of(node: "SyntaxTreeNode") -> Iterator[MarkdownBlock]:
    """Yield the blocks that a part of the tree is, without their headings."""
    if node.type in ("bullet_list", "ordered_list") and node.map is not None:
        first = int(node.attrGet("start") or 1) if node.type == "ordered_list" else None
        for place, item in enumerate(node.children):
            step = 0 if first is None else first + place
            for block in _bullet(item):
                yield block._replace(among=node.map[0] + 1, step=step)
    elif node.type in _BY_TYPE and node.map is not None:
        text = _text_in(node)
        kind = _BY_TYPE[node.type]
        if kind is MarkdownKind.HTML and not _WORD.search(_COMMENT.sub("", text)):
            kind = MarkdownKind.COMMENT
        if kind is MarkdownKind.HEADING and node.markup == "-" and _MATTER.fullmatch(text):
            kind = MarkdownKind.OTHER
        level = int(node.tag[1:]) if kind is MarkdownKind.HEADING else 0
        if _WORD.search(text):
            lines = (node.map[0] + 1, _last_line(node))
            language = next(iter(node.info.casefold().split()), "")
            yield MarkdownBlock(kind, text, lines, (), level, tuple(_rows(node)), language)


def _bullet(item: "SyntaxTreeNode") -> Iterator[MarkdownBlock]:
    """Yield an entry of a list, then what is in it and no part of what it says."""
    said: list[SyntaxTreeNode] = []
    others: list[MarkdownBlock] = []
    for node in _leaves(item):
        if node.type in ("paragraph", "heading"):
            said.append(node)
        else:
            others += _blocks_of(node)
    text = "\n\n".join(filter(_WORD.search, map(_text_in, said)))
    if text and item.map is not None:
        yield MarkdownBlock(
            MarkdownKind.BULLET, text, (item.map[0] + 1, max(map(_last_line, said)))
        )
    yield from others


def _leaves(node: "SyntaxTreeNode") -> Iterator["SyntaxTreeNode"]:
    """Yield what is in a list or an entry of one, lists within it taken apart."""
    for child in node.children:
        if child.type in ("bullet_list", "ordered_list", "list_item"):
            yield from _leaves(child)
        else:
            yield child


def _text_in(node: "SyntaxTreeNode") -> str:
    if not node.children:
        text = node.content if node.type != "root" else ""
        return _without_comments(text) if node.type == "inline" else text
    return "\n".join(map(_text_in, node.children))


def _last_line(node: "SyntaxTreeNode") -> int:
    """Return the last line of a part that has words in it; lists and quotations may go on empty."""
    inner = [_last_line(child) for child in node.children]
    return max(inner, default=node.map[1] if node.map is not None else 0)


def _rows(node: "SyntaxTreeNode") -> Iterator[tuple[str, ...]]:
    for part in node.children:
        if part.type == "tr":
            yield tuple(_text_in(cell).strip() for cell in part.children)
        elif part.type in ("thead", "tbody"):
            yield from _rows(part)


def plain_text(text: str) -> str:
    """Return what a text says, on one line: code in back quotes, and no other marks."""
    parts = []
    text = _WORDS.sub(lambda found: _as_written(found[0]), text)
    for token in _inline(_REFERENCE.sub(lambda found: found[1] or found[2], text)):
        if token.type == "code_inline":
            parts.append(f"`{token.content}`")
        elif token.type in ("softbreak", "hardbreak") or _MARKUP.match(token.content):
            parts.append(" ")
        else:
            parts.append(token.content)
    return " ".join("".join(parts).split())


def _as_written(word: str) -> str:
    """Return a word so that its stars and lines stay, where they are of a file's name."""
    is_code = word.startswith(("`", "<")) or word.strip("()[].,:;").startswith("**")
    return word if is_code or not _PATTERN.search(word) else re.sub(r"[*_]", r"\\\g<0>", word)


def with_targets(text: str) -> str:
    """Return a text whose links name the files that they lead to, where it does not name them."""

    def named(link: re.Match[str]) -> str:
        told, path = link[1], link[2]
        if path in text.replace(link[0], told):
            return link[0]
        is_name = told.strip("`*_") == path.rpartition("/")[2]
        before = text[: link.start()]
        is_aside = before.count("(") > before.count(")")
        whole = f"{told}, `{path}`" if is_aside else f"{told} (`{path}`)"
        return f"[`{path}`]({path})" if is_name else f"[{whole}]({path})"

    return _TO_FILE.sub(named, text)


def _inline(text: str) -> "Sequence[Token]":
    (whole,) = _inline_parser().parseInline(text)
    return whole.children or ()


@cache
def _inline_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


def _without_comments(text: str) -> str:
    """Return a text without the comments in it; what code shows stays."""
    if "<!--" not in text:
        return text
    for child in _inline(text):
        if child.type == "html_inline" and child.content.startswith("<!--"):
            text = text.replace(child.content, "", 1)
    return text.strip()


def _with_generated(blocks: Iterable[MarkdownBlock]) -> Iterator[MarkdownBlock]:
    """Yield blocks, those that a program keeps between `BEGIN` and `END` comments as one."""
    opened: MarkdownBlock | None = None
    for block in blocks:
        is_mark = block.kind is MarkdownKind.COMMENT
        if opened is not None:
            opened = opened._replace(lines=(opened.lines[0], block.lines[1]))
        elif is_mark and _BEGIN.search(block.text):
            opened = block._replace(kind=MarkdownKind.GENERATED)
        if opened is None:
            yield block
        elif is_mark and _END.search(block.text):
            yield opened
            opened = None
    if opened is not None:
        yield opened


def _others(lines: Sequence[str], blocks: Iterable[MarkdownBlock]) -> Iterator[MarkdownBlock]:
    """Yield the lines with words that are in no block, such as definitions of links."""
    known = {line for block in blocks for line in range(block.lines[0], block.lines[1] + 1)}
    for number, line in enumerate(lines, start=1):
        if number not in known and _WORD.search(line):
            yield MarkdownBlock(MarkdownKind.OTHER, line.strip(), (number, number))


def _under_headings(blocks: Iterable[MarkdownBlock]) -> Iterator[MarkdownBlock]:
    """Yield blocks with the headings above them."""
    above: list[MarkdownBlock] = []
    for block in blocks:
        if block.kind is MarkdownKind.HEADING:
            above = [one for one in above if one.level < block.level]
        yield block._replace(headings=tuple(one.text for one in above))
        if block.kind is MarkdownKind.HEADING:
            above.append(block)


def command_line(block: MarkdownBlock) -> str:
    """Return the commands of a code block, each in back quotes with what is remarked on it.

    A remark that ends a group of them stands alone.
    """
    if "<<" in block.text or len(block.text) > 2 * LONGEST:
        return ""
    told: list[str] = []
    remarks: list[str] = []
    is_after = False
    for line in split_lines(_CONTINUED.sub(" ", block.text)):
        command = " ".join(line.removeprefix("$ ").split())
        if command.startswith("#"):
            said = command.strip("# ")
            goes_on = bool(remarks) and not said[:1].isupper()
            remarks[-1:] = [f"{remarks[-1]} {said}"] if goes_on else [*remarks[-1:], said]
            continue
        found = _REMARK.search(line)
        after = f" ({found[1].strip()})" if found else ""
        command = " ".join(_REMARK.sub("", line).removeprefix("$ ").split())
        can_run = block.language in _PLAIN and is_command_line(command)
        if command and block.language not in _SHELLS and not can_run:
            return ""
        if command:
            remark = whole_text(remarks).rstrip(":")
            told.append(f"{remark + ': ' if remark else ''}`{command}`{after}")
        elif is_after:
            told += remarks
        if command or is_after:
            remarks = []
        is_after = bool(command)
    return "; ".join([*told, *remarks] if told else told)


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


def whole_text(texts: Iterable[str]) -> str:
    """Return texts one after the other, with a semicolon where one ends without a stop."""
    whole = ""
    for text in filter(None, texts):
        between = " " if whole[-1:] in ".!?:;" else "; "
        whole += f"{between}{text}" if whole else text
    return whole
