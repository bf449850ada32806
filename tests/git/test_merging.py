"""Real repositories: every way to bring two branches together, with the driver and without."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pmem.core.threeway.record import merged
from pmem.core.threeway.shapes import SHAPES
from tests.core.threeway.sides import Json
from tests.faults.console import pmem
from tests.git.branches import ROOT, WAYS, begin, branches, data, git, ok, path_of, read, scenarios

STORE = "long-term-memory"
MARKERS = (b"<<<<<<< ", b"=======\n", b">>>>>>> ")
BEGUN = "2026-01-01T00:00:00Z"


def memory(content: str, identifier: str = "a-k3v9k3v9", **fields: Any) -> Json:
    """Return a memory as JSON."""
    known = {
        "id": identifier,
        "schema": 1,
        "type": "fact",
        "content": content,
        "category": "project",
        "subject": None,
        "tags": ["db"],
        "scope": {},
        "importance": 0.5,
        "pinned": False,
        "state": "active",
        "valid_from": BEGUN,
        "valid_until": None,
        "purge_at": None,
        "relationships": [],
        "source": {},
        "created_at": BEGUN,
        "updated_at": BEGUN,
        "access": {},
        "tokens": 4,
        "history": [{"event": "ADD", "at": BEGUN, "actor": "ada"}],
    }
    return {**known, **fields}


def edited(record: Json, day: int, **fields: Any) -> Json:
    """Return a memory that was edited on a day of January."""
    at = f"2026-01-{day:02d}T00:00:00Z"
    before = {name: record[name] for name in fields}
    event = {"event": "UPDATE", "at": at, "actor": "ada", "before": before}
    return {**record, **fields, "updated_at": at, "history": [*record["history"], event]}


BASE = memory("We use MySQL")
PATH = path_of(STORE, BASE)
OURS = edited(BASE, 2, tags=["db", "sql"], importance=0.9)
THEIRS = edited(BASE, 3, content="We use PostgreSQL", tags=["store"], tokens=5)
RIVAL = edited(BASE, 4, content="We use Oracle", tokens=4)


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set up the current folder, the program that is tested on the path."""
    begin(monkeypatch)


def two(ours: Json = OURS, theirs: Json = THEIRS) -> None:
    """Make the branches `ours`, which is checked out, and `theirs`."""
    branches({PATH: data(BASE)}, ours={PATH: data(ours)}, theirs={PATH: data(theirs)})
    ok("checkout", "--quiet", "--force", "ours")


def both_are_there() -> None:
    """See that the record has what either side did to it, and nothing is left to do."""
    found = json.loads(read(PATH))
    assert found == merged(BASE, OURS, THEIRS, SHAPES[STORE]).result
    assert (found["content"], found["tags"]) == ("We use PostgreSQL", ["sql", "store"])
    assert ok("diff", "--name-only", "--diff-filter=U") == ""
    assert b" ok\n" in pmem("check", "records").out


MORE = {
    "preferring ours": ("ours", (("merge", "--no-edit", "-Xours", "theirs"),), ()),
    "rebase by patches": ("ours", (("rebase", "--apply", "theirs"),), ()),
}


@pytest.mark.parametrize("way", sorted({*WAYS, *MORE} - {"revert"}))
def test_every_way_to_bring_branches_together_keeps_both(way: str, repository: None) -> None:
    two()
    start, commands, _ = {**WAYS, **MORE}[way]
    ok("checkout", "--quiet", "--force", "--detach", start)
    for arguments in commands:
        ok(*arguments)
    both_are_there()


def test_a_revert_takes_back_one_change_and_says_so(repository: None) -> None:
    later = edited(THEIRS, 5, importance=0.9)
    two(BASE, THEIRS)
    ok("checkout", "--quiet", "theirs")
    Path(PATH).write_bytes(data(later))
    ok("commit", "--quiet", "--all", "--message", "importance")
    ok("revert", "--no-edit", "HEAD~1")
    found = json.loads(read(PATH))
    assert (found["content"], found["importance"]) == ("We use MySQL", 0.9)
    assert found["history"][-1]["before"]["content"] == "We use PostgreSQL"


