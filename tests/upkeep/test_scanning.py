"""Finding the secrets that got into a memory some other way."""

import json
import os
from pathlib import Path
from random import Random
from typing import Final
from unittest import mock

import pytest

from pmem.core.secrets.texts import in_file
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.upkeep.secret_scan import ScanRequest
from tests.asking import ask
from tests.core.secrets import drawing, labelled
from tests.faults.console import pmem
from tests.git.branches import ROOT, begin, git, ok

OFF: Final = {"PMEM_SECRETS_GATE": "off"}
TOKEN: Final = drawing.token("ghp_", drawing.WORD, 36)(Random(3))
KEY: Final = next(
    case.secret for case in labelled.secrets(3) if case.secret.startswith("-----BEGIN OPENSSH")
)


@pytest.fixture
def repository() -> str:
    """Make a repository with a memory that holds no secret."""
    begin()
    assert pmem("add", "Nothing to hide").code == 0
    ok("add", "--all")
    ok("commit", "--quiet", "--message", "memory")
    return os.path.abspath(ROOT)


def commit() -> None:
    ok("add", "--all")
    ok("commit", "--quiet", "--no-verify", "--message", "more")


def leak(text: str) -> str:
    done = pmem("add", text, "--json", environment=OFF)
    return f"{os.path.abspath(ROOT)}/long-term-memory/{done.data['memory']['id']}.json"


def told(*options: str) -> list[tuple[str, str, int | None]]:
    done = pmem("check", "secrets", *options, "--json")
    findings = done.data["secrets"]["findings"]
    assert done.code == (1 if findings else 0)
    assert TOKEN.encode() not in done.out
    assert TOKEN not in done.err
    return [(item["path"], item["code"], item["line"]) for item in findings]


def test_a_clean_memory_has_none(repository: str) -> None:
    assert told() == told("--staged") == told("--history") == []


def test_a_finding_names_the_file_the_line_and_the_kind(repository: str) -> None:
    path = leak(f"deploy with {TOKEN}\nand a key\n{KEY}")
    content = next(
        number
        for number, line in enumerate(Path(path).read_text().splitlines(), start=1)
        if '"content"' in line
    )
    assert told() == [(path, "github-token", content), (path, "private-key", content)]
    assert b"in content, line 1, character 13" in pmem("check", "secrets").out


def test_messages_settings_and_damaged_files_are_looked_at_too(repository: str) -> None:
    pmem("conversation", "start", environment=OFF)
    pmem("conversation", "say", f"take {TOKEN}", environment=OFF)
    Path(ROOT, "config.toml").write_text(f"# {TOKEN}\n")
    Path(ROOT, "long-term-memory", "mjwaid1q-00000001.json").write_text(f'{{"a": "{TOKEN}"')
    found = {os.path.relpath(path, ROOT).split("/")[0] for path, _, _ in told()}
    assert found == {"conversations", "config.toml", "long-term-memory"}
    assert TOKEN.encode() not in b"".join(
        pmem("check", "secrets", "--format", name).out for name in CI
    )


CI: Final = ("github", "gitlab")


def test_a_file_that_cannot_be_read_is_no_clean_one(repository: str) -> None:
    os.symlink("/etc/hostname", f"{ROOT}/long-term-memory/mjwaid1q-00000002.json")
    assert [code for _, code, _ in told()] == ["unread"]
    done = pmem("check", "secrets")
    assert (done.code, "files, 1 of them not read" in done.out.decode()) == (1, True)


def test_no_fix_is_proposed_where_nothing_can_be_written(repository: str) -> None:
    Path(repository, ".gitignore").unlink()
    assert "`pmem check --fix`" in pmem("check", "setup").out.decode().splitlines()[-1]
    with mock.patch("os.access", return_value=False):
        assert "`pmem check --fix`" not in pmem("check", "setup").out.decode().splitlines()[-1]
    assert "`pmem check --fix`" not in pmem("check", "setup", "--read-only").out.decode()[-60:]


