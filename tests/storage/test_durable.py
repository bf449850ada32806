"""In which order the files of one commit change, for readers that take no lock."""

import os
from pathlib import Path
from typing import Any

import pytest

from pmem.storage.files import durable
from pmem.storage.files.durable import FileChange


def path_of(number: int) -> str:
    return f"long-term-memory/mwqi0000-{number:08d}.json"


GONE, OLD, NEW = (1, 6), (2, 5), (3, 4)
CHANGES = [FileChange(path_of(n), None if n in GONE else b"after") for n in range(1, 7)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a folder where the records to replace and to remove are there."""
    for folder in ("local", "long-term-memory"):
        (tmp_path / folder).mkdir()
    for number in (*OLD, *GONE):
        (tmp_path / path_of(number)).write_bytes(b"before")
    return tmp_path


def test_what_is_new_comes_first_and_what_goes_comes_last(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touched: list[str] = []

    def noting(name: str) -> None:
        done = getattr(os, name)

        def note(*arguments: Any, **named: Any) -> Any:
            touched.append(os.path.relpath(arguments[-1], root))
            return done(*arguments, **named)

        monkeypatch.setattr(os, name, note)

    noting("replace")
    noting("unlink")
    durable.apply(str(root), str(root / "local"), CHANGES)
    records = [path for path in touched if path.startswith("long-term-memory")]
    assert records == [path_of(number) for number in (*NEW, *OLD, *GONE)]
    assert all((root / path_of(number)).read_bytes() == b"after" for number in (*NEW, *OLD))
    assert not any((root / path_of(number)).exists() for number in GONE)
