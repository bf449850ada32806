"""What a memory is made of: its type and importance, its tags, where it came from."""

import pytest

from pmem import Project
from pmem.errors import InvalidValue
from tests.conftest import NOW
from tests.storage.in_memory import InMemory

IMPORTANCE = {
    "fact": 0.5,
    "decision": 0.7,
    "preference": 0.6,
    "entity": 0.5,
    "procedure": 0.5,
    "constraint": 0.6,
    "goal": 0.8,
}


def project() -> Project:
    return Project(actor="ada", now=NOW, backend=InMemory())


@pytest.mark.row("S2.4.1", "S2.4.2")
@pytest.mark.parametrize("kind", IMPORTANCE)
def test_each_type_has_the_importance_of_the_design(kind: str) -> None:
    added = project().add("The harbour closes at nine.", type=kind).memory
    assert (added.type, added.importance) == (kind, IMPORTANCE[kind])


@pytest.mark.row("S2.4.11")
@pytest.mark.parametrize("importance", [-0.1, 1.1])
def test_an_importance_beyond_its_bounds_is_refused(importance: float) -> None:
    with pytest.raises(InvalidValue, match="between 0 and 1"):
        project().add("The harbour closes at nine.", importance=importance)


@pytest.mark.row("S2.4.3")
def test_a_memory_keeps_its_category_and_its_tags_and_is_found_by_them() -> None:
    made = project()
    kept = made.add("The harbour closes at nine.", category="town", tags=["sea", "hours"]).memory
    made.add("The bakery opens at six.", category="town", tags=["hours"], force=True)
    assert (kept.category, kept.tags) == ("town", ("hours", "sea"))
    assert made.search("sea").hits[0].id == kept.id


@pytest.mark.row("S2.4.7")
def test_a_memory_knows_the_conversation_and_the_message_that_it_came_from() -> None:
    made = project()
    talk = made.start_conversation("Queues")
    heard = made.add_message("user", "We decided to use RabbitMQ for the queue.")
    (promoted,) = heard.promoted
    source = promoted.memory.source
    assert (source.conversation, source.message) == (talk.id, heard.message.id)
