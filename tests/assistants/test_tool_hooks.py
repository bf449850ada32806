"""At the moment it matters: a file is touched or a command fails, and what is known of it is said.

Little, exactly, once; never by words; and nobody's repository stops an edit.
"""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem import Project
from pmem.assistants.events import NAMES, OF_TOOLS, TAKEN, TOOL_CHARACTERS, parse
from pmem.assistants.harnesses import HARNESSES
from pmem.assistants.tool_calls import touched
from pmem.core.error_fingerprint import evidence_of
from pmem.core.places import applies
from pmem.core.record_keys import proven_key
from pmem.core.trust import may_be_marked, may_stop
from pmem.errors import Refused, StorageRefused
from pmem.project.setup import initialise
from pmem.storage.index import applying
from pmem.storage.local.shown_keys import MOST_TOUCHED
from pmem.values.records import STORES, Memory, MemoryType
from tests.effort import examples
from tests.faults.console import PROGRAM, pmem
from tests.work import STALLED, seconds

FILE: Final = "src/billing/retry.py"
ERROR: Final = "billing.VendorError: blocked for 60 s after '/pay'"
EVIDENCE: Final = evidence_of(ERROR)[0]
CODE: Final = "import time\n\nRETRIES = 3\nWAIT = 60\n"


def answer(event: str, told: dict[str, Any], harness: str = "claude-code", **around: str) -> Any:
    done = pmem("hook", event, "--harness", harness, stdin=json.dumps(told).encode(),
                environment=around)  # fmt: skip
    assert done.code == 0, done
    assert not done.err, done
    return json.loads(done.out or b"{}")


def call(tool: str, session: str = "s", **asked: Any) -> dict[str, Any]:
    return {"session_id": session, "tool_name": tool, "tool_input": {"file_path": FILE, **asked}}


def read(session: str = "s", file: str = FILE, **more: Any) -> str:
    return said(answer("pre-tool", {**call("Read", session, file_path=file), **more}))


def edit(old: str = "RETRIES = 3", session: str = "s", **around: str) -> Any:
    return answer("pre-tool", call("Edit", session, old_string=old, new_string="x"), **around)


def fail(text: str = ERROR, session: str = "s") -> str:
    told = {"session_id": session, "tool_name": "Bash", "tool_input": {"command": "make"}}
    return said(answer("post-tool", {**told, "error": f"Exit code 2\n{text}"}))


def said(found: Any) -> str:
    return str(found.get("hookSpecificOutput", {}).get("additionalContext", ""))


def lines(text: str) -> list[str]:
    """Return what was told, line by line, without the types, ids and the fence around it."""
    return [line.partition("] ")[2] for line in text.split("\n") if line.startswith("- ")]


