"""A text whose words are all in another current memory: that one is shown beside what was added."""

import json
import os

import pytest

from tests.cli.shell import pmem
from tests.conftest import NOW
from tests.mcp.talking import called_as, text_of

WHOLE = "We use PostgreSQL 16 for orders; SQLite lost writes under load"
PARTS = ("We use PostgreSQL 16 for the orders", "SQLite lost writes")
OTHERS = (
    "We use PostgreSQL 15 for the orders",
    "We do not use PostgreSQL 16 for orders",
    "PostgreSQL 16 keeps the invoices",
)


@pytest.fixture
def known(root: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The memory folder of the current folder, with one memory."""
    monkeypatch.chdir(os.path.dirname(root))
    monkeypatch.setenv("PMEM_NOW", NOW.strftime("%Y-%m-%dT%H:%M:%SZ"))
    assert pmem("add", WHOLE).code == 0
    return root


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("part", PARTS)
def test_a_person_and_a_script_are_shown_it(part: str) -> None:
    assert WHOLE in pmem("add", part).text
    (whole, added) = json.loads(pmem("list", "--json").text)["data"]["items"]
    assert [link["target"] for link in added["relationships"]] == [whole["id"]]


@pytest.mark.parametrize("part", PARTS)
def test_an_assistant_is_shown_it(known: str, part: str) -> None:
    done = called_as(known, "add_to_memory", {"content": part})
    assert WHOLE in text_of(done)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("text", OTHERS)
def test_what_says_more_or_otherwise_is_not_taken_for_a_part(text: str) -> None:
    assert WHOLE not in pmem("add", text).text


@pytest.mark.usefixtures("known")
def test_what_was_removed_is_not_shown() -> None:
    (whole,) = json.loads(pmem("list", "--json").text)["data"]["items"]
    assert pmem("rm", whole["id"]).code == 0
    assert WHOLE not in pmem("add", PARTS[0]).text
