"""Documents, help and messages use none of the words that CONTRIBUTING.md retires."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import source

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "CONTRIBUTING.md"
REFERENCE = ROOT / "pmem" / "cli" / "reference.json"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += sorted((ROOT / "docs" / "how-to").glob("*.md"))
HEADING = "## Words that we do not use"
CODE = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)", re.DOTALL)
PATTERN = re.compile(r"\(\?[:P!=<]|\\b|\\S|\\w")
"""Signs of a regular expression, whose words are those of others."""


def retired() -> dict[str, str]:
    rows = GUIDE.read_text(encoding="utf-8").partition(HEADING)[2].splitlines()
    cells = [row.strip("| ").split(" | ") for row in rows if row.startswith("| ")][1:]
    return {word: cell[1] for cell in cells for word in cell[0].split(", ")}


RETIRED = retired()
ANY = re.compile(rf"\b({'|'.join(map(re.escape, RETIRED))})\b", re.IGNORECASE)


def found(text: str) -> list[str]:
    plain = re.sub(r"\s+", " ", text)
    return [f"{word}: write {RETIRED[word.lower()]}" for word in ANY.findall(plain)]


def said(path: Path) -> Iterator[str]:
    """Yield the texts of a module that may be printed: phrases that are no docstrings.

    Lists of words and patterns, which rules read in what others wrote, are left out.
    """
    tree = source.tree(path)
    described = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            is_phrase = " " in text.strip() and not text.startswith("\n")
            if is_phrase and id(node) not in described and not PATTERN.search(text):
                yield text


@pytest.mark.parametrize("page", PAGES, ids=[path.stem for path in PAGES])
def test_a_document_uses_no_retired_word(page: Path) -> None:
    assert found(CODE.sub(" ", page.read_text(encoding="utf-8"))) == []


def test_no_message_uses_a_retired_word() -> None:
    wrong = {
        source.name(path): words
        for path in source.FILES
        if (words := [word for text in said(path) for word in found(text)])
    }
    assert wrong == {}


def test_no_help_uses_a_retired_word() -> None:
    table = json.loads(REFERENCE.read_text(encoding="utf-8"))
    commands = {name: entry["help"] for name, entry in table["commands"].items()}
    texts = {**table["settings"], **commands}
    assert {name: words for name, text in texts.items() if (words := found(text))} == {}
