"""What a clone can say at once of what a person may be typing: ids, tags, subjects, threads.

Nothing is brought up to date or written, and no class of records is loaded. Of ids, the few files
that changed since the index last looked are read as well, so that what was just removed can be
restored.
"""

import json
import os
import sqlite3
from contextlib import closing

from pmem.storage.files.addresses import open_at_once
from pmem.storage.index.schema import VERSION

TYPE_CHECKING = False  # as checkers know it, without the time that importing typing takes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

MEMORIES = "long-term-memory"
EPISODES = "episodic-memory"
CONVERSATIONS = "conversations"
CHUNKS = "conversation-chunks"
MOST_IDS = 60
"""Ids that are suggested at once: more is no help to anybody."""
MOST_VALUES = 1000
_MOST = 100
"""Threads or proposals that are suggested at once."""
_PENDING = "pending"
_INDEX = "index.sqlite3"
_STATE = "state.sqlite3"
_SUFFIX = ".json"
_MOST_BYTES = 100_000
"""Records that are larger are suggested without their text."""
_COLUMNS = frozenset({"category", "app", "user", "agent"})


class Suggestions:
    """The index of a memory folder, opened to read.

    Raises:
        OSError, sqlite3.Error: There is no index, or none of this version.
    """

    def __init__(self, folder: str) -> None:
        self._connection = open_at_once(folder, _INDEX)
        self._folder = folder
        if self._ask("pragma user_version") != [(VERSION,)]:
            raise sqlite3.DatabaseError("the index is of another version")

    def ids(
        self,
        start: str,
        stores: "Sequence[str]",
        states: "Sequence[str]" = (),
        app: str | None = None,
    ) -> list[tuple[str, str]]:
        """Return ids that start so, and what the records say, the latest first.

        A short part is given as such; whole ids only to those who began one.

        Args:
            start: What was typed.
            stores: The folders of the records that are meant.
            states: The states that are meant; all where there are none.
            app: Whose they are; None for nobody's.
        """
        where = f"store in ({_marks(stores)}) and app is ?"
        values = [*stores, app]
        if states:
            where += f" and state in ({_marks(states)})"
            values += states
        short = "substr(id, instr(id, '-') + 1)"
        query = f"select id, number from record where {where} and {_starts(short)}"
        found = dict(self._ask(f"{query} order by id desc limit {MOST_IDS}", values, start, start))
        whole: dict[str, int] = {}
        if start and len(found) < MOST_IDS:
            query = f"select id, number from record where {where} and {_starts('id')}"
            rows = self._ask(f"{query} order by id desc limit {MOST_IDS}", values, start, start)
            if len(rows) == MOST_IDS:  # what all have in common is what the outer ones have
                rows[-1:] = self._ask(f"{query} order by id limit 1", values, start, start)
            whole = dict(rows)
        texts = {id_: self._fields(number) for id_, number in {**found, **whole}.items()}
        for id_, fields in self._changed(stores).items():
            texts.pop(id_, None)
            if (not states or fields.get("state", "active") in states) and _app_of(fields) == app:
                texts[id_] = fields
        for store in stores:
            if not self._ask("select 1 from looked where store = ?", [store]):
                texts |= self._latest(store)
        latest = sorted(texts, reverse=True)
        offered = [(_short(id_), id_) for id_ in latest if _short(id_).startswith(start)]
        offered += [(id_, id_) for id_ in latest if start and id_.startswith(start)]
        return [(shown, _text_of(texts[id_])) for shown, id_ in offered[: 2 * MOST_IDS]]

    def facts(self, start: str) -> list[tuple[str, str]]:
        """Return short ids that start so of the facts that are pending, and what they say."""
        pending: dict[str, str] = {}
        settled: set[str] = set()
        for store in (CONVERSATIONS, CHUNKS):
            for fields in self._latest(store).values():
                for fact in fields.get("facts", ()):
                    name = _short(str(fact["id"]))
                    if fact.get("standing", _PENDING) == _PENDING:
                        pending.setdefault(name, str(fact["content"]))
                    else:
                        settled.add(name)
        wanted = (name for name in pending if name.startswith(start) and name not in settled)
        return [(name, pending[name]) for name in wanted][:MOST_IDS]

    def subjects(self) -> list[str]:
        """Return what active memories are about, in their own spelling."""
        latest = (
            "select max(number) from record where store = ? and state = 'active'"
            f" and subject <> '' group by subject limit {MOST_VALUES}"
        )
        rows = self._ask(
            "select json_extract(cast(data as text), '$.subject') from body"
            f" where number in ({latest})",
            [MEMORIES],
        )
        return sorted({each for (each,) in rows if isinstance(each, str)})

    def tags(self) -> list[str]:
        """Return the tags of active memories."""
        rows = self._ask(
            "select distinct value from record join body using (number),"
            " json_each(cast(data as text), '$.tags')"
            f" where store = ? and state = 'active' order by value limit {MOST_VALUES}",
            [MEMORIES],
        )
        return [each for (each,) in rows if isinstance(each, str)]

    def values(self, column: str) -> list[str]:
        """Return what a column of active memories holds: category, app, user or agent."""
        if column not in _COLUMNS:
            return []
        rows = self._ask(
            f"select distinct \"{column}\" from record where store = ? and state = 'active'"
            f" and \"{column}\" <> '' order by 1 limit {MOST_VALUES}",
            [MEMORIES],
        )
        return [each for (each,) in rows if isinstance(each, str)]

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def _changed(self, stores: "Sequence[str]") -> "dict[str, dict[str, Any]]":
        """Return what the latest files say that were written since the index last looked."""
        found: dict[str, dict[str, Any]] = {}
        for store, looked in self._ask("select store, at from looked"):
            if store in stores and os.stat(os.path.join(self._folder, store)).st_mtime_ns > looked:
                found |= self._latest(store, looked)
        return found

    def _latest(self, store: str, since: int = 0) -> "dict[str, dict[str, Any]]":
        """Return what the latest records of a store say, of those written since some time."""
        with os.scandir(os.path.join(self._folder, store)) as entries:
            paths = [
                entry.path
                for entry in entries
                if entry.name.endswith(_SUFFIX)
                and entry.is_file(follow_symlinks=False)
                and (not since or entry.stat(follow_symlinks=False).st_mtime_ns > since)
            ]
        latest = sorted(paths)[-MOST_IDS:]
        return {os.path.basename(path).removesuffix(_SUFFIX): _record_in(path) for path in latest}

    def _fields(self, number: int) -> "dict[str, Any]":
        rows = self._ask(
            f"select data from body where number = ? and length(data) < {_MOST_BYTES}", [number]
        )
        return _parsed(rows[0][0]) if rows else {}

    def _ask(self, query: str, values: "Iterable[Any]" = (), *more: "Any") -> "list[Any]":
        return self._connection.execute(query, [*values, *more]).fetchall()


