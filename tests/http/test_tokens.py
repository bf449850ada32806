"""Tokens: who they are for, where they are, who may read them, and when they stop to count."""

import os
import secrets
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from pmem.errors import Damaged, FileNotRead, InvalidValue, NotFound, Refused
from pmem.server.http.tokens import PERSON, TokenHolder, Tokens, file_of, holder_named
from tests.http.serving import CALENDAR, PLANNER, Asked


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "pmem" / "tokens.json"


def test_a_token_is_made_once_and_kept_where_its_owner_alone_reads_it(path: Path) -> None:
    made = Tokens(str(path)).token_of(PERSON)
    assert made.secret.startswith("pmem_")
    assert len(made.secret) >= 40
    assert Tokens(str(path)).token_of(PERSON) == made
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_each_holder_has_a_token_of_its_own(path: Path) -> None:
    tokens = Tokens(str(path))
    made = {tokens.token_of(holder).secret: holder for holder in (PERSON, PLANNER, CALENDAR)}
    assert len(made) == 3
    assert {secret: tokens.holder_of(secret) for secret in made} == made
    assert tokens.holder_of("pmem_wrong") is None
    assert tokens.holder_of("") is None


def test_a_token_that_is_revoked_counts_no_more_in_a_server_that_runs(ask: Asked) -> None:
    assert ask("GET", "/api/memory/", who="agent").status_code == 200
    Tokens(ask.served.tokens.path).revoke(PLANNER)
    assert ask("GET", "/api/memory/", who="agent").status_code == 401
    assert ask("GET", "/api/memory/").status_code == 200
    with pytest.raises(NotFound):
        Tokens(ask.served.tokens.path).revoke(PLANNER)


@pytest.mark.skipif(os.name == "nt", reason="there are no such permissions")
def test_tokens_that_others_may_read_count_for_nothing(path: Path, ask: Asked) -> None:
    tokens = Tokens(str(path))
    tokens.token_of(PERSON)
    path.chmod(0o640)
    with pytest.raises(Refused, match="others may read"):
        Tokens(str(path)).token_of(PERSON)
    with pytest.raises(Refused, match="others may read"):
        tokens.holder_of("anything")
    Path(ask.served.tokens.path).chmod(0o644)
    answer = ask("GET", "/api/memory/")
    assert answer.status_code == 401
    assert ask.served.tokens.path not in answer.text  # whoever asks may be anybody


def test_a_file_of_something_else_is_told_and_kept(path: Path) -> None:
    path.parent.mkdir(parents=True)
    for data in (b"nonsense", b"{}", b'[{"holder": 1}]', b"\xff", b"[" * 9999):
        path.write_bytes(data)
        path.chmod(0o600)
        with pytest.raises(Damaged):
            Tokens(str(path)).holder_of("x")
        with pytest.raises(Damaged):
            Tokens(str(path)).token_of(PERSON)
        assert path.read_bytes() == data


def test_the_environment_may_give_a_persons_token(path: Path) -> None:
    tokens = Tokens(str(path), "a-long-token-of-ones-own")
    assert tokens.holder_of("a-long-token-of-ones-own") == PERSON
    assert tokens.token_of(PERSON).secret == "a-long-token-of-ones-own"
    assert not path.exists()
    with pytest.raises(InvalidValue):
        Tokens(str(path), "short")


def test_the_environments_token_counts_where_no_file_can_be_read(path: Path) -> None:
    path.parent.parent.mkdir()
    path.parent.write_text("no folder")
    tokens = Tokens(str(path), "a-long-token-of-ones-own")
    assert tokens.holder_of("a-long-token-of-ones-own") == PERSON
    assert tokens.knows(PERSON)
    assert not tokens.knows(PLANNER)
    with pytest.raises(FileNotRead):
        tokens.holder_of("another")


def test_processes_that_make_a_token_at_once_agree_on_it(path: Path) -> None:
    made: list[str] = []
    threads = [
        threading.Thread(target=lambda: made.append(Tokens(str(path)).token_of(PERSON).secret))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8
    assert len(set(made)) == 1


def test_every_token_is_compared_in_constant_time(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = Tokens(str(path))
    first = tokens.token_of(PERSON).secret
    tokens.token_of(PLANNER)
    compared: list[Any] = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append(one)
        return one == other

    monkeypatch.setattr(secrets, "compare_digest", compare)
    for presented in (first, "wrong"):
        compared.clear()
        tokens.holder_of(presented)
        assert len(compared) == 2


@pytest.mark.parametrize(
    ("words", "holder"),
    [
        ("person", PERSON),
        ("agent:planner", PLANNER),
        ("app:calendar", CALENDAR),
        ("agent:a:b", TokenHolder("agent", "a:b")),
    ],
)
def test_words_name_a_holder(words: str, holder: TokenHolder) -> None:
    assert holder_named(words) == holder
    assert str(holder) == words


@pytest.mark.parametrize("words", ["", "agent", "agent:", "agent: ", "person:x", "robot:x", "app:"])
def test_other_words_name_nobody(words: str) -> None:
    with pytest.raises(InvalidValue):
        holder_named(words)


def test_each_memory_folder_has_its_own_tokens(tmp_path: Path) -> None:
    environment = {"XDG_STATE_HOME": str(tmp_path / "state")}
    one = file_of(str(tmp_path / "one"), environment)
    assert one.startswith(str(tmp_path / "state"))
    assert one != file_of(str(tmp_path / "two"), environment)
    (tmp_path / "one").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "one")
    assert one == file_of(str(tmp_path / "link"), environment)
