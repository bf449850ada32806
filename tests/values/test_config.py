"""Settings: each by its name with its default, from the right place, and with an effect."""

import json
import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem import Project
from pmem.errors import Damaged, InvalidValue
from pmem.project.configuration import parse_config
from pmem.values.bounds import RECORD_BYTES
from pmem.values.config import (
    Layer,
    Settings,
    checked,
    from_environment,
    known,
    resolve,
    settings_of,
    table,
)
from pmem.values.rules import Scoring, as_text, flatten
from pmem.values.setting_groups import EVERYDAY, FURTHER
from tests.conversation.assistants import ClaudeCode
from tests.faults.console import added, pmem
from tests.model import scripted
from tests.storage.faults import Death, dying, fault
from tests.vocabulary import LIBRARY, MODULE

DEFAULTS: dict[str, Any] = {
    # the configuration reference of the multi-tier design
    "memory_dir": ".project-memory",
    "project_name": "Project",
    "max_context_tokens": 128_000,
    "working_memory_tokens": 8000,
    "system_prompt_tokens": 2000,
    "chunk_size": 10,
    "max_recent_messages": 20,
    "short_term_retention_turns": 50,
    "consolidation_threshold_days": 30,
    "max_episodic_memories": 100,
    "retrieval_top_k": 10,
    "relevance_threshold": 0.3,
    "recency_weight": 0.3,
    "importance_weight": 0.4,
    # memory configuration of the pruning requirements
    "max_messages": 50,
    "max_tokens": 0,
    "pruning_strategy": "rolling_window",
    "min_recent_messages": 10,
}
SECRET = "-".join(("kW9!m", "q27X"))
NOW = {"PMEM_NOW": "2026-11-21"}


def data(*arguments: str, stdin: bytes = b"", **environment: Any) -> Any:
    done = pmem(*arguments, "--json", stdin=stdin, environment=NOW | environment)
    assert done.code == 0, (arguments, done)
    return done.data


@pytest.mark.row("S2.7.5", "S2.7.9", "S2.13.1", "S3.8.1")
@pytest.mark.parametrize("name", DEFAULTS)
def test_a_setting_of_the_design_exists_with_its_default(name: str) -> None:
    assert DEFAULTS[name] == known(name).default == getattr(Settings(), name)
    assert type(DEFAULTS[name]) is type(known(name).default)


@pytest.mark.row("S3.8.2")
def test_no_token_limit_means_80_percent_of_the_window() -> None:
    assert Settings().conversation_tokens == 102_400
    assert Settings(max_tokens=9).conversation_tokens == 9
    assert Settings().default_budget == 118_000
    assert Settings(max_context_tokens=50).default_budget == 50


def test_every_setting_is_described_typed_and_has_its_variable() -> None:
    rows = list(table())
    assert len({row.name for row in rows}) == len(rows)
    for row in rows:
        assert row.description.endswith(".")
        assert row.type
        assert row.variable == "PMEM_" + row.name.upper().replace(".", "_")
        if row.default != {}:  # an empty table is none, and cannot be given
            assert checked(row.name, as_text(row.default)) == row.default


def test_settings_are_known_where_python_drops_docstrings(root: str) -> None:
    words = [sys.executable, "-OO", "-m", "pmem", "config", "get", "chunk_size"]
    done = subprocess.run(words, capture_output=True, check=False, cwd=root)
    assert (done.returncode, done.stdout.strip()) == (0, b"10"), done.stderr


def test_every_setting_is_an_everyday_one_or_in_one_group() -> None:
    listed = [*EVERYDAY, *(name for group in FURTHER for name in group.names)]
    assert sorted(listed) == sorted(row.name for row in table())
    assert len(EVERYDAY) <= 25


def user_file(text: str) -> None:
    folder = Path(os.environ["XDG_CONFIG_HOME"]) / "pmem"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(text)


def origin(name: str = "chunk_size", **environment: Any) -> tuple[Any, str]:
    found = data("config", "get", name, **environment)
    return found["value"], found["origin"]