def checkpoint_threads(folder: str) -> dict[str, str]:
    """Return the threads that have a checkpoint, and when it was saved.

    Raises:
        OSError, sqlite3.Error: There is nothing, or it cannot be read.
    """
    query = "select thread, max(updated_at) from checkpoint group by thread order by 2 desc"
    return {str(name): str(at)[:10] for name, at in _state_rows(folder, query)}


def known_threads(folder: str) -> dict[str, str]:
    """Return the threads that were told anything; see `checkpoint_threads`."""
    query = "select name from thread order by name"
    return {str(name): "" for (name,) in _state_rows(folder, query)}


def proposals(folder: str) -> dict[str, str]:
    """Return the short ids of what waits for consent, and what it says.

    Raises:
        OSError, sqlite3.Error, ValueError: There is nothing, or it cannot be read.
    """
    found: dict[str, str] = {}
    for (queue,) in _state_rows(folder, "select queue from consent"):
        for item in json.loads(queue).get("proposals", ())[:_MOST]:
            said = (item.get("memory") or item.get("changes") or {}).get("content", "")
            found[_short(str(item["id"]))] = str(said)
    return found


def _state_rows(folder: str, query: str) -> "list[Any]":
    with closing(open_at_once(folder, _STATE)) as connection:
        return connection.execute(f"{query} limit {_MOST}").fetchall()


def _marks(values: "Sequence[str]") -> str:
    return ", ".join("?" * len(values))


def _starts(column: str) -> str:
    return f"substr({column}, 1, length(?)) = ?"


def _short(identifier: str) -> str:
    return identifier.partition("-")[2] or identifier


def _app_of(fields: "dict[str, Any]") -> "Any":
    scope = fields.get("scope")
    return scope.get("app") if isinstance(scope, dict) else None


def _text_of(fields: "dict[str, Any]") -> str:
    parts = [fields.get(name) for name in ("subject", "title", "name", "content")]
    return ": ".join(part for part in parts if isinstance(part, str) and part)


def _record_in(path: str) -> "dict[str, Any]":
    with open(path, "rb") as file:
        return _parsed(file.read(_MOST_BYTES))


def _parsed(data: bytes) -> "dict[str, Any]":
    try:
        found = json.loads(data)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
