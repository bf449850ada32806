"""The packages of assistants, from the table that `pmem setup` writes by.

They are a plugin of Claude Code, one of Codex, an extension of Gemini CLI and a plugin of OpenCode
in packages/, the two files that make a clone of this repository a marketplace, and server.json for
the registry of MCP servers. docs/generate.py writes them. Once pmem is
published, put the account in place of OWNER here, and `mcp-name: ` with the server's name into
README.md.
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from pmem import __version__
from pmem.assistants.harnesses import (
    HARNESSES,
    SECONDS,
    SHARED_PROGRAM,
    ServerForm,
    SetupFile,
    entries,
)
from pmem.assistants.json_entries import JsonEntries
from pmem.assistants.texts import agents_md, opencode_plugin
from pmem.storage.files.worktree import MEMORY_FOLDER

_PROJECT: Final = tomllib.loads(
    Path(__file__).parents[1].joinpath("pyproject.toml").read_text(encoding="utf-8")
)["project"]
_ABOUT: Final = {
    "name": "pmem",
    "version": __version__,
    "description": _PROJECT["description"],
    "author": _PROJECT["authors"][0],
    "license": _PROJECT["license"],
    "keywords": _PROJECT["keywords"],
}
_LISTED: Final = {"name": "pmem", "description": _ABOUT["description"]}
_SERVERS: Final = ServerForm(("mcpServers",))
"""How a package lists the server where the assistant's own settings are no JSON."""
_SKILL: Final = f"""\
---
name: project-memory
description: >-
  What this project's people recorded - rules, decisions, how-to, what failed. Use it where there
  is a folder {MEMORY_FOLDER}/, before you decide something, when somebody asks for a reason, when
  the person settles or corrects something, and when an attempt fails.
---

{{when}}

The tools of the server `pmem` do the same: `search`, `remember`, `tried`, `update`.
"""
_README: Final = f"""\
# pmem for {{title}}

Gives {{title}} the memory that a project keeps in its repository. A session starts with the
project's rules, how-to and decisions. Prompts, files and errors bring what people recorded about
them, and tools search the memory and add to it.

It needs the program: `uv tool install '{_PROJECT["name"]}[mcp]'`. Without it the hooks are silent.
Use it in place of `pmem setup {{name}}`, not beside it. From a clone of this repository:

```text
{{commands}}
```

Made by `docs/generate.py` from the table of `pmem setup`; change it there.
"""


class _Package(NamedTuple):
    """How an assistant reads a package: its manifest, what stands there, how it is installed."""

    manifest: str
    more: Mapping[str, Any]
    commands: tuple[str, ...]


_PACKAGES: Final = {
    "claude-code": _Package(
        ".claude-plugin/plugin.json",
        {},
        (
            "claude plugin marketplace add ./",
            "claude plugin install pmem@pmem",
            "claude plugin uninstall pmem@pmem",
        ),
    ),
    "codex": _Package(
        ".codex-plugin/plugin.json",
        {"skills": "./skills", "mcpServers": "./.mcp.json", "hooks": "./hooks/hooks.json"},
        (
            "codex plugin marketplace add .",
            "codex plugin add pmem@pmem      # then trust its hooks: /hooks",
            "codex plugin remove pmem@pmem",
        ),
    ),
    "gemini": _Package(
        "gemini-extension.json",
        {"contextFileName": "GEMINI.md"},
        (
            "gemini extensions install packages/gemini",
            "gemini extensions uninstall pmem",
        ),
    ),
}


def files() -> dict[str, str]:
    """Return every file by its path below the repository's top."""
    found = {
        ".claude-plugin/marketplace.json": as_json(_claude_marketplace()),
        ".agents/plugins/marketplace.json": as_json(_codex_marketplace()),
        "server.json": as_json(_registry()),
    }
    for name in _PACKAGES:
        found |= {f"packages/{name}/{path}": text for path, text in _files_of(name).items()}
    return found | {f"packages/opencode/{path}": text for path, text in _opencode().items()}


def _files_of(name: str) -> dict[str, str]:
    """Return one package: what `setup` writes into a project, its manifest, and the texts."""
    package, harness = _PACKAGES[name], HARNESSES[name]
    written = harness.files["project"]
    hooks = next(file.hooks for file in written if file.hooks)
    server = next((file.server for file in written if file.server), _SERVERS)
    when = agents_md(MEMORY_FOLDER).put(None).partition("-->\n\n")[2].rpartition("\n\n<!--")[0]
    commands = "\n".join(package.commands)
    listed = _entries(name, SetupFile("", server=server))
    manifest = {**_ABOUT, **package.more}
    found = {
        "hooks/hooks.json": _entries(name, SetupFile("", hooks=hooks)),
        "skills/project-memory/SKILL.md": _SKILL.format(when=when.replace("## ", "# ")),
        "README.md": _README.format(name=name, title=harness.title, commands=commands),
    }
    if name == "gemini":
        found["GEMINI.md"] = f"{when}\n\nWithout that folder, none of this applies.\n"
        manifest |= json.loads(listed)
    else:
        found[".mcp.json"] = listed
    return {package.manifest: as_json(manifest), **found}


def _opencode() -> dict[str, str]:
    """Return OpenCode's plugin and its settings, as `setup` writes them, and how to take them."""
    server, _ = HARNESSES["opencode"].files["project"]
    commands = (
        "mkdir -p ~/.config/opencode/plugin && cp packages/opencode/pmem.js $_",
        "# and what opencode.json here has, into ~/.config/opencode/opencode.json",
    )
    about = {"name": "opencode", "title": "OpenCode", "commands": "\n".join(commands)}
    return {
        "pmem.js": opencode_plugin(SHARED_PROGRAM, SECONDS).put(None),
        "opencode.json": _entries("opencode", server),
        "README.md": _README.format(**about),
    }


def _entries(name: str, file: SetupFile) -> str:
    """Return a file as `pmem setup NAME` makes it where there is none."""
    return JsonEntries(entries(name, file, SHARED_PROGRAM), {}, bool).put(None)


def as_json(members: Mapping[str, Any]) -> str:
    """Return the text of a file of JSON."""
    return json.dumps(members, indent=2, ensure_ascii=False) + "\n"


def _claude_marketplace() -> dict[str, Any]:
    plugin = {**_LISTED, "source": "./packages/claude-code"}
    return {**_LISTED, "owner": _ABOUT["author"], "plugins": [plugin]}


def _codex_marketplace() -> dict[str, Any]:
    plugin = {
        "name": "pmem",
        "source": {"source": "local", "path": "./packages/codex"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": "Productivity",
    }
    return {"name": "pmem", "interface": {"displayName": "pmem"}, "plugins": [plugin]}


def _registry() -> dict[str, Any]:
    """Return the server as the registry lists it: `uvx --with ...[mcp] ...@VERSION mcp`.

    To publish it, put the account in place of OWNER, and `mcp-name: NAME` into README.md.
    """
    package = {
        "registryType": "pypi",
        "identifier": _PROJECT["name"],
        "version": __version__,
        "runtimeHint": "uvx",
        "runtimeArguments": [
            {"type": "named", "name": "--with", "value": f"{_PROJECT['name']}[mcp]"}
        ],
        "packageArguments": [{"type": "positional", "value": "mcp"}],
        "transport": {"type": "stdio"},
    }
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": "io.github.OWNER/pmem",
        "title": "pmem",
        "description": _ABOUT["description"],
        "version": __version__,
        "packages": [package],
    }
