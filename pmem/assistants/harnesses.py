"""How each coding assistant is told about the memory: which file, which entry, in whose scope.

A project's files are shared, so they name `pmem`; a user's own name the program's whole path, as
hooks often run with a short PATH. Only what the assistants document for others to write is here.
"""

import os
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

import msgspec

from pmem.assistants.events import (
    NAMES,
    OF_TOOLS,
    POST_TOOL,
    PRE_TOOL,
    SESSION_END,
    TYPE_CHECKING,
)

if TYPE_CHECKING:
    from pmem.assistants.events import Event

Scope = Literal["project", "user"]
SECONDS: Final = 10
"""How long a hook may take."""
TOOL_SECONDS: Final = 5
"""How long one may take around a tool's call: somebody works."""
LAST_SECONDS: Final = 3
"""How long one may take at a session's end: Codex allows no more."""


class ServerForm(NamedTuple):
    """How an assistant lists servers of tools: below which names, and with what beside them."""

    path: tuple[str, ...]
    extra: Mapping[str, Any] = {}
    one_list: bool = False
    """Whether the program and its arguments are one list."""


class HookForm(NamedTuple):
    """How an assistant lists hooks: for which tools' calls, and how one is written.

    `nested` hooks stand in groups, `extra` beside each command, `alone` beside all of them in a
    file that has nothing else. Time-outs are in parts of a second.
    """

    matchers: Mapping["Event", str] = {}
    nested: bool = True
    extra: Mapping[str, Any] = {}
    alone: Mapping[str, Any] = {}
    parts: int = 1
    windows: tuple[str, str] | None = None
    """The key of a command for Windows alone, and its form there."""


class SetupFile(NamedTuple):
    """A file of an assistant's, from the project's folder or the user's home, and what goes in.

    `variable` names an environment variable that may have the first folder of a path in the home.
    """

    path: str
    server: ServerForm | None = None
    hooks: HookForm | None = None
    block: Literal["", "toml", "markdown", "javascript"] = ""
    variable: str = ""


class Harness(NamedTuple):
    """An assistant: its name, its files in each scope, and what is said when they are written."""

    title: str
    files: Mapping[Scope, tuple[SetupFile, ...]]
    said: Mapping[Scope, str] = {}


SHARED_PROGRAM: Final = "pmem"
"""What a project's files call, as everybody has it elsewhere or not at all."""
_IF_INSTALLED: Final = "command -v pmem >/dev/null 2>&1 || exit 0; pmem {}"
_IN_CMD: Final = "where /q pmem && pmem {} || exit /b 0"
_IN_POWERSHELL: Final = "if (Get-Command pmem -ErrorAction Ignore) {{ pmem {} }}"
_CLAUDE_HOOKS: Final = HookForm(
    {PRE_TOOL: "Read|Edit|Write|MultiEdit|NotebookEdit", POST_TOOL: "Bash"},
    extra={"type": "command"},
)
_CODEX_HOOKS: Final = HookForm(
    {PRE_TOOL: "^(apply_patch|Bash)$", POST_TOOL: "^Bash$"},
    extra={"type": "command"},
    windows=("commandWindows", _IN_CMD),
)
_GEMINI_HOOKS: Final = HookForm(
    {
        PRE_TOOL: "^(replace|write_file)$",
        POST_TOOL: "^(read_file|replace|write_file|run_shell_command)$",
    },
    extra={"type": "command", "name": "pmem"},
    parts=1000,
)
_CURSOR_HOOKS: Final = HookForm(nested=False, alone={"version": 1})
_VSCODE_HOOKS: Final = HookForm(
    nested=False, extra={"type": "command"}, windows=("windows", _IN_POWERSHELL)
)
_SERVERS: Final = ("mcpServers",)
_TRUST: Final = "Codex asks once whether these hooks may run: `/hooks` there shows them"
_ZED: Final = ServerForm(("context_servers",), {"env": {}})
_OPENCODE: Final = ServerForm(("mcp",), {"type": "local", "enabled": True}, one_list=True)


