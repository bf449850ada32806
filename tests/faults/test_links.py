"""A memory folder in which something is a link: every answer says so, and nothing is followed."""

import json
import os
from pathlib import Path

import pytest

from pmem.records import STORES
from tests.faults.console import pmem

PLACES = ("local", "local/lock", *STORES.values())


@pytest.fixture
def outside(root: str, tmp_path: Path) -> Path:
    assert pmem("add", "The gear turns").code == 0
    return tmp_path / "outside"


def replace_by_link(path: str, outside: Path) -> None:
    if os.path.lexists(path):
        os.rename(path, outside)
    elif not path.endswith("lock"):
        outside.mkdir()
    os.symlink(outside, path)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("line", [("doctor",), ("doctor", "--fix"), ("check",)])
def test_a_link_is_told_with_the_way_out(
    place: str, line: tuple[str, ...], root: str, outside: Path
) -> None:
    path = os.path.join(root, place)
    replace_by_link(path, outside)
    held = sorted(os.listdir(outside)) if outside.is_dir() else []
    done = pmem(*line)
    assert done.code == 1
    told = done.out.decode()
    assert path in told
    assert "is a link" in told
    assert "remove the link" in told or "replace it by the folder" in told
    assert (sorted(os.listdir(outside)) if outside.is_dir() else []) == held
    assert os.path.islink(path)


@pytest.mark.parametrize("place", PLACES)
def test_check_tells_each_link_once(place: str, root: str, outside: Path) -> None:
    replace_by_link(os.path.join(root, place), outside)
    found = pmem("check", "--json").data["findings"]
    assert [(item["path"], item["code"]) for item in found] == [
        (os.path.join(root, place), "damaged")
    ]


def test_allowlists_do_not_keep_the_doctor_from_telling(root: str, outside: Path) -> None:
    assert pmem("config", "set", "allowlists.planner", "unheard").code == 0
    replace_by_link(os.path.join(root, "long-term-memory"), outside)
    done = pmem("doctor", "--json")
    assert done.code == 1
    assert json.loads(done.out)["data"]["ok"] is False


def test_once_the_link_is_gone_all_is_well(root: str, outside: Path) -> None:
    os.unlink(os.path.join(root, "local", "lock"))
    os.symlink(outside, os.path.join(root, "local", "lock"))
    assert pmem("add", "another").code == 5
    os.unlink(os.path.join(root, "local", "lock"))
    assert pmem("add", "another").code == 0
    assert pmem("check").code == 0
