"""What else is known of a question brings hits to the front, and finds nothing by itself."""

from typing import Any

import pytest
from hypothesis import strategies as st

from pmem import Project
from tests.conftest import NOW
from tests.storage.in_memory import InMemory

PORTS = (
    "The port of the search service is 8443.",
    "The port of the billing service is 9000.",
    "The port of the mail service is 2525.",
)


def kept(**overrides: Any) -> Project:
    made = Project(actor="ada", now=NOW, backend=InMemory(), **overrides)
    for text in (*PORTS, "Invoices are sent by the billing team on Monday."):
        made.add(text, force=True)
    return made


def found(made: Project, **fields: Any) -> list[str]:
    return [hit.text for hit in made.search("which port", **fields).hits]


@pytest.mark.row("S2.7.6")
@pytest.mark.parametrize("ranking", ["structure", "weighted_sum"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_the_context_speaks_of_comes_first(place: int, ranking: str) -> None:
    about = ("search", "billing", "mail")[place]
    made = kept(ranking=ranking)
    assert found(made, context=f"we are mending the {about} service")[0] == PORTS[place]


def test_the_context_finds_nothing_by_itself() -> None:
    made = kept()
    before, after = found(made), found(made, context="the billing team sends invoices on Monday")
    assert sorted(before) == sorted(after)


def test_the_context_reaches_beyond_the_hits_that_are_shown() -> None:
    made = kept()
    last = found(made)[-1]
    word = last.split()[4]
    assert found(made, top_k=1, context=f"the {word} {word} service") == [last]


def test_an_empty_context_changes_nothing() -> None:
    made = kept()
    assert found(made, context="") == found(made)


SCORES = st.lists(st.floats(0, 1), max_size=6)
