"""The driver itself: its exit codes, and that it replaces a file whole or not at all."""

import json
import os
from pathlib import Path
from unittest import mock

import pytest

from pmem.core import rawjson
from pmem.core.threeway.record import merged
from pmem.core.threeway.shapes import SHAPES
from pmem.vcs import gitmerge
from tests.core.threeway.sides import Json, sides

STORE = "episodic-memory"


def path_of(identifier: str = "a-00000000") -> str:
    return f".project-memory/{STORE}/{identifier}.json"


def drive(*versions: bytes, path: str = "") -> tuple[int, bytes]:
    """Run the driver on three versions; return its exit code and what ours then holds."""
    for name, data in zip(("base", "ours", "theirs"), versions, strict=True):
        Path(name).write_bytes(data)
    code, said = gitmerge.run("merge-driver", ["base", "ours", "theirs", "7", path or path_of()])
    assert said == b""
    return code, Path("ours").read_bytes()


def versions(seed: int) -> list[bytes]:
    return [rawjson.dump(side) for side in sides(seed, STORE)[:3]]


@pytest.mark.some(20)
@pytest.mark.parametrize("seed", range(75))
def test_files_become_what_their_records_become(seed: int) -> None:
    for store in SHAPES:
        base, ours, theirs, _ = sides(seed, store)
        wanted = merged(base, ours, theirs, SHAPES[store])
        path = f"memory/{store}/a-00000000.json"
        code, result = drive(*map(rawjson.dump, (base, ours, theirs)), path=path)
        assert code == (10 if wanted.conflicts else 0)
        assert result == rawjson.dump(wanted.result)


def test_a_side_that_wins_whole_keeps_its_very_bytes() -> None:
    base, ours, _ = versions(1)
    odd = json.dumps(json.loads(ours), indent=7).encode()
    assert drive(base, base, odd) == (0, odd)
    assert drive(base, odd, base) == (0, odd)


def test_without_a_base_both_sides_are_new() -> None:
    _, ours, theirs = versions(2)
    code, result = drive(b"", ours, theirs)
    assert code in (0, 10)
    assert json.loads(result)["id"] == "a-00000000"


def with_keys(data: bytes, **keys: object) -> bytes:
    value: Json = rawjson.load(data)
    return rawjson.dump(value | keys)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-5],
        lambda data: data.replace(b'"id"', b'"id": "a-00000000", "id"', 1),
        lambda data: with_keys(data, schema=99),
        lambda data: with_keys(data, tags=None),
        lambda data: with_keys(data, history=[{"event": "ADD", "at": "then"}]),
        lambda data: b"<<<<<<< ours\n" + data,
        lambda data: data.replace(b'"id": "a-00000000"', b'"id": "\\ud800"'),
    ],
)
def test_in_doubt_ours_is_left_to_git(damage: object) -> None:
    base, ours, theirs = versions(3)
    assert callable(damage)
    broken = damage(theirs)
    assert drive(base, ours, broken)[0] not in (0, 10) or b"<<<<<<<" in Path("ours").read_bytes()
    if Path("ours").read_bytes() != ours:
        assert all(part in Path("ours").read_bytes() for part in (ours, broken))


@pytest.mark.parametrize(
    "path", ["golden.accepted.json", "x/other/a-00000000.json", path_of("no id"), path_of("b-1")]
)
def test_a_path_that_is_no_records_is_left_to_git(path: str) -> None:
    base, ours, theirs = versions(4)
    assert drive(base, ours, theirs, path=path) == (gitmerge.DOUBT, ours)


def test_a_record_under_anothers_name_is_left_to_git() -> None:
    base, ours, theirs = versions(4)
    assert drive(base, ours, theirs, path=path_of("b-00000000")) == (gitmerge.DOUBT, ours)


def test_different_records_are_written_whole_side_by_side() -> None:
    base, ours, theirs = versions(5)
    other = with_keys(ours, id="b-00000000")
    code, result = drive(base, other, theirs, path=path_of("b-00000000"))
    assert code == gitmerge.CONFLICT
    assert result == b"<<<<<<< ours\n" + other + b"=======\n" + theirs + b">>>>>>> theirs\n"


def test_a_full_disk_leaves_ours_and_no_litter(capfd: pytest.CaptureFixture[str]) -> None:
    with mock.patch("os.replace", side_effect=OSError(28, "No space left on device", "ours")):
        base, ours, theirs = versions(6)
        assert drive(base, ours, theirs) == (74, ours)
    assert sorted(os.listdir(".")) == ["base", "ours", "theirs"]
    assert "No space left on device" in capfd.readouterr().err


def test_a_bug_is_one_sentence_and_leaves_ours(capfd: pytest.CaptureFixture[str]) -> None:
    base, ours, theirs = versions(7)
    with mock.patch("pmem.vcs.gitmerge.merged", side_effect=ZeroDivisionError("oh")):
        assert drive(base, ours, theirs) == (70, ours)
    assert capfd.readouterr().err == "pmem: this is a bug in pmem: ZeroDivisionError: oh\n"


def test_what_is_no_record_is_shown_as_it_is() -> None:
    Path("file").write_bytes(b"\xff no record")
    assert gitmerge.run("textconv", ["file"]) == (0, b"\xff no record")
    for levels in (64, 800, 100_000):
        deep = b'{"deep": ' + b"[" * levels + b"]" * levels + b"}"
        Path("file").write_bytes(deep)
        assert gitmerge.run("textconv", ["file"]) == (0, deep)
    with mock.patch("pmem.vcs.gitmerge.LARGE_RECORD_BYTES", 10):
        assert gitmerge.run("textconv", ["file"]) == (0, deep)
    Path("file").write_bytes(b'{"content": "Hi"}')
    assert gitmerge.run("textconv", ["file"]) == (0, b"Hi\n\n")
