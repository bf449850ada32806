"""How many contexts keep their budget in real tokens, and how much of it they use.

Every folder below the given one that has questions or tasks is a store: of messages, facts,
documents, or memories (with the conversations beside them). A context is built for each question
and budget, and counted by `o200k_base`, which needs the extra `tokens`. Evidence counts as shown
where all messages that hold it stand whole in a context that keeps its budget; white space is not
compared.

    PMEM_TOKENIZER=estimate python -m tests.benchmarks.budgets FOLDER [--budgets 300,1000]
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, Final, NamedTuple

import orjson

from pmem import Project
from pmem.core.tokens import counter
from pmem.memory.requests import AddRequest

BUDGETS: Final = "300,600,1000,2000"
MOST_CHARACTERS: Final = 4000  # of a memory


class Written(NamedTuple):
    """A context: of which set, its budget, its text, and the evidence that it should hold."""

    kind: str
    budget: int
    text: str
    evidence: list[str]


class Store(NamedTuple):
    """A filled project, and each question with the texts that hold its evidence."""

    project: Project
    questions: list[tuple[str, list[str]]]


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--budgets", default=BUDGETS)
    options = parser.parse_args()
    budgets = [int(budget) for budget in options.budgets.split(",")]
    written = list(contexts(options.folder, budgets))
    print("| set | budget | contexts | over | most over | used | evidence |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for kind in (*sorted({one.kind for one in written}), "all"):
        for budget in budgets:
            chosen = [one for one in written if kind in (one.kind, "all") and one.budget == budget]
            print(_row(f"{kind} | {budget:,}", chosen))
    print(_row("all | all", written))


def contexts(folder: Path, budgets: Sequence[int]) -> Iterator[Written]:
    """Build a context for each question of each store and each budget."""
    for path in sorted({found.parent for found in folder.rglob("*.jsonl")}):
        store = _store(path)
        if store is None:
            continue
        kind = path.relative_to(folder).parts[0]
        for question, evidence in store.questions:
            for budget in budgets:
                text = store.project.build_context(question, budget=budget).text
                yield Written(kind, budget, text, evidence)


def _store(folder: Path) -> Store | None:
    names = {path.stem for path in folder.glob("*.jsonl")}
    project = Project(f"{tempfile.mkdtemp()}/.project-memory", actor="bench")
    if {"memories", "tasks"} <= names:
        project.add_all(_memory(**row) for row in _rows(folder / "memories.jsonl"))
        project.import_messages((folder / "conversations.jsonl").read_bytes().splitlines())
        return Store(project, [(row["task"], []) for row in _rows(folder / "tasks.jsonl")])
    if "questions" not in names:
        return None
    asked = _rows(folder / "questions.jsonl")
    if "messages" in names:
        lines = (folder / "messages.jsonl").read_bytes().splitlines()
        project.import_messages(lines)
        said = {row["id"]: _folded(row["content"]) for row in map(orjson.loads, lines)}
        return Store(project, [(row["question"], _evidence(row, said)) for row in asked])
    kept = next((name for name in ("facts", "documents") if name in names), None)
    if kept is None:
        return None
    project.add_all(
        AddRequest(content=row["text"][:MOST_CHARACTERS], subject=row.get("speaker"), force=True)
        for row in _rows(folder / f"{kept}.jsonl")
        if row["text"].strip()
    )
    return Store(project, [(row["question"], []) for row in asked])


def _memory(content: str, subject: str | None = None, **_: Any) -> AddRequest:
    return AddRequest(content=content, subject=subject, force=True)


def _evidence(row: dict[str, Any], said: dict[str, str]) -> list[str]:
    if row["category"] == "adversarial":
        return []
    return [said[id_] for id_ in row["relevant"]]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip()]


def _folded(text: str) -> str:
    return " ".join(text.split())


def _row(name: str, written: Sequence[Written]) -> str:
    count = counter("o200k_base")
    used = [count(one.text) / one.budget for one in written]
    over = [share for share in used if share > 1]
    asked = [(one, share) for one, share in zip(written, used, strict=True) if one.evidence]
    shown = [share <= 1 and _holds(one) for one, share in asked]
    return (
        f"| {name} | {len(written):,} | {len(over):,} | {max(max(used) - 1, 0):.1%} "
        f"| {mean(used):.1%} | {f'{mean(shown):.1%}' if shown else ''} |"
    )


def _holds(one: Written) -> bool:
    text = _folded(one.text)
    return all(said in text for said in one.evidence)


if __name__ == "__main__":
    main()
