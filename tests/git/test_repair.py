"""Merges that git left open: repair finishes every one of them, and loses nothing."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pmem.core.threeway.deciding import Versions
from pmem.core.threeway.record import merged
from pmem.core.threeway.shapes import SHAPES
from pmem.storage.files import durable
from pmem.storage.git.merge_stages import MergeState
from tests.core.threeway.sides import Json, keeps_all
from tests.faults.console import Done, bytes_of, pmem
from tests.git.branches import ROOT, WAYS, begin, branches, data, git, ok, path_of, read
from tests.git.test_merging import BASE, OURS, PATH, STORE, THEIRS, edited, memory, two
from tests.git.unfinished import (
    MARKED,
    STYLES,
    begin_without_driver,
    findings,
    finish,
    outcome,
    unmerged,
)
from tests.once import Once

CLASH = edited(BASE, 5, content="We use SQLite", tags=["file"])
TWIN = memory("We use MySQL", "b-p7q2p7q2", created_at="2026-01-09T00:00:00Z")
TWIN_PATH = path_of(STORE, TWIN)
WHOLE = merged(BASE, THEIRS, CLASH, SHAPES[STORE])


@pytest.fixture(autouse=True)
def repository(once: Once) -> None:
    """Set up the current folder as a fresh clone: attributes, and no driver."""
    once(begin_without_driver)


def clash(*command: str, style: str = "merge") -> None:
    """Stop in a merge of two texts that contradict each other."""
    two(THEIRS, CLASH)
    asked = command or ("merge", "--no-edit", "theirs")
    assert git("-c", f"merge.conflictStyle={style}", *asked).code == 1
    assert unmerged() == {PATH}


def one(done: Done) -> Any:
    """Return the one record that was repaired."""
    assert (done.code, done.data["left"]) == (0, []), done.data
    (found,) = done.data["repaired"]
    return found


def now(path: str = PATH) -> Json:
    """Return a record as it stands in its file."""
    found: Json = json.loads(read(path))
    return found


@pytest.mark.parametrize("side", ["--ours", "--theirs"])
@pytest.mark.parametrize("here", ["ours", "theirs"])
@pytest.mark.parametrize("is_over", [False, True])
def test_ours_and_theirs_are_sides_of_git_whichever_is_later(
    side: str, here: str, is_over: bool
) -> None:
    two(THEIRS, CLASH)
    there = "theirs" if here == "ours" else "ours"
    ok("checkout", "--quiet", "--force", here)
    said = {"--ours": ok("show", f"{here}:{PATH}"), "--theirs": ok("show", f"{there}:{PATH}")}
    assert git("merge", "--no-edit", there).code == 1
    assert pmem("resolve").code == 0
    if is_over:
        ok("commit", "--quiet", "--no-verify", "--no-edit")
    assert pmem("resolve", BASE["id"], side).code == 0
    now = json.loads(Path(PATH).read_bytes())
    assert now["content"] == json.loads(said[side])["content"]
    assert findings("conflict") == set()


@pytest.mark.some(5)
@pytest.mark.parametrize(
    ("way", "marked"), [*((way, False) for way in WAYS), *((way, True) for way in MARKED)]
)
def test_whatever_conflicts_is_seen_by_check_and_finished(way: str, marked: bool) -> None:
    found = outcome(way, 3 * [*WAYS].index(way) + [*WAYS].index(way) % 3, marked=marked)
    assert found["conflicts"] > 0
    assert found["conflicts"] == found["seen"] == found["finished"], found
    for what in ("left", "wrong", "lost records", "resurrected", "unparsable", "bad after"):
        assert found[what] == 0, (what, found)
    for what in ("events", "values"):
        assert found[f"conflicted, lost {what}"] == found[f"clean, lost {what}"] == 0
    assert found["false alarms"] == 0


@pytest.mark.parametrize("way", ["merge", "rebase", "stash pop"])
def test_records_that_git_takes_for_others_are_told_apart(way: str) -> None:
    found = outcome(way, 5, renames=True)
    assert found["conflicts"] == found["seen"] == found["finished"] > 0
    assert found["wrong"] == found["unparsable"] == found["bad after"] == 0


def test_a_contradiction_stays_marked_in_the_record() -> None:
    clash()
    found = one(pmem("resolve", "--json"))
    assert (found["id"], found["decision"]) == (BASE["id"], "merged")
    assert found["conflicts"] == ["content"]
    assert "content" in found["detail"]
    assert "`pmem check` reports it" in found["detail"]
    assert now() == WHOLE.result
    assert findings("conflict") == {PATH}
    assert findings("markers", "unmerged", "damaged") == set()
    finish("merge")


def test_a_file_that_parses_is_reported_while_it_is_unmerged() -> None:
    clash()
    ok("checkout", "--quiet", "--ours", PATH)
    assert now() == THEIRS
    assert findings("unmerged") == {PATH}
    assert one(pmem("resolve", "--json"))["decision"] == "merged"
    assert now() == WHOLE.result


def test_what_was_resolved_by_hand_stays_as_it_is() -> None:
    clash()
    mine = data(memory("We use both", updated_at="2026-01-08T00:00:00Z")).replace(b"\n", b"\r\n")
    Path(PATH).write_bytes(mine)
    assert one(pmem("resolve", "--json"))["decision"] == "kept"
    assert read(PATH) == mine
    assert unmerged() == set()
    assert ok("show", f":{PATH}") == mine.decode().replace("\r\n", "\n")


def test_what_was_typed_between_the_markers_is_kept() -> None:
    clash()
    typed = read(PATH).replace(b"We use SQLite", b"We use SQLite for tests")
    Path(PATH).write_bytes(typed)
    found = one(pmem("resolve", "--json"))
    assert "edited by hand" in found["detail"]
    assert now()["content"] == "We use SQLite for tests"
    assert b"We use PostgreSQL" in read(PATH)


def test_an_object_without_fields_is_no_record_and_is_left() -> None:
    clash()
    Path(PATH).write_bytes(b"{}\n")
    done = pmem("resolve", "--json")
    assert (done.code, done.data["repaired"]) == (1, [])
    assert "it was resolved by hand, but" in done.data["left"][0]["why"]
    assert read(PATH) == b"{}\n"


@pytest.mark.parametrize("broken", [b"{", b'{"id": "a-k3v9k3v9", "content": "new words"'])
def test_what_was_typed_and_is_no_record_is_left_byte_for_byte(broken: bytes) -> None:
    clash()
    typed = read(PATH).replace(b"{\n", broken + b" more\n", 1)
    Path(PATH).write_bytes(typed)
    done = pmem("resolve", "--json")
    assert (done.code, done.data["repaired"]) == (1, [])
    assert "by hand" in done.data["left"][0]["why"]
    assert (read(PATH), unmerged()) == (typed, {PATH})


def test_an_edit_survives_a_purge_and_the_answer_says_so() -> None:
    branches({PATH: data(BASE)}, ours={PATH: b""}, theirs={PATH: data(THEIRS)})
    ok("checkout", "--quiet", "--force", "ours")
    assert git("merge", "--no-edit", "theirs").code == 1
    assert findings("unmerged") == {PATH}
    found = one(pmem("resolve", "--json"))
    assert found["decision"] == "kept"
    assert "purged it, the other changed it" in found["detail"]
    assert now() == THEIRS
    finish("merge")


def pair(style: str = "merge") -> Json:
    """Stop where git takes a new record for one that was purged, and merges an edit into it."""
    changed = edited(BASE, 3, importance=0.9)
    branches(
        {PATH: data(BASE)},
        ours={PATH: b"", TWIN_PATH: data(TWIN)},
        theirs={PATH: data(changed)},
    )
    ok("checkout", "--quiet", "--force", "ours")
    assert git("-c", f"merge.conflictStyle={style}", "merge", "--no-edit", "theirs").code == 1
    assert unmerged() == {TWIN_PATH}
    return changed


@pytest.mark.parametrize("style", STYLES)
def test_two_records_in_one_file_go_to_their_own(style: str) -> None:
    changed = pair(style)
    done = pmem("resolve", "--json")
    assert (done.code, len(done.data["repaired"])) == (0, 2), done.data
    assert (now(PATH), now(TWIN_PATH)) == (changed, TWIN)
    assert set(ok("diff", "--cached", "--name-only").split()) >= {PATH}
    ok("commit", "--quiet", "--message", "repaired")
    assert ok("status", "--porcelain", "--untracked-files=no") == ""


@pytest.mark.parametrize("committed", [False, True])
def test_what_the_driver_wrote_side_by_side_comes_apart(
    committed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(monkeypatch)
    changed = pair()
    assert b"<<<<<<< ours\n{" in read(TWIN_PATH)
    if committed:
        ok("commit", "--quiet", "--all", "--message", "unseen")
    done = pmem("resolve", "--json")
    assert (done.code, len(done.data["repaired"])) == (0, 2), done.data
    assert (now(PATH), now(TWIN_PATH)) == (changed, TWIN)


def test_a_contradiction_that_the_driver_wrote_down_needs_only_to_be_committed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begin(monkeypatch)
    clash()
    before = read(PATH)
    assert findings("unmerged") == findings("conflict") == {PATH}
    assert one(pmem("resolve", "--json"))["conflicts"] == ["content"]
    assert read(PATH) == before
    finish("merge")


@pytest.mark.parametrize("style", STYLES)
def test_records_mixed_in_one_file_are_left_once_the_stages_are_gone(style: str) -> None:
    pair(style)
    mixed = read(TWIN_PATH)
    ok("commit", "--quiet", "--all", "--message", "unseen")
    done = pmem("resolve", "--json")
    assert (done.code, done.data["repaired"]) == (1, [])
    assert BASE["id"] in done.data["left"][0]["why"]
    assert read(TWIN_PATH) == mixed


def test_the_drivers_own_form_comes_apart_without_git() -> None:
    shutil.rmtree(".git")
    changed = edited(BASE, 3, importance=0.9)
    older = edited(BASE, 2, tags=["old"])
    Path(TWIN_PATH).write_bytes(
        b"<<<<<<< ours\n" + data(TWIN) + b"=======\n" + data(changed) + b">>>>>>> theirs\n"
    )
    Path(PATH).write_bytes(data(older))
    done = pmem("resolve", "--json")
    assert (done.code, len(done.data["repaired"])) == (0, 2)
    assert now(TWIN_PATH) == TWIN
    assert keeps_all(now(PATH), Versions(None, older, changed), SHAPES[STORE])
    assert done.err == "2 records repaired\n"


@pytest.mark.parametrize("way", ["merge", "squash", "cherry-pick"])
@pytest.mark.parametrize("style", STYLES)
def test_committed_markers_keep_both_sides_as_the_text_has_them(way: str, style: str) -> None:
    clash(*WAYS[way][1][0], style=style)
    ok("commit", "--quiet", "--all", "--message", "unseen")
    ok("commit", "--quiet", "--allow-empty", "--message", "later")
    assert findings("markers") == {PATH}
    found = one(pmem("resolve", "--json"))
    assert "from the text between the markers" in found["detail"]
    assert keeps_all(now(), Versions(None, THEIRS, CLASH), SHAPES[STORE])
    assert found["conflicts"] == ["content"]


def test_markers_that_somebody_added_are_not_committed_after_a_repair() -> None:
    clash()
    ok("add", PATH)
    found = one(pmem("resolve", "--json"))
    assert "from the text between the markers" in found["detail"]
    finish("merge")
    assert json.loads(ok("show", f"HEAD:{PATH}")) == now()
    assert keeps_all(now(), Versions(None, THEIRS, CLASH), SHAPES[STORE])


def test_markers_left_by_a_reset_are_repaired_from_the_text() -> None:
    clash()
    ok("reset", "--quiet")
    one(pmem("resolve", "--json"))
    assert keeps_all(now(), Versions(None, THEIRS, CLASH), SHAPES[STORE])


def test_what_a_dead_writer_left_stays_where_nothing_may_be_written() -> None:
    Path(PATH).parent.mkdir(exist_ok=True)
    Path(PATH).write_bytes(data(BASE))
    steps = [{"path": PATH.removeprefix(f"{ROOT}/"), "staged": "0.json"}]
    left = Path(ROOT, "local", durable.STAGED)
    left.mkdir(parents=True)
    (left / "0.json").write_bytes(data(OURS))
    (left / "plan.json").write_text(json.dumps(steps), encoding="utf-8")
    before = bytes_of(ROOT, local=True)
    assert pmem("--read-only", "resolve", "--dry-run").code == 0
    assert bytes_of(ROOT, local=True) == before


@pytest.mark.parametrize("base", [BASE, TWIN], ids=["changed by both", "added by both"])
def test_an_octopus_that_stops_is_finished(base: Json) -> None:
    other = memory("Elsewhere", "c-00000000")
    branches(
        {path_of(STORE, base): data(base)},
        one={PATH: data(THEIRS)},
        two={PATH: data(CLASH)},  # git may leave one side there without a mark
        three={path_of(STORE, other): data(other)},
    )
    ok("checkout", "--quiet", "--force", "three")
    assert git("merge", "--no-edit", "one", "two").code != 0
    assert findings("unmerged") == unmerged() == {PATH}
    assert one(pmem("resolve", "--json"))["decision"] == "merged"
    known = BASE if base is BASE else None
    assert now() == merged(known, THEIRS, CLASH, SHAPES[STORE]).result
    finish("merge")


def test_branches_that_crossed_have_a_base_with_markers_and_merge_all_the_same() -> None:
    two(THEIRS, CLASH)
    ok("branch", "cross", "ours")
    for here, there in (("cross", "theirs"), ("theirs", "ours")):
        ok("checkout", "--quiet", "--force", here)
        assert git("merge", "--no-edit", there).code == 1
        one(pmem("resolve", "--json"))
        ok("commit", "--quiet", "--no-edit")
        later = edited(now(), 20 if here == "cross" else 21, importance=0.1, category=here)
        Path(PATH).write_bytes(data(later))
        ok("commit", "--quiet", "--all", "--message", here)
    assert git("merge", "--no-edit", "cross").code == 1
    assert b"<<<<<<<" in ok("show", f":1:{PATH}").encode()
    one(pmem("resolve", "--json"))
    assert now()["category"] == "theirs"
    assert now()["importance"] == 0.1


def test_other_files_are_named_and_not_touched() -> None:
    page, notes = f"{ROOT}/README.md", f"{ROOT}/long-term-memory/notes.txt"
    branches(
        {PATH: data(BASE), page: b"# one\n", notes: b"one\n"},
        ours={PATH: data(THEIRS), page: b"# two\n", notes: b"two\n"},
        theirs={PATH: data(CLASH), page: b"# three\n", notes: b"three\n"},
    )
    ok("checkout", "--quiet", "--force", "ours")
    git("merge", "--no-edit", "theirs")
    before = {path: read(path) for path in (page, notes)}
    assert findings("unmerged") == {PATH, page, notes}
    done = pmem("resolve", "--json")
    assert done.code == 1
    assert [os.path.relpath(left["path"]) for left in done.data["left"]] == [page, notes]
    assert before == {path: read(path) for path in (page, notes)}
    assert unmerged() == {page, notes}
    assert now() == WHOLE.result


@pytest.mark.parametrize("damage", ["no JSON", "newer", "empty", "another id"])
def test_a_side_that_is_no_record_is_left_with_advice(damage: str) -> None:
    other = {
        "no JSON": b"{,",
        "newer": data({**CLASH, "schema": 2}),
        "empty": b"\n",
        "another id": data({**CLASH, "id": "no id"}),
    }[damage]
    branches({PATH: data(BASE)}, ours={PATH: data(THEIRS)}, theirs={PATH: other})
    ok("checkout", "--quiet", "--force", "ours")
    assert git("merge", "--no-edit", "theirs").code == 1
    before = bytes_of(ROOT)
    done = pmem("resolve", "--json")
    (left,) = done.data["left"]
    assert done.code == 1
    assert "theirs is not as pmem writes it" in left["why"]
    assert "git checkout --ours" in left["why"]
    assert bytes_of(ROOT) == before
    assert unmerged() == {PATH}


def test_a_dry_run_says_the_same_and_changes_nothing() -> None:
    clash()
    before = bytes_of(".", local=True)
    dry = pmem("resolve", "--dry-run", "--json")
    assert bytes_of(".", local=True) == before
    assert pmem("resolve", "--json").data == dry.data


@pytest.mark.some(8)
@pytest.mark.parametrize("how", ["stages", "committed", "added", "two records"])
@pytest.mark.parametrize("step", range(6))
def test_killed_anywhere_it_is_finished_by_the_next_run(
    how: str, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair() if how == "two records" else clash()
    if how == "added":
        ok("add", PATH)
    if how == "committed":
        ok("commit", "--quiet", "--all", "--message", "unseen")
    with monkeypatch.context() as patched:
        steps = _dying(patched, step)
        pmem("resolve")
    assert steps > 0
    done = pmem("resolve")
    assert done.code == 0, done
    assert unmerged() == set()
    if how == "two records":
        assert (now(PATH)["importance"], now(TWIN_PATH)) == (0.9, TWIN)
    elif how == "stages":
        assert now() == WHOLE.result
    else:
        assert keeps_all(now(), Versions(None, THEIRS, CLASH), SHAPES[STORE])
    git("commit", "--quiet", "--no-edit", "--message", "repaired")
    assert ok("status", "--porcelain", "--untracked-files=no") == ""


def _dying(patched: pytest.MonkeyPatch, step: int) -> int:
    """Let a run die before or after one of its three steps that change something."""
    calls = iter(range(100))

    def deadly(real: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            number = next(calls)
            if step == 2 * number:
                raise RuntimeError("killed")
            real(*arguments)
            if step == 2 * number + 1:
                raise RuntimeError("killed")

        return run

    patched.setattr(MergeState, "place_all", deadly(MergeState.place_all))
    patched.setattr(durable, "apply", deadly(durable.apply))
    return 3


def test_a_git_that_is_running_is_waited_for_by_the_user() -> None:
    clash()
    Path(".git/index.lock").write_bytes(b"")
    done = pmem("resolve", "--json")
    assert (done.code, done.error["code"]) == (6, "locked")
    assert "index.lock" in done.error["hint"]
    os.unlink(".git/index.lock")
    assert one(pmem("resolve", "--json"))["decision"] == "merged"
    finish("merge")


@pytest.mark.parametrize(
    ("command", "step"),
    [
        (("merge", "theirs"), "git merge --continue"),
        (("rebase", "theirs"), "git rebase --continue"),
        (("rebase", "--apply", "theirs"), "git rebase --continue"),
        (("cherry-pick", "theirs"), "git cherry-pick --continue"),
        (("merge", "--squash", "theirs"), "git commit"),
    ],
)
def test_the_answer_ends_with_the_next_step(command: tuple[str, ...], step: str) -> None:
    clash(*command)
    settle = "pmem resolve k3v9k3v9 with --ours or --theirs"
    assert pmem("resolve").err == f"1 record repaired; next: {settle}, then {step}\n"
    assert ok("diff", "--name-only", "--diff-filter=U") == ""


@pytest.mark.parametrize("way", ["merge", "rebase", "cherry-pick", "revert"])
def test_what_was_repaired_can_still_be_aborted(way: str) -> None:
    commands = {"rebase": ("rebase", "theirs"), "cherry-pick": ("cherry-pick", "theirs")}
    if way == "revert":
        chain = edited(edited(BASE, 2, content="We use Oracle"), 3, content="We use SQLite")
        two(THEIRS, CLASH)
        Path(PATH).write_bytes(data(chain))
        ok("commit", "--quiet", "--all", "--message", "on top")
        assert git("revert", "--no-edit", "HEAD~1").code == 1
    else:
        clash(*commands.get(way, ()))
    before = ok("show", f"{'ORIG_HEAD' if way == 'rebase' else 'HEAD'}:{PATH}")
    one(pmem("resolve", "--json"))
    ok(way, "--abort")
    assert read(PATH).decode() == before


def test_what_is_unmerged_outside_the_memory_is_counted() -> None:
    branches(
        {PATH: data(BASE), "code": b"1\n"},
        ours={PATH: data(THEIRS), "code": b"2\n"},
        theirs={PATH: data(CLASH), "code": b"3\n"},
    )
    ok("checkout", "--quiet", "--force", "ours")
    git("merge", "--no-edit", "theirs")
    assert findings("unmerged") == {PATH}
    done = pmem("resolve")
    assert done.code == 0
    assert "1 more path" in done.err
    assert unmerged() == {"code"}


def test_a_repository_with_longer_names_of_objects_is_repaired_too() -> None:
    shutil.rmtree(".git")
    ok("init", "--quiet", "--initial-branch=main", "--object-format=sha256")
    branches({PATH: data(BASE)}, ours={PATH: b""}, theirs={PATH: data(THEIRS)})
    ok("checkout", "--quiet", "--force", "ours")
    assert git("merge", "--no-edit", "theirs").code == 1
    assert one(pmem("resolve", "--json"))["decision"] == "kept"
    pair()
    assert pmem("resolve").code == 0
    finish("merge")


def test_a_store_that_is_a_link_is_left(tmp_path: Path) -> None:
    clash()
    aside = tmp_path / "aside"
    shutil.move(f"{ROOT}/{STORE}", aside)
    os.symlink(aside, f"{ROOT}/{STORE}")
    before = bytes_of(str(aside))
    assert pmem("resolve").code != 0
    assert bytes_of(str(aside)) == before


def test_nothing_of_the_project_is_run() -> None:
    clash()
    Path(".git/hooks/post-index-change").write_text("#!/bin/sh\ntouch ran\n", encoding="utf-8")
    Path(".git/hooks/post-index-change").chmod(0o755)
    ok("config", "filter.evil.clean", "touch ran; cat")
    Path(ROOT, ".gitattributes").write_text("*.json filter=evil\n", encoding="utf-8")
    one(pmem("resolve", "--json"))
    assert not os.path.exists("ran")
    assert not os.path.exists(f"{ROOT}/ran")
