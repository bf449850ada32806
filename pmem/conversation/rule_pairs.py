"""Which memory was made of which rule of an instruction file, when files have changed since."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

from pmem.core.followed_rules import FollowedRule
from pmem.interchange.notes import Note
from pmem.values.records import State

_WORD: Final = re.compile(r"\w+")
_ALIKE: Final = 0.6
"""From here on one rule is another one as it was changed: twice the shared words by all (Dice)."""


class PlacedRule(NamedTuple):
    """A rule in a file, and where it applies.

    Of one that cannot be kept, as it holds a secret or is too long, the memory stays as it is.
    """

    file: str
    note: Note
    places: tuple[str, ...]
    can_be_kept: bool = True


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
    near = _Nearest(one for one in left.values() if one.memory.state is State.ACTIVE)
    here = {rule.file for rule in rules}
    for n, rule in enumerate(rules):
        if pairs[n] is None:
            pairs[n] = near.take(rule, here)
    return pairs, near.left


class _Nearest:
    """Memories of rules, found by the words that a changed rule still has."""

    def __init__(self, known: Iterable[FollowedRule]) -> None:
        self._known = {one.memory.id: one for one in known}
        self._words = {identifier: _words(one.text) for identifier, one in self._known.items()}
        self._having: dict[str, list[str]] = {}
        for identifier, words in self._words.items():
            for word in words:
                self._having.setdefault(word, []).append(identifier)

    @property
    def left(self) -> list[FollowedRule]:
        """Those that no rule took."""
        return list(self._known.values())

    def take(self, rule: PlacedRule, here: Collection[str]) -> FollowedRule | None:
        """Take the memory of a rule as it was before, rather one that people changed."""
        words = _words(rule.note.text)
        shared = Counter(one for word in words for one in self._having.get(word, ()))
        ranked = [
            (self._known[one].is_changed, share, one)
            for one, count in shared.items()
            if one in self._known
            and (share := 2 * count / (len(words) + len(self._words[one]))) >= _ALIKE
            and (self._known[one].file == rule.file or self._known[one].file not in here)
        ]
        return self._known.pop(max(ranked)[2]) if ranked else None


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
