"""What the memory learned between two revisions, and which commits made a record what it is."""

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem import Project
from pmem.core.changelog import ChangeReason, compare
from pmem.core.visible import escape_markdown
from tests.cli.shell import pmem
from tests.conftest import NOW
from tests.effort import examples
from tests.git.branches import ROOT, commit
from tests.git.branches import ok as git
from tests.strategies import memories

HOSTILE: Final = (
    "<script>alert(1)</script> | a | b | @everyone @org/team #12 org/repo#13 GH-14 ![x](http://e.org/x)"
    " [click](javascript:1) **bold** `code` ~~gone~~ $x$ https://e.org www.e.org mail@e.org"
    " &lt; \\ \u202e txt\n# heading\n- item\n```\nfence"
)


@pytest.fixture
def project() -> Project:
    """Return a memory in a repository whose first commit has nothing remembered."""
    git("init", "--quiet", "--initial-branch=main")
    assert pmem("init").code == 0
    commit("start")
    return Project(ROOT, actor="ada", now=NOW)


def told(*arguments: str) -> dict[str, Any]:
    done = pmem("log", *(arguments or ("HEAD..",)), "--json")
    assert done.code == 0, done.said
    data: dict[str, Any] = json.loads(done.out)["data"]
    assert data["total"] == sum(len(data[name]) for name in ("learned", "changed", "forgotten"))
    return data


def ids(entries: list[dict[str, Any]], how: str) -> list[str]:
    return [entry["id"] for entry in entries if entry["how"] == how]


def test_every_way_to_come_to_change_and_to_go_is_told(project: Project) -> None:
    edited, removed, purged, pinned, old, back = (
        project.add(f"{text} is known", type="decision").memory.id
        for text in ("Rye", "Dough", "Flour", "Yeast", "Salt", "Water")
    )
    project.remove(back)
    commit()
    project.edit(edited, "Rye keeps for a week", importance=0.9)
    project.remove(removed)
    project.purge(purged, force=True)
    project.pin(pinned)
    project.link(pinned, edited, "supports")
    new = project.supersede(old, "Sea salt is better").memory.id
    project.restore(back)
    episode = project.add_episode("The oven broke", title="Oven").id
    found = told("HEAD..")

    assert ids(found["learned"], "added") == [new, episode]
    assert ids(found["learned"], "restored") == [back]
    assert [entry["replaces"] for entry in found["learned"] if entry["id"] == new] == [[old]]
    fields = {entry["id"]: entry["fields"] for entry in found["changed"]}
    assert fields == {
        edited: {
            "content": {"before": "Rye is known", "after": "Rye keeps for a week"},
            "importance": {"before": 0.7, "after": 0.9},
        },
        pinned: {"pinned": {"before": False, "after": True}},
    }
    link = {"type": "supports", "target": edited, "strength": 0.5}
    assert [entry["linked"] for entry in found["changed"] if entry["id"] == pinned] == [[link]]
    assert ids(found["forgotten"], "removed") == [removed]
    assert ids(found["forgotten"], "purged") == [purged]
    assert [(entry["id"], entry["by"]) for entry in found["forgotten"] if entry["by"]] == [
        (old, new)
    ]


def test_the_ends_of_a_range_are_those_of_git(project: Project) -> None:
    commits = [git("rev-parse", "HEAD").strip()]
    for text in ("Rye", "Dough"):
        project.add(f"{text} is known")
        commits.append(commit())
    git("checkout", "--quiet", "-b", "side", "HEAD~1")
    project.add("Flour is dear")
    commits.append(commit())
    project.add("Yeast is cheap")
    start, one, main, side = commits
    for line, left, right, texts in (
        ("main..side", main, side, {"Flour is dear"}),
        ("main...side", one, side, {"Flour is dear"}),
        (f"{start}..main", start, main, {"Rye is known", "Dough is known"}),
        (f"{start}..side", start, side, {"Rye is known", "Flour is dear"}),
        (f"{start}..", start, None, {"Rye is known", "Flour is dear", "Yeast is cheap"}),
        ("main...", one, None, {"Flour is dear", "Yeast is cheap"}),
        ("..main", side, main, {"Dough is known"}),
        ("HEAD..", side, None, {"Yeast is cheap"}),
    ):
        found = told(line)
        assert (found["from"]["commit"], found["to"]["commit"]) == (left, right), line
        assert {entry["text"] for entry in found["learned"]} == texts, line
    assert told("main..side")["forgotten"][0]["how"] == "purged"


