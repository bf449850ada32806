"""A memory of one's own: where it is, who is shown it beside a project's, what never gets there."""

import json
import os
import stat
import string
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem import Project
from pmem.core.context.parts import Context
from pmem.core.context.worth import SEAM
from pmem.errors import InvalidValue, NoProject, Refused, UsageError
from pmem.project.setup import write_setting
from pmem.project.workspace import Workspace
from pmem.storage.files.worktree import own_folder
from tests.cli.shell import pmem
from tests.conftest import NOW
from tests.effort import examples

RULE: Final = "I prefer small commits"
FACT: Final = "My laptop cannot run the zebra database in a container"
SECRET: Final = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def own_project(**options: Any) -> Project:
    return Project.mine(actor="ada", now=NOW, **options)


def project(root: str, **options: Any) -> Project:
    return Project(root, actor="ada", now=NOW, **options)


def yours(built: Context) -> list[str]:
    return [item.text for part in built.sections if part.name == "yours" for item in part.items]


def files(root: str) -> dict[str, bytes]:
    """Return what stands in every file below a folder."""
    return {str(path): path.read_bytes() for path in Path(root).rglob("*") if path.is_file()}


@pytest.fixture
def mine() -> dict[str, str]:
    """Keep a rule and a fact of one's own, and return their ids."""
    own = own_project()
    return {
        RULE: own.add(RULE, "preference").memory.id,
        FACT: own.add(FACT).memory.id,
    }


def test_it_stands_where_the_user_keeps_data_and_is_nobody_elses(mine: dict[str, str]) -> None:
    folder = Path(os.environ["HOME"], ".local", "share", "pmem", ".project-memory")
    assert own_folder(os.environ) == str(folder)
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    assert len(list((folder / "long-term-memory").iterdir())) == len(mine)


def test_a_relative_data_folder_counts_for_nothing() -> None:
    assert own_folder({"XDG_DATA_HOME": "data", "HOME": "/home/ada"}).startswith("/home/ada/.local")
    assert own_folder({"XDG_DATA_HOME": "/data"}) == "/data/pmem/.project-memory"


def test_it_is_made_at_the_first_write_and_never_by_a_read() -> None:
    folder = own_folder(os.environ)
    for command in (
        ["list"],
        ["search", "x"],
        ["context"],
        ["rm", "k3v9"],
        ["stats"],
        ["check", "setup"],
    ):
        done = pmem(*command, "--mine")
        assert done.code == 4
        assert "pmem add --mine" in done.said
    assert pmem("add", RULE, "--mine", "--read-only").code == 4
    assert not os.path.exists(folder)
    with pytest.raises(NoProject):
        own_project(read_only=True)
    assert pmem("add", RULE, "--mine").code == 0
    assert os.path.isdir(folder)


def test_it_works_outside_of_any_project() -> None:
    assert pmem("--mine", "init").code == 0
    assert pmem("conversation", "start", "--mine").code == 0
    assert pmem("tried", "sed", "--failed", "no such flag", "--mine").code == 0
    assert pmem("search", "sed", "--mine").code == 0
    assert pmem("list").code == 4


def test_a_context_of_a_project_has_a_block_of_it(root: str, mine: dict[str, str]) -> None:
    here = project(root)
    here.add("The ledger is in the zebra database", "decision")
    built = here.build_context("which zebra database", budget=2000, mine=True)
    assert yours(built) == [RULE, FACT]
    assert "## Yours (not part of this project)\n```\n" in built.text
    assert {item.mine for part in built.sections for item in part.items} == {True, False}
    assert yours(here.build_context(budget=2000, mine=True)) == [RULE]
    assert yours(here.build_context("which zebra database", budget=2000)) == []


def test_what_is_pinned_comes_first_and_rules_leave_room_for_answers(root: str) -> None:
    own = own_project()
    own.add("Call me Ada", pinned=True)
    for number in range(40):
        own.add(f"I prefer the tool of number {number} over others", "preference", force=True)
    own.add(FACT)
    built = project(root).build_context("which zebra database", budget=2000, mine=True)
    assert yours(built)[0] == "Call me Ada"
    assert FACT in yours(built)
    left = [one for one in built.omitted if one.mine is True]
    assert {one.reason for one in left} == {"over_budget"}
    assert len(left) + len(yours(built)) == 42


