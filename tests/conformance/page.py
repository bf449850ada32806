"""Run `python -m tests.conformance.page`: writes docs/conformance.md from rows and marks."""

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from tests.conformance.table import TESTS, Document, Holder, Row, documents, holders

PAGE: Final = os.path.join(os.path.dirname(TESTS), "docs", "conformance.md")
DECISIONS: Final = os.path.join(os.path.dirname(TESTS), "docs", "decisions")
_INTRODUCTION: Final = """\
# What was asked for, row by row

pmem answers five documents. Each row below is one thing that a document asks for: the decision
that governs it, where one was needed, and the tests that hold it. A row that is decided otherwise
says what stands in its place, and tests beside it hold that. `python -m tests.conformance.page`
writes this page from the tests' own marks (`@pytest.mark.row("S1.8.3")`) and from
`tests/conformance/rows/`.
"""
_COUNTS: Final = """
| document | about | rows | held by tests | decided otherwise |
|---|---|---|---|---|
"""
_HEADER: Final = """
| row | asked for | decided in | held by |
|---|---|---|---|
"""


def page() -> str:
    held: dict[str, list[Holder]] = defaultdict(list)
    for holder in holders():
        for row in holder.rows:
            held[row].append(holder)
    names = {int(name[:4]): name for name in os.listdir(DECISIONS) if re.match(r"\d{4}-", name)}
    read = documents()
    counts = "".join(_count(document) for document in read)
    return _INTRODUCTION + _COUNTS + counts + "".join(_part(each, held, names) for each in read)


def _count(document: Document) -> str:
    otherwise = sum(bool(row.instead) for row in document.rows)
    rows = len(document.rows)
    return f"| {document.name} | {document.title} | {rows} | {rows - otherwise} | {otherwise} |\n"


def _part(document: Document, held: dict[str, list[Holder]], names: dict[int, str]) -> str:
    return f"\n## {document.name}: {document.title}\n" + "".join(_sections(document, held, names))


def _sections(
    document: Document, held: dict[str, list[Holder]], names: dict[int, str]
) -> Iterator[str]:
    section = ""
    for row in document.rows:
        if row.section != section:
            section = row.section
            yield f"\n### {section}\n{_HEADER}"
        yield _line(row, held.get(row.name, []), names)


def _line(row: Row, held: Sequence[Holder], names: dict[int, str]) -> str:
    decisions = ", ".join(f"[{number}](decisions/{names[number]})" for number in row.decisions)
    tests = [f"`{os.path.basename(holder.path)}::{holder.name}`" for holder in held]
    told = "<br>".join([*tests, *([row.instead] if row.instead else [])])
    return f"| {row.name} | {row.asks} | {decisions} | {told} |\n"


def main() -> None:
    with open(PAGE, "w", encoding="utf-8", newline="\n") as file:
        file.write(page())


if __name__ == "__main__":
    main()
