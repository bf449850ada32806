"""The times that S0 and S1 ask for, each in milliseconds beside its bar.

`tests/spec` holds the same work to a number of calls, which a busy machine does not change. What
runs in this process is timed by the wall's clock, a command by its CPU time beyond `--version`.

    python -m tests.benchmarks.spec
"""

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from pmem import AddRequest, Project
from tests.benchmarks.apps import median
from tests.benchmarks.measure import Command, pmem, side_by_side

RUNS: Final = 9
ASKED: Final[dict[str, Any]] = {"query": "deployment", "budget_tokens": 512, "top_k": 3}
STATE: Final = {"graph": {"node": "plan"}, "context": ["tea"], "agents": {"a": 1}}
WISHES: Final = "I like oat milk in the {0}. Do not call the {0} after nine. We use lamps there. "


def main() -> None:
    """Print what each of them takes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project = Project(str(folder / ".project-memory"), actor="bench")
        _fill(project)
        print(f"{'what':48} {'ms':>7} {'bar':>6}")
        for what, took, bar in (*_within(project), _command(folder)):
            print(f"{what:48} {took:7.1f} {bar:6}")


def _fill(project: Project) -> None:
    """Add ten memories of each of ten apps, and ten of none."""
    rooms = [(f"app {app}", number) for app in range(10) for number in range(10)]
    project.add_all(
        AddRequest(content=f"Room {number} of {app} has {number * 3} seats.", app=app, force=True)
        for app, number in rooms
    )
    project.add_all(
        AddRequest(content=f"Step {number} of the deployment is signed.", force=True)
        for number in range(10)
    )


def _within(project: Project) -> Iterator[tuple[str, float, int]]:
    def timed(what: str, bar: int, work: Callable[[int], object]) -> tuple[str, float, int]:
        return what, median(work), bar

    yield timed("S0: the memories of one app of ten", 100, lambda _: project.apps.context("app 5"))
    yield timed("S1 6: an answer", 150, lambda _: project.query(ASKED))
    project.start_conversation()
    yield timed(
        "S1 13: a long message is taken in",
        150,
        lambda turn: project.add_message("user", WISHES.format(f"room {turn}") * 3),
    )
    yield timed(
        "S1 15: a checkpoint is saved",
        100,
        lambda turn: project.save_checkpoint("t", {**STATE, "turn": turn}, "mira"),
    )
    yield timed(
        "S1 15: a checkpoint is loaded", 100, lambda _: project.load_checkpoint("t", "mira")
    )


def _command(folder: Path) -> tuple[str, float, int]:
    asked = folder / "asked.json"
    asked.write_text(json.dumps({**ASKED, "return": "bullets"}), encoding="utf-8")
    lines: dict[str, tuple[Callable[[], Command], Path]] = {
        "query": (lambda: pmem("query", str(asked)), folder),
        "bare": (lambda: pmem("--version"), folder),
    }
    took = side_by_side(lines, RUNS)
    return "S1 11: `pmem query` beyond the start", (took["query"] - took["bare"]) * 1000, 200


if __name__ == "__main__":
    main()