class Shop:
    """A project with a file that memories are about."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.project = Project(root)
        Path(FILE).parent.mkdir(parents=True)
        Path(FILE).write_text(CODE)

    def add(self, content: str, **fields: Any) -> str:
        added = self.project.add(content, force=True, **fields).record
        assert added is not None
        return added.id

    def memory(self, name: str) -> Memory:
        memory = self.project.show(name)
        assert isinstance(memory, Memory)
        return memory

    def dead_end(self, content: str = "Tried: five retries. It failed.", **fields: Any) -> str:
        fields = {"places": ("src/billing/**",), **fields}
        return self.add(content, type=MemoryType.DEAD_END, **fields)


@pytest.fixture
def shop(root: str) -> Shop:
    return Shop(root)


def test_a_file_that_is_read_brings_what_is_about_it_once_in_a_session(shop: Shop) -> None:
    shop.dead_end()
    assert lines(read()) == ["Tried: five retries. It failed."]
    assert read() == ""
    assert lines(read("another")) == ["Tried: five retries. It failed."]


def test_of_two_hooks_at_one_call_one_tells(shop: Shop) -> None:
    shop.dead_end()
    assert read()
    nothing = mock.Mock(return_value=frozenset())
    with (
        mock.patch("pmem.assistants.first_look.known_at_once", nothing),
        mock.patch("pmem.storage.local.sessions.ShownItems.known", nothing),
    ):
        assert read() == ""
    assert nothing.called


def test_a_memory_that_says_something_else_by_now_is_told_again(shop: Shop) -> None:
    name = shop.dead_end()
    assert read()
    shop.project.edit(name, content="Tried: six retries. It failed.")
    assert lines(read()) == ["Tried: six retries. It failed."]


def test_what_was_told_at_the_start_is_told_at_the_file_once(shop: Shop) -> None:
    shop.dead_end("Tried: five retries for the vendor. It failed.")
    start = {"session_id": "s", "source": "startup"}
    assert "five retries" in said(answer("session-start", start))
    assert "five retries" in read()
    assert read() == ""
    assert "five retries" in read("new")


def test_a_compacted_session_is_told_again(shop: Shop) -> None:
    shop.dead_end()
    assert read()
    answer("session-start", {"session_id": "s", "source": "compact"})
    assert read()


def test_what_a_session_sends_out_has_seen_nothing_yet(shop: Shop) -> None:
    shop.dead_end()
    assert read()
    assert read(agent_id="sub")
    assert read(agent_id="sub") == ""


def test_neither_words_nor_names_bring_a_memory(shop: Shop) -> None:
    shop.add("retry.py retries RETRIES three times", subject="retry.py")
    shop.dead_end(places=("src/shipping/**",))
    shop.dead_end("Tried: x. It failed.", places=("/retry.py",))
    assert read() == ""


def test_a_citation_brings_a_memory_and_a_stale_one_says_so(shop: Shop) -> None:
    shop.add("Three retries are enough", cite=(f"{FILE}:3",))
    assert lines(read()) == ["Three retries are enough"]
    Path(FILE).write_text("nothing of it\n")
    assert lines(read("t")) == ["(stale) Three retries are enough"]


def test_dead_ends_come_first_then_constraints_then_decisions_and_three_at_once(shop: Shop) -> None:
    about: Any = {"places": ("*.py",)}
    shop.add("a fact", **about)
    shop.add("a decision", type=MemoryType.DECISION, **about)
    shop.add("a constraint", type=MemoryType.CONSTRAINT, **about)
    shop.dead_end("a dead end")
    assert lines(read()) == ["a dead end", "a constraint", "a decision"]
    assert lines(read()) == ["a fact"]
    assert read() == ""


def test_what_is_closest_to_the_file_comes_first(shop: Shop) -> None:
    shop.add("of a folder", places=("src/",), type=MemoryType.CONSTRAINT)
    shop.add("of the file", places=(f"/{FILE}",))
    shop.add("of a nearer folder", places=("src/billing/**",), type=MemoryType.DECISION)
    assert lines(read()) == ["of the file", "of a nearer folder", "of a folder"]


def test_of_one_type_those_whose_lines_are_edited_come_first(shop: Shop) -> None:
    shop.add("on the wait", cite=(f"{FILE}:4",), type=MemoryType.CONSTRAINT, importance=1.0)
    shop.add("on the retries", cite=(f"{FILE}:3",), type=MemoryType.CONSTRAINT, importance=0.1)
    assert lines(said(edit("RETRIES = 3\n"))) == ["on the retries", "on the wait"]
    assert lines(said(edit("WAIT = 60", session="t"))) == ["on the wait", "on the retries"]
    assert lines(read("u", offset=3, limit=1))[0] == "on the wait"  # by what it is worth
    told = call("Read", "v", offset=3, limit=1)
    assert lines(said(answer("pre-tool", told)))[0] == "on the retries"


def test_what_is_settled_superseded_removed_or_an_apps_own_is_not_told(shop: Shop) -> None:
    shop.project.edit(shop.dead_end("settled"), settled="allowed since v3")
    shop.project.remove(shop.dead_end("removed"))
    shop.project.supersede(shop.dead_end("superseded"), content="newer")
    shop.dead_end("an app's", app="calendar")
    assert lines(read()) == ["newer"]


def test_files_outside_of_the_project_and_tools_that_touch_no_file_are_left_alone(
    shop: Shop, tmp_path: Path
) -> None:
    shop.dead_end(places=("*",))
    assert read(file=str(tmp_path / "elsewhere.py")) == ""
    assert read(file="../../elsewhere.py") == ""
    assert read(file="\0") == ""
    for tool in ("Grep", "Glob", "WebFetch", "mcp__pmem__search", ""):
        assert answer("pre-tool", call(tool)) == {}
    assert lines(read(file=os.path.abspath(FILE)))


def test_a_linked_file_is_the_one_that_it_leads_to(shop: Shop) -> None:
    shop.dead_end(places=(f"/{FILE}",))
    os.symlink(FILE, "short.py")
    assert lines(read(file="short.py"))


def test_an_index_that_lags_or_is_gone_or_broken_hides_nothing(shop: Shop) -> None:
    name = shop.dead_end()
    (path,) = Path(shop.root).glob(f"long-term-memory/{name}.json")
    index = Path(shop.root, "local", "index.sqlite3")
    assert lines(read("1"))
    path.write_text(path.read_text().replace("five", "nine"))
    assert lines(read("2")) == ["(changed outside pmem) Tried: nine retries. It failed."]
    index.unlink()
    assert lines(read("3"))
    index.write_bytes(b"no database" * 999)
    assert lines(read("4"))
    with sqlite3.connect(index) as made:
        made.execute("pragma user_version = 1")
    assert lines(read("5"))
    with sqlite3.connect(index) as made:
        made.execute("create view place2 as select 1")
    assert lines(read("6"))
    path.unlink()
    assert read("7") == ""


def test_silence_is_found_without_opening_the_memory(shop: Shop) -> None:
    shop.dead_end()
    assert read()
    Project(shop.root).list(limit=1)
    with mock.patch("pmem.cli.hook._ask_memory", side_effect=AssertionError("opened")):
        assert read() == ""
        assert read(file="README.md") == ""
        assert fail("error: nobody has seen this one") == ""
        assert answer("pre-tool", call("Grep")) == {}


def test_what_the_quick_look_takes_for_granted_is_so() -> None:
    assert applying._STORE == STORES[Memory]
    assert proven_key("x") == f"{applying.PROVEN}x"


@given(st.lists(st.text("ab*?/!.[]", min_size=1, max_size=6), min_size=1, max_size=4),
       st.text("ab/.", min_size=1, max_size=8))  # fmt: skip
def test_the_quick_look_compares_places_as_all_else_does(patterns: list[str], file: str) -> None:
    assert applying.applies_in_time(patterns, file, float("inf")) == applies(patterns, file)


def test_a_failed_command_brings_back_what_failed_and_what_fixed_it(shop: Shop) -> None:
    failed = shop.dead_end(evidence=(EVIDENCE,), places=())
    fix = shop.add("Requests are spread over a minute")
    shop.project.link(fix, failed, type="fixes")
    again = "...\nbilling.VendorError: blocked for 3600 s after '/v2/refund'"
    (line,) = lines(fail(again))
    worked = f"Requests are spread over a minute [{fix.rpartition('-')[2]}]"
    assert line == f"Tried: five retries. It failed. Fixed by: {worked}"
    assert fail() == ""
    assert fail("billing.VendorError: month is closed", "t") == ""


def test_behind_what_failed_stands_what_worked_in_one_line(shop: Shop) -> None:
    failed = shop.dead_end()
    fix = shop.add("Requests are spread over a minute " * 9)
    shop.project.link(fix, failed, type="fixes")
    (line,) = lines(read())
    said, _, instead = line.partition(" Fixed by: ")
    assert said == "Tried: five retries. It failed."
    assert instead.startswith("Requests are spread")
    assert len(instead) <= 120 + len(" [xxxxxxxx]")
    shop.project.edit(fix, places=("src/",))
    assert len(lines(read("t"))) == 2  # it is longer than what stands behind what failed
    shop.project.edit(fix, "Requests are spread over a minute")
    assert len(lines(read("u"))) == 1
    shop.project.remove(fix)
    shop.project.edit(failed, content="Tried: six retries. It failed.")
    assert lines(read()) == ["Tried: six retries. It failed."]


def test_where_nothing_can_be_noted_a_file_still_brings_what_is_about_it(shop: Shop) -> None:
    name = shop.dead_end()
    assert pmem("edit", name, "--stop-edits").code == 0
    refused = mock.Mock(side_effect=StorageRefused("read-only file system"))
    with mock.patch("pmem.storage.local.sessions.ShownItems.claim", refused):
        assert lines(read()) == lines(read()) == ["Tried: five retries. It failed."]
        assert not stops(edit(PMEM_HOOKS_DENY="true"))


def test_of_an_error_nothing_is_kept(shop: Shop) -> None:
    shop.dead_end(evidence=(EVIDENCE,))
    fail(f"hunter2-of-mine\n{ERROR} token=zebra-9")
    fail("error: nobody knows giraffe-7 here")
    for path in Path(shop.root).rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        assert not any(word in data for word in (b"hunter2", b"zebra", b"giraffe", b"blocked for"))


def test_gemini_is_told_of_a_file_after_the_call_and_stopped_before(shop: Shop) -> None:
    name = shop.dead_end()
    told = call("replace", old_string="RETRIES = 3", new_string="x")
    assert answer("pre-tool", told, "gemini") == {}
    found = answer("post-tool", {**told, "tool_response": {"llmContent": "done"}}, "gemini")
    assert found["hookSpecificOutput"]["hookEventName"] == "AfterTool"
    assert pmem("edit", name, "--stop-edits").code == 0
    denied = answer("pre-tool", told, "gemini", PMEM_HOOKS_DENY="true")
    assert denied["decision"] == "deny"
    assert "five retries" in denied["reason"]


# stopping an edit


def stops(found: Any) -> bool:
    return bool(found.get("hookSpecificOutput", {}).get("permissionDecision") == "deny")


ALLOWED: Final = {"PMEM_HOOKS_DENY": "true"}


@pytest.fixture
def marked(shop: Shop) -> str:
    name = shop.dead_end()
    assert pmem("edit", name, "--stop-edits").code == 0
    return name


def test_a_marked_memory_stops_an_edit_once_and_says_why(marked: str, shop: Shop) -> None:
    assert lines(read())
    found = edit(**ALLOWED)
    assert stops(found)
    reason = found["hookSpecificOutput"]["permissionDecisionReason"]
    assert "five retries" in reason
    assert "repeat the edit" in reason
    assert len(reason) <= TOOL_CHARACTERS
    assert edit(**ALLOWED) == {}
    assert stops(edit(session="t", **ALLOWED))


def test_an_edit_that_was_stopped_stays_allowed_after_a_compaction(marked: str) -> None:
    assert stops(edit(**ALLOWED))
    answer("session-start", {"session_id": "s", "source": "compact"})
    assert not stops(edit(**ALLOWED))


def test_reading_is_never_stopped_nor_is_what_lies_elsewhere(marked: str) -> None:
    assert not stops(answer("pre-tool", call("Read"), **ALLOWED))
    assert not stops(answer("pre-tool", call("Write", file_path="README.md"), **ALLOWED))


def test_nothing_is_stopped_unless_the_users_own_settings_allow_it(marked: str, shop: Shop) -> None:
    assert not stops(edit())
    Path(shop.root, "config.toml").write_text("[hooks]\ndeny = true\n")
    assert not stops(edit(session="t"))
    home = Path(os.environ["XDG_CONFIG_HOME"], "pmem")
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text("[hooks]\ndeny = true\n")
    assert stops(edit(session="u"))


def test_without_a_session_or_where_nothing_can_be_noted_nothing_is_stopped(marked: str) -> None:
    assert not stops(edit(session="", **ALLOWED))
    with mock.patch("pmem.storage.local.sessions.ShownItems.claim", side_effect=OSError):
        assert not stops(edit(**ALLOWED))


def test_who_does_not_let_hooks_stop_a_call_is_told_instead(marked: str) -> None:
    told = call("Edit", old_string="RETRIES = 3")
    assert lines(said(answer("pre-tool", told, "someone-new", **ALLOWED)))


def test_the_mark_can_be_taken_away(marked: str) -> None:
    assert pmem("edit", marked, "--no-stop-edits").code == 0
    assert not stops(edit(**ALLOWED))


def test_an_agent_can_neither_mark_a_memory_nor_have_one_marked_that_it_wrote(shop: Shop) -> None:
    name = shop.dead_end()
    for option in ("--stop-edits", "--no-stop-edits"):
        done = pmem("edit", name, option, environment={"PMEM_AGENT": "planner"})
        assert done.code == Refused.exit_code, done
    assert not shop.memory(name).stops_edits
    agents = shop.dead_end("An agent's.", agent="planner")
    assert pmem("edit", agents, "--stop-edits").code == Refused.exit_code


def test_a_mark_counts_no_more_once_an_agent_has_changed_what_is_said(marked: str) -> None:
    done = pmem("edit", marked, "Nobody edits anything", environment={
        "PMEM_AGENT": "planner", "PMEM_CONSENT_CHANGES": "false"})  # fmt: skip
    assert done.code == 0, done
    assert not stops(edit(**ALLOWED))


def test_a_successor_stops_nothing_by_itself(marked: str, shop: Shop) -> None:
    newer = shop.project.supersede(marked, content="Tried: six. It failed.").memory
    assert not newer.stops_edits
    assert not stops(edit(**ALLOWED))


# a hostile repository

FORGED: Final[dict[str, dict[str, Any]]] = {
    "marked by nobody": {"history": []},
    "born marked": {"history": [{"event": "ADD", "at": "2026-01-01T00:00:00Z", "actor": "ada"}]},
    "marked by an agent": {
        "history": [
            {"event": "ADD", "at": "2026-01-01T00:00:00Z", "actor": "ada"},
            {"event": "UPDATE", "at": "2026-01-02T00:00:00Z", "actor": "ada", "agent": "a",
             "before": {"stops_edits": False}},
        ]
    },
    "made by an agent": {
        "history": [
            {"event": "ADD", "at": "2026-01-01T00:00:00Z", "actor": "ada", "agent": "a"},
            {"event": "UPDATE", "at": "2026-01-02T00:00:00Z", "actor": "ada",
             "before": {"stops_edits": False}},
        ]
    },
    "imported": {
        "source": {"kind": "import:arrays"},
        "history": [
            {"event": "ADD", "at": "2026-01-01T00:00:00Z", "actor": "ada"},
            {"event": "UPDATE", "at": "2026-01-02T00:00:00Z", "actor": "ada",
             "before": {"stops_edits": False}},
        ],
    },
}  # fmt: skip


def forge(shop: Shop, name: str, **fields: Any) -> None:
    """Rewrite a memory's file, as whoever can commit to a repository may do."""
    path = Path(shop.root, "long-term-memory", f"{name}.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


@pytest.mark.parametrize("how", FORGED)
def test_a_mark_that_no_person_made_stops_nothing_even_where_stopping_is_allowed(
    how: str, shop: Shop
) -> None:
    name = shop.dead_end()
    forge(shop, name, stops_edits=True, **FORGED[how])
    memory = shop.memory(name)
    assert memory.stops_edits
    assert not may_stop(memory)
    found = edit(**ALLOWED)
    assert not stops(found)
    assert lines(said(found))


def test_whatever_history_is_forged_a_repository_cannot_allow_itself_to_stop(shop: Shop) -> None:
    name = shop.dead_end()
    person = FORGED["made by an agent"]["history"]
    forge(shop, name, stops_edits=True, history=[{**person[0], "agent": ""}, person[1]])
    memory = shop.memory(name)
    assert may_be_marked(memory)
    Path(shop.root, "config.toml").write_text("hooks.deny = true\nhooks.enabled = true\n")
    assert not stops(edit())
    assert not stops(edit(session="t", **ALLOWED))  # it was changed outside pmem
    assert pmem("check", "origin", "--accept", name).code == 0
    assert stops(edit(session="u", **ALLOWED))


def test_a_repository_full_of_memories_cannot_flood_a_session(shop: Shop) -> None:
    for number in range(60):
        shop.dead_end(f"Tried: {number} " + "and so on " * 90, places=("**",))
    told = [read(file=f"src/{number}.py") for number in range(40)]
    assert all(len(text) <= TOOL_CHARACTERS for text in told)
    assert all(len(lines(text)) <= 3 for text in told)
    assert sum(len(lines(text)) for text in told) == MOST_TOUCHED
    assert told[-1] == ""


@pytest.mark.long
def test_places_that_would_backtrack_stall_nothing(shop: Shop) -> None:
    for number in range(20):
        slow = tuple(f"*{'a' * 120}{number}.{each}" for each in range(50))
        shop.dead_end(f"slow {number}", places=slow)
    file = "/".join(["a" * 250] * 14)
    assert applies((f"*{'a' * 120}",), file)
    for _ in range(2):  # the index lags, then it does not
        assert seconds(lambda: read(file=file)) < STALLED / 2
    local = Path(shop.root, "local")
    local.rename(local.with_name("kept"))
    local.write_text("no folder, so no index")
    assert seconds(lambda: read(file=file)) < STALLED / 2


TEXTS: Final = st.lists(
    st.text(st.sampled_from("ab `\n\r\u2028é🌍<>#-"), min_size=1, max_size=400).filter(str.strip),
    min_size=1, max_size=5, unique_by=str.strip,
)  # fmt: skip


@given(TEXTS)
@settings(max_examples=examples(40), deadline=None)
def test_whatever_memories_say_stays_in_its_fence_and_within_the_length(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as place:
        root = os.path.join(place, ".project-memory")
        initialise(root)
        project = Project(root)
        for text in texts:
            project.add(text, force=True, places=("*",), evidence=(EVIDENCE,))
        told = {"session_id": "s", "cwd": place, **_tool(os.path.join(place, "x"))}
        text = said(answer("pre-tool", told))
        assert 0 < len(text) <= TOOL_CHARACTERS
        title, fence, *inner, end = text.split("\n")
        assert title == "Recorded for x:"
        assert fence == end
        assert set(fence) == {"`"}
        assert all(line.startswith("- [") and fence not in line for line in inner)


def _tool(path: str) -> dict[str, Any]:
    return {"tool_name": "Write", "tool_input": {"file_path": path}}


JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)  # fmt: skip
TOOLS: Final = st.sampled_from(
    ["Read", "Edit", "MultiEdit", "Bash", "apply_patch", "replace", "run_shell_command"]
)
FIELDS: Final = st.sampled_from(
    ["file_path", "command", "edits", "old_string", "offset", "limit", "input"]
)


@given(st.sampled_from(["pre-tool", "post-tool"]), st.sampled_from([*TAKEN, ""]), TOOLS,
       st.dictionaries(FIELDS, JSON | st.just("cat a b"), max_size=4), JSON, JSON)  # fmt: skip
@settings(max_examples=examples(200), deadline=None)
def test_whatever_a_tool_was_asked_the_hook_ends_well(
    event: str, harness: str, tool: str, asked: Any, response: Any, error: Any
) -> None:
    told = {"tool_name": tool, "tool_input": asked, "tool_response": response, "error": error}
    assert answer(event, told, harness) == {}


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("cat a.py", ["a.py"]),
        ("cat a.py b.py | grep x", ["a.py", "b.py"]),
        ("sed -n '1,20p' a.py && head -n5 b.py", ["a.py", "b.py"]),
        ("nl -ba 'a b.py' | sed -n 3p", ["a b.py"]),
        ("sed -i s/a/b/ a.py", []),
        ("cat > a.py <<EOF", []),
        ("cat a.py > b.py", []),
        ("make test", []),
        ("rm a.py", []),
        ("cat 'unclosed", []),
        ("cat a.py " + "# " * 2000, []),
    ],
)
def test_plain_looks_at_files_are_known_by_the_command_line(command: str, files: list[str]) -> None:
    told = {"tool_name": "Bash", "tool_input": {"command": command}}
    assert [each.path for each in touched(parse(json.dumps(told).encode()))] == files


