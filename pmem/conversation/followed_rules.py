"""Which memory was made of which rule of an instruction file, when files have changed since."""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from pmem.interchange.notes import Note
from pmem.values.records import EventKind, Memory, State

KIND: Final = "notes"
"""The kind of source that such memories have, and the source of what an import does to them."""
_ALIKE: Final = 0.6
"""From here on one rule is another one as it was changed (`SequenceMatcher.ratio`)."""


class Rule(NamedTuple):
    """A rule in a file; `places` are None where the file says nothing about them."""

    file: str
    note: Note
    places: tuple[str, ...] | None


class FollowedRule(NamedTuple):
    """A memory of a rule, and the text that an import last gave it."""

    memory: Memory
    text: str

    @property
    def file(self) -> str | None:
        """The file that the rule was in."""
        return self.memory.source.file

    @property
    def was_gone(self) -> bool:
        """Whether an import archived it, as its rule was gone."""
        last = self.memory.history[-1] if self.memory.history else None
        archives = last is not None and last.event is EventKind.ARCHIVE and last.source == KIND
        return archives and self.memory.state is State.ARCHIVED

    @property
    def is_edited(self) -> bool:
        """Whether somebody has changed since what it says."""
        return self.memory.content != self.text

    @property
    def is_changed(self) -> bool:
        """Whether somebody added something to it."""
        return any(event.source != KIND for event in self.memory.history[1:])

    @property
    def own_tags(self) -> set[str]:
        """The tags that people gave it."""
        own, after = set[str](), set(self.memory.tags)
        for event in reversed(self.memory.history):
            tags = event.before.get("tags")
            if isinstance(tags, list):
                before = set(map(str, tags))
                own |= after - before if event.source != KIND else set()
                after = before
        return own

    def is_of_file(self, field: str) -> bool:
        """Tell whether a field is as an import made it."""
        changes = [event for event in self.memory.history if field in event.before]
        return not changes or changes[-1].source == KIND


def followed(memory: Memory) -> FollowedRule:
    """Return a memory with the text that an import last gave it."""
    text = memory.content
    for event in reversed(memory.history):
        if "content" in event.before:
            if event.source == KIND:
                break
            text = str(event.before["content"])
    return FollowedRule(memory, text)


def pair_rules(
    rules: Sequence[Rule], known: Iterable[FollowedRule]
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


def _nearest(rule: Rule, known: Iterable[FollowedRule]) -> FollowedRule | None:
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
