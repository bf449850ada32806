"""The index beside the files: never wrong, never needed, gone without harm."""

import contextlib
import os
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem.core.record_keys import twin_keys, word_keys_of
from pmem.core.selection import Portion, Selection
from pmem.storage.backend import Change
from pmem.storage.files.listing import FolderListing
from pmem.storage.files.recordfile import stamp_of
from pmem.storage.index import database, records, schema
from pmem.storage.index.index import Index, open_index
from pmem.storage.jsonfiles import JsonFiles
from pmem.storage.record_files import RecordFiles
from pmem.values.fields import ignore_progress
from pmem.values.records import Memory, State, dump
from tests.effort import examples
from tests.storage.faults import in_a_child
from tests.storage.folders import contents, json_files, memory, path_of, twins, write
from tests.storage.test_search import DAMAGE

KEYS = ("content:one", "content:two", "subject:s")
TWICE = ("one", "two")
WORDS = ("one", "two", "six", "red", "fox")
NUMBERS = st.integers(0, 4)
TEXTS = st.sampled_from(["one", "two", "six", "red", "fox"])


def id_of(number: int) -> str:
    return f"mjwaid1q-{number:08d}"


def put(files: JsonFiles, record: Memory) -> None:
    with files.lock():
        if record.id in files.ids(Memory):
            files.read(Memory, record.id)
        files.commit([Change(Memory, record.id, record)])


def check(files: JsonFiles, root: str) -> None:
    there = list(json_files(root, read_only=True).scan(Memory))
    assert there == list(files.scan(Memory))
    for key in KEYS:
        expected = [found.id for found in there if key in twin_keys(found)]
        assert expected == [found.id for found in twins(files, key)]
    holders = {word: [found.id for found in there if word in word_keys_of(found)] for word in WORDS}
    assert holders == files.holders(Memory, WORDS, 99)


def check_indexed(root: str) -> None:
    """Check that the index answers by itself, and rightly."""
    files = json_files(root)
    told = AssertionError("looked at every file")
    names = RecordFiles.names

    def unless_indexed(self: RecordFiles, type_: type[Memory]) -> list[str]:
        if self is files._files:
            raise told
        return names(self, type_)

    with mock.patch.object(RecordFiles, "names", unless_indexed):
        check(files, root)


def index_of(root: str) -> str:
    return os.path.join(root, "local", database.FILE)


@pytest.fixture
def filled(root: str) -> str:
    """Return a folder with three memories and an index of them."""
    files = json_files(root)
    for number, text in enumerate(("one", "two", "one")):
        put(files, memory(id_of(number), text, subject="s"))
    check_indexed(root)
    assert os.path.isfile(index_of(root))
    return root


ours = st.tuples(st.just("ours"), NUMBERS, TEXTS)
removal = st.tuples(st.just("removed"), NUMBERS, TEXTS)
in_place = st.tuples(st.just("in place"), NUMBERS, TEXTS)
renamed = st.tuples(st.just("renamed"), NUMBERS, TEXTS)
broken = st.tuples(st.just("broken"), NUMBERS, TEXTS)
deleted = st.tuples(st.just("deleted"), NUMBERS, TEXTS)
archived = st.tuples(st.just("archived"), NUMBERS, TEXTS)
changes = st.lists(ours | removal | in_place | renamed | broken | deleted | archived, max_size=8)


def change(files: JsonFiles, root: str, kind: str, number: int, text: str) -> None:
    path = path_of(root, id_of(number))
    record = memory(id_of(number), text, subject="s")
    if kind == "in place":
        write(path, dump(record))
    elif kind == "renamed":
        write(path + ".new", dump(record))
        os.replace(path + ".new", path)
    elif kind == "broken":
        write(path, dump(record)[:-9])
    elif kind == "deleted":
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    elif kind == "removed":
        with files.lock():
            files.commit([Change(Memory, id_of(number), None)])
    else:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        state = State.ARCHIVED if kind == "archived" else State.ACTIVE
        put(files, memory(id_of(number), text, subject="s", state=state))


