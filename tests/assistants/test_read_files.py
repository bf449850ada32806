"""What an assistant has read by itself is not told again; all others are told."""

import json
from pathlib import Path

import pytest

from tests.cli.shell import Shell, new_repository

RULE = "Never log a card number in the billing service."
PROMPT = "May the billing service log a card number?"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(new_repository(str(tmp_path / "p")))


def take(shell: Shell, **files: str) -> None:
    for name, text in files.items():
        path = Path(shell.folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert shell.run("pmem init -q --import").code == 0
    shell.run("pmem add 'The billing service is written in Rust.' --type constraint")


def told(shell: Shell, harness: str, folder: str = "", event: str = "session-start") -> str:
    said = {
        "session_id": harness + event,
        **({"prompt": PROMPT} if event == "prompt" else {"source": "startup"}),
        "cwd": str(Path(shell.folder, folder)),
    }
    name = f"--harness {harness}"
    return shell.run(f"pmem hook {event} {name}", stdin=json.dumps(said)).text


BULLET = f"# Rules\n\n- {RULE}\n"


@pytest.mark.parametrize(
    ("files", "readers"),
    [
        ({"AGENTS.md": BULLET}, {"codex", "cursor", "vscode", "claude-code"}),
        ({"CLAUDE.md": BULLET}, {"claude-code"}),
        ({"CLAUDE.md": "See @AGENTS.md for more.\n", "AGENTS.md": BULLET},
         {"claude-code", "codex", "cursor", "vscode"}),
        ({"CLAUDE.md": "- Be brief.\n", "AGENTS.md": BULLET}, {"codex", "cursor", "vscode"}),
        ({"CLAUDE.md": "Ask `@AGENTS.md` for it.\n", "AGENTS.md": BULLET},
         {"codex", "cursor", "vscode"}),
        ({".claude/CLAUDE.md": "- Be brief.\n", "AGENTS.md": BULLET},
         {"codex", "cursor", "vscode"}),
        ({"GEMINI.md": BULLET}, {"gemini"}),
        ({".github/copilot-instructions.md": BULLET}, {"vscode"}),
        ({"CONTRIBUTING.md": BULLET}, set()),
    ],
)  # fmt: skip
def test_a_start_leaves_out_what_the_assistant_has_read(
    shell: Shell, files: dict[str, str], readers: set[str]
) -> None:
    take(shell, **files)
    for harness in ("claude-code", "codex", "gemini", "cursor", "vscode"):
        text = told(shell, harness)
        assert "written in Rust" in text
        assert (RULE in text) == (harness not in readers), (harness, text)
    assert RULE in shell.run("pmem context").text


def test_a_link_is_what_it_leads_to(shell: Shell) -> None:
    Path(shell.folder, "CLAUDE.md").symlink_to("AGENTS.md")
    take(shell, **{"AGENTS.md": BULLET})
    assert RULE not in told(shell, "claude-code")


def test_a_prompt_leaves_it_out_too(shell: Shell) -> None:
    take(shell, **{"CLAUDE.md": BULLET})
    assert RULE not in told(shell, "claude-code", event="prompt")
    assert RULE in told(shell, "codex", event="prompt")


def test_a_folders_file_is_read_by_who_works_there(shell: Shell) -> None:
    take(shell, **{"web/AGENTS.md": BULLET})
    assert RULE in told(shell, "codex", event="prompt")
    assert RULE not in told(shell, "codex", "web")


@pytest.mark.parametrize(
    ("file", "reader"),
    [
        ("web/CLAUDE.md", "claude-code"),
        ("web/GEMINI.md", "gemini"),
        ("web/AGENTS.md", ""),
        ("CLAUDE.md", ""),
    ],
)
def test_a_file_comes_without_the_rules_that_are_read_with_it(
    shell: Shell, file: str, reader: str
) -> None:
    place = "" if "/" in file else "`web/form.py` is ours: "
    take(shell, **{file: f"- {place}{RULE}\n", "web/form.py": "FORM = 1\n"})
    shell.run("pmem add 'Forms are old.' --type constraint --for 'web/**'")
    for harness in ("claude-code", "codex", "gemini"):
        text = told_at(shell, harness, "web/form.py")
        assert "Forms are old" in text
        assert (RULE in text) == (harness != reader), (harness, text)
        assert RULE not in told_at(shell, harness, "web/list.py") or harness != reader


def told_at(shell: Shell, harness: str, file: str) -> str:
    """Return what a session is told as it reads a file."""
    said: dict[str, object] = {"session_id": harness, "cwd": str(shell.folder)}
    if harness == "codex":
        said |= {"tool_name": "exec_command", "tool_input": {"command": f"cat {file}"}}
    else:
        name = "Read" if harness == "claude-code" else "read_file"
        path = str(Path(shell.folder, file))
        said |= {"tool_name": name, "tool_input": {"file_path": path}}
    told = ""
    for event in ("pre-tool", "post-tool"):
        done = {"tool_response": {"llmContent": "FORM = 1"}} if event == "post-tool" else {}
        line = f"pmem hook {event} --harness {harness}"
        told += shell.run(line, stdin=json.dumps({**said, **done})).text
    return told


def test_what_somebody_wrote_over_is_told(shell: Shell) -> None:
    take(shell, **{"CLAUDE.md": BULLET})
    found = json.loads(shell.run("pmem search card --json").text)["data"]["hits"][0]
    identifier = found["memory"]["id"] if "memory" in found else found["id"]
    shell.run(f"pmem edit {identifier} 'Never log a card number or a name in billing.'")
    assert "or a name in billing" in told(shell, "claude-code")
