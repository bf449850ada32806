"""`pmem check merges` in real repositories: right merges pass, planted mistakes are found."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from pmem.core import rawjson
from tests.core.threeway.sides import Json
from tests.faults.console import added, pmem
from tests.git import world
from tests.git.branches import ROOT, branches, data, git, ok
from tests.git.planted import RIGHT, WRONG, findings, merged, plant
from tests.git.test_merging import BASE, OURS, PATH, THEIRS, edited, memory
from tests.git.world import World


@pytest.fixture
def repository() -> Iterator[None]:
    with world.tamed():
        world.begin()
        world.commit("begin")
        yield


@pytest.mark.some(5)
@pytest.mark.parametrize("way", RIGHT)
def test_a_right_merge_passes_however_it_was_made(way: str, repository: None) -> None:
    found = findings(RIGHT[way](World(7)))
    assert [finding.message for finding in found.findings] == []
    assert found.merges == {"squash": 0, "driver, three branches": 2}.get(
        way, 3 if way == "criss-cross" else 1
    )


def test_every_planted_mistake_is_found_under_its_name(repository: None) -> None:
    made = merged(6)  # every mistake can be made in this one
    assert findings(made.base.tip).findings == ()
    for code, mistakes in WRONG.values():
        commit = plant(made, Random(3).choice(list(mistakes(made))))
        found = findings(made.base.tip, commit).findings
        assert code in {finding.code for finding in found if finding.commit == commit}


# On the command line


def tampered(*parents: str, **files: Json | bytes | None) -> str:
    """Commit a merge of branches whose first memory is as given, and go there."""
    ok("checkout", "--quiet", "--force", "--detach", parents[0])
    for record in files.values():
        if record is None:
            Path(PATH).unlink()
        else:
            Path(PATH).write_bytes(record if isinstance(record, bytes) else data(record))
    ok("add", "--all")
    words = [word for parent in parents for word in ("-p", parent)]
    made = ok("commit-tree", ok("write-tree").strip(), *words, "-m", "merge").strip()
    ok("reset", "--quiet", "--hard", made)
    return made


@pytest.fixture
def both(repository: None) -> None:
    branches({PATH: data(BASE)}, ours={PATH: data(OURS)}, theirs={PATH: data(THEIRS)})


def test_a_finding_says_which_merge_lost_what_of_whom_and_where_it_is(both: None) -> None:
    made = tampered("ours", "theirs", result=OURS)
    done = pmem("check", "merges", "--range", "base..")
    assert done.code == 1
    theirs = ok("rev-parse", "theirs")[:10]
    summary, _, first = done.out.decode().splitlines()
    where = f"{os.path.abspath(PATH)}: differing_record: merge {made[:10]} dropped all that "
    assert first.startswith(where)
    assert f"`git show {theirs}:{PATH}` shows one side" in first
    assert ok("show", f"{theirs}:{PATH}").encode() == data(THEIRS)
    assert summary == "merges     1 in 1 merge"


def test_a_finding_in_json_names_the_commit(both: None) -> None:
    made = tampered("ours", "theirs", result=None)
    done = pmem("check", "merges", "--range", "base..HEAD", "--json")
    assert done.code == 1
    (finding,) = done.data["merges"]["findings"]
    assert (finding["commit"], finding["code"]) == (made, "lost_record")
    assert finding["path"] == os.path.abspath(PATH)
    assert (done.data["merges"]["merges"], done.data["merges"]["records"]) == (1, 1)


def test_a_range_without_merges_or_memory_has_no_findings(both: None) -> None:
    done = pmem("check", "merges", "--range", "base..ours")
    assert (done.code, done.out) == (0, b"merges     none in 0 merges\n")


def test_merges_of_more_than_two_branches_are_named_and_not_redone(both: None) -> None:
    tampered("ours", "theirs", "base", result=None)
    assert pmem("check", "merges", "--range", "base..").code == 0
    assert told("merges", "--range", "base..") == [("not_redone", "warning")]


@pytest.mark.parametrize(
    "revisions", ["nothing..HEAD", "a..b..c", "--merges..HEAD", "HEAD@{1}..HEAD"]
)
def test_a_bad_range_is_one_sentence(revisions: str, both: None) -> None:
    done = pmem("check", "merges", f"--range={revisions}")
    assert (done.code, done.out) == (3, b"")
    assert done.err.startswith("pmem: ")


def test_without_a_repository_or_git_it_says_so(
    repository: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as without:
        without.setenv("PATH", str(tmp_path))
        done = pmem("check", "merges", "--range", "HEAD~1..HEAD")
    assert done.code == 3
    assert "git cannot be run" in done.err
    os.rename(".git", "git")
    done = pmem("check", "merges", "--range", "HEAD~1..HEAD")
    assert done.code == 3
    assert "is not in a git repository" in done.err


def test_branches_without_a_common_ancestor_are_held_to_what_each_has(repository: None) -> None:
    other = memory("We drink tea", "b-p7q2p7q2")
    branches({PATH: data(BASE)})
    ok("branch", "first", "base")
    branches({path_of(other): data(other)})
    made = git("rev-list", "--max-parents=0", "first", "base").out.split()
    assert len(made) == 2
    tampered("base", "first", result=BASE)
    assert findings("base").findings == ()
    tampered("base", "first")
    assert [finding.code for finding in findings("base").findings] == ["lost_record"]


def path_of(record: Json) -> str:
    return f"{ROOT}/long-term-memory/{record['id']}.json"


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: b"<<<<<<< ours\n" + text + b"=======\n" + text + b">>>>>>> theirs\n",
        lambda text: text[:-5],
        lambda text: b"[" * 5000,
        lambda text: b'{"id": "a-k3v9k3v9", "new": ' + b"[" * 800 + b"]" * 800 + b"}",
        lambda text: b"\xff",
        lambda text: b"",
    ],
)
def test_what_is_no_record_is_reported_and_breaks_nothing(
    damage: Callable[[bytes], bytes], both: None
) -> None:
    tampered("ours", "theirs", result=damage(data(OURS)))
    (finding,) = findings("base").findings
    assert finding.code == "lost_record"


def test_a_link_in_a_records_place_is_not_followed(both: None) -> None:
    ok("checkout", "--quiet", "--force", "--detach", "ours")
    Path(PATH).unlink()
    Path(PATH).symlink_to("/etc/hostname")
    ok("add", "--all")
    tree = ok("write-tree").strip()
    made = ok("commit-tree", tree, "-p", "ours", "-p", "theirs", "-m", "merge").strip()
    assert [finding.code for finding in findings("base", made).findings] == ["lost_record"]


def test_a_merge_that_mends_a_broken_side_is_right(both: None) -> None:
    ok("checkout", "--quiet", "--force", "--detach", "ours")
    Path(PATH).write_bytes(b"{")
    world.commit("broken")
    tampered("HEAD", "theirs", result=edited(THEIRS, 9, importance=0.9))
    assert findings("base").findings == ()


def test_nobody_elses_files_and_names_matter(both: None) -> None:
    Path(ROOT, "long-term-memory", "not an id.json").write_text("{", encoding="utf-8")
    Path("code.py").write_text("<<<<<<<", encoding="utf-8")
    ok("checkout", "--quiet", "--force", "--detach", "ours")
    assert git("merge", "--quiet", "--no-edit", "theirs").code == 0
    world.commit("more")
    assert findings("base") == findings("base", "HEAD")
    assert findings("base").findings == ()


# What two branches leave in doubt


def on_two_branches(*, ours: list[list[str]], theirs: list[list[str]]) -> None:
    """Run commands on two branches of what is there, and merge them."""
    world.commit("base")
    ok("branch", "--force", "base")
    for branch, commands in (("ours", ours), ("theirs", theirs)):
        ok("checkout", "--quiet", "-B", branch, "base")
        for words in commands:
            assert pmem(*words).code == 0
        world.commit(branch)
    ok("merge", "--quiet", "--no-edit", "ours")


def told(part: str, *words: str) -> list[tuple[str, str]]:
    done = pmem("check", part, *words, "--json").data[part]["findings"]
    return [(finding["code"], finding["severity"]) for finding in done]


@pytest.mark.parametrize(
    "pair",
    [
        ("CI keeps pip", "CI keeps npm"),
        ("The cache is built first", "The cache is built last"),
        ("Forks may write the cache", "Forks must not write the cache"),
        ("We pack wheels with zstd", "We pack wheels with gzip"),
    ],
)
def test_memories_on_one_subject_of_two_branches_are_named_until_somebody_decides(
    pair: tuple[str, str], repository: None
) -> None:
    caches = [["add", text, "--subject", "CI cache"] for text in pair]
    on_two_branches(ours=caches[:1], theirs=caches[1:])
    assert told("records") == [("same_subject", "warning")]
    assert pmem("check", "records").code == 0
    assert pmem("check", "records", "--strict").code == 1
    one, other = (item["id"] for item in pmem("list", "--json").data["items"])
    assert pmem("edit", one, "--link", other).code == 0
    assert told("records") == []
    assert pmem("edit", one, "--unlink", other).code == 0
    assert pmem("edit", one, "--superseded-by", other).code == 0
    assert told("records") == []


def equal_memories() -> tuple[str, str]:
    """Add two memories that say the same: the one that consolidation keeps, and the other one."""
    kept = added("The mail port is 25", "--importance", "0.9")
    return kept, added("The mail port is 25", "--importance", "0.5")


def recalled() -> set[str]:
    return {hit["id"] for hit in pmem("search", "mail port", "--json").data["hits"]}


def test_what_took_in_its_double_is_recalled_although_another_branch_removed_it(
    repository: None,
) -> None:
    kept, double = equal_memories()
    on_two_branches(ours=[["consolidate"]], theirs=[["rm", kept]])
    assert recalled() == {kept}
    assert told("records") == [("overruled", "warning")]
    assert pmem("resolve", kept, "--other").code == 0
    assert recalled() == set()
    assert pmem("restore", double).code == 0
    assert recalled() == {double}


def test_what_took_anothers_place_is_recalled_although_another_branch_removed_it(
    repository: None,
) -> None:
    heir, old = added("The mail port is 465"), added("We send mail by pigeon")
    on_two_branches(ours=[["edit", old, "--superseded-by", heir]], theirs=[["rm", heir]])
    assert recalled() == {heir}
    assert told("records") == [("overruled", "warning")]


def test_whoever_removes_what_has_taken_in_its_double_removes_both(repository: None) -> None:
    kept, double = equal_memories()
    assert pmem("consolidate").code == 0
    on_two_branches(ours=[["edit", double, "--tag", "mail"]], theirs=[["rm", kept]])
    assert recalled() == set()
    assert told("records") == []


def test_a_merge_that_took_a_kept_record_out_of_recall_is_found(repository: None) -> None:
    kept, _ = equal_memories()
    path = Path(ROOT, "long-term-memory", f"{kept}.json")
    on_two_branches(ours=[["consolidate"]], theirs=[["rm", kept]])
    right = rawjson.load(path.read_bytes())
    events = [event for event in right["history"] if event.get("source") != "git"]
    path.write_bytes(rawjson.dump({**right, "state": "soft_deleted", "history": events}))
    ok("commit", "--quiet", "--all", "--amend", "--no-edit")
    assert ("differing_record", "error") in told("merges", "--range", "base..")


def test_an_end_that_a_person_gave_before_removing_a_memory_outlives_the_removal(
    repository: None,
) -> None:
    found = added("The mail port is 25")
    ends = [["edit", found, "--valid-until", "2031-01-01"], ["rm", found]]
    on_two_branches(ours=ends, theirs=[["edit", found, "The mail port is 465"]])
    shown = pmem("show", found, "--json").data
    assert (shown["state"], shown["content"]) == ("active", "The mail port is 465")
    assert shown["valid_until"].startswith("2031-01-01")


def test_a_memory_whose_successor_is_gone_or_was_removed_before_is_named(repository: None) -> None:
    kept, double = equal_memories()
    assert pmem("consolidate").code == 0
    path = Path(ROOT, "long-term-memory", f"{kept}.json")
    whole = rawjson.load(path.read_bytes())
    removed = {"event": "DELETE", "at": "2026-01-01T00:00:00Z", "before": {"state": "active"}}
    history = [whole["history"][0], removed, *whole["history"][1:]]
    path.write_bytes(rawjson.dump({**whole, "state": "soft_deleted", "history": history}))
    assert told("records") == [("forsaken", "warning")]
    path.unlink()
    assert ("forsaken", "warning") in told("records")
    assert pmem("restore", double).code == 0
    assert ("forsaken", "warning") not in told("records")


@pytest.mark.parametrize("way", ["merge", "resolve"])
def test_without_the_driver_git_asks_before_anything_leaves_recall(
    way: str, repository: None
) -> None:
    kept, _ = equal_memories()
    world.commit("base")
    ok("branch", "--force", "base")
    for branch, words in (("ours", ["consolidate"]), ("theirs", ["rm", kept])):
        ok("checkout", "--quiet", "-B", branch, "base")
        assert pmem(*words).code == 0
        world.commit(branch)
    ok("config", "--remove-section", "merge.pmem")
    strategy = ["--strategy", "resolve"] if way == "resolve" else []
    assert git("merge", "--quiet", "--no-edit", *strategy, "ours").code != 0
    assert pmem("resolve").code == 0
    assert recalled() == {kept}
    assert told("records") == [("overruled", "warning")]
