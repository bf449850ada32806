"""`pmem help`: the help of a command, a document, what is about a word, or a list of documents."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pmem.cli.asking import asks, own
from pmem.cli.commands import reference
from pmem.cli.session import Answer, CommandSession, Line
from pmem.cli.tree import root_context
from pmem.core.lines import split_lines
from pmem.errors import NotFound
from pmem.values.fields import NoArguments

ENDING: Final = ".md"
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_INDEX: Final = "README"
"""The document that lists the others, one to a line, below a heading for each section."""
_MOST: Final = 8  # how many commands, and how many documents, are listed for a word
_FEW: Final = 3


@asks(NoArguments)
def help_(
    session: CommandSession,
    _: NoArguments,
    words: tuple[str, ...] = own(
        "What to explain [lists documents].",
        (),
        shown="[COMMAND|DOCUMENT|WORD]...",
        completes="explained",
        is_argument=True,
    ),
    every: bool = own("List all commands, or explain all options of one.", flag="--all"),
) -> Answer:
    """Show a command's help, a document, or what is about a word.

    Without a name it lists the documents, and with --json the whole table of commands, options,
    types and defaults. Where a command and a document share a name, `NAME.md` is the document.
    Of any other word it lists the commands, options and documents that have it.
    """
    session.explains_all = every
    ctx = root_context(session)
    if every and not words:
        return Answer(data=None, raw=f"{ctx.get_help()}\n")
    if not words and session.json:
        return Answer(data={**reference(), "documents": documents()})
    if not words:
        listed = {
            section: {name + ENDING: title for name, title in titles.items()}
            for section, titles in sections().items()
        }
        note = "`pmem help NAME` prints one; `pmem --help` lists the commands"
        return Answer(data=None, lines=_columns(listed), note=note)
    found = _command_context(ctx, words)
    if found is not None:
        text = found.get_help()
        data = reference()["commands"][" ".join(words)] if session.json else None
        told = [part.document for part in find_sections(words, named=True)]
        also = [f"`pmem help {name}{ENDING}`" for name in told if name not in sections()["Why"]]
        note = f"see also {', '.join(also[:_FEW])}" if also else ""
        return Answer(data=data, raw=f"{text}\n", note=note)
    wanted = " ".join(words)
    name = find_document(wanted)
    if name is None:
        return _found_by(ctx, words)
    text = text_of(name)
    title = text.partition("\n")[0].removeprefix("# ")
    return Answer(data={"document": name, "title": title, "text": text}, raw=text)


def _found_by(ctx: Any, words: Sequence[str]) -> Answer:
    commands = find_commands(words, reference()["commands"])
    parts = {part.document + ENDING: part.heading for part in find_sections(words)}
    if not commands and not parts:
        wanted = " ".join(words)
        raise NotFound(f"there is no command or document {wanted!r}", _nearest(ctx, wanted))
    told = {"commands": commands, "documents": parts}
    left = sum(max(0, len(found) - _MOST) for found in told.values())
    more = f"; {left} more were found: add a word" if left else ""
    shown = {
        kind.capitalize(): dict(list(found.items())[:_MOST])
        for kind, found in told.items()
        if found
    }
    return Answer(data=told, lines=_columns(shown), note=f"`pmem help NAME` prints one{more}")


def _columns(told: Mapping[str, Mapping[str, str]]) -> Iterator[Line]:
    width = max(len(name) for found in told.values() for name in found) + 2
    for place, (heading, found) in enumerate(told.items()):
        yield [(("\n" if place else "") + f"{heading}:", "bold")]
        for name, text in found.items():
            yield [(f"  {name:<{width}}", "cyan"), (text, "")]


def _command_context(context: Any, words: Sequence[str]) -> Any:
    for word in words:
        get = getattr(context.command, "get_command", None)
        command = get(context, word) if get else None
        if command is None:
            return None
        context = command.make_context(word, [], parent=context, resilient_parsing=True)
    return context


def _nearest(ctx: Any, name: str) -> str:
    from difflib import get_close_matches

    commands = ctx.command.list_commands(ctx)
    titles = [one.rpartition("/")[2] for one in documents()]
    close = get_close_matches(name, [*commands, *documents(), *titles])
    if not close:
        return "`pmem help` lists the documents, `pmem --help` the commands"
    return f"did you mean {' or '.join(dict.fromkeys(close))}?"


class FoundSection(NamedTuple):
    """A part of a document below a heading: the document's name, the heading, the text."""

    document: str
    heading: str
    text: str