@settings(max_examples=examples(60))
@given(changes=changes)
def test_the_index_agrees_with_a_look_at_every_file_whoever_changed_them(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, int, str]]
) -> None:
    """Same size, same tick, same inode: an edit that leaves the least trace is the rule here."""
    root = str(tmp_path_factory.mktemp("index"))
    files = json_files(root)
    for kind, number, text in changes:
        change(files, root, kind, number, text)
        check(json_files(root), root)


def edit_without_a_trace(path: str) -> None:
    """Change a file in place, in the very tick of its last change."""
    before = os.stat(path)
    write(path, contents(path).replace(b'"one"', b'"two"'))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert stamp_of(before) == stamp_of(os.stat(path))


def clock_at(at: int) -> AbstractContextManager[object]:
    return mock.patch("time.time_ns", return_value=at)


@pytest.mark.parametrize("late", [0, 1_000_000, 19_000_000])
def test_an_edit_in_place_within_the_same_tick_is_noticed(filled: str, late: int) -> None:
    """Inode, size and time are all as they were; only the file's youth at the last look tells."""
    path = path_of(filled, id_of(0))
    os.utime(path, ns=(1, 1_800_000_000_123_456_789))
    with clock_at(1_800_000_000_123_456_789 + late):
        check_indexed(filled)
        edit_without_a_trace(path)
    check_indexed(filled)


def test_an_edit_while_a_slow_writer_holds_the_lock_is_noticed(filled: str) -> None:
    """What the writer learns at the end says nothing new about the files it did not write."""
    path = path_of(filled, id_of(0))
    written = 1_800_000_000_123_456_789
    os.utime(path, ns=(1, written))
    files = json_files(filled)
    with files.lock():
        with clock_at(written):
            assert [found.id for found in twins(files, "content:two")] == [id_of(1)]
        edit_without_a_trace(path)
        with clock_at(written + 10**9):
            files.commit([Change(Memory, id_of(4), memory(id_of(4), "six"))])
    check_indexed(filled)


@pytest.mark.parametrize("seconds", [0, 1])
def test_a_clock_of_whole_seconds_is_given_two(filled: str, seconds: int) -> None:
    path = path_of(filled, id_of(0))
    now = 1_800_000_000_000_000_000
    with mock.patch("time.time_ns", return_value=now):
        for text in (b'"one"', b'"two"'):
            write(path, dump(memory(id_of(0), "one", subject="s")).replace(b'"one"', text))
            os.utime(path, ns=(now, now - seconds * 10**9))
            check_indexed(filled)


def test_an_old_file_is_not_read_again(filled: str) -> None:
    for number in range(3):
        os.utime(path_of(filled, id_of(number)), ns=(1, 1_600_000_000_123_456_789))
    check_indexed(filled)
    with mock.patch.object(RecordFiles, "read_files", side_effect=AssertionError("read again")):
        found = [record.id for record in twins(json_files(filled), "content:one")]
    assert found == [id_of(0), id_of(2)]


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_index_changes_no_answer_and_is_made_again(
    filled: str, damage: Callable[[str], None]
) -> None:
    files = json_files(filled)
    damage(index_of(filled))
    for _ in range(2):
        check(json_files(filled), filled)
        check(files, filled)
        change(files, filled, "ours", 1, "one")
    if os.path.isfile(index_of(filled)):
        check_indexed(filled)
    assert not files.problems


def test_an_index_that_may_not_be_written_changes_no_answer(filled: str) -> None:
    connect = sqlite3.connect

    def read_only(path: str, **options: float | None) -> sqlite3.Connection:
        return connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)

    change(json_files(filled), filled, "in place", 1, "one")
    with mock.patch("sqlite3.connect", read_only):
        check(json_files(filled), filled)
    check(json_files(filled), filled)


