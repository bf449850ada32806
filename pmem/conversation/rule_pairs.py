"""Which memory was made of which rule of an instruction file, when files have changed since."""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from pmem.core.followed_rules import FollowedRule
from pmem.interchange.notes import Note
from pmem.values.records import State

_ALIKE: Final = 0.6
"""From here on one rule is another one as it was changed (`SequenceMatcher.ratio`)."""


class PlacedRule(NamedTuple):
    """A rule in a file; `places` are None where the file says nothing about them."""

    file: str
    note: Note
    places: tuple[str, ...] | None


def pair_rules(
    rules: Sequence[PlacedRule], known: Iterable[FollowedRule]
) -> tuple[list[FollowedRule | None], list[FollowedRule]]:
    """Find the memory of each rule: the same text in its file, then elsewhere, then the nearest.

    Returns:
        The memory of each rule in their order, and those active ones that no rule is left of.
    """
    every = sorted(known, key=lambda one: one.memory.state is not State.ACTIVE)
    left = {one.memory.id: one for one in every}
    pairs: list[FollowedRule | None] = [None] * len(rules)
    for is_moved in (False, True):
        by_text: dict[tuple[str | None, str], list[str]] = {}
        for identifier, one in left.items():
            for text in {one.text, one.memory.content}:
                by_text.setdefault((None if is_moved else one.file, text), []).append(identifier)
        for n, rule in enumerate(rules):
            said = by_text.get((None if is_moved else rule.file, rule.note.text), ())
            free = next((identifier for identifier in said if identifier in left), None)
            if pairs[n] is None and free is not None:
                pairs[n] = left.pop(free)
    active = [one for one in left.values() if one.memory.state is State.ACTIVE]
    for n, rule in enumerate(rules):
        if pairs[n] is None:
            pairs[n] = _nearest(rule, active)
            active = [one for one in active if one is not pairs[n]]
    return pairs, active


def _nearest(rule: PlacedRule, known: Iterable[FollowedRule]) -> FollowedRule | None:
    """Return the memory of a rule as it was before, rather one that people added something to."""
    text = rule.note.text
    ranked = [
        (one.is_changed, ratio, one)
        for one in known
        if one.file == rule.file and (ratio := _likeness(one.text, text)) >= _ALIKE
    ]
    return max(ranked, key=lambda one: one[:2], default=(False, 0.0, None))[2]


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()
