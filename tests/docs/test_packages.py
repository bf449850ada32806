"""The packages tell an assistant what `pmem setup` tells it, and the registry how to start pmem."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from pmem import __version__
from tests.faults.console import pmem

TOP = Path(__file__).parents[2]
PACKAGES = TOP / "packages"
GUARD = "command -v pmem >/dev/null 2>&1 || exit 0; pmem hook "
WRITTEN = {
    "claude-code": (".mcp.json", ".claude/settings.json"),
    "codex": (".codex/config.toml", ".codex/hooks.json"),
    "gemini": (".gemini/settings.json", ".gemini/settings.json"),
}
"""Where `setup` puts the server and the hooks."""
MANIFESTS = {
    "claude-code": ".claude-plugin/plugin.json",
    "codex": ".codex-plugin/plugin.json",
    "gemini": "gemini-extension.json",
}


def _read(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)


def _parts(told: dict[str, Any]) -> Any:
    return told["mcpServers"] if "mcpServers" in told else told["mcp_servers"]


@pytest.mark.parametrize("name", WRITTEN)
def test_a_package_has_the_server_and_the_hooks_of_setup(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert pmem("init").code == 0
    assert pmem("setup", name).code == 0
    server, hooks = (_read(tmp_path / path) for path in WRITTEN[name])
    listed = PACKAGES / name / (MANIFESTS[name] if name == "gemini" else ".mcp.json")
    assert _parts(_read(listed)) == _parts(server) != {}
    packed = _read(PACKAGES / name / "hooks" / "hooks.json")
    assert packed["hooks"] == hooks["hooks"] != {}
    commands = re.findall(r'"command": "(.*?)"', json.dumps(packed))
    assert len(commands) == len(packed["hooks"])
    assert all(each.startswith(GUARD) for each in commands)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_package_says_what_it_is_and_when_to_use_the_memory(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert pmem("init").code == 0
    assert pmem("setup", "agents-md").code == 0
    rules = [line for line in Path("AGENTS.md").read_text().split("\n") if line[:2] in ("- ", "  ")]
    manifest = _read(PACKAGES / name / MANIFESTS[name])
    assert (manifest["name"], manifest["version"]) == ("pmem", __version__)
    skill = (PACKAGES / name / "skills" / "project-memory" / "SKILL.md").read_text()
    _, front, body = skill.split("---\n", 2)
    about = yaml.safe_load(front)
    assert about["name"] == "project-memory"
    assert len(about["description"]) <= 1024
    assert rules
    assert all(line in body for line in rules)
    for key in ("skills", "mcpServers", "hooks"):
        if isinstance(manifest.get(key), str):
            assert (PACKAGES / name / manifest[key]).exists()
    if name == "gemini":
        context = (PACKAGES / name / manifest["contextFileName"]).read_text()
        assert all(line in context for line in rules)


def test_a_clone_is_a_marketplace() -> None:
    (ours,) = _read(TOP / ".claude-plugin" / "marketplace.json")["plugins"]
    assert (TOP / ours["source"] / MANIFESTS["claude-code"]).is_file()
    (ours,) = _read(TOP / ".agents" / "plugins" / "marketplace.json")["plugins"]
    assert (TOP / ours["source"]["path"] / MANIFESTS["codex"]).is_file()


def test_the_registry_is_told_a_command_that_uvx_can_run() -> None:
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = _read(TOP / "server.json")
    (package,) = listed["packages"]
    assert listed["version"] == package["version"] == __version__
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", listed["name"])
    assert len(listed["description"]) <= 100
    called = [package["runtimeHint"]]
    for given in package["runtimeArguments"]:
        called += [given["name"], given["value"]]
    called += [f"{package['identifier']}@{package['version']}"]
    called += [given["value"] for given in package["packageArguments"]]
    assert " ".join(called) == f"uvx --with pmem-cli[mcp] pmem-cli@{__version__} mcp"
    assert package["identifier"] in project["scripts"]
