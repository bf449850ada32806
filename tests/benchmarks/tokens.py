"""How far the estimate of tokens lies from the exact count, per kind of text, and how quick it is.

Without folders it measures the texts in `tests/core/tokens_corpus`. With folders, each is a kind
and each of its UTF-8 files a text; the exact counts come from the library of the extra `tokens`.

    python -m tests.benchmarks.tokens [FOLDER ...]
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from math import ceil
from pathlib import Path
from typing import Final

from pmem.core.tokens import count_tokens, counter
from tests.core.test_tokens import COUNTS, texts

LONGEST: Final = 100_000  # characters of a file that are counted
MESSAGE: Final = (
    "I talked to the landlord about the heating again, and he will send someone on Tuesday morning."
)
MEGABYTE: Final = (MESSAGE + " ") * (1_000_000 // (len(MESSAGE) + 1))
ROUNDS: Final = 5


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="*", metavar="FOLDER")
    folders = parser.parse_args().folders
    print("| kind | texts | tokens | total | median | 95th percentile |\n|---|--:|--:|--:|--:|--:|")
    for kind, pairs in _of_folders(folders) if folders else _of_the_corpus():
        print(_row(kind, pairs))
    print(f"\n{len(MESSAGE)} characters: {_seconds(MESSAGE, 2000) * 1e6:.1f} us")
    print(f"{len(MEGABYTE):,} characters: {_seconds(MEGABYTE, 1) * 1e3:.0f} ms")


def _of_the_corpus() -> Iterator[tuple[str, list[tuple[str, int]]]]:
    for kind, counts in COUNTS.items():
        yield kind, list(zip(texts(kind), counts["o200k_base"], strict=True))


def _of_folders(folders: list[Path]) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    exact = counter("o200k_base")
    for folder in folders:
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        found = [text for path in files if (text := _text(path))]
        if found:
            yield folder.name, [(text, exact(text)) for text in found]


def _text(path: Path) -> str:
    """Return the start of a file, or nothing where it is no text."""
    try:
        return path.read_text(encoding="utf-8")[:LONGEST]
    except UnicodeDecodeError:
        return ""


def _row(kind: str, pairs: list[tuple[str, int]]) -> str:
    estimates = [count_tokens(text) for text, _ in pairs]
    errors = sorted(
        abs(estimate / exact - 1) for estimate, (_, exact) in zip(estimates, pairs, strict=True)
    )
    truth = sum(exact for _, exact in pairs)
    return (
        f"| {kind} | {len(pairs)} | {truth} | {sum(estimates) / truth - 1:+.1%} "
        f"| {statistics.median(errors):.1%} | {errors[ceil(0.95 * len(errors)) - 1]:.1%} |"
    )


def _seconds(text: str, times: int, count: Callable[[str], int] = count_tokens) -> float:
    """Return the quickest of a few rounds, in seconds a call."""
    rounds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(times):
            count(text)
        rounds.append((time.perf_counter() - start) / times)
    return min(rounds)


if __name__ == "__main__":
    main()
