"""Rooms know each other only by the arrows listed, and each kind of effect has its one place."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final

import pytest

from tests import source

ARROWS: Final[dict[str, str]] = {
    "errors": "",
    "values": "errors",
    "core": "errors values",
    "interchange": "errors values core",
    "storage": "errors values core",
    "storage.files": "errors values core",
    "storage.local": "errors values core storage.files",
    "storage.index": "errors values core storage storage.files",
    "storage.record_files": "errors values storage storage.files storage.index",
    "storage.postgres": "errors values core storage storage.files storage.local storage.index "
    "storage.record_files",
    "storage.shared": "storage storage.index storage.postgres",
    "storage.git": "errors values core storage storage.files",
    "storage.jsonfiles": "errors values core storage storage.files storage.index storage.shared "
    "storage.git storage.record_files",
    "project": "errors values core storage storage.files storage.local storage.shared "
    "storage.git storage.jsonfiles storage.postgres",
    "embedding": "errors values core storage.index storage.git project",
    "model": "errors values core storage.local project",
    "memory": "errors values core storage storage.local storage.git project model",
    "vcs": "errors values core storage storage.files storage.local storage.git storage.jsonfiles "
    "project memory",
    "apps": "errors values core storage.local project memory",
    "conversation": "errors values core interchange storage storage.files storage.local "
    "storage.git project memory apps",
    "search": "errors values core storage storage.files storage.local storage.git "
    "storage.jsonfiles project embedding memory conversation",
    "assistants": "errors values core interchange storage.files storage.local storage.index "
    "storage.git project memory search",
    "upkeep": "errors values core storage storage.files storage.local storage.git "
    "storage.jsonfiles storage.postgres project embedding model memory vcs apps",
    "report": "errors values core storage.files project memory search upkeep",
    "operations": "errors values core storage project embedding memory vcs upkeep",
    "browse": "errors values core memory project upkeep operations",
    "library": "errors values core storage storage.shared storage.git project model operations",
    "server": "errors values core storage.files storage.postgres project memory apps search "
    "report operations library",
    "cli": "errors values core storage.files storage.local storage.index "
    "storage.shared storage.git project memory vcs apps conversation search assistants "
    "upkeep report operations browse server",
}
"""Each room, from the bottom to the top, and those that it may use: at the top of a module or in a
function. What only a type checker reads is no arrow."""

SERVED: Final = frozenset({"storage", "backend", "limited", "past", "store"})
"""What of `storage` every service may use; each other part of it is a room of its own."""

MOST_NAMES: Final = 23
"""Names at the top of the package."""

NO_EFFECTS: Final = frozenset(
    {"io", "os", "pathlib", "random", "secrets", "socket", "sqlite3", "subprocess", "sys", "time"}
)
CLOCKS: Final = ("datetime.now", "datetime.today", "datetime.utcnow", "date.today")
CORE: Final = [path for path in source.FILES if source.name(path).startswith("pmem.core")]
RENDER: Final = "pmem.cli.render"
RANKING: Final = "pmem.core.retrieval.pool"


def room(module: str) -> str:
    """Return the room that a module is in: `core` for `pmem.core.journal`."""
    parts = module.split(".")[1:3]
    if parts[0] == "storage" and parts[-1] not in SERVED:
        return ".".join(parts)
    return parts[0]


def targets(imported: Iterable[str], modules: frozenset[str]) -> Iterator[str]:
    """Yield the modules of pmem that imports lead to, names in them left off."""
    for target in imported:
        module = target if target in modules else target.rpartition(".")[0]
        if module in modules - {"pmem"}:
            yield module


@cache
def used() -> dict[str, set[str]]:
    """Return the modules that each module uses when it runs."""
    modules = frozenset(map(source.name, source.FILES))
    return {
        source.name(path): set(targets(source.needed(source.tree(path)), modules))
        for path in source.FILES
    }


def arrows(uses: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    """Return the rooms that each room uses, of modules that use each other."""
    found: dict[str, set[str]] = {}
    for module, others in uses.items():
        if module in ("pmem", "pmem.__main__"):
            continue
        found.setdefault(room(module), set()).update(map(room, others))
    return {here: there - {here} for here, there in found.items()}


def circles(uses: Mapping[str, Iterable[str]]) -> set[frozenset[str]]:
    """Return the groups of names each of which leads to every other one of its group."""
    reached = {name: _reached(name, uses) for name in uses}
    return {
        frozenset(other for other in reached[name] if name in reached.get(other, ()))
        for name in uses
        if name in reached[name]
    }


def _reached(start: str, uses: Mapping[str, Iterable[str]]) -> set[str]:
    """Return all that a name leads to; itself only where that is a circle."""
    found: set[str] = set()
    waiting = list(uses[start])
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += uses.get(name, ())
    return found


def test_rooms_know_each_other_only_by_the_arrows_listed() -> None:
    listed = {here: set(there.split()) for here, there in ARROWS.items()}
    assert arrows(used()) == listed


def test_each_room_uses_only_those_listed_before_it() -> None:
    rooms = list(ARROWS)
    for place, (here, there) in enumerate(ARROWS.items()):
        assert set(there.split()) <= set(rooms[:place]), here


def knowing(*libraries: str) -> set[str]:
    """Return the modules that use any of some libraries."""
    return {
        source.name(path)
        for path in source.FILES
        if any(name.split(".")[0] in libraries for name in source.needed(source.tree(path)))
    }


def users(modules: Iterable[str]) -> set[str]:
    """Return the modules that use any of some modules of pmem."""
    return {here for here, others in used().items() if others & set(modules)}


def test_the_protocols_sdk_is_known_to_two_modules_and_to_no_command_but_one() -> None:
    known = knowing("mcp", "mcp_types", "anyio", "pydantic", "pydantic_core")
    over_http = "pmem.server.http.mcp_endpoint"
    assert known == {"pmem.server.mcp", over_http}
    assert users(known) == {
        "pmem.cli.serve",
        "pmem.server.greeting",
        over_http,
        "pmem.server.http.application",
    }


@pytest.mark.parametrize(
    ("library", "known"),
    [("jinja2", {"pmem.report.page"}), ("textual", {"pmem.browse.app", "pmem.browse.drawing"})],
)
def test_what_draws_for_people_is_known_only_where_it_draws(library: str, known: set[str]) -> None:
    assert knowing(library) == known


def test_what_serves_http_is_known_to_its_room_and_used_by_one_command() -> None:
    known = knowing("starlette", "uvicorn", "asyncio")
    assert known
    assert all(module.startswith("pmem.server.http.") for module in known)
    outside = {here for here in users(known) if not here.startswith("pmem.server.http.")}
    assert outside == {"pmem.cli.serve"}


def test_no_modules_know_each_other_in_a_circle() -> None:
    assert circles(used()) == set()


def test_few_names_stand_at_the_top() -> None:
    top = {path.relative_to(source.PACKAGE).parts[0] for path in source.FILES}
    assert len(top) <= MOST_NAMES, sorted(top)


def test_the_core_is_pure() -> None:
    assert source.offences(effects, CORE) == {}


def effects(tree: ast.Module) -> list[str]:
    """Return the imports and calls that reach beyond what a function is given."""
    taken = [name for name in source.imports(tree) if name.split(".")[0] in NO_EFFECTS]
    return taken + [
        call for call in source.calls(tree) if call in ("open", "input") or call.endswith(CLOCKS)
    ]


def test_only_render_prints() -> None:
    others = [path for path in source.FILES if source.name(path) != RENDER]
    assert source.offences(printing, others) == {}


def printing(tree: ast.Module) -> list[str]:
    """Return the calls that print, and what is imported of rich."""
    names, endings = {"print", "pprint", "echo", "secho"}, ("stdout.write", "stderr.write")
    called = [
        call
        for call in source.calls(tree)
        if call.split(".")[-1] in names or call.endswith(endings)
    ]
    return called + [name for name in source.imports(tree) if name.split(".")[0] == "rich"]


def test_only_ranking_knows_rank_bm25() -> None:
    tops = {
        source.name(path): {name.split(".")[0] for name in source.imports(source.tree(path))}
        for path in source.FILES
    }
    assert {module for module, names in tops.items() if "rank_bm25" in names} == {RANKING}