def find_sections(words: Sequence[str], *, named: bool = False) -> list[FoundSection]:
    """Return the sections that are about some words, one of each document, in the index's order.

    They are those with all words in their heading or in their document's name; where there are
    none and they need not be `named`, those with all words in their text. Endings do not count.
    """
    wanted = [_pattern(word) for word in words]
    parts = [
        FoundSection(name, *part.partition("\n")[::2])  # the first has the title as heading
        for name in documents()
        for part in re.split(r"^#+ ", text_of(name), flags=re.MULTILINE)[1:]
        if name != "commands"
    ]
    titles = [part.document.rpartition("/")[2].replace("-", " ") for part in parts]
    named_so = [f"{title} {part.heading}" for title, part in zip(titles, parts, strict=True)]
    found = [part for part, text in zip(parts, named_so, strict=True) if _has_all(wanted, text)]
    if not found and not named:
        found = [part for part in parts if _has_all(wanted, part.text)]
    return list({part.document: part for part in reversed(found)}.values())[::-1]


def find_commands(words: Sequence[str], commands: Mapping[str, Any]) -> dict[str, str]:
    """Return the commands that have some words in their summary, or as an option, with that."""
    wanted = [_pattern(word) for word in words]
    found = {}
    for name, told in commands.items():
        if _has_all(wanted, f"{name} {told['summary']}"):
            found[name] = told["summary"]
        elif len(words) == 1:
            flags = (one for one in told["options"] if f"--{words[0].lower()}" in one["flags"])
            found |= {f"{name} --{words[0].lower()}": one["help"] for one in flags}
    return found


def _pattern(word: str) -> re.Pattern[str]:
    stem = re.sub(r"(?<=\w\w\w)(?:ing|e?s|ed|e)$", "", word.lower())
    return re.compile(rf"(?<!\w){re.escape(stem)}(?:e|e?s|e?d|ing|er)?(?!\w)")


def _has_all(wanted: Iterable[re.Pattern[str]], text: str) -> bool:
    low = text.lower()
    return all(each.search(low) for each in wanted)


def sections() -> dict[str, dict[str, str]]:
    """Return the documents as the index lists them: for each section their names and titles."""
    found: dict[str, dict[str, str]] = {}
    for line in split_lines(text_of(_INDEX)):
        if line.startswith("## "):
            found[line[3:]] = {}
        elif line.startswith("- ["):
            title, _, rest = line[3:].partition("](")
            found[list(found)[-1]][rest.partition(")")[0].removesuffix(ENDING)] = title
    return found


def documents() -> list[str]:
    """Return the names of the documents that the index lists, in its order."""
    return [name for titles in sections().values() for name in titles]


def find_document(name: str) -> str | None:
    """Return the document that `merging`, `docs/how-to/install.md` or `install` means."""
    from glob import iglob

    wanted = name.removeprefix("../").removeprefix("docs/").removesuffix(ENDING)
    paths = iglob(f"**/*{ENDING}", root_dir=_folder(), recursive=True)
    pages = {path.removesuffix(ENDING).replace(os.sep, "/") for path in paths}
    if wanted in pages:
        return wanted
    alike = [page for page in pages if page.rpartition("/")[2].lower() == wanted.lower()]
    return alike[0] if len(alike) == 1 else None


def text_of(name: str) -> str:
    """Return what a document says."""
    with open(os.path.join(_folder(), name + ENDING), encoding="utf-8") as file:
        return file.read()


def _folder() -> str:
    inside = os.path.join(_PACKAGE, "docs")
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(_PACKAGE), "docs")
