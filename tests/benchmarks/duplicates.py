"""How well memories that say the same are told from others, and how quick `pairs` is.

The labelled pairs are in `tests/core/duplicates`. Memories in any number come from a generator
whose words are drawn by Zipf's law; one in ten is another one's duplicate or update.

    python -m tests.benchmarks.duplicates [--quality]
"""

import argparse
import random
import time
from collections import Counter
from typing import Final

from pmem.core.duplicates import Relation, claim_of, compare, pairs
from tests.core.duplicates.labelled import SETS, Labelled, is_same

SIZES: Final = (100, 1_000, 10_000, 100_000)
ROUNDS: Final = 3
LINK_MIN: Final = 0.3
_PEOPLE: Final = (
    "Anna Tom Priya Omar Lena Marco Sara Julia Igor Nina Paul Hannah Daniel Mei".split()
)
_STEMS: Final = (
    "billing search import export login report queue cache parser router worker session token "
    "invoice webhook gateway schema index replica ledger catalog payment profile upload thumbnail "
    "pipeline dashboard metric alert backup ticket license plugin template renderer scheduler"
).split()
_SYLLABLES: Final = (
    "ka ro mi ten sul var dex plo gri nam shu bel tor qui zan fer lo wick pe dra".split()
)
_VERBS: Final = "reads writes validates publishes rebuilds caches rejects forwards encrypts".split()
_SHAPES: Final = (
    "We use {tool} for the {noun} of the {part}.",
    "{person} owns the {part} {noun}.",
    "The {part} {noun} {verb} every {thing} from {tool}.",
    "The {part} {noun} must answer within {number} ms.",
    "Never let the {part} call the {thing} {noun} directly.",
    "The {noun} of the {part} is in src/{part}/{thing}.py.",
    "{person} prefers {tool} over {thing} for every {noun}.",
    "When the {part} fails, the {noun} {verb} the {thing} and {person} is told.",
    "Run the {thing} check before each {part} release, because the {noun} depends on {tool}.",
    "The {thing} limit of the {part} {noun} is {number} requests per minute.",
    "On {day} we moved the {noun} from {tool} to {thing}. {person} wrote the {part} notes.",
)
_DAYS: Final = "Monday Tuesday Wednesday Thursday Friday".split()


def memories(number: int, seed: int = 7) -> list[str]:
    """Return contents of memories; one in ten repeats another or gives it a new value."""
    drawn = random.Random(seed)
    vocabulary = _vocabulary(drawn, 400 + number // 2)
    weights = [1 / (rank + 10) for rank in range(len(vocabulary))]
    words = iter(drawn.choices(vocabulary, weights, k=number * 5))
    found: list[str] = []
    for _ in range(number):
        if found and drawn.random() < 0.1:
            found.append(_again(drawn, drawn.choice(found)))
            continue
        found.append(
            drawn.choice(_SHAPES).format(
                tool=next(words).capitalize(),
                noun=drawn.choice(_STEMS),
                part=next(words),
                thing=next(words),
                person=drawn.choice(_PEOPLE),
                verb=drawn.choice(_VERBS),
                number=drawn.randrange(5, 900),
                day=drawn.choice(_DAYS),
            )
        )
    return found


def hostile(number: int) -> dict[str, list[str]]:
    """Return memories in shapes that make careless comparisons slow."""
    drawn = random.Random(7)
    five = "alpha beta gamma delta epsilon".split()
    ten = [*five, *"zeta eta theta iota kappa".split()]
    characters = [chr(0x4E00 + place) for place in range(300)]
    vocabulary = _vocabulary(drawn, 50)
    return {
        "one template, other numbers": [
            f"service {i} listens on port {8000 + i}" for i in range(number)
        ],
        "one text": ["The worker retries failed jobs."] * number,
        "five words in any order": [" ".join(drawn.sample(five, 5)) for _ in range(number)],
        "ten words in any order": [" ".join(drawn.sample(ten, 10)) for _ in range(number)],
        "one word each": _vocabulary(drawn, number),
        "one template, another word": [
            f"We use {word} for sessions." for word in _vocabulary(drawn, number)
        ],
        "few words": [" ".join(drawn.sample(vocabulary, 6)) for _ in range(number)],
        "nearly empty": [drawn.choice(("", ".", "the", "- ", "a?")) for _ in range(number)],
        "Chinese": ["".join(drawn.choices(characters, k=20)) for _ in range(number)],
    }


def _vocabulary(drawn: random.Random, number: int) -> list[str]:
    found = dict.fromkeys(_STEMS)
    while len(found) < number:
        found["".join(drawn.choices(_SYLLABLES, k=drawn.randrange(2, 5)))] = None
    return list(found)[:number]


def _again(drawn: random.Random, content: str) -> str:
    kind = drawn.randrange(4)
    if kind == 0:
        return content.lower().rstrip(".")
    if kind == 1:
        return f"Please note that {content[:1].lower()}{content[1:]}"
    words = content.split()
    for place, word in enumerate(words):
        if word.isdigit():
            words[place] = str(int(word) + 5)
            return " ".join(words)
        if word in _PEOPLE:
            words[place] = drawn.choice(_PEOPLE)
            return " ".join(words)
    return content


def seconds(contents: list[str]) -> tuple[float, float, Counter[str]]:
    """Return the CPU seconds of reading and of pairing, the best of a few, and what is found."""
    best = (float("inf"), float("inf"))
    found: Counter[str] = Counter()
    for _ in range(ROUNDS):
        begun = time.process_time()
        claims = [claim_of(content) for content in contents]
        read = time.process_time()
        related = pairs(claims, [0] * len(claims), link_min=LINK_MIN)
        ended = time.process_time()
        best = min(best, (read - begun, ended - read), key=sum)
        found = Counter(str(pair.verdict.relation) for pair in related)
    return (*best, found)


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quality", action="store_true", help="no times")
    options = parser.parse_args()
    for name, labelled in SETS.items():
        _print_quality(name, labelled)
    if options.quality:
        return
    print("\n| memories | number | reading, s | pairing, s | both, s | found |")
    print("|---|--:|--:|--:|--:|---|")
    for number in SIZES:
        _print_times("drawn", memories(number))
    for name, contents in hostile(10_000).items():
        _print_times(name, contents)


def _print_quality(name: str, labelled: list[Labelled]) -> None:
    verdicts = [
        (each.kind, compare(claim_of(each.one), claim_of(each.other)).relation) for each in labelled
    ]
    merged = [is_same(kind) for kind, relation in verdicts if relation is Relation.DUPLICATE]
    wanted = sum(is_same(kind) for kind, _ in verdicts)
    print(f"\n{name}: {len(labelled)} pairs, duplicates with precision ", end="")
    print(f"{sum(merged) / max(1, len(merged)):.3f}, recall {sum(merged) / wanted:.3f}\n")
    print(f"| kind | pairs | {' | '.join(Relation)} |\n|---|--:|{'--:|' * len(Relation)}")
    for kind in dict.fromkeys(each.kind for each in labelled):
        counts = Counter(relation for each, relation in verdicts if each == kind)
        columns = " | ".join(str(counts[relation]) for relation in Relation)
        print(f"| {kind} | {counts.total()} | {columns} |")


def _print_times(name: str, contents: list[str]) -> None:
    reading, pairing, found = seconds(contents)
    counts = ", ".join(f"{number} {relation}" for relation, number in sorted(found.items()))
    total = reading + pairing
    print(
        f"| {name} | {len(contents):,} | {reading:.2f} | {pairing:.2f} | {total:.2f} | {counts} |"
    )


if __name__ == "__main__":
    main()
