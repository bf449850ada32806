"""Texts with conflict markers come apart again into what git made them of."""

import subprocess
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pmem.core.threeway.markers import apart, has_markers, plain_lines
from tests.effort import examples
from tests.work import STALLED, seconds

STYLES: Final = {"merge": (), "diff3": ("--diff3",), "zdiff3": ("--zdiff3",)}
LINES: Final = st.lists(
    st.sampled_from(["a", "b", "c", "{", "}", "  x", "", "====", ">> d", "<< e", "日本", "|||||"]),
    max_size=8,
)


def text(lines: list[str], end: str = "\n") -> bytes:
    return "".join(f"{line}{end}" for line in lines).encode()


def merge_file(folder: Path, sides: tuple[bytes, bytes, bytes], *options: str) -> bytes:
    """Return what `git merge-file` makes of ours, base and theirs."""
    names = ("ours", "base", "theirs")
    for name, side in zip(names, sides, strict=True):
        (folder / name).write_bytes(side)
    command = ["git", "merge-file", "-p", *options, *names]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).stdout


@pytest.mark.parametrize("style", STYLES)
@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    ours=LINES,
    base=LINES,
    theirs=LINES,
    size=st.integers(7, 20),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_any_conflict_that_git_writes_comes_apart_into_its_two_sides(
    style: str,
    ours: list[str],
    base: list[str],
    theirs: list[str],
    size: int,
    end: str,
    tmp_path: Path,
) -> None:
    sides = (text(ours, end), text(base, end), text(theirs, end))
    merged = merge_file(tmp_path, sides, f"--marker-size={size}", *STYLES[style])
    found = apart(merged)
    if b"<<<<<<< " not in merged:
        assert merged == merge_file(tmp_path, sides, "--ours")
        return
    assert has_markers(merged)
    assert found is not None
    assert found.ours == merge_file(tmp_path, sides, "--ours")
    assert found.theirs == merge_file(tmp_path, sides, "--theirs")
    assert (found.base is not None) == (style != "merge")
    assert plain_lines(merged) <= plain_lines(b"\n".join(sides))


@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(lines=LINES)
def test_a_conflict_over_everything_shows_all_three_versions(
    lines: list[str], tmp_path: Path
) -> None:
    sides = (text(["1", *lines, "1"]), text(["2"]), text(["3", *lines[::-1], "3"]))
    found = apart(merge_file(tmp_path, sides, "--diff3"))
    assert found == (sides[0], sides[2], sides[1])


def test_two_records_side_by_side_come_apart_whole() -> None:
    data = b'<<<<<<< ours\n{"id": "a"}\n=======\n{"id": "b"}\n>>>>>>> theirs\n'
    assert apart(data) == (b'{"id": "a"}\n', b'{"id": "b"}\n', None)


def test_an_inner_conflict_of_another_size_is_text() -> None:
    inner = b"<<<<<<<<< x\n1\n=========\n2\n>>>>>>>>> y\n"
    data = b"<<<<<<< ours\n3\n||||||| base\n" + inner + b"=======\n4\n>>>>>>> theirs\n"
    found = apart(data)
    assert found == (b"3\n", b"4\n", inner)
    assert apart(inner) == (b"1\n", b"2\n", None)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}\n",
        b"<<<<<<< ours\n",
        b"<<<<<<< ours\n1\n=======\n2\n",
        b"<<<<<<< ours\n1\n>>>>>>> theirs\n",
        b"=======\n2\n>>>>>>> theirs\n",
        b"<<<<<<< ours\n<<<<<<< again\n1\n=======\n2\n>>>>>>> theirs\n",
        b"<<<<<<< ours\n1\n=======\n2\n=======\n3\n>>>>>>> theirs\n",
        b"<<<<<<< ours\n1\n=======\n2\n||||||| base\n3\n>>>>>>> theirs\n",
        b"<<<<<<< ours\n1\n=======\n2\n>>>>>>> theirs\n>>>>>>> theirs\n",
        b"<<<<<<<ours\n1\n=======\n2\n>>>>>>> theirs\n",
    ],
)
def test_markers_that_do_not_belong_together_are_not_taken_apart(data: bytes) -> None:
    assert apart(data) is None


@pytest.mark.parametrize(
    ("data", "marked"),
    [
        (b"<<<<<<< ours\n", True),
        (b"{\n>>>>>>> theirs", True),
        (b"{\r\n<<<<<<<\r\n", True),
        (b"=======\n", False),
        (b"<html>\n</html>\n", False),
        (b'"<<<<<<< ours"\n', False),
        (b"<< a\n1\n==\n2\n>> b\n", True),
    ],
)
def test_markers_are_noticed_even_where_they_are_not_whole(data: bytes, marked: bool) -> None:
    assert has_markers(data) == marked


@pytest.mark.parametrize("line", [b"<", b"<<<<<<< a\n", b"=======\n", b"<\n", b"|||||||\n", b"\n"])
def test_hostile_texts_take_no_longer_than_others(line: bytes) -> None:
    data = b"<<<<<<< a\n" + line * (250_000 // len(line))
    for read in (apart, has_markers, plain_lines):
        assert seconds(partial(read, data)) < STALLED
