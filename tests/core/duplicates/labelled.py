"""Pairs of memories with what they are to each other, one a line: kind, the one, the other.

`tuning` was looked at while the rules were written, the others only after they had been measured on
them. Kinds: `duplicate` (nearly the same words) and `paraphrase` say the same; `update` and
`number` give another value, `contradiction` and `negation` the opposite; `near miss` looks the
same but is not; `neighbour` and `unrelated` share a topic, or nothing.
"""

from pathlib import Path
from typing import Final, NamedTuple


class Labelled(NamedTuple):
    """A pair and its kind."""

    kind: str
    one: str
    other: str


def is_same(kind: str) -> bool:
    """Tell whether pairs of a kind say the same."""
    return kind in ("duplicate", "paraphrase")


def read(name: str) -> list[Labelled]:
    """Return the pairs of a set."""
    return [Labelled(*fields) for fields in read_fields(name)]


def read_fields(name: str) -> list[list[str]]:
    """Return the fields of each line of a file."""
    lines = Path(__file__).with_name(f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines]


SETS: Final = {name: read(name) for name in ("tuning", "heldout", "third", "fourth")}
LOOKALIKES: Final = read("lookalikes")
"""Near misses only, written to be taken for duplicates."""
CHANGES: Final = read("changes")
"""Corrections and changes of what is known, and near misses written to be taken for them."""
RULES: Final = read_fields("rules")
"""What holds each rule: its name, what two memories are to each other, and these."""
