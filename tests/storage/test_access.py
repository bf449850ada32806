"""The log of recalls: nothing noted is lost, and no trouble with it ever troubles a reader."""

import errno
import fcntl
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem.errors import Refused, StorageRefused
from pmem.storage.files import lock
from pmem.storage.local import access
from pmem.storage.local.access import AccessLog
from pmem.values.records import Access
from tests import strategies
from tests.conftest import NOW
from tests.effort import examples
from tests.storage.faults import CALLS, ERRORS, Death, dying, failing, fault, in_a_child, killed

ONE, TWO, THREE = (f"mwqi0000-{letter * 8}" for letter in "abc")
STAMP = "2026-11-21T14:30:00.250Z"


@pytest.fixture
def log(root: str) -> AccessLog:
    """Return the log of a folder that has been written to."""
    os.mkdir(os.path.join(root, "local"))
    return AccessLog(root)


def written(log: AccessLog, data: bytes) -> AccessLog:
    Path(log.path).write_bytes(data)
    return log


def folded(log: AccessLog) -> dict[str, Access]:
    with log.folding() as taken:
        return taken


def counts(log: AccessLog) -> dict[str, int]:
    return {identifier: found.count for identifier, found in log.known().items()}


# What is noted


def test_a_recall_is_one_line(log: AccessLog) -> None:
    log.note([ONE, TWO], NOW)
    log.note([ONE], NOW.replace(microsecond=0))
    assert Path(log.path).read_text() == (f"{STAMP} {ONE} {TWO}\n2026-11-21T14:30:00.000Z {ONE}\n")


def test_counts_add_up_and_the_last_time_stays(log: AccessLog) -> None:
    log.note([ONE, TWO, ONE], NOW)
    log.note([ONE], NOW - timedelta(days=1))
    assert log.known() == {ONE: Access(count=2, last_at=NOW), TWO: Access(count=1, last_at=NOW)}
    assert log.waiting()[:3] == (3, 2, 0)


def test_nothing_recalled_writes_nothing(log: AccessLog) -> None:
    log.note([], NOW)
    assert not os.path.exists(log.path)
    assert (log.known(), log.waiting().usable) == ({}, True)


DAMAGED = {
    "no time": ONE.encode(),
    "no id": STAMP.encode(),
    "a time without a zone": f"2026-11-21T14:30:00.250 {ONE}".encode(),
    "a month too many": f"2026-13-21T14:30:00.250Z {ONE}".encode(),
    "a torn id": f"{STAMP} {ONE[:-1]}".encode(),
    "two lines in one": f"{STAMP} {ONE} {STAMP} {TWO}".encode(),
    "a torn count": f"{STAMP} {ONE}*{STAMP} {TWO}".encode(),
    "an endless count": f"{STAMP} {ONE}*{'9' * 10}".encode(),
    "other digits": f"{STAMP} {ONE}*١".encode(),
    "no text": b"\xff\xfe\x00",
    "a megabyte": b"x" * 10**6,
    "a megabyte of spaces": STAMP.encode() + b" " * 10**6,
    "a return": f"{STAMP} {ONE}\r".encode(),
    "an empty line": b"",
}