def test_a_patch_names_each_file_and_what_it_replaces_there() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n@@ def f\n one\n-two\n+three\n@@\n-four\n"
        "*** Update File: b.py\n*** Move to: c.py\n-five\n*** Delete File: d.py\n"
        "*** Add File: e.py\n+six\n*** End Patch\n"
    )
    told = {"tool_name": "apply_patch", "tool_input": {"command": patch}}
    found = touched(parse(json.dumps(told).encode()))
    assert [(each.path, each.texts) for each in found] == [
        ("a.py", ("one\ntwo", "four")), ("b.py", ()), ("c.py", ("five",)),
        ("d.py", ()), ("e.py", ()),
    ]  # fmt: skip
    assert all(each.is_edit for each in found)


def test_no_hook_is_set_up_for_every_tool() -> None:
    for name, harness in HARNESSES.items():
        listed = [file.hooks for files in harness.files.values() for file in files]
        for hooks in filter(None, listed):
            for event in OF_TOOLS:
                assert event not in NAMES[name] or hooks.matchers[event].strip("^$()*.")


@pytest.mark.parametrize("asked", [{"file_path": "other.py"}, {"command": "make test"}])
def test_where_nothing_is_to_be_said_next_to_nothing_is_loaded(
    asked: dict[str, Any], root: str
) -> None:
    Project(root).add("The queue is RabbitMQ", places=("queue/**",))
    for path in [*Path(root).rglob("*.json"), *Path(root).iterdir()]:
        os.utime(path, (1, 1))  # what is young is read in any case
    Project(root).search("queue")  # there is an index then
    told = {"session_id": "s", "cwd": os.path.dirname(root), "tool_name": "Read"}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", PROGRAM, "hook", "pre-tool"],
        input=json.dumps({**told, "tool_input": asked}).encode(),
        capture_output=True,
        cwd=os.path.dirname(root),
        check=True,
    )
    loaded = {line.rpartition(b"|")[2].strip() for line in done.stderr.splitlines()}
    assert b"pmem.assistants.tool_calls" in loaded
    assert not loaded & {b"msgspec", b"typer", b"click", b"orjson", b"pmem.project.workspace"}
