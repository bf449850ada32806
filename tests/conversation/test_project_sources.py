"""The first day: what a project has written down becomes its memory, by one command."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.shell import Shell, new_repository
from tests.cli.test_streams import on_terminal
from tests.conversation.assistants import ClaudeCode

RULES = "# Guide\n\n## Style\n\n- Use tabs\n- Never log a card number\n"
RECORD = "# 1. Use SQLite\n\n## Status\n\nAccepted\n\n## Decision\n\nWe use SQLite.\n"

COMMIT = "git -c user.name=Ada -c user.email=ada@example.org commit -q --allow-empty"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(new_repository(str(tmp_path / "p")))
    for name, text in {
        "AGENTS.md": RULES,
        "web/CLAUDE.md": "- Keep components small\n",
        "CLAUDE.local.md": "- Mine alone\n",
        "docs/agents.md": "- A page about agents\n",
        "CONTRIBUTING.md": "# C\n\nSign off each commit.\n",
        "docs/adr/0001-use-sqlite.md": RECORD,
        "docs/notes/2026-01-01-talk.md": "# Talk\n\nNothing was decided.\n",
        ".gitignore": "vendor/\n",
        "vendor/AGENTS.md": "- Theirs\n",
    }.items():
        write(shell, name, text)
    return shell


def write(shell: Shell, name: str, text: str) -> None:
    path = Path(shell.folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def kept(shell: Shell) -> dict[str, tuple[str | None, list[str]]]:
    found = json.loads(shell.run("pmem list -n 200 --json").text)["data"]["items"]
    return {one["content"]: (one.get("subject"), one.get("places", [])) for one in found}


FOUND = "AGENTS.md and 2 more instruction files (4 rules) and 1 decision record in docs/adr"


def test_init_says_what_it_found_and_takes_in_nothing(shell: Shell) -> None:
    done = shell.run("pmem init")
    assert f"found {FOUND}: `pmem import auto` takes them in" in done.said
    assert kept(shell) == {}
    assert "found" not in shell.run("pmem init").said


def test_one_command_takes_it_in_and_one_takes_it_back(shell: Shell) -> None:
    shell.run("pmem init --no-import")
    done = shell.run("pmem import auto")
    assert done.text.splitlines()[0].endswith("files: 4 added, 0 updated, 0 unchanged, 0 skipped")
    memories = kept(shell)
    assert memories["Use tabs"] == ("Style", [])
    assert memories["Keep components small"] == (None, ["web/**"])
    assert len(memories) == 5
    assert "0 added, 0 updated, 4 unchanged" in shell.run("pmem import auto").text
    assert shell.run("pmem undo").code == 0
    assert kept(shell) == {}


def test_what_follows_a_file_is_as_trusted_as_that(shell: Shell) -> None:
    shell.run("pmem init --import -q")
    write(shell, "AGENTS.md", RULES.replace("a card number", "the card number"))
    assert "1 updated" in shell.run("pmem import auto").text
    assert "trust" not in shell.run("pmem context 'log a card number in the web part'").text
    found = json.loads(shell.run("pmem list --json").text)["data"]["items"]
    assert {one["trust"] for one in found} == {"high"}


@pytest.fixture
def session(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClaudeCode:
    """Return a session of the project, which `keep` writes where Claude Code does."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    session = ClaudeCode(str(shell.folder))
    session.ask("Which database do we use?")
    keep(session, shell)
    return session


def keep(session: ClaudeCode, shell: Shell) -> None:
    slug = "".join(sign if sign.isalnum() else "-" for sign in str(shell.folder))
    place = Path(os.environ["HOME"], ".claude", "projects", slug)
    place.mkdir(parents=True, exist_ok=True)
    (place / "a.jsonl").write_bytes(session.bytes())


@pytest.mark.usefixtures("session")
def test_sessions_of_the_project_come_in_with_its_files(shell: Shell) -> None:
    assert (
        "docs/adr and 1 session of Claude Code: `pmem import auto`" in shell.run("pmem init").said
    )
    plan = shell.run("pmem import auto --dry-run").text
    assert "1 session of Claude Code: 1 would be added" in plan
    assert "1 session of Claude Code: 1 added" in shell.run("pmem import auto").text
    assert "Which database do we use?" in shell.run("pmem search database").text
    assert (
        "1 session of Claude Code: 0 added, 0 updated, 1 unchanged"
        in shell.run("pmem import auto").text
    )


