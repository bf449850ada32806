"""What an older pmem, an editor or a merge let in is not shown to models and searches."""

import json
from pathlib import Path
from typing import Final

import pytest

from tests.core.secrets import labelled
from tests.faults.console import Done, pmem
from tests.once import Once

TOKEN: Final = next(case.secret for case in labelled.secrets(7) if case.kind == "github-token")
SAID: Final = f"We deploy with {TOKEN} since May."
MARK: Final = "[redacted: github-token]"
NOTE: Final = "what looks like a secret is not shown; `pmem check secrets` tells where it stands"
QUERY: Final = json.dumps({"agent": "planner", "query": "deploy", "categories": ["knowledge"]})
FULL: Final = QUERY.replace('"query"', '"return": "full", "query"')

SHOWN: Final[dict[str, tuple[str, ...]]] = {
    "search": ("search", "deploy"),
    "memory": ("search", "deploy", "--kind", "memory"),
    "episode": ("search", "deploy", "--kind", "episode"),
    "message": ("search", "deploy", "--kind", "message"),
    "summary": ("search", "deploy", "--kind", "chunk"),
    "context": ("context", "deploy"),
    "context without a query": ("context",),
    "context for a chat": ("context", "deploy", "--format", "messages"),
    "context in JSON": ("context", "deploy", "--format", "json"),
    "explained context": ("context", "deploy", "--explain"),
    "context of a thread": ("context", "--thread", "t", "--budget", "150"),
    "delta": ("delta", "--thread", "t"),
    "block": ("list", "--block"),
    "block of an app": ("app", "context", "calendar"),
    "query": ("query", QUERY),
    "full query": ("query", FULL),
}


def _build() -> None:
    assert pmem("delta", "--thread", "t").code == 0
    with_gate_off = {"PMEM_SECRETS_GATE": "off"}
    for words in (
        ("add", SAID, "--category", "knowledge"),
        ("add", "Other words.", "--subject", f"deploy {TOKEN}"),
        ("app", "remember", "calendar", SAID),
        ("episode", "add", SAID, "--title", f"Deploy with {TOKEN}"),
        ("conversation", "start"),
        *(("conversation", "say", f"{SAID} {number}") for number in range(21)),
    ):
        done = pmem(*words, environment=with_gate_off)
        assert done.code == 0, done.err


@pytest.fixture
def leaky(root: str, once: Once) -> str:
    """Fill a project with a secret in everything that is shown."""
    once(_build)
    return root


def ask(way: str, *more: str, environment: dict[str, str] | None = None) -> Done:
    """Run one of the commands that show what is kept."""
    words = SHOWN[way]
    if words[0] == "query":
        return pmem("query", *more, stdin=words[1].encode(), environment=environment)
    return pmem(*words, *more, environment=environment)


@pytest.mark.parametrize("form", [(), ("--json",)])
@pytest.mark.parametrize("way", SHOWN)
def test_nothing_for_models_shows_a_secret_that_got_in(
    way: str, form: tuple[str, ...], leaky: str
) -> None:
    done = ask(way, *form)
    assert done.code == 0, done.err
    assert TOKEN not in done.out.decode() + done.err
    assert MARK in done.out.decode()
    assert NOTE in done.err


@pytest.mark.parametrize("way", SHOWN)
def test_a_user_may_have_it_shown(way: str, leaky: str) -> None:
    done = ask(way, "--json", environment={"PMEM_SECRETS_MASK": "false"})
    assert TOKEN[:30] in done.out.decode()  # an update's line is cut
    assert MARK not in done.out.decode()
    assert NOTE not in done.err


@pytest.mark.parametrize("value", ["false", '"false"', '"0"'])
def test_a_project_may_not(value: str, leaky: str) -> None:
    Path(leaky, "config.toml").write_text(f"[secrets]\nmask = {value}\n")
    assert TOKEN not in ask("search", "--json").out.decode()
    assert pmem("config", "set", "secrets.mask", "false").code == 3
    found = pmem("check", "records", "--json").data["records"]["findings"]
    assert "counts for nothing" in " ".join(each["message"] for each in found)


def test_nothing_that_stands_beside_a_text_is_shown(leaky: str) -> None:
    for path in [
        *Path(leaky, "conversations").iterdir(),
        *Path(leaky, "long-term-memory").iterdir(),
    ]:
        record = json.loads(path.read_text())
        for message in record.get("recent_messages", ()):
            message |= {"speaker": TOKEN, "external_id": TOKEN}
        if "tags" in record:
            record["tags"] = [TOKEN]
        path.write_text(json.dumps(record))
    for way in ("search", "message", "full query", "context", "context for a chat"):
        for form in ((), ("--json",)):
            done = ask(way, *form)
            assert done.code == 0, done.err
            assert TOKEN not in done.out.decode() + done.err


def test_what_is_allowed_is_shown(leaky: str) -> None:
    done = ask("search", "--json", environment={"PMEM_SECRETS_ALLOW": TOKEN})
    assert TOKEN in done.out.decode()
    assert NOTE not in done.err


def test_scan_names_every_place(leaky: str) -> None:
    found = pmem("check", "secrets", "--json").data["secrets"]["findings"]
    stores = {Path(each["path"]).parent.name for each in found}
    assert stores >= {"long-term-memory", "episodic-memory", "conversations", "conversation-chunks"}


def test_the_owner_still_sees_the_record_itself(leaky: str) -> None:
    identifier = pmem("list", "--json").data["items"][0]["id"]
    assert TOKEN in pmem("show", identifier).out.decode()
