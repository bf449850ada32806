"""Writes the pages of reference from the tables that the program itself uses.

They are docs/settings.md, docs/tuning.md, docs/commands.md, docs/types.md, docs/modules.md, the
manual page docs/pmem.1, pmem/cli/reference.json, by which `pmem --help` and `pmem help --json`
answer at once, and pmem/server/greetings.json, by which `pmem mcp` does; and the packages of
assistants. Run it with the project's Python:
`python docs/generate.py`. A test fails when the committed files differ from what it writes.
"""

import ast
import json
import os
from collections.abc import Iterable, Iterator
from copy import copy
from io import BytesIO
from pathlib import Path
from typing import Any

from docs import packages
from docs.type_guide import GUIDE
from pmem import errors
from pmem.cli.commands import ALONE, COMMANDS, DEFAULTS, GROUPS, MORE, SECTIONS
from pmem.cli.tree import root
from pmem.server.greeting import HANDSHAKE, MODERN
from pmem.server.mcp import go_on
from pmem.server.tools import chosen
from pmem.values.config import Setting, known, table
from pmem.values.defaults import DEFAULT_CATEGORY, DEFAULT_IMPORTANCE
from pmem.values.rules import as_text
from pmem.values.setting_groups import EVERYDAY, FURTHER

FOLDER = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(os.path.dirname(FOLDER), "pmem", "cli", "reference.json")
GREETINGS = os.path.join(os.path.dirname(FOLDER), "pmem", "server", "greetings.json")
LISTS = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")
"""What a client may ask for before its first call."""
WIDTH = 78

Commands = Iterator[tuple[str, Any, Any]]
"""A command's words, the command and its context."""


def settings_page() -> str:
    """Write the reference of the everyday settings."""
    further = len(table()) - len(EVERYDAY)
    return f"""\
# Settings

`pmem config list` shows these settings and those that you changed, with their values and where
each came from. `pmem config set` changes one in the project's `config.toml`. An environment
variable wins over the project's file, that over your own configuration
(`~/.config/pmem/config.toml`), and that over the default.

There are {further} more for special cases: [More settings](tuning.md). `pmem config list --all`
shows them too. Made by `docs/generate.py` from `pmem/values/config.py`; change it there.

{_settings_table(EVERYDAY)}"""


def tuning_page() -> str:
    """Write the reference of all other settings, in their groups."""
    parts = "".join(
        f"\n## {group.title}\n\n{group.readers}\n\n{_settings_table(group.names)}"
        for group in FURTHER
    )
    return f"""\
# More settings

Most projects never change these. The first line of each group says who needs to. The everyday
settings, and how to change one, are in [Settings](settings.md). Made by `docs/generate.py` from
`pmem/values/config.py` and `setting_groups.py`; change it there.
{parts}"""


def types_page() -> str:
    """Write what to write down as which type, and what each type does."""
    rows = "".join(
        f"| `{type_}` | {guide.meaning} | {guide.example} | {guide.effect} "
        f"| {DEFAULT_IMPORTANCE[type_]:g} | `{DEFAULT_CATEGORY[type_]}` |\n"
        for type_, guide in GUIDE.items()
    )
    return f"""\
# What to write down, as which type

A good memory is one statement that stands alone, in one or two sentences, with its reason. Write
down what the next person would get wrong without it. If the code already says it, cite the code
(`--cite`). If it concerns some files, name them (`--for`). Made by `docs/generate.py` from
`docs/type_guide.py`; change it there.

| type | write down | for example | what it does | importance | category |
|---|---|---|---|---|---|
{rows}
When in doubt: a rule is a `constraint`, a choice is a `decision`, a failure is a `dead_end`, and
the rest is a `fact`. `pmem edit REF --type decision` changes the type.

- **Search** filters by type (`--type decision`).
- **Contexts** show constraints, then dead ends, procedures, preferences and decisions before facts
  that answer as well. [Contexts](contexts.md) has the numbers.
- **Ageing** concerns only facts, entities and insights: see [the life cycle](life-cycle.md).
- **At a file** hooks and `pmem why` show dead ends first, then constraints, then decisions.

An importance of 0.9 or more, or `--pin`, puts a memory into every context, whatever its type.
"""


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


def reference() -> dict[str, Any]:
    """Return the whole table of commands, options, types, defaults and sections."""
    shared = {param.name for param in root().params}
    commands = {}
    for words, command, _ in _commands(root(), None, "pmem"):
        if words == "pmem":
            continue
        name = words.removeprefix("pmem ")
        params = [_parameter(each) for each in command.params if each.name not in shared]
        params += [_parameter(each) for each in command.params if _is_own(each, shared)]
        commands[name] = {
            "summary": command.get_short_help_str(1000),
            "help": " ".join((command.help or "").split()),
            "example": _example(name),
            "commands": list(GROUPS[name][1]) if name in GROUPS else [],
            "default": None if name in ALONE else DEFAULTS.get(name),
            "arguments": [each for each in params if "flags" not in each],
            "options": [each for each in params if "flags" in each],
        }
    return {
        "sections": [
            {"title": title, "commands": names} for title, names in {**SECTIONS, **MORE}.items()
        ],
        "options": [_parameter(each) for each in root().params],
        "commands": commands,
        "settings": {row.name: row.description for row in table()},
    }