def talks(shell: Shell) -> object:
    """Return what is known of conversations: their messages, chunks and facts."""
    found = json.loads(shell.run("pmem conversation list --json").text)["data"]["items"]
    shown = [shell.run(f"pmem conversation show {one['id']} --json").text for one in found]
    whole = [json.loads(one)["data"] for one in shown]
    return [(one["messages"], one["turns"], one["facts"]) for one in whole]


@pytest.mark.parametrize("learns", [False, True])
@pytest.mark.parametrize("more", [1, 30, 80])
def test_one_undo_takes_back_all_that_an_import_took_in(
    shell: Shell, session: ClaudeCode, more: int, learns: bool
) -> None:
    shell.run("pmem init --import")
    first = talks(shell)
    for n in range(more):
        session.say(f"We decided to use the queue {n} because of its routing.")
    keep(session, shell)
    word = "claude-code --learn" if learns else "auto"
    assert f"{more} added" in shell.run(f"pmem import {word}").text
    assert "messages" not in shell.run("pmem undo").text
    assert talks(shell) == first
    assert shell.run("pmem check records").code == 0
    assert shell.run("pmem undo").code == 0
    assert (talks(shell), kept(shell)) == ([], {})
    folder = Path(shell.folder, ".project-memory")
    assert not [*folder.glob("conversation*/*.json"), *folder.glob("episodic-memory/*.json")]
    assert shell.run("pmem undo").code == 3
    assert "added" in shell.run("pmem import claude-code").text


def test_what_was_said_since_an_import_keeps_it(shell: Shell, session: ClaudeCode) -> None:
    shell.run("pmem init --import")
    before = talks(shell)
    (talk,) = json.loads(shell.run("pmem conversation list --json").text)["data"]["items"]
    shell.run(f"pmem conversation resume {talk['id']}")
    shell.run(f"pmem conversation say 'And which queue?' --conversation {talk['id']}")
    assert shell.run(f"pmem undo {talk['id']}").text.startswith("undid: conversation resume")
    done = shell.run(f"pmem undo {talk['id']}")
    assert (done.code, "has changed since `import auto`" in done.said) == (9, True)
    assert len(kept(shell)) == 5
    assert talks(shell) != before


def test_what_commits_say_is_proposed_the_surest_alone(shell: Shell) -> None:
    for n in range(25):
        said = f"Constraint: step {n} must not see card numbers"
        assert shell.run(f"{COMMIT} -m 'Step {n}' -m '{said}'").code == 0
    shell.run("pmem init --no-import")
    counts = "25 commits, as pending facts: {} added, 0 unchanged, 0 skipped"
    assert counts.format("20 would be") in shell.run("pmem import auto --dry-run").text
    assert "facts" not in shell.run("pmem inbox").text
    done = shell.run("pmem import auto")
    assert counts.format(20) in done.text
    assert "`pmem inbox facts` shows them" in done.said
    assert len(shell.run("pmem inbox facts").text.splitlines()) == 20
    assert "facts: 0 added, 20 unchanged" in shell.run("pmem import auto").text
    assert shell.run("pmem undo").code == 0
    assert shell.run("pmem inbox facts").text == ""


@pytest.mark.parametrize("many", [1, 25])
def test_what_a_person_rejects_of_a_commit_is_told_by_nothing_until_it_is_undone(
    shell: Shell, many: int
) -> None:
    for n in range(many):
        said = f"We decided to use esbuild{n} for the shop, because webpack{n} was slow"
        assert shell.run(f"{COMMIT} -m 'Bundle {n}' -m '{said}'").code == 0
    shell.run("pmem init --no-import; pmem import git")
    tells = ("search 'webpack0 or esbuild0'", "context 'webpack0 or esbuild0'")
    assert all("webpack0 was slow" in shell.run(f"pmem {one}").text for one in tells)
    (line,) = (it for it in shell.run("pmem inbox facts").text.splitlines() if "webpack0" in it)
    assert shell.run(f"pmem inbox reject {line.split()[0]}").code == 0
    for one in tells:
        told = shell.run(f"pmem {one}").text
        assert [word for word in ("webpack0", "Bundle 0") if word in told] == []
        assert many == 1 or "webpack1" in told
    assert "0 added" in shell.run("pmem import git").text
    assert shell.run("pmem undo").code == 0
    assert all("webpack0 was slow" in shell.run(f"pmem {one}").text for one in tells)


