"""No command repeats a secret, whichever argument, option, setting or file holds it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from typer import Context

from pmem.cli.commands import GROUPS
from pmem.cli.tree import root as program
from tests.faults.console import Done, added, pmem
from tests.once import Once
from tests.policy.paths import MATRIX, PARTS
from tests.project.test_secret_gate import TOKEN, holding

PLACES: Final = (TOKEN, f"/tmp/absent/{TOKEN}", f"../{TOKEN}.json", f"x={TOKEN}", f"{TOKEN}:3")
"""Values with a secret."""


@pytest.fixture
def ids(root: str, once: Once) -> dict[str, str]:
    """Keep two memories that can be named."""
    return once(_fill)


def _fill() -> dict[str, str]:
    return {
        "REF": added("Breakfast is at eight"),
        "OTHER": added("The kitchen closes at ten"),
        "TEXT": "breakfast",
    }


def command_of(name: str) -> Any:
    """Return a command by the words that call it."""
    found: Any = program()
    for word in name.split():
        found = found.get_command(Context(found), word)
    return found


def lines(name: str, given: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield command lines with a secret in each argument and in each option's value and name."""
    params = command_of(name).params
    arguments = [each for each in params if each.param_type_name == "argument"]
    for number in range(len(arguments) + 1):
        yield (*given[:number], TOKEN, *given[number + 1 :])
        yield (*given[:number], PLACES[1], *given[number + 1 :])
    for number, each in enumerate(params):
        if each.param_type_name == "option":
            yield (*given, f"{max(each.opts, key=len)}={PLACES[number % len(PLACES)]}")
    yield (*given, f"--{TOKEN}")
    yield (*given, f"-{TOKEN}")


def check(done: Done, *words: str) -> None:
    """See that what a command said has no secret."""
    assert TOKEN not in done.err, (words, done)
    assert TOKEN.encode() not in done.out, (words, done)
    assert done.code != 70, (words, done)


@pytest.mark.some(25)
@pytest.mark.parametrize("name", [name for name in MATRIX if name not in PARTS])
def test_no_command_repeats_a_secret_in_an_argument(
    name: str, root: str, ids: dict[str, str]
) -> None:
    given = tuple(ids.get(word, word) for word in MATRIX[name][1])
    for number, words in enumerate(lines(name, given)):
        form = ("--json",) if number % 2 else ()
        check(pmem(*name.split(), *words, *form), name, *words)
    assert holding(root, TOKEN) == []


@pytest.mark.parametrize(
    "words",
    [
        (TOKEN,),
        (f"--{TOKEN}",),
        ("-C", f"/tmp/absent/{TOKEN}", "list"),
        ("-C", TOKEN, "add", "x"),
        ("--config", f"{TOKEN}=1", "list"),
        ("--now", TOKEN, "list"),
        ("--actor", TOKEN, "add", "x"),
        ("--agent", TOKEN, "list"),
        ("help", TOKEN),
        *((group, TOKEN) for group in GROUPS),
    ],
)
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_nothing_before_a_command_is_repeated(
    words: tuple[str, ...], form: tuple[str, ...], root: str, ids: dict[str, str]
) -> None:
    check(pmem(*form, *words), *words)
    assert holding(root, TOKEN) == []


@pytest.mark.parametrize(
    "name",
    "PMEM_DIR PMEM_FOLDER PMEM_ACTOR PMEM_NOW PMEM_SECRETS_GATE PMEM_LOCK_TIMEOUT PMEM_CHUNK_SIZE"
    " PMEM_TOP_K PMEM_AGENT".split(),
)
def test_no_variable_is_repeated(name: str, root: str, ids: dict[str, str]) -> None:
    for words in (("list",), ("add", "x"), ("search", "breakfast", "--json"), ("check", "records")):
        check(pmem(*words, environment={name: TOKEN}), name, *words)
    assert holding(root, TOKEN) == []


@pytest.mark.parametrize(
    "text",
    [
        f"chunk_size = '{TOKEN}'",
        f"{TOKEN} = 1",
        f"[secrets]\ngate = '{TOKEN}'",
        f"[{TOKEN}]\nx = 1",
        f"[lock]\n{TOKEN} = 'x'",
        f"chunk_size = {TOKEN}",
        f'project_name = "{TOKEN}',
        f"weights = '{TOKEN}'",
    ],
)
def test_a_wrong_setting_is_told_without_it(text: str, root: str, ids: dict[str, str]) -> None:
    Path(root, "config.toml").write_text(text)
    for words in (
        ("list",),
        ("add", "x"),
        ("check", "records"),
        ("check", "setup"),
        ("config", "get", "top_k"),
    ):
        for form in ((), ("--json",)):
            check(pmem(*words, *form), text, *words)
    assert [path for path in holding(root, TOKEN) if not path.endswith("config.toml")] == []


BROKEN: Final = (
    f'{{"content": "x" {TOKEN}}}',
    f'{{"content": 7, "role": "{TOKEN}"}}',
    f'{{"{TOKEN}": 1}}',
    f'{{"content": "x", "timestamp": "{TOKEN}"}}',
    f'{{"content": "x", "role": "{TOKEN}"}}',
    f'[{{"id": "x", "content": "x", "type": "{TOKEN}"}}]',
    f'{{"query": "x", "filters": {{"{TOKEN}": 1}}}}',
    f'{{"query": "x", "budget_tokens": "{TOKEN}"}}',
    f'{{"query": "x", "format": "{TOKEN}"}}',
    f'{{"query": "{TOKEN}", "agent": "planner"}}',
    TOKEN,
    json.dumps([TOKEN]),
    f'"{TOKEN}',
)
"""JSON that is none, or is not what was asked for."""


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_wrong_in_a_file_is_told_without_it(
    text: str, root: str, ids: dict[str, str]
) -> None:
    place = Path("..", "given.json")
    place.write_text(text)
    folder = Path("..", "arrays")
    assert pmem("export", "arrays", str(folder)).code == 0
    for file in folder.iterdir():
        file.write_text(text)
    for words in (
        ("import", "messages", str(place)),
        ("import", "arrays", str(folder)),
        ("add", "--batch", str(place)),
        ("query", str(place)),
        ("eval", "run", str(place)),
        ("checkpoint", "save", "t", text),
        ("conversation", "say", "x", "--tool-call", text),
        ("add", "x", "--links", text),
    ):
        for form in ((), ("--json",)):
            check(pmem(*words, *form), *words)
    assert holding(root, TOKEN) == []