def test_a_contradiction_is_written_down_and_reported_until_it_is_settled(
    repository: None,
) -> None:
    two(THEIRS, RIVAL)
    assert git("merge", "--no-edit", "theirs").code == 1
    assert json.loads(read(PATH))["content"] == "We use Oracle"
    assert b"We use PostgreSQL" in read(PATH)
    ok("commit", "--quiet", "--all", "--message", "merged")
    assert pmem("check", "records").code == 1
    assert [
        found["code"] for found in pmem("check", "records", "--json").data["records"]["findings"]
    ] == ["conflict"]
    assert pmem("edit", "k3v9", "We use Oracle and PostgreSQL").code == 0
    assert pmem("check", "records").code == 0


@pytest.mark.parametrize(
    ("field", "values"),
    [("importance", (0.8, 0.85)), ("category", ("team", "task")), ("subject", ("db", "sql"))],
)
def test_two_values_are_no_contradiction_that_costs_trust(
    field: str, values: tuple[Any, Any], repository: None
) -> None:
    two(edited(BASE, 2, **{field: values[0]}), edited(BASE, 3, **{field: values[1]}))
    ok("merge", "--quiet", "--no-edit", "theirs")
    assert json.loads(read(PATH))["history"][-1]["event"] == "MERGE"
    assert b"trust" not in pmem("list").out + pmem("inbox").out


def test_records_that_git_takes_for_one_are_never_mixed(repository: None) -> None:
    twin = memory("We use MySQL", "b-p7q2p7q2")
    other = path_of(STORE, twin)
    changed = edited(BASE, 3, importance=0.9)
    branches(
        {PATH: data(BASE)},
        ours={PATH: b"", other: data(twin)},
        theirs={PATH: data(changed)},
    )
    ok("checkout", "--quiet", "--force", "ours")
    assert git("merge", "--no-edit", "theirs").code == 1
    found = read(other)
    assert all(mark in found for mark in MARKERS)
    assert data(twin) in found
    assert data(changed) in found
    assert b"unmerged" in pmem("check", "records").out


@pytest.mark.parametrize("strategy", ["ort", "recursive"])
def test_two_new_records_that_git_takes_for_the_same_old_one_stay_as_they_are(
    strategy: str, repository: None
) -> None:
    """Both branches purged a record and added another one: to git, both renamed the old one."""
    new = [memory("We use PostgreSQL", "b-p7q2p7q2"), memory("We use Oracle", "c-m4n5m4n5")]
    paths = [path_of(STORE, record) for record in new]
    branches(
        {PATH: data(BASE)},
        ours={PATH: b"", paths[0]: data(new[0])},
        theirs={PATH: b"", paths[1]: data(new[1])},
    )
    for here, there in (("ours", "theirs"), ("theirs", "ours")):
        ok("checkout", "--quiet", "--force", here)
        git("merge", "--no-edit", "--strategy", strategy, there)
        assert [read(path) for path in paths] == [data(record) for record in new]
        done = pmem("check", "records", "--json").data["records"]
        assert (done["records"], {found["code"] for found in done["findings"]}) == (2, {"unmerged"})
        ok("reset", "--quiet", "--hard")


def test_any_records_merge_and_a_into_b_is_b_into_a(repository: None) -> None:
    drawn = scenarios(range(20))
    branches(
        {path: data(base) for _, path, base, *_ in drawn},
        ours={path: data(one) for _, path, _, one, _, _ in drawn},
        theirs={path: data(side) for _, path, _, _, side, _ in drawn},
    )
    left = []
    for here, there in (("ours", "theirs"), ("theirs", "ours")):
        ok("checkout", "--quiet", "--force", here)
        git("merge", "--no-edit", there)
        left.append({path: read(path) for _, path, *_ in drawn})
        unmerged = set(ok("diff", "--name-only", "--diff-filter=U").split())
        for store, path, base, one, side, _ in drawn:
            wanted = merged(base, one, side, SHAPES[store])
            assert wanted.result is not None
            assert read(path) == data(wanted.result)
            assert (path in unmerged) == bool(wanted.conflicts)
        ok("reset", "--quiet", "--hard")
    assert left[0] == left[1]


def test_nothing_is_left_lying_about(repository: None) -> None:
    two()
    ok("merge", "--quiet", "--no-edit", "theirs")
    assert [name for name in os.listdir(".") if name not in (".git", ROOT)] == []
    assert [name for name in os.listdir(ROOT) if name.startswith(".tmp")] == []
