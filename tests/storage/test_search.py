"""The search index: never wrong, never needed, gone without harm; and requests of all kinds."""

import contextlib
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from unittest import mock

import pytest

from pmem.errors import StorageRefused
from pmem.memory.requests import AddRequest
from pmem.operations import table
from pmem.search.hits import SearchKind, SearchRequest
from pmem.storage.files import listing, recordfile
from pmem.storage.index import current_index
from pmem.storage.index import search as search_index
from pmem.storage.index.database import FILE
from pmem.storage.record_files import RecordFiles
from pmem.values.records import Access, Conversation
from tests.asking import ask
from tests.conftest import NOW
from tests.storage.folders import contents, opened, path_of, write
from tests.storage.searches import (
    AT,
    EVERYTHING,
    REQUESTS,
    TEXTS,
    age,
    asks,
    check,
    chunk,
    conversation,
    fill,
    indexed,
    message,
    put,
    put_memory,
)


def index_of(root: str) -> str:
    return os.path.join(root, "local", FILE)


@pytest.fixture
def filled(root: str) -> str:
    """Return a folder of everything with an index of it, all old."""
    return fill(root)


def _foreign_version(path: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma user_version = 99")


def _foreign_tables(path: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        (version,) = connection.execute("pragma user_version").fetchone()
    os.unlink(path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("create table document (other text)")
        connection.execute(f"pragma user_version = {version}")


def _set(statement: str) -> Callable[[str], None]:
    def change(path: str) -> None:
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute(statement)

    return change


def _folder(path: str) -> None:
    os.unlink(path)
    os.mkdir(path)


def _link(path: str) -> None:
    os.replace(path, path + ".elsewhere")
    os.symlink(path + ".elsewhere", path)


def _noise(path: str) -> None:
    data = contents(path)
    write(path, data[:4096] + b"\xa5" * (len(data) - 4096))


DAMAGE: dict[str, Callable[[str], None]] = {
    "deleted": os.unlink,
    "empty": lambda path: write(path, b""),
    "text": lambda path: write(path, b"not a database" * 1000),
    "truncated": lambda path: os.truncate(path, os.path.getsize(path) // 2 + 100),
    "truncated to the header": lambda path: os.truncate(path, 100),
    "noise": _noise,
    "of a foreign version": _foreign_version,
    "with foreign tables": _foreign_tables,
    "with foreign values of looks": _set("update looked set names = 'x', at = 1.5"),
    "with foreign names": _set("update looked set names = x'ff2f2f2f', stamps = x'00'"),
    "with foreign facts": _set("update document set facts = 'x', label = null"),
    "with foreign places": _set("update document set store = 'elsewhere', record = 7"),
    "with foreign postings": _set("update posting set numbers = x'ff', counts = 'x'"),
    "with postings of nobody": _set("delete from document"),
    "with foreign totals": _set("update total set documents = 'many', length = null"),
    "with foreign problems": _set("insert into problem values ('elsewhere', 1, null, null)"),
    "with foreign links": _set(
        "insert into link select number, 'mjwaid1q-00000002', 7, 'x' from document"
    ),
    "a folder": _folder,
    "a link": _link,
    "beside a foreign journal": lambda path: write(path + "-journal", b"\xd9\xd5\x05\xf9" * 300),
}


@pytest.mark.some(6)
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("changed", [False, True])
def test_a_damaged_index_changes_no_answer_and_is_made_again(
    filled: str, damage: Callable[[str], None], changed: bool
) -> None:
    damage(index_of(filled))
    if changed:
        put_memory(filled, 2, "The river is a stone's throw away")
    check(filled, *REQUESTS[:4], index=False)
    if os.path.isfile(index_of(filled)):
        check(filled, EVERYTHING)


def test_the_same_process_sees_what_it_has_written_at_once(filled: str) -> None:
    workspace = opened(filled, now=AT)
    for name in ("zebra", "tapir", "okapi", "gnu"):
        request = SearchRequest(query=name)
        assert ask(workspace, table.SEARCH, request).hits == ()
        ask(workspace, table.ADD, AddRequest(content=f"A {name} sleeps"))
        assert [hit.text for hit in ask(workspace, table.SEARCH, request).hits] == [
            f"A {name} sleeps"
        ]


def test_a_kept_index_follows_others_within_a_moment(filled: str) -> None:
    """An edit in place leaves no trace in the folder, so it may take that moment."""
    workspace = opened(filled, now=AT)
    request = SearchRequest(query="zebra")
    assert indexed(workspace, request).hits == ()
    path = put_memory(filled, 50, "A zebra sleeps")  # a new name, so the folder's time changes
    assert len(indexed(workspace, request).hits) == 1
    write(path, contents(path).replace(b"zebra", b"tapir"))
    after = time.monotonic() + current_index.TRUST_SECONDS + 1
    with mock.patch("pmem.storage.index.current_index.time.monotonic", return_value=after):
        assert indexed(workspace, request).hits == ()


def test_a_look_that_is_older_than_another_one_s_takes_nothing_back(filled: str) -> None:
    """A thread that was slow to write down what it saw would make others miss what is new."""
    put_memory(filled, 50, "A tapir sleeps")
    ordinary, firsts = listing.look, iter([True])

    def slow(folder: str) -> Any:
        found = ordinary(folder)
        if next(firsts, False):
            put_memory(filled, 51, "A zebra sleeps")
            assert asks(filled, "zebra") == ["A zebra sleeps"]
        return found

    with mock.patch.object(listing, "look", slow):
        assert asks(filled, "tapir") == ["A tapir sleeps"]
    with contextlib.closing(sqlite3.connect(index_of(filled))) as connection:
        query = "select record from document where record like '%0005_' order by record"
        found = [record for (record,) in connection.execute(query)]
    assert found == ["mjwaid1q-00000050", "mjwaid1q-00000051"]


def test_only_what_has_changed_is_read(filled: str) -> None:
    put_memory(filled, 3, "zebra")
    wanted: list[str] = []

    def gone(_: object, type_: object, names: Iterable[str]) -> Iterator[tuple[str, None]]:
        wanted.extend(asked := list(names))
        return ((name, None) for name in asked)

    with mock.patch.object(RecordFiles, "read_files", gone):
        found = ask(opened(filled, now=AT), table.SEARCH, SearchRequest(query="zebra"))
    assert found.hits == ()
    assert wanted == ["mjwaid1q-00000003"]
    check(filled)  # and what could not be read is tried again


def test_damaged_files_are_told_at_every_search(filled: str) -> None:
    write(path_of(filled, "mjwaid1q-00000001"), b'{"id": ')
    write(os.path.join(filled, "conversations", "notes.json"), b"{}")
    for _ in range(3):
        workspace = opened(filled, now=AT)
        indexed(workspace, SearchRequest(query="apple"))
        assert sorted(problem.code for problem in workspace.problems) == ["damaged", "damaged"]
        age(filled)
    put_memory(filled, 1, TEXTS[1])
    os.unlink(os.path.join(filled, "conversations", "notes.json"))
    check(filled)
    workspace = opened(filled, now=AT)
    indexed(workspace, SearchRequest(query="apple"))
    assert workspace.problems == []


def test_a_file_that_could_not_be_read_is_tried_again(filled: str) -> None:
    """Rights can change without a trace in inode, size and time."""
    put_memory(filled, 7, "A zebra sleeps")
    age(filled)
    refused = mock.patch.object(recordfile, "read_bytes", side_effect=StorageRefused("no rights"))
    for _ in range(2):
        workspace = opened(filled, now=AT)
        with refused:
            assert indexed(workspace, SearchRequest(query="zebra")).hits == ()
        assert {problem.code for problem in workspace.problems} == {StorageRefused.code}
    assert asks(filled, "zebra") == ["A zebra sleeps"]
    check(filled)


@pytest.mark.parametrize("name", [b"\xff\xfe", b"a\nb", b"notes", b"", b"0-ABCDEFGH", b"a/b"])
def test_files_with_any_name_are_borne(filled: str, name: bytes) -> None:
    folder = os.fsencode(os.path.join(filled, "long-term-memory"))
    path = os.path.join(folder, name + b".json")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"{}")
    for _ in range(2):
        check(filled, *REQUESTS[:3])
        age(filled)
    os.unlink(path)
    check(filled, *REQUESTS[:3])


def test_the_copy_that_is_left_of_a_message_is_still_found(filled: str) -> None:
    """Two clones moved the same messages into chunks of their own, and git merged both."""
    said = message("m-00000001", "A stone fell into the river")
    first = put(filled, chunk("nkwaid1q-00000001", said))
    other = put(filled, chunk("nkwaid1q-00000002", message("m-00000001", "The stone rose")))
    age(filled)
    check(filled)
    assert "The stone rose" in asks(filled, "stone", kinds=(SearchKind.MESSAGE,))
    os.unlink(other)
    check(filled)
    assert "A stone fell into the river" in asks(filled, "stone", kinds=(SearchKind.MESSAGE,))
    os.unlink(first)
    check(filled)
    assert TEXTS[1] in asks(filled, "stone", kinds=(SearchKind.MESSAGE,))


def test_an_earlier_copy_that_comes_later_waits_for_its_turn(filled: str) -> None:
    """A chunk says what a message is; only without it the conversation does."""
    kept = put(filled, chunk("nkwaid1q-00000003", message("m-0000000a", "a zebra")))
    age(filled)
    check(filled, EVERYTHING)
    put(filled, conversation("mjwaid1q-c0000002", message("m-0000000a", "a tapir")))
    age(filled)
    check(filled, SearchRequest(query="zebra tapir"))
    assert asks(filled, "zebra tapir")[0] == "a zebra"
    os.unlink(kept)
    check(filled, SearchRequest(query="zebra tapir"))
    assert asks(filled, "zebra tapir") == ["a tapir"]


def test_a_message_twice_in_one_file_counts_once(filled: str) -> None:
    said = [message("m-0000000a", "a zebra"), message("m-0000000a", "a tapir")]
    put(filled, conversation("mjwaid1q-c0000002", *said))
    check(filled)
    assert asks(filled, "tapir zebra") == ["a tapir"]


@pytest.mark.parametrize(
    "record",
    [
        conversation("mjwaid1q-c0000009", message("m1", "a zebra")),
        conversation("mjwaid1q-c0000009", message("m" * 99, "a zebra")),
        conversation("mjwaid1q-c0000009", message("", "a zebra")),
        conversation("mjwaid1q-c0000009", message("ü ✓", "a zebra", speaker="A\0b\n")),
        chunk("mjwaid1q-k0000009", message("m-00000009", "a zebra"), number=2**63),
    ],
)
def test_what_other_tools_write_is_found(filled: str, record: Any) -> None:
    put(filled, record)
    check(filled)
    assert asks(filled, "zebra")[0] == "a zebra"


def test_numbers_beyond_what_a_database_holds_are_borne(filled: str) -> None:
    put_memory(filled, 8, "a zebra", access=Access(count=2**64 - 1))
    check(filled)
    assert asks(filled, "zebra") == ["a zebra"]


def test_a_memory_from_a_clock_that_is_ahead_is_found_at_once(filled: str) -> None:
    later = NOW.replace(year=NOW.year + 1)
    put_memory(filled, 8, "a zebra", created_at=later, updated_at=later, valid_from=later)
    check(filled)
    assert asks(filled, "zebra") == ["a zebra"]


def test_ids_that_differ_in_case_only_are_two(root: str) -> None:
    for identifier in ("a-AAAAAAAA", "a-aaaaaaaa"):
        record = conversation(identifier, message(f"m{identifier}", "a zebra"))
        put(root, record)
    check(root)
    assert asks(root, "zebra") == ["a zebra", "a zebra"]


def _no_local(root: str) -> None:
    shutil.rmtree(os.path.join(root, "local"))


def _local_is_a_file(root: str) -> None:
    _no_local(root)
    write(os.path.join(root, "local"), b"")


def _local_is_a_link(root: str) -> None:
    local = os.path.join(root, "local")
    os.replace(local, root + ".elsewhere")
    os.symlink(root + ".elsewhere", local)


@pytest.mark.parametrize("without", [_no_local, _local_is_a_file, _local_is_a_link])
def test_without_a_place_for_an_index_answers_are_the_same(
    filled: str, without: Callable[[str], None]
) -> None:
    without(filled)
    check(filled, index=False)


def test_a_search_holds_nobody_off_once_it_is_done(filled: str) -> None:
    """A process that keeps its index open between searches leaves it to others."""
    workspace = opened(filled, now=AT)
    indexed(workspace, EVERYTHING)
    other = sqlite3.connect(index_of(filled), isolation_level=None, timeout=0.0)
    with contextlib.closing(other):
        other.execute("begin exclusive")
        other.execute("rollback")
    assert indexed(workspace, EVERYTHING).hits


def test_a_search_sees_one_moment_whoever_updates_meanwhile(filled: str) -> None:
    """Another process would take the documents away between two looks at the index."""
    expected = indexed(opened(filled, now=AT), EVERYTHING)
    ordinary = search_index._Statistics.documents

    def slow(self: Any, numbers: Any) -> Any:
        other = sqlite3.connect(index_of(filled), isolation_level=None, timeout=0.0)
        with contextlib.closing(other), contextlib.suppress(sqlite3.OperationalError):
            other.execute("delete from document")
        return ordinary(self, numbers)

    with mock.patch.object(search_index._Statistics, "documents", slow):
        assert expected == indexed(opened(filled, now=AT), EVERYTHING)


def test_a_conversation_is_deleted_with_what_was_said(filled: str) -> None:
    os.unlink(path_of(filled, "mjwaid1q-c0000001", Conversation))
    check(filled)
    assert len(asks(filled, " ".join(TEXTS), kinds=(SearchKind.MESSAGE,))) == 3


@pytest.mark.parametrize(
    "called", ["pmem.search.picking.rank", "pmem.storage.index.search.SearchIndex.statistics"]
)
def test_a_mistake_in_a_search_is_told_and_leaves_an_index(filled: str, called: str) -> None:
    """It is no reason to search on in silence, without an index."""
    request = SearchRequest(query="cats")
    ask(opened(filled), table.SEARCH, request)
    slip = mock.patch(called, side_effect=TypeError("a slip"))
    with slip, pytest.raises(TypeError, match="a slip"):
        ask(opened(filled), table.SEARCH, request)
    assert os.path.isfile(index_of(filled))
