"""Memories made of rules of instruction files: what an import wrote, and what people changed."""

from collections.abc import Collection
from typing import Final, NamedTuple

from pmem.values.records import EventKind, Memory, State

KIND: Final = "notes"
"""The kind of source that such memories have, and the source of what an import does to them."""


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
        """Whether somebody changed something of it, pinned it or brought it back."""
        work = (EventKind.UPDATE, EventKind.RESTORE)
        changes = (event for event in self.memory.history if event.event in work)
        return self.memory.pinned or any(event.source != KIND for event in changes)

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


def repeats_rule(memory: Memory, files: Collection[str]) -> bool:
    """Tell whether a memory says what a rule of these instruction files says."""
    is_theirs = memory.source.kind == KIND and memory.source.file in files
    return is_theirs and not followed(memory).is_edited
