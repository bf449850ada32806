"""Fit the model by which a context without a budget stops, and say how well it stops.

    python -m tests.benchmarks.context_stop FOLDER

FOLDER has a folder for each project: memories.jsonl and keys.jsonl (a memory a line, and its key),
and tasks.jsonl, each task with the keys that it `must` have. For each project the model is fitted
to the others. What is printed goes into `pmem.core.context.worth.LOGIT`.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from unittest import mock

import msgspec
import numpy as np

from pmem.core.context.worth import LEAST_LIKELY, Logit
from pmem.library.project import Project
from pmem.memory.requests import AddRequest
from pmem.search import context_candidates, contexts

RIDGE: Final = 3.0
"""How strongly weights are held near zero, the bias apart."""
_STEPS: Final = 25
Row = tuple[str, tuple[float, ...], bool]
"""The project of a task, what speaks for a memory in it, and whether the task must have it."""


def main(folder: Path) -> None:
    """Print the weights of each project's model, and of that of all."""
    rows = [row for project in sorted(folder.iterdir()) for row in rows_of(project)]
    found, shown, needed = 0, 0, sum(row[2] for row in rows)
    for name in sorted({row[0] for row in rows}):
        weights = fitted([row for row in rows if row[0] != name])
        own = [
            row for row in rows if row[0] == name and likelihood(weights, row[1]) >= LEAST_LIKELY
        ]
        found, shown = found + sum(row[2] for row in own), shown + len(own)
        print(f"without {name}: {Logit(*weights)}")
    print(f"left out in turn: {found / needed:.3f} of what tasks must have, {shown} lines")
    print(f"all: {Logit(*fitted(rows))}")


def rows_of(project: Path) -> Iterator[Row]:
    """Yield what speaks for each memory in each task of a project."""
    if not (project / "tasks.jsonl").exists():
        return
    with TemporaryDirectory() as root:
        memory = Project(f"{root}/memory")
        named = list(zip(read(project, "keys"), read(project, "memories"), strict=True))
        now = [one for one in named if not (one[0]["superseded_by"] or one[0]["expired"])]
        added = memory.add_all(msgspec.convert(fields, AddRequest) for _, fields in now)
        keys = {one.memory.id: key["key"] for one, (key, _) in zip(added, now, strict=True)}
        for task in read(project, "tasks"):
            for identifier, features in spoken_for(memory, task["task"]):
                yield project.name, features, keys[identifier] in task["must"]


def spoken_for(memory: Project, task: str) -> list[tuple[str, tuple[float, ...]]]:
    """Return what speaks for each memory of a project in a task, by its id."""
    gathered = context_candidates.gather_candidates
    with mock.patch.object(contexts, "gather_candidates", side_effect=gathered) as asked:
        memory.build_context(task, budget=1000, omitted=True)
    source = asked.call_args.args[0]
    return [(one.id, source.valuation.worth(one).features) for one in source.usable]


def read(project: Path, name: str) -> Iterator[Any]:
    """Yield the lines of one of a project's files."""
    return map(json.loads, (project / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())


def fitted(rows: Sequence[Row]) -> tuple[float, ...]:
    """Return the weights of a logistic model, by Newton's method."""
    parts = np.array([row[1] for row in rows])
    wanted = np.array([float(row[2]) for row in rows])
    ridge = RIDGE * np.eye(parts.shape[1])
    ridge[0, 0] = 1e-6
    weights = np.zeros(parts.shape[1])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-parts @ weights))
        slope = parts.T @ (likely - wanted) + ridge @ weights
        curve = (parts.T * (likely * (1 - likely))) @ parts + ridge
        weights -= np.linalg.solve(curve, slope)
    return tuple(round(float(weight), 2) for weight in weights)


def likelihood(weights: Sequence[float], features: Sequence[float]) -> float:
    """Return the probability that a model gives."""
    return float(1 / (1 + np.exp(-np.dot(weights, features))))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
