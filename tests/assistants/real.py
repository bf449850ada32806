"""Codex and Gemini CLI themselves, offline, beside a model that is none: `make assistants`.

Both have to be installed (`npm install @openai/codex @google/gemini-cli`) and found on the PATH.
They run in a network namespace and a home of their own, so nothing leaves the machine. What is
looked at is the request that would have gone to a model, and what pmem noted of the session. The
model calls a tool at each turn: it searches, reads a file, edits it twice, as a memory stops it
once, and runs a command whose error is known.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from pmem import Project
from pmem.core.error_fingerprint import evidence_of
from pmem.core.own_words import ABOUT_ERROR, ABOUT_FILE, RECORDED, STOPS
from pmem.storage.local.noted_transcripts import NotedTranscripts
from pmem.storage.local.state import LocalState
from tests.cli.shell import BIN

ASKED: Final = "Which database do we use for orders?"
ANSWER: Final = "We use PostgreSQL for orders"
SECONDS: Final = 120
_INSIDE: Final = "--inside"
_ANSWERED: Final = ('"function_call_output"', '"functionResponse"')
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
READ, SEARCH, STOPPED_EDIT, EDIT, FAIL = range(5)
"""What the model does, in this order: Codex has no server's tools at its first request."""

_CODEX_CALLS: Final = (
    ("exec_command", {"cmd": f"cat {FILE}"}),
    ("search", {"query": "orders database"}),
    ("exec_command", {"cmd": f"apply_patch <<'EOF'\n{_PATCH}EOF"}),
    ("exec_command", {"cmd": f"apply_patch <<'EOF'\n{_PATCH}EOF"}),
    ("exec_command", {"cmd": _FAILING}),
)
_REPLACED: Final = {
    "file_path": FILE,
    "instruction": "more",
    "old_string": "= 3",
    "new_string": "= 5",
}
_GEMINI_CALLS: Final = (
    ("read_file", {"file_path": FILE}),
    ("mcp_pmem_search", {"query": "orders database"}),
    ("replace", _REPLACED),
    ("replace", _REPLACED),
    ("run_shell_command", {"command": _FAILING}),
)


class Model(BaseHTTPRequestHandler):
    """Calls its tools one by one, then says hello, in the form of the interface that is asked."""

    asked: Final[list[str]] = []

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length") or 0)
        request = json.dumps(json.loads(self.rfile.read(size)), ensure_ascii=False)
        self.asked.append(request)
        done = _answers(request) if ASKED in request else len(_CODEX_CALLS)
        make = _of_codex if self.path.endswith("/responses") else _of_gemini
        self._send(make(done))

    def do_GET(self) -> None:
        self._send([{"object": "list", "data": [], "models": []}])

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""

    def _send(self, events: Iterable[Mapping[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in events:
            name = f"event: {event['type']}\n" if "type" in event else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())


def _answers(request: str) -> int:
    """Count the answers of tools that a model is told."""
    return sum(request.count(mark) for mark in _ANSWERED)


def _of_codex(done: int) -> list[dict[str, Any]]:
    content = [{"type": "output_text", "text": _SAID, "annotations": []}]
    item: dict[str, Any] = {"type": "message", "role": "assistant", "id": "m", "content": content}
    if done < len(_CODEX_CALLS):
        name, given = _CODEX_CALLS[done]
        item = {"type": "function_call", "id": f"f{done}", "call_id": f"c{done}", "name": name}
        item |= {"namespace": "mcp__pmem"} if name == "search" else {}
        item |= {"arguments": json.dumps(given)}
    used = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "r", "output": [item], "usage": used}},
    ]


def _of_gemini(done: int) -> list[dict[str, Any]]:
    part: dict[str, Any] = {"text": _SAID}
    if done < len(_GEMINI_CALLS):
        name, given = _GEMINI_CALLS[done]
        part = {"functionCall": {"name": name, "args": given}}
    said = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
    return [{"candidates": [{**said, "index": 0}], "usageMetadata": {"totalTokenCount": 2}}]


def main() -> None:
    """Try each assistant; the first thing that is not as it should be ends it."""
    lacking = [name for name in ("codex", "gemini", "unshare", "ip") if not shutil.which(name)]
    if lacking:
        sys.exit(f"not on the PATH: {', '.join(lacking)}; {__doc__}")
    if sys.argv[1:] != [_INSIDE]:
        inside = [sys.executable, "-m", "tests.assistants.real", _INSIDE]
        apart = ["unshare", "--map-root-user", "--net"]
        sys.exit(subprocess.run([*apart, *inside], check=False).returncode)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with tempfile.TemporaryDirectory() as place:
        for name, run in (("codex", _codex), ("gemini", _gemini)):
            folder = Path(place, name)
            _try(name, folder, run, url)
            print(
                f"{name}: told, asked, told at a file, stopped once, told at an error, what"
                " helped counted, noted, taken in without pmem's own words, and taken back"
            )