@pytest.mark.parametrize("line", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_line_is_left_out_and_the_others_count(log: AccessLog, line: bytes) -> None:
    good = f"{STAMP} {TWO}*2\n".encode()
    written(log, good + line + b"\n" + good)
    assert counts(log) == {TWO: 4}
    assert log.waiting().damaged == 1
    assert folded(log) == {TWO: Access(count=4, last_at=NOW)}


@pytest.mark.parametrize("length", range(len(f"{STAMP} {ONE} {TWO}\n")))
def test_a_line_that_was_cut_off_counts_nothing(log: AccessLog, length: int) -> None:
    whole = f"{STAMP} {ONE} {TWO}\n".encode()
    written(log, whole + whole[:length])
    assert counts(log) == {ONE: 1, TWO: 1}
    log.note([THREE], NOW)
    assert counts(log) == {ONE: 1, TWO: 1} | ({} if length else {THREE: 1})


@given(st.binary(max_size=200))
@settings(max_examples=examples(50))
def test_no_bytes_at_all_are_trouble(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("log")
    (folder / "local").mkdir()
    log = written(AccessLog(str(folder)), data)
    assert log.known() == {}
    assert log.waiting().size == len(data)
    assert folded(log) == {}


# Folding


def test_folding_forgets_what_it_took(log: AccessLog) -> None:
    log.note([ONE], NOW)
    with log.folding() as taken:
        assert taken == {ONE: Access(count=1, last_at=NOW)} == log.known()
        log.note([TWO], NOW)
    assert counts(log) == {TWO: 1}
    assert folded(log) == {TWO: Access(count=1, last_at=NOW)}
    assert log.known() == folded(log) == {}
    assert os.listdir(os.path.dirname(log.path)) == []


def note_and_raise(log: AccessLog, error: type[BaseException]) -> None:
    log.note([ONE], NOW)
    raise error


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_folding_that_fails_forgets_nothing(log: AccessLog, error: type[BaseException]) -> None:
    log.note([ONE], NOW)
    for _ in range(2):
        with pytest.raises(error), log.folding():
            note_and_raise(log, error)
    assert counts(log) == {ONE: 3}
    assert folded(log)[ONE].count == 3


def test_what_another_process_is_folding_is_left_to_it(root: str, log: AccessLog) -> None:
    log.note([ONE], NOW)
    with log.folding():
        log.note([TWO], NOW)
        assert folded(AccessLog(root)) == {TWO: Access(count=1, last_at=NOW)}
        assert counts(AccessLog(root)) == {ONE: 1}
    assert log.known() == {}


def test_a_log_that_is_moved_aside_while_it_is_opened_is_noticed(
    root: str, log: AccessLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever opened the old log writes to the new one, before and after the old one is gone."""
    log.note([ONE], NOW)
    share, fold = lock.share, AccessLog(root).folding()
    steps = iter((fold.__enter__, lambda: fold.__exit__(None, None, None)))

    def slow(descriptor: int) -> bool:
        next(steps, dict)()
        return share(descriptor)

    monkeypatch.setattr(access, "share", slow)
    log.note([TWO], NOW)
    assert next(steps, None) is None
    assert counts(log) == {TWO: 1}


@pytest.mark.parametrize("removed_first", [True, False])
def test_a_log_that_vanishes_after_it_is_opened_is_noticed(
    log: AccessLog, monkeypatch: pytest.MonkeyPatch, *, removed_first: bool
) -> None:
    log.note([ONE], NOW)
    share, left = lock.share, [log.path]

    def slow(descriptor: int) -> bool:
        shared = removed_first or share(descriptor)
        while left:
            os.unlink(left.pop())
        return shared and share(descriptor)

    monkeypatch.setattr(access, "share", slow)
    log.note([TWO], NOW)
    assert counts(log) == {TWO: 1}


def test_a_read_only_run_folds_nothing(root: str, log: AccessLog) -> None:
    log.note([ONE], NOW)
    looking = AccessLog(root, read_only=True)
    looking.note([ONE], NOW)
    assert counts(looking) == {ONE: 1}
    with pytest.raises(Refused), looking.folding():
        raise AssertionError
    assert counts(log) == {ONE: 1}


Steps = st.lists(
    st.one_of(
        st.lists(st.sampled_from([ONE, TWO, THREE]), max_size=3),
        st.sampled_from(["fold", "fail", "shorten"]),
    ),
    max_size=12,
)


@settings(max_examples=examples(60))
@given(steps=Steps, at=st.lists(strategies.times, min_size=12, max_size=12))
def test_every_recall_is_folded_once(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Any], at: list[datetime]
) -> None:
    folder = tmp_path_factory.mktemp("log")
    (folder / "local").mkdir()
    log = AccessLog(str(folder))
    noted: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for step, moment in zip(steps, at, strict=False):
        if step == "fold":
            total.update({id_: found.count for id_, found in folded(log).items()})
        elif step == "shorten":
            log.shorten()
        elif step == "fail":
            with pytest.raises(KeyError), log.folding():
                raise KeyError
        else:
            log.note(step, moment)
            noted.update(set(step))
        assert total + Counter(counts(log)) == noted
    assert log.waiting().damaged == 0


# Growth


def test_a_large_log_is_shortened_by_the_next_recall(
    log: AccessLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "MOST_BYTES", 1000)
    for number in range(200):
        log.note([ONE, TWO, THREE][: number % 3 + 1], NOW + timedelta(seconds=number))
        assert log.waiting().size < 1500
    assert counts(log) == {ONE: 200, TWO: 133, THREE: 66}
    assert log.known()[ONE].last_at == NOW + timedelta(seconds=199)


def test_shortening_drops_damaged_lines_only(log: AccessLog) -> None:
    written(log, b"no line\n" + f"{STAMP} {ONE}*7 {TWO}\n".encode() * 3)
    log.shorten()
    assert counts(log) == {ONE: 21, TWO: 3}
    assert log.waiting().damaged == 0
    (name,) = os.listdir(os.path.dirname(log.path))
    lines = Path(log.path).with_name(name).read_text()
    assert lines == f"{STAMP} {ONE}*21\n{STAMP} {TWO}*3\n"


def test_counts_stop_where_they_could_not_be_read_again(log: AccessLog) -> None:
    written(log, f"{STAMP} {ONE}*{access.MOST_COUNT}\n".encode() * 2)
    for _ in range(2):
        log.shorten()
        assert counts(log) == {ONE: access.MOST_COUNT}


def test_a_log_that_nobody_can_shorten_stops_growing(
    log: AccessLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "MOST_BYTES", 1000)
    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", refusing(errno.EACCES))
        for _ in range(100):
            log.note([ONE], NOW)
    assert 2000 < os.path.getsize(log.path) < 2100
    assert not log.waiting().is_sound
    log.note([ONE], NOW)
    assert log.waiting().is_sound
    log.note([ONE], NOW)
    assert 40 < counts(log)[ONE] < 60


# Trouble


def refusing(number: int) -> Callable[..., Any]:
    def refuses(*args: Any, **kwargs: Any) -> Any:
        raise OSError(number, os.strerror(number))

    return refuses


@contextmanager
def held(path: str, how: int) -> Any:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(descriptor, how)
    yield
    os.close(descriptor)


def a_link(path: str) -> None:
    Path("elsewhere").write_text("theirs\n")
    os.symlink(os.path.abspath("elsewhere"), path)


def a_linked_folder(path: str) -> None:
    os.rmdir(os.path.dirname(path))
    os.mkdir("elsewhere")
    os.symlink(os.path.abspath("elsewhere"), os.path.dirname(path))


def a_file_for_a_folder(path: str) -> None:
    os.rmdir(os.path.dirname(path))
    Path(os.path.dirname(path)).write_text("")


TROUBLE: dict[str, Callable[[str], Any]] = {
    "a link": a_link,
    "a dangling link": lambda path: os.symlink("nowhere", path),
    "a folder": os.mkdir,
    "a pipe": os.mkfifo,
    "a linked folder": a_linked_folder,
    "no folder": lambda path: os.rmdir(os.path.dirname(path)),
    "a file for a folder": a_file_for_a_folder,
}


@pytest.mark.parametrize("make", TROUBLE.values(), ids=TROUBLE)
def test_no_trouble_reaches_whoever_recalls(log: AccessLog, make: Callable[[str], Any]) -> None:
    make(log.path)
    log.note([ONE], NOW)
    assert log.known() == folded(log) == {}
    elsewhere = Path("elsewhere")
    assert not elsewhere.exists() or elsewhere.is_dir() or elsewhere.read_text() == "theirs\n"
    assert not elsewhere.is_dir() or os.listdir("elsewhere") == []
    assert not os.path.exists(os.path.join(os.path.dirname(log.path), "nowhere"))


def test_a_log_that_another_program_locks_for_good_counts_nothing(log: AccessLog) -> None:
    log.note([ONE], NOW)
    with held(log.path, fcntl.LOCK_EX):
        log.note([ONE], NOW)
    assert counts(log) == {ONE: 1}
    log.note([ONE], NOW)
    assert counts(log) == {ONE: 2}


def test_a_file_system_without_locks_will_do(
    log: AccessLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fcntl, "flock", refusing(errno.ENOLCK))
    log.note([ONE], NOW)
    assert folded(log) == {ONE: Access(count=1, last_at=NOW)}


@pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
@pytest.mark.parametrize("call", ["open", "write", "fstat"])
def test_no_refusal_of_the_system_reaches_whoever_recalls(
    log: AccessLog, call: str, number: int
) -> None:
    log.note([ONE], NOW)
    with fault(1, failing(number), calls=(call,), from_then_on=True):
        log.note([TWO], NOW)
    assert counts(log) == {ONE: 1}


def test_no_refusal_while_shortening_reaches_whoever_recalls(
    root: str, log: AccessLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "MOST_BYTES", 30)
    for at in range(1, 15):
        log.note([ONE], NOW)
        before = counts(log)[ONE]
        with fault(at, failing(errno.ENOSPC), from_then_on=True):
            log.note([ONE], NOW)
        assert before <= counts(AccessLog(root))[ONE] <= before + 1
    assert before > 14


# Death


def test_whoever_dies_while_folding_loses_nothing(root: str, log: AccessLog) -> None:
    """Dying after the body the same is folded again, which is the lesser evil."""
    done = False
    for at in range(1, 20):
        body: list[int] = []
        log.note([ONE, TWO], NOW)
        with fault(at, dying) as counter:
            try:
                with AccessLog(root).folding():
                    body.append(at)
            except Death:
                pass
        done = counter.calls < at
        again = {id_: found.count for id_, found in folded(AccessLog(root)).items()}
        assert again == {ONE: 1, TWO: 1} or (body and again == {})
        assert log.known() == {}
        if done:
            break
    assert done
    assert again == {}


@pytest.mark.parametrize("at", range(1, 13))
def test_whoever_is_killed_while_shortening_loses_nothing(
    root: str, log: AccessLog, at: int
) -> None:
    for _ in range(3):
        log.note([ONE, TWO], NOW)

    def body() -> None:
        with fault(at, killed, calls=CALLS):
            AccessLog(root).shorten()

    code = in_a_child(body)
    found = counts(log)
    assert found in ({ONE: 3, TWO: 3}, {ONE: 6, TWO: 6})
    assert code in (0, 137)
    assert code == 137 or found == {ONE: 3, TWO: 3}
    log.note([ONE], NOW)
    assert folded(log)[ONE].count in (4, 7)


def test_folding_says_when_the_disk_refuses(log: AccessLog) -> None:
    log.note([ONE], NOW)
    with (
        fault(1, failing(errno.EACCES), calls=("rename",)),
        pytest.raises(StorageRefused),
        log.folding(),
    ):
        raise AssertionError
    assert counts(log) == {ONE: 1}


# Several processes

_NOTES = """
import sys
from datetime import UTC, datetime
from pmem.storage.local import access
access.MOST_BYTES = 3000
log = access.AccessLog(sys.argv[1])
for number in range(int(sys.argv[3])):
    log.note(["mwqi0000-" + letter * 8 for letter in ("a", sys.argv[2])], datetime.now(UTC))
"""
_FOLDS = """
import sys, time
from collections import Counter
from pmem.storage.local import access
log, total = access.AccessLog(sys.argv[1]), Counter()
print("ready", flush=True)
while "stop" not in sys.argv[2:] and not access.os.path.exists(sys.argv[1] + "/stop"):
    try:
        with log.folding() as taken:
            if len(taken) % 3 == 1:
                raise KeyError
        total.update({name: found.count for name, found in taken.items()})
    except KeyError:
        pass
print(*(f"{name} {count}" for name, count in total.items()), sep="\\n")
"""


def test_many_at_once_lose_nothing_and_count_nothing_twice(root: str, log: AccessLog) -> None:
    """Some recall, so much that the log is shortened all the time, and others fold meanwhile."""
    rounds = 400
    folders = [_child(_FOLDS, root) for _ in range(2)]
    for child in folders:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    noting = [_child(_NOTES, root, letter, str(rounds)) for letter in "bcde"]
    assert [child.communicate()[0] for child in noting] == [""] * 4
    assert [child.returncode for child in noting] == [0] * 4
    Path(root, "stop").touch()
    told = [child.communicate()[0] for child in folders]
    assert [child.returncode for child in folders] == [0] * 2
    total: Counter[str] = Counter(counts(log))
    for out in told:
        for line in filter(None, out.splitlines()):
            name, count = line.split()
            total[name] += int(count)
    expected = {f"mwqi0000-{letter * 8}": rounds for letter in "bcde"}
    assert total == {"mwqi0000-aaaaaaaa": 4 * rounds, **expected}


def _child(code: str, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True
    )
