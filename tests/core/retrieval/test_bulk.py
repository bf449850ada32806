"""A long message ranks lower for its length, and not lower than a floor."""

from pmem.core.retrieval.ranking import DEFAULTS, rank
from tests.core.retrieval.stores import store_of


def test_a_message_however_long_keeps_a_floor_of_its_score() -> None:
    log = "piano " + " ".join(f"row{number}" for number in range(20_000))
    store = store_of([*["piano and lamp"] * 30, log], session=1)
    bulk = {hit.number: hit.signals.get("bulk", 1.0) for hit in rank("piano", store).hits}
    assert bulk[0] == 1.0
    assert bulk[30] == DEFAULTS.bulk
