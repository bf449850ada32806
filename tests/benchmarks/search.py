"""The search figures of docs/benchmarks.md: `python -m tests.benchmarks.search`.

Cold figures are whole processes; warm ones are calls within one process. Other systems build
their index once and answer the same queries over the same texts.
"""

import argparse
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Final

from pmem import Project
from pmem.core.text.terms import terms
from pmem.search.hits import SearchKind
from tests.benchmarks.measure import BARE, Command, cpu_seconds, pmem, side_by_side
from tests.benchmarks.stores import make, requests

QUERIES: Final = (
    "why does the gateway drop timeouts",
    "which parser rejects invoices",
    "exporter validates uploads",
    "who asked for webhooks",
    "migrations of the wizard",
)
_NUMBERS = count()


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="100,1000,10000,100000")
    parser.add_argument("--runs", type=int, default=9, help="runs of each command")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    with tempfile.TemporaryDirectory() as place:
        folders = {size: make(Path(place) / str(size), size) for size in sizes}
        _cold(folders, options.runs)
        _changed(folders, options.runs)
        for size, folder in folders.items():
            _warm(folder, size)


def _cold(folders: dict[int, Path], runs: int) -> None:
    built = {size: cpu_seconds(_search(), folder) for size, folder in folders.items()}
    commands = {f"{size:,}": (_search, folder) for size, folder in folders.items()}
    first = next(iter(folders))
    times = side_by_side({**commands, "bare": (lambda: BARE, folders[first])}, runs)
    print(
        "| memories | first search, CPU s | index, MB | search, CPU ms | times bare | times 100 |"
    )
    print("|---|---|---|---|---|---|")
    for size, folder in folders.items():
        index = os.path.getsize(folder / ".project-memory/local/index.sqlite3") / 1e6
        seconds = times[f"{size:,}"]
        print(
            f"| {size:,} | {built[size]:.2f} | {index:.1f} | {seconds * 1000:.0f} |"
            f" {seconds / times['bare']:.1f} | {seconds / times[f'{first:,}']:.2f} |"
        )


def _changed(folders: dict[int, Path], runs: int) -> None:
    print("\n| memories | search after one change, times an unchanged one |\n|---|---|")
    for size, folder in folders.items():
        after: list[float] = []
        still: list[float] = []
        for _ in range(runs):
            text = f"The gateway keeps timeouts, note {next(_NUMBERS)}"
            cpu_seconds(pmem("add", text, "--force"), folder)
            after.append(cpu_seconds(_search(), folder))
            still.append(cpu_seconds(_search(), folder))
        print(f"| {size:,} | {statistics.median(after) / statistics.median(still):.2f} |")


def _warm(folder: Path, size: int) -> None:
    project = Project(str(folder / ".project-memory"), actor="bench")
    texts = [request.content for request in requests(size)]
    systems: dict[str, Callable[[str], object]] = {
        "pmem": project.search,
        "pmem, memories only": lambda query: project.search(query, kinds=(SearchKind.MEMORY,)),
        "SQLite FTS5": _fts5(texts),
        "rank-bm25": _rank_bm25(texts),
        "bm25s": _bm25s(texts),
    }
    print(f"\n| {size:,} memories, warm | median ms |\n|---|---|")
    for name, ask in systems.items():
        print(f"| {name} | {_median(ask) * 1000:.2f} |")


def _median(ask: Callable[[str], object], rounds: int = 20) -> float:
    times = []
    for query in QUERIES * rounds:
        start = time.perf_counter()
        ask(query)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _search() -> Command:
    return pmem("search", QUERIES[0], "--json")


def _fts5(texts: Sequence[str]) -> Callable[[str], object]:
    database = sqlite3.connect(":memory:")
    database.execute("create virtual table said using fts5(text, tokenize=porter)")
    database.executemany("insert into said values (?)", [(text,) for text in texts])
    query = "select rowid from said where said match ? order by rank limit 10"
    return lambda asked: database.execute(query, (" OR ".join(terms(asked)),)).fetchall()


def _rank_bm25(texts: Sequence[str]) -> Callable[[str], object]:
    from rank_bm25 import BM25Okapi

    model = BM25Okapi([terms(text) for text in texts])
    return lambda asked: model.get_scores(terms(asked)).argsort()[::-1][:10]


def _bm25s(texts: Sequence[str]) -> Callable[[str], object]:
    import bm25s

    model = bm25s.BM25()
    model.index([terms(text) for text in texts], show_progress=False)
    return lambda asked: model.retrieve([terms(asked)], k=10, show_progress=False)


if __name__ == "__main__":
    main()
