"""The command line as a contract: the envelope, the exit codes, the options of every command."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal
from unittest import mock

import msgspec
import pytest
from filelock import FileLock

from pmem.cli.commands import COMMANDS, GROUPS
from pmem.cli.tree import root
from pmem.search import search
from pmem.values.records import KINDS
from tests.cli.shell import Outcome, data_of, installed, pmem
from tests.conversation.assistants import ClaudeCode, Codex, Gemini
from tests.faults.world import DECISION
from tests.git.branches import ok
from tests.once import Once
from tests.storage.folders import contradict

pytestmark = pytest.mark.usefixtures("project")

SHAPES = Path(__file__).with_name("shapes.txt")
"""A command line with `--json` and, below it, its answer with what each value is in its place."""
ID = re.compile("[0-9a-z]+-[0-9a-z]{8}")
MANY = 40
UPDATE = "UPDATE_TRANSCRIPTS" in os.environ


def read_answers() -> dict[str, str]:
    parts = SHAPES.read_text(encoding="utf-8").strip().split("\n\n")
    return dict(part.split("\n", 1) for part in parts)


ANSWERS = read_answers()
CODES = {
    "add Known": 9,
    "add pronouns:they/them --agent planner": 7,
    "check": 1,
    "check records": 1,
    "check setup": 1,
    'work apply {"id":"insight:latest","digest":"0","answer":0}': 9,
}


class Envelope(msgspec.Struct, forbid_unknown_fields=True):
    schema: Literal["pmem/1"]
    data: Any


class Failure(msgspec.Struct, forbid_unknown_fields=True):
    code: str
    message: str
    hint: str


class FailureEnvelope(msgspec.Struct, forbid_unknown_fields=True):
    schema: Literal["pmem/1"]
    error: Failure


@pytest.fixture
def filled(project: str, once: Once) -> dict[str, str]:
    """Keep two linked memories and a conversation; return what a command may name them."""
    mine = _id(pmem("add", "--mine", "I prefer small commits.", "--json"))
    found = {**once(lambda: _build(project)), "MINE": mine}
    for path in Path(os.environ["HOME"]).rglob("origins.sqlite3"):
        path.unlink()  # whoever built it wrote it, and whoever copied it did not
    return found


def _build(project: str) -> dict[str, str]:
    ok("init", "--quiet")
    assert pmem("setup", "git").code == 0
    first, second = (_id(pmem("add", text, "--json")) for text in ("Known", "Other"))
    ok("add", "--all")
    ok("commit", "--quiet", "--message", "Two memories")
    assert pmem("edit", second, "--link", first).code == 0
    ok("commit", "--quiet", "--all", "--message", "A link")
    third = _id(pmem("add", "Third", "--app", "calendar", "--json"))
    contradict(project, third)
    talk = data_of("conversation", "start", "Talk")["id"]
    heard = pmem("conversation", "say", "Which database?", "--json")
    said = json.loads(heard.out)["data"]["message"]["id"]
    assert pmem("export", "arrays", "backup").code == 0
    session = ClaudeCode()
    session.ask("Which database?")
    Path("session.jsonl").write_bytes(session.bytes())
    Path("AGENTS.md").write_text("- Use tabs\n")
    Path("0001-bake.md").write_text(DECISION)
    Path("codex.jsonl").write_bytes(Codex().bytes())
    Path("gemini.jsonl").write_bytes(Gemini().bytes())
    assert pmem("eval", "add", "Known", first).code == 0
    assert pmem("delta", "--thread", "review").code == 0
    for form in ("bullets", "full"):
        with open(f"{form}.json", "w") as file:
            json.dump({"query": "Known", "return": form}, file)
    assert pmem("edit", first, "--pin").code == 0
    assert pmem("checkpoint", "save", "kept", '{"context": null}').code == 0
    assert pmem("conversation", "say", "We prefer small commits.").code == 0
    fact = data_of("inbox", "facts")["items"][0]["id"]
    held = pmem("add", "The user lives in Graz.", "--agent", "planner", "--json")
    episode = data_of("episode", "add", "A turn")["id"]
    return {
        "REF": first,
        "OTHER": second,
        "CONTRADICTED": third,
        "TALK": talk,
        "FACT": fact,
        "SAID": said,
        "HELD": json.loads(held.out)["data"]["held"]["id"],
        "EPISODE": episode,
        "APPS": third,
    }


@pytest.mark.parametrize("line", ANSWERS)
def test_json_is_one_line_of_the_shape_that_is_promised(
    line: str,
    filled: dict[str, str],
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    if line.startswith("db"):
        monkeypatch.setenv("PMEM_DATABASE", request.getfixturevalue("test_database").address)
        assert pmem("db", "init").code == 0
    done = pmem(*(filled.get(word, word) for word in line.split()), "--json")
    assert done.code == CODES.get(line, 0), done.said
    assert done.out.count(b"\n") == 1
    assert done.out.endswith(b"}\n")
    told = json.dumps(shape_of(msgspec.json.decode(done.out, type=Envelope).data))
    if UPDATE:
        with FileLock(tmp_path_factory.getbasetemp().parent / "shapes.lock"):
            answers = read_answers() | {line: told}
            text = "\n\n".join(f"{one}\n{answers[one]}" for one in answers)
            SHAPES.write_text(f"{text}\n", encoding="utf-8")
        return
    assert told == ANSWERS[line]


def shape_of(value: Any) -> Any:
    """Return a value of JSON with what each part is in its place; of a list, what its items are."""
    if isinstance(value, list):
        shapes = {json.dumps(shape_of(each)) for each in value}
        return [json.loads(each) for each in sorted(shapes)]
    if not isinstance(value, dict):
        return None if value is None else type(value).__name__
    for kind in KINDS:
        if set(kind.__struct_fields__) - {"removed"} <= set(value):
            msgspec.convert(value, kind, strict=True)
            return " ".join((kind.__name__, *sorted(value.keys() - {*kind.__struct_fields__})))
    named = {ID.sub("ID", key): shape_of(each) for key, each in value.items()}
    return named if len(value) < MANY else "dict"


def test_every_command_is_among_the_answers() -> None:
    commands = {*COMMANDS, *(f"{group} {name}" for group in GROUPS for name in GROUPS[group][1])}
    asked = {" ".join(line.split()[: 2 if line.split()[0] in GROUPS else 1]) for line in ANSWERS}
    elsewhere = {"mcp", "serve", "browse", "model test"}  # protocols, a screen, a model
    assert commands - elsewhere == asked


@pytest.mark.parametrize(
    ("line", "code", "exit_code"),
    [
        ("show nothing", "not_found", 3),
        ("show mwq", "ambiguous", 3),
        ("add x --importance 2", "invalid_value", 3),
        ("list --now soon", "invalid_value", 3),
        ("list --limit none", "usage", 2),
        ("nonsense", "usage", 2),
        ("config", "usage", 2),
        ("-C / list", "no_project", 4),
        ("add x --read-only", "refused", 7),
        ("purge REF", "refused", 7),
    ],
)
def test_a_failure_is_one_line_on_standard_error(
    line: str, code: str, exit_code: int, filled: dict[str, str]
) -> None:
    done = pmem(*(filled.get(word, word) for word in line.split()), "--json")
    assert (done.code, done.out) == (exit_code, b"")
    assert done.err.count(b"\n") == 1
    assert msgspec.json.decode(done.err, type=FailureEnvelope).error.code == code


def test_a_memory_has_the_keys_that_scripts_rely_on(filled: dict[str, str]) -> None:
    memory = data_of("show", filled["REF"])
    promised = {"id", "type", "content", "category", "subject", "tags", "importance", "pinned"}
    assert promised <= set(memory)


# Exit codes


def test_1_the_answer_is_no(project: str) -> None:
    assert pmem("search", "zebra", "--exit-status").code == 1
    _spoil(project)
    assert pmem("check", "records").code == 1
    assert pmem("check", "setup").code == 1


def test_3_not_found_ambiguous_or_invalid(filled: dict[str, str]) -> None:
    lines = (["show", "none"], ["show", "mwq"], ["add", ""], ["config", "get", "colour"])
    assert [pmem(*line).code for line in lines] == [3] * 4


@pytest.mark.parametrize(
    ("text", "code"),
    [("{", "damaged"), ('{"id": "mwqi0000-00000000", "schema": 99}', "newer_schema")],
)
def test_5_damaged_and_newer_data_is_named_and_left_alone(
    text: str, code: str, project: str
) -> None:
    path = Path(_spoil(project, text))
    done = pmem("show", "mwqi0000-00000000", "--json")
    assert (done.code, json.loads(done.err)["error"]["code"]) == (5, code)
    assert str(path) in done.said
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.skipif(os.name == "nt", reason="flock is what holds the lock here")
def test_6_locked_past_the_time_out(project: str) -> None:
    import fcntl

    assert pmem("add", "one").code == 0
    with open(f"{project}/local/lock", "a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = pmem("add", "two", environment={"PMEM_LOCK_TIMEOUT": "0"})
    assert done.code == 6
    assert pmem("list").text.count("\n") == 1


def test_70_a_bug_is_one_sentence_and_a_log(project: str) -> None:
    done = _with_a_bug(lambda: pmem("search", "anything"))
    assert done.code == 70
    assert "Traceback" not in done.said
    assert done.said.startswith("pmem: this is a bug in pmem: ZeroDivisionError: oh")
    log = f"{project}/local/pmem.log"
    assert log in done.said
    text = Path(log).read_text(encoding="utf-8")
    assert "Traceback" in text
    assert text.endswith("ZeroDivisionError: oh\n\n")


def test_70_a_bug_is_json_where_that_is_asked() -> None:
    done = _with_a_bug(lambda: pmem("search", "anything", "--json"))
    assert (done.code, done.out) == (70, b"")
    assert msgspec.json.decode(done.err, type=FailureEnvelope).error.code == "bug"


def test_74_the_disk_is_full(filled: dict[str, str]) -> None:
    full = mock.patch("os.fsync", side_effect=OSError(28, "No space left on device"))
    with full:
        done = pmem("add", "too much")
    assert done.code == 74
    assert "No space left on device" in done.said
    assert data_of("list")["total"] == 3


def test_130_interrupted() -> None:
    with mock.patch.object(search, "search", side_effect=KeyboardInterrupt):
        assert pmem("search", "anything") == Outcome(130, b"", b"")


# Options of every command


def every_command() -> list[tuple[str, ...]]:
    grouped = [(group, name) for group in GROUPS for name in GROUPS[group][1]]
    return [*((name,) for name in COMMANDS), *grouped]


@pytest.mark.parametrize("words", every_command(), ids=" ".join)
def test_global_options_stand_before_or_after_the_name(words: tuple[str, ...]) -> None:
    options = ["-C", ".", "--json", "--quiet", "--no-color", "--read-only"]
    options += ["--actor", "Mira", "--now", "2026-01-01"]
    before, after = pmem(*options, *words, "--help"), pmem(*words, *options, "--help")
    assert (before.code, after.code) == (0, 0)
    assert before == after


def test_a_later_option_wins_over_an_earlier_one_and_the_environment(
    filled: dict[str, str],
) -> None:
    environment = {"PMEM_ACTOR": "Ben", "PMEM_DIR": "/"}
    done = pmem(
        *("--actor", "Cleo", "-C", "/", "add", "New", "--actor", "Mira", "-C", "."),
        *("--now", "2026-01-01", "--json"),
        environment=environment,
    )
    memory = json.loads(done.out)["data"]["memory"]
    assert memory["history"] == [{"event": "ADD", "at": "2026-01-01T00:00:00Z", "actor": "Mira"}]


@pytest.mark.parametrize(
    "line",
    [
        "eval",
        "eval run",
        "eval FILE",
        "eval run FILE",
        "eval -k 10 FILE",
        "eval --budget 1000",
        "--quiet eval --actor add FILE",
        "eval --quiet -C . run",
    ],
)
def test_a_group_with_a_default_needs_no_commands_name(line: str, filled: dict[str, str]) -> None:
    file = ".project-memory/golden.jsonl"
    done = pmem(*line.replace("FILE", file).split(), "--json")
    assert done.code == 0, done.said
    assert done.out == pmem("eval", "run", "--json").out


@pytest.mark.row("S1.8.5")
def test_the_actor_is_gits_user_then_the_login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PMEM_ACTOR")
    monkeypatch.setenv("LOGNAME", "login")
    assert _actor(pmem("add", "one", "--json")) == "login"
    gitconfig = os.path.abspath("gitconfig")
    Path(gitconfig).write_text("[user]\n\tname = Grace\n", encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", gitconfig)
    assert _actor(pmem("add", "two", "--json")) == "Grace"


def test_times_come_in_with_any_zone_and_go_out_in_utc() -> None:
    for given in ("2026-11-21T16:30:00+02:00", "2026-11-21T14:30:00Z", "2026-11-21 14:30"):
        memory = data_of("add", "x", "--force", "--now", given)
        assert memory["memory"]["created_at"] == "2026-11-21T14:30:00Z"


def test_read_only_leaves_no_trace(project: str) -> None:
    before = sorted(os.walk(project))
    for line in (["list"], ["search", "x"], ["context"], ["stats"], ["check"]):
        assert pmem(*line, "--read-only").code == 0
    assert sorted(os.walk(project)) == before


def test_quiet_silences_all_but_errors() -> None:
    assert pmem("list", "--quiet").err == b""
    assert pmem("show", "nothing", "--quiet").err != b""


def test_nothing_but_utf8_comes_in() -> None:
    assert installed([b"add", b"caf\xe9"]).code == 3
    assert installed([b"search", b"caf\xe9", b"--json"]).code == 3
    assert installed(["add", "-"], stdin=b"caf\xe9").code == 3
    assert installed(["add", "text"], {"PMEM_ACTOR": b"caf\xe9"}).code == 3
    assert pmem("list").text == ""


@pytest.mark.parametrize("line", [["add", "-"], ["search", "-"], ["context", "-"]], ids=" ".join)
def test_a_dash_reads_standard_input(line: list[str], filled: dict[str, str]) -> None:
    assert "Known" in pmem(*line, stdin=b"Known\n").text


@pytest.mark.parametrize("line", [b"[" * 100_000, b"\xff", b"[]", b"{}", b'{"content": 1}', b"nan"])
def test_a_batch_that_is_no_batch_adds_nothing(line: bytes) -> None:
    done = pmem("add", "--batch", "-", stdin=b'{"content": "fine"}\n' + line)
    assert done.code == 3
    assert done.said.startswith(("pmem: line 2 is no memory: ", "pmem: line 2 is not valid JSON: "))
    assert pmem("list").text == ""


def _id(done: Outcome) -> str:
    return str(json.loads(done.out)["data"]["memory"]["id"])


def _actor(done: Outcome) -> str:
    return str(json.loads(done.out)["data"]["memory"]["history"][0]["actor"])


def _spoil(project: str, text: str = "{") -> str:
    path = f"{project}/long-term-memory/mwqi0000-00000000.json"
    Path(path).write_text(text, encoding="utf-8")
    return path


def _with_a_bug(command: Callable[[], Outcome]) -> Outcome:
    def broken(workspace: Any, request: Any) -> None:
        assert workspace.root
        raise ZeroDivisionError("oh")

    with mock.patch.object(search, "search", broken):
        return command()


def test_the_root_lists_every_command() -> None:
    listed = root().list_commands(mock.Mock())
    assert listed == [*COMMANDS, *GROUPS]
