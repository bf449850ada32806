"""A person presses Tab in a real shell, on a terminal."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.shell import BIN, pmem
from tests.cli.terminal import READY, Terminal

COMMANDS = {
    "bash": ["bash", "--norc", "--noprofile"],
    "zsh": ["zsh", "-f"],
    "fish": ["fish", "--no-config"],
}
STARTED = {
    "bash": "",
    "zsh": "unsetopt promptsp; autoload -Uz compinit; compinit -D -u",
    "fish": f"function fish_prompt; echo -n '{READY}'; end",
}
LOADED = {
    "bash": ". <(pmem setup completion bash --print)",
    "zsh": "source <(pmem setup completion zsh --print)",
    "fish": "pmem setup completion fish --print | source",
}
EVIL = "$(touch evil)`touch evil`;touch evil"


class Typist:
    def __init__(self, shell: str, terminal: Terminal) -> None:
        self._terminal = terminal
        for line in (STARTED[shell], LOADED[shell]):
            self._terminal.type(f"{line}\n")
            self._finished()

    def words(self, keys: str) -> list[str]:
        """Type a line, and return the words that the shell makes of it."""
        self._terminal.type(keys)
        self._terminal.settle()
        self._terminal.type("\x01")
        self._terminal.settle(0.2)
        for key in "printf '<%s>' ":
            self._terminal.type(key)
            self._terminal.settle(0.03)
        self._terminal.type("\n")
        return re.findall(r"<([^<>%]*)>", self._finished().rpartition("<pmem>")[2])

    def _finished(self) -> str:
        """Wait until the shell has done what was typed, and return what it showed."""
        self._terminal.type("echo @do''ne@\n")
        shown = self._terminal.wait_for("@done@")
        self._terminal.settle(0.2)
        return shown

    def screen(self, keys: str) -> str:
        self._terminal.type(f"{keys}\x15")
        return self._finished()


@pytest.fixture(
    params=["bash", *(pytest.param(name, marks=pytest.mark.outside) for name in ("zsh", "fish"))]
)
def shell(request: pytest.FixtureRequest) -> str:
    if not shutil.which(request.param):
        pytest.skip(f"{request.param} is not installed")
    return str(request.param)


@pytest.fixture
def ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "billing.py").write_text("retries = 5\n")
    assert pmem("init", "--no-git").code == 0
    found = []
    for text, subject in (("Retry five times", "billing: retries"), ("Keep calm", EVIL)):
        done = pmem("add", text, "--subject", subject, "--tag", subject, "--json")
        assert done.code == 0, done.said
        found.append(json.loads(done.out)["data"]["memory"]["id"].partition("-")[2])
    return found


@pytest.fixture
def typist(shell: str, ids: list[str]) -> Iterator[Typist]:
    kept = ("HOME", "XDG_CONFIG_HOME", "LD_LIBRARY_PATH")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment |= {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "PS1": READY}
    environment |= {"TERM": "xterm", "LC_ALL": "C.UTF-8"}
    with Terminal(COMMANDS[shell], os.getcwd(), environment) as terminal:
        yield Typist(shell, terminal)


def test_a_line_is_completed_word_by_word(typist: Typist, ids: list[str]) -> None:
    assert typist.words("pmem inb\t") == ["inbox"]
    assert typist.words(f"pmem show {ids[0][:4]}\t") == ["show", ids[0]]
    assert typist.words("pmem add x --type=dec\t") == ["add", "x", "--type=decision"]
    assert typist.words("pmem config get chunk_s\t") == ["config", "get", "chunk_size"]
    assert typist.words("pmem why bill\t") == ["why", "billing.py"]


def test_words_with_signs_of_the_shell_come_out_as_they_are(typist: Typist) -> None:
    for start in ("bil", "'bil", '"bil', "'billing: re", "billing:\\ re"):
        assert typist.words(f"pmem list --subject {start}\t") == [
            "list",
            "--subject",
            "billing: retries",
        ], start


def test_nothing_that_a_memory_says_is_run(typist: Typist) -> None:
    for line in ("pmem list --subject '$\t", "pmem list --tag \\$\t", "pmem list --tag \t\t"):
        typist.screen(line)
    assert typist.words("pmem list --subject \\$\t") == ["list", "--subject", EVIL]
    assert not Path("evil").exists()


def test_ids_are_shown_with_their_text(typist: Typist, ids: list[str]) -> None:
    seen = typist.screen("pmem edit \t\t\t")  # the first one may complete what ids have in common
    assert ids[0] in seen
    assert "billing: retries: Retry five times" in seen
