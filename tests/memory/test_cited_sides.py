"""A changed citation is shown with what was cited and what the code says, wherever it is shown."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pmem.core.cited_sides import Sides
from tests.faults.console import added, pmem
from tests.git.branches import begin, ok
from tests.once import Once
from tests.report.pages import ReadPage

KEY = "AKIA" + "Z3MGNSTAR7PQLX2C"
CODE = 'import os\n\nFEE_CAP_CENTS = 1_500\nREGION = "eu-west-1"\n\n\ndef pay():\n    return 30\n'
NEW = CODE.replace("1_500", "2_000").replace("eu-west-1", "us-east-1").replace("30", "60")
TEXT = "The fee cap is 1500 cents"
WAYS = {
    "src/fees.py::FEE_CAP_CENTS=1_500": "cited 1_500, the code says 2_000",
    "src/fees.py:3": 'cited "FEE_CAP_CENTS = 1_500", the code says "FEE_CAP_CENTS = 2_000"',
    "src/fees.py:1-4": 'cited "FEE_CAP_CENTS = 1_500 REGION = "eu-west-1"", the code says',
}


def write(text: str) -> None:
    Path("src").mkdir(exist_ok=True)
    Path("src/fees.py").write_text(text, encoding="utf-8")


def commit() -> None:
    ok("add", "--all")
    ok("commit", "--quiet", "--message", "x")


@pytest.fixture
def repository(once: Once) -> None:
    once(_begin)


def _begin() -> None:
    begin()
    write(CODE)
    commit()


def shown(*words: str) -> str:
    done = pmem(*words)
    return re.sub(r"\s+", " ", done.out.decode())


def report() -> str:
    assert pmem("report", "out.html").code == 0
    told = ReadPage(Path("out.html").read_text(encoding="utf-8")).document
    return f"{told['memories'][0]['cites'][0]['state']} {told['needs'][0]['why']}"


VIEWS: dict[str, Callable[[], str]] = {
    "inbox": lambda: shown("inbox"),
    "check": lambda: shown("check", "citations"),
    "show": lambda: shown("show", pmem("list", "--json").data["items"][0]["id"]),
    "review": lambda: shown("review", "HEAD~1.."),
    "review for GitHub": lambda: shown("review", "HEAD~1..", "--format", "github"),
    "review for a page": lambda: shown("review", "HEAD~1..", "--format", "markdown").replace(
        "\\", ""
    ),
    "report": report,
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.usefixtures("repository")
def test_both_sides_of_a_changed_citation_stand_side_by_side(way: str, view: str) -> None:
    added(TEXT, "--cite", way)
    commit()
    write(NEW)
    assert WAYS[way] in VIEWS[view]()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.usefixtures("repository")
def test_nothing_is_accepted_while_the_text_has_the_old_value(way: str) -> None:
    memory = added(TEXT, "--cite", way)
    write(NEW)
    assert [one["key"] for one in pmem("inbox", "--json").data["items"][0]["commands"]] == [*"ecrv"]
    done = pmem("check", "--accept", memory)
    assert done.code == 3
    assert f"the text of {memory[-8:]} says 1500, which is no longer so" in done.err
    assert f"`pmem edit {memory[-8:]} TEXT`" in done.err
    assert pmem("edit", memory, "The fee cap is 2,000 cents").code == 0
    assert [one["key"] for one in pmem("inbox", "--json").data["items"][0]["commands"]] == [
        *"ekcrv"
    ]
    assert pmem("check", "--accept", memory).code == 0
    assert pmem("check", "citations").code == 0


@pytest.mark.usefixtures("repository")
def test_a_secret_on_either_side_is_masked() -> None:
    write(CODE.replace("eu-west-1", "a name"))
    commit()
    added("The name of the region", "--cite", "src/fees.py:4")
    commit()
    write(CODE.replace("eu-west-1", KEY))
    for view in ("inbox", "check", "show", "review", "report"):
        told = VIEWS[view]()
        assert "redacted" in told, view
        assert KEY not in told


@pytest.mark.parametrize(
    ("text", "was", "now", "old"),
    [
        ("The cap is 1,500 cents", "1_500", "2_000", "1500"),
        ("It rose from 1500 to 2000", "1500", "2000", ""),
        ("The cap is 15000 cents", "1500", "2000", ""),
        ("Version 1.5 came", "5", "6", ""),
        ("It ended in 1500.", "1500", "2000", "1500"),
        ("We run in eu-west-1 alone", '"eu-west-1"', '"us-east-1"', "eu-west-1"),
        ("Debug is True here", "True", "False", "True"),
        ("There is a cap", "1500", "2000", ""),
    ],
)
def test_an_old_value_is_found_in_a_text_as_a_word_of_its_own(
    text: str, was: str, now: str, old: str
) -> None:
    assert Sides(was, now, is_value=True).old_value_in(text) == old