def test_sources_win_in_their_order(root: str) -> None:
    assert origin() == (10, "default")
    user_file("chunk_size = 3\nproject_name = 'Mine'\n")
    assert origin() == (3, "user")
    pmem("config", "set", "chunk_size", "4")
    assert origin() == (4, "project")
    assert origin(PMEM_CHUNK_SIZE="5") == (5, "environment")
    layers: list[Layer] = [("flag", {"chunk_size": 6}), ("environment", {"chunk_size": "5"})]
    settings, resolved = resolve(layers)
    assert settings.chunk_size == 6
    assert [item.origin for item in resolved if item.name == "chunk_size"] == ["flag"]
    pmem("config", "unset", "chunk_size")
    assert origin() == (3, "user")
    assert origin("project_name") == ("Mine", "user")


def test_settings_that_nobody_touches_are_the_defaults_and_make_no_row() -> None:
    silent: list[Layer] = [("environment", from_environment({"PATH": "/bin"})), ("project", {})]
    with mock.patch("pmem.values.config.table", side_effect=AssertionError):
        settings = settings_of(silent)
    settled, _ = resolve(silent)
    assert msgspec.json.encode(settings) == msgspec.json.encode(settled)  # in the same order
    assert settings_of([*silent, ("user", {"chunk_size": 3})]).chunk_size == 3


@pytest.mark.row("S3.8.5")
def test_json_lists_every_setting_with_its_origin(root: str) -> None:
    pmem("config", "set", "limits.memory", "99")
    items = {
        item["name"]: item for item in data("config", "list", PMEM_RETRIEVAL_TOP_K="7")["items"]
    }
    assert list(items) == [row.name for row in table()]
    assert ("project", 99) == (items["limits.memory"]["origin"], items["limits.memory"]["value"])
    assert items["retrieval_top_k"]["origin"] == "environment"
    assert items["chunk_size"]["origin"] == "default"


def shown(*options: str, **environment: Any) -> tuple[list[str], str]:
    """Return the first word of each line of the list, and the last line said about it."""
    done = pmem("config", "list", *options, environment=environment)
    return [line.split()[0] for line in done.out.decode().splitlines()], done.err.splitlines()[-1]


def test_the_list_has_the_everyday_settings_and_those_that_differ(root: str) -> None:
    names, note = shown()
    assert names == [*EVERYDAY]
    assert note == f"{len(table()) - len(names)} more at their defaults: `pmem config list --all`"
    pmem("config", "set", "max_chunks", str(known("max_chunks").default))
    pmem("config", "set", "fading.least", "7")
    names, note = shown(PMEM_CHUNK_SIZE="7")
    assert names == [*EVERYDAY, "chunk_size", "fading"]
    assert note.startswith(f"{len(table()) - len(names)} more")


def test_the_whole_list_has_every_setting_below_the_title_of_its_group(root: str) -> None:
    done = pmem("config", "list", "--all")
    lines = done.out.decode().splitlines()
    rows = [line.split()[0] for line in lines if line.startswith("  ")]
    assert rows == [*EVERYDAY, *(name for group in FURTHER for name in group.names)]
    titles = [line for line in lines if not line.startswith("  ")]
    assert titles == ["Everyday:", *(f"{group.title}:" for group in FURTHER)]
    assert "more at their defaults" not in done.err


@pytest.mark.row("S3.8.5")
def test_set_keeps_comments_and_other_settings(root: str) -> None:
    path = Path(root) / "config.toml"
    path.write_text("# why\nchunk_size = 7 # seven\n\n[limits]\nmemory = 50 # short\n")
    pmem("config", "set", "limits.agent", "20")
    pmem("config", "set", "chunk_size", "8")
    pmem("config", "set", "categories.names", "a, b")
    text = path.read_text()
    assert text.startswith("# why\nchunk_size = 8 # seven\n")
    assert "memory = 50 # short" in text
    assert origin("categories.names") == (["a", "b"], "project")
    for name in ("limits.agent", "categories.names"):
        pmem("config", "unset", name)
    assert origin("limits.agent") == (500, "default")
    assert origin("limits.memory") == (50, "project")


