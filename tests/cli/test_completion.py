"""What a person is offered while typing: from the index alone, quickly, and never with a word."""

import os
import subprocess
import sys
from pathlib import Path
from shlex import join

import pytest

from pmem.cli import completion
from pmem.cli.completion import SHELLS
from pmem.cli.setup import completion_file
from pmem.storage.index import suggestions
from pmem.values.records import STORES, Chunk, Conversation, Episode, Memory
from tests.cli.shell import data_of, pmem


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert pmem("init", "--no-git").code == 0
    return folder


def add(text: str, *options: str) -> str:
    return str(data_of("add", text, *options, "--force")["memory"]["id"])


def answer(line: str, shell: str = "fish", **environment: str) -> bytes:
    replaced = line.rpartition(" ")[2]
    return completion.answer(
        {
            **os.environ,
            "_PMEM_COMPLETE": shell,
            "_PMEM_LINE": f"pmem {line}",
            "_PMEM_WORD": replaced,
            "_PMEM_WORDS": line.replace(" ", "\n"),
            **environment,
        }
    )


def offered(*words: str) -> dict[str, str]:
    told = answer(f"{join(words[:-1])} {words[-1]}").decode()
    kind, *lines = told.splitlines()
    assert kind == "words"
    return dict(line.partition("\t")[::2] for line in lines)


def commonprefix(words: list[str]) -> str:
    return os.path.commonprefix(words)  # noqa: RUF071 - ids are no paths


def short(identifier: str) -> str:
    return identifier.partition("-")[2]


@pytest.mark.parametrize(
    ("line", "among"),
    [
        ("", "config"),
        ("se", "search"),
        ("config ", "set"),
        ("config set ", "chunk_size"),
        ("-C elsewhere show --", "--at"),
        ("add x --type ", "fact"),
        ("add x --type=", "--type=fact"),
        ("add --pin --", "--tag"),
        ("eval golden.jsonl --", "--budget"),
        ("eval ", "misses"),
        ("inbox --", "--list"),
        ("inbox --kind ", "fact"),
        ("setup bash", None),
        ("config set chunk_size ", None),
        ("add -- --", None),
    ],
)
def test_a_line_asks_for_what_comes_next(line: str, among: str | None) -> None:
    kind, *lines = answer(line).decode().splitlines()
    assert kind == ("files" if among is None else "words")
    assert among is None or among in [each.partition("\t")[0] for each in lines]


def test_commands_and_options_are_offered_with_what_they_do(project: Path) -> None:
    assert offered("sho") == {"show": "Show a record, or a message, whole."}
    assert offered("show", "--at") == {"--at": "As it was at this time or git revision."}
    assert "--type" not in offered("add", "--type", "fact", "--t")
    assert "--tag" in offered("add", "--tag", "a", "--t")
    assert set(offered("add", "--type", "de")) == {"decision", "dead_end"}
    assert set(offered("add", "--type=de")) == {"--type=decision", "--type=dead_end"}
    assert {"--json", "--read-only"} <= set(offered("show", "-"))
    assert "chunk_size" in offered("config", "get", "chunk")
    assert {"merging", "add"} <= set(offered("help", ""))
    assert set(offered("help", "config", "")) == {"list", "get", "set", "unset"}


def test_ids_are_offered_with_their_text_the_latest_first(project: Path) -> None:
    first = add("The first", "--subject", "order")
    second = add("The second")
    assert list(offered("show", "").items()) == [
        (short(second), "The second"),
        (short(first), "order: The first"),
    ]
    assert offered("show", short(first)[:6]) == {short(first): "order: The first"}
    assert first in offered("show", first[:4])
    assert offered("edit", short(first), "--link", "") == {short(second): "The second"}
    assert pmem("rm", first).code == 0
    assert set(offered("show", "")) == {short(first), short(second)}
    assert set(offered("edit", "")) == {short(second)}
    assert set(offered("restore", "")) == {short(first)}
    assert pmem("purge", first).code == 0
    assert set(offered("purge", "")) == {short(second)}


