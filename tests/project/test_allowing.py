"""Settings hold no secret either: a digest allows one, and no name of a setting is one."""

import os
from hashlib import sha256
from pathlib import Path

import pytest

from tests.faults.console import Done, pmem

TOKEN = "ghp_" + "Zk4vQ9xT7bLm2RsW" + "8nYc3HdJ6fPqA1gEtUoB"
DIGEST = "sha256:" + sha256(TOKEN.encode()).hexdigest()


def said(done: Done) -> str:
    return done.out.decode() + done.err


def settings(root: str) -> str:
    return (Path(root) / "config.toml").read_text()


@pytest.mark.parametrize("value", [TOKEN, f"an example,{TOKEN}", f"deploy with {TOKEN}"])
@pytest.mark.parametrize("gate", ["refuse", "redact", "off"])
def test_a_secret_is_allowed_by_its_digest_alone(value: str, gate: str, root: str) -> None:
    before = settings(root)
    done = pmem("config", "set", "secrets.allow", value, environment={"PMEM_SECRETS_GATE": gate})
    assert done.code == 7
    assert DIGEST in done.err
    assert TOKEN not in said(done)
    assert settings(root) == before
    assert pmem("config", "set", "secrets.allow", DIGEST).code == 0
    assert pmem("add", f"deploy with {TOKEN}").code == 0


@pytest.mark.parametrize("value", ["sha256:", "sha256:zz", DIGEST[:-1], f"{DIGEST}0", "sha256:é"])
def test_what_is_no_digest_is_not_taken_for_one(value: str, root: str) -> None:
    done = pmem("config", "set", "secrets.allow", value)
    assert done.code == 3
    assert "64 hexadecimal digits" in done.err


def test_a_digest_may_be_written_in_capitals(root: str) -> None:
    assert pmem("config", "set", "secrets.allow", "sha256:" + DIGEST[7:].upper()).code == 0
    assert DIGEST in settings(root)
    assert pmem("add", f"deploy with {TOKEN}").code == 0


def test_what_is_allowed_is_added_to_the_list(root: str) -> None:
    other = "sha256:" + sha256(b"another").hexdigest()
    assert pmem("config", "set", "secrets.allow", DIGEST).code == 0
    done = pmem("config", "set", "secrets.allow", f"{other},hunter2x9", "--json")
    assert done.data["value"] == [DIGEST, other, "hunter2x9"]
    assert pmem("config", "set", "secrets.allow", other).code == 0
    assert settings(root).count(other) == settings(root).count(DIGEST) == 1
    assert pmem("add", f"deploy with {TOKEN}").code == 0


def test_the_list_of_what_is_allowed_can_be_emptied(root: str) -> None:
    assert pmem("config", "set", "secrets.allow", DIGEST).code == 0
    assert pmem("config", "unset", "secrets.allow").code == 0
    assert pmem("add", f"deploy with {TOKEN}").code == 7


def test_a_refusal_names_the_command_that_allows(root: str) -> None:
    assert "`pmem config set secrets.allow VALUE`" in pmem("add", f"deploy with {TOKEN}").err


@pytest.mark.parametrize(
    ("options", "environment", "named"),
    [
        ((), {"PMEM_AGENT": TOKEN}, "PMEM_AGENT"),
        (("--agent", TOKEN), {}, "--agent"),
        (("--actor", TOKEN), {}, "--actor"),
    ],
)
def test_a_name_with_a_secret_is_told_by_what_gave_it(
    options: tuple[str, ...], environment: dict[str, str], named: str, root: str
) -> None:
    done = pmem("add", "The door is open", *options, environment=environment)
    assert done.code == 7
    assert named in done.err
    assert "history" not in done.err
    assert TOKEN not in said(done)


def test_an_example_that_is_no_secret_stays_allowed(root: str) -> None:
    assert pmem("config", "set", "secrets.allow", "hunter2x9").code == 0
    assert pmem("add", "pw" + "d: hunter" + "2x9").code == 0
    assert pmem("check", "secrets").code == 0


def test_a_secret_written_into_the_settings_by_hand_is_found_there(root: str) -> None:
    path = os.path.join(root, "config.toml")
    with open(path, "a", encoding="utf-8") as file:
        file.write(f'\n[secrets]\nallow = ["{TOKEN}"]\n')
    done = pmem("check", "secrets", "--json")
    assert done.code == 1
    (finding,) = done.data["secrets"]["findings"]
    assert (finding["path"], finding["code"]) == (path, "github-token")
    assert TOKEN not in said(done)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (f"allowlists.{TOKEN}", "facts"),
        (TOKEN, "facts"),
        (f"limits.{TOKEN}", "facts"),
        ("allowlists", f"{TOKEN}=facts"),
        ("chunk_size", TOKEN),
        ("ranking", TOKEN),
        ("allowlists.planner", TOKEN),
    ],
)
@pytest.mark.parametrize("gate", ["refuse", "redact"])
def test_no_setting_takes_or_repeats_a_secret(name: str, value: str, gate: str, root: str) -> None:
    done = pmem("config", "set", name, value, environment={"PMEM_SECRETS_GATE": gate})
    assert done.code == 7 or gate == "redact"
    assert TOKEN not in said(done)
    assert TOKEN not in settings(root)


@pytest.mark.parametrize("verb", ["get", "unset"])
def test_a_setting_that_is_not_there_is_refused_without_its_name(verb: str, root: str) -> None:
    done = pmem("config", verb, TOKEN)
    assert done.code == 3
    assert TOKEN not in said(done)
