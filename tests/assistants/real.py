"""Codex, Gemini CLI and OpenCode, offline, beside a model that is none: `make assistants`.

They have to be installed (`npm install @openai/codex @google/gemini-cli opencode-ai`) and found on
the PATH; those that are named (`PROGRAMS=opencode`) are tried, else all.
They run in a network namespace and a home of their own, so nothing leaves the machine. What is
looked at is the request that would have gone to a model, and what pmem noted of the session. The
model calls a tool at each turn: it searches, reads a file, edits it twice, as a memory stops it
once, and runs a command whose error is known.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from pmem import Project
from pmem.core.error_fingerprint import evidence_of
from pmem.core.own_words import ABOUT_ERROR, ABOUT_FILE, RECORDED, SEE_ABOVE, STOPS
from pmem.storage.local.sessions import NotedTranscripts
from pmem.storage.local.state import LocalState
from tests.assistants.fake_model import (
    Call,
    FakeModel,
    SetUp,
    begin,
    call,
    try_each,
)

ASKED: Final = "Which database do we use for orders?"
ANSWER: Final = "We use PostgreSQL for orders"
_ANSWERED: Final = ('"function_call_output"', '"functionResponse"', '"role": "tool"')
FILE: Final = "retry.py"
CODE: Final = "import time\nRETRIES = 3\n"
ERROR: Final = "VendorError: blocked for 60 s after '/pay'"
FIXED: Final = "Requests to the vendor are spread over a minute"
_SAID: Final = f"Hello. {FIXED}."
TRIED: Final = "Tried: six retries. It failed: the vendor bans us for a day."
_PATCH: Final = (
    f"*** Begin Patch\n*** Update File: {FILE}\n@@\n-RETRIES = 3\n+RETRIES = 5\n*** End Patch\n"
)
_FAILING: Final = f'echo "{ERROR}" >&2; exit 3'
_TOOLS: Final = '"tools": ['
"""What a request for a title does not have."""
READ, SEARCH, STOPPED_EDIT, EDIT, FAIL = range(5)
"""What the model does, in this order: Codex has no server's tools at its first request."""

_SEARCH: Final = Call("search", {"query": "orders database"}, is_ours=True)
_CODEX_CALLS: Final = (
    Call("exec_command", {"cmd": f"cat {FILE}"}),
    _SEARCH,
    Call("exec_command", {"cmd": f"apply_patch <<'EOF'\n{_PATCH}EOF"}),
    Call("exec_command", {"cmd": f"apply_patch <<'EOF'\n{_PATCH}EOF"}),
    Call("exec_command", {"cmd": _FAILING}),
)
_REPLACED: Final = {
    "file_path": FILE,
    "instruction": "more",
    "old_string": "= 3",
    "new_string": "= 5",
}
_GEMINI_CALLS: Final = (
    Call("read_file", {"file_path": FILE}),
    _SEARCH,
    Call("replace", _REPLACED),
    Call("replace", _REPLACED),
    Call("run_shell_command", {"command": _FAILING}),
)
_OPENCODE_CALLS: Final = (
    Call("read", {"filePath": FILE}),
    _SEARCH,
    *[Call("edit", {"filePath": FILE, "oldString": "= 3", "newString": "= 5"})] * 2,
    Call("bash", {"command": _FAILING, "description": "fails"}),
)
_CALLS: Final = {"responses": _CODEX_CALLS, "completions": _OPENCODE_CALLS}


class Model(FakeModel):
    """Calls its tools one by one, then says hello."""

    asked: ClassVar[list[str]] = []
    said = _SAID

    def called_for(self, request: str) -> Call | None:
        calls = _CALLS.get(self.path.rpartition("/")[2], _GEMINI_CALLS)
        done = _answers(request) if ASKED in request and _TOOLS in request else len(calls)
        return calls[done] if done < len(calls) else None


def _answers(request: str) -> int:
    """Count the answers of tools that a model is told."""
    return sum(request.count(mark) for mark in _ANSWERED)


