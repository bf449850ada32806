"""The clone's own state: kept whatever happens, and never replaced by something empty."""

import itertools
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem.errors import Damaged, Locked, NewerSchema, Refused, StorageRefused
from pmem.storage.files import safe_files
from pmem.storage.local.state import FILE, LocalState, Seen
from tests.conftest import NOW
from tests.effort import examples
from tests.storage.faults import in_a_child
from tests.storage.folders import contents, write

FORKS = pytest.mark.skipif(os.name == "nt", reason="forks, and kills")
NOTHING = Seen(0, frozenset())
MOST = 2**64 - 1


def path_of(root: str) -> str:
    return os.path.join(root, "local", FILE)


@pytest.fixture
def state(root: str) -> LocalState:
    return LocalState(root, busy_seconds=0.2)


@pytest.fixture
def filled(state: LocalState) -> LocalState:
    """Return a state with a checkpoint and a thread."""
    state.checkpoints.save("review", "", b'{"step":3}', NOW)
    state.threads.advance("review", {1, 2, MOST})
    return state


# Making it


def test_nothing_is_made_before_something_is_written(root: str, state: LocalState) -> None:
    assert state.checkpoints.load("review", "") is None
    assert state.checkpoints.all() == []
    assert state.threads.seen("review") == NOTHING
    assert not os.path.exists(os.path.join(root, "local"))


def test_the_first_write_makes_the_folder_and_leaves_one_file(
    root: str, filled: LocalState
) -> None:
    assert os.listdir(os.path.join(root, "local")) == [FILE]


@pytest.mark.parametrize("name", ["50% #1?", "größe 记忆", "a?mode=memory", "%41"])
def test_a_folder_may_have_any_name(name: str, tmp_path: Path) -> None:
    folder = str(tmp_path / name)
    LocalState(folder).threads.advance("review", {1})
    assert os.path.isfile(path_of(folder))
    assert LocalState(folder, read_only=True).threads.seen("review") == Seen(1, frozenset({1}))


def test_what_its_maker_did_not_finish_is_empty(root: str, state: LocalState) -> None:
    write(path_of(root), b"")
    assert state.threads.seen("review") == NOTHING
    assert contents(path_of(root)) == b""
    assert state.threads.advance("review", {1}) == (NOTHING, 1)


# Checkpoints


def test_a_save_replaces_what_the_same_thread_of_the_same_user_saved(state: LocalState) -> None:
    later = NOW + timedelta(hours=1)
    first = state.checkpoints.save("review", "", b"{}", NOW)
    second = state.checkpoints.save("review", "", b"{ }", later)
    other = state.checkpoints.save("review", "mira", b"[]", NOW)
    assert (first.created_at, first.updated_at, first.size) == (NOW, NOW, 2)
    assert (second.created_at, second.updated_at, second.size) == (NOW, later, 3)
    assert state.checkpoints.load("review", "") == (second, b"{ }")
    assert state.checkpoints.load("review", "mira") == (other, b"[]")
    assert state.checkpoints.all() == [second, other]
    assert state.checkpoints.all("mira") == [other]


def test_a_removed_checkpoint_is_gone_and_the_others_stay(filled: LocalState) -> None:
    filled.checkpoints.save("review", "mira", b"{}", NOW)
    assert filled.checkpoints.remove("review", "")
    assert not filled.checkpoints.remove("review", "")
    assert filled.checkpoints.load("review", "") is None
    assert [saved.user for saved in filled.checkpoints.all()] == ["mira"]


# Threads


def test_every_read_of_a_thread_has_a_revision_of_its_own(state: LocalState) -> None:
    threads = state.threads
    assert threads.advance("review", set()) == (NOTHING, 1)
    assert threads.advance("review", {7, 5}) == (Seen(1, frozenset()), 2)
    assert threads.advance("review", {5}) == (Seen(2, frozenset({5, 7})), 3)
    assert threads.advance("review", {5, 9}) == (Seen(3, frozenset({5, 7})), 4)
    assert threads.seen("review") == Seen(4, frozenset({5, 7, 9}))


def test_a_read_that_breaks_off_has_no_revision(state: LocalState) -> None:
    state.threads.advance("review", {5})
    with pytest.raises(RuntimeError):
        state.threads.advance_by("review", _breaks_off)
    assert state.threads.seen("review") == Seen(1, frozenset({5}))


def _breaks_off(before: Seen) -> set[int]:
    raise RuntimeError(before)


Steps = st.lists(st.tuples(st.sampled_from("abc"), st.frozensets(st.integers(0, 12))), max_size=8)


