"""What was said to assistants comes in by itself: in little time, to review, and told to nobody."""

import json
import os
from pathlib import Path
from typing import Any, Final
from unittest import mock

import pytest

from pmem import Project
from pmem.assistants.capture import LATER
from pmem.conversation.sessions import SMALL_BATCH, SessionsRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from tests.asking import ask
from tests.cli.terminal import shell_with_editor
from tests.conftest import NOW
from tests.conversation.assistants import ClaudeCode
from tests.faults.console import pmem

DECIDED: Final = "We decided to use Postgres for the orders."
LABEL: Final = "That's wrong, ours are 100 x 150 mm at 300 dpi."
MOVED: Final = "Moved the keys to the table seen_parcels."


def session_of(*prompts: str, name: str = "earlier") -> ClaudeCode:
    session = ClaudeCode(session=name)
    for prompt in prompts:
        session.ask(prompt)
        session.say("Fine.")
    return session


def hook(event: str, **told: Any) -> Any:
    data = json.dumps({"session_id": "later", "cwd": os.getcwd(), **told}).encode()
    environment = {"PMEM_NOW": NOW.isoformat()}
    done = pmem("hook", event, "--harness", "claude-code", stdin=data, environment=environment)
    assert done.code == 0, done
    return json.loads(done.out or b"{}")


def stop(session: ClaudeCode, name: str = "earlier") -> Path:
    """Have a hook note where a session's transcript is."""
    path = Path(f"{name}.jsonl").absolute()
    path.write_bytes(session.bytes())
    hook("session-end", session_id=name, transcript_path=str(path))
    return path


def start(source: str = "startup", thread: str = "later") -> str:
    answer = hook("session-start", source=source, session_id=thread)
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def facts() -> list[str]:
    return [item["content"] for item in pmem("inbox", "facts", "--json").data["items"]]


def talks() -> list[str | None]:
    return [item["title"] for item in pmem("conversation", "list", "--json").data["items"]]


def test_the_next_start_takes_in_what_was_said_and_proposes_memories_of_it(root: str) -> None:
    Project(root, now=NOW).add("Sails are white")
    stop(session_of("write the importer", DECIDED))
    assert (talks(), facts()) == ([], [])
    told = start()
    assert "Sails are white" in told
    assert "Postgres" not in told.partition(LATER)[0]
    assert talks() == ["“write the importer”"]
    (fact,) = facts()
    assert "Postgres" in fact
    assert Workspace(root).own.noted_transcripts.waiting() == []
    assert "undid: add" in pmem("undo").out.decode()


def test_what_a_session_goes_on_with_comes_in_once_more(root: str) -> None:
    session = session_of(DECIDED)
    stop(session)
    start()
    session.ask("We decided to deploy on Tuesdays.")
    stop(session)
    start()
    assert len(facts()) == 2
    assert pmem("conversation", "list", "--json").data["total"] == 1
    assert pmem("import", "--pending").code == 0
    assert len(facts()) == 2


def test_a_session_is_not_taken_in_as_it_compacts_itself(root: str) -> None:
    stop(session_of(DECIDED))
    start("compact", "earlier")
    assert talks() == []
    start()
    assert len(talks()) == 1


@pytest.mark.parametrize(
    ("setting", "is_there", "is_learned"),
    [("hooks.take_in", False, False), ("extract_facts", True, False)],
)
def test_a_setting_keeps_it_out_or_unlearned(
    setting: str, is_there: bool, is_learned: bool, root: str
) -> None:
    assert pmem("config", "set", setting, "false").code == 0
    stop(session_of(DECIDED))
    start()
    assert (bool(talks()), bool(facts())) == (is_there, is_learned)


def test_an_import_of_what_waits_learns_unless_told_otherwise(root: str) -> None:
    stop(session_of(DECIDED))
    assert pmem("import", "--pending", "--no-learn").code == 0
    assert (len(talks()), facts()) == (1, [])
    assert "facts noted: 1" in pmem("import", "--pending").err
    assert pmem("import", "--pending").err == ""
    assert len(facts()) == 1


