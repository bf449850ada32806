"""OpenCode's plugin, run by Node as OpenCode runs it: it tells what hooks tell elsewhere."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from pmem import Project
from pmem.core.error_fingerprint import evidence_of
from pmem.core.own_words import ABOUT_FILE
from tests.cli.shell import BIN, pmem

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="Node runs the plugin")
RULE: Final = "We use PostgreSQL for orders"
DEAD_END: Final = "Tried: six retries. It failed: the vendor bans us for a day."
ERROR: Final = "VendorError: blocked for 60 s after '/pay'"
DRIVER: Final = """
const [file, told] = process.argv.slice(2)
const plugin = await (await import(file)).Pmem({ directory: process.cwd() })
const outputs = []
for (const [name, input, output] of JSON.parse(told)) {
  try { await plugin[name](input, output) } catch (error) { outputs.push(error.message); continue }
  outputs.push(output)
}
console.log(JSON.stringify(outputs))
"""


def run(project: Path, *calls: tuple[str, dict[str, Any], Any]) -> list[Any]:
    """Return what became of the outputs of a plugin's calls; an error is its message."""
    driver = project.parent / "driver.mjs"
    driver.write_text(DRIVER)
    plugin = project / ".opencode" / "plugin" / "pmem.js"
    done = subprocess.run(
        ["node", driver, plugin, json.dumps(calls)],
        cwd=project,
        env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"},
        capture_output=True,
        check=True,
    )
    found: list[Any] = json.loads(done.stdout)
    return found


def said(prompt: str, session: str = "s") -> tuple[str, dict[str, Any], Any]:
    """Return a message of a person's."""
    part = {"id": "prt_1", "type": "text", "text": prompt}
    return ("chat.message", {"sessionID": session}, {"message": {"id": "m"}, "parts": [part]})


def after(tool: str, output: str, code: int | None = None, **args: Any) -> Any:
    """Return the end of a tool's call."""
    answer = {"output": output, "metadata": {"exit": code}}
    return ("tool.execute.after", {"tool": tool, "sessionID": tool, "args": args}, answer)


@pytest.fixture
def project(root: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = Path(root).parent
    monkeypatch.chdir(folder)
    memory = Project(root)
    memory.add(RULE)
    evidence: Any = {"evidence": evidence_of(ERROR)[:1], "places": ("retry.py",)}
    dead_end = memory.add(DEAD_END, "dead_end", **evidence).memory
    assert pmem("edit", dead_end.id, "--stop-edits").code == 0
    assert pmem("setup", "opencode").code == 0
    return folder


def test_a_session_is_told_its_start_once_and_its_prompts_what_answers_them(project: Path) -> None:
    event = {"type": "session.created", "properties": {"info": {"id": "s"}}}
    ask = '"Which database do we use for orders?"'
    calls = (said("Good day to you all"), said("Thanks a lot, bye"), said(ask, "went on"))
    told = run(project, ("event", {"event": event}, {}), *calls)[1:]
    assert [len(message["parts"]) for message in told] == [2, 1, 2]
    for part in (told[0]["parts"][1], told[2]["parts"][1]):
        assert RULE in part["text"]
        assert (part["id"], part["messageID"], part["synthetic"]) == ("prt_1p", "m", True)
    assert DEAD_END.split(".")[0] in told[0]["parts"][1]["text"]


def test_files_and_errors_are_told_with_the_tools_result(project: Path) -> None:
    read = after("read", "RETRIES = 3", filePath=str(project / "retry.py"))
    other = after("read", "x", filePath=str(project / "other.py"))
    failed = after("bash", ERROR, 3, command="make pay")
    passed = after("bash", ERROR, 0, command="make pay")
    foreign = after("pmem_search", "x", query="retry.py")
    told = [one["output"] for one in run(project, read, other, failed, passed, foreign)]
    assert told[0].startswith(f"RETRIES = 3\n\n{ABOUT_FILE}")
    assert told[1] == "x"
    assert told[2].startswith(f"{ERROR}\n\n")
    assert "six retries" in told[2]
    assert told[3:] == [ERROR, "x"]


def test_an_edit_is_stopped_once_where_its_owner_allows_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"filePath": "retry.py", "oldString": "3", "newString": "5"}
    edit = ("tool.execute.before", {"tool": "edit", "sessionID": "s"}, {"args": given})
    assert run(project, edit) == [{"args": given}]
    monkeypatch.setenv("PMEM_HOOKS_DENY", "true")
    stopped, second = run(project, edit, edit)
    assert DEAD_END in stopped
    assert second == {"args": given}


def test_without_pmem_the_plugin_says_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.assistants.test_opencode.BIN", "/nowhere")
    monkeypatch.setenv("PATH", os.path.dirname(shutil.which("node") or ""))
    ask = said("Which database do we use for orders?")
    assert run(project, ask) == [ask[2]]