def test_nothing_that_changed_is_said_and_is_no_failure(project: Project) -> None:
    project.add("Rye is known")
    commit()
    done = pmem("log", "HEAD..HEAD")
    assert (done.code, done.out) == (0, b"")
    assert done.said.startswith("nothing changed between ")
    assert b"nothing changed" in pmem("log", "HEAD..", "--format", "markdown").out


def test_keeping_the_books_is_no_change(project: Project) -> None:
    identifier = project.add("Rye is known").memory.id
    commit()
    project.show(identifier)
    project.consolidate()
    assert git("status", "--porcelain") != ""
    assert told()["total"] == 0


def test_from_before_the_memory_everything_is_learned(project: Project) -> None:
    git("checkout", "--quiet", "--orphan", "empty")
    git("rm", "-r", "--quiet", "--cached", ".")
    git("commit", "--quiet", "--allow-empty", "--message", "nothing")
    git("checkout", "--quiet", "--force", "main")
    project.add("Rye is known")
    commit()
    assert len(told("empty..main")["learned"]) == 1
    assert pmem("log", "empty..empty").code == 3
    unrelated = pmem("log", "empty...main")
    assert (unrelated.code, unrelated.said.count("no common ancestor")) == (3, 1)


@pytest.mark.parametrize(
    "line", ["nowhere..HEAD", "-x..HEAD", "HEAD..a b", "a..b..c", "HEAD:x", "--", "", " "]
)
def test_what_is_no_range_gets_one_sentence(line: str, project: Project) -> None:
    done = pmem("log", "--", line)
    assert (done.code, done.out) == (3, b"")
    assert done.said.startswith("pmem: ")
    assert done.said.count("\n") == 2


def test_a_damaged_record_is_not_told_to_be_gone(project: Project) -> None:
    identifier = project.add("Rye is known").memory.id
    commit()
    path = Path(ROOT, "long-term-memory", f"{identifier}.json")
    path.write_text("{")
    done = pmem("log", "HEAD..")
    assert (done.code, done.out) == (0, b"")
    assert "left out" in done.said
    commit("broken")
    done = pmem("log", "HEAD~1..HEAD")
    assert (done.code, done.out) == (0, b"")
    assert f"left out: HEAD:{path} is not valid JSON" in done.said


def test_a_page_for_a_pull_request_is_safe_to_show(project: Project) -> None:
    project.add(HOSTILE, subject="<img src=x onerror=1>|@kim")
    edited = project.add("Rye").memory.id
    commit()
    project.edit(edited, HOSTILE + " again")
    page = pmem("log", "HEAD~1..", "--format", "markdown").text
    entries = [line for line in page.splitlines() if line.startswith("- ")]
    assert len(entries) == 2
    assert "<" not in page
    assert all(page[place + 1 :].startswith("&#8203;") for place in places(page, "@"))
    shown = [line for line in page.splitlines() if "script" in line]
    for sign in "|[]*~":
        for line in shown:
            body = line.removeprefix("- **").replace("** ", " ", 1)
            assert all(body[place - 1] == "\\" for place in places(body, sign)), (sign, line)
    assert "\u202e" not in page
    assert "://" not in page


def test_what_a_history_written_by_hand_holds_does_nothing_on_a_page(project: Project) -> None:
    old = project.add("Salt is fine").memory.id
    other = project.add("Rye is fine").memory.id
    commit()
    project.supersede(old, "Sea salt is better")
    project.link(other, old, "supports")
    for identifier in (old, other):
        path = Path(ROOT, "long-term-memory", f"{identifier}.json")
        text = re.sub(r'"(by|target)": "[^"]*"', r'"\1": "x-<img>@kim"', path.read_text())
        path.write_text(text.replace('"supports"', '"<b>"'))
    page = pmem("log", "HEAD..", "--format", "markdown").text
    assert "Replaced" in page
    assert "&lt;b&gt; &lt;img&gt;@&#8203;kim" in page
    assert "<" not in page


