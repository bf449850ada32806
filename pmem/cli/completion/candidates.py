"""What may stand in an option or an argument while it is typed, as far as the memory knows it."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any, Final

from pmem.cli.documents import documents, read_table
from pmem.cli.nearby import memory_folder
from pmem.storage.index.suggestions import (
    CONVERSATIONS,
    EPISODES,
    MEMORIES,
    Suggestions,
    checkpoint_threads,
    known_threads,
    proposals,
)
from pmem.values.fields import Completes

Found = Iterable[tuple[str, str]]
"""What may stand there, and what it means."""
_ACTIVE: Final = ("active",)
_REMOVED: Final = ("soft_deleted", "archived", "superseded", "merged")
_IDS: Final = {
    "memory": ((MEMORIES,), _ACTIVE),
    "record": ((MEMORIES, EPISODES), _ACTIVE),
    "removed": ((MEMORIES, EPISODES), _REMOVED),
    "any": ((MEMORIES, EPISODES), ()),
    "episode": ((EPISODES,), ()),
    "conversation": ((CONVERSATIONS,), ()),
}
"""The stores and states of the records whose ids are meant; all states where there are none."""
_THREADS: Final = {
    "thread": known_threads,
    "checkpoint": checkpoint_threads,
}
_NAMING: Final = (*_IDS, "decision")
"""What names a record: once on a line is enough."""


class Line:
    """A line that is being typed: the words so far, and what the options of all commands say."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = environment
        self.words: list[str] = []
        self.directory: str | None = None
        self.asker: str | None = None
        self.takes_files = True

    def folder(self) -> str:
        """Return the folder of the memory that may be read; nothing of others' or for agents."""
        place = self.directory or self.environment.get("PMEM_DIR") or os.getcwd()
        folder = "" if self.asker is not None else memory_folder(place, self.environment)
        is_own = not hasattr(os, "getuid") or not folder or os.lstat(folder).st_uid == os.getuid()
        return folder if is_own else ""


def candidates(what: Completes, ctx: Any, start: str) -> list[tuple[str, str]]:
    """Return what may stand somewhere, and what it means."""
    line: Line = ctx.obj
    line.takes_files = False
    given = line.words if what in _NAMING else ()
    return [each for each in _look_up(what, ctx, start) if each[0] not in given]


def _look_up(what: Completes, ctx: Any, start: str) -> Found:
    if what == "setting":
        settings: dict[str, str] = read_table()["settings"]
        return settings.items()
    if what == "explained":
        return _to_explain(ctx.params["words"] or ()).items()
    folder = ctx.obj.folder()
    if not folder:
        return ()
    if what in _THREADS:
        return _THREADS[what](folder).items()
    with closing(Suggestions(folder)) as index:
        if what == "decision":
            return [*index.facts(start), *_proposals(folder)]
        return _of_index(index, what, ctx, start)


def _of_index(index: Suggestions, what: Completes, ctx: Any, start: str) -> Found:
    if what == "app memory":
        return index.ids(start, *_IDS["memory"], ctx.params["app"])
    if what in _IDS:
        return index.ids(start, *_IDS[what])
    words = {"tag": index.tags, "subject": index.subjects}
    return [(word, "") for word in words.get(what, partial(index.values, what))()]


def _to_explain(words: Sequence[str]) -> dict[str, str]:
    """Return the commands and documents that `pmem help` explains, after some words."""
    table = read_table()
    commands = table["commands"]
    if words:
        group = " ".join(words)
        members = commands.get(group, {}).get("commands", ())
        return {name: commands[f"{group} {name}"]["summary"] for name in members}
    names = [name for part in table["sections"] for name in part["commands"]]
    found = {f"{name}.md" if name in names else name: "document" for name in documents()}
    return {**found, **{name: commands[name]["summary"] for name in names}}


def _proposals(folder: str) -> Found:
    from sqlite3 import Error

    try:
        return proposals(folder).items()
    except (OSError, ValueError, Error):  # nothing waits, or nobody can tell
        return ()
