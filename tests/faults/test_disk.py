"""Disks that are full, read-only or closed, seen from the command line."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.conftest import Mount
from tests.faults.console import added, bytes_of, pmem, real

PAGE = 4096
READING = (
    ("list",),
    ("search", "pancakes"),
    ("show", "MEMORY"),
    ("log", "MEMORY"),
    ("context", "pancakes", "--budget", "500"),
    ("stats",),
    ("check", "records"),
    ("conversation", "list"),
    ("conversation", "show", "talk"),
    ("delta", "--thread", "review"),
    ("checkpoint", "list"),
    ("config", "list"),
    ("export", "arrays", "-"),
)
"""Every way to look; `MEMORY` stands for a memory's id, `talk` is a conversation."""
TRANSCRIPT = b"".join(
    json.dumps({"conversation": "talk", "id": n, "content": f"message {n}"}).encode() + b"\n"
    for n in range(25)
)


@pytest.fixture
def memory_id(root: str) -> str:
    """Fill the memory folder of this place; return the id of one of its memories."""
    identifier = added("Pancakes are served on Sundays")
    added("The kitchen closes at ten")
    assert pmem("import", "messages", "-", stdin=TRANSCRIPT).code == 0
    return identifier


def reading(identifier: str) -> Iterator[tuple[str, ...]]:
    for command in READING:
        yield tuple(identifier if word == "MEMORY" else word for word in command)


@contextmanager
def filled(disk: str, spare: int) -> Iterator[None]:
    """Fill a disk but for some bytes."""
    path = os.path.join(disk, "ballast")
    with open(path, "wb", buffering=0) as file:
        try:
            while file.write(b"x" * PAGE):
                pass
        except OSError:
            pass
        file.truncate(max(0, os.path.getsize(path) - spare))
    yield
    os.unlink(path)


def batch(mark: str, items: int = 6) -> bytes:
    lines = [json.dumps({"content": f"{mark} {n} " + "long " * 300}) for n in range(items)]
    return "\n".join(lines).encode()


@pytest.mark.outside
def test_a_full_disk_is_reported_and_harms_nothing(tmpfs: Mount) -> None:
    disk = tmpfs("512k")
    os.chdir(disk)
    pmem("init")
    kept = added("Here before the disk was full")
    os.unlink(".project-memory/local/index.sqlite3")  # it would make room
    before = bytes_of(".project-memory")
    with filled(disk, 0):
        for command in (
            ("add", "One more"),
            ("edit", kept, "A longer text"),
            ("rm", kept),
            ("config", "set", "chunk_size", "5"),
        ):
            done = pmem(*command)
            assert (done.code, done.out) == (74, b""), (command, done)
            assert ".project-memory/" in done.err.splitlines()[0]
            assert "No space left on device" in done.err
            assert "Traceback" not in done.err
        assert before == bytes_of(".project-memory")
        for looking in reading(kept):
            if "talk" not in looking:
                assert pmem(*looking).code == 0, looking
    assert pmem("add", "One more").code == 0
    own = {"index.sqlite3", "state.sqlite3", "access.log", "operations.log", "commands.log"}
    assert set(os.listdir(".project-memory/local")) - own == {"lock"}


@pytest.mark.outside
def test_a_disk_that_fills_up_within_a_commit_leaves_all_or_nothing(tmpfs: Mount) -> None:
    disk = tmpfs("512k")
    os.chdir(disk)
    pmem("init")
    outcomes = set()
    for pages in range(0, 24):
        mark = f"round{pages}"
        with filled(disk, pages * PAGE):
            done = pmem("add", "--batch", "-", stdin=batch(mark))
            outcomes.add(done.code)
            assert done.code in (0, 74), done
        kept = [item for item in pmem("list", "--json").data["items"] if mark in item["content"]]
        assert len(kept) == (6 if done.code == 0 else 0)
        assert pmem("check", "records").code == 0
        assert pmem("purge", "--force", *[item["id"] for item in kept]).code == (0 if kept else 2)
    assert {0, 74} == outcomes