def _try(name: str, folder: Path, run: Any, url: str) -> None:
    project, home = folder / "project", folder / "home"
    project.mkdir(parents=True)
    home.mkdir()
    around = {"HOME": str(home), "PATH": f"{BIN}:{os.environ['PATH']}", "LANG": "C.UTF-8"}
    for words in (["init", "--no-git"], ["add", ANSWER], ["setup", name]):
        _call(["pmem", *words], project, around)
    (project / FILE).write_text(CODE)
    _know(project, home, around)
    Model.asked.clear()
    run(project, home, around, url)
    assert "pmem" in _call([name, "mcp", "list"], project, around)
    told = [request for request in Model.asked if ASKED in request]
    assert told, "no request reached the model"
    assert told[0].count(ANSWER) == 2, told[0]  # at the start, and as the best answer
    assert any(mark in told[-1] for mark in _ANSWERED), told[-1]
    assert told[-1].count(ANSWER) == 3, told[-1]
    assert RECORDED in told[-1], told[-1]
    _see_what_is_said_at_calls(told)
    assert "= 5" in (project / FILE).read_text()
    _see_what_helped(project)
    (noted,) = NotedTranscripts(LocalState(str(project / ".project-memory"))).all()
    assert noted.harness == name
    assert ASKED in Path(noted.path).read_text(encoding="utf-8")
    assert not (project / ".project-memory" / "local" / "pmem.log").exists()
    _call(["pmem", "import", "--pending"], project, around)
    said = _call(["pmem", "conversation", "show", noted.session], project, around)
    assert f"user: {ASKED}" in said.splitlines(), said
    assert said.splitlines()[-1] == f"assistant: {_SAID}", said
    assert ERROR in said, said
    for text in (ANSWER, TRIED, ABOUT_FILE, ABOUT_ERROR, STOPS):
        assert text not in said, (text, said)
    assert not NotedTranscripts(LocalState(str(project / ".project-memory"))).all()
    _call(["pmem", "setup", name, "--remove"], project, around)
    assert sorted(os.listdir(project)) == [".project-memory", FILE]


def _know(project: Path, home: Path, around: Mapping[str, str]) -> None:
    """Let a dead end know of the file and the error, and stop an edit."""
    memory = Project(str(project / ".project-memory"))
    evidence = evidence_of(ERROR)[0]
    about: Any = {"type": "dead_end", "places": (FILE,), "evidence": (evidence,)}
    added = memory.add(TRIED, force=True, **about).record
    assert added is not None
    _call(["pmem", "edit", added.id, "--stop-edits"], project, around)
    other: Any = {"evidence": (evidence,)}
    memory.add(FIXED, force=True, **other)
    (home / ".config" / "pmem").mkdir(parents=True)
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


def _codex(project: Path, home: Path, around: Mapping[str, str], url: str) -> None:
    (home / ".codex").mkdir(exist_ok=True)
    (home / ".codex" / "config.toml").write_text(
        f'model = "none"\nmodel_provider = "none"\n[model_providers.none]\nname = "none"\n'
        f'base_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "NO_KEY"\n'
        f'[projects."{project}"]\ntrust_level = "trusted"\n'
    )
    options = ["--dangerously-bypass-hook-trust", "--skip-git-repo-check"]
    options += ["-s", "danger-full-access"]  # of a home of its own, in a network of its own
    _call(["codex", "exec", *options, ASKED], project, {**around, "NO_KEY": "x"})


def _gemini(project: Path, home: Path, around: Mapping[str, str], url: str) -> None:
    own = home / ".gemini"
    own.mkdir(exist_ok=True)
    (own / "trustedFolders.json").write_text(json.dumps({str(project): "TRUST_FOLDER"}))
    auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    (own / "settings.json").write_text(json.dumps(auth))
    model = {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "x"}
    _call(["gemini", "--yolo", "-m", "gemini-2.5-flash", "-p", ASKED], project, {**around, **model})


def _call(words: list[str], folder: Path, environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        words,
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout + done.stderr


if __name__ == "__main__":
    main()