def test_a_read_only_run_neither_makes_nor_touches_an_index(filled: str) -> None:
    before = os.stat(index_of(filled)).st_mtime_ns
    change(json_files(filled), filled, "in place", 1, "one")
    check(json_files(filled, read_only=True), filled)
    assert before == os.stat(index_of(filled)).st_mtime_ns
    os.unlink(index_of(filled))
    check(json_files(filled, read_only=True), filled)
    assert not os.path.exists(index_of(filled))


@pytest.mark.parametrize("at", [2**63, 2**64 - 1])
def test_a_stamp_beyond_what_the_database_holds_changes_no_answer(filled: str, at: int) -> None:
    """Inodes have 64 bits without a sign; times beyond 2262 need more in nanoseconds."""
    listing = FolderListing.of({id_of(0): (at, 1, at)})
    record = memory(id_of(0), "one")
    held = dump(record)
    read = records.ReadRecord(record, held)
    kept = open_index(os.path.dirname(index_of(filled)))
    assert kept is not None
    found = records.Files(lambda _: listing, lambda *_: iter([(id_of(0), read)]), ignore_progress)
    for _ in range(2):
        kept.update(["long-term-memory"], found, post=True)
        assert [held] == kept.select("long-term-memory", Selection(keys=(KEYS[0],)), (), None)
    kept.close()
    check(json_files(filled), filled)


def test_an_index_in_use_is_neither_waited_for_long_nor_removed(filled: str) -> None:
    inode = os.stat(index_of(filled)).st_ino
    write(path_of(filled, id_of(3)), dump(memory(id_of(3), "one")))
    other = sqlite3.connect(index_of(filled), isolation_level=None)
    with contextlib.closing(other), mock.patch.object(database, "BUSY_SECONDS", 0.0):
        other.execute("begin exclusive")
        check(json_files(filled), filled)
        other.execute("rollback")
    assert inode == os.stat(index_of(filled)).st_ino
    check_indexed(filled)


def test_two_processes_that_update_at_once_agree_in_the_end(filled: str) -> None:
    def updates() -> None:
        children = []
        for _ in range(3):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    for _ in range(10):
                        check(json_files(filled), filled)
                    code = 0
                finally:
                    os._exit(code)
            children.append(child)
        for number in range(30):
            record = memory(id_of(number % 7), ("one", "two")[number % 2])
            put(JsonFiles(filled, lock_timeout=lambda: 60.0), record)
        ended = [os.waitpid(child, 0)[1] for child in children]
        assert ended  # while others write, their two looks may differ

    assert in_a_child(updates) == 0
    check_indexed(filled)


def test_a_process_killed_while_it_updates_leaves_no_wrong_answer(filled: str) -> None:
    for calls in range(1, 4):
        for number in range(3):
            write(
                path_of(filled, id_of(number)),
                dump(memory(id_of(number), TWICE[calls % 2], subject="s")),
            )

        def dies(calls: int = calls) -> None:
            left = iter(range(calls - 1))

            def keys(record: object) -> tuple[str, ...]:
                if next(left, None) is None:
                    os._exit(137)
                return ("content:wrong",)

            with mock.patch.object(records, "twin_keys", keys):
                list(twins(json_files(filled), "content:two"))

        assert in_a_child(dies) == 137
        assert os.path.exists(f"{index_of(filled)}-journal")
        check(json_files(filled), filled)
        assert not os.path.exists(f"{index_of(filled)}-journal")


def test_a_mark_goes_when_its_record_changes_or_any_record_goes(filled: str) -> None:
    files = json_files(filled)
    every = [record.id for record in files.scan(Memory)]
    files.mark(Memory, "seen", every)
    assert list(files.scan(Memory, "seen")) == []
    assert [record.id for record in files.marked(Memory, "seen")] == every
    change(files, filled, "in place", 1, "six")
    assert [record.id for record in json_files(filled).scan(Memory, "seen")] == [every[1]]
    change(files, filled, "deleted", 2, "")
    assert [record.id for record in json_files(filled).scan(Memory, "seen")] == every[:2]
    files.mark(Memory, "seen", every[:2])
    put(files, memory(id_of(0), "red"))
    assert [record.id for record in json_files(filled).scan(Memory, "seen")] == every[:1]


