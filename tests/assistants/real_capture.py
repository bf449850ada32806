"""Claude Code, Codex and Gemini CLI asked what to keep, offline: a part of `make assistants`.

A person rules something. The model, which is none, says hello; asked by the hook what is worth
keeping, it calls `remember`; and the next session reads what it noted, marked as unconfirmed.
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

from pmem.core.own_words import ASKS
from tests.cli.shell import BIN

RULE: Final = (
    "No, that table is not ours: never write to seen_parcels, because only the warehouse does."
)
KEPT: Final = "Never write to the table seen_parcels: only the warehouse does"
AGAIN: Final = "Say hello once more, please"
_GIVEN: Final = {"content": KEPT, "type": "constraint"}
_SECONDS: Final = 120
_INSIDE: Final = "--inside"


class Model(BaseHTTPRequestHandler):
    """Says hello, and keeps the rule where it is asked to."""

    asked: Final[list[str]] = []

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length") or 0)
        request = json.dumps(json.loads(self.rfile.read(size) or b"{}"), ensure_ascii=False)
        self.asked.append(request)
        keeps = ASKS in request and KEPT not in request
        if "/messages" in self.path:
            events = _of_claude(len(self.asked), keeps=keeps)
        else:
            make = _of_codex if self.path.endswith("/responses") else _of_gemini
            events = make(keeps=keeps)
        self._send(events)

    def do_GET(self) -> None:
        self._send([])

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""

    def _send(self, events: Iterable[Mapping[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in events:
            name = f"event: {event['type']}\n" if "type" in event else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())


def _of_claude(number: int, *, keeps: bool) -> list[dict[str, Any]]:
    block: dict[str, Any] = {"type": "text", "text": ""}
    delta = {"type": "text_delta", "text": "Hello."}
    if keeps:
        name = "mcp__pmem__remember"
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(_GIVEN)}
    begun: dict[str, Any] = {"type": "message", "role": "assistant", "model": "none", "content": []}
    begun |= {"stop_reason": None, "stop_sequence": None}
    ended: dict[str, Any] = {
        "stop_reason": "tool_use" if keeps else "end_turn",
        "stop_sequence": None,
    }
    used = {"input_tokens": 1, "output_tokens": 1}
    return [
        {"type": "message_start", "message": {**begun, "id": f"m{number}", "usage": used}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]


def _of_codex(*, keeps: bool) -> list[dict[str, Any]]:
    content = [{"type": "output_text", "text": "Hello.", "annotations": []}]
    item: dict[str, Any] = {"type": "message", "role": "assistant", "id": "m", "content": content}
    if keeps:
        item = {"type": "function_call", "id": "f", "call_id": "c", "name": "remember"}
        item |= {"namespace": "mcp__pmem", "arguments": json.dumps(_GIVEN)}
    used = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "r", "output": [item], "usage": used}},
    ]


def _of_gemini(*, keeps: bool) -> list[dict[str, Any]]:
    part: dict[str, Any] = {"text": "Hello."}
    if keeps:
        part = {"functionCall": {"name": "mcp_pmem_remember", "args": _GIVEN}}
    said = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return [{"candidates": [said], "usageMetadata": {"totalTokenCount": 2}}]


def main() -> None:
    """Try each assistant; the first thing that is not as it should be ends it."""
    lacking = [name for name in (*PROGRAMS, "unshare", "ip") if not shutil.which(name)]
    if lacking:
        sys.exit(f"not on the PATH: {', '.join(lacking)}; {__doc__}")
    if sys.argv[1:] != [_INSIDE]:
        inside = [sys.executable, "-m", "tests.assistants.real_capture", _INSIDE]
        apart = ["unshare", "--map-root-user", "--net"]
        sys.exit(subprocess.run([*apart, *inside], check=False).returncode)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as place:
        for program in PROGRAMS:
            _try(program, Path(place, program), f"http://127.0.0.1:{server.server_port}")
            print(
                f"{program}: asked, noted, waits in the inbox, told as unconfirmed, no talk of it"
            )


def _try(program: str, folder: Path, url: str) -> None:
    harness, write_settings, words = PROGRAMS[program]
    project, home = folder / "project", folder / "home"
    project.mkdir(parents=True)
    home.mkdir()
    around = {"HOME": str(home), "PATH": f"{BIN}:{os.environ['PATH']}", "LANG": "C.UTF-8"}
    around |= write_settings(project, home, url)
    _call(["git", "init", "--quiet"], project, around)
    for command in (["init", "--no-git"], ["setup", harness]):
        _call(["pmem", *command], project, around)
    Model.asked.clear()
    _call([program, *words, RULE], project, around)
    questions = [request for request in Model.asked if ASKS in request]
    assert questions, "the hook asked nothing"
    assert questions[-1].count(ASKS) == 1
    _see_what_was_noted(project, around)
    Model.asked.clear()
    _call([program, *words, AGAIN], project, around)
    assert "not confirmed) " + KEPT in Model.asked[0], Model.asked[0]
    assert ASKS not in Model.asked[-1]
    _call(["pmem", "import", "--pending"], project, around)
    found = json.loads(_call(["pmem", "search", "worth keeping", "--json"], project, around))
    assert ASKS not in json.dumps(found)


def _see_what_was_noted(project: Path, around: Mapping[str, str]) -> None:
    (memory,) = json.loads(_call(["pmem", "list", "--json"], project, around))["data"]["items"]
    assert memory["content"] == KEPT
    (item,) = json.loads(_call(["pmem", "inbox", "--json"], project, around))["data"]["items"]
    assert item["kind"] == "noted"
    assert item["id"] == memory["id"]


def _for_claude(project: Path, home: Path, url: str) -> dict[str, str]:
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "IS_SANDBOX": "1"}
    return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "x", **quiet}


def _for_codex(project: Path, home: Path, url: str) -> dict[str, str]:
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(
        f'model = "none"\nmodel_provider = "none"\n[model_providers.none]\nname = "none"\n'
        f'base_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "NO_KEY"\n'
        f'[projects."{project}"]\ntrust_level = "trusted"\n'
    )
    return {"NO_KEY": "x"}


def _for_gemini(project: Path, home: Path, url: str) -> dict[str, str]:
    own = home / ".gemini"
    own.mkdir()
    (own / "trustedFolders.json").write_text(json.dumps({str(project): "TRUST_FOLDER"}))
    auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    (own / "settings.json").write_text(json.dumps(auth))
    return {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "x"}


def _call(words: list[str], folder: Path, environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        words,
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert done.returncode == 0, (words, done.stdout[-500:], done.stderr[-500:])
    return done.stdout


PROGRAMS: Final[Mapping[str, Any]] = {
    "claude": ("claude-code", _for_claude, ("-p", "--permission-mode", "bypassPermissions")),
    "codex": (
        "codex",
        _for_codex,
        (
            "exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check",
            "-s", "danger-full-access",
        ),
    ),
    "gemini": ("gemini", _for_gemini, ("--yolo", "-m", "gemini-2.5-flash", "-p")),
}  # fmt: skip
"""By program: the assistant, what writes its settings and returns its variables, its words."""


if __name__ == "__main__":
    main()
