"""Ids beside a text on passwords are shown whole, and real secrets are still masked."""

import os
from itertools import count
from pathlib import Path

import pytest

from tests.cli.shell import pmem
from tests.cli.story import screen
from tests.git.branches import ok
from tests.mcp.talking import called, text_of

TEXTS = (
    "Members are identified by card number",
    "The password policy is on the wiki",
    "Ask for the API key at the front desk",
    "The login is the one of the kangaroo",
)
TOKEN = "Zq8!f" + "Tr2#vLm9x"
COMMANDS: dict[str, list[str]] = {
    "list": ["list"],
    "search": ["search", "password card kangaroo key"],
    "search, explained": ["search", "password card kangaroo key", "--explain"],
    "context": ["context", "kangaroo", "--explain", "--budget", "100"],
    "log": ["log"],
    "log of one": ["log", "<id>"],
    "show": ["show", "<id>"],
    "inbox": ["inbox"],
    "why": ["why", "desk.py"],
    "review": ["review"],
    "add one on the same subject": ["add", "Members are identified by their card number"],
    "edit": ["edit", "<id>", "--link", "<other>", "--pin"],
    "rm and its note": ["rm", "<id>"],
    "undo and its note": ["undo"],
    "an ambiguous one": ["show", "d"],
    "one in a wrong state": ["edit", "<gone>", "--superseded-by", "<id>"],
    "check": ["check"],
    "stats": ["stats"],
}

GIVEN = {
    "search": {"query": "card number"},
    "fetch": {"id": ""},
    "add_to_memory": {"content": "Members are identified by their card number"},
    "update_memory": {"id": "", "content": "Members are known by their card number"},
}
NAMELESS = {"log of one", "one in a wrong state", "stats", "undo and its note"}


@pytest.fixture(autouse=True)
def _ids_like_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every record an id that a filter could mask: `d85bmsx6` and the like."""
    numbers = count(int("d85bmsx6", 36), 36**2 * 7)
    monkeypatch.setattr(
        os, "urandom", lambda size: next(numbers).to_bytes(max(size, 6), "big")[-size:]
    )


@pytest.fixture
def ids(project: str) -> list[str]:
    ok("init", "--quiet")
    Path("desk.py").write_text("KEY = 1\n", encoding="utf-8")
    ok("add", "desk.py")
    ok("commit", "--quiet", "--message", "x")
    found = []
    for text in TEXTS:
        done = pmem("add", text, "--cite", "desk.py:1", "--type", "constraint", "--for", "*.py")
        found.append(done.text.split()[1])
    assert pmem("rm", pmem("add", "The passphrase is with Kim").text.split()[1]).code == 0
    Path("desk.py").write_text("KEY = 2\n", encoding="utf-8")
    return found


def filled(line: list[str], ids: list[str]) -> list[str]:
    gone = pmem("list", "--state", "soft_deleted").text.split()[0]
    names = {"<id>": ids[0], "<other>": ids[1], "<gone>": gone}
    return [names.get(word, word) for word in line]


@pytest.mark.parametrize("name", COMMANDS)
def test_no_id_is_masked_in_a_pipe(name: str, ids: list[str]) -> None:
    done = pmem(*filled(COMMANDS[name], ids))
    assert "redacted" not in done.text + done.said
    assert name in NAMELESS or any(id_ in done.text + done.said for id_ in ids)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_id_is_masked_on_a_terminal(name: str, ids: list[str]) -> None:
    assert "redacted" not in screen(*filled(COMMANDS[name], ids), columns=100)


@pytest.mark.parametrize("tool", ["search", "fetch", "add_to_memory", "update_memory"])
def test_no_id_is_masked_for_a_model(tool: str, ids: list[str], project: str) -> None:
    told = text_of(
        called(
            project,
            tool,
            **{key: ids[0] if key == "id" else text for key, text in GIVEN[tool].items()},
        )
    )
    assert "redacted" not in told
    assert ids[0] in told or tool == "update_memory"  # which waits for consent


def test_a_real_secret_beside_an_id_is_masked(project: str) -> None:
    memory = pmem("add", "kangaroo").text.split()[1]
    (path,) = Path(project, "long-term-memory").glob("*.json")
    path.write_text(path.read_text().replace('"kangaroo"', f'"kangaroo password: {TOKEN}"'))
    for line in (["search", "kangaroo"], ["context", "kangaroo", "--explain"]):
        for told in (str(pmem(*line)), screen(*line, columns=100)):
            assert TOKEN not in told
    assert TOKEN not in str(pmem("show", f"password: {TOKEN}"))
    assert memory in pmem("search", "kangaroo").text
