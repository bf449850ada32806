"""Trying what was set up: do the hook and the tools answer, and does the assistant let them run."""

import json
import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

SECONDS: Final = 20
_TOLD: Final = {"hook_event_name": "SessionStart", "source": "startup"}
_QUIET: Final = {"PMEM_RECORD_ACCESS": "false", "PMEM_RECORD_OPERATIONS": "false"}


_EXTRA: Final = "mcp"
MISSING: Final = "the assistant's tools do not start: run `pip install 'pmem-cli[mcp]'`"


def trouble_of(program: str, harness: str, folder: str, environment: Mapping[str, str]) -> str:
    """Call a hook as the assistant would, and say what is wrong with its answer; else nothing."""
    import subprocess

    around = {key: value for key, value in environment.items() if key != "PMEM_HOOKS"}
    try:
        done = subprocess.run(  # noqa: S603 - pmem itself, without a shell
            [program, "hook", "session-start", "--harness", harness],
            cwd=folder,
            env={**around, **_QUIET},
            input=json.dumps({**_TOLD, "cwd": folder}).encode(),
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"the hook cannot be run: {error}"
    if done.returncode:
        return f"the hook exits with {done.returncode}"
    try:
        answered = isinstance(json.loads(done.stdout), dict)
    except ValueError:
        answered = False
    return "" if answered else "the hook's answer is no JSON object"


def is_trusted_by_codex(path: str, environment: Mapping[str, str]) -> bool:
    """Tell whether somebody has told Codex that hooks of a file may run."""
    import tomllib

    home = environment.get("CODEX_HOME") or os.path.join(
        environment.get("HOME") or os.path.expanduser("~"), ".codex"
    )
    try:
        with open(os.path.join(home, "config.toml"), "rb") as file:
            hooks = tomllib.load(file).get("hooks", {})
    except (OSError, ValueError):
        return False
    states = hooks.get("state", {}) if isinstance(hooks, dict) else {}
    return isinstance(states, dict) and any(name.startswith(f"{path}:") for name in states)


def can_serve() -> bool:
    """Tell whether tools can be served here."""
    return find_spec(_EXTRA) is not None


def missing_tools(harness: str, top: str, environment: Mapping[str, str]) -> str:
    """Say that the tools that an assistant was told of do not start; nothing where they do."""
    if can_serve():
        return ""
    from pmem.assistants.harnesses import HARNESSES, place_of

    known = HARNESSES.get(harness)
    for scope, files in known.files.items() if known else ():
        for file in files:
            if file.server is None and file.block != "toml":
                continue
            try:
                with open(place_of(file, scope, top, environment), "rb") as settings:
                    if b'"mcp"' in settings.read():
                        return MISSING
            except OSError:
                continue
    return ""
