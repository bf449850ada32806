"""How much of the evidence of questions stands in a context's text, on a folder of data.

The share of questions whose evidence messages all stand in the text that `pmem context` writes,
beside two plain ways to fill the same budget: rank-bm25's order, and the latest messages.
The folder is as in `tests.benchmarks.quality`; white space is not compared.

    python -m tests.benchmarks.contexts FOLDER [--one-store]
"""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from pmem import Project
from pmem.core.tokens import count_tokens
from tests.benchmarks.quality import Data, load, merged, rank_bm25, shown

BUDGETS: Final = (500, 1000, 2000)
Writer = Callable[[str, int], str]


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--one-store", action="store_true", help="all conversations together")
    options = parser.parse_args()
    data = [load(folder) for folder in sorted(options.folder.iterdir()) if folder.is_dir()]
    if options.one_store:
        data = [merged(data)]
    for name, system in (("pmem context", _pmem), ("rank-bm25", _bm25), ("latest", _latest)):
        _print(name, [row for part in data for row in measured(part, system(part))])


def measured(data: Data, writer: Writer) -> list[tuple[str, list[bool]]]:
    """Tell for each question its category and whether each budget holds all its evidence."""
    rows = []
    for question in data.questions:
        if question.evidence:
            evidence = [_folded(data.messages[id_]["content"]) for id_ in question.evidence]
            texts = [_folded(writer(question.text, budget)) for budget in BUDGETS]
            rows.append((question.category, [_holds(text, evidence) for text in texts]))
    return rows


def _holds(text: str, evidence: Sequence[str]) -> bool:
    return all(said in text for said in evidence)


def _folded(text: str) -> str:
    return " ".join(text.split())


def _pmem(data: Data) -> Writer:
    project = Project(f"{tempfile.mkdtemp()}/.project-memory", actor="bench")
    project.import_messages([orjson.dumps(message) for message in data.messages.values()])
    return lambda question, budget: project.build_context(question, budget=budget).text


def _bm25(data: Data) -> Writer:
    ranker = rank_bm25(data)
    return lambda question, budget: _filled(
        (data.messages[id_] for id_ in ranker(question)), budget
    )


def _latest(data: Data) -> Writer:
    messages = sorted(data.messages.values(), key=lambda item: str(item["timestamp"]))[::-1]
    return lambda _, budget: _filled(messages, budget)


def _filled(messages: Any, budget: int) -> str:
    lines = []
    for message in messages:
        line = shown(message)
        budget -= count_tokens(f"{line}\n")
        if budget < 0:
            break
        lines.append(line)
    return "\n".join(lines)


def _print(name: str, rows: Sequence[tuple[str, list[bool]]]) -> None:
    heads = " | ".join(f"{budget:,}" for budget in BUDGETS)
    print(f"\n| {name} | n | {heads} |\n|---|---|{'---|' * len(BUDGETS)}")
    for category in ("all", *sorted({category for category, _ in rows})):
        chosen = [row for found, row in rows if category in ("all", found)]
        means = (sum(column) / len(chosen) for column in zip(*chosen, strict=True))
        print(f"| {category} | {len(chosen)} | {' | '.join(f'{mean:.3f}' for mean in means)} |")


if __name__ == "__main__":
    main()