def test_a_file_size_limit_is_a_full_disk(memory_id: str, root: str) -> None:
    before = bytes_of(root)
    limited = ("sh", "-c", 'ulimit -f 0; exec "$@"', "sh")
    for command in (("add", "One more"), ("edit", memory_id, "Another text")):
        done = real(*command, before=limited)
        assert (done.code, done.out) == (74, b"")
        assert ".project-memory/" in done.err.splitlines()[0]
    done = real("add", "--batch", "-", stdin=batch("big"), before=limited)
    assert done.code == 74
    assert before == bytes_of(root)
    assert real("add", "One more").code == 0


def test_an_answer_that_cannot_be_printed_is_not_success(memory_id: str) -> None:
    full = ("sh", "-c", 'exec "$@" > /dev/full', "sh")
    done = real("list", before=full)
    assert done.code == 74
    assert "standard output" in done.err


@pytest.mark.parametrize("with_local", [True, False])
@pytest.mark.outside
def test_a_read_only_mount_can_be_read(tmpfs: Mount, with_local: bool) -> None:
    disk = tmpfs("2m")
    os.chdir(disk)
    pmem("init")
    identifier = added("Pancakes are served on Sundays")
    pmem("import", "messages", "-", stdin=TRANSCRIPT)
    if not with_local:
        subprocess.run(["rm", "-r", ".project-memory/local"], check=True)
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    for command in reading(identifier):
        done = pmem(*command)
        assert (done.code, "left out:" in done.err) == (0, False), (command, done)
    done = pmem("add", "One more")
    assert done.code == 74
    assert ".project-memory/local" in done.err
    assert "Read-only file system" in done.err


@pytest.mark.long
@pytest.mark.parametrize("with_local", [True, False])
def test_a_read_only_folder_can_be_read(
    memory_id: str, root: str, plain: tuple[str, ...], with_local: bool
) -> None:
    if not with_local:
        subprocess.run(["rm", "-r", f"{root}/local"], check=True)
    subprocess.run(["chmod", "-R", "a-w", root], check=True)
    before = bytes_of(root, local=True)
    for command in reading(memory_id):
        done = real(*command, before=plain)
        assert done.code == 0, (command, done)
        assert "cannot" not in done.err
    for command in (("add", "One more"), ("rm", memory_id), ("conversation", "start")):
        done = real(*command, before=plain)
        assert (done.code, done.out) == (74, b"")
        assert f"{root}/local" in done.err.splitlines()[0]
        assert "Permission denied" in done.err.splitlines()[0]
    assert before == bytes_of(root, local=True)


def test_a_store_that_cannot_be_written_refuses_the_whole_commit(
    memory_id: str, root: str, plain: tuple[str, ...]
) -> None:
    os.chmod(f"{root}/conversation-chunks", 0o555)
    before = bytes_of(root)
    done = real("import", "messages", "-", stdin=TRANSCRIPT.replace(b"talk", b"new"), before=plain)
    assert (done.code, done.out) == (74, b"")
    assert f"{root}/conversation-chunks" in done.err
    assert before == bytes_of(root)
    os.chmod(f"{root}/conversation-chunks", 0o755)


@pytest.mark.long
def test_a_record_that_may_not_be_read_leaves_the_others(
    memory_id: str, root: str, plain: tuple[str, ...]
) -> None:
    path = f"{root}/long-term-memory/{memory_id}.json"
    os.chmod(path, 0)
    for command in (("show", memory_id), ("edit", memory_id, "New"), ("rm", memory_id)):
        done = real(*command, before=plain)
        assert (done.code, done.out) == (74, b""), (command, done)
        assert path in done.err.splitlines()[0]
    os.utime(path)  # what an index knows of it is old, however long the commands took
    for looking in (("list",), ("search", "kitchen"), ("context", "kitchen"), ("stats",)):
        done = real(*looking, before=plain)
        assert done.code == 0, (looking, done)
        assert b"kitchen" in done.out or looking[0] == "stats"
        assert [path in line for line in done.err.splitlines() if "left out" in line] == [True]
    done = real("check", "records", before=plain)
    assert (done.code, done.out.decode().count(path)) == (1, 1)
    assert real("add", "One more", before=plain).code == 0
    os.chmod(path, 0o644)
    assert b"Sundays" in real("show", memory_id).out