def test_the_common_start_of_whole_ids_is_that_of_all_of_them(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = sorted(add(f"Number {n}") for n in range(6))
    assert pmem("list").code == 0  # the index looks at all of them
    monkeypatch.setattr(suggestions, "MOST_IDS", 3)
    start = commonprefix(ids)[:2]
    whole = [name for name in offered("show", start) if "-" in name]
    assert commonprefix(whole) == commonprefix(ids)
    assert len(whole) == 3


def test_tags_subjects_and_other_words_of_the_memory_are_offered(project: Path) -> None:
    add("One", "--tag", "ci", "--tag", "git", "--subject", "Data Base", "--app", "cal")
    add("Two of them", "--tag", "ci", "--category", "project", "--agent", "planner")
    assert set(offered("list", "--tag", "")) == {"ci", "git"}
    assert set(offered("edit", "x", "--subject", "D")) == {"Data Base"}
    assert "project" in offered("search", "x", "--category", "")
    assert set(offered("list", "--app", "")) == {"cal"}
    assert set(offered("list", "--agent", "")) == {"planner"}


def test_conversations_and_episodes_are_offered_to_their_commands(project: Path) -> None:
    talk = data_of("conversation", "start", "Database choice")["id"]
    episode = data_of("episode", "add", "A turn")["id"]
    pmem("list")
    pmem("episode", "list")
    pmem("conversation", "list")
    known = offered("conversation", "show", "")
    assert known == {short(talk): "Database choice"}
    assert offered("conversation", "pause", short(talk)[:3]) == known
    assert offered("context", "x", "--conversation", short(talk)[:3]) == known
    assert short(episode) not in offered("edit", "")
    assert set(offered("episode", "show", "")) == {short(episode)}


def test_facts_are_offered_until_they_are_settled(project: Path) -> None:
    pmem("conversation", "start", "Talk")
    pmem("conversation", "say", "I think we prefer tabs in the parser")
    pmem("list")
    (fact,) = data_of("inbox", "facts")["items"]
    text = "The user thinks we prefer tabs in the parser"
    assert offered("inbox", "accept", "") == {short(fact["id"]): text}
    assert offered("inbox", "reject", short(fact["id"])[:3]) == {short(fact["id"]): text}
    assert offered("inbox", "reject", short(fact["id"]), "") == {}
    assert pmem("inbox", "reject", fact["id"]).code == 0
    assert offered("inbox", "accept", "") == {}


def test_what_waits_for_consent_is_offered_to_who_decides(project: Path) -> None:
    pmem("add", "The user lives in Graz", "--agent", "planner")
    (item,) = data_of("inbox", "proposals")["items"]
    known = {item["short"]: "The user lives in Graz"}
    assert offered("inbox", "accept", "") == offered("inbox", "reject", "") == known
    assert offered("inbox", "accept", item["short"], "") == {}
    assert offered("--agent", "planner", "inbox", "accept", "") == {}


def test_threads_are_offered_by_their_names(project: Path) -> None:
    for thread in ("review-42", "release"):
        assert pmem("checkpoint", "save", thread, "{}").code == 0
    assert set(offered("checkpoint", "load", "")) == {"review-42", "release"}
    assert set(offered("checkpoint", "rm", "rev")) == {"review-42"}
    assert pmem("delta", "--thread", "nightly").code == 0
    assert set(offered("delta", "--thread", "")) == {"nightly"}


@pytest.mark.parametrize("words", [("add", "x", "--cite", ""), ("why", "src"), ("eval", "run", "")])
def test_files_are_left_to_the_shell(project: Path, words: tuple[str, ...]) -> None:
    assert answer(" ".join(words)) == b"files\n"


def test_an_agent_is_offered_nothing_of_the_memory(project: Path) -> None:
    add("Not for agents", "--tag", "own")
    assert offered("show", "--agent", "planner", "") == {}
    assert offered("list", "--agent", "planner", "--tag", "") == {}


def _traces(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_nothing_is_written_whatever_is_asked(project: Path) -> None:
    add("One", "--tag", "ci")
    before = _traces(project)
    for line in ("", "show ", "list --tag ", "add --subject ", "x -"):
        for shell in SHELLS:
            answer(line, shell)
    assert _traces(project) == before


@pytest.mark.parametrize("harm", ["nonsense", "gone", "version", "link", "view", "empty"])
def test_a_broken_index_is_passed_over_in_silence(project: Path, harm: str) -> None:
    add("One")
    index = project / ".project-memory/local/index.sqlite3"
    if harm == "nonsense":
        index.write_bytes(b"no database" * 999)
    if harm == "empty":
        index.write_bytes(b"")
    if harm in ("gone", "link"):
        index.rename(project / "elsewhere")
    if harm == "link":
        index.symlink_to(project / "elsewhere")
    if harm in ("version", "view"):
        import sqlite3

        with sqlite3.connect(index) as database:
            database.execute(
                "pragma user_version = 1" if harm == "version" else "create view v as select 1"
            )
        database.close()
    before = _traces(project)
    assert answer("show ", "bash") == b""
    assert _traces(project) == before


def test_nothing_is_said_where_there_is_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert offered("show", "") == {}
    assert answer("show", "tcsh") == b""
    assert answer("", "bash").startswith(b"words\n")


def test_no_text_of_a_memory_gives_a_terminal_orders(project: Path) -> None:
    add("Red \x1b[31m\u202etxt", "--tag", "a\x1bb")
    told = b"".join(answer(line, shell) for line in ("show ", "list --tag ") for shell in SHELLS)
    assert b"\x1b" not in told
    assert "\u202e" not in told.decode()


@pytest.mark.parametrize("start", ["'a b", '"a b', r"a\ b", "'a ", "a\\ "])
def test_what_is_typed_may_be_quoted(project: Path, start: str) -> None:
    add("One", "--subject", "a b c")
    assert answer(f"add --subject {start}") == b"words\na b c\t\n"


def test_a_word_is_quoted_where_the_shell_does_not_do_it(project: Path) -> None:
    add("One", "--subject", "CI: $HOME's cache")
    add("Two", "--subject", "cost")

    def told(line: str, shell: str = "bash", **environment: str) -> str:
        return answer(f"add --subject {line}", shell, **environment).decode().splitlines()[1]

    assert told("CI") == r"CI:\ \$HOME\'s\ cache"
    assert told("CI:", _PMEM_WORD="") == r"\ \$HOME\'s\ cache"
    assert told('"CI', _PMEM_WORD="CI") == r"CI: \$HOME's cache"
    assert told("'CI", _PMEM_WORD="CI") == r"CI: $HOME'\''s cache"
    assert told('"CI: ', _PMEM_WORD="CI: ") == r"CI: \$HOME's cache"
    assert told("CI", "zsh") == r"CI\: $HOME's cache"
    assert told("CI", "powershell").startswith("'CI: $HOME''s cache'\t")


def test_the_index_calls_the_stores_what_the_records_do() -> None:
    assert suggestions.MEMORIES == STORES[Memory]
    assert suggestions.EPISODES == STORES[Episode]
    assert suggestions.CONVERSATIONS == STORES[Conversation]
    assert suggestions.CHUNKS == STORES[Chunk]


def test_nothing_heavy_is_loaded(project: Path) -> None:
    add("One")
    code = (
        "import os, sys; from pmem.cli.completion import answer\n"
        "assert answer(os.environ).startswith(b'words')\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & "
        "{'rich', 'tomlkit', 'filelock', 'Stemmer', 'yaml', 'markdown_it', 'jinja2'}))"
    )
    line = {"_PMEM_COMPLETE": "bash", "_PMEM_LINE": "pmem show ", "_PMEM_WORD": ""}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **line},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


class TestInstalling:
    @pytest.fixture(params=["bash", "zsh", "fish", "powershell", "pwsh"])
    def shell(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.fixture
    def home(self, tmp_path: Path) -> Path:
        return tmp_path / "home"

    def test_it_is_put_in_once_and_taken_out_to_the_byte(self, shell: str, home: Path) -> None:
        start = completion_file(shell, os.environ)
        os.makedirs(os.path.dirname(start), exist_ok=True)
        Path(start).write_bytes(b"alias l=ls\r\n# caf\xe9, no end")
        before = _traces(home)
        assert pmem("setup", "completion", shell, "--check").code == 1
        assert pmem("setup", "completion", shell).code == 0
        once = _traces(home)
        assert once != before
        assert pmem("setup", "completion", shell).code == 0
        assert _traces(home) == once
        assert pmem("setup", "completion", shell, "--check").code == 0
        assert pmem("setup", "completion", shell, "--remove").code == 0
        assert {path: data.rstrip(b"\n") for path, (data, _) in _traces(home).items()} == {
            path: data for path, (data, _) in before.items()
        }

    def test_every_file_that_is_touched_is_named(self, shell: str, home: Path) -> None:
        said = pmem("setup", "completion", shell).text
        assert {line.split(maxsplit=1)[-1] for line in said.splitlines()} == set(_traces(home))

    def test_a_start_up_file_that_is_a_link_stays_one(self, home: Path) -> None:
        (home / "dotfiles").mkdir()
        (home / "dotfiles/bashrc").write_text("alias l=ls\n")
        (home / ".bashrc").symlink_to("dotfiles/bashrc")
        assert pmem("setup", "completion", "bash").code == 0
        assert (home / ".bashrc").is_symlink()
        assert "PMEM" in (home / "dotfiles/bashrc").read_text()
        assert pmem("setup", "completion", "bash", "--remove").code == 0
        assert (home / "dotfiles/bashrc").read_text() == "alias l=ls\n"

    def test_somebody_elses_lines_and_half_a_block_are_left_alone(self, home: Path) -> None:
        theirs = home / ".config/fish/completions/pmem.fish"
        theirs.parent.mkdir(parents=True)
        theirs.write_text("complete -c pmem\n")
        assert pmem("setup", "completion", "fish").code == 0
        assert theirs.read_text().startswith("complete -c pmem\n")
        assert pmem("setup", "completion", "fish", "--remove").code == 0
        assert theirs.read_text() == "complete -c pmem\n"
        (home / ".bashrc").write_text("# BEGIN PMEM\n")
        assert pmem("setup", "completion", "bash").code == 7
        assert (home / ".bashrc").read_text() == "# BEGIN PMEM\n"
