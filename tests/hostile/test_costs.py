"""No single file of a hostile project costs any command much time or memory."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Final

import pytest

from tests.effort import IS_THOROUGH
from tests.hostile.projects import GOOD, OTHER, STORE, memory, write

YARDSTICK: Final = "for number in range(5_000_000): str(number)"
MOST_YARDSTICKS: Final = 10
"""Of CPU: the same plain work, measured beside the commands, so that no slow machine fails."""
MOST_BYTES: Final = 320 * 10**6
_HERE: Final = os.path.dirname(os.path.abspath(__file__))
_PMEM: Final = os.path.join(os.path.dirname(sys.executable), "pmem")
_AT: Final = "2026-01-05T12:00:00.000Z"
_CUT: Final = memory(OTHER)[:-1]
_COMMANDS: Final = (
    "search gear",
    "check records",
    "check secrets",
    "context gear",
    "list",
    f"show {OTHER}",
    "add Another_wheel_squeaks",
    "resolve",
    "export arrays out",
    "consolidate --dry-run",
    "check setup",
)
COMMANDS: Final = _COMMANDS if IS_THOROUGH else _COMMANDS[:3]


def words(characters: int) -> str:
    """Return a text of distinct words."""
    return " ".join(f"w{number:x}" for number in range(characters // 7))[:characters]


def unescaped(text: str) -> str:
    return memory(OTHER, "HERE").replace('"HERE"', json.dumps(text, ensure_ascii=False))


def said(key: str, count: int, text: str, **fields: Any) -> str:
    """Return a record of messages, each with a text."""
    messages = [
        {"id": f"mjwaid1q-{number:08d}", "role": "user", "content": text, "created_at": _AT}
        for number in range(count)
    ]
    record = {"id": OTHER, "schema": 1, key: messages, **fields}
    return json.dumps(record, ensure_ascii=False)


def _conversation(count: int, text: str) -> str:
    times = {"started_at": _AT, "updated_at": _AT}
    return said("recent_messages", count, text, status="active", **times)


def _chunk(count: int, text: str) -> str:
    return said(
        "messages", count, text, conversation=GOOD, number=1, summary=text[:90], created_at=_AT
    )


def _linked(count: int) -> str:
    links = [{"target": f"mjwaid1q-{n:08d}", "type": "related_to"} for n in range(count)]
    return memory(OTHER, relationships=links)


FILES: Final[dict[str, tuple[str, Callable[[], str]]]] = {
    "a content of 5.5 MB": (STORE, lambda: memory(OTHER, "gear " + words(5_500_000))),
    "400,000 tags": (STORE, lambda: memory(OTHER, tags=[f"t{n:x}" for n in range(400_000)])),
    "46 MB of tags": (STORE, lambda: memory(OTHER, tags=[f"t{n:x}" for n in range(4_000_000)])),
    "60 MB of lists": (STORE, lambda: f'{_CUT}, "x": [{"[]," * 20_000_000}[]]}}'),
    "8 MB of lists": (STORE, lambda: f'{_CUT}, "x": [{"[]," * 2_600_000}[]]}}'),
    "as many lists as may be": (STORE, lambda: f'{_CUT}, "x": [{"[]," * 240_000}[]]}}'),
    "8 MB of strings": (STORE, lambda: f"{_CUT}, " + json.dumps({"x": [""] * 2_600_000})[1:]),
    "Chinese at random": (
        STORE,
        lambda: unescaped("".join(chr(0x4E00 + n * n % 20_000) for n in range(2_600_000))),
    ),
    "one word": (STORE, lambda: memory(OTHER, "a" * 8_000_000)),
    "nothing but lines": (STORE, lambda: memory(OTHER, "gear" + "\n" * 4_000_000)),
    "many events": (STORE, lambda: memory(OTHER, history=[{"event": "ADD", "at": _AT}] * 110_000)),
    "many links": (STORE, lambda: _linked(90_000)),
    "many messages": ("conversations", lambda: _conversation(50_000, "gear")),
    "a chunk of long messages": ("conversation-chunks", lambda: _chunk(10, words(700_000))),
}
OFTEN: Final = ("a content of 5.5 MB", "400,000 tags", "60 MB of lists")


def cost(program: str, *arguments: str) -> tuple[float, int, int]:
    """Return the CPU seconds, the most memory in bytes, and the exit code of a command."""
    command = [sys.executable, "-S", os.path.join(_HERE, "measured.py"), program, *arguments]
    done = subprocess.run(command, capture_output=True, check=True)
    seconds, most, code = json.loads(done.stdout)
    return seconds, most, code


@pytest.mark.long
@pytest.mark.parametrize("name", FILES if IS_THOROUGH else OFTEN)
def test_a_large_file_costs_no_command_much(name: str, root: str) -> None:
    store, text = FILES[name]
    write(f"{root}/{STORE}/{GOOD}.json", memory(GOOD, "gear"))
    write(f"{root}/{store}/{OTHER}.json", text())
    yardstick = cost(sys.executable, "-S", "-c", YARDSTICK)[0]
    for command in COMMANDS:
        seconds, most, code = cost(_PMEM, *command.split())
        assert code in (0, 1, 3, 5, 7), command
        assert seconds < MOST_YARDSTICKS * yardstick, command
        assert most < MOST_BYTES, (command, most)
