"""No secret comes in, whichever way it takes, and nobody repeats it."""

import base64
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem import Project
from pmem.core.secrets import find
from pmem.core.secrets.texts import in_file
from pmem.errors import Refused
from pmem.project.secret_gate import SecretFound, SecretGate
from pmem.values.rules import Secrets
from pmem.vcs import gitmerge
from tests.core.secrets import labelled
from tests.faults.console import Done, pmem, real
from tests.once import Once

SECRETS: Final = tuple(labelled.secrets(7))
TOKEN: Final = next(case.secret for case in SECRETS if case.kind == "github-token")
SAID: Final = f"We deploy with {TOKEN} since May."
MARK: Final = "[redacted: github-token]"

WAYS: Final[dict[str, tuple[str, ...]]] = {
    "content": ("add", SAID),
    "subject": ("add", "x", "--subject", TOKEN),
    "tag": ("add", "x", "--tag", f"a{TOKEN[4:5]}", "--tag", TOKEN),
    "category": ("add", "x", "--category", TOKEN),
    "app": ("add", "x", "--app", TOKEN),
    "user": ("add", "x", "--user", TOKEN),
    "concerned agent": ("add", "x", "--agent", TOKEN),
    "citation": ("add", "x", "--cite", f"{TOKEN}:3"),
    "actor": ("add", "x", "--actor", TOKEN),
    "edit": ("edit", "MEMORY", SAID),
    "edited subject": ("edit", "MEMORY", "--subject", TOKEN),
    "edited tags": ("edit", "MEMORY", "--tag", TOKEN),
    "successor": ("edit", "MEMORY", SAID, "--supersede"),
    "link": ("edit", "MEMORY", "--link", f"OTHER:{TOKEN}"),
    "remover": ("rm", "MEMORY", "--actor", TOKEN),
    "title": ("conversation", "start", SAID),
    "conversation's app": ("conversation", "start", "--app", TOKEN),
    "message": ("conversation", "say", SAID),
    "speaker": ("conversation", "say", "hello", "--speaker", TOKEN),
    "tool's call": ("conversation", "say", "hello", "--tool-call", json.dumps({"a": [SAID]})),
    "tool's result": ("conversation", "say", "hello", "--tool-result", json.dumps({TOKEN: 1})),
    "outcome": ("conversation", "end", SAID),
    "episode": ("episode", "add", SAID),
    "episode's title": ("episode", "add", "x", "--title", TOKEN),
    "episode's context": ("episode", "add", "x", "--context", SAID),
    "participant": ("episode", "add", "x", "--participant", TOKEN),
    "app's memory": ("app", "remember", "calendar", SAID),
    "app's name": ("app", "remember", TOKEN, "x"),
    "state": ("checkpoint", "save", "t", json.dumps({"deep": [{"a": SAID}]})),
    "state that names it": ("checkpoint", "save", "t", json.dumps({"github_token": TOKEN})),
    "thread": ("checkpoint", "save", TOKEN, "{}"),
    "thread's user": ("checkpoint", "save", "t", "{}", "--user", TOKEN),
    "reader": ("delta", "--thread", TOKEN),
    "golden question": ("eval", "add", SAID, "MEMORY"),
    "allowed example": ("config", "set", "secrets.allow", TOKEN),
    "project's name": ("config", "set", "project_name", TOKEN),
    "message from a file": ("import", "messages", "../talk.jsonl", "--strict"),
    "record from a file": ("import", "arrays", "../arrays"),
    "batch": ("add", "--batch", "../batch.jsonl"),
}
"""Every way in, by what holds the secret."""


def everything(root: str) -> Iterator[tuple[str, bytes]]:
    """Yield every file below a folder, and its name as bytes."""
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            yield path, name.encode() + b"\n" + Path(path).read_bytes()


def holding(root: str, secret: str) -> list[str]:
    """Return the files below a folder that hold a secret, plain or in base64."""
    forms = (secret.encode(), base64.b64encode(secret.encode()))
    return [path for path, data in everything(root) if any(form in data for form in forms)]


@pytest.fixture
def ids(root: str, once: Once) -> dict[str, str]:
    """Keep two memories and a talk, and put files with a secret beside the project."""
    return once(_build)


def _build() -> dict[str, str]:
    found = {}
    for name in ("MEMORY", "OTHER"):
        found[name] = pmem("add", f"Text of {name}", "--json").data["memory"]["id"]
    assert pmem("conversation", "start", "talk").code == 0
    assert pmem("conversation", "say", "hello").code == 0
    assert pmem("export", "arrays", "../arrays").code == 0
    rows = Path("../arrays/long-term-memory.json")
    rows.write_text(rows.read_text().replace("Text of OTHER", SAID).replace(found["OTHER"], NEW_ID))
    lines = [json.dumps({"content": text}) for text in ("fine", SAID, "fine too")]
    for name in ("../talk.jsonl", "../batch.jsonl"):
        Path(name).write_text("\n".join(lines))
    return found


