"""A command that needs an extra says which one, and no other command loads it."""

import sys

import pytest

from pmem.cli import render
from tests.cli.shell import pmem
from tests.cli.test_imports import imported

EXTRAS = {"jinja2", "markupsafe", "textual"}


@pytest.fixture
def project(root: str) -> str:
    assert pmem("add", "We use PostgreSQL", "--type", "decision").code == 0
    return root


@pytest.mark.parametrize(
    ("command", "extra", "module", "missing"),
    [
        ("report", "report", "pmem.report.page", ["jinja2"]),
        ("browse", "tui", "pmem.browse.app", ["textual", "textual.app"]),
    ],
)
def test_a_command_without_its_extra_says_what_to_install(
    command: str,
    extra: str,
    module: str,
    missing: list[str],
    project: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(render, "can_ask", lambda: True)
    monkeypatch.delitem(sys.modules, module, raising=False)
    for name in missing:
        monkeypatch.setitem(sys.modules, name, None)
    done = pmem(command)
    assert done.code == 3
    assert done.said.startswith(f"pmem: `pmem {command}` needs the extra `{extra}`: ")
    assert done.said.endswith(f"hint: pip install 'pmem-cli[{extra}]'\n")
    document = pmem("report", "-", "--json")  # which needs none
    assert (document.code, '"text":"We use PostgreSQL"' in document.text) == (0, True)


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