_CLAUDE: Final = SetupFile(
    ".claude/settings.json", hooks=_CLAUDE_HOOKS, variable="CLAUDE_CONFIG_DIR"
)
_CODEX: Final = (
    SetupFile(".codex/config.toml", block="toml", variable="CODEX_HOME"),
    SetupFile(".codex/hooks.json", hooks=_CODEX_HOOKS, variable="CODEX_HOME"),
)
_GEMINI: Final = (SetupFile(".gemini/settings.json", ServerForm(_SERVERS), _GEMINI_HOOKS),)
_CURSOR: Final = (
    SetupFile(".cursor/mcp.json", ServerForm(_SERVERS)),
    SetupFile(".cursor/hooks.json", hooks=_CURSOR_HOOKS),
)
HARNESSES: Final[Mapping[str, Harness]] = {
    "claude-code": Harness(
        "Claude Code",
        {
            "project": (SetupFile(".mcp.json", ServerForm(_SERVERS, {"type": "stdio"})), _CLAUDE),
            "user": (_CLAUDE,),
        },
        {"user": "for its tools in every project: claude mcp add --scope user pmem -- pmem mcp"},
    ),
    "codex": Harness(
        "Codex", {"project": _CODEX, "user": _CODEX}, {"project": _TRUST, "user": _TRUST}
    ),
    "gemini": Harness("Gemini CLI", {"project": _GEMINI, "user": _GEMINI}),
    "cursor": Harness("Cursor", {"project": _CURSOR, "user": _CURSOR}),
    "vscode": Harness(
        "VS Code",
        {
            "project": (
                SetupFile(".vscode/mcp.json", ServerForm(("servers",), {"type": "stdio"})),
                SetupFile(".github/hooks/pmem.json", hooks=_VSCODE_HOOKS),
            )
        },
    ),
    "opencode": Harness(
        "OpenCode",
        {
            "project": (
                SetupFile("opencode.json", _OPENCODE),
                SetupFile(".opencode/plugin/pmem.js", block="javascript"),
            ),
            "user": (
                SetupFile(".config/opencode/opencode.json", _OPENCODE),
                SetupFile(".config/opencode/plugin/pmem.js", block="javascript"),
            ),
        },
    ),
    "zed": Harness("Zed", {"user": (SetupFile(".config/zed/settings.json", _ZED),)}),
    "agents-md": Harness("AGENTS.md", {"project": (SetupFile("AGENTS.md", block="markdown"),)}),
}
"""Every assistant by its name on the command line."""
READ_BY_VSCODE: Final = (".claude/settings.json", ".claude/settings.local.json")
"""Files of Claude Code's whose hooks VS Code runs as well, in the project and in the home."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """What goes into a JSON file at one place: a server, or a hook."""

    path: tuple[str, ...]
    value: dict[str, Any]
    event: str = ""


def entries(harness: str, file: SetupFile, program: str) -> list[Entry]:
    """Return what goes into a JSON file."""
    found = []
    if file.hooks is not None:
        names = NAMES[harness]
        for event in sorted(names, key=OF_TOOLS.__contains__):  # those of tools at the end
            extra = dict(file.hooks.extra)
            kind = {"type": extra.pop("type")} if "type" in extra else {}
            seconds = TOOL_SECONDS if event in OF_TOOLS else SECONDS
            seconds = LAST_SECONDS if event == SESSION_END else seconds
            timeout = {"timeout": seconds * file.hooks.parts}
            commands = _commands(file.hooks, program, f"hook {event} --harness {harness}")
            handler = {**kind, **commands, **extra, **timeout}
            matcher = file.hooks.matchers.get(event)
            about = {} if matcher is None else {"matcher": matcher}
            value = {**about, "hooks": [handler]} if file.hooks.nested else handler
            found.append(Entry(path=("hooks", names[event]), value=value, event=event))
    if file.server is not None:
        extra = dict(file.server.extra)
        kind = {"type": extra.pop("type")} if "type" in extra else {}
        called: dict[str, Any] = {"command": program, "args": ["mcp"]}
        if file.server.one_list:
            called = {"command": [program, "mcp"]}
        value = {**kind, **called, **extra}
        found.append(Entry(path=(*file.server.path, "pmem"), value=value))
    return found


def _commands(form: HookForm, program: str, called: str) -> dict[str, str]:
    """Return what a hook runs; in a file that others share, nothing where pmem is missing."""
    if program != SHARED_PROGRAM:
        import shlex

        return {"command": f"{shlex.quote(program)} {called}"}
    windows = {form.windows[0]: form.windows[1].format(called)} if form.windows else {}
    return {"command": _IF_INSTALLED.format(called), **windows}


def place_of(file: SetupFile, scope: Scope, top: str, environment: Mapping[str, str]) -> str:
    """Return a file's path."""
    if scope == "project":
        return os.path.join(top, *file.path.split("/"))
    base = environment.get("HOME") or os.path.expanduser("~")
    moved = environment.get(file.variable) if file.variable else ""
    if moved:
        return os.path.join(moved, *file.path.split("/")[1:])
    if file.path.startswith(".config/") and environment.get("XDG_CONFIG_HOME"):
        return os.path.join(environment["XDG_CONFIG_HOME"], *file.path.split("/")[1:])
    return os.path.join(base, *file.path.split("/"))