NEW_ID: Final = "mjwaid1q-00000009"


def run(ids: dict[str, str], words: tuple[str, ...], *more: str) -> Done:
    """Run a command line, its references filled in."""
    parts = (word.partition(":") for word in words)
    return pmem(*(ids.get(start, start) + colon + rest for start, colon, rest in parts), *more)


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder for temporary files."""
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.setenv("TMPDIR", str(place))
    return place


@pytest.mark.parametrize(
    ("way", "form"),
    [(way, ()) for way in WAYS] + [(way, ("--json",)) for way in ("content", "state", "batch")],
)
def test_a_secret_is_refused_and_not_a_byte_of_it_remains(
    way: str, form: tuple[str, ...], root: str, ids: dict[str, str], scratch: Path
) -> None:
    before = dict(everything(root))
    done = run(ids, WAYS[way], *form)
    assert done.code == 7, done
    assert TOKEN not in done.err
    assert TOKEN.encode() not in done.out
    if way != "allowed example":  # which is told how to write a digest instead
        assert "github-token" in done.err
        assert re.search(r"line \d+, character \d+", done.err)
    assert holding(root, TOKEN) == holding(str(scratch), TOKEN) == []
    tracked = {path: data for path, data in everything(root) if "/local/" not in path}
    assert tracked == {path: data for path, data in before.items() if "/local/" not in path}


NAMES_SOMETHING: Final = {
    "citation",  # no such file
    "reader",
    "concerned agent",  # what an agent adds has a form of its own
}


@pytest.mark.parametrize("way", [way for way in WAYS if way not in NAMES_SOMETHING])
def test_with_redact_the_rest_is_kept(
    way: str, root: str, ids: dict[str, str], scratch: Path
) -> None:
    done = run(ids, WAYS[way], "--redact")
    if way in (
        "actor",
        "remover",
        "allowed example",
    ):  # they say who did what: nothing to leave out
        assert done.code == 7
    elif way in ("app", "conversation's app", "app's name"):  # what is left is no app's name
        assert (done.code, holding(root, "github-token]")) == (3, [])
    else:
        assert done.code in (0, 9), done
        assert holding(root, "github-token]") or way == "golden question"
        assert "was left out" in done.err
    assert TOKEN not in done.err + done.out.decode()
    assert holding(root, TOKEN) == holding(str(scratch), TOKEN) == []


RECORDS: Final = [
    way for way in WAYS if WAYS[way][0] in ("add", "edit", "conversation", "episode", "import")
]


@pytest.mark.parametrize("way", RECORDS)
def test_a_way_in_that_forgot_the_gate_is_closed_all_the_same(
    way: str, root: str, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SecretGate, "admit", lambda _self, value, *_where, **_how: value)
    done = run(ids, WAYS[way])
    assert done.code in (3, 7), done  # 3: nothing can be cited by such a name
    assert TOKEN not in done.err
    assert holding(root, TOKEN) == []


@given(st.recursive(st.text() | st.integers() | st.none(), st.lists, max_leaves=5))
def test_what_is_no_secret_passes_as_it_is(value: Any) -> None:
    assert SecretGate(Secrets).admit(value) == value or find(str(value))


def test_a_strict_import_tells_the_line_and_takes_in_nothing(
    ids: dict[str, str], root: str
) -> None:
    done = pmem("import", "messages", "../talk.jsonl", "--strict")
    assert done.code == 7
    assert "line 2: content holds a secret" in done.err
    assert b"fine" not in b"".join(data for _, data in everything(root))


def test_an_import_leaves_out_what_a_person_said_with_a_secret_and_goes_on(
    ids: dict[str, str], root: str
) -> None:
    done = pmem("import", "messages", "../talk.jsonl", "--json")
    assert done.code == 0
    assert [each["where"] for each in done.data["skipped"]] == ["line 2"]
    assert re.fullmatch(
        r"holds a secret \(github-token\) in content, line 1, character \d+; "
        r"--redact keeps the rest of it",
        done.data["skipped"][0]["why"],
    )
    assert b"fine" in b"".join(data for _, data in everything(root))
    assert holding(root, TOKEN) == []


TOOL_LINES: Final[dict[str, dict[str, Any]]] = {
    "result": {"role": "tool", "content": SAID},
    "call": {"role": "assistant", "content": "I look.", "tool_call": {"input": {"said": SAID}}},
    "answer": {"role": "user", "content": SAID, "tool_result": {"is_error": False}},
}


@pytest.mark.parametrize("kind", TOOL_LINES)
def test_an_import_takes_a_secret_out_of_what_a_tool_was_told_and_answered(
    kind: str, root: str, tmp_path: Path
) -> None:
    lines = [{"role": "user", "content": "How far are we?"}, TOOL_LINES[kind]]
    file = tmp_path / "session.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    done = pmem("import", "messages", str(file), "--json")
    assert (done.code, done.data["added"], done.data["skipped"]) == (0, 2, [])
    assert re.search(r"line 2.*: a secret \(github-token\) at line 1.* was left out", done.err)
    assert holding(root, TOKEN) == []
    assert holding(root, "[redacted: github-token]") != []
    assert pmem("import", "messages", str(file), "--json").data["unchanged"] == 2
    assert pmem("import", "messages", str(file), "--strict").code == 7


def test_a_transcript_of_nothing_but_secrets_is_refused(root: str, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text(json.dumps({"role": "user", "content": SAID}), encoding="utf-8")
    assert pmem("import", "messages", str(file)).code == 7


def test_a_redacted_import_is_the_same_when_it_is_repeated(ids: dict[str, str], root: str) -> None:
    assert pmem("import", "messages", "../talk.jsonl", "--redact").code == 0
    again = pmem("import", "messages", "../talk.jsonl", "--redact", "--json").data
    assert (again["added"], again["updated"]) == (0, 0)


def test_a_secret_that_is_there_can_be_taken_out_but_not_spread(root: str) -> None:
    project = Project(root)
    off: dict[str, Any] = {"secrets.gate": "off"}
    lax = Project(root, **off)
    old = lax.add(SAID).memory
    lax.start_conversation("talk")
    lax.add_message("user", f"We must use {TOKEN} for the deployment.")
    project.pin(old.id)
    assert project.edit(old.id, "We deploy by hand.").content == "We deploy by hand."
    project.add_message("user", "And nothing else.")
    project.remove(old.id)
    project.purge(old.id)
    facts = [item.fact.id for item in project.facts(standing=None).items]
    assert facts
    with pytest.raises(Refused):
        project.promote_facts(*facts)


def test_what_went_wrong_is_told_without_secrets(root: str, ids: dict[str, str]) -> None:
    for words in (
        ("config", "set", "chunk_size", TOKEN),
        ("show", TOKEN),
        ("conversation", "say", "x", "--conversation", TOKEN),
        ("add", "x", "--importance", TOKEN),
        (TOKEN,),
    ):
        done = pmem(*words)
        assert done.code not in (0, 70), words
        assert TOKEN not in done.err


NAMED_BASIC: Final = base64.b64encode(b":".join((b"deploy", b"s49xQ2pZ!"))).decode()
NAMED: Final = (
    ({"db_password": "-".join(("kX9!v", "Q2mZ"))}, "password"),
    ({"deep": [{"apiKey": "-".join(("9f8aK2", "jdLq0Z", "xT7mPp4R"))}]}, "assigned-secret"),
    ({"headers": {"Authorization": " ".join(("Basic", NAMED_BASIC))}}, "basic-authorization"),
)
"""Values that only their names tell to be secrets."""


@pytest.mark.parametrize(("value", "kind"), NAMED)
def test_a_name_tells_of_a_value_that_it_is_a_secret(value: dict[str, Any], kind: str) -> None:
    with pytest.raises(SecretFound) as caught:
        SecretGate(Secrets).admit(value, "the state")
    assert caught.value.kind == kind
    kept = SecretGate(lambda: Secrets(gate="redact")).admit(value, "the state")
    assert f"[redacted: {kind}]" in json.dumps(kept)
    assert SecretGate(Secrets).admit(kept) == kept
    assert [spot.kind for spot in in_file(json.dumps(value, indent=2).encode())] == [kind]


def test_a_name_makes_no_secret_of_an_ordinary_value() -> None:
    state = {
        "token_count": "1200",
        "api_key": "${API_KEY}",
        "password": "[redacted: password]",
        "secret": "kept in 1Password since 2024-11-03",
        "primary_key": "018f3c1e-7b2a-7cc0-9e41-1f2a3b4c5d6e",
        "commit": "3f2a9c7d1e5b4a6f8091a2b3c4d5e6f708192a3b",
    }
    assert SecretGate(Secrets).admit(state) == state


@pytest.mark.parametrize("who", ["--actor", "--agent"])
def test_who_proposes_is_looked_at_before_the_queue_keeps_it(who: str, root: str) -> None:
    said = ("add", "Alice lives in Berlin and her birthday is 3 May", "--agent", "planner")
    done = pmem(*said, who, TOKEN)
    assert done.code == 7, done
    assert holding(root, TOKEN) == []


def test_who_decides_is_looked_at_too(root: str) -> None:
    said = ("add", "Alice lives in Berlin and her birthday is 3 May")
    held = pmem(*said, "--agent", "planner", "--json").data["held"]["id"]
    assert pmem("inbox", "reject", held, "--actor", TOKEN).code == 7
    assert holding(root, TOKEN) == []


def test_a_bug_is_reported_without_secrets(
    root: str, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError(SAID)

    monkeypatch.setattr("pmem.memory.memories.add", broken)
    done = pmem("add", "x")
    assert done.code == 70
    assert TOKEN not in done.err
    assert os.path.exists(f"{root}/local/pmem.log")
    assert holding(root, TOKEN) == []


@pytest.mark.parametrize("name", ["merge-driver", "textconv"])
def test_what_git_runs_reports_a_bug_without_secrets_too(
    name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(_: object) -> tuple[int, bytes]:
        raise RuntimeError(SAID)

    monkeypatch.setitem(gitmerge.PLUMBING, name, broken)
    assert gitmerge.run(name, ()) == (70, b"")
    assert MARK in (said := capfd.readouterr().err)
    assert TOKEN not in said


def test_a_project_cannot_switch_the_gate_off(root: str, ids: dict[str, str]) -> None:
    Path(root, "config.toml").write_text('[secrets]\ngate = "off"\n')
    assert pmem("add", SAID).code == 7
    assert pmem("config", "get", "secrets.gate", "--json").data["origin"] == "default"
    Path(root, "config.toml").write_text('[secrets]\ngate = "redact"\n')
    assert pmem("add", SAID).code == 0
    assert pmem("config", "set", "secrets.gate", "off").code == 3


WEAKER = [
    ('[secrets]\ngate = "off"', "secrets.gate = 'off' counts for nothing"),
    ("[consent]\nchanges = false", "consent.changes is false: agents change what people wrote"),
    ("[consent]\nfields = []", "consent.fields leaves out preferred_name, pronouns"),
    ('[consent]\nfields = ["shoe size"]\ntwo_signals = []', "consent.two_signals leaves out tone"),
]


@pytest.mark.parametrize(("settings", "said"), WEAKER)
def test_settings_that_protect_less_are_told(settings: str, said: str, root: str) -> None:
    Path(root, "config.toml").write_text(f"{settings}\n")
    done = pmem("check", "records", "--json")
    assert done.code == 0
    assert said in " ".join(finding["message"] for finding in done.data["records"]["findings"])
    assert {(each["code"], each["severity"]) for each in done.data["records"]["findings"]} == {
        ("weakened", "warning")
    }
    assert pmem("check", "records", "--strict").code == 1
    assert said in pmem("check", "setup").out.decode()


@pytest.mark.parametrize(
    "settings",
    ['[secrets]\ngate = "redact"', "", "chunk_size = 0", "consent = 3", "[consent]\ndays = 9"],
)
def test_other_settings_are_not_told_as_weaker(settings: str, root: str) -> None:
    Path(root, "config.toml").write_text(f"{settings}\n")
    found = pmem("check", "records", "--json").data["records"]["findings"]
    assert "weakened" not in {finding["code"] for finding in found}


def test_what_its_user_does_not_ask_for_is_not_missed(root: str) -> None:
    Path(root, "config.toml").write_text('[consent]\nfields = ["city"]\n')
    own = Path(os.environ["XDG_CONFIG_HOME"], "pmem", "config.toml")
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text('[consent]\nfields = ["city"]\n')
    assert pmem("check", "records", "--json").data["records"]["findings"] == []


def test_whoever_runs_it_can_and_is_told(root: str, ids: dict[str, str]) -> None:
    done = pmem("add", SAID, environment={"PMEM_SECRETS_GATE": "off"})
    assert done.code == 0
    assert "was kept, as secrets.gate is off" in done.err
    assert len(holding(f"{root}/long-term-memory", TOKEN)) == 1


def test_a_real_process_leaves_nothing_either(
    root: str, ids: dict[str, str], scratch: Path
) -> None:
    done = real("add", "-", stdin=SAID.encode(), environment={"TMPDIR": str(scratch)})
    assert done.code == 7
    assert TOKEN not in done.err
    assert holding(root, TOKEN) == holding(str(scratch), TOKEN) == []