def manual_page() -> str:
    """Write the manual page of pmem, in the language of roff."""
    found = reference()
    parts = [
        '.TH PMEM 1 "" pmem "pmem manual"',
        ".SH NAME",
        "pmem \\- memory for projects: keep what was learned, hand back what matters",
        ".SH SYNOPSIS",
        ".B pmem",
        ".RI [ options ]",
        ".I command",
        ".RI [ arguments ]",
        ".SH OPTIONS",
        "Every command takes these, before or after its name.",
        *_definitions(found["options"]),
    ]
    for section in found["sections"]:
        parts.append(f".SH {_roff(section['title'].upper())}")
        for name in section["commands"]:
            members = found["commands"][name]["commands"]
            for words in (name, *(f"{name} {member}" for member in members)):
                parts += _manual_entry(words, found["commands"][words])
    parts += [".SH EXIT STATUS"]
    for code, _, when in _exit_codes():
        parts += [".TP", f".B {code}", _roff(when)]
    parts += [
        ".SH SEE ALSO",
        "`pmem help` lists the documents, and `pmem help NAME` prints one.",
    ]
    return "\n".join(parts)


def modules_page() -> str:
    """Write a row for each module of the rooms in which strangers look for behaviour."""
    rows = "".join(
        f"| `{name}` | {said.replace('|', chr(92) + '|')} |\n" for name, said in _modules()
    )
    return f"""\
# The files of core and cli

What each says of itself in its first line. [How pmem is built](architecture.md) explains the rooms.

| file | what it is |
|---|---|
{rows}"""


def _modules() -> Iterator[tuple[str, str]]:
    """Yield the modules of two rooms, and the first lines of their docstrings."""
    package = Path(FOLDER).parent / "pmem"
    for room in ("cli", "core"):
        for path in sorted((package / room).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            if len(tree.body) > 1:
                first = (ast.get_docstring(tree) or "").partition("\n\n")[0]
                yield path.relative_to(package).as_posix(), " ".join(first.split())


def sdk_greetings() -> dict[str, dict[str, Any]]:
    """Return what the SDK of MCP answers where a talk begins, by the revision and the method."""
    who = {"name": "docs", "version": "1"}
    hello = {"protocolVersion": HANDSHAKE[-1], "capabilities": {}, "clientInfo": who}
    asking = {"protocolVersion": MODERN, "clientInfo": who, "clientCapabilities": {}}
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in asking.items()}
    return {
        HANDSHAKE[-1]: _answers(
            [("initialize", hello), *((name, {}) for name in ("ping", *LISTS))]
        ),
        MODERN: _answers([(name, {"_meta": meta}) for name in ("server/discover", *LISTS)]),
    }


def _answers(asked: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": name, "method": name, "params": params}).encode()
        for name, params in asked
    ]
    told = BytesIO()
    never: Any = None
    go_on(never, chosen("agent", read_only=False), (BytesIO(), told), (lines, 0), never)
    return {
        (answer := json.loads(line))["id"]: answer["result"]
        for line in told.getvalue().split(b"\n")[:-1]
    }


def pages() -> dict[str, str]:
    """Return every generated page by its path."""
    return {
        os.path.join(FOLDER, "settings.md"): settings_page(),
        os.path.join(FOLDER, "tuning.md"): tuning_page(),
        os.path.join(FOLDER, "types.md"): types_page(),
        os.path.join(FOLDER, "commands.md"): commands_page(),
        os.path.join(FOLDER, "modules.md"): modules_page(),
        os.path.join(FOLDER, "pmem.1"): manual_page(),
        TABLE: _json(reference()),
        GREETINGS: _json(sdk_greetings()),
        **{
            os.path.join(os.path.dirname(FOLDER), *path.split("/")): text
            for path, text in packages.files().items()
        },
    }


def _json(value: Any) -> str:
    """Write JSON with one line for each option, argument and list of names."""
    if not isinstance(value, dict) or "required" in value:
        is_table = isinstance(value, list) and value and isinstance(value[0], dict)
        if not is_table:
            return json.dumps(value, ensure_ascii=False)
        return "[\n" + ",\n".join(map(_json, value)) + "\n]"
    rows = (f"{json.dumps(name)}: {_json(each)}" for name, each in value.items())
    return "{\n" + ",\n".join(rows) + "\n}"


