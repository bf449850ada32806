"""How much of what is asked for later the summaries of chunks keep, on a folder of data.

Each conversation folder holds `messages.jsonl`, as `pmem import messages` reads it, and
`questions.jsonl`: `question`, `category`, `relevant` (the ids of the messages that hold the
evidence) and `answer`. Adversarial questions have no answer and are left out.

A question belongs to a chunk that holds a message of its evidence. Its answer's words are stemmed,
stop words left out; kept are those that the summary has as well. Not every answer's word was said,
so the ratio to the lead decides: the chunk's text from its first word on, cut to the same budget.

    python -m tests.benchmarks.summaries FOLDER [--tens] [--whole]
"""

import argparse
import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from pmem import Project
from pmem.core.summaries.summary import summarise
from pmem.core.text.sentences import split_sentences
from pmem.core.text.terms import terms
from pmem.core.tokens import count_tokens
from pmem.values.records import Message
from tests.messages import all_messages

SHARES: Final = (0.1, 0.15, 0.2)
ROUNDS: Final = 20
Summariser = Callable[[Sequence[Message], float], str]


class Part(NamedTuple):
    """A chunk's messages and what is asked about them: category and words of each answer."""

    conversation: str
    messages: tuple[Message, ...]
    asked: list[tuple[str, frozenset[str]]]


class Kept(NamedTuple):
    """Answer words kept and answer words in all."""

    kept: float
    words: int

    def share(self) -> float:
        """Return the part that is kept."""
        return self.kept / max(1, self.words)


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tens", action="store_true", help="all messages, ten by ten")
    parser.add_argument("--whole", action="store_true", help="all evidence within the chunk")
    options = parser.parse_args()
    folders = [folder for folder in sorted(options.folder.iterdir()) if folder.is_dir()]
    parts = [part for each in folders for part in load(each, options.tens, options.whole)]
    _print_shares(parts)
    _print_groups("category", parts)
    _print_groups("conversation", parts)
    _print_times(parts)


def load(folder: Path, tens: bool, whole: bool) -> list[Part]:
    """Import a conversation and find which questions belong to which chunk."""
    project = Project(f"{tempfile.mkdtemp()}/.project-memory", actor="bench", now=None)
    project.import_messages((folder / "messages.jsonl").read_bytes().splitlines())
    workspace = project.workspace
    chunks = [chunk.messages for chunk in workspace.chunks.find()]
    if tens:
        chunks = _tens((said.conversation, said.message) for said in all_messages(workspace))
    lines = (folder / "questions.jsonl").read_bytes().splitlines()
    asked = [line for line in map(orjson.loads, lines) if line["category"] != "adversarial"]
    return [Part(folder.name, chunk, _about(chunk, asked, whole)) for chunk in chunks]


def lead(messages: Sequence[Message], share: float) -> str:
    """Return the beginning of what was said."""
    text = _text(messages)
    return text[: int(len(text) * share)]


def centroid(messages: Sequence[Message], share: float) -> str:
    """Return the sentences that hold most of what the messages' sentences have in common."""
    said = [each for message in messages for each in split_sentences(message.content)]
    counted = Counter(term for each in said for term in terms(each))
    common = {term: count for term, count in counted.items() if count > 1}

    def score(text: str) -> float:
        found = terms(text)
        return sum(common.get(term, 0) for term in found) / (1 + len(found))

    return _filled(sorted(said, key=score, reverse=True), int(len(_text(messages)) * share))


def drawn(messages: Sequence[Message], share: float, seed: int) -> str:
    """Return sentences drawn by lot."""
    said = [each for message in messages for each in split_sentences(message.content)]
    random.Random(seed).shuffle(said)
    return _filled(said, int(len(_text(messages)) * share))


def ours(messages: Sequence[Message], share: float) -> str:
    """Return what pmem makes of them."""
    return summarise(messages, count_tokens, share)


def measured(parts: Iterable[Part], system: Summariser, share: float) -> Kept:
    """Count the answer words that summaries keep."""
    kept = words = 0
    for part in parts:
        if part.asked:
            found = set(terms(system(part.messages, share)))
            kept += sum(len(answer & found) for _, answer in part.asked)
            words += sum(len(answer) for _, answer in part.asked)
    return Kept(kept, words)


def _tens(said: Iterable[tuple[str, Message]]) -> list[tuple[Message, ...]]:
    grouped: dict[str, list[Message]] = {}
    for conversation, message in sorted(said, key=lambda item: item[1].created_at):
        grouped.setdefault(conversation, []).append(message)
    return [tuple(all_[i : i + 10]) for all_ in grouped.values() for i in range(0, len(all_), 10)]


def _about(
    chunk: Sequence[Message], asked: Iterable[dict[str, Any]], whole: bool
) -> list[tuple[str, frozenset[str]]]:
    ids = {message.external_id for message in chunk}
    return [
        (line["category"], frozenset(terms(str(line["answer"]))))
        for line in asked
        if (ids >= set(line["relevant"]) > set() if whole else ids.intersection(line["relevant"]))
    ]


def _text(messages: Iterable[Message]) -> str:
    return "\n".join(f"{message.speaker}: {message.content}" for message in messages)


def _filled(said: Iterable[str], most: int) -> str:
    found = ""
    for each in said:
        if len(found) + len(each) < most:
            found += f" {each}"
    return found


def _random(parts: Sequence[Part], share: float) -> Kept:
    rounds = [measured(parts, _lot(seed), share) for seed in range(ROUNDS)]
    return Kept(statistics.mean(each.kept for each in rounds), rounds[0].words)


def _lot(seed: int) -> Summariser:
    return lambda messages, share: drawn(messages, share, seed)


def _row(name: str, parts: Sequence[Part], share: float) -> None:
    asked = sum(len(part.asked) for part in parts)
    own, first = measured(parts, ours, share), measured(parts, lead, share)
    found = (own, first, _random(parts, share), measured(parts, centroid, share))
    shares = " | ".join(f"{each.share():.3f}" for each in found)
    print(f"| {name} | {asked} | {own.words} | {shares} | {own.kept / max(1, first.kept):.2f} |")


def _head(name: str) -> None:
    print(f"\n| {name} | questions | answer words | ours | lead | random | centroid | ours/lead |")
    print("|---|---|---|---|---|---|---|---|")


def _print_shares(parts: Sequence[Part]) -> None:
    _head("share of tokens")
    for share in SHARES:
        _row(f"{share:.0%}", parts, share)


def _print_groups(kind: str, parts: Sequence[Part]) -> None:
    _head(f"{kind}, 15%")
    if kind == "conversation":
        for name in sorted({part.conversation for part in parts}):
            _row(name, [part for part in parts if part.conversation == name], 0.15)
        return
    for name in sorted({category for part in parts for category, _ in part.asked}):
        chosen = [
            part._replace(asked=[item for item in part.asked if item[0] == name]) for part in parts
        ]
        _row(name, chosen, 0.15)


def _print_times(parts: Sequence[Part]) -> None:
    best = []
    for part in parts:
        times = []
        for _ in range(5):
            begun = time.perf_counter()
            ours(part.messages, 0.15)
            times.append(time.perf_counter() - begun)
        best.append(min(times) * 1000)
    spent = [len(ours(p.messages, 0.15)) / max(1, len(_text(p.messages))) for p in parts]
    print(f"\n{len(parts)} chunks; {statistics.median(best):.2f} ms each, {max(best):.2f} at most;")
    print(f"{statistics.mean(spent):.1%} of the characters used")


if __name__ == "__main__":
    main()
