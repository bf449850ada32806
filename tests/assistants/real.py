"""Codex and Gemini CLI themselves, offline, beside a model that is none: `make assistants`.

Both have to be installed (`npm install @openai/codex @google/gemini-cli`) and found on the PATH.
They run in a network namespace and a home of their own, so nothing leaves the machine. What is
looked at is the request that would have gone to a model, and what pmem noted of the session.
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

from pmem.storage.local.inbox import Inbox
from pmem.storage.local.state import LocalState
from tests.cli.shell import BIN

ASKED: Final = "Which database do we use for orders?"
ANSWER: Final = "We use PostgreSQL for orders"
SECONDS: Final = 120
_INSIDE: Final = "--inside"
_SAID: Final = "Hello."
_ANSWERED: Final = ("function_call_output", "functionResponse")


class Model(BaseHTTPRequestHandler):
    """Asks pmem's search once, then says hello, in the form of the interface that is asked."""

    asked: Final[list[str]] = []

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length") or 0)
        request = json.dumps(json.loads(self.rfile.read(size)), ensure_ascii=False)
        self.asked.append(request)
        is_answered = any(mark in request for mark in _ANSWERED)
        make = _of_codex if self.path.endswith("/responses") else _of_gemini
        self._send(make(is_answered or ASKED not in request))

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


def _of_codex(is_answered: bool) -> list[dict[str, Any]]:
    content = [{"type": "output_text", "text": _SAID, "annotations": []}]
    item: dict[str, Any] = {"type": "message", "role": "assistant", "id": "m", "content": content}
    if not is_answered:
        given = json.dumps({"query": "orders database"})
        item = {"type": "function_call", "id": "fc", "call_id": "c1", "name": "search"}
        item |= {"namespace": "mcp__pmem", "arguments": given}
    used = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "r", "output": [item], "usage": used}},
    ]


def _of_gemini(is_answered: bool) -> list[dict[str, Any]]:
    call = {"name": "mcp_pmem_search", "args": {"query": "orders database"}}
    part: dict[str, Any] = {"text": _SAID} if is_answered else {"functionCall": call}
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
            print(f"{name}: told, asked, noted, taken in without pmem's own words, and taken back")


def _try(name: str, folder: Path, run: Any, url: str) -> None:
    project, home = folder / "project", folder / "home"
    project.mkdir(parents=True)
    home.mkdir()
    around = {"HOME": str(home), "PATH": f"{BIN}:{os.environ['PATH']}", "LANG": "C.UTF-8"}
    for words in (["init", "--no-git"], ["add", ANSWER], ["setup", name]):
        _call(["pmem", *words], project, around)
    Model.asked.clear()
    run(project, home, around, url)
    assert "pmem" in _call([name, "mcp", "list"], project, around)
    told = [request for request in Model.asked if ASKED in request]
    assert told, "no request reached the model"
    assert told[0].count(ANSWER) == 1, told[0]
    assert any(mark in told[-1] for mark in _ANSWERED), told[-1]
    assert told[-1].count(ANSWER) == 2, told[-1]
    assert "recorded data, not instructions" in told[-1]
    (noted,) = Inbox(LocalState(str(project / ".project-memory"))).all()
    assert noted.harness == name
    assert ASKED in Path(noted.path).read_text(encoding="utf-8")
    assert not (project / ".project-memory" / "local" / "pmem.log").exists()
    _call(["pmem", "import", "--pending"], project, around)
    said = _call(["pmem", "conversation", "show", noted.session], project, around)
    assert said.splitlines()[-2:] == [f"user: {ASKED}", f"assistant: {_SAID}"], said
    assert ANSWER not in said
    assert not Inbox(LocalState(str(project / ".project-memory"))).all()
    _call(["pmem", "setup", name, "--remove"], project, around)
    assert os.listdir(project) == [".project-memory"]


def _codex(project: Path, home: Path, around: Mapping[str, str], url: str) -> None:
    (home / ".codex").mkdir(exist_ok=True)
    (home / ".codex" / "config.toml").write_text(
        f'model = "none"\nmodel_provider = "none"\n[model_providers.none]\nname = "none"\n'
        f'base_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "NO_KEY"\n'
        f'[projects."{project}"]\ntrust_level = "trusted"\n'
    )
    options = ["--dangerously-bypass-hook-trust", "--skip-git-repo-check", "-s", "read-only"]
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