BAD = [
    ("chunk_size", "0", "at least 1"),
    ("chunk_size", "-3", "at least 1"),
    ("chunk_size", "many", "whole number"),
    ("chunk_size", "2.5", "whole number"),
    ("chunk_size", "", "whole number"),
    ("relevance_threshold", "1.1", "at most 1"),
    ("relevance_threshold", "-0.1", "at least 0"),
    ("relevance_threshold", "nan", "at least 0"),
    ("pruning_strategy", "oldest", "rolling_window | importance | hybrid"),
    ("categories.strict", "perhaps", "true | false"),
    ("memory_dir", "", "must not be empty"),
    ("max_context_tokens", "49", "at least 50"),
    ("lock_timeout", "-1", "at least 0"),
]


@pytest.mark.parametrize(("name", "value", "says"), BAD)
def test_a_bad_value_is_named_with_its_rule_and_origin(
    name: str, value: str, says: str, root: str
) -> None:
    before = (Path(root) / "config.toml").read_bytes()
    done = pmem("config", "set", "--", name, value)
    assert (3, b"") == (done.code, done.out), done
    assert name in done.err
    assert says in done.err
    assert before == (Path(root) / "config.toml").read_bytes()
    variable = known(name).variable
    done = pmem("config", "list", environment={variable: value})
    assert done.code == 3, done
    assert name in done.err
    assert says in done.err
    assert name == "memory_dir" or "environment" in done.err


def test_a_bad_value_in_a_file_names_the_file_level(root: str) -> None:
    user_file("chunk_size = 0\n")
    assert "(from user)" in pmem("context").err
    (Path(root) / "config.toml").write_text("chunk_size = 'x'\n")
    assert "(from project)" in pmem("context").err


@pytest.mark.parametrize("name", ["chunk_sise", "chunksize", "limits", "limits.", "", "."])
def test_an_unknown_setting_is_refused(name: str, root: str) -> None:
    for command in (("get", name), ("set", name, "1"), ("unset", name)):
        done = pmem("config", *command)
        assert (3, b"") == (done.code, done.out)
    with pytest.raises(InvalidValue):
        known(name)


def test_a_misspelt_setting_is_put_right() -> None:
    with pytest.raises(InvalidValue) as caught:
        known("chunk_sise")
    assert "chunk_size" in caught.value.hint


UNKNOWN = {
    "lock_timout = 5": "there is no setting 'lock_timout', so it counts for nothing:"
    " did you mean lock_timeout?",
    "[nope]": "there is no setting 'nope'",
    "[nope]\nx = 1": "there is no setting 'nope.x'",
    "limits = 3": "there is no setting 'limits'",
    "[limits]\nmemroy = 3": "did you mean limits.memory?",
    "[model]\ntemperature = 1": "there is no setting 'model.temperature'",
}


@pytest.mark.parametrize("settings", UNKNOWN)
def test_a_misspelt_setting_in_the_project_s_file_is_told(settings: str, root: str) -> None:
    Path(root, "config.toml").write_text(f"{settings}\n")
    done = pmem("check", "records", "--json")
    (found,) = done.data["records"]["findings"]
    assert (done.code, found["code"], found["severity"]) == (0, "unknown_setting", "warning")
    assert UNKNOWN[settings] in found["message"]
    assert pmem("check", "records", "--strict").code == 1
    looked = pmem("check", "setup")
    assert looked.code == 0
    assert UNKNOWN[settings] in looked.out.decode()
    assert UNKNOWN[settings] in pmem("config", "list").err


def test_the_list_says_which_settings_of_your_own_are_not_known(root: str) -> None:
    user_file("[model]\ntemperature = 1\n")
    said = "there is no setting 'model.temperature' (from user), so it counts for nothing: "
    assert said in pmem("config", "list").err


@pytest.mark.parametrize(
    "settings",
    ["", "[limits]", "[allowlists]", '[allowlists]\nplanner = ["tasks"]', "lock_timeout = 5"],
)
def test_settings_that_there_are_are_not_told_as_unknown(settings: str, root: str) -> None:
    Path(root, "config.toml").write_text(f"{settings}\n")
    found = pmem("check", "records", "--json").data["records"]["findings"]
    assert "unknown_setting" not in {finding["code"] for finding in found}
    assert "no setting" not in pmem("config", "list").err


