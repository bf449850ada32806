"""A model that is none, for the real programs: it answers in the form of each one's interface."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

from tests.cli.shell import BIN

ROOT: Final = Path(__file__).parents[2]
SECONDS: Final = 120
INSIDE: Final = "--inside"


class Call(NamedTuple):
    """A tool that the model calls, by pmem's name or its program's, and with what."""

    name: str
    given: Mapping[str, Any]
    is_ours: bool = False


class FakeModel(BaseHTTPRequestHandler):
    """Says one text, or calls a tool: what a request calls for is `called_for`.

    Attributes:
        asked: Every request, as JSON.
        said: What it says where it calls nothing.
    """

    asked: ClassVar[list[str]]
    said: str = "Hello."

    def called_for(self, request: str) -> Call | None:
        """Return what to call; nothing to say hello."""
        raise NotImplementedError

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length") or 0)
        request = json.dumps(json.loads(self.rfile.read(size) or b"{}"), ensure_ascii=False)
        self.asked.append(request)
        call = self.called_for(request)
        if "/messages" in self.path:
            self._send(_of_claude(call, self.said, len(self.asked)))
        else:
            named = {"responses": _of_codex, "completions": _of_opencode}
            make = named.get(self.path.rpartition("/")[2], _of_gemini)
            self._send(make(call, self.said, len(self.asked)))

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


def _of_claude(call: Call | None, said: str, number: int) -> list[dict[str, Any]]:
    block: dict[str, Any] = {"type": "text", "text": ""}
    delta = {"type": "text_delta", "text": said}
    if call is not None:
        name = f"mcp__pmem__{call.name}" if call.is_ours else call.name
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call.given)}
    begun: dict[str, Any] = {"type": "message", "role": "assistant", "model": "none", "content": []}
    begun |= {"stop_reason": None, "stop_sequence": None}
    why = "end_turn" if call is None else "tool_use"
    used = {"input_tokens": 1, "output_tokens": 1}
    return [
        {"type": "message_start", "message": {**begun, "id": f"m{number}", "usage": used}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": why, "stop_sequence": None},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    ]


def _of_codex(call: Call | None, said: str, number: int) -> list[dict[str, Any]]:
    content = [{"type": "output_text", "text": said, "annotations": []}]
    item: dict[str, Any] = {"type": "message", "role": "assistant", "id": "m", "content": content}
    if call is not None:
        item = {"type": "function_call", "id": f"f{number}", "call_id": f"c{number}"}
        item |= {"name": call.name, "arguments": json.dumps(call.given)}
        item |= {"namespace": "mcp__pmem"} if call.is_ours else {}
    used = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "r", "output": [item], "usage": used}},
    ]


def _of_opencode(call: Call | None, said: str, number: int) -> list[dict[str, Any]]:
    delta: dict[str, Any] = {"role": "assistant", "content": said}
    if call is not None:
        name = f"pmem_{call.name}" if call.is_ours else call.name
        function = {"name": name, "arguments": json.dumps(call.given)}
        called = {"index": 0, "id": f"c{number}", "type": "function", "function": function}
        delta = {"role": "assistant", "tool_calls": [called]}
    why = "stop" if call is None else "tool_calls"
    used = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    chunk = {"id": f"m{number}", "object": "chat.completion.chunk", "model": "none", "created": 1}
    return [
        {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": why}], "usage": used},
    ]


def _of_gemini(call: Call | None, said: str, number: int) -> list[dict[str, Any]]:
    part: dict[str, Any] = {"text": said}
    if call is not None:
        name = f"mcp_pmem_{call.name}" if call.is_ours else call.name
        part = {"functionCall": {"name": name, "args": call.given}}
    done = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return [{"candidates": [done], "usageMetadata": {"totalTokenCount": number}}]


def serve_apart(model: type[FakeModel], module: str) -> str:
    """Serve a model in a network of its own, and return its address.

    The first call starts the module once more in there, and ends this process with what it ends.
    """
    if sys.argv[1:] != [INSIDE]:
        inside = [sys.executable, "-m", module, INSIDE]
        apart = ["unshare", "--map-root-user", "--net"]
        sys.exit(subprocess.run([*apart, *inside], check=False).returncode)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


SetUp = Callable[[Path, Path, str], dict[str, str]]
"""Has a program in a home ask the model at an address, and returns its variables."""


def begin(folder: Path) -> tuple[Path, Path, dict[str, str]]:
    """Make a project and a home, and return them and the variables of every program."""
    project, home = folder / "project", folder / "home"
    project.mkdir(parents=True)
    home.mkdir()
    tried = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    return project, home, {
        "HOME": str(home), "PATH": f"{BIN}:{os.environ['PATH']}", "LANG": "C.UTF-8", **tried
    }  # fmt: skip


def set_up_claude(_project: Path, _home: Path, url: str) -> dict[str, str]:
    """Return the variables by which Claude Code asks the model."""
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "IS_SANDBOX": "1"}
    return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "x", **quiet}


def set_up_codex(project: Path, home: Path, url: str) -> dict[str, str]:
    """Let Codex ask the model, and return its variables."""
    (home / ".codex").mkdir(exist_ok=True)
    (home / ".codex" / "config.toml").write_text(
        f'model = "none"\nmodel_provider = "none"\n[model_providers.none]\nname = "none"\n'
        f'base_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "NO_KEY"\n'
        f'[projects."{project}"]\ntrust_level = "trusted"\n'
    )
    return {"NO_KEY": "x"}


def set_up_gemini(project: Path, home: Path, url: str) -> dict[str, str]:
    """Let Gemini CLI ask the model, and return its variables."""
    own = home / ".gemini"
    own.mkdir(exist_ok=True)
    trusted = {str(folder): "TRUST_FOLDER" for folder in (project, ROOT)}
    (own / "trustedFolders.json").write_text(json.dumps(trusted))
    auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    (own / "settings.json").write_text(json.dumps(auth))
    return {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "x"}


def set_up_opencode(_project: Path, home: Path, url: str) -> dict[str, str]:
    """Let OpenCode ask the model, and return its variables."""
    own = home / ".config" / "opencode"
    own.mkdir(parents=True, exist_ok=True)
    models = {"none": {"name": "none", "tool_call": True}}
    options = {"baseURL": f"{url}/v1", "apiKey": "x"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": models}
    settings = {"provider": {"none": provider}, "model": "none/none", "autoupdate": False}
    (own / "opencode.json").write_text(json.dumps({**settings, "share": "disabled"}))
    return {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"}


CLAUDE_WORDS: Final = ("claude", "-p", "--permission-mode", "bypassPermissions")
CODEX_WORDS: Final = (
    "codex", "exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check",
    "-s", "danger-full-access",
)  # fmt: skip
"""Codex, of a home of its own, in a network of its own."""
OPENCODE_WORDS: Final = ("opencode", "run", "--model", "none/none")
GEMINI_WORDS: Final = ("gemini", "--yolo", "-m", "gemini-2.5-flash", "-p")

PROGRAMS: Final[Mapping[str, tuple[SetUp, tuple[str, ...]]]] = {
    "claude-code": (set_up_claude, CLAUDE_WORDS),
    "codex": (set_up_codex, CODEX_WORDS),
    "gemini": (set_up_gemini, GEMINI_WORDS),
    "opencode": (set_up_opencode, OPENCODE_WORDS),
}
"""How each program is set up, and how it is asked."""
WITH_SESSIONS: Final = ("claude-code", "codex", "gemini")
"""Those whose sessions are read."""


def try_each(
    names: Sequence[str],
    attempt: Callable[[str, Path, SetUp, tuple[str, ...], str], None],
    model: type[FakeModel],
    module: str,
    done: str,
) -> None:
    """Try each program, or those that `PROGRAMS` names; the first thing that is wrong ends it."""
    wanted = os.environ.get("PROGRAMS", ",".join(names)).split(",")
    chosen = {name: PROGRAMS[name] for name in names if name in wanted}
    needed = (*(words[0] for _, words in chosen.values()), "unshare", "ip")
    lacking = [name for name in needed if not shutil.which(name)]
    if lacking:
        sys.exit(f"not on the PATH: {', '.join(lacking)}; see {module}")
    url = serve_apart(model, module)
    with tempfile.TemporaryDirectory() as place:
        for name, (set_up, words) in chosen.items():
            attempt(name, Path(place, name), set_up, words, url)
            print(f"{name}: {done}")


def call(words: Iterable[str], folder: Path, environment: Mapping[str, str]) -> str:
    """Run a program, which must succeed, and return what it printed, what it said after that."""
    done = subprocess.run(
        [*words],
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, (words, done.stdout[-500:], done.stderr[-500:])
    return done.stdout + done.stderr
