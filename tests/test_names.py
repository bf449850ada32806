"""A stranger can grep: one name means one thing, and the glossary has each term once."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from tests import source

GLOSSARY: Final = Path(__file__).parents[1] / "docs/glossary.md"
IRREGULAR: Final = frozenset(
    "bound cut found given gone held kept known laid led left lost made meant met put read said"
    " seen sent shown split taken told within without written".split()
)
"""Participles, and words like them, that do not end in "ed"."""
MODULES: Final = 2
"""How many modules may have a private function of one such name."""


def shared_classes(trees: Mapping[str, ast.Module]) -> dict[str, list[str]]:
    """Return the names of more than one public class, and the modules that have them."""
    homes = defaultdict(list)
    for module, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(module)
    return {name: modules for name, modules in homes.items() if len(modules) > 1}


def shared_participles(trees: Mapping[str, ast.Module]) -> dict[str, list[str]]:
    """Return the private functions named by one participle in too many modules."""
    homes = defaultdict(list)
    for module, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and is_participle(node.name):
                homes[node.name].append(module)
    return {name: modules for name, modules in homes.items() if len(modules) > MODULES}


def is_participle(name: str) -> bool:
    """Tell whether a private name is one word that says only that something was done."""
    word = name.removeprefix("_")
    return word != name and (word in IRREGULAR or re.fullmatch(r"[a-z]+ed", word) is not None)


def terms(text: str) -> list[str]:
    """Return the terms that a glossary explains."""
    return [term.lower() for term in re.findall(r"^- \*\*(.+?)\*\*", text, re.M)]


def twice(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def trees() -> dict[str, ast.Module]:
    return {source.name(path): source.tree(path) for path in source.FILES}


def test_no_two_public_classes_have_one_name() -> None:
    assert shared_classes(trees()) == {}


def test_no_private_participle_stands_in_more_than_two_modules() -> None:
    assert shared_participles(trees()) == {}


def test_the_glossary_has_each_term_once_and_in_order() -> None:
    found = terms(GLOSSARY.read_text(encoding="utf-8"))
    assert len(found) > 30
    assert twice(found) == []
    assert found == sorted(found)


def test_every_log_has_its_term() -> None:
    logs = {"event", "history", "journal", "operations log", "changelog", "delta", "recall"}
    assert logs <= set(terms(GLOSSARY.read_text(encoding="utf-8")))