def test_a_store_without_any_rights_is_named(
    memory_id: str, root: str, plain: tuple[str, ...]
) -> None:
    folder = f"{root}/long-term-memory"
    os.chmod(folder, 0)
    for command in (("list",), ("show", memory_id), ("add", "One more")):
        done = real(*command, before=plain)
        assert (done.code, done.out) == (74, b""), (command, done)
        assert folder in done.err.splitlines()[0]
    assert real("conversation", "list", before=plain).code == 0
    os.chmod(folder, 0o755)
    assert real("list").out.count(b"\n") == 2


def test_a_configuration_that_may_not_be_read_is_named(
    memory_id: str, root: str, plain: tuple[str, ...]
) -> None:
    os.chmod(f"{root}/config.toml", 0)
    done = real("add", "One more", before=plain)
    assert done.code in (5, 74)
    assert f"{root}/config.toml" in done.err.splitlines()[0]


def test_an_export_to_a_closed_folder_is_named(
    memory_id: str, tmp_path: Path, plain: tuple[str, ...]
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    done = real("export", "arrays", str(closed), before=plain)
    assert done.code == 74
    assert str(closed) in done.err.splitlines()[0]
    assert list(closed.iterdir()) == []


def test_a_thread_is_told_where_nothing_can_be_noted(
    memory_id: str, root: str, plain: tuple[str, ...]
) -> None:
    """What is said to have been seen must be seen the next time."""
    assert pmem("delta", "--thread", "known").code == 0
    added("The kitchen opens at six")
    subprocess.run(["chmod", "-R", "a-w", root], check=True)
    for _ in range(2):
        new = real("delta", "--thread", "new", before=plain)
        known = real("delta", "--thread", "known", before=plain)
        assert (new.code, new.out) == (0, b"")
        assert "could not be noted" in new.err
        assert "counts as seen" not in new.err
        assert (known.code, b"opens at six" in known.out) == (0, True)
        assert known.err == "this could not be noted as told and is told again next time\n"
    subprocess.run(["chmod", "-R", "u+w", root], check=True)
    assert "counts as seen" in pmem("delta", "--thread", "new").err
    told = pmem("delta", "--thread", "known")
    assert (b"opens at six" in told.out, told.err) == (True, "")


def test_an_export_removes_what_a_killed_one_left(memory_id: str, tmp_path: Path) -> None:
    folder = tmp_path / "exported"
    folder.mkdir()
    gone = subprocess.Popen(["true"])
    gone.wait()
    dead, alive = f".tmp-{gone.pid}-0123abcd", f".tmp-{os.getpid()}-0123abcd"
    others = {alive, ".tmp-notes", f".tmp-{gone.pid}-mine"}
    for name in {dead, *others}:
        (folder / name).write_text("half")
    assert pmem("export", "arrays", str(folder)).code == 0
    assert {name for name in os.listdir(folder) if name.startswith(".tmp")} == others
    (folder / dead).write_text("half")
    assert pmem("export", "audit", str(folder / "trail.jsonl")).code == 0
    assert not (folder / dead).exists()


@pytest.mark.outside
def test_the_doctor_tells_that_a_disk_is_full(tmpfs: Mount) -> None:
    disk = tmpfs("512k")
    os.chdir(disk)
    pmem("init")
    added("Here before the disk was full")
    before = bytes_of(".project-memory")
    with filled(disk, 0):
        done = pmem("check", "setup", "--json")
        (found,) = (item for item in done.data["setup"]["items"] if item["name"] == "writable")
        assert (done.code, found["ok"]) == (1, False)
        assert "nothing can be written" in found["detail"]
        assert "No space left on device" in found["detail"]
    assert pmem("check", "setup").code == 0
    assert before == bytes_of(".project-memory")


@pytest.mark.parametrize("with_local", [True, False])
def test_the_doctor_leaves_no_trace_of_trying_to_write(
    with_local: bool, memory_id: str, root: str
) -> None:
    if not with_local:
        subprocess.run(["rm", "-r", f"{root}/local"], check=True)
    before = bytes_of(root)
    assert pmem("check", "setup").code == 0
    assert before == bytes_of(root)


def test_a_doctor_that_may_not_write_does_not_try(
    memory_id: str, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tried(*_: object) -> str:
        raise AssertionError("it tried to write")

    monkeypatch.setattr("pmem.storage.files.durable.refusal", tried)
    assert pmem("check", "setup", "--read-only").code == 0
    assert pmem("check", "setup").code == 70
