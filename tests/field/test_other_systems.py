"""What other systems do, put in the place of what this one does."""

import io
from pathlib import Path
from unittest import mock

import pytest

from pmem.cli import render
from tests.faults.console import pmem
from tests.field.repositories import begin


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a memory."""
    return begin(tmp_path / "project", "Use tabs")


def test_a_place_may_be_typed_with_the_separators_of_windows(project: Path) -> None:
    (project / "src").mkdir()
    with mock.patch("pmem.cli.session.os.sep", "\\"):
        done = pmem("add", "Money is exact", "--for", r"src\web\**", "--json")
    assert done.data["memory"]["places"] == ["src/web/**"]


@pytest.mark.parametrize("encoding", ["cp1252", "cp437", "ascii"])
def test_a_console_that_lacks_a_character_shows_its_number(encoding: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    render._write(stream, "漢字 → done")
    stream.flush()
    assert b"\\u6f22\\u5b57" in stream.buffer.getvalue()


def test_records_are_checked_out_with_the_line_ends_that_pmem_writes(project: Path) -> None:
    attributes = Path(".project-memory/.gitattributes").read_text(encoding="utf-8")
    assert "*.json text eol=lf" in attributes or "eol=lf" in attributes
    assert "config.toml text eol=lf" in attributes
