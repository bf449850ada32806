"""Writes docs/settings.md and docs/commands.md from the tables that the program itself uses.

Run it with the project's Python: `python docs/generate.py`. A test fails when the committed
files differ from what it writes.
"""

import os
from collections.abc import Iterator
from typing import Any

from pmem import errors
from pmem.cli.app import root
from pmem.values.config import Setting, table
from pmem.values.notation import as_text

FOLDER = os.path.dirname(os.path.abspath(__file__))
WIDTH = 78

Commands = Iterator[tuple[str, Any, Any]]
"""A command's words, the command and its context."""


def settings_page() -> str:
    """Write the reference of every setting."""
    rows = "".join(_row(row) for row in table())
    return f"""\
# Settings

`pmem config list` shows every setting, its value and where that came from; `pmem config set`
changes one in the project's `config.toml`. An environment variable wins over the project's
file, that over your own configuration (`~/.config/pmem/config.toml`), and that over the
default. Made by `docs/generate.py` from `pmem/values/config.py`; change it there.

| setting | type | default | environment variable | meaning |
|---|---|---|---|---|
{rows}"""


def commands_page() -> str:
    """Write the reference of every command and exit code."""
    parts = "".join(_section(*found) for found in _commands(root(), None, "pmem"))
    return f"""\
# Commands

Data goes to standard output, everything said about it to standard error. `-` reads standard
input. Every command also takes the options of `pmem` itself, before or after its name. Made by
`docs/generate.py` from the commands' own help; change it there.

## Exit codes

| exit | error code with `--json` | when |
|---|---|---|
{"".join(f"| {code} | {name} | {when} |{chr(10)}" for code, name, when in _exit_codes())}
{parts}"""


def pages() -> dict[str, str]:
    """Return every generated page by its path."""
    return {
        os.path.join(FOLDER, "settings.md"): settings_page(),
        os.path.join(FOLDER, "commands.md"): commands_page(),
    }


def _row(row: Setting) -> str:
    shown = as_text(row.default).replace(",", ", ")
    kind = row.type.replace("|", r"\|")
    return f"| `{row.name}` | {kind} | `{shown}` | `{row.variable}` | {row.description} |\n"


def _commands(command: Any, parent: Any, words: str) -> Commands:
    context = command.make_context(
        words.rpartition(" ")[2] if parent else words, [], parent=parent, resilient_parsing=True
    )
    context.terminal_width = context.max_content_width = WIDTH
    if parent is not None:
        command.add_help_option = False
        command.params = [param for param in command.params if not _is_shared(param)]
    yield words, command, context
    for name in command.list_commands(context) if hasattr(command, "list_commands") else ():
        yield from _commands(command.get_command(context, name), context, f"{words} {name}")


def _is_shared(param: Any) -> bool:
    return param.name in {shared.name for shared in root().params}


def _section(words: str, command: Any, context: Any) -> str:
    return f"## {words}\n\n```text\n{command.get_help(context)}\n```\n\n"


def _exit_codes() -> Iterator[tuple[int, str, str]]:
    """Yield exit code, machine code and meaning; those without an error class are added."""
    found = [
        (0, "", "Done."),
        (1, "", "It ran, and the answer is no: something was found wrong, or nothing was found."),
        (9, "", "`add` found a memory to update instead; nothing was written."),
        (130, "", "Interrupted."),
    ]
    for class_ in _classes(errors.PmemError):
        first = (class_.__doc__ or "").partition("\n")[0]
        when = "A bug in pmem." if class_ is errors.PmemError else first
        found.append((class_.exit_code, f"`{class_.code}`", when))
    yield from sorted(found)


def _classes(class_: type[errors.PmemError]) -> Iterator[type[errors.PmemError]]:
    yield class_
    for child in class_.__subclasses__():
        yield from _classes(child)


def main() -> None:
    """Write every page."""
    for path, text in pages().items():
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text.rstrip("\n") + "\n")


if __name__ == "__main__":
    main()
