"""What a newcomer stumbled over in the first week, each as it is wanted."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from pmem.core.inbox import InboxKind
from tests.cli.shell import pmem
from tests.cli.terminal import READY, Terminal
from tests.faults.console import added
from tests.git.branches import begin, ok

ROOT = Path(__file__).parents[2]
SHIPPED = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "pmem").rglob("*.py")]


@pytest.fixture
def project(root: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a memory, in which commands run."""
    top = Path(os.path.dirname(root))
    monkeypatch.chdir(top)
    return top


def ran(*words: str, code: int = 0) -> str:
    done = pmem(*words)
    assert done.code == code, done.said
    return done.text + done.said


def on_two_branches(ours: list[str], theirs: list[str]) -> None:
    """Run a command on each of two branches, and merge them."""
    for branch, words in (("ours", ours), ("theirs", theirs)):
        ok("checkout", "--quiet", "-B", branch, "main")
        ran(*words)
        ok("add", "--all")
        ok("commit", "--quiet", "--no-verify", "--message", branch)
    ok("merge", "--quiet", "--no-edit", "ours")


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch) -> str:
    """A repository with one memory in the current folder; its id."""
    begin(monkeypatch)
    found = added("The port is 80")
    ok("add", "--all")
    ok("commit", "--quiet", "--no-verify", "--message", "base")
    return found


@pytest.mark.usefixtures("project")
def test_a_procedure_that_answers_the_task_is_in_its_context() -> None:
    ran("add", "Release: bump version in pyproject.toml, tag it, push", "--type", "procedure")
    for number in range(12):
        ran("add", f"Goal {number} is about something else", "--type", "goal", "--force")
    assert "bump version" in ran("context", "Prepare release 0.1.0", "--budget", "2000")


@pytest.mark.usefixtures("project")
def test_constraints_on_the_task_come_before_goals_that_are_not_about_it() -> None:
    for what in ("Start-up of pmem add stays below 30 ms", "A slow start on pipes is a bug"):
        ran("add", what, "--type", "constraint")
    for number in range(30):
        ran("add", f"Goal {number} of the roadmap is a long one", "--type", "goal", "--force")
    block = ran("context", "Fix the slow start of pmem add on pipes", "--budget", "600")
    assert "below 30 ms" in block
    assert "slow start on pipes" in block


def test_every_install_line_names_the_package_that_is_ours() -> None:
    assert {path: wrong for path in SHIPPED if (wrong := wrong_installs(path))} == {}


def wrong_installs(path: Path) -> list[str]:
    said = path.read_text(encoding="utf-8")
    line = r"(?:pip|pipx|uv tool) install[^\n]*?['\" ]pmem(?!-cli)\b(?!-).*"
    return re.findall(line, said) + re.findall(r"(?<![\w-])pmem\[\w", said)


