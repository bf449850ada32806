"""How well searches find statements kept as memories, by words alone and by meaning too.

Each folder holds `facts.jsonl`, in order: `id`, `text`, `speaker` (the subject) and `timestamp`;
and `questions.jsonl`: `question`, and `relevant`, the ids of what answers it.

    python -m tests.benchmarks.facts FOLDER [--vectors MODEL]
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import orjson

from pmem import Project
from pmem.embedding.embedding import embed_missing
from pmem.project.workspace import Workspace
from pmem.search.hits import SearchKind

DEPTHS: Final = (1, 3, 5, 10)


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--vectors", default="auto", help="a model that embeds")
    options = parser.parse_args()
    models = {"words alone": "", "with meaning": options.vectors}
    rows: dict[str, list[list[float]]] = {name: [] for name in models}
    for folder in sorted(path for path in options.folder.iterdir() if path.is_dir()):
        root, ids, last = _kept(folder, options.vectors)
        for name, model in models.items():
            project = Project(root, actor="bench", now=last, vectors={"model": model})
            rows[name] += _measured(project, ids, _lines(folder / "questions.jsonl"))
    print(f"| | n | {' | '.join(f'R@{depth}' for depth in DEPTHS)} |\n|---|---|{'---|' * 4}")
    for name, found in rows.items():
        means = (sum(column) / len(found) for column in zip(*found, strict=True))
        print(f"| {name} | {len(found)} | {' | '.join(f'{mean:.3f}' for mean in means)} |")


def _lines(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def _kept(folder: Path, model: str) -> tuple[str, dict[str, str], datetime]:
    """Keep the facts, each at its time, and embed them; return where, their ids, and the last."""
    root, ids, at = f"{tempfile.mkdtemp()}/.project-memory", {}, datetime.now(UTC)
    for fact in _lines(folder / "facts.jsonl"):
        at = datetime.fromisoformat(fact["timestamp"]).replace(tzinfo=UTC)
        project = Project(root, actor="bench", now=at, vectors={"model": ""})
        added = project.add(fact["text"], subject=fact["speaker"], force=True)
        ids[added.memory.id] = fact["id"]
    embed_missing(Workspace(root, actor="bench", now=at, overrides={"vectors.model": model}))
    return root, ids, at


def _measured(
    project: Project, ids: dict[str, str], questions: Sequence[dict[str, Any]]
) -> Iterator[list[float]]:
    for asked in questions:
        wanted = set(asked["relevant"])
        if wanted and asked.get("category") != "adversarial":
            kinds = (SearchKind.MEMORY,)
            hits = project.search(asked["question"], kinds=kinds, top_k=max(DEPTHS)).hits
            found = [ids[hit.id] for hit in hits]
            yield [len(wanted.intersection(found[:depth])) / len(wanted) for depth in DEPTHS]


if __name__ == "__main__":
    main()
