"""The layers hold: imports point down only, and each kind of effect has its one place."""

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

from tests import source

LAYERS: Final[tuple[frozenset[str], ...]] = (
    frozenset({"cli", "library", "__main__", "__init__"}),
    frozenset(
        {
            "access",
            "apps",
            "contexts",
            "overlay",
            "changes",
            "citations",
            "chunking",
            "consolidation",
            "conversations",
            "episodes",
            "consent",
            "facts",
            "proposals",
            "pruning",
            "talk",
            "threads",
            "transcripts",
            "evaluation",
            "exchange",
            "figures",
            "gitmerge",
            "gitsetup",
            "golden",
            "journal",
            "lifecycle",
            "lookup",
            "memories",
            "mending",
            "recall",
            "settling",
            "settingsmerge",
            "setup",
            "upkeep",
            "checking",
            "doubts",
            "staging",
            "hooksetup",
            "ignoring",
            "changelog",
            "repeats",
            "merges",
            "provenance",
            "queries",
            "repair",
            "scanning",
            "splitting",
        }
    ),
    frozenset(
        {
            "workspace",
            "sight",
            "beside",
            "configuration",
            "views",
            "gate",
            "masking",
            "references",
            "borders",
        }
    ),
    frozenset({"interchange", "storage"}),
    frozenset({"core"}),
    frozenset({"bounds", "config", "rules", "notation", "ids", "records", "times"}),
    frozenset({"errors"}),
)
"""From the top to the bottom; a module may use its own layer and those below."""

APART: Final = ({"storage", "interchange"}, {"cli", "library"})
"""Neighbours in one layer that must not know each other."""

NO_EFFECTS: Final = frozenset(
    {"io", "os", "pathlib", "random", "secrets", "socket", "sqlite3", "subprocess", "sys", "time"}
)
CLOCKS: Final = ("datetime.now", "datetime.today", "datetime.utcnow", "date.today")
CORE: Final = [path for path in source.FILES if source.name(path).startswith("pmem.core")]
RENDER: Final = "pmem.cli.render"
RANKING: Final = "pmem.core.retrieval.okapi"
EVERY_FILE: Final = pytest.mark.parametrize(
    "path", source.FILES, ids=map(source.name, source.FILES)
)


def part(module: str) -> str:
    """Return what of pmem a module belongs to: `core` for `pmem.core.text`."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def upward(module: str, imported: Iterable[str]) -> list[str]:
    """Return the imports of a module that do not point down."""
    wrong = []
    for target in imported:
        if target.split(".")[0] != "pmem" or target == "pmem":
            continue
        here, there = part(module), part(target)
        if there == "__version__":
            continue
        if rank(there) < rank(here) or {here, there} in APART:
            wrong.append(target)
    return wrong


def rank(name: str) -> int:
    """Return a part's layer, counted from the top."""
    for number, layer in enumerate(LAYERS):
        if name in layer:
            return number
    raise AssertionError(f"{name} has no layer: give it one in tests/test_layers.py")


@EVERY_FILE
def test_imports_point_down(path: Path) -> None:
    module = source.name(path)
    assert upward(module, source.imports(source.tree(path))) == []


def test_an_import_that_points_up_is_noticed() -> None:
    inside = ast.parse("def f():\n    from pmem.cli import render\n")
    assert upward("pmem.core.text", source.imports(inside)) == ["pmem.cli", "pmem.cli.render"]
    assert upward("pmem.storage.store", ["pmem.interchange.arrays"]) == ["pmem.interchange.arrays"]
    assert upward("pmem.search.search", ["pmem.core.text", "pmem.memory.reading", "msgspec"]) == []


@pytest.mark.parametrize("path", CORE, ids=map(source.name, CORE))
def test_the_core_is_pure(path: Path) -> None:
    tree = source.tree(path)
    assert {target.split(".")[0] for target in source.imports(tree)} & NO_EFFECTS == set()
    clocks = [call for call in source.calls(tree) if call.endswith(CLOCKS)]
    assert [call for call in source.calls(tree) if call in ("open", "input", *clocks)] == []


@EVERY_FILE
def test_only_render_prints(path: Path) -> None:
    module, tree = source.name(path), source.tree(path)
    if module == RENDER:
        return
    names, endings = {"print", "pprint", "echo", "secho"}, ("stdout.write", "stderr.write")
    assert [
        call
        for call in source.calls(tree)
        if call.split(".")[-1] in names or call.endswith(endings)
    ] == []
    assert [target for target in source.imports(tree) if target.split(".")[0] == "rich"] == []


@EVERY_FILE
def test_only_ranking_knows_rank_bm25(path: Path) -> None:
    named = {target.split(".")[0] for target in source.imports(source.tree(path))}
    assert source.name(path) == RANKING or "rank_bm25" not in named
