"""One writer at a time, whoever it is and however it ends."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest
from filelock import FileLock, Timeout

from pmem.errors import Locked
from pmem.storage.files.lock import writer_lock

pytestmark = pytest.mark.skipif(os.name == "nt", reason="forks, and kills")


@pytest.fixture
def lock(tmp_path: Path) -> str:
    return str(tmp_path / "lock")


class Holder:
    """A child process that holds something until it is killed or let go."""

    def __init__(self, hold: Callable[[Callable[[], None]], None]) -> None:
        ready, self._told = os.pipe()
        self._waits, self._release = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.close(self._release)
                hold(self._wait)
            finally:
                os._exit(0)
        os.close(self._told)
        os.close(self._waits)
        assert os.read(ready, 1) == b"!"
        os.close(ready)

    def _wait(self) -> None:
        """Tell the parent that it is held, and wait for the word to let go."""
        os.write(self._told, b"!")
        os.read(self._waits, 1)

    def end(self, kill: bool = False) -> None:
        if kill:
            os.kill(self.pid, signal.SIGKILL)
        os.close(self._release)
        os.waitpid(self.pid, 0)


def held(lock: str) -> Holder:
    def hold(wait: Callable[[], None]) -> None:
        with writer_lock(lock, 0):
            wait()

    return Holder(hold)


def test_a_second_process_is_kept_out_until_the_first_is_done(lock: str) -> None:
    holder = held(lock)
    with pytest.raises(Locked), writer_lock(lock, 0):
        raise AssertionError("both hold it")
    holder.end()
    with writer_lock(lock, 0):
        pass


def test_a_holder_that_is_killed_frees_the_lock(lock: str) -> None:
    held(lock).end(kill=True)
    with writer_lock(lock, 0):
        pass
    assert os.path.exists(lock)


def test_the_time_out_names_the_lock_and_how_long_it_took(lock: str) -> None:
    holder = held(lock)
    with pytest.raises(Locked) as caught, writer_lock(lock, 0.02):
        raise AssertionError("both hold it")
    holder.end()
    assert caught.value.message == f"another writer has held {lock} for more than 0.02 s"
    assert caught.value.exit_code == 6
    assert caught.value.hint


def test_a_waiting_writer_gets_the_lock_when_it_is_freed(
    lock: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The holder ends during the wait; no clock is needed to show it."""
    holder = held(lock)
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            holder.end()

    monkeypatch.setattr("time.sleep", sleep)
    with writer_lock(lock, 60):
        pass
    assert len(pauses) == 3
    assert pauses == sorted(pauses)


def test_filelock_is_kept_out_by_ours(lock: str) -> None:
    holder = held(lock)
    with pytest.raises(Timeout):
        FileLock(lock, timeout=0).acquire()
    holder.end()
    FileLock(lock, timeout=0).acquire().lock.release()


def test_ours_is_kept_out_by_filelock(lock: str) -> None:
    def hold(wait: Callable[[], None]) -> None:
        with FileLock(lock, timeout=0):
            wait()

    holder = Holder(hold)
    with pytest.raises(Locked), writer_lock(lock, 0):
        raise AssertionError("both hold it")
    holder.end()
    with writer_lock(lock, 0):
        pass


def test_the_lock_is_held_within_one_process_too(lock: str) -> None:
    with writer_lock(lock, 0), pytest.raises(Locked), writer_lock(lock, 0):
        raise AssertionError("both hold it")


def test_whoever_has_waited_long_asks_more_often_than_newcomers(lock: str) -> None:
    now, pauses = [0.0], list[tuple[float, float]]()

    def sleep(seconds: float) -> None:
        pauses.append((now[0], seconds))
        now[0] += seconds

    clock = mock.Mock(monotonic=lambda: now[0], sleep=sleep)
    with (
        writer_lock(lock, 0),
        mock.patch("pmem.storage.files.lock.time", clock),
        pytest.raises(Locked),
        writer_lock(lock, 3.0),
    ):
        raise AssertionError("two hold it")
    first = [seconds for at, seconds in pauses if at < 1]
    later = [seconds for at, seconds in pauses if at >= 1]
    assert max(later) < max(first)
    assert max(later) == min(later) <= min(first)