def test_of_many_unknown_settings_some_are_named(root: str) -> None:
    Path(root, "config.toml").write_text("".join(f"x{number} = 1\n" for number in range(5000)))
    found = pmem("check", "records", "--json").data["records"]["findings"]
    assert len(found) == 21
    assert "4980 further settings" in found[-1]["message"]


@pytest.mark.parametrize(
    "text", ["context,plan", " context, plan ", '["context", "plan"]', "['context','plan',]"]
)
def test_a_list_is_read_with_commas_and_as_toml_and_json_write_it(text: str) -> None:
    assert checked("allowlists.planner", text) == ("context", "plan")
    assert checked("categories.names", text) == ("context", "plan")
    assert checked("model.command", '["summarise", "--tags=a,b"]') == ("summarise", "--tags=a,b")


@pytest.mark.parametrize(
    "text",
    ["[context]", '["context"', "[1]", '[["context"]]', '["context"]\nmore = 1', "[" * 800],
)
def test_what_only_looks_like_a_list_is_refused_with_the_right_form(text: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        checked("allowlists.planner", text)
    assert caught.value.message == (
        f"allowlists.planner cannot be {text!r}: "
        'it must be a list of texts, such as a,b or ["a", "b"]'
    )


@pytest.mark.parametrize(
    "text", ["planner", "x=a,planner", '{"planner":["context"]}', 'planner=["context", "plan"]']
)
def test_a_table_of_which_an_entry_has_no_value_is_refused_with_the_right_form(text: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        checked("allowlists", text)
    assert caught.value.message == (
        f"allowlists cannot be {text!r}: its entries are NAME=VALUE, with commas between them"
    )


def test_flatten_names_nested_tables_with_dots() -> None:
    assert flatten({"a": 1, "b": {"c": {"d": 2}}}) == {"a": 1, "b.c.d": 2}


Look = Callable[..., Any]


def look(at: str, usual: dict[str, str], lines: list[str]) -> Look:
    """Run lines with a setting; return the last one's code, or `out`, `err` or a part of its data.

    A part is named as in `sections.*.name`: the name of each section. `3 * add {n}` is three lines.
    """

    def run(**environment: Any) -> Any:
        around = NOW | {known(name).variable: value for name, value in usual.items()} | environment
        *before, last = map(shlex.split, repeated(lines))
        for words in before:
            pmem(*words, environment=around)
        is_plain = at in ("code", "out", "err")
        done = pmem(*last, *["--json"] * (not is_plain), environment=around)
        return getattr(done, at) if is_plain else part_of(done.data, at.split("."))

    return run


def repeated(lines: list[str]) -> Iterator[str]:
    for line in lines:
        times, star, text = line.partition(" * ")
        for number in range(int(times) if star else 1):
            yield (text if star else line).replace("{n}", str(number))


def part_of(value: Any, names: list[str]) -> Any:
    if not names:
        return value
    first, *rest = names
    if first == "*":
        return [part_of(one, rest) for one in value]
    return part_of(value[int(first) if first.isdigit() else first], rest)


def effects() -> dict[str, tuple[str, str, Look]]:
    """Return the table of `effects.txt`."""
    text = Path(__file__).with_name("effects.txt").read_text(encoding="utf-8")
    found = {}
    for row in text.replace("{secret}", SECRET).splitlines()[1:]:
        name, one, other, at, usual, lines = map(str.strip, row.split("|"))
        beside = dict(part.split("=", maxsplit=1) for part in usual.split())
        found[name] = (one, other, look(at, beside, lines.split("; ")))
    return found


def _chunks(**environment: Any) -> Any:
    lines = b"".join(json.dumps({"content": f"m{n}"}).encode() + b"\n" for n in range(30))
    data("import", "messages", "-", stdin=lines, **environment)
    return data("conversation", "list", **environment)["items"][0]["chunks"]


def _tokens(**environment: Any) -> Any:
    content = "A sentence that is counted, antidisestablishmentarianism."
    with mock.patch.dict(sys.modules, {MODULE: LIBRARY}):
        return data("add", content, **environment)["memory"]["tokens"]


def _scored(**environment: Any) -> Any:
    """Prune one message of every kind; return how important each is."""
    project = Project(now=datetime(2026, 1, 1, tzinfo=UTC), max_recent_messages=90)
    project.start_conversation()
    for role, content in (
        ("user", "Fix the login page"),
        ("assistant", "All done, the login page is fixed."),
        ("user", "Now let's write the docs"),
        ("user", "You must never push to main."),
        ("tool", "Error: the build failed with exit code 2"),
        ("user", "No, that's wrong: I meant the staging server."),
        ("user", "As you said earlier, the port is taken."),
        ("user", "Thanks!"),
    ):
        project.add_message(role, content)
    project.add_message("assistant", "Looking it up", tool_call={"id": "c1"})
    project.add_message("tool", "42", tool_result={"id": "c1"})
    for number in range(20):
        project.add_message("user", f"The page number {number} is plain")
    later = {"PMEM_NOW": "2026-01-04", "PMEM_MIN_RECENT_MESSAGES": "1"}
    done = data("conversation", "prune", "--dry-run", "--tokens", "0", **later | environment)
    return [(item["text"], item["importance"]) for item in done["pruned"]]


def _unreviewed(**environment: Any) -> Any:
    """Change a memory by hand, as something else than pmem does; return what a search says."""
    added("The parser is fast")
    (path,) = Path(".project-memory/long-term-memory").glob("*.json")
    path.write_text(path.read_text().replace("fast", "slow"))
    found = data("search", "parser", **environment)["hits"]
    return [(hit["text"], hit["origin"]) for hit in found]


def _reviewed(**environment: Any) -> Any:
    added("The parser is fast")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "a")):
        subprocess.run(["git", *who, *words], check=True)
    return data("list", "--reviewed", **environment)["total"]


