"""A command that needs an extra says which one, and no other command loads it."""

import sys

import pytest

from pmem.cli import render
from tests.cli.shell import pmem
from tests.cli.test_imports import imported

EXTRAS = {"jinja2", "markupsafe", "textual"}


@pytest.fixture
def project(root: str) -> str:
    """Return a memory with something in it."""
    assert pmem("add", "We use PostgreSQL", "--type", "decision").code == 0
    return root


def test_a_report_without_its_extra_says_what_to_install(
    project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "pmem.report.page", raising=False)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    done = pmem("report")
    assert done.code == 3
    assert done.said.startswith("pmem: `pmem report` needs the extra `report`: ")
    assert done.said.endswith("hint: pip install 'pmem-cli[report]'\n")


def test_a_reports_document_needs_no_extra(project: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pmem.report.page", raising=False)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    done = pmem("report", "-", "--json")
    assert (done.code, '"text":"We use PostgreSQL"' in done.text) == (0, True)


def test_browsing_without_its_extra_says_what_to_install(
    project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render, "can_ask", lambda: True)
    monkeypatch.delitem(sys.modules, "pmem.browse.app", raising=False)
    monkeypatch.setitem(sys.modules, "textual", None)
    monkeypatch.setitem(sys.modules, "textual.app", None)
    done = pmem("browse")
    assert done.code == 3
    assert done.said.startswith("pmem: `pmem browse` needs the extra `tui`: ")
    assert done.said.endswith("hint: pip install 'pmem-cli[tui]'\n")


def test_browsing_needs_a_terminal(project: str) -> None:
    done = pmem("browse")
    assert (done.code, done.out) == (2, b"")
    assert done.said.startswith("pmem: `pmem browse` needs a terminal\n")


@pytest.mark.parametrize(
    "command", [["list"], ["stats"], ["search", "database"], ["context"], ["help"]], ids=" ".join
)
def test_no_other_command_loads_an_extra(project: str, command: list[str]) -> None:
    loaded = {name.partition(".")[0] for name in imported(*command)}
    assert loaded & EXTRAS == set()
