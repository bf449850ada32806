"""Inputs that fuzzing found to break something, and that must never do so again."""

import tracemalloc
from pathlib import Path
from typing import Final

import pytest

from pmem.vcs import gitmerge
from tests.fuzz.commands import FILES as PROJECT
from tests.fuzz.entries import ENTRIES
from tests.fuzz.judging import guarded, judge

_BY_NAME: Final = {entry.name: entry for entry in ENTRIES}
_RECORD: Final = _BY_NAME["record: long-term-memory"].examples[0]

_MERGE: Final = _BY_NAME["merge: conversations"].examples[0]

FOUND: Final[tuple[tuple[str, bytes], ...]] = (
    ("record: long-term-memory", _RECORD.replace(b'"tokens": ', b'"tokens": 9999999999999999999')),
    (
        "record: long-term-memory",
        _RECORD.replace(b'"at":', b'"before": {"x": 1%s}, "at":' % (b"0" * 70)),
    ),
    (
        "record: long-term-memory",
        _RECORD.replace(b'"at":', b'"before": {"x": 1%s}, "at":' % (b"0" * 5000)),
    ),
    ("record: long-term-memory", _RECORD.replace(b"{", b'{"new": 1%s,' % (b"0" * 5000), 1)),
    ("merge: conversations", _MERGE.replace(b'"a-00000000"', b"[]")),
    ("merge: conversations", _MERGE.replace(b'"id": "a-00000000",', b"")),
    ("config.toml", b"chunk_size = " + b"9" * 5000),
    ("config.toml", b"x = " + b"[" * 20_000 + b"]" * 20_000),
    ("config.toml", b"x = " + b"{a = " * 20_000 + b"1" + b"}" * 20_000),
    ("config.toml", b"x" + b".x" * 20_000 + b" = 1"),
    ("one setting", b"chunk_size=" + b"(" * 20_000),
    ("config.toml changed", b"limits = 3"),
    ("config.toml changed", b"limits.memory.x = 3"),
    ("config.toml changed", b"[[limits]]\nmemory = 3"),
    ("config.toml changed", b"limits = {memory = 3}"),
    ("config.toml changed", b"x = " + b"9" * 5000),
    ("times and ages", b"3d" + b"[" * 20_000),
    ("golden sets", b'{"query":"x","%s":1}' % (b"k" * 20_000)),
    (
        "consent queue",
        _BY_NAME["consent queue"]
        .examples[0]
        .replace(b"2026-12-01T00:00:00Z", b"2026-12-01T00:00:00"),
    ),
    ("command lines", b"export\0arrays\0--json\0"),
    (
        "damaged projects",
        PROJECT[0].replace(b'"at":', b'"before": {"x": 1%s}, "at":' % (b"0" * 70)),
    ),
)


@pytest.mark.parametrize(
    ("name", "data"), FOUND, ids=[f"{place} {name}" for place, (name, _) in enumerate(FOUND)]
)
def test_what_fuzzing_found_stays_mended(name: str, data: bytes) -> None:
    with guarded():
        judge(_BY_NAME[name], data, twice=True)


def test_a_merge_takes_the_memory_that_its_files_need(tmp_path: Path) -> None:
    """It asked for 64 MB for each of its three files, whatever their sizes."""
    paths = [str(tmp_path / name) for name in ("base", "ours", "theirs")]
    for path in paths:
        Path(path).write_bytes(_RECORD)
    tracemalloc.start()
    gitmerge.merge_driver([*paths, "7", "long-term-memory/a-00000000.json"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000