def _insights(**environment: Any) -> Any:
    ref = added("The port is one")
    for text in ("The port is two", "The port is three", "The port is four"):
        assert pmem("edit", ref, text, "--subject", "port").code == 0
    done = data("consolidate", "--dry-run", **environment)
    return [step["action"] for step in done["steps"]]


def _masked(**environment: Any) -> Any:
    data("add", f"pwd: {SECRET}", PMEM_SECRETS_GATE="off")
    return SECRET in pmem("search", "pwd", environment=environment).out.decode()


def _large_record(**environment: Any) -> Any:
    id_ = data("conversation", "start", "large")["id"]
    path = Path(f".project-memory/conversations/{id_}.json")
    path.write_bytes(path.read_bytes().ljust(RECORD_BYTES + 1))
    return pmem("conversation", "show", id_, environment=environment).code


def _app_energy(**environment: Any) -> Any:
    """Have a model sum a talk up and make decisions; return what is left an hour on."""
    command = ",".join((sys.executable, scripted.__file__, "half"))
    usual = {"PMEM_MODEL_COMMAND": command, "PMEM_APPS_LIMIT": "1", "PMEM_APPS_ENERGY": "90"}
    around: dict[str, Any] = usual | environment
    data("conversation", "start", "--app", "calendar")
    data("conversation", "say", "We decided to meet after two, as mornings are busy.")
    data("conversation", "end", **around)
    for text in ("Lunch is at noon.", "Reports go out on Fridays.", "Ben has the room key."):
        data("app", "remember", "calendar", text, **around)
    return data("app", "stats", **around | {"PMEM_NOW": "2026-11-21T01:00:00Z"})["energy"]


def _changed(**environment: Any) -> Any:
    name = data("add", "The door is open.")["memory"]["id"]
    line = ("edit", name, "The door is shut.", "--agent", "planner")
    return pmem(*line, environment=NOW | environment).code


