r"""Bad input of every kind, each with its exit code, its sentence and what to do next.

The table is `bad_input.txt`. A case there is what is wrong around (after `#`, one of
`badproject.WRONG`), a command line, what stands on its standard input as Python writes bytes, the
exit code with the sentence, and the hint. `@300` is a text of 300 characters, `@bytes` one that
is not UTF-8, `@nul` one with a zero byte, `@lines` one of two lines, `@blank` one of white space,
`@deep` 100,000 opened lists. `UPDATE_TRANSCRIPTS=1` rewrites codes and sentences.
"""

import ast
import json
import os
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.cli.badproject import ONE, WRONG, fill
from tests.cli.conftest import NOW
from tests.faults.console import PROGRAM, bytes_of, pmem, real

TABLE: Final = os.path.join(os.path.dirname(__file__), "bad_input.txt")
UPDATE: Final = "UPDATE_TRANSCRIPTS" in os.environ


class Case(NamedTuple):
    wrong: str
    command: str
    stdin: str
    code: int
    message: str
    hint: str

    @property
    def arguments(self) -> list[str]:
        return [_expanded(word) for word in shlex.split(self.command)]

    @property
    def input(self) -> bytes:
        if self.stdin == "@deep":
            return b"[" * 100_000
        data = ast.literal_eval(f"b'''{self.stdin}'''")
        assert isinstance(data, bytes)
        return data

    @property
    def text(self) -> str:
        lines = [
            *([f"# {self.wrong}"] if self.wrong else []),
            f"$ pmem {self.command}",
            *([f"< {self.stdin}"] if self.stdin else []),
            f"{self.code} {self.message}",
            *([f"hint: {self.hint}"] if self.hint else []),
        ]
        return "\n".join(lines)


_WORDS: Final = {"@bytes": "caf\udce9", "@nul": "a\0b", "@lines": "a\nb", "@blank": " \t\n"}


def _expanded(word: str) -> str:
    if word in _WORDS:
        return _WORDS[word]
    return "x" * int(word[1:]) if word[:1] == "@" and word[1:].isdecimal() else word


def _case(text: str) -> Case:
    found = {"# ": "", "$ ": "", "< ": "", "hi": ""}
    code, message = 0, ""
    for line in text.splitlines():
        if line[:2] in found:
            found[line[:2]] = line[2:] if line[:2] != "hi" else line.removeprefix("hint: ")
        else:
            digits, _, message = line.partition(" ")
            code = int(digits)
    command = found["$ "].removeprefix("pmem ")
    return Case(found["# "], command, found["< "], code, message, found["hi"])


def _cases() -> list[Case]:
    with open(TABLE, encoding="utf-8") as file:
        return [_case(part) for part in file.read().strip("\n").split("\n\n")]


CASES: Final = _cases()

_SHORTENED: Final = re.compile(r"x{40,} \[\d+ characters left out\] x{40,}")


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMEM_NOW", NOW)
    monkeypatch.setenv("PMEM_ACTOR", "ada")


def _kept(here: str) -> dict[str, bytes]:
    """Return all files but those in `local`, which holds nothing that anybody wrote."""
    own = os.path.join(".project-memory", "local", "")
    return {path: data for path, data in bytes_of(here).items() if not path.startswith(own)}


@pytest.mark.some(100)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.wrong}: {case.command}"[:60])
def test_bad_input_gets_its_sentence_and_changes_nothing(case: Case, tmp_path: Path) -> None:
    here = os.getcwd()
    fill(os.path.join(here, ".project-memory"), case.wrong)
    before = _kept(here)
    done = pmem("--json", *case.arguments, stdin=case.input)
    assert (done.code != 0, done.err.strip("\n").count("\n")) == (True, 0)
    assert set(done.error) == {"code", "message", "hint"}
    message, hint = (_anywhere(done.error[key], here) for key in ("message", "hint"))
    plain = pmem(*case.arguments, stdin=case.input)
    assert plain.out == b""
    told = case._replace(code=plain.code, message=message, hint=hint)
    if UPDATE and told != case:
        _rewrite(case, told)
    assert UPDATE or told.text == case.text
    assert _anywhere(
        plain.err, here
    ) == f"pmem: {message}\n{f'hint: {hint}' * bool(hint)}\n".replace("\n\n", "\n")
    assert _kept(here) == before
    assert plain.code in (2, 3, 4, 5, 6, 7, 74)


