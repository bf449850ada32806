"""The lock's file missing, replaced, or a link; and records that are links of either kind."""

import os
import time
from pathlib import Path

import pytest

from tests.faults.console import added, bytes_of, pmem
from tests.faults.test_locked import held


@pytest.fixture
def memory_id(root: str) -> str:
    return added("Pancakes on Sundays")


def test_a_lock_file_that_is_gone_is_made_again(memory_id: str, root: str) -> None:
    os.unlink(f"{root}/local/lock")
    assert pmem("add", "One more").code == 0
    assert os.path.isfile(f"{root}/local/lock")


@pytest.mark.parametrize("kind", ["link", "dangling link", "folder"])
def test_a_lock_that_is_no_file_is_named_and_left(
    kind: str, memory_id: str, root: str, tmp_path: Path
) -> None:
    lock, outside = f"{root}/local/lock", tmp_path / "outside"
    os.unlink(lock)
    if kind == "folder":
        os.mkdir(lock)
    else:
        if kind == "link":
            outside.write_bytes(b"theirs")
        os.symlink(outside, lock)
    before = bytes_of(root)
    done = pmem("add", "One more")
    assert done.code in (5, 74)
    assert done.out == b""
    assert lock in done.err.splitlines()[0]
    assert before == bytes_of(root)
    assert (outside.read_bytes() if kind == "link" else b"") == b"theirs" * (kind == "link")
    assert os.path.exists(outside) == (kind == "link")


def test_init_waits_for_a_writer(memory_id: str, root: str) -> None:
    os.unlink(f"{root}/README.md")
    with held(root):
        begun = time.monotonic()
        done = pmem("init", environment={"PMEM_LOCK_TIMEOUT": "0.05"})
        assert time.monotonic() - begun < 8  # not the ten seconds of the default
        assert (done.code, os.path.exists(f"{root}/README.md")) == (6, False)
    assert pmem("init").code == 0
    assert os.path.exists(f"{root}/README.md")


def test_a_hard_linked_record_is_replaced_and_its_other_name_untouched(
    memory_id: str, root: str, tmp_path: Path
) -> None:
    path, other = f"{root}/long-term-memory/{memory_id}.json", tmp_path / "other"
    os.link(path, other)
    before = other.read_bytes()
    assert pmem("edit", memory_id, "No pancakes any more").code == 0
    assert other.read_bytes() == before
    assert b"No pancakes" in Path(path).read_bytes()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_the_mode_of_a_file_outlasts_every_rewrite(memory_id: str, root: str, mode: int) -> None:
    record, config = f"{root}/long-term-memory/{memory_id}.json", f"{root}/config.toml"
    for path in (record, config):
        os.chmod(path, mode)
    assert pmem("edit", memory_id, "New").code == 0
    assert pmem("rm", memory_id, added("Other")).code == 0  # several at once
    assert pmem("config", "set", "chunk_size", "5").code == 0
    assert [os.stat(path).st_mode & 0o777 for path in (record, config)] == [mode, mode]
