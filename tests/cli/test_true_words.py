"""Sentences that commands say hold: of where a text is, of what was done, of what to do next."""

import os
from pathlib import Path

import pytest

from tests.cli.shell import pmem
from tests.git.branches import ok


@pytest.mark.parametrize("above", [0, 2])
@pytest.mark.parametrize("lines", ["3", "3-4"])
def test_why_says_where_the_cited_text_is_now(project: str, above: int, lines: str) -> None:
    text = "".join(f"item {number}\n" for number in range(1, 7))
    Path("stock.txt").write_text(text, encoding="utf-8")
    pmem("add", "Item three is sold out", "--cite", f"stock.txt:{lines}")
    Path("stock.txt").write_text("new\n" * above + text, encoding="utf-8")
    now = "-".join(str(int(line) + above) for line in lines.split("-"))
    moved = f" (cited as stock.txt:{lines})" if above else ""
    for asked in ("stock.txt", f"stock.txt:{3 + above}"):
        assert f"verified: stock.txt:{now} unchanged{moved}\n" in pmem("why", asked).text
    gone = pmem("why", "stock.txt:1").said
    assert gone == "no memory applies to stock.txt:1 or cites what is there\n"


SETUPS = ("git", "pre-commit", "completion bash", "rules agents-md", "claude-code", "agents-md")


@pytest.mark.parametrize("what", SETUPS)
def test_a_setup_says_removed_only_of_what_was_there(
    project: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ok("init", "--quiet")
    monkeypatch.setenv("HOME", os.getcwd())
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    told = []
    for words in ((), ("--remove",), ("--remove",)):
        done = pmem("setup", *what.split(), *words)
        assert done.code == 0
        told.append({line.split()[0] for line in done.text.splitlines()} - {"kept"})
    assert told[1:] == [{"removed"}, {"not"}]
