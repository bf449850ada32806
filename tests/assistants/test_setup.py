"""Setting an assistant up changes nothing but entries of our own, and taking it back leaves none.

Every file of every assistant, over settings as people have them: what is valid comes back to the
byte, what is not is never touched.
"""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings

from pmem.assistants.harnesses import HARNESSES, Scope, SetupFile, place_of
from pmem.assistants.setup import BACKUP
from pmem.errors import Damaged, Refused, StorageRefused
from tests.assistants.configurations import BROKEN, BY_HAND, IN_THE_WAY, texts
from tests.effort import examples
from tests.faults.console import Done, pmem

EXAMPLES: Final = examples(120)
"""Generated settings for every file: 30 on every change; no kind of file is there once only."""
TARGETS: Final = [
    pytest.param(name, scope, file, id=f"{name} {scope} {file.path}")
    for name, harness in HARNESSES.items()
    for scope, files in harness.files.items()
    for file in files
]
IN_JSON: Final = [one for one in TARGETS if not one.values[2].block]  # type: ignore[union-attr]
PLACES: Final = list(dict.fromkeys((one.values[0], one.values[1]) for one in TARGETS))
PLACES_OF_JSON: Final = list(dict.fromkeys((one.values[0], one.values[1]) for one in IN_JSON))
TOML: Final = {
    "empty": b"",
    "a line": b'model = "gpt"\n',
    "no final line end": b'model = "gpt"',
    "windows line ends": b'model = "gpt"\r\n[profiles.a]\r\nx = 1\r\n',
    "comments": b"# mine\n[mcp_servers.other]  # yes\ncommand = 'npx'\n\n# the end\n",
    "an open table at the end": b'[projects."/w"]\ntrust_level = "trusted"\n',
    "an array of tables": b"[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = 'date'\n",
    "dotted": b"mcp_servers.other.command = 'npx'\n",
    "blank lines": b"\n\nx = 1\n\n\n",
    "a text of many lines": b'x = """\n[mcp_servers.fake]\n"""\n',
}
BROKEN_TOML: Final = {
    "half": b"x = ",
    "a name twice": b"x = 1\nx = 2\n",
    "not UTF-8": b"x = '\xff'\n",
}
TAKEN_TOML: Final = {
    "an inline table": b"mcp_servers = { other = { command = 'npx' } }\n",
    "another server": b"[mcp_servers.pmem]\ncommand = 'other'\nargs = []\n",
    "no table": b"mcp_servers = 1\n",
}
MARKDOWN: Final = {
    "empty": b"",
    "a line": b"# Agents\n",
    "no final line end": b"Use tabs.",
    "windows line ends": b"# Agents\r\n\r\nUse tabs.\r\n",
    "another tool's block": b"<!-- BEGIN OTHER -->\nx\n<!-- END OTHER -->\n",
    "an open fence": b"```\n",
    "other characters": "# Agenten 世界\n".encode(),
    "blank lines": b"\n\n\n",
}

GUARD = "command -v pmem >/dev/null 2>&1 || exit 0; "
"""What comes before a command in files that are shared."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a home and a project with a memory, and go there."""
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    assert pmem("init", "--no-git").code == 0
    return tmp_path


