"""What a transaction may hold of a secret that was there before it."""

import pytest

from pmem.project.secret_gate import SecretFound, SecretGate
from pmem.storage.backend import Change
from pmem.values.records import Conversation, Memory, Record
from pmem.values.rules import Secrets
from tests.conftest import NOW
from tests.core.secrets import labelled

TOKEN = next(case.secret for case in labelled.secrets(7) if case.kind == "github-token")


def memory(number: int, content: str) -> Memory:
    return Memory(
        id=f"mwqi0000-{number:08d}",
        content=content,
        category="goals",
        valid_from=NOW,
        created_at=NOW,
        updated_at=NOW,
    )


def conversation(outcome: str) -> Conversation:
    return Conversation(id="mwqi0000-00000009", started_at=NOW, updated_at=NOW, outcome=outcome)


def commit(*pairs: tuple[Record | None, Record]) -> None:
    """Show a gate what is to be written, each record behind itself as it was before."""
    before = {new.id: old for old, new in pairs}
    changes = [Change(type(new), new.id, new) for _, new in pairs]
    SecretGate(Secrets).refuse_new_secrets(changes, lambda change: before[change.id])


OLD_TALK = (conversation(f"We use {TOKEN}"), conversation(f"We use {TOKEN}, still"))
OLD_MEMORY = (memory(1, f"We use {TOKEN}"), memory(1, "We use a token"))


def test_a_record_that_held_a_secret_may_change_around_it() -> None:
    commit(OLD_TALK)


def test_a_secret_may_move_from_one_memory_to_another() -> None:
    commit(OLD_MEMORY, (None, memory(2, f"They use {TOKEN}")))


def test_a_secret_of_an_old_conversation_does_not_enter_a_memory() -> None:
    with pytest.raises(SecretFound):
        commit(OLD_TALK, (None, memory(2, f"They use {TOKEN}")))


def test_a_secret_of_an_old_memory_does_not_enter_a_conversation() -> None:
    with pytest.raises(SecretFound):
        commit(OLD_MEMORY, (None, conversation(f"They use {TOKEN}")))