def test_only_what_the_commit_brings_is_looked_at(repository: str) -> None:
    leak(f"old {TOKEN}")
    commit()
    assert told("--staged") == []
    path = leak(f"new {KEY}")
    assert told("--staged") == []
    ok("add", "--all")
    Path(path).write_text(Path(path).read_text().replace(KEY[30:90].replace("\n", "\\n"), ""))
    assert [(where, kind) for where, kind, _ in told("--staged")] == [(path, "private-key")]


def test_the_history_keeps_what_was_purged_on_any_branch(repository: str) -> None:
    ok("checkout", "--quiet", "-b", "side")
    path = leak(f"deploy with {TOKEN}")
    commit()
    pmem("purge", "--force", os.path.basename(path).removesuffix(".json"))
    commit()
    ok("checkout", "--quiet", "-")
    assert told() == []
    assert told("--history") == [(path, "github-token", None)]
    ok("branch", "-D", "side")
    assert told("--history") == []


def test_one_secret_in_many_versions_is_told_once(repository: str) -> None:
    path = leak(f"deploy with {TOKEN}")
    for importance in ("0.2", "0.3", "0.4"):
        commit()
        pmem("edit", os.path.basename(path).removesuffix(".json"), "--importance", importance)
    commit()
    assert told("--history") == [(path, "github-token", None)]


def test_what_is_allowed_is_not_told(repository: str) -> None:
    from hashlib import sha256

    leak(f"an example: {TOKEN}")
    digest = "sha256:" + sha256(TOKEN.encode()).hexdigest()
    assert pmem("config", "set", "secrets.allow", digest).code == 0
    assert told() == []


def test_without_git_only_the_folder_can_be_scanned(root: str) -> None:
    workspace = Workspace(root, environment=os.environ)
    assert ask(workspace, table.SCAN, ScanRequest()).findings == ()
    assert pmem("check", "secrets", "--history").code != 0


def test_the_hook_stops_a_commit_that_brings_a_secret(repository: str) -> None:
    assert pmem("setup", "pre-commit").code == 0
    leak(f"deploy with {TOKEN}")
    ok("add", "--all")
    done = git("commit", "--message", "leak")
    assert done.code == 1
    assert "this would damage the memory or share a secret" in done.said
    assert TOKEN not in done.said


def test_merging_keeps_both_sides_and_says_so(repository: str) -> None:
    path = leak(f"deploy with {TOKEN}")
    name = os.path.basename(path).removesuffix(".json")
    commit()
    ok("checkout", "--quiet", "-b", "side")
    pmem("edit", name, "--importance", "0.9", environment=OFF)
    commit()
    ok("checkout", "--quiet", "-")
    pmem("edit", name, "--tag", "deploy", environment=OFF)
    commit()
    done = git("merge", "side")
    assert done.code == 0
    assert "holds a secret (github-token)" in done.said
    assert TOKEN not in done.said
    merged = json.loads(Path(path).read_text())
    assert (merged["importance"], merged["tags"]) == (0.9, ["deploy"])
    assert TOKEN in merged["content"]


def test_keys_of_objects_and_escaped_texts_are_read() -> None:
    spots = in_file(json.dumps({"a": {TOKEN: [1]}, "b": f"é {KEY}"}).encode())
    assert sorted(spot.kind for spot in spots) == ["github-token", "private-key"]
    assert all(TOKEN not in spot.where for spot in spots)


@pytest.mark.parametrize("seed", range(3))
def test_every_secret_is_found_in_a_record_as_it_is_written(seed: int) -> None:
    for case in labelled.secrets(seed):
        data = json.dumps({"content": case.text}, ensure_ascii=False, indent=2).encode()
        assert case.kind in {spot.kind for spot in in_file(data)}
        assert {spot.line for spot in in_file(data)} <= {2, None}


def test_the_hook_stops_a_secret_that_the_settings_themselves_allow(repository: str) -> None:
    assert pmem("setup", "pre-commit").code == 0
    path = os.path.join(repository, "config.toml")
    with open(path, "a", encoding="utf-8") as file:
        file.write(f'\n[secrets]\nallow = ["{TOKEN}"]\n')
    ok("add", "--all")
    done = git("commit", "--message", "leak")
    assert done.code == 1
    assert TOKEN not in done.said
    assert [(each[0], each[1]) for each in told("--staged")] == [(path, "github-token")]