def test_a_figure_is_kept_until_a_record_changes(filled: str) -> None:
    files = json_files(filled)
    made = iter(range(9))

    def figure() -> int:
        return json_files(filled).figure(Memory, "any", int, lambda: next(made))

    assert [figure(), figure()] == [0, 0]
    change(files, filled, "in place", 1, "six")
    assert [figure(), figure()] == [1, 1]
    put(files, memory(id_of(4), "red"))
    assert [figure(), figure()] == [2, 2]
    assert json_files(filled, read_only=True).figure(Memory, "any", int, lambda: 7) == 7


def test_counts_of_words_are_kept_without_the_words_until_any_record_goes(filled: str) -> None:
    files, counted = json_files(filled), list[str]()

    def count(piece: str) -> int:
        counted.append(piece)
        return len(piece)

    def asked(*pieces: str) -> list[str]:
        counted.clear()
        found = json_files(filled).tokens("any", pieces, count)
        assert found == {piece: len(piece) for piece in pieces}
        return sorted(counted)

    assert asked("zwölf", " Boxkämpfer\ud800") == [" Boxkämpfer\ud800", "zwölf"]
    put(files, memory(id_of(4), "red"))
    assert asked("zwölf", " Boxkämpfer\ud800", "jagen") == ["jagen"]
    with open(index_of(filled), "rb") as file:
        assert "zwölf".encode() not in file.read()
    assert json_files(filled, read_only=True).tokens("any", ["zwölf"], lambda _: 7) == {"zwölf": 7}
    change(files, filled, "deleted", 2, "")
    list(json_files(filled).scan(Memory))
    assert asked("zwölf") == ["zwölf"]


def test_an_index_in_use_is_waited_for_once_in_a_moment(filled: str) -> None:
    files = json_files(filled)
    write(path_of(filled, id_of(3)), dump(memory(id_of(3), "one")))
    other = sqlite3.connect(index_of(filled), isolation_level=None)
    asked = mock.Mock(side_effect=database.connect)
    with contextlib.closing(other), mock.patch.object(database, "BUSY_SECONDS", 0.0):
        other.execute("begin exclusive")
        with files.moment(), mock.patch("pmem.storage.index.index.connect", asked):
            for _ in range(3):
                assert [found.id for found in twins(files, "content:one")] == [
                    id_of(0), id_of(2), id_of(3)
                ]  # fmt: skip
        other.execute("rollback")
    assert asked.call_count <= 1
    check_indexed(filled)


def test_a_record_that_others_remove_while_it_is_looked_up_breaks_no_answer(filled: str) -> None:
    """Between what fits and what it says, another process brings the index up to date."""
    files, found = json_files(filled), Index._numbers

    def and_then_others_remove_it(self: Index, store: str, part: Portion) -> Any:
        numbers = found(self, store, part)
        os.unlink(path_of(filled, id_of(1)))
        assert len(list(json_files(filled).scan(Memory))) == 2
        return numbers

    with (
        mock.patch.object(Index, "_numbers", and_then_others_remove_it),
        mock.patch.object(database, "BUSY_SECONDS", 0.0),
    ):
        answer = files.select(Memory, Selection())
    assert sorted(each.id for each in answer) == [id_of(0), id_of(1), id_of(2)]


def test_whoever_makes_the_index_at_the_same_time_keeps_what_others_have_learnt(
    filled: str,
) -> None:
    os.unlink(index_of(filled))
    others = json_files(filled)

    def after_others_did(connection: sqlite3.Connection) -> None:
        with mock.patch.object(database, "rebuild", schema.rebuild):
            assert len(list(others.scan(Memory))) == 3
        schema.rebuild(connection)

    with mock.patch.object(database, "rebuild", after_others_did):
        open_index(os.path.dirname(index_of(filled)))
    with contextlib.closing(sqlite3.connect(index_of(filled))) as index:
        assert index.execute("select count(*) from record").fetchone() == (3,)