@settings(max_examples=examples(30))
@given(steps=Steps)
def test_threads_are_independent_whatever_they_see(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, frozenset[int]]]
) -> None:
    threads = LocalState(str(tmp_path_factory.mktemp("state"))).threads
    expected: dict[str, Seen] = {}
    for thread, fingerprints in steps:
        before = expected.get(thread, NOTHING)
        risen = before.revision + 1
        assert threads.advance(thread, fingerprints) == (before, risen)
        expected[thread] = Seen(risen, before.fingerprints | fingerprints)
    assert {thread: threads.seen(thread) for thread in expected} == expected


def test_another_thread_costs_next_to_nothing(root: str, state: LocalState) -> None:
    present = {number * 0x9E3779B97F4A7C15 & MOST for number in range(10_000)}
    state.threads.advance("first", present)
    size = os.path.getsize(path_of(root))
    for number in range(50):
        state.threads.advance(f"session {number}", present)
    assert state.threads.seen("session 49").fingerprints == present
    assert size < 13 * len(present)
    assert os.path.getsize(path_of(root)) - size < 50 * 200


# Several processes

_RISES = """
import sys
from pmem.storage.local.state import LocalState
threads = LocalState(sys.argv[1], busy_seconds=60).threads
for number in range(10):
    before, revision = threads.advance("shared", {int(sys.argv[2]) * 100 + number})
    print(before.revision, revision)
"""


def test_processes_at_once_get_distinct_increasing_revisions(root: str) -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-c", _RISES, root, str(number)], stdout=subprocess.PIPE, text=True
        )
        for number in range(4)
    ]
    own = [[line.split() for line in child.communicate()[0].splitlines()] for child in children]
    assert [child.returncode for child in children] == [0] * 4
    risen = [[int(now) for _, now in lines] for lines in own]
    assert all(numbers == sorted(numbers) for numbers in risen)
    assert sorted(itertools.chain(*risen)) == list(range(1, 41))
    assert all(int(now) == int(before) + 1 for lines in own for before, now in lines)
    assert len(LocalState(root).threads.seen("shared").fingerprints) == 40


def test_one_of_two_that_see_the_same_event_is_told(state: LocalState, root: str) -> None:
    state.threads.advance("shared", {1})
    answers = [LocalState(root).threads.advance("shared", {1, 2}) for _ in range(2)]
    assert [2 in before.fingerprints for before, _ in answers] == [False, True]
    assert [revision for _, revision in answers] == [2, 3]


def test_a_writer_waits_for_another_and_then_names_the_file(root: str, filled: LocalState) -> None:
    with filled.writing():
        assert filled.threads.seen("review").revision == 1
        with pytest.raises(Locked) as caught:
            filled.threads.advance("review", {3})
    assert path_of(root) in caught.value.message
    assert filled.threads.advance("review", {3})[1] == 2


def test_two_writers_of_one_process_do_not_let_one_of_another_process_in(
    root: str, filled: LocalState
) -> None:
    """A process that closes a file loses its locks on it, those of its other connections too."""
    other = (
        "import sys; from pmem.storage.local.state import LocalState;"
        " LocalState(sys.argv[1], busy_seconds=0.1).threads.advance('review', {4})"
    )
    with filled.writing():
        with pytest.raises(Locked):
            filled.threads.advance("review", {3})
        done = subprocess.run([sys.executable, "-c", other, root], capture_output=True, check=False)
        assert b"Locked" in done.stderr
    assert filled.threads.seen("review").revision == 1


# Ends before the end


def test_a_body_that_raises_writes_nothing(filled: LocalState) -> None:
    def fails() -> None:
        with filled.writing() as connection:
            connection.execute("delete from checkpoint")
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert filled.checkpoints.load("review", "") is not None


@FORKS
@pytest.mark.parametrize("megabytes", [0, 8])
def test_a_writer_killed_in_the_middle_has_changed_nothing(
    megabytes: int, root: str, filled: LocalState
) -> None:
    """Eight megabytes do not fit SQLite's memory: the file itself is changed already."""

    def dies() -> None:
        with filled.writing() as connection:
            data = b"x" * (megabytes << 20)
            connection.execute("update checkpoint set data = ?", (data,))
            connection.execute("delete from thread")
            os.kill(os.getpid(), signal.SIGKILL)

    size = os.path.getsize(path_of(root))
    assert in_a_child(dies) == -signal.SIGKILL
    assert (os.path.getsize(path_of(root)) > size) == bool(megabytes)
    saved = LocalState(root).checkpoints.load("review", "")
    assert saved is not None
    assert saved[1] == b'{"step":3}'
    assert filled.threads.advance("review", {3}) == (Seen(1, frozenset({1, 2, MOST})), 2)
    assert os.listdir(os.path.join(root, "local")) == [FILE]


