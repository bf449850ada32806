"""A small project, and what can be wrong around it."""

import fcntl
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from tempfile import TemporaryDirectory
from typing import IO, Final

from pmem.project.setup import initialise
from pmem.storage.local.state import LocalState
from pmem.values import records

THEN: Final = datetime(2026, 11, 1, tzinfo=UTC)
ONE, TWO, EPISODE, TALK, CHUNK, SAID = (
    f"0mh0a0a0-{short}"
    for short in ("k3v9m2x1", "k3v9p7q2", "e1e1e1e1", "c1c1c1c1", "h1h1h1h1", "s1s1s1s1")
)


def _memory(identifier: str, content: str) -> records.Memory:
    return records.Memory(
        id=identifier,
        type=records.MemoryType.DECISION,
        content=content,
        category="project",
        valid_from=THEN,
        created_at=THEN,
        updated_at=THEN,
    )


def _message(content: str) -> records.Message:
    return records.Message(id=SAID, role=records.Role.USER, content=content, created_at=THEN)


RECORDS: Final[tuple[records.Record, ...]] = (
    _memory(ONE, "We use PostgreSQL"),
    _memory(TWO, "The queue is RabbitMQ"),
    records.Episode(
        id=EPISODE,
        type=records.EpisodeType.PIVOT,
        title="Queue",
        summary="The queue is RabbitMQ",
        created_at=THEN,
        updated_at=THEN,
    ),
    records.Conversation(id=TALK, started_at=THEN, updated_at=THEN, turns=1, chunks=(CHUNK,)),
    records.Chunk(
        id=CHUNK,
        conversation=TALK,
        number=1,
        summary="Hello",
        created_at=THEN,
        messages=(_message("Hello"),),
    ),
)


_KEPT: Final[list[TemporaryDirectory[str]]] = []


@cache
def _template() -> str:
    _KEPT.append(TemporaryDirectory(prefix="pmem-bad-"))
    here = _KEPT[-1].name
    root = os.path.join(here, ".project-memory")
    initialise(root)
    for record in RECORDS:
        _write(
            os.path.join(root, records.STORES[type(record)], f"{record.id}.json"),
            records.dump(record),
        )
    _write(os.path.join(here, "request.json"), b'{"query": "queue"}')
    _write(os.path.join(here, "binary"), b"\0\1\2")
    _write(os.path.join(here, "latin"), "Größe".encode("latin-1"))
    os.mkdir(os.path.join(here, "folder"))
    return here


def fill(root: str, wrong: str = "") -> None:
    """Make the project, and some files beside it."""
    for held in _HELD:
        held.close()
    shutil.copytree(_template(), os.path.dirname(root), dirs_exist_ok=True)
    if wrong:
        WRONG[wrong](root)


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def _config(text: str) -> Callable[[str], None]:
    return lambda root: _write(os.path.join(root, "config.toml"), text.encode())


def _record(data: bytes) -> Callable[[str], None]:
    return lambda root: _write(os.path.join(root, "long-term-memory", f"{ONE}.json"), data)


def _a_file(root: str) -> None:
    shutil.rmtree(root)
    _write(root, b"")


def _folder_for_config(root: str) -> None:
    os.unlink(os.path.join(root, "config.toml"))
    os.mkdir(os.path.join(root, "config.toml"))


def _broken_state(root: str) -> None:
    os.makedirs(os.path.join(root, "local"), exist_ok=True)
    _write(os.path.join(root, "local", "state.sqlite3"), b"no database" * 100)


def _broken_queue(root: str) -> None:
    LocalState(root).write("insert or replace into consent values (1, ?)", b"[]")


def _another_writer(root: str) -> None:
    _config("lock_timeout = 0.01\n")(root)
    os.makedirs(os.path.join(root, "local"), exist_ok=True)
    _HELD[:] = [open(os.path.join(root, "local", "lock"), "a")]  # noqa: SIM115 - it is held
    fcntl.flock(_HELD[0], fcntl.LOCK_EX)


_HELD: Final[list[IO[str]]] = []
WRONG: Final[dict[str, Callable[[str], None]]] = {
    "no project": shutil.rmtree,
    "a file for a project": _a_file,
    "allowlists": _config('[allowlists]\nplanner = ["goals"]\n'),
    "strict categories": _config("[categories]\nstrict = true\n"),
    "settings that are no TOML": _config("chunk_size = \n"),
    "settings nested too deep": _config(f"x = {'[' * 5000}"),
    "settings of endless numbers": _config(f"chunk_size = {'9' * 5000}"),
    "a setting of a wrong type": _config('chunk_size = "many"\n'),
    "a setting out of range": _config("recent_share = 2\n"),
    "a value for a table": _config("limits = 3\n"),
    "a folder for settings": _folder_for_config,
    "a record that is no JSON": _record(b"{"),
    "a record that is empty": _record(b""),
    "a newer record": _record(b'{"schema": 2}'),
    "a record with markers": _record(b"<<<<<<< ours\n{}\n=======\n{}\n>>>>>>> theirs\n"),
    "a record not in UTF-8": _record(b'{"id": "\xff"}'),
    "another writer": _another_writer,
    "a broken state": _broken_state,
    "a broken queue": _broken_queue,
}
