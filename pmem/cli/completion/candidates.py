"""What may stand where a command line is being typed, and the answer to the shell that asks."""

import os

from pmem.cli.completion.line import asked
from pmem.cli.completion.shells import COMPLETE, written
from pmem.cli.documents import read_table
from pmem.cli.nearby import memory_folder

TYPE_CHECKING = False  # as checkers know it, without the time that importing typing takes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pmem.cli.completion.line import Asked, Table
    from pmem.storage.index.suggestions import Suggestions

Found = dict[str, str]
"""What may stand there, and what it means."""
_FILES = ("FILE", "DIR", "PATH", "GLOB", "[PATH", "[FILE")
_FILE_OPTIONS = frozenset({"--path", "--file"})
_VALUES = {"--category": "category", "--app": "app", "--user": "user", "--agent": "agent"}
_DECIDING = ("inbox accept", "inbox reject")
_REMOVED = ("soft_deleted", "archived", "superseded", "merged")
_STATES: "Mapping[str, tuple[str, ...]]" = {
    "restore": _REMOVED, "purge": (), "show": (), "log": (), "export audit": (),
}  # fmt: skip
"""The states of records that a command is given; the active ones where none are listed."""
_ALL_IDS = ("show", "log", "rm", "purge", "restore", "export")
"""Commands that take the ids of memories and of episodes."""


def answer(arguments: "Sequence[str]", environment: "Mapping[str, str]") -> bytes:
    """Answer a shell; whatever goes wrong, it is told nothing.

    Args:
        arguments: The words after the program's name, up to the one being typed.
        environment: The environment's variables; one says which shell asks, and how.
    """
    try:
        words, shell = list(arguments), environment[COMPLETE]
        if shell == "powershell":
            words = environment.get("_PMEM_WORDS", "").split("\n")
        return written(shell, words, environment, _found).encode("utf-8", "ignore")
    except Exception:  # a person is typing, and wants to hear of nothing
        return b""


def _found(
    words: "Sequence[str]", environment: "Mapping[str, str]"
) -> "tuple[Asked, Found | None]":
    """Return what is asked, and what may stand there; None for a file."""
    table = read_table()
    what = asked(table, words)
    found = {**what.names, **what.flags}
    if what.param is None:
        return what, found
    values = _values(what, table, environment)
    if values is None:
        return what, found if _starting(found, what.incomplete) else None
    return what, {**found, **values}


def _starting(found: Found, start: str) -> bool:
    return bool(start) and any(name.startswith(start) for name in found)


def _values(what: "Asked", table: "Table", environment: "Mapping[str, str]") -> Found | None:
    """Return the values of an option or an argument; None where they are files."""
    param = what.param or {}
    name, flags = param["name"], param.get("flags", ())
    if "choices" in param:
        return dict.fromkeys(param["choices"], "")
    if what.command == "help":
        return _to_explain(what, table)
    if name == "NAME" and what.command.startswith("config "):
        return dict(table["settings"])
    if name.startswith(_FILES) or not _FILE_OPTIONS.isdisjoint(flags):
        return None
    return _remembered(what, environment)


def _to_explain(what: "Asked", table: "Table") -> Found:
    """Return the commands and documents that `pmem help` explains."""
    if what.positionals:
        words = " ".join(what.positionals)
        members = table["commands"].get(words, {}).get("commands", ())
        return {name: table["commands"][f"{words} {name}"]["summary"] for name in members}
    from pmem.cli.documents import documents

    names = [name for part in table["sections"] for name in part["commands"]]
    found = {f"{name}.md" if name in names else name: "document" for name in documents()}
    return {**found, **{name: table["commands"][name]["summary"] for name in names}}


def _remembered(what: "Asked", environment: "Mapping[str, str]") -> Found:
    """Return what the memory's index knows; nothing for an agent: it has no shell to type in."""
    folder = memory_folder(
        what.given.get("-C") or environment.get("PMEM_DIR") or os.getcwd(), environment
    )
    if (
        not folder
        or os.lstat(folder).st_uid != _user()
        or ("--agent" in what.given and what.command != "add")
    ):
        return {}
    local = _kept_here(folder, what)
    if local is not None:
        return local
    from pmem.storage.index.suggestions import Suggestions

    index = Suggestions(folder)
    try:
        return {**_asked_of(index, what), **_proposals(folder, what)}
    finally:
        index.close()


def _kept_here(folder: str, what: "Asked") -> Found | None:
    """Return what only this clone knows: its threads; None where others are asked for."""
    flags = (what.param or {}).get("flags", ())
    group = what.command.partition(" ")[0]
    if "--thread" not in flags and (flags or group != "checkpoint"):
        return None
    from pmem.storage.local import completions

    if "--thread" in flags:
        return completions.known_threads(folder)
    return {} if what.positionals else completions.checkpoint_threads(folder)


def _proposals(folder: str, what: "Asked") -> Found:
    """Return what waits for a person in this clone, where that is decided."""
    if what.command not in _DECIDING or (what.param or {}).get("flags"):
        return {}
    from sqlite3 import Error

    from pmem.storage.local import completions

    try:
        found = completions.proposals(folder)
    except (OSError, ValueError, Error):  # nothing waits, or nobody can tell
        return {}
    return {name: text for name, text in found.items() if name not in what.positionals}


def _user() -> int:
    """Return who types; what belongs to somebody else is not read."""
    return os.getuid() if hasattr(os, "getuid") else 0


def _asked_of(index: "Suggestions", what: "Asked") -> Found:
    param = what.param or {}
    flag, name = next(iter(param.get("flags", ())), ""), param["name"]
    if flag in ("--tag", "--add-tag", "--remove-tag"):
        return dict.fromkeys(index.tags(), "")
    if flag == "--subject":
        return dict.fromkeys(index.subjects(), "")
    if flag in _VALUES or name == "APP":
        return dict.fromkeys(index.values(_VALUES.get(flag, "app")), "")
    is_id = "REF" in name
    return _ids(index, what, flag) if is_id else {}


def _ids(index: "Suggestions", what: "Asked", flag: str) -> Found:
    from pmem.storage.index.suggestions import CONVERSATIONS, EPISODES, MEMORIES

    group = what.command.partition(" ")[0]
    if what.command in _DECIDING and not flag:
        rows = index.facts(what.incomplete)
        return {id_: text for id_, text in rows if id_ not in what.positionals}
    states = _STATES.get(what.command, ("active",))
    if flag == "--conversation" or group == "conversation":
        rows = index.ids(what.incomplete, [CONVERSATIONS])
    elif group == "episode" and not flag:
        rows = index.ids(what.incomplete, [EPISODES])
    elif group == "app":
        rows = index.ids(what.incomplete, [MEMORIES], states, next(iter(what.positionals), None))
    else:
        stores = [MEMORIES, EPISODES] if what.command in _ALL_IDS else [MEMORIES]
        rows = index.ids(what.incomplete, stores, states)
    return {id_: text for id_, text in rows if id_ not in what.positionals}