@FORKS
def test_half_a_write_is_named_where_it_cannot_be_undone(root: str, filled: LocalState) -> None:
    def dies() -> None:
        with filled.writing() as connection:
            connection.execute("update checkpoint set data = zeroblob(8000000)")
            os.kill(os.getpid(), signal.SIGKILL)

    assert in_a_child(dies) == -signal.SIGKILL
    before = bytes_below(os.path.join(root, "local"))
    with pytest.raises(StorageRefused) as caught:
        LocalState(root, read_only=True).checkpoints.all()
    assert "half a write" in caught.value.message
    assert before == bytes_below(os.path.join(root, "local"))
    assert len(filled.checkpoints.all()) == 1


@FORKS
def test_a_maker_killed_in_the_middle_is_begun_again(root: str, state: LocalState) -> None:
    def dies() -> None:
        with state.writing():
            os.kill(os.getpid(), signal.SIGKILL)

    assert in_a_child(dies) == -signal.SIGKILL
    assert state.threads.seen("review") == NOTHING
    assert state.threads.advance("review", {1}) == (NOTHING, 1)


# Damage


def _sql(*statements: str) -> Callable[[str], None]:
    def apply(path: str) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            for statement in statements:
                connection.execute(statement)

    return apply


def _foreign(path: str) -> None:
    os.unlink(path)
    _sql("create table thread (other text)")(path)


def _noise(path: str) -> None:
    data = contents(path)
    write(path, data[:4096] + b"\xa5" * (len(data) - 4096))


def _folder(path: str) -> None:
    os.unlink(path)
    os.mkdir(path)


DAMAGE: dict[str, Callable[[str], None]] = {
    "text": lambda path: write(path, b"not a database" * 1000),
    "truncated": lambda path: os.truncate(path, 5000),
    "truncated to the header": lambda path: os.truncate(path, 100),
    "noise": _noise,
    "another program's": _foreign,
    "of a version before the first": _sql("pragma user_version = -1"),
    "without its tables": _sql("drop table thread", "drop table checkpoint"),
    "with foreign columns": _sql(
        "drop table thread",
        "create table thread (other text)",
        "drop table checkpoint",
        "create table checkpoint (thread, user, created_at)",
    ),
    "with nonsense": _sql(
        "update thread set revision = 'many'", "update checkpoint set created_at = 'soon'"
    ),
    "with marks of nonsense": _sql(
        "update thread set seen = x'01'", "update checkpoint set data = 7"
    ),
    "with text for bytes": _sql("update thread set seen = 'x'", "update checkpoint set data = 'x'"),
    "with half a number": _sql(
        "update fingerprint set known = x'010203'", "update checkpoint set updated_at = 7"
    ),
    "with no fingerprints": _sql("delete from fingerprint", "update checkpoint set data = null"),
    "a folder": _folder,
}


def bytes_below(folder: str) -> dict[str, bytes]:
    return {name: contents(os.path.join(folder, name)) for name in os.listdir(folder)}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_named_and_left_alone(
    damage: Callable[[str], None], root: str, filled: LocalState
) -> None:
    path = path_of(root)
    damage(path)
    before = bytes_below(os.path.dirname(path)) if os.path.isfile(path) else {}
    requests: tuple[Callable[[], object], ...] = (
        lambda: filled.checkpoints.load("review", ""),
        lambda: filled.threads.seen("review"),
        lambda: filled.threads.advance("review", {3}),
    )
    for request in requests:
        with pytest.raises(Damaged) as caught:
            request()
        assert path in caught.value.message
        assert "check --fix" in caught.value.hint
    assert not before or before == bytes_below(os.path.dirname(path))


def test_a_newer_file_is_named_and_left_alone(root: str, filled: LocalState) -> None:
    _sql("pragma user_version = 2", "create table later (id text)")(path_of(root))
    before = contents(path_of(root))
    for request in (
        filled.checkpoints.all,
        lambda: filled.checkpoints.save("review", "", b"{}", NOW),
    ):
        with pytest.raises(NewerSchema) as caught:
            request()
        assert path_of(root) in caught.value.message
    assert before == contents(path_of(root))


