"""What holds at a time, as far as is known now: beside what was known then."""

from datetime import UTC, datetime

import pytest

from pmem import Project
from tests.conftest import NOW
from tests.storage.in_memory import InMemory


@pytest.mark.row("S2.4.5", "S2.11.6")
def test_what_holds_at_a_time_is_listed_whenever_it_was_noted() -> None:
    made = Project(actor="ada", now=NOW, backend=InMemory())
    first, last = datetime(2025, 1, 1, tzinfo=UTC), datetime(2025, 6, 1, tzinfo=UTC)
    made.add("The old rule holds.", valid_from=first, valid_until=last)
    made.add("The new rule holds.", valid_from=last)

    def holding(year: int, month: int, day: int = 1) -> list[str]:
        at = datetime(year, month, day, tzinfo=UTC)
        return [memory.content for memory in made.list(valid_at=at).items]

    assert holding(2024, 12, 31) == []
    assert holding(2025, 1) == ["The old rule holds."]
    assert holding(2025, 5, 31) == ["The old rule holds."]
    assert holding(2025, 6) == ["The new rule holds."]
    assert made.list(at=datetime(2025, 2, 1, tzinfo=UTC)).items == ()