@pytest.fixture
def untried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at the files only: a hook answers alike whatever else its file has."""
    monkeypatch.setattr("pmem.assistants.setup.trouble_of", lambda *given: "")


def setup(name: str, scope: Scope, *options: str) -> Done:
    return pmem("setup", name, f"--{scope}", *options)


def path_of(file: SetupFile, scope: Scope, home: Path) -> Path:
    return Path(place_of(file, scope, str(home / "project"), {"HOME": str(home)}))


def tree(top: Path) -> Mapping[str, object]:
    """Return every file below a folder, but for the memory's own: its bytes, mode or target."""
    return {
        str(path.relative_to(top)): os.readlink(path)
        if path.is_symlink()
        else (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
        for path in sorted(top.rglob("*"))
        if (path.is_file() or path.is_symlink()) and ".project-memory" not in path.parts
    }


def put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def goes_round(name: str, scope: Scope, home: Path) -> None:
    """Set up, look, set up again, and take it back: all is as before."""
    before = tree(home)
    done = setup(name, scope)
    assert done.code == 0, done
    there = tree(home)
    assert setup(name, scope, "--json").data["ok"]
    assert setup(name, scope).code == 0
    assert tree(home) == there != before
    looked = setup(name, scope, "--check", "--json").data
    assert {part["state"] for part in looked["parts"]} == {"set"}
    assert looked["trouble"] == ""
    assert setup(name, scope, "--remove").code == 0
    assert tree(home) == before


def is_refused(name: str, scope: Scope, home: Path, *codes: int) -> Done:
    """See that nothing is done, whatever is asked for, and that there is one sentence for it."""
    before = tree(home)
    for options in ((), ("--check",), ("--remove",)):
        done = setup(name, scope, *options)
        if done.code == 0 and options == ("--remove",):
            continue  # there is nothing of ours in it
        assert done.code in codes, (options, done)
        assert done.err.count("\n") == 2, done
        assert done.err.startswith("pmem: ")
    assert tree(home) == before
    return setup(name, scope)


@pytest.mark.some(5)
@pytest.mark.parametrize(("name", "scope"), PLACES)
def test_what_was_made_for_the_memory_goes_with_it(name: str, scope: Scope, home: Path) -> None:
    goes_round(name, scope, home)


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("exit 3", "the hook exits with 3"),
        ("echo hello", "the hook's answer is no JSON object"),
        ("echo []", "the hook's answer is no JSON object"),
    ],
)
def test_a_hook_that_does_not_answer_is_told(
    does: str, said: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert setup("cursor", "project").code == 0
    (home / "bin").mkdir()
    broken = home / "bin" / "pmem"
    broken.write_text(f"#!/bin/sh\n{does}\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{broken.parent}{os.pathsep}{os.environ['PATH']}")
    assert setup("cursor", "project", "--check", "--json").data["trouble"] == said


@pytest.mark.usefixtures("untried")
@pytest.mark.usefixtures("untried")
@pytest.mark.some(2)
@pytest.mark.parametrize(("name", "scope"), PLACES_OF_JSON)
def test_settings_of_a_person_come_back_to_the_byte(name: str, scope: Scope, home: Path) -> None:
    """All files of an assistant that are JSON hold the same."""
    for odd, data in BY_HAND.items():
        print(odd)
        for file in HARNESSES[name].files[scope]:
            if not file.block:
                put(path_of(file, scope, home), data)
        goes_round(name, scope, home)


@pytest.mark.some(4)
@pytest.mark.parametrize(("name", "scope", "file"), IN_JSON)
def test_a_file_that_is_not_json_to_the_letter_is_not_touched(
    name: str, scope: Scope, file: SetupFile, home: Path
) -> None:
    for odd, data in BROKEN.items():
        print(odd)
        put(path_of(file, scope, home), data)
        done = is_refused(name, scope, home, Damaged.exit_code)
        assert "is not strict JSON" in done.err or "UTF-8" in done.err


@pytest.mark.parametrize(("name", "scope", "file"), IN_JSON)
def test_what_stands_in_the_way_is_not_touched(
    name: str, scope: Scope, file: SetupFile, home: Path
) -> None:
    for odd, data in IN_THE_WAY.items():
        print(odd)
        put(path_of(file, scope, home), data)
        before = tree(home)
        done = setup(name, scope)
        if done.code == 0:  # this file has no hooks
            assert setup(name, scope, "--remove").code == 0
        else:
            assert done.code == Refused.exit_code, done
        assert tree(home) == before


@pytest.mark.parametrize(("name", "scope", "file"), IN_JSON)
def test_another_server_of_our_name_is_not_touched(
    name: str, scope: Scope, file: SetupFile, home: Path
) -> None:
    if file.server is None:
        return
    value: object = {"pmem": {"command": "npx", "args": ["other"]}}
    for step in reversed(file.server.path):
        value = {step: value}
    put(path_of(file, scope, home), json.dumps(value).encode())
    is_refused(name, scope, home, Refused.exit_code)


@pytest.mark.some(4)
@pytest.mark.parametrize(("name", "scope", "file"), IN_JSON)
def test_generated_settings_come_back_to_the_byte(
    name: str, scope: Scope, file: SetupFile, home: Path
) -> None:
    path = path_of(file, scope, home)

    @settings(max_examples=EXAMPLES)
    @given(texts())
    def goes_round_over(text: str) -> None:
        put(path, text.encode())
        before = tree(home)
        done = setup(name, scope)
        if done.code == 0:
            there = tree(home)
            assert setup(name, scope).code == 0
            assert tree(home) == there
            after = json.loads(path.read_bytes())
            assert list(after)[: len(json.loads(text))] == list(json.loads(text))
            assert setup(name, scope, "--remove").code == 0
        else:
            assert done.code == Refused.exit_code, done
        assert tree(home) == before

    goes_round_over()


@pytest.mark.parametrize("way", ["link", "folder that is a link", "read-only", "folder"])
@pytest.mark.parametrize(("name", "scope", "file"), TARGETS)
def test_what_is_no_file_of_its_own_that_may_be_written_is_not_touched(
    name: str, scope: Scope, file: SetupFile, way: str, home: Path
) -> None:
    path = path_of(file, scope, home)
    base = home / "project" if scope == "project" else home
    if way == "folder that is a link":
        if path.parent == base:
            return
        (home / "elsewhere").mkdir()
        (base / path.relative_to(base).parts[0]).symlink_to(home / "elsewhere")
    elif way == "folder":
        path.mkdir(parents=True)
    else:
        data = b"x = 1\n" if file.block else b"{}"
        put(path if way == "read-only" else home / "elsewhere", data)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.chmod(0o444) if way == "read-only" else path.symlink_to(home / "elsewhere")
    if way == "read-only":
        before = tree(home)
        assert setup(name, scope).code == StorageRefused.exit_code
        assert tree(home) == before
    else:
        is_refused(name, scope, home, Refused.exit_code)


@pytest.mark.parametrize(("name", "scope", "file"), TARGETS)
def test_permissions_stay_and_what_was_there_stands_beside_it_meanwhile(
    name: str, scope: Scope, file: SetupFile, home: Path
) -> None:
    path = path_of(file, scope, home)
    data = b"{}" if not file.block else b"x = 1\n"
    put(path, data)
    path.chmod(0o640)
    assert setup(name, scope).code == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert path.with_name(path.name + BACKUP).read_bytes() == data
    assert setup(name, scope, "--remove").code == 0
    assert not path.with_name(path.name + BACKUP).exists()


def test_a_one_that_became_true_stays_true(home: Path) -> None:
    path = home / "project" / ".mcp.json"
    put(path, b'{"theme": 1}\n')
    assert setup("claude-code", "project").code == 0
    put(path, path.read_bytes().replace(b'"theme": 1', b'"theme": true'))
    assert setup("claude-code", "project", "--remove").code == 0
    assert path.read_bytes() == b'{"theme": true}\n'


@pytest.mark.usefixtures("untried")
@pytest.mark.parametrize("odd", TOML)
@pytest.mark.parametrize("scope", ["project", "user"])
def test_codex_settings_come_back_to_the_byte(scope: Scope, odd: str, home: Path) -> None:
    base = home / "project" if scope == "project" else home
    put(base / ".codex" / "config.toml", TOML[odd])
    goes_round("codex", scope, home)


@pytest.mark.parametrize("odd", BROKEN_TOML)
def test_codex_settings_that_are_no_toml_are_not_touched(odd: str, home: Path) -> None:
    put(home / "project" / ".codex" / "config.toml", BROKEN_TOML[odd])
    is_refused("codex", "project", home, Damaged.exit_code)


@pytest.mark.parametrize("odd", TAKEN_TOML)
def test_codex_settings_with_something_in_the_way_are_not_touched(odd: str, home: Path) -> None:
    put(home / "project" / ".codex" / "config.toml", TAKEN_TOML[odd])
    is_refused("codex", "project", home, Refused.exit_code)


@pytest.mark.usefixtures("untried")
@pytest.mark.parametrize("odd", MARKDOWN)
def test_instructions_come_back_to_the_byte(odd: str, home: Path) -> None:
    put(home / "project" / "AGENTS.md", MARKDOWN[odd])
    goes_round("agents-md", "project", home)


def test_instructions_with_half_a_block_are_not_touched(home: Path) -> None:
    put(home / "project" / "AGENTS.md", b"<!-- BEGIN PMEM v1 -->\nmine\n")
    is_refused("agents-md", "project", home, Refused.exit_code)


def test_instructions_are_brought_up_to_date_where_they_stand(home: Path) -> None:
    path = home / "project" / "AGENTS.md"
    put(path, b"# Agents\n<!-- BEGIN PMEM v0 -->\nold\n<!-- END PMEM -->\nUse tabs.\n")
    assert setup("agents-md", "project", "--check").code == 1
    assert setup("agents-md", "project").code == 0
    said = path.read_text()
    assert said.startswith("# Agents\n<!-- BEGIN PMEM v1")
    assert said.endswith("<!-- END PMEM -->\nUse tabs.\n")
    assert 8 <= len([line for line in said.splitlines()[1:-1] if line]) <= 13


def test_vs_code_gets_no_hooks_where_it_reads_those_of_claude_code(home: Path) -> None:
    hooks = home / "project" / ".github" / "hooks" / "pmem.json"
    assert setup("vscode", "project").code == 0
    assert hooks.exists()
    assert setup("claude-code", "project").code == 0
    assert setup("vscode", "project").code == 0
    assert not hooks.exists()
    assert setup("claude-code", "project", "--remove").code == 0
    assert setup("vscode", "project").code == 0
    assert hooks.exists()


def test_hooks_that_are_ours_are_known_by_what_they_run(home: Path) -> None:
    path = home / "project" / ".claude" / "settings.json"
    gone = {"type": "command", "command": "/gone/bin/pmem hook stop --harness claude-code"}
    other = {"type": "command", "command": "make lint"}
    put(path, json.dumps({"hooks": {"Stop": [{"hooks": [other, gone]}]}}).encode())
    assert setup("claude-code", "project", "--check").code == 1
    assert setup("claude-code", "project").code == 0
    groups = json.loads(path.read_bytes())["hooks"]["Stop"]
    assert [one["command"] for group in groups for one in group["hooks"]] == [
        "make lint",
        f"{GUARD}pmem hook stop --harness claude-code",
    ]
    assert setup("claude-code", "project", "--remove").code == 0
    assert json.loads(path.read_bytes()) == {"hooks": {"Stop": [{"hooks": [other]}]}}


def test_hooks_of_ours_are_put_right_about_the_tools_that_somebody_named(home: Path) -> None:
    path = home / "project" / ".claude" / "settings.json"
    gone = {"type": "command", "command": "/gone/bin/pmem hook pre-tool --harness claude-code"}
    mine = {"matcher": "Bash", "hooks": [{"type": "command", "command": "make lint"}]}
    groups = [{"matcher": "Read|Glob", "hooks": [gone]}, mine]
    put(path, json.dumps({"hooks": {"PreToolUse": groups}}).encode())
    assert setup("claude-code", "project").code == 0
    ours, other = json.loads(path.read_bytes())["hooks"]["PreToolUse"]
    assert (ours["matcher"], other) == ("Read|Glob", mine)
    command = f"{GUARD}pmem hook pre-tool --harness claude-code"
    assert [one["command"] for one in ours["hooks"]] == [command]


def test_hooks_of_ours_that_run_twice_run_once_from_then_on(home: Path) -> None:
    path = home / "project" / ".claude" / "settings.json"
    group = {"hooks": [{"type": "command", "command": "pmem hook stop --harness claude-code"}]}
    put(path, json.dumps({"hooks": {"Stop": [group, group]}}, indent=2).encode())
    assert setup("claude-code", "project").code == 0
    (left,) = json.loads(path.read_bytes())["hooks"]["Stop"]
    command = f"{GUARD}pmem hook stop --harness claude-code"
    assert [one["command"] for one in left["hooks"]] == [command]


def test_a_server_that_somebody_changed_stays_as_it_is(home: Path) -> None:
    path = home / "project" / ".mcp.json"
    mine = {"mcpServers": {"pmem": {"command": "uvx", "args": ["pmem", "mcp", "--read-only"]}}}
    put(path, json.dumps(mine).encode())
    assert setup("claude-code", "project").code == 0
    assert json.loads(path.read_bytes()) == mine


def test_one_file_that_cannot_be_changed_keeps_the_others_as_they_are(home: Path) -> None:
    put(home / "project" / ".claude" / "settings.json", b"{")
    is_refused("claude-code", "project", home, Damaged.exit_code)
    assert not (home / "project" / ".mcp.json").exists()


def test_settings_of_opencode_with_comments_are_found_and_not_touched(home: Path) -> None:
    put(home / "project" / "opencode.jsonc", b'{\n  // mine\n  "theme": "x"\n}\n')
    is_refused("opencode", "project", home, Damaged.exit_code)
    put(home / "project" / "opencode.jsonc", b'{\n  "theme": "x"\n}\n')
    goes_round("opencode", "project", home)


def test_a_users_own_files_name_the_whole_path(home: Path) -> None:
    assert setup("cursor", "user").code == 0
    told = json.loads((home / ".cursor" / "mcp.json").read_bytes())
    assert os.path.isabs(told["mcpServers"]["pmem"]["command"])
    assert "/home" not in (home / "project" / ".project-memory" / "config.toml").read_text()


def test_moved_folders_of_codex_and_claude_code_are_followed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(home / "moved"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "claude"))
    goes_round("codex", "user", home)
    goes_round("claude-code", "user", home)
    assert setup("codex", "user").code == setup("claude-code", "user").code == 0
    assert (home / "moved" / "hooks.json").exists()
    assert (home / "claude" / "settings.json").exists()
    assert not (home / ".codex").exists()