@pytest.mark.parametrize("target", ["file", "folder"])
def test_a_link_is_not_followed(target: str, root: str, tmp_path: Path, state: LocalState) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    local = os.path.join(root, "local")
    if target == "file":
        os.mkdir(local)
        os.symlink(outside / FILE, path_of(root))
    else:
        os.symlink(outside, local)
    for request in (lambda: state.threads.seen("review"), lambda: state.threads.advance("r", {1})):
        with pytest.raises(Damaged) as caught:
            request()
        assert "link" in caught.value.message
    assert list(outside.iterdir()) == []


@given(place=st.integers(0, 24_000), value=st.integers(0, 255))
@settings(max_examples=examples(60))
def test_a_changed_byte_is_reported_or_harmless(
    tmp_path_factory: pytest.TempPathFactory, place: int, value: int
) -> None:
    root = str(tmp_path_factory.mktemp("state"))
    state = LocalState(root)
    state.checkpoints.save("review", "", b'{"step":3}', NOW)
    state.threads.advance("review", {1, 2, MOST})
    data = bytearray(contents(path_of(root)))
    data[place % len(data)] = value
    write(path_of(root), bytes(data))
    for request in (
        lambda: state.checkpoints.load("review", ""),
        lambda: state.threads.seen("review"),
        state.checkpoints.all,
    ):
        with suppress(Damaged):
            request()


# Where nothing can be written


def test_a_read_only_run_reads_and_writes_nothing(root: str, filled: LocalState) -> None:
    looking = LocalState(root, read_only=True)
    assert looking.threads.seen("review").revision == 1
    assert len(looking.checkpoints.all()) == 1
    for request in (
        lambda: looking.checkpoints.save("review", "", b"{}", NOW),
        lambda: looking.checkpoints.remove("review", ""),
        lambda: looking.threads.advance("review", {3}),
    ):
        with pytest.raises(Refused):
            request()
    assert filled.threads.seen("review").revision == 1


_LOOKS = """
import sys
from pmem.errors import StorageRefused
from pmem.storage.local.state import LocalState
state = LocalState(sys.argv[1])
print(state.threads.seen("review").revision, len(state.checkpoints.all()))
try:
    state.threads.advance("review", {3})
except StorageRefused as error:
    print(error.message)
"""


def _looked(root: str, before: tuple[str, ...]) -> list[str]:
    command = [*before, sys.executable, "-c", _LOOKS, root]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("closed", ["file", "folder", "both"])
def test_what_cannot_be_written_can_be_read(
    closed: str, root: str, filled: LocalState, plain: tuple[str, ...]
) -> None:
    path = path_of(root)
    os.chmod(path, 0o444 if closed != "folder" else 0o644)
    os.chmod(os.path.dirname(path), 0o555 if closed != "file" else 0o755)
    said = _looked(root, plain)
    os.chmod(os.path.dirname(path), 0o755)
    assert said[0] == "1 1"
    assert path in said[1]


def test_a_missing_file_in_a_closed_folder_is_empty(root: str, plain: tuple[str, ...]) -> None:
    os.mkdir(os.path.join(root, "local"))
    os.chmod(os.path.join(root, "local"), 0o555)
    said = _looked(root, plain)
    os.chmod(os.path.join(root, "local"), 0o755)
    assert said[0] == "0 0"
    assert path_of(root) in said[1]


def test_a_file_that_may_not_be_read_is_not_taken_for_empty(
    root: str, filled: LocalState, plain: tuple[str, ...]
) -> None:
    os.chmod(path_of(root), 0)
    command = [*plain, sys.executable, "-c", _LOOKS, root]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    os.chmod(path_of(root), 0o644)
    assert done.stdout == ""
    assert f"StorageRefused: {path_of(root)}" in done.stderr


def test_a_full_disk_is_named(root: str, filled: LocalState) -> None:
    def fills_up() -> None:
        with filled.writing() as connection:
            connection.execute("pragma max_page_count = 1")
            connection.execute("update checkpoint set data = zeroblob(1000000)")

    with pytest.raises(StorageRefused) as caught:
        fills_up()
    assert path_of(root) in caught.value.message
    assert len(filled.checkpoints.all()) == 1


def test_a_journal_that_another_process_is_removing_is_no_stranger(root: str) -> None:
    """Between its name and its status it has no name left: seen under many readers at once."""
    path = os.path.join(root, "local.sqlite3-journal")
    with open(path, "wb"):
        going = list(os.stat(path))
    going[3] = 0  # how many names it has
    with mock.patch("os.lstat", return_value=os.stat_result(going)):
        assert safe_files.is_own(path)
    going[3] = 2
    with mock.patch("os.lstat", return_value=os.stat_result(going)):
        assert not safe_files.is_own(path)