def _anywhere(text: str, here: str) -> str:
    """Return a text as it is whatever the folder's name and its length are."""
    return _SHORTENED.sub("x ... x", text.replace(here, "HERE"))


def _rewrite(case: Case, told: Case) -> None:
    with open(TABLE, encoding="utf-8") as file:
        text = file.read()
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write(text.replace(f"{case.text}\n", f"{told.text}\n"))


def test_the_table_is_long_and_has_every_kind() -> None:
    assert len(CASES) >= 60
    assert len({(case.wrong, case.command, case.stdin) for case in CASES}) == len(CASES)
    assert {case.code for case in CASES} == {2, 3, 4, 5, 6, 7, 74}
    assert {case.wrong for case in CASES} == {"", *WRONG}
    assert len({case.message for case in CASES}) >= 60


def test_an_agent_is_not_told_whether_there_is_what_it_may_not_see() -> None:
    fill(os.path.abspath(".project-memory"), "allowlists")
    done = pmem("--agent", "planner", "list")
    assert done.code == 0
    assert done.err == ("there is no memory that planner may see; its allowlist has goals\n")


def test_whole_numbers_beyond_64_bits_are_numbers_like_others() -> None:
    fill(os.path.abspath(".project-memory"))
    huge = "9" * 30
    asked = json.dumps({"query": "queue", "top_k": int(huge), "budget_tokens": int(huge)})
    for arguments, stdin in (
        (["search", "queue", "-k", huge], ""),
        (["context", "queue", "--budget", huge], ""),
        (["list", "--limit", huge], ""),
        (["query", "-"], asked),
    ):
        done = pmem(*arguments, "--json", stdin=stdin.encode())
        assert done.code == 0, done.err
        assert "queue" in json.dumps(done.data)


@pytest.mark.parametrize("command", ["list --json", "context queue", "export arrays"])
def test_a_reader_that_leaves_is_no_error(command: str) -> None:
    fill(os.path.abspath(".project-memory"))
    code = os.system(f"{shlex.quote(PROGRAM)} {command} 2>err | head -c 1 >/dev/null")
    assert code == 0
    assert Path("err").read_text().count("pmem:") == 0


@pytest.mark.parametrize("command", ["add -", "query -", "eval -"])
def test_a_closed_standard_input_gets_a_sentence(command: str) -> None:
    fill(os.path.abspath(".project-memory"))
    os.system(f"{shlex.quote(PROGRAM)} {command} <&- 2>err >out; echo $? > code")
    assert Path("err").read_text().startswith("pmem: ")
    assert Path("code").read_text() in ("2\n", "3\n")
    assert Path("out").read_text() == ""


@pytest.mark.parametrize(
    ("closed", "command", "code"),
    [
        ("request.json", "query request.json", 74),
        ("latin", "import messages latin", 74),
        ("latin", "add --batch latin", 74),
        (".project-memory/config.toml", "config list", 74),
        (f".project-memory/long-term-memory/{ONE}.json", f"show {ONE}", 74),
        ("folder", "export audit folder/trail.jsonl", 74),
    ],
)
def test_what_may_not_be_read_or_written_is_named(
    closed: str, command: str, code: int, plain: tuple[str, ...]
) -> None:
    fill(os.path.abspath(".project-memory"))
    os.chmod(closed, 0o000 if os.path.isfile(closed) else 0o555)
    done = real(*command.split(), before=plain)
    os.chmod(closed, 0o755)
    assert (done.code, done.out) == (code, b"")
    sentence, hint = done.err.splitlines()
    assert os.path.basename(closed) in sentence
    assert "Permission denied" in sentence
    assert hint.startswith("hint: ")


@pytest.mark.parametrize("command", ["log HEAD..", "check --staged", "setup git"])
def test_without_git_the_sentence_says_so(command: str) -> None:
    fill(os.path.abspath(".project-memory"))
    before = _kept(os.getcwd())
    done = pmem(*command.split(), environment={"PATH": "/nowhere"})
    assert (done.code, done.out) == (3, b"")
    assert "git" in done.err
    assert "hint: " in done.err
    assert _kept(os.getcwd()) == before


def test_an_interrupt_at_the_standard_input_ends_without_a_word() -> None:
    fill(os.path.abspath(".project-memory"))
    before = _kept(os.getcwd())
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # not ignored
    running = subprocess.Popen(
        [PROGRAM, "add", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    signal.signal(signal.SIGINT, usual)
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode in (130, -signal.SIGINT)
    assert (out, err.count(b"pmem:")) == (b"", 0)
    assert _kept(os.getcwd()) == before