def test_where_time_is_short_the_next_ones_take_in_the_rest(root: str) -> None:
    many = 3 * SMALL_BATCH // 2
    stop(session_of(*(f"Question {turn}?" for turn in range(many))))
    stop(session_of("And this?", name="other"), "other")
    workspace = Workspace(root, now=NOW)
    instant = SessionsRequest(pending=True, seconds=1e-9)
    added: list[int] = []
    while workspace.own.noted_transcripts.waiting():
        assert len(added) < 20
        added.append(ask(workspace, table.IMPORT_SESSIONS, instant).added)
    assert sum(added) == 2 * many + 2
    assert max(added) == SMALL_BATCH


def test_a_large_file_waits_for_whoever_has_more_time(root: str) -> None:
    stop(session_of("Where is the queue?"))
    workspace = Workspace(root, now=NOW)

    def added(seconds: float | None, size: int) -> int:
        with mock.patch("os.path.getsize", return_value=size):
            wanted = SessionsRequest(pending=True, seconds=seconds, dry_run=True)
            return ask(workspace, table.IMPORT_SESSIONS, wanted).added

    million = 1 << 20
    assert [added(0.4, size * million) > 0 for size in (10, 11)] == [True, False]
    assert [added(0.9, size * million) > 0 for size in (20, 21)] == [True, False]
    assert added(None, 21 * million) > 0


def test_who_writes_meanwhile_stops_no_session(root: str) -> None:
    Project(root, now=NOW).add("Sails are white")
    stop(session_of(DECIDED))
    other = Workspace(root)
    with other.transaction():
        assert "Sails are white" in start()
        assert talks() == []
    start(thread="another")
    assert len(talks()) == 1


def worked(session: ClaudeCode) -> ClaudeCode:
    """Have a person correct something, and an assistant do something else some prompts later."""
    session.ask("print the label of the parcel")
    session.call("Bash", "t1", command="make label")
    session.result("t1", "ok")
    session.say("Printed the label with 200 dpi.")
    session.ask(LABEL)
    session.say("I see.")
    session.ask("and where are the keys of the parcels kept, please")
    session.call("Edit", "t2", file_path="keys.py")
    session.result("t2", "ok")
    session.say(MOVED)
    return session


def test_a_moment_joins_nothing_that_has_nothing_to_do_with_it(root: str) -> None:
    stop(worked(ClaudeCode(session="earlier")))
    start()
    told = [item["summary"] for item in pmem("episode", "list", "--json").data["items"]]
    assert told
    assert not any("dpi" in one and "keys" in one for one in told), told


def test_nobody_is_told_a_moment_of_work_before_a_person_agreed(root: str) -> None:
    stop(worked(ClaudeCode(session="earlier")))
    start()
    (found, *_) = pmem("search", "labels dpi", "--kind", "episode", "--json").data["hits"]
    asked = "which dpi do the labels of 100 x 150 mm have?"

    def told() -> list[bool]:
        prompt = json.dumps(hook("prompt", prompt=asked, session_id=os.urandom(4).hex()))
        built = pmem("context", asked, "--budget", "800", "--json").data
        shown = {item["id"] for part in built["sections"] for item in part["items"]}
        return ["100 x 150" in prompt, found["id"] in shown]

    assert told() == [False, False]
    assert found["trust"] == "low"
    assert pmem("edit", found["short"], "--pin").code == 0
    assert told()[0]


def test_a_read_at_a_terminal_takes_it_in_and_says_so(root: str, tmp_path: Path) -> None:
    stop(session_of(DECIDED))
    top = Path(os.path.dirname(root))
    assert pmem("search", "Postgres").code in (0, 1)
    assert pmem("inbox", "--json").code == 0
    assert talks() == []
    with shell_with_editor(top, "true") as shell:
        said = shell.run("pmem search Postgres")
        assert "took in 2 messages of assistants' sessions, 1 fact to review: `pmem inbox`" in said
        assert "took in" not in shell.run("pmem search Postgres")
