"""A memory folder in which something is a link: every answer says so, and nothing is followed."""

import json
import os
from pathlib import Path

import pytest

from pmem.values.records import STORES
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
@pytest.mark.parametrize(
    "line", [("check", "setup"), ("check", "setup", "--fix"), ("check", "records")]
)
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


@pytest.mark.parametrize("store", STORES.values())
def test_what_no_link_keeps_from_it_is_mended(store: str, root: str, outside: Path) -> None:
    replace_by_link(os.path.join(root, store), outside)
    os.unlink(f"{root}/.gitignore")
    Path(root, "local", "state.sqlite3").write_text("nonsense")
    Path(root, "local", "access.log").write_text("nonsense\n")
    done = pmem("check", "setup", "--fix", "--json")
    assert done.code == 1
    items = {item["name"]: item for item in done.data["setup"]["items"]}
    assert {name for name, item in items.items() if item["fixed"]} == {"folder", "clone", "recalls"}
    assert [name for name, item in items.items() if not item["ok"]] == ["writable", "records"]
    assert os.path.exists(f"{root}/.gitignore")


@pytest.mark.parametrize("place", ["local", "local/lock"])
def test_what_a_link_keeps_from_being_mended_is_told(place: str, root: str, outside: Path) -> None:
    replace_by_link(os.path.join(root, place), outside)
    os.unlink(f"{root}/.gitignore")
    done = pmem("check", "setup", "--fix", "--json")
    (folder,) = (item for item in done.data["setup"]["items"] if item["name"] == "folder")
    assert (done.code, folder["ok"], folder["fixed"]) == (1, False, False)
    assert ".gitignore missing; not fixed, as" in folder["detail"]
    assert not os.path.exists(f"{root}/.gitignore")


@pytest.mark.parametrize("store", STORES.values())
def test_no_store_is_made_where_a_link_leads(store: str, root: str, tmp_path: Path) -> None:
    os.rename(os.path.join(root, store), tmp_path / "aside")
    os.symlink(tmp_path / "nowhere", os.path.join(root, store))
    os.unlink(f"{root}/.gitignore")
    assert pmem("check", "setup", "--fix").code == 1
    assert os.path.exists(f"{root}/.gitignore")
    assert not os.path.exists(tmp_path / "nowhere")


@pytest.mark.parametrize("place", PLACES)
def test_check_tells_each_link_once(place: str, root: str, outside: Path) -> None:
    replace_by_link(os.path.join(root, place), outside)
    found = pmem("check", "records", "--json").data["records"]["findings"]
    assert [(item["path"], item["code"]) for item in found] == [
        (os.path.join(root, place), "damaged")
    ]


@pytest.mark.parametrize("store", STORES.values())
def test_a_link_in_a_store_s_place_hides_nothing_of_the_others(
    store: str, root: str, outside: Path
) -> None:
    assert pmem("episode", "add", "The gear broke").code == 0
    assert pmem("conversation", "start").code == 0
    replace_by_link(os.path.join(root, store), outside)
    other = next(folder for folder in STORES.values() if folder != store)
    broken = Path(root, other, "mwqi0000-00000001.json")
    broken.parent.mkdir(exist_ok=True)
    broken.write_text("{")
    Path(root, "config.toml").write_text("chunk_size = 0\n")
    done = pmem("check", "records", "--json")
    assert done.code == 1
    told = {(item["path"], item["code"]) for item in done.data["records"]["findings"]}
    assert told == {
        (os.path.join(root, store), "damaged"),
        (str(broken), "damaged"),
        (os.path.join(root, "config.toml"), "invalid_value"),
    }
    assert done.data["records"]["records"] >= 2


def test_links_to_records_of_a_store_that_is_not_read_are_not_told_as_loose(
    root: str, outside: Path
) -> None:
    (memory,) = (path.stem for path in Path(root, "long-term-memory").glob("*.json"))
    assert pmem("episode", "add", "The gear broke", "--memory", memory).code == 0
    replace_by_link(os.path.join(root, "long-term-memory"), outside)
    found = pmem("check", "records", "--json").data["records"]["findings"]
    assert [item["code"] for item in found] == ["damaged"]


def test_allowlists_do_not_keep_the_doctor_from_telling(root: str, outside: Path) -> None:
    assert pmem("config", "set", "allowlists.planner", "unheard").code == 0
    replace_by_link(os.path.join(root, "long-term-memory"), outside)
    done = pmem("check", "setup", "--json")
    assert done.code == 1
    assert json.loads(done.out)["data"]["setup"]["ok"] is False


def test_once_the_link_is_gone_all_is_well(root: str, outside: Path) -> None:
    os.unlink(os.path.join(root, "local", "lock"))
    os.symlink(outside, os.path.join(root, "local", "lock"))
    assert pmem("add", "another").code == 5
    os.unlink(os.path.join(root, "local", "lock"))
    assert pmem("add", "another").code == 0
    assert pmem("check", "records").code == 0