def _lock_timeout(**environment: Any) -> Any:
    import fcntl
    import time

    added("x")
    with open(".project-memory/local/lock", "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with mock.patch("time.sleep", wraps=time.sleep) as waited:
            assert pmem("add", "y", environment=environment).code == 6
        return waited.called


def _safe(**environment: Any) -> Any:
    os.rename(".project-memory", ".kept")
    os.symlink(".kept", ".project-memory")
    return pmem("list", environment=environment).code


def _hook(**environment: Any) -> Any:
    """Say what a session starts with, where more is kept than the least context holds."""
    for number in range(20):
        data("add", f"Service {number} of the shop listens on port {number + 9000}")
    told = b'{"hook_event_name": "SessionStart", "session_id": "s"}'
    return data("hook", "session-start", stdin=told, **environment)["answer"].count("- [")


def _taken_in(**environment: Any) -> Any:
    """Count the conversations that a start finds, after a session that ended."""
    session = ClaudeCode()
    session.ask("Sails are white, aren't they?")
    Path("session.jsonl").write_bytes(session.bytes())
    told: dict[str, Any] = {"session_id": "s", "transcript_path": os.path.abspath("session.jsonl")}
    for event in ("session-end", "session-start"):
        words = ("hook", event, "--harness", "claude-code")
        pmem(*words, stdin=json.dumps(told).encode(), environment=environment)
        told = {"session_id": "t", "source": "startup"}
    return data("conversation", "list")["total"]


def _asked(**environment: Any) -> Any:
    """Stop in a session in which somebody ruled and gave a reason."""
    session = ClaudeCode()
    session.ask("Never write to that table, because only the warehouse does.")
    Path("session.jsonl").write_bytes(session.bytes())
    told = {"session_id": "s", "transcript_path": str(Path("session.jsonl").absolute())}
    words = ("hook", "stop", "--harness", "claude-code")
    done = pmem(*words, stdin=json.dumps(told).encode(), environment=environment)
    return len(done.out)


def _stopped_edit(**environment: Any) -> Any:
    """Edit a file once that a person's memory is to stop."""
    name = added("Nobody edits what is generated", "--for", "made.py")
    assert pmem("edit", name, "--stop-edits").code == 0
    told = {"session_id": "s", "tool_name": "Write", "tool_input": {"file_path": "made.py"}}
    words = ("hook", "pre-tool", "--harness", "codex")
    done = pmem(*words, stdin=json.dumps(told).encode(), environment=environment)
    return b"deny" in done.out


def _tried_model(mode: str, *more: str, **usual: str) -> Callable[..., Any]:
    """Try a model that is a program, and return what it came to."""
    command = ",".join((sys.executable, scripted.__file__, mode, *more))

    def run(**environment: Any) -> Any:
        around = {"PMEM_MODEL_COMMAND": command, **usual, **environment}
        done = pmem("model", "test", "--kind", "episode", "--json", environment=NOW | around)
        if done.code not in (0, 1):
            return done.code, done.err
        tried = done.data
        return tried["model"], [(item["passed"], item["reason"]) for item in tried["items"]]

    return run


def _learnt(mode: str) -> Callable[..., Any]:
    """Let a model look at what is said, and return how that ended and what was told."""
    command = ",".join((sys.executable, scripted.__file__, mode))

    def run(**environment: Any) -> Any:
        around = NOW | {"PMEM_MODEL_COMMAND": command} | environment
        data("conversation", "start")
        said = "We decided to use PostgreSQL for orders because SQLite lost rows. " * 4
        done = pmem("conversation", "say", said, "--learn", environment=around)
        return done.code, "more waits" in done.err, "calls are used up" in done.err

    return run


def _ignored(**environment: Any) -> Any:
    """Return what a check says where git ignores every record."""
    subprocess.run(["git", "init", "--quiet"], check=True)
    Path(".gitignore").write_text("*.json\n", encoding="utf-8")
    return pmem("check", "records", environment=environment).code


TABLE = effects()
ENTRIES: dict[str, tuple[str, str, Look]] = {
    **{
        f"importance.{field.name}": (f"{field.name}={field.default}", f"{field.name}=0", _scored)
        for field in msgspec.structs.fields(Scoring)
    },
    **{name: effect for name, effect in TABLE.items() if name.startswith("fading.")},
}
"""For every entry of the tables that have entries by themselves two values, and what differs."""
EFFECTS: dict[str, tuple[str, str, Look]] = {
    **{name: effect for name, effect in TABLE.items() if name not in ENTRIES},
    "safe_folders": ("/elsewhere", "*", _safe),
    "ignored_by_git": ("false", "true", _ignored),
    "chunk_size": ("10", "2", _chunks),
    "max_recent_messages": ("20", "3", _chunks),
    "hooks.enabled": ("true", "false", lambda **given: _hook(**given) > 0),
    "hooks.session_tokens": ("1500", "200", _hook),
    "hooks.take_in": ("true", "false", _taken_in),
    "hooks.deny": ("false", "true", _stopped_edit),
    "capture": ("ask", "off", _asked),
    "tokenizer": ("auto", "cl100k_base", _tokens),
    "importance": ("error=0.3", "error=0", _scored),
    "trust.ref": ("HEAD", "nowhere", _reviewed),
    "trust.unreviewed": ("mark", "hide", _unreviewed),
    "note_insights": ("true", "false", _insights),
    "lock_timeout": ("0", "0.3", _lock_timeout),
    "purge_days": ("30", "3", lambda **env: data("rm", added("x"), **env)["purge_at"]),
    "model.use": ("", "ollama", _tried_model("good", PMEM_MODEL_COMMAND="")),
    "model.name": ("one", "two", _tried_model("good")),
    "model.command": ("/nowhere/a", "/nowhere/b", _tried_model("good")),
    "model.url": (
        "http://127.0.0.1:9/v1",
        "ftp://x",
        _tried_model("good", PMEM_MODEL_COMMAND="", PMEM_MODEL_NAME="x"),
    ),
    "model.key_variable": (
        "",
        "NO_SUCH_KEY",
        _tried_model(
            "good",
            PMEM_MODEL_COMMAND="",
            PMEM_MODEL_NAME="x",
            PMEM_MODEL_URL="http://127.0.0.1:9/v1",
        ),
    ),
    "model.timeout": ("0.2", "0.3", _tried_model("hang")),
    "model.calls_per_day": ("200", "0", _learnt("good")),
    "model.strict": ("false", "true", _learnt("half")),
    "apps.energy": ("100", "0.5", _app_energy),
    "limits.record": (str(RECORD_BYTES), str(2 * RECORD_BYTES), _large_record),
    "consent.changes": ("true", "false", _changed),
    "secrets.mask": ("true", "false", _masked),
}
"""The same for every setting."""


def test_no_setting_is_left_without_a_test_of_its_effect() -> None:
    assert set(EFFECTS) == {row.name for row in table()}


@pytest.mark.some(20)
@pytest.mark.parametrize("name", EFFECTS)
def test_a_variable_that_is_not_utf_8_is_refused_in_one_sentence(name: str, root: str) -> None:
    given = {known(name).variable: os.fsdecode(b"\xff")}
    done = pmem("config", "list", environment=given)
    assert done.code == 3, done
    assert f"{name} cannot be '\\udcff': it must be UTF-8" in done.err
    for command in (("list",), ("add", "We use Go"), ("search", "Go"), ("check", "records")):
        done = pmem(*command, environment=given)
        assert done.code in (0, 1, 3)
        assert "bug" not in done.err


@pytest.mark.row("S2.13.2", "S3.8.3", "S3.8.4")
@pytest.mark.some(8)
@pytest.mark.parametrize("name", EFFECTS)
def test_a_setting_has_an_effect(name: str, tmp_path: Path) -> None:
    seen = _seen_with(name, EFFECTS[name], tmp_path)
    if name not in ("memory_dir", "purge_days"):
        assert seen[0] == seen[1]
    assert seen[0] != seen[2]


@pytest.mark.row("S2.13.2")
@pytest.mark.some(8)
@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_of_a_table_has_an_effect(entry: str, tmp_path: Path) -> None:
    seen = _seen_with(entry.partition(".")[0], ENTRIES[entry], tmp_path)
    assert seen[0] == seen[1]
    assert seen[0] != seen[2]


def _seen_with(name: str, effect: tuple[str, str, Callable[..., Any]], tmp_path: Path) -> list[str]:
    """Return what is seen with a setting's one value, with the same once more, and the other."""
    one, other, look = effect
    seen = []
    for place, value in (("one", one), ("one-more", one), ("other", other)):
        (tmp_path / place).mkdir()
        os.chdir(tmp_path / place)
        assert pmem("init").code == 0
        result = look(**{known(name).variable: value})
        seen.append(str(result).replace(str(tmp_path / place), ""))
    return seen


def test_every_entry_of_such_a_table_has_a_test_of_its_effect() -> None:
    settings = msgspec.to_builtins(Settings())
    tables = ("importance", "fading")
    assert set(ENTRIES) == {f"{name}.{key}" for name in tables for key in settings[name]}


def test_an_entry_of_a_table_is_set_by_itself(root: str) -> None:
    pmem("config", "set", "importance.error", "0.9")
    pmem("config", "set", "fading.least", "0")
    assert origin("importance.error") == (0.9, "project")
    found = origin("importance", PMEM_IMPORTANCE="base=0.1")
    assert (found[0]["base"], found[0]["error"], found[0]["casual"]) == (0.1, 0.9, -0.2)
    path = Path(root, "config.toml")
    assert "[fading]" in path.read_text()
    path.write_text("[importance]\n")
    assert pmem("config", "list").code == 0


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("importance.eror", "0.9", "did you mean importance.error?"),
        ("importance.error", "2", "at most 1"),
        ("fading", "days=3", "there is no setting 'fading.days'"),
        ("fading.least", "-1", "at least 0"),
    ],
)
def test_a_table_takes_no_entry_that_it_has_not(
    name: str, value: str, says: str, root: str
) -> None:
    done = pmem("config", "set", "--", name, value)
    assert (3, b"") == (done.code, done.out)
    assert says in done.err
    assert name.partition(".")[0] not in Path(root, "config.toml").read_text()


