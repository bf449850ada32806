"""What upkeep costs: `consolidate`, `sweep` and `stats` on memories in any number.

The memories come from the generator of `tests.benchmarks.duplicates`; one in ten repeats another
one or gives it a new value. They are a week old but for every tenth, which is from two months
ago; every tenth was recalled since, every fifth matters little, and one in a hundred was removed
so long ago that it is due to be deleted. Times are CPU seconds within one process, `wall` apart.

    python -m tests.benchmarks.upkeep [--sizes 100 1000 10000 100000]
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final
from unittest import mock

from pmem import Project
from pmem.core.lifecycle import consolidation as planning
from pmem.core.tokens import count_tokens
from pmem.upkeep import consolidation
from pmem.values.ids import make_id, milliseconds
from pmem.values.records import Memory, State, dump
from tests.benchmarks.duplicates import memories

SIZES: Final = (100, 1_000, 10_000, 100_000)
NOW: Final = datetime(2026, 11, 21, 14, 30, tzinfo=UTC)
_PHASES: Final = {
    "compare": ((planning, "comparable"), (planning, "merge_duplicates"), (planning, "pairs")),
    "plan": ((consolidation, "_consolidation"), (consolidation, "_sweep")),
    "write": ((consolidation, "_fold_recalls"), (consolidation, "_apply")),
}
"""The functions that take up each phase; comparing is a part of planning."""


def fill(folder: Path, number: int) -> Project:
    """Make a project with so many memories, and with recalls that wait."""
    project = Project(str(folder / ".project-memory"), actor="bench", now=NOW)
    project.start_conversation()
    store = folder / ".project-memory" / "long-term-memory"
    store.mkdir(exist_ok=True)
    known = []
    for place, content in enumerate(memories(number)):
        made = NOW - timedelta(days=65 if place % 10 == 3 else 7) + timedelta(milliseconds=place)
        removed = place % 100 == 50
        record = Memory(
            id=make_id(milliseconds(made), place),
            content=content,
            category="knowledge",
            importance=0.2 if place % 5 == 3 else 0.5,
            state=State.SOFT_DELETED if removed else State.ACTIVE,
            purge_at=NOW - timedelta(days=1) if removed else None,
            valid_from=made,
            created_at=made,
            updated_at=made,
            tokens=count_tokens(content),
        )
        (store / f"{record.id}.json").write_bytes(dump(record))
        known.append(record.id)
    for start in range(0, len(known), 300):
        project.workspace.own.access.note(known[start : start + 300 : 10], NOW - timedelta(days=1))
    return project


@contextmanager
def phases() -> Iterator[dict[str, float]]:
    """Add up the CPU seconds of each phase while upkeep runs."""
    spent = dict.fromkeys(_PHASES, 0.0)

    def timed(phase: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            begun = time.process_time()
            try:
                return original(*args, **options)
            finally:
                spent[phase] += time.process_time() - begun

        return call

    with ExitStack() as patches:
        for phase, functions in _PHASES.items():
            for module, name in functions:
                wrapped = timed(phase, getattr(module, name))
                patches.enter_context(mock.patch.object(module, name, wrapped))
        yield spent


def measure(what: str, number: int, run: Callable[[], Any]) -> None:
    """Run something once and print a row of the table."""
    begun, wall = time.process_time(), time.perf_counter()
    with phases() as spent:
        done = run()
    took, wall = time.process_time() - begun, time.perf_counter() - wall
    plan = spent["plan"] - spent["compare"]
    rest = took - spent["plan"] - spent["write"]
    counts = {name: count for name, count in getattr(done, "counts", {}).items() if count}
    print(
        f"| {what} | {number:,} | {took:.3f} | {wall:.2f} | {rest:.3f} | {spent['compare']:.3f}"
        f" | {plan:.3f} | {spent['write']:.3f} | {1e6 * took / number:.0f}"
        f" | {', '.join(f'{count} {name}' for name, count in counts.items())} |",
        flush=True,
    )


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    print("| what | memories | CPU, s | wall | read | compare | plan | write | µs each | did |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|---|")
    for number in parser.parse_args().sizes:
        with tempfile.TemporaryDirectory() as folder:
            project = fill(Path(folder), number)
            measure("stats", number, project.stats)
            for name, run in (("sweep", project.sweep), ("consolidate", project.consolidate)):
                measure(f"{name} --dry-run", number, partial(run, dry_run=True))
                measure(name, number, run)
                measure(f"{name} again", number, run)


if __name__ == "__main__":
    main()