def test_hooks_that_would_run_twice_are_told(home: Path) -> None:
    told = setup("gemini", "user").err
    assert "run twice" not in told
    assert "once a session it is asked what to keep" in told
    assert "run twice" in setup("gemini", "project").err
    assert "run twice" in setup("gemini", "user", "--check").err
    assert setup("gemini", "user", "--remove").err == ""
    assert setup("gemini", "project", "--check").err == ""


def test_codex_is_said_to_wait_until_somebody_trusts_the_hooks(home: Path) -> None:
    assert "/hooks" in setup("codex", "project").err
    path = home / "project" / ".codex" / "hooks.json"
    trust = f'[hooks.state."{path}:session_start:0:0"]\ntrusted_hash = "sha256:x"\n'
    put(home / ".codex" / "config.toml", trust.encode())
    assert "/hooks" not in setup("codex", "project", "--check").err


def test_a_user_needs_no_memory_to_set_an_assistant_up(home: Path) -> None:
    os.chdir(home)
    assert setup("cursor", "user").code == 0
    assert setup("cursor", "project").code == 4
    items = pmem("setup", "--json").data["items"]
    assert {one["scope"] for one in items} == {"user"}
    assert {one["harness"]: one["state"] for one in items}["cursor"] == "set"


def test_the_list_tells_what_is_seen_and_what_is_unclear(home: Path) -> None:
    put(home / ".gemini" / "settings.json", b"{")
    (home / "project" / ".cursor").mkdir()
    found = {(one["harness"], one["scope"]): one for one in pmem("setup", "--json").data["items"]}
    assert found["gemini", "user"]["state"] == "unclear"
    assert found["cursor", "project"]["seen"]
    assert not found["codex", "user"]["seen"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("setup", "claude"), 2),
        (("setup", "codex", "extra"), 2),
        (("setup", "codex", "--user", "--project"), 2),
        (("setup", "codex", "--check", "--remove"), 2),
        (("setup", "codex", "--print", "--remove"), 2),
        (("setup", "zed"), 2),
        (("setup", "zed", "--project"), 2),
        (("setup", "vscode", "--user"), 2),
        (("setup", "agents-md", "--user"), 2),
        (("setup", "codex", "--harness", "x"), 2),
        (("setup", "codex", "-C", "/nowhere"), 4),
        (("setup", "codex", "--read-only"), 7),
    ],
    ids=lambda value: value if isinstance(value, int) else " ".join(value),
)
def test_a_wrong_use_is_one_sentence_and_changes_nothing(
    words: tuple[str, ...], code: int, home: Path
) -> None:
    before = tree(home)
    done = pmem(*words)
    assert done.code == code, done
    assert done.err.startswith("pmem: ")
    assert done.err.count("\n") <= 2
    assert tree(home) == before