def test_the_folders_name_may_come_from_the_users_settings(root: str) -> None:
    user_file("memory_dir = '.brain'\n")
    assert data("init")["path"].endswith("/.brain")
    added("in the brain")
    assert os.listdir(".brain/long-term-memory")
    assert not os.listdir(f"{root}/long-term-memory")


def test_unset_tells_what_holds_now(root: str) -> None:
    pmem("config", "set", "chunk_size", "4")
    assert data("config", "unset", "chunk_size", PMEM_CHUNK_SIZE="5")["value"] == 5
    assert data("config", "unset", "chunk_size")["value"] == 10


def test_one_bad_setting_does_not_hide_the_others(root: str) -> None:
    (Path(root) / "config.toml").write_text("chunk_size = 0\nmax_messages = -1\n")
    assert origin("purge_days") == (30, "default")
    assert pmem("config", "get", "chunk_size").code == 3
    assert data("config", "unset", "chunk_size")["value"] == 10
    assert data("config", "set", "max_messages", "5")["value"] == 5
    assert pmem("config", "list").code == 0


def test_a_change_of_settings_that_is_killed_leaves_nothing_for_long(root: str) -> None:
    with fault(1, dying, calls=("replace",)), pytest.raises(Death):
        pmem("config", "set", "chunk_size", "3")
    pmem("config", "set", "chunk_size", "4")
    assert not [name for name in os.listdir(root) if name.startswith(".tmp-")]
    assert sorted(os.listdir(f"{root}/local")) == ["commands.log", "lock"]


@given(st.binary() | st.text("#a=1 \n\r\t\x0b\x1c\x7f\u2028").map(str.encode))
def test_a_file_of_comments_says_what_the_reader_of_settings_makes_of_it(data: bytes) -> None:
    try:
        expected: dict[str, Any] | None = flatten(tomllib.loads(data.decode()))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        expected = None
    if expected is None:
        with pytest.raises(Damaged, match=r"not valid TOML|not UTF-8|conflict markers"):
            parse_config(data, "config.toml")
    else:
        assert parse_config(data, "config.toml") == expected


@pytest.mark.usefixtures("root")
def test_a_choice_of_none_is_no_word_among_the_choices() -> None:
    done = pmem("list", environment={"PMEM_MODEL_USE": "magic"})
    assert "model.use cannot be 'magic': it must be claude | codex | ollama | llm" in done.err
