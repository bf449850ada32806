"""How well facts and key moments are found in the labelled messages and dialogues, as Markdown.

python -m tests.benchmarks.extraction [--failures]
"""

import argparse
from collections.abc import Sequence

from tests.core.extraction.scores import (
    DIALOGUES,
    MESSAGES,
    Score,
    labelled_dialogues,
    labelled_messages,
    score_dialogues,
    score_messages,
)


def main() -> None:
    """Score and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--failures", action="store_true", help="what was missed or found in vain")
    options = parser.parse_args()
    facts = [score_messages(labelled_messages(name)) for name in MESSAGES]
    said = [score_dialogues(labelled_dialogues(name)) for name in DIALOGUES]
    for title, names, scores in (("facts", MESSAGES, facts), ("moments", DIALOGUES, said)):
        _print_table(title, names, scores)
        if options.failures:
            for name, score in zip(names, scores, strict=True):
                print(*(f"{name}: {failure}" for failure in score.failures), sep="\n", end="\n\n")


def _print_table(title: str, names: Sequence[str], scores: Sequence[Score]) -> None:
    """Print a row a type: expected, precision and recall in each file."""
    print(f"| {title} |", *(f"{name}: n | P | R |" for name in names))
    print("|---|" + "---|---|---|" * len(names))
    kinds = sorted({kind for score in scores for kind in score.types()})
    for kind in (*kinds, None):
        cells = [
            f"{score.expected(kind)} | {score.precision(kind):.2f} | {score.recall(kind):.2f} |"
            for score in scores
        ]
        print(f"| {kind or 'all'} |", *cells)
    print()


if __name__ == "__main__":
    main()