def _try(
    name: str,
    folder: Path,
    set_up: SetUp,
    words: tuple[str, ...],
    url: str,
) -> None:
    project, home, around = begin(folder)
    for command in (["init", "--no-git"], ["add", ANSWER], ["setup", name]):
        call(["pmem", *command], project, around)
    (project / FILE).write_text(CODE)
    _know(project, home, around)
    Model.asked.clear()
    call([*words, ASKED], project, {**around, **set_up(project, home, url)})
    assert "pmem" in call([name, "mcp", "list"], project, around)
    told = [request for request in Model.asked if ASKED in request and _TOOLS in request]
    assert told, "no request reached the model"
    assert told[0].count(ANSWER) == 1, told[0]  # at the start
    assert told[0].count(SEE_ABOVE) == 1, told[0]  # as the best answer
    assert any(mark in told[-1] for mark in _ANSWERED), told[-1]
    assert told[-1].count(ANSWER) == 2, told[-1]
    assert RECORDED in told[-1], told[-1]
    _see_what_is_said_at_calls(told)
    assert "= 5" in (project / FILE).read_text()
    if name != "opencode":  # its sessions are in a database of its own
        _see_what_was_noted(name, project, around)
    assert not (project / ".project-memory" / "local" / "pmem.log").exists()
    call(["pmem", "setup", name, "--remove"], project, around)
    own = project / "opencode.json"  # OpenCode writes its schema there, and keeps a folder
    assert not own.exists() or own.read_text().count("pmem") == 0, own.read_text()
    assert {*os.listdir(project)} - {".opencode", own.name} == {".project-memory", FILE}


def _see_what_was_noted(name: str, project: Path, around: Mapping[str, str]) -> None:
    """See that it was counted what helped, and that the session is taken in without our words."""
    _see_what_helped(project)
    (noted,) = NotedTranscripts(LocalState(str(project / ".project-memory"))).all()
    assert noted.harness == name
    assert ASKED in Path(noted.path).read_text(encoding="utf-8")
    call(["pmem", "import", "--pending"], project, around)
    said = call(["pmem", "conversation", "show", noted.session], project, around)
    assert f"user: {ASKED}" in said.splitlines(), said
    assert said.splitlines()[-1] == f"assistant: {_SAID}", said
    assert ERROR in said, said
    for text in (ANSWER, TRIED, ABOUT_FILE, ABOUT_ERROR, STOPS):
        assert text not in said, (text, said)
    assert not NotedTranscripts(LocalState(str(project / ".project-memory"))).waiting()


def _know(project: Path, home: Path, around: Mapping[str, str]) -> None:
    """Let a dead end know of the file and the error, and stop an edit."""
    memory = Project(str(project / ".project-memory"))
    evidence = evidence_of(ERROR)[0]
    about: Any = {"type": "dead_end", "places": (FILE,), "evidence": (evidence,)}
    added = memory.add(TRIED, force=True, **about).record
    assert added is not None
    call(["pmem", "edit", added.id, "--stop-edits"], project, around)
    other: Any = {"evidence": (evidence,)}
    memory.add(FIXED, force=True, **other)
    (home / ".config" / "pmem").mkdir(parents=True, exist_ok=True)
    (home / ".config" / "pmem" / "config.toml").write_text("hooks.deny = true\n")


def _see_what_is_said_at_calls(told: list[str]) -> None:
    """See that each text is in the model's very next input, and there once from then on."""
    after = {ABOUT_FILE: READ, STOPS: STOPPED_EDIT, ABOUT_ERROR: FAIL}
    for text, step in after.items():
        for request in told:
            expected = int(_answers(request) > step)
            assert request.count(text) == expected, (text, _answers(request), request)
    assert "RETRIES = 3" in told[READ + 1]
    assert FIXED in told[-1].partition(ABOUT_ERROR)[2]


def _see_what_helped(project: Path) -> None:
    """See that what was quoted, or whose file was edited, was used, and the rest only shown."""
    memory = Project(str(project / ".project-memory"))
    uses = memory.workspace.own.use_counts.all()
    found = {one.content: uses.get(one.id) for one in memory.list().items}
    counted = {text: (use.shown, use.used) for text, use in found.items() if use is not None}
    assert counted == {ANSWER: (1, 0), TRIED: (1, 1), FIXED: (1, 1)}, counted


if __name__ == "__main__":
    try_each(
        ("codex", "gemini", "opencode"),
        _try,
        Model,
        "tests.assistants.real",
        "told, asked, told at a file, stopped once, told at an error, and taken back; what helped"
        " counted, noted, taken in without pmem's own words (but of OpenCode)",
    )