def _is_own(param: Any, shared: set[str]) -> bool:
    """Tell whether a command has an option of its own under the name of a shared one."""
    return param.name in shared and param.expose_value


def _example(name: str) -> str:
    group, _, member = name.partition(" ")
    if group in COMMANDS:
        return COMMANDS[group].example
    entries = GROUPS[group][1]
    return entries[member or next(iter(entries))].example


def _parameter(param: Any) -> dict[str, Any]:
    """Describe an option or an argument."""
    is_option = param.param_type_name == "option"
    choices = getattr(param.type, "choices", ())
    is_flag = is_option and param.is_flag
    default = getattr(param.default, "value", param.default)
    name = param.metavar or ("" if is_flag else param.name.upper())
    return {
        **({"flags": [*param.opts, *param.secondary_opts]} if is_option else {}),
        "name": name.strip("[]"),
        "type": "flag" if is_flag else "choice" if choices else _TYPES[param.type.name.split()[0]],
        **({"choices": [getattr(each, "value", each) for each in choices]} if choices else {}),
        "default": default if not is_flag else bool(default),
        "required": param.required,
        "repeatable": param.nargs == -1 or bool(is_option and param.multiple),
        "help": param.help,
    }


_TYPES = {"str": "text", "int": "integer", "float": "number"}


def _manual_entry(words: str, entry: dict[str, Any]) -> list[str]:
    shown = " ".join(
        each["name"] if each["required"] else f"[{each['name']}]" for each in entry["arguments"]
    )
    return [
        f".SS pmem {_roff(words)} {_roff(shown)}".rstrip(),
        _roff(entry["help"]),
        *_definitions(entry["arguments"] + entry["options"]),
        ".PP",
        f"Example: {_roff(entry['example'])}",
    ]


def _definitions(params: list[dict[str, Any]]) -> Iterator[str]:
    for each in params:
        yield ".TP"
        value = "|".join(each.get("choices", ())) or each["name"]
        yield f".B {_roff(', '.join(each.get('flags', ())))} {_roff(value)}".replace("  ", " ")
        given = each["default"]
        default = f" Default: {given}." if given not in (None, False, "", [], "-") else ""
        yield _roff(f"{each['help']}{default}")


def _roff(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text


def _settings_table(names: Iterable[str]) -> str:
    return f"""\
| setting | type | default | environment variable | meaning |
|---|---|---|---|---|
{"".join(_row(known(name)) for name in names)}"""


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
        command = copy(command)
        command.add_help_option = False
        command.params = [param for param in command.params if not _is_shared(param)]
    yield words, command, context
    for name in command.list_commands(context) if hasattr(command, "list_commands") else ():
        yield from _commands(command.get_command(context, name), context, f"{words} {name}")


def _is_shared(param: Any) -> bool:
    return param.name in {shared.name for shared in root().params}


def _section(words: str, command: Any, context: Any) -> str:
    return f"## {words}\n\n```text\n{command.get_help(context)}\n```\n\n"


_EXIT_CODES = {
    0: "Done.",
    1: "It ran, and the answer is no: something is wrong or left to do, or `search --exit-status` "
    "found nothing.",
    2: "The command line does not make sense.",
    3: "What you named is not there or could be several things, or a value is not allowed.",
    4: "There is no memory in this folder or any folder above it.",
    5: "A file is damaged, too large, has conflict markers, or was written by a newer pmem.",
    6: "Another process is writing, or changed the same record; try again.",
    7: "It is not allowed: a secret, a policy, `--read-only`, or a person has to agree first.",
    8: "A model failed, and `--strict-model` wanted no answer of the rules in its place.",
    9: "Something is there already, so nothing was written: `add` found a memory to update, "
    "`undo` found newer changes.",
    70: "A bug in pmem.",
    74: "The disk or a file refused: full, read-only, or no permission. The message says what was "
    "done.",
    130: "You interrupted it.",
}


def _exit_codes() -> Iterator[tuple[int, str, str]]:
    """Yield each exit code with the error codes that JSON has for it, and when it comes.

    Raises:
        KeyError: An error's exit code has no meaning here.
    """
    names: dict[int, set[str]] = {code: set() for code in _EXIT_CODES}
    for class_ in _classes(errors.PmemError):
        names[class_.exit_code].add(f"`{class_.code}`")
    for code, when in _EXIT_CODES.items():
        yield code, ", ".join(sorted(names[code])), when


def _classes(class_: type[errors.PmemError]) -> Iterator[type[errors.PmemError]]:
    yield class_
    for child in class_.__subclasses__():
        yield from _classes(child)


def main() -> None:
    """Write every page; first the table, by which a list of commands says what each is for."""
    _write(TABLE, _json(reference()))
    for path, text in pages().items():
        _write(path, text)


def _write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text.rstrip("\n") + "\n")


if __name__ == "__main__":
    main()