def places(text: str, sign: str) -> list[int]:
    return [place for place, other in enumerate(text) if other == sign]


def test_a_page_groups_by_what_happened_and_sorts_by_type(project: Project) -> None:
    for text, type_ in (("Known", "fact"), ("Fixed", "constraint"), ("Chosen", "decision")):
        project.add(f"{text} is the rye", type=type_)
    old = project.add("Salt is fine", subject="salt").memory.id
    commit()
    new = project.supersede(old, "Sea salt is better").memory.id
    learned = told("HEAD~1..HEAD")["learned"]
    lines = pmem("log", "HEAD~1..HEAD", "--format", "markdown").text.splitlines()
    assert lines[3:6] == ["", "### Learned (4)", ""]
    assert lines[6:9] == [
        f"- **{entry['type']}** {entry['text']} `{entry['short']}`" for entry in learned[:3]
    ]
    types = [entry["type"] for entry in learned]
    assert types == ["decision", "constraint", "fact", "fact"]
    short = new.rpartition("-")[2]
    assert (
        f"- **fact** salt: Salt is fine → Sea salt is better ({short}) `{old.rpartition('-')[2]}`"
        in pmem("log", "HEAD..", "--format", "markdown").text
    )


def test_a_page_stays_within_what_a_summary_takes(project: Project) -> None:
    project.add_all([])
    for number in range(250):
        project.add("@" * 3000 + str(number), force=True, subject="@" * 90 + str(number))
    page = pmem("log", "HEAD..", "--format", "markdown").out
    assert len(page) < 1024 * 1024
    assert b"- and 50 more" in page


@given(st.text())
def test_escaped_text_is_one_line_without_an_open_sign(text: str) -> None:
    line = escape_markdown(text)
    assert "\n" not in line
    assert "\r" not in line
    assert not set("<>$") & set(line)
    assert escape_markdown(text) == escape_markdown(" ".join(text.split()))


RECORDS: Final = st.lists(memories, max_size=4).map(lambda found: {it.id: it for it in found})


@settings(max_examples=examples(30))
@given(RECORDS, RECORDS)
def test_a_comparison_backwards_forgets_what_was_learned(before: Any, after: Any) -> None:
    there, back = compare(before, after), compare(after, before)
    active = {entry.id for entry in there.learned if entry.how is ChangeReason.ADDED}
    assert active <= {entry.id for entry in back.forgotten}
    assert {entry.id for entry in there.changed} == {entry.id for entry in back.changed}
    assert compare(before, before) == compare({}, {})


def traced(reference: str) -> dict[str, Any]:
    """Return what `log REF --git` says, with its commits from the oldest on."""
    done = pmem("log", reference, "--git", "--json")
    assert done.code == 0, done.said
    data: dict[str, Any] = json.loads(done.out)["data"]
    data["commits"].reverse()
    return data


def test_an_edit_by_hand_is_told_with_its_commit(project: Project) -> None:
    identifier = project.add("Rye is known").memory.id
    commit("first words")
    path = Path(ROOT, "long-term-memory", f"{identifier}.json")
    path.write_text(path.read_text().replace("Rye is known", "Rye is loved"))
    by_hand = commit("by hand")
    project.pin(identifier)
    commit("pinned")
    found = traced(identifier)
    assert [touch["subject"] for touch in found["commits"]] == ["first words", "by hand", "pinned"]
    assert [touch["what"] for touch in found["commits"]] == ["added", "changed", "changed"]
    content = {"content": {"before": "Rye is known", "after": "Rye is loved"}}
    assert found["commits"][1]["fields"] == content
    assert found["origin"]["commit"] == by_hand
    assert found["origin"]["author"] == "Kim"
    assert "(the present content)" in pmem("log", identifier, "--git").text
    project.edit(identifier, "Rye is baked")
    assert traced(identifier)["origin"] is None