def test_it_takes_its_share_of_the_budget_and_no_more(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = own_project()
    for number in range(60):
        own.add(f"I prefer the tool of number {number} over others", "preference", force=True)
    for share in (0.0, 0.05, 0.3):
        monkeypatch.setattr("pmem.search.own_part.SHARE", share)
        built = project(root).build_context("the tool", budget=2000, mine=True)
        (spent,) = [part.tokens for part in built.sections if part.name == "yours"] or [0]
        assert spent <= share * 2000 + SEAM
        assert bool(spent) == bool(share)


def test_what_the_project_says_as_well_is_shown_once(root: str, mine: dict[str, str]) -> None:
    here = project(root)
    here.add(RULE, "preference", pinned=True)
    built = here.build_context("small commits", budget=2000, mine=True)
    assert built.text.count(RULE) == 1
    assert yours(built) == []
    assert [(one.id, one.reason) for one in built.omitted if one.mine is True] == [
        (mine[RULE], "repeated")
    ]


def test_what_is_hidden_or_over_is_not_brought_in(root: str) -> None:
    own = own_project()
    gone = own.add("I prefer tabs", "preference").memory.id
    own.remove(gone)
    own.add(
        "I preferred vim",
        "preference",
        valid_until=NOW.replace(year=2020),
        valid_from=NOW.replace(year=2019),
    )
    assert yours(project(root).build_context(budget=2000, mine=True)) == []


def test_a_fence_and_a_secret_of_it_are_held_like_everything(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PMEM_SECRETS_GATE", "off")
    own_project().add(f"I prefer ````` and the token {SECRET}", "preference")
    monkeypatch.delenv("PMEM_SECRETS_GATE")
    write_setting(f"{root}/config.toml", "secrets.allow", [SECRET])
    built = project(root).build_context(budget=2000, mine=True)
    assert "\n``````\n- I prefer `````" in built.text
    assert SECRET not in built.text
    assert SECRET not in str(project(root).search("token", mine=True).yours)


def test_it_is_for_no_app_and_not_for_ci(root: str, mine: dict[str, str]) -> None:
    here = project(root)
    assert yours(here.build_context(budget=2000, mine=True, app="shop")) == []
    assert yours(project(root, app="shop").build_context(budget=2000, mine=True)) == []
    assert project(root, app="shop").search("commits", mine=True).yours == ()
    told = pmem("context", environment={"CI": "true"}).text
    assert RULE not in told
    assert RULE in pmem("context", environment={"CI": "0"}).text
    talk = here.start_conversation(app="shop")
    assert yours(here.build_context(budget=2000, mine=True, conversation=talk.id)) == []


def test_an_agent_that_a_project_holds_back_sees_it_only_if_its_owner_says_so(
    root: str, mine: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert yours(project(root, agent="planner").build_context(budget=2000, mine=True)) == [RULE]
    write_setting(f"{root}/config.toml", "allowlists.planner", ["preference", "knowledge"])
    held = project(root, agent="planner")
    assert yours(held.build_context(budget=2000, mine=True)) == []
    assert held.search("commits", mine=True).yours == ()
    write_setting(f"{root}/config.toml", "mine.agents", ["planner"])
    assert yours(held.build_context(budget=2000, mine=True)) == []
    monkeypatch.setenv("PMEM_MINE_AGENTS", "planner")
    granted = project(root, agent="planner")
    assert yours(granted.build_context(budget=2000, mine=True)) == [RULE]
    write_setting(f"{own_folder(os.environ)}/config.toml", "allowlists.planner", ["goals"])
    assert yours(granted.build_context(budget=2000, mine=True)) == []


def test_a_project_switches_it_off_and_never_on(root: str, mine: dict[str, str]) -> None:
    config = Path(os.environ["HOME"], ".config", "pmem", "config.toml")
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("[mine]\ncontexts = false\n")
    write_setting(f"{root}/config.toml", "mine.contexts", value=True)
    assert yours(project(root).build_context(budget=2000, mine=True)) == []
    config.unlink()
    write_setting(f"{root}/config.toml", "mine.contexts", value=False)
    assert yours(project(root).build_context(budget=2000, mine=True)) == []


def test_an_agent_uses_it_directly_only_if_its_owner_says_so(mine: dict[str, str]) -> None:
    folder = own_folder(os.environ)
    for line in (["list", "--mine"], ["-C", folder, "list"], ["show", mine[RULE], "--mine"]):
        done = pmem(*line, environment={"PMEM_AGENT": "planner"})
        assert done.code == 7
        assert RULE not in done.text
        granted = {"PMEM_AGENT": "planner", "PMEM_MINE_AGENTS": "planner"}
        assert pmem(*line, environment=granted).code == 0
    with pytest.raises(Refused):
        own_project(agent="planner").list()
    with pytest.raises(Refused):
        own_project(app="shop").list()


def test_a_search_of_a_project_names_what_is_yours_apart(root: str, mine: dict[str, str]) -> None:
    here = project(root)
    here.add("The ledger is in the zebra database")
    found = here.search("zebra database", mine=True)
    assert [hit.id for hit in found.yours] == [mine[FACT]]
    assert mine[FACT] not in {hit.id for hit in found.hits}
    assert here.search("zebra database").yours == ()
    assert here.search("zebra", mine=True, kinds=("message",)).yours == ()


def test_a_damaged_memory_of_ones_own_keeps_nobody_from_the_projects(
    root: str, mine: dict[str, str]
) -> None:
    here = project(root)
    here.add("The ledger is in the zebra database")
    Path(own_folder(os.environ), "config.toml").write_text("chunk_size = [\n")
    built = here.build_context("zebra", budget=2000, mine=True)
    assert "The ledger" in built.text
    assert any(note.startswith("your own memory is left out: ") for note in built.notes)
    assert here.search("zebra", mine=True).hits


def test_a_moment_of_the_project_is_one_of_ones_own_memory_too(
    root: str, mine: dict[str, str]
) -> None:
    here = project(root)
    assert yours(here.at(NOW.replace(year=2025)).build_context(budget=2000, mine=True)) == []
    assert yours(here.at(NOW).build_context(budget=2000, mine=True)) == [RULE]


def test_nothing_of_it_stands_in_the_project_after_everything_was_asked(
    root: str, mine: dict[str, str]
) -> None:
    here = project(root)
    here.add("The ledger is in the zebra database", "decision")
    for line in (
        ["context", "zebra database", "--thread", "t", "--explain"],
        ["search", "zebra database"],
        ["search", "commits", "--worktrees"],
        ["consolidate"],
        ["check", "setup"],
        ["check", "records"],
    ):
        assert pmem(*line).code in (0, 1)
    told = {"session_id": "s", "cwd": os.getcwd(), "prompt": "commits to the zebra database"}
    for event in ("session-start", "prompt", "prompt"):
        done = pmem("hook", event, "--harness", "codex", stdin=json.dumps(told).encode())
        assert done.code == 0
    for data in files(root).values():
        for identifier, text in ((mine[RULE], RULE), (mine[FACT], FACT)):
            assert text.encode() not in data
            assert identifier.encode() not in data
            assert identifier.rpartition("-")[2].encode() not in data


def test_reading_changes_no_record_of_either(root: str, mine: dict[str, str]) -> None:
    project(root).add("The ledger is in the zebra database", "decision")

    def records() -> dict[str, bytes]:
        places = (root, own_folder(os.environ))
        return {
            path: data
            for place in places
            for path, data in files(place).items()
            if "/local/" not in path
        }

    before = records()
    for line in (["context", "zebra"], ["context"], ["search", "commits"]):
        assert pmem(*line).code == 0
    assert records() == before


def test_a_session_is_told_of_it_once_at_its_start_or_where_it_answers(
    root: str, mine: dict[str, str]
) -> None:
    def told(event: str, **more: str) -> str:
        given = {"session_id": "s", "cwd": os.getcwd(), **more}
        return pmem(
            "hook", event, "--harness", "claude-code", stdin=json.dumps(given).encode()
        ).text

    assert RULE in told("session-start", source="startup")
    asked = "can my laptop run the zebra database in a container?"
    assert FACT in told("prompt", prompt=asked)
    assert FACT not in told("prompt", prompt=asked)
    asked = "how small shall commits be, small commits?"
    assert RULE not in told("prompt", prompt=asked)
    assert RULE in told("prompt", prompt=asked, session_id="t")


def test_sharing_copies_it_once_and_says_where_from(root: str, mine: dict[str, str]) -> None:
    here = project(root)
    added = here.share(mine[RULE])
    assert added.action == "added"
    assert added.memory.content == RULE
    assert added.memory.source.memory == mine[RULE]
    assert added.memory.id != mine[RULE]
    assert here.share(mine[RULE]).action == "suggested"
    assert here.share(mine[RULE], force=True).action == "added"
    assert [memory.id for memory in own_project().list().items] == [mine[RULE], mine[FACT]]


def test_a_secret_is_not_shared(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMEM_SECRETS_GATE", "off")
    name = own_project().add(f"My token is {SECRET}").memory.id
    monkeypatch.delenv("PMEM_SECRETS_GATE")
    done = pmem("share", name)
    assert done.code == 10 or "secret" in done.said
    assert SECRET not in done.said
    assert project(root).list().items == ()


def test_sharing_needs_a_project_a_person_and_a_memory_that_holds(
    root: str, mine: dict[str, str]
) -> None:
    with pytest.raises(UsageError):
        own_project().share(mine[RULE])
    with pytest.raises(Refused):
        project(root, agent="planner").share(mine[RULE])
    with pytest.raises(Refused):
        project(root, app="shop").share(mine[RULE])
    own_project().remove(mine[RULE])
    with pytest.raises(InvalidValue):
        project(root).share(mine[RULE])


def test_doctor_tells_when_others_can_read_it(root: str, mine: dict[str, str]) -> None:
    top = Path(own_folder(os.environ)).parent
    top.chmod(0o755)
    assert "other users can read" in pmem("check", "setup").text
    assert "fixed mine" in pmem("check", "setup", "--fix").text
    assert stat.S_IMODE(top.stat().st_mode) == 0o700


WORDS: Final = st.text(string.ascii_lowercase + " `#\n-é漢", min_size=3, max_size=60).filter(
    lambda text: len(text.split()) > 0
)
KINDS: Final = st.sampled_from(["preference", "fact", "constraint", "decision"])
KEPT: Final = st.lists(st.tuples(WORDS, KINDS, st.booleans()), max_size=8)


@settings(max_examples=examples(30))
@given(own=KEPT, of_project=KEPT, budget=st.integers(1, 600), query=st.none() | WORDS)
def test_the_same_memories_give_the_same_bytes_within_the_budget(
    tmp_path_factory: pytest.TempPathFactory,
    own: list[tuple[str, str, bool]],
    of_project: list[tuple[str, str, bool]],
    budget: int,
    query: str | None,
) -> None:
    place = tmp_path_factory.mktemp("places")
    environment = {"XDG_DATA_HOME": str(place / "data"), "HOME": str(place)}
    here = Project(place / "work" / ".project-memory", actor="ada", now=NOW)
    alone = Project(own_folder(environment), actor="ada", now=NOW)
    for kept, where in ((own, alone), (of_project, here)):
        for text, kind, pinned in kept:
            where.add(text, kind, pinned=pinned, force=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(place / "data"))
        here = Project(place / "work" / ".project-memory", actor="ada", now=NOW)
        built = here.build_context(query, budget=budget, mine=True)
        again = here.build_context(query, budget=budget, mine=True)
    assert built.text == again.text
    assert built.tokens <= budget
    (spent,) = [part.tokens for part in built.sections if part.name == "yours"] or [0]
    assert spent <= int(budget * 0.1) + SEAM
    ids = {memory.id for memory in alone.list().items}
    shown = {item.id: item.mine for part in built.sections for item in part.items}
    assert all(shown[identifier] for identifier in ids & shown.keys())
    data = files(str(place / "work" / ".project-memory"))
    assert not any(identifier.encode() in each for identifier in ids for each in data.values())
    assert Workspace(str(place / "work" / ".project-memory")).memories.ids("") == sorted(
        memory.id for memory in here.list().items
    )


def test_a_link_in_its_place_is_told_and_not_followed(root: str, mine: dict[str, str]) -> None:
    folder = own_folder(os.environ)
    os.rename(folder, f"{folder}.kept")
    os.symlink(f"{folder}.kept", folder)
    for line in (["context"], ["search", "commits"]):
        done = pmem(*line)
        assert done.code == 0
        assert RULE not in done.text
        assert "your own memory is left out: " in done.said
    assert pmem("list", "--mine").code == 7