def test_progress_is_told_on_a_terminal_only(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.run(f"{COMMIT} -m Begin")
    monkeypatch.chdir(shell.folder)
    _, screen = on_terminal(["init", "--import"])
    assert "import: 4 of 4" in screen
    assert "import: 1 of 1" in screen
    assert "import:" not in shell.run("pmem import auto").said


def test_scripts_say_yes_beforehand(shell: Shell) -> None:
    assert "4 added" in shell.run("pmem init --import").text
    assert len(kept(shell)) == 5


@pytest.mark.parametrize("before", ["init -q", "init -q --import; pmem undo"])
def test_init_imports_into_a_memory_that_is_there_too(shell: Shell, before: str) -> None:
    shell.run(f"pmem {before}")
    done = shell.run("pmem init --import")
    assert "memory is ready: " in done.text
    assert ("4 added" in done.text, len(kept(shell))) == (True, 5)
    again = shell.run("pmem init --import")
    assert (again.code, "0 added, 0 updated, 4 unchanged" in again.text) == (0, True)
    assert "unchanged" not in shell.run("pmem init").text


@pytest.mark.parametrize("commits", [0, 1])
def test_an_import_that_finds_nothing_says_so(tmp_path: Path, commits: int) -> None:
    empty = Shell(new_repository(str(tmp_path / "q")))
    for _ in range(commits):
        empty.run(f"{COMMIT} -m Begin")
    nothing = "nothing to import: 1 commit" if commits else "the project has no instruction files, "
    for command in ("init --import", "init --import", "import auto", "import auto --dry-run"):
        done = empty.run(f"pmem {command}")
        assert nothing in done.said, command


def test_what_init_takes_in_is_by_whoever_asks_at_the_moment_that_is_told(shell: Shell) -> None:
    shell.run("pmem init --import --actor ada")
    (one, *_) = json.loads(shell.run("pmem list --json").text)["data"]["items"]
    assert one["history"][0]["actor"] == "ada"
    assert one["created_at"].startswith("2026-11-21")


def test_a_plan_adds_nothing(shell: Shell) -> None:
    shell.run("pmem init -q")
    done = shell.run("pmem import auto --dry-run")
    assert "files: at most 4 would be added, 0 updated" in done.text
    assert "docs/adr: 1 would be added" in done.text
    assert kept(shell) == {}


def test_a_plan_counts_what_has_changed_and_changes_nothing(shell: Shell) -> None:
    shell.run("pmem init --import -q")
    before = kept(shell)
    changed = RULES.replace("a card number", "the card number").replace("- Use tabs\n", "")
    write(shell, "AGENTS.md", f"{changed}- Ship on a Tuesday\n")
    done = shell.run("pmem import auto --dry-run")
    assert "at most 1 would be added, 1 updated, 2 unchanged, 1 archived" in done.text
    assert kept(shell) == before
    assert "1 added, 1 updated, 2 unchanged, 1 archived" in shell.run("pmem import auto").text


def test_a_file_that_cannot_be_read_stops_no_other(shell: Shell) -> None:
    Path(shell.folder, "GEMINI.md").write_bytes(b"- caf\xe9\n")
    shell.run("pmem init -q")
    done = shell.run("pmem import auto")
    assert (done.code, len(kept(shell))) == (0, 5)
    assert "skipped GEMINI.md: it is not UTF-8" in done.said


def test_a_record_that_cannot_be_read_is_named_though_it_is_alone(shell: Shell) -> None:
    write(shell, "web/docs/adr/0002-use-vue.md", "# 2. Vue\n\nWe took it, as it is small.\n")
    write(shell, "web/pages/01-start.md", "# Start\n\nClick here.\n")
    shell.run("pmem init -q")
    done = shell.run("pmem import auto")
    told = [line for line in done.said.splitlines() if line.startswith("skipped")]
    why = "it has no section Decision with text in it"
    assert told == [f"skipped web/docs/adr/0002-use-vue.md: {why}"]


def test_what_a_folder_says_as_the_root_does_is_its_own(shell: Shell) -> None:
    command = "## Commands\n\n- **Lint:** `make lint`\n"
    for name in ("AGENTS.md", "web/CLAUDE.md", "api/CLAUDE.md"):
        write(shell, name, f"# Guide\n\n{command}")
    shell.run("pmem init -q --import")
    assert "0 added, 0 updated, 4 unchanged" in shell.run("pmem import auto").text
    for file in ("web/a.ts", "api/a.ts"):
        assert "Lint: `make lint`" in shell.run(f"pmem why {file}").text
    write(shell, "web/CLAUDE.md", f"# Guide\n\n{command}- **Test:** `make`\n".replace("lint", "l"))
    assert "1 added, 1 updated, 3 unchanged" in shell.run("pmem import auto").text
    assert "Lint: `make l`" in shell.run("pmem why web/a.ts").text
    assert "Lint: `make lint`" in shell.run("pmem why api/a.ts").text
    assert shell.run("pmem inbox").said.startswith("nothing waits")


def test_a_project_that_has_written_down_nothing_is_told_so(tmp_path: Path) -> None:
    empty = Shell(new_repository(str(tmp_path / "q")))
    assert "next: pmem add" in empty.run("pmem init").said
    done = empty.run("pmem import auto")
    assert (done.code, "no instruction files" in done.said) == (3, True)
    assert empty.run("pmem import auto --learn").code == 2
    assert empty.run("pmem import auto x.jsonl --pending").code == 2


def test_a_file_that_is_deleted_is_gone_while_git_has_it_staged(shell: Shell) -> None:
    shell.run("git add AGENTS.md web")
    shell.run("pmem init --import -q")
    Path(shell.folder, "AGENTS.md").unlink()
    done = shell.run("pmem import auto")
    assert (done.code, "skipped AGENTS.md" in done.said) == (0, False)
    assert "2 archived" in done.text
    assert set(kept(shell)) == {
        "Keep components small",
        "Sign off each commit.",
        "Use SQLite. We use SQLite.",
    }
    Path(shell.folder, "web", "CLAUDE.md").unlink()
    assert "2 more" not in shell.run("pmem import auto --dry-run").text


ONE = "# A\n\n## Calls\n\n- Calls to the carrier time out after 30 seconds.\n- Log calls once.\n"
OTHER = ONE.replace("30", "60")


def asked(shell: Shell) -> list[str]:
    found = json.loads(shell.run("pmem inbox --json").text)["data"]["items"]
    return sorted(one["kind"] for one in found)


def test_what_two_files_say_otherwise_is_one_question_until_somebody_answers(
    shell: Shell,
) -> None:
    write(shell, "AGENTS.md", ONE)
    write(shell, "CONTRIBUTING.md", OTHER)
    shell.run("pmem init --import -q")
    assert asked(shell) == ["subject"]
    shell.run("pmem import auto")
    (item,) = json.loads(shell.run("pmem inbox --json").text)["data"]["items"]
    assert "says otherwise on the same subject: Calls to the carrier time out" in item["why"]
    keeps = next(one["command"] for one in item["commands"] if one["key"] == "k")
    assert shell.run(keeps).code == 0
    shell.run("pmem import auto")
    assert asked(shell) == []


def test_a_rule_of_a_folder_says_nothing_against_the_rule_of_all(shell: Shell) -> None:
    write(shell, "AGENTS.md", ONE)
    write(shell, "web/CLAUDE.md", ONE.replace("30", "60"))
    shell.run("pmem init --import -q")
    assert len([text for text in kept(shell) if "time out" in text]) == 2
    assert asked(shell) == []


def test_what_two_files_say_in_the_same_words_is_one_memory(shell: Shell) -> None:
    write(shell, "AGENTS.md", ONE)
    write(shell, "CONTRIBUTING.md", ONE)
    shell.run("pmem init --import -q")
    assert len([text for text in kept(shell) if "call" in text.casefold()]) == 2
    assert asked(shell) == []


def test_a_file_that_comes_to_say_otherwise_is_asked_about_too(shell: Shell) -> None:
    write(shell, "AGENTS.md", ONE)
    write(shell, "CONTRIBUTING.md", "# C\n\n## Calls\n\n- Sign each call to the bank.\n")
    shell.run("pmem init --import -q")
    assert asked(shell) == []
    write(shell, "CONTRIBUTING.md", OTHER)
    shell.run("pmem import auto")
    write(shell, "CONTRIBUTING.md", OTHER.replace("60", "90"))
    shell.run("pmem import auto")
    assert asked(shell) == ["subject"]
