"""What the script of the live page sends, beside what the server takes: no browser is needed."""

import json
import re
from importlib.resources import files
from typing import Any, Final

import pytest

from pmem.core.inbox import InboxChoice, InboxKind, inbox_item
from pmem.operations.table import TABLE
from pmem.server.http.operation_api import read_request
from tests.conftest import NOW

SCRIPT: Final = files("pmem.report").joinpath("assets", "page.js").read_text(encoding="utf-8")
ID: Final = "mwqi8lyy-eph0h3l7"
SAMPLES: Final[dict[str, Any]] = {
    "kinds": ["fact"], "limit": 500, "task": "which queue?", "reference": ID,
    "content": "We use PostgreSQL.",
    "reviewed": True, "no_end": True, "pinned": False, "references": [ID], "other": True,
    "verdict": "good", "start": ID, "end": ID, "successor": ID,
}  # fmt: skip
"""A value for each field that the script sends."""

TYPED: Final = {
    "show {id}", "show {other}", "inbox accept {id} --edit",
    "edit {id} {other}", "edit {id} --review 4w", "inbox accept --noted-by {other}",
}  # fmt: skip
"""Commands that the page lets its reader copy: they need words, a date, a name, or an editor."""


def literal(name: str) -> Any:
    """Return a value that the script says as JSON."""
    found = re.search(rf"const {name} = ([\[{{].*?[\]}}]);\n", SCRIPT, re.DOTALL)
    assert found
    return json.loads(found[1])


ASKS: Final[dict[str, list[str]]] = literal("ASKS")
SETTLED_BY: Final[list[tuple[Any, ...]]] = literal("SETTLED_BY")


@pytest.mark.parametrize("name", list(ASKS))
def test_the_server_takes_every_field_that_the_page_sends(name: str) -> None:
    body = {field: SAMPLES[field] for field in ASKS[name]}
    request = read_request(TABLE[name], json.dumps(body).encode())
    for field in body:
        assert hasattr(request, field)


def test_the_script_asks_for_nothing_else() -> None:
    """Each call in the script names an operation of its own list, which it checks as well."""
    asked = set(re.findall(r'\bask\("([^"]+)"', SCRIPT))
    asked |= set(re.findall(r'\bact\([^\n]*?, "([a-z_.]+)", [{b]', SCRIPT))
    asked |= {name for _, name, *_ in SETTLED_BY}
    assert asked == set(ASKS)


@pytest.mark.parametrize(("pattern", "name", "body"), [one[:3] for one in SETTLED_BY])
def test_what_a_click_sends_instead_of_a_command_is_such_a_request(
    pattern: str, name: str, body: dict[str, Any]
) -> None:
    assert set(body) <= set(ASKS[name])
    assert set(re.findall(r"\$\d", pattern)) == set(re.findall(r"\$\d", json.dumps(body)))
    read_request(TABLE[name], json.dumps(body).replace("$1", ID).replace("$2", ID).encode())


@pytest.mark.parametrize("kind", list(InboxKind))
def test_every_command_of_the_inbox_is_a_click_or_is_typed(kind: InboxKind) -> None:
    for choice in choices(kind):
        words = choice.command.removeprefix("pmem ")
        plain = words.replace("eph0h3l7", "{id}").replace("OTHER", "{other}")
        is_click = plain == "edit {id}" or any(fits(pattern, words) for pattern, *_ in SETTLED_BY)
        assert is_click != (plain in TYPED), words


def choices(kind: InboxKind) -> tuple[InboxChoice, ...]:
    return inbox_item(kind, ID, "It says so.", "", NOW, other="OTHER").commands


def fits(pattern: str, words: str) -> bool:
    """Tell whether a command is what a pattern says, as the script compares them."""
    known, given = pattern.split(), words.split()
    return len(known) == len(given) and all(
        one.startswith("$") or one == word for one, word in zip(known, given, strict=True)
    )