def test_a_purged_record_is_still_known_to_git(project: Project) -> None:
    identifier = project.add("Rye is known").memory.id
    commit("learn")
    project.purge(identifier, force=True)
    gone = commit("forget")
    found = traced(identifier[-8:])
    assert (found["id"], found["present"], found["origin"]) == (identifier, False, None)
    assert [touch["what"] for touch in found["commits"]] == ["added", "removed"]
    assert found["commits"][-1]["commit"] == gone
    assert [event["event"] for event in found["events"]] == ["ADD"]
    assert pmem("log", identifier).code == 3
    assert pmem("log", "zzzzzzzz", "--git").code == 3


def test_a_record_that_came_and_went_on_a_side_branch_is_known(project: Project) -> None:
    git("checkout", "--quiet", "-b", "side")
    identifier = project.add("Rye is known").memory.id
    commit("learn")
    project.purge(identifier, force=True)
    commit("forget")
    git("checkout", "--quiet", "main")
    git("merge", "--quiet", "--no-ff", "--no-edit", "side")
    assert [touch["what"] for touch in traced(identifier)["commits"]] == ["added", "removed"]


def test_the_present_content_comes_from_the_branch_that_wrote_it(project: Project) -> None:
    identifier = project.add("Rye is known").memory.id
    commit("learn")
    git("checkout", "--quiet", "-b", "side")
    project.edit(identifier, "Rye is loved")
    wrote = commit("write")
    git("checkout", "--quiet", "main")
    project.add("Dough rests")
    commit("other")
    git("merge", "--quiet", "--no-edit", "side")
    found = traced(identifier)
    assert [touch["subject"] for touch in found["commits"]] == ["learn", "write"]
    assert found["origin"]["commit"] == wrote


def test_a_damaged_version_is_a_commit_like_others(project: Project) -> None:
    identifier = project.add("Rye is known").memory.id
    commit("learn")
    path = Path(ROOT, "long-term-memory", f"{identifier}.json")
    good = path.read_text()
    path.write_text("{")
    commit("break")
    path.write_text(good)
    commit("mend")
    assert [touch["what"] for touch in traced(identifier)["commits"]] == [
        *("added", "damaged", "changed"),
    ]


def test_commits_lead_back_from_a_record_that_cannot_be_read(project: Project) -> None:
    identifier = project.add("Rye is known").memory.id
    commit("learn")
    Path(ROOT, "long-term-memory", f"{identifier}.json").write_text("<<<<<<< ours\n")
    found = traced(identifier)
    assert ([touch["what"] for touch in found["commits"]], found["present"]) == (["added"], False)
    assert [event["event"] for event in found["events"]] == ["ADD"]
    fresh = project.add("Barley is new").memory.id
    Path(ROOT, "long-term-memory", f"{fresh}.json").write_text("{")
    assert pmem("log", fresh, "--git").code == 5


def test_a_record_without_a_commit_says_so(project: Project) -> None:
    identifier = project.add("Rye is known").memory.id
    done = pmem("log", identifier, "--git")
    assert (done.code, done.out) == (0, b"")
    assert done.said == f"no commit has memory {identifier} yet\n"


def test_commits_end_at_the_revision_that_is_looked_at(project: Project) -> None:
    identifier = project.add("Rye is known").memory.id
    commit("learn")
    project.edit(identifier, "Rye is loved")
    commit("write")
    done = pmem("log", identifier, "--git", "--at", "HEAD~1")
    assert (done.code, done.out.count(b"\n")) == (0, 1)
    assert pmem("log", identifier, "--git", "--at", "1d").code == 2


def test_a_control_character_in_a_commit_does_nothing(project: Project) -> None:
    identifier = project.add("Rye is known").memory.id
    commit("learn \x1b]0;title\x07 \x01")
    done = pmem("log", identifier, "--git")
    assert b"\x1b" not in done.out
    assert len(traced(identifier)["commits"]) == 1
