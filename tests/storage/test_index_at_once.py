"""An index that is filled at once holds what one holds that learns record by record."""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import timedelta
from typing import Any, Final
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem.storage.index import documents, records
from pmem.values.records import (
    Chunk,
    Episode,
    EpisodeType,
    Event,
    EventKind,
    Memory,
    MemoryType,
    Message,
    Record,
    Relationship,
    Role,
    State,
    dump,
)
from tests.conftest import NOW
from tests.effort import examples
from tests.storage.folders import json_files, memory, path_of, write
from tests.storage.searches import TEXTS, age

Kept = dict[str, list[str]]
NUMBERS: Final = st.integers(0, 30)
LEAST: Final = 10**9


def id_of(number: int) -> str:
    return f"mjwaid1q-{number:08d}"


def message(number: int, text: str) -> Message:
    return Message(id=id_of(100 + number % 9), role=Role.USER, content=text, created_at=NOW)


def said(number: int, text: str, other: str) -> Record:
    if number % 3 == 0:
        talk = (message(number, text), message(number + 1, other))
        return Chunk(id=id_of(number), conversation=id_of(9), number=number, summary=text,
                     created_at=NOW, messages=talk)  # fmt: skip
    if number % 7 == 0:
        at = NOW + timedelta(hours=number)
        return Episode(id=id_of(number), type=EpisodeType.PIVOT, title=text, summary=other,
                       created_at=at, updated_at=at, tags=(text[:3],))  # fmt: skip
    agent = "helper" * (number % 2)
    link = Relationship(target=id_of(number + 1), type="near", strength=0.9)
    return memory(
        id_of(number),
        f"{text} {other}",
        type=list(MemoryType)[number % 9],
        subject=other if number % 4 else None,
        tags=(text[:4],) * (number % 5),
        state=State.ARCHIVED if number % 5 == 1 else State.ACTIVE,
        relationships=(link,) * (number % 2),
        pinned=number % 8 == 2,
        history=(Event(event=EventKind.ADD, at=NOW, agent=agent),),
    )


SAID: Final = st.lists(
    st.builds(said, NUMBERS, st.sampled_from(TEXTS), st.sampled_from(TEXTS)), min_size=4
)


def kept(root: str) -> Kept:
    """Return what an index keeps, table by table, but when it looked."""
    with closing(sqlite3.connect(os.path.join(root, "local", "index.sqlite3"))) as connection:
        schema = connection.execute("select name, sql from sqlite_master order by name").fetchall()
        tables = [name for name, sql in schema if (sql or "").startswith("CREATE TABLE")]
        found = {name: list(connection.execute(f"select * from {name}")) for name in tables}
    found["looked"] = [(row[0], *row[2:]) for row in found["looked"]]
    return {"schema": list(map(repr, schema))} | {
        name: sorted(map(repr, rows)) for name, rows in found.items()
    }


def index_made(root: str, many: int, batch: int, enough: int, *, at_once: bool) -> Kept:
    """Make the index anew: from so many records on without the indexes of its tables, so many
    together, and its lists written after so many changes.
    """
    path = os.path.join(root, "local", "index.sqlite3")
    if os.path.exists(path):
        os.unlink(path)
    files = json_files(root)
    sizes: dict[str, Any] = {"MANY": many, "_BATCH": batch}
    waiting = {**sizes, "_ENOUGH": enough, "_FEW": batch % 3}
    with mock.patch.multiple(records, **sizes), mock.patch.multiple(documents, **waiting):
        if not at_once:
            list(files.scan(Memory))
        files.searched(lambda pool: None)
    return kept(root)


@settings(max_examples=examples(60))
@given(found=SAID, batch=st.integers(1, 40), enough=st.integers(1, 300))
def test_an_index_filled_at_once_holds_what_one_does_that_learns_bit_by_bit(
    tmp_path_factory: pytest.TempPathFactory, found: Sequence[Record], batch: int, enough: int
) -> None:
    root = str(tmp_path_factory.mktemp("index"))
    for record in found:
        write(path_of(root, record.id, type(record)), dump(record))
    write(path_of(root, id_of(99)), b"{broken")
    age(root)
    plain = index_made(root, LEAST, LEAST, LEAST, at_once=False)
    assert plain["posting"] or not plain["document"]
    for at_once in (True, False):
        assert index_made(root, 0, batch, enough, at_once=at_once) == plain


def test_of_very_many_records_it_is_told_how_many_are_read(tmp_path: Any) -> None:
    root, told = str(tmp_path), list[tuple[int, int]]()
    for number in range(1, 9):
        record = said(number, "one", "two")
        write(path_of(root, record.id, type(record)), dump(record))
    for very_many, expected in ((7, [(done, 8) for done in range(1, 9)]), (8, [])):
        told.clear()
        files = json_files(root)
        files._shared.indexes.tell = lambda done, total: told.append((done, total))
        with mock.patch.object(records, "_VERY_MANY", very_many):
            files.searched(lambda pool: None)
        assert told == expected
        os.unlink(os.path.join(root, "local", "index.sqlite3"))
