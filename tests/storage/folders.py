"""Looking at a memory folder from outside, with nothing of pmem's own reading in between."""

import json
import os
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from unittest import mock

from pmem.core.selection import Selection
from pmem.project.workspace import Workspace
from pmem.storage.backend import Backend
from pmem.storage.jsonfiles import JsonFiles
from pmem.values.records import STORES, Memory
from tests.conftest import NOW

Tree = dict[str, bytes]
"""The records' files of a memory folder: what each path, relative to it, holds."""

QUIET = {"max_recent_messages": 4, "chunk_size": 2, "lock_timeout": 0.0}
"""Small conversations, and no waiting."""


def opened(
    root: str, *, now: datetime | None = NOW, read_only: bool = False, **settings: Any
) -> Workspace:
    overrides = QUIET | settings
    return Workspace(root, actor="tester", now=now, read_only=read_only, overrides=overrides)


def json_files(root: str, *, read_only: bool = False) -> JsonFiles:
    return JsonFiles(root, lock_timeout=lambda: 0.0, read_only=read_only)


def tree(root: str) -> Tree:
    """Return every file in the stores, hidden and stray ones too."""
    found: Tree = {}
    for store in STORES.values():
        for folder, _, names in os.walk(os.path.join(root, store)):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, root)] = file.read()
    return found


def values(root: str) -> dict[str, Any]:
    """Return what every record's file says, by id; each must parse."""
    return {
        os.path.basename(path).removesuffix(".json"): json.loads(data)
        for path, data in tree(root).items()
    }


def strays(root: str) -> list[str]:
    """Return the files and folders that a finished write has no use for."""
    expected = {"lock", "index.sqlite3", "operations.log", "commands.log"}
    local = set(os.listdir(os.path.join(root, "local"))) - expected
    hidden = {
        path for path in tree(root) if os.path.basename(path)[0] == "." or ".json" not in path
    }
    return sorted(local | hidden)


def memory(identifier: str, content: str = "something", **fields: Any) -> Memory:
    known: dict[str, Any] = {
        "category": "knowledge",
        "valid_from": NOW,
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Memory(id=identifier, content=content, **known | fields)


def path_of(root: str, identifier: str, type_: type[Any] = Memory) -> str:
    return os.path.join(root, STORES[type_], identifier + ".json")


def write(path: str, data: bytes) -> None:
    """Write a file as an editor does that saves in place."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def contents(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def copied(root: str, target: str) -> str:
    shutil.copytree(root, target, symlinks=True)
    return target


@contextmanager
def fixed_chance(seed: int = 7) -> Iterator[None]:
    """Make ids and temporary names come out the same every time."""
    chance = random.Random(seed)
    with mock.patch.object(os, "urandom", chance.randbytes):
        yield


def contradict(root: str, identifier: str) -> None:
    """Let two branches have said different things of a memory, as merging them writes it down."""
    path = path_of(root, identifier, Memory)
    record = json.loads(contents(path))
    event = {
        "event": "MERGE",
        "at": record["updated_at"],
        "source": "git",
        "before": {"content": f"Not: {record['content']}"},
        "detail": {"conflict": ["content"]},
    }
    write(path, json.dumps({**record, "history": [*record["history"], event]}).encode())


def twins(backend: Backend, key: str) -> list[Memory]:
    """Return the memories that a key finds."""
    return backend.select(Memory, Selection(keys=(key,)))
