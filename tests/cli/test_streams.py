"""Streams as programs meet them: pipes that close, full disks, terminals."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping

import pytest

from tests.cli.shell import BIN, NOTHING, installed, pmem, through_sh

pytestmark = pytest.mark.usefixtures("project")

ESCAPE = "\x1b"
NAMES_ARE_BYTES = sys.platform == "linux"
HOSTILE = (
    "red\x1b[31m title\x1b]0;owned\x07 link\x1b]8;;http://x\x07 c1\x9b2J bidi\u202e\u2066 "
    "zero\u200b\ufeff tag\U000e0041\U000e007f back\b\x7f line\u2028"
)
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\U000e0000-\U000e007f]"
)


def on_terminal(
    arguments: list[str],
    columns: int = 80,
    stdin: bytes = b"",
    environment: Mapping[str, str] = NOTHING,
) -> tuple[int, str]:
    """Run the installed program on a terminal; return its exit code and what the screen got."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    inherited = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    process = subprocess.Popen(
        [os.path.join(BIN, "pmem"), *arguments],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**inherited, "TERM": "xterm-256color", **environment},
        close_fds=True,
    )
    os.close(follower)
    if stdin:
        os.write(leader, stdin)
    screen = b""
    try:
        while part := os.read(leader, 65536):
            screen += part
    except OSError:  # Linux says so when the last user of a terminal is gone
        pass
    finally:
        os.close(leader)
    return process.wait(timeout=60), screen.decode()


def test_a_reader_that_leaves_is_no_error(project: str) -> None:
    batch = "".join(f'{{"content": "memory {i} {"x" * 200}"}}\n' for i in range(600))
    assert pmem("add", "--batch", "-", stdin=batch.encode()).code == 0
    for options in ("", "--json"):
        line = f"{{ pmem list {options}; echo $? >&3; }} 3>code | head -c 10"
        done = through_sh(line, ".")
        with open("code", encoding="utf-8") as file:
            assert file.read() == "0\n"
        assert done.err == b""
        assert len(done.out) == 10


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(
    "line", ["list", "list --json", "context", "--help", "add --help", "--version", "export arrays"]
)
def test_a_full_disk_behind_standard_output_is_74(line: str) -> None:
    assert pmem("add", "one").code == 0
    done = through_sh(f"pmem {line} > /dev/full", ".")
    assert done.code == 74
    assert "standard output cannot be written: No space left on device" in done.said
    assert "Traceback" not in done.said


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_no_harm(closed: str) -> None:
    assert through_sh(f"pmem add text {closed}", ".").code == 0
    assert through_sh(f"pmem list {closed}", ".").code == 0
    assert pmem("check", "records").code == 0
    assert pmem("list").text.endswith("text\n")


def test_an_encoding_that_lacks_a_character_is_no_error() -> None:
    assert pmem("add", "Größe → 大").code == 0
    done = installed(["list"], {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.code == 0
    assert done.text.endswith("Gr\\xf6\\xdfe \\u2192 \\u5927\n")


@pytest.mark.skipif(not NAMES_ARE_BYTES, reason="here file names are text")
def test_json_tells_paths_that_are_not_utf_8() -> None:
    os.mkdir(b"\xff")
    os.chdir(b"\xff")
    assert pmem("init", "--no-git", "--here", "--json").code == 0
    with open(b".project-memory/long-term-memory/\xfe.json", "wb") as file:
        file.write(b"{}")
    (finding,) = json.loads(pmem("check", "records", "--json").text)["data"]["records"]["findings"]
    assert finding["path"].endswith("/\\udcff/.project-memory/long-term-memory/\\udcfe.json")
    error = json.loads(pmem("-C", "missing", "list", "--json").said)["error"]
    assert "\\udcff" in error["message"]


def test_colours_are_for_terminals_only() -> None:
    assert pmem("add", "one").code == 0
    assert ESCAPE in on_terminal(["list"])[1]
    assert ESCAPE not in on_terminal(["list", "--no-color"])[1]
    assert ESCAPE not in installed(["list"]).text


def test_no_color_in_the_environment_is_obeyed() -> None:
    assert pmem("add", "one").code == 0
    assert ESCAPE not in on_terminal(["list"], environment={"NO_COLOR": "1"})[1]


def test_a_narrow_terminal_cuts_nothing() -> None:
    text = "A memory that is much longer than the terminal is wide, to the very end"
    assert pmem("add", text).code == 0
    code, screen = on_terminal(["list"], columns=20)
    assert code == 0
    plain = re.sub(r"\x1b\[[0-9;]*m", "", screen)
    assert text in " ".join(plain.split())


def test_a_terminal_gets_no_control_characters_from_the_memory() -> None:
    assert pmem("add", HOSTILE, "--subject", "sub\x1b[2Jject").code == 0
    assert pmem("conversation", "start", "title\x1b[2J").code == 0
    assert pmem("conversation", "say", HOSTILE, "--speaker", "Mi\u202era").code == 0
    for line in (
        ["list"],
        ["search", "red"],
        ["show", _short()],
        ["log", _short()],
        ["context"],
        ["conversation", "list"],
        ["conversation", "show"],
        ["add", HOSTILE],
    ):
        code, screen = on_terminal(line)
        coloured = re.sub(r"\x1b\[[0-9;]*m", "", screen)
        assert code in (0, 9)
        assert HIDDEN.findall(coloured) == [], line
        assert "\x1b[31m title" not in screen


def test_errors_are_cleaned_too() -> None:
    for line in (["show", "x\x1b[2J"], ["config", "get", "\x1b]0;x\x07"], ["\x1b[2J"]):
        done = pmem(*line)
        assert done.code in (2, 3)
        assert HIDDEN.findall(done.said) == []


@pytest.mark.row("S3.11.4")
def test_a_question_is_asked_on_a_terminal() -> None:
    assert pmem("conversation", "start", "Talk").code == 0
    assert pmem("conversation", "say", "hello").code == 0
    code, screen = on_terminal(["conversation", "clear"], stdin=b"n\n")
    assert code == 2
    assert "[y/N]" in screen
    code, screen = on_terminal(["conversation", "clear"], stdin=b"y\n")
    assert code == 0


def test_long_work_shows_progress_on_a_terminal_only() -> None:
    with open("chat.jsonl", "w", encoding="utf-8") as file:
        file.write("".join(f'{{"content": "message {i}"}}\n' for i in range(50)))
    _, screen = on_terminal(["import", "messages", "chat.jsonl"])
    assert "50 of 50" in screen
    assert pmem("import", "messages", "chat.jsonl").err == b""


def _short() -> str:
    return pmem("list").text.split()[0]