def test_a_session_of_an_assistant_is_no_transcript_of_messages(project: Path) -> None:
    said = {"role": "user", "content": "hello"}
    record = {"type": "user", "uuid": "u", "sessionId": "s", "message": said}
    (project / "talk.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    assert "session of Claude Code" in ran("import", "messages", "talk.jsonl", code=3)


@pytest.mark.usefixtures("project")
def test_what_was_said_earlier_is_left_out_where_activity_is_none() -> None:
    ran("conversation", "start", "Payments")
    ran("conversation", "say", "The payment service timeout is ninety seconds")
    ran("conversation", "end")
    assert "ninety" in ran("context", "payment service timeout")
    ran("config", "set", "categories.context", "activity=none")
    assert "ninety" not in ran("context", "payment service timeout")


@pytest.mark.usefixtures("project")
def test_a_search_says_that_an_archived_memory_would_match() -> None:
    ran("config", "set", "decay", "s2")
    ran("add", "Exit code 9 means look first", "--now", "2026-01-05")
    for number in range(40):
        ran("add", f"It was {'very ' * number}sunny", "--force", "--now", "2027-06-01")
    ran("consolidate", "--now", "2027-06-01")
    assert "1 archived memory matches" in ran("search", "what does exit code 9 mean")


def test_a_second_memory_below_the_first_is_asked_for(project: Path) -> None:
    (project / "sub").mkdir()
    os.chdir(project / "sub")
    assert "pmem init --here" in ran("init", code=2)
    assert not (project / "sub" / ".project-memory").exists()


@pytest.mark.usefixtures("project")
def test_a_sentence_that_made_an_episode_and_a_memory_stands_once_in_a_context() -> None:
    ran("conversation", "start", "Queue")
    ran("conversation", "say", "We decided to use RabbitMQ because of its routing.")
    assert ran("context", "RabbitMQ", "--budget", "300").count("because of its routing") == 1


@pytest.mark.usefixtures("project")
def test_an_insight_is_knowledge() -> None:
    answer = pmem("add", "The cache is thrown away", "--type", "insight", "--json")
    assert json.loads(answer.text)["data"]["memory"]["category"] == "knowledge"


def test_h_is_help() -> None:
    assert ran("-h").startswith("Usage: pmem ")
    assert ran("add", "-h").startswith("Usage: pmem add ")


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("command", ["check secrets --history", "log HEAD.."])
def test_outside_of_git_the_way_out_is_to_begin_with_git(command: str) -> None:
    said = ran(*command.split(), code=3)
    assert "is not in a git repository" in said
    assert "git init" in said


@pytest.mark.usefixtures("project")
def test_an_age_is_ahead_where_something_ends() -> None:
    answer = pmem("add", "code freeze", "--valid-until", "2w", "--now", "2026-11-21", "--json")
    memory = json.loads(answer.text)["data"]["memory"]
    assert memory["valid_until"].startswith("2026-12-05")


def test_clearing_without_a_conversation_fails_before_it_asks(project: Path) -> None:
    program = os.path.join(os.path.dirname(sys.executable), "pmem")
    with Terminal(["/bin/sh"], str(project), {**os.environ, "PS1": READY}) as shell:
        shell.wait_for(READY)
        shell.type(f"{program} conversation clear\n")
        said = shell.wait_for(READY)
        assert "[y/N]" not in said
        assert "no conversation" in said
        shell.type(f"{program} conversation start Queue; {program} conversation clear\n")
        assert "of the conversation Queue? [y/N]" in shell.wait_for("[y/N]") + "[y/N]"
        shell.type("y\n")
        assert "cleared" in shell.wait_for(READY)


def test_what_one_branch_removed_and_another_edited_is_named_and_settled(repository: str) -> None:
    on_two_branches(["rm", repository], ["edit", repository, "The port is 8080"])
    assert "overruled" in ran("check", "records")
    item = json.loads(pmem("inbox", "--json").text)["data"]["items"][0]
    assert (item["kind"], item["id"]) == (InboxKind.CONTRADICTION, repository)
    ran("resolve", repository, "--theirs")
    assert "nothing waits for your answer" in ran("inbox")
    assert "no memory" in ran("list")


def test_a_citation_that_was_looked_at_again_is_confirmed(repository: str) -> None:
    Path("pyproject.toml").write_text("one\n", encoding="utf-8")
    ran("edit", repository, "--cite", "pyproject.toml")
    ok("add", "--all")
    ok("commit", "--quiet", "--no-verify", "--message", "cited")
    Path("pyproject.toml").write_text("two\n", encoding="utf-8")
    ran("edit", repository, "--cite", "pyproject.toml")
    assert "confirmed against pyproject.toml" in ran("log", "HEAD..")


@pytest.mark.usefixtures("project")
def test_what_holds_no_longer_is_marked_in_the_list() -> None:
    ran("add", "The beta runs", "--valid-from", "2025-01-01", "--valid-until", "2025-02-01")
    assert "The beta runs (expired " in ran("list")
    assert "expired" in ran("inbox")


@pytest.mark.usefixtures("repository")
def test_two_branches_that_add_on_one_subject_are_told_and_wait_in_the_inbox() -> None:
    on_two_branches(
        ["add", "CI keeps pip", "--subject", "CI cache"],
        ["add", "CI keeps npm", "--subject", "ci cache"],
    )
    assert "is on the same subject as" in ran("check", "records")
    (item,) = json.loads(pmem("inbox", "--json").text)["data"]["items"]
    assert item["kind"] == InboxKind.SUBJECT
    assert "CI keeps" in item["why"]


def test_help_points_to_where_the_text_stands() -> None:
    shown = ran("import", "arrays", "--help")
    assert shown.index("always for agents") < shown.index("(see above)")


@pytest.mark.usefixtures("project")
def test_letter_case_makes_no_difference_to_tags_and_subjects() -> None:
    ran("add", "It answers in JSON", "--tag", "api", "--subject", "answers")
    assert "It answers in JSON" in ran("list", "--tag", "API")
    assert "It answers in JSON" in ran("list", "--subject", "Answers")


def test_a_line_of_a_batch_that_is_wrong_is_named_once(project: Path) -> None:
    (project / "batch.jsonl").write_text('{"content":"A fact"}\n{"content": no}\n')
    said = ran("add", "--batch", "batch.jsonl", code=3)
    assert "line 2 is not valid JSON: the mistake is at column 13" in said
    assert "line 1" not in said
