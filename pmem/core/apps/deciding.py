"""What a model is asked for apps, and what makes its answers valid.

A model sums conversations up, and decides which one memory goes when an app has too many. The rules
are a model too, the one that is free.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, Final, Literal, Protocol

import msgspec

from pmem.core.apps.digest import digest
from pmem.core.consent import sensitive
from pmem.values.ids import short
from pmem.values.records import Memory, Message

MOST_REASON: Final = 1000
"""Characters of a reason at the most."""

_CROWD: Final = 40
"""Memories of one app that are not compared two by two any more."""
_NAMES: Final = {
    "targetMemoryId": "target",
    "mergedMemoryId": "merged",
    "newContent": "content",
}
"""S0's names of a decision's fields, as models write them."""


class AppDecision(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of one memory too many, and why.

    `delete` removes its target; `edit` lets its target take `merged` in, the newest when None, and
    say `content` from then on. `by` is who decided: the model's name, or `fifo` where the oldest
    went because of a `failure`.
    """

    action: Literal["delete", "edit"]
    target: str
    merged: str | None = None
    content: str | None = None
    reason: str
    by: str = ""
    failure: str = ""


class EndedConversation(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation that has ended, to be summed up in so many characters at the most.

    `private` names what may not be said of a person (the setting `consent.fields`): nobody has
    agreed to it; `allowed` what is no secret (`secrets.allow`).
    """

    app: str
    conversation: str
    messages: tuple[Message, ...]
    outcome: str | None
    most: int
    private: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()


class Surplus(msgspec.Struct, frozen=True, kw_only=True):
    """An app's memories, of which one is to go.

    Attributes:
        app: The app's name.
        memories: All that it has, the oldest first; the last is the new one.
        limit: How many it may have.
        most: Characters of a content at the most.
        worths: What each memory is worth by its importance, use and age, by id.
    """

    app: str
    memories: tuple[Memory, ...]
    limit: int
    most: int
    worths: Mapping[str, float]


class Unusable(Exception):
    """A decision, or a text, that a model gave and that cannot be used."""


class Model(Protocol):
    """Sums up and decides. One that is not free costs energy and has a time-out.

    Whatever it does (it fails, it takes too long, it gives nonsense), it can neither lose a memory
    nor stop a command.
    """

    name: str
    is_free: bool

    def summarise(self, talk: EndedConversation) -> str:
        """Return two to four factual sentences; nothing where there is nothing to keep."""
        ...

    def decide(self, surplus: Surplus) -> Any:
        """Return a decision, or JSON or a mapping with S0's names of its fields."""
        ...


class OfflineModel:
    """Works by rules: what says the same becomes one, else the least valuable memory goes.

    It remembers what says the same between the decisions of one compaction.
    """

    name = "offline"
    is_free = True

    def __init__(self) -> None:
        self._read: frozenset[tuple[str, str]] = frozenset()
        self._same: list[tuple[str, str, str]] = []
        self._near: list[tuple[str, str]] = []

    def summarise(self, talk: EndedConversation) -> str:
        """Return the sentences that are worth keeping (see `core.apps.digest`)."""
        return digest(talk.messages, talk.outcome, talk.most, talk.private)

    def decide(self, surplus: Surplus) -> AppDecision:
        """Return what is to go."""
        present = {memory.id: memory for memory in surplus.memories}
        for survivor, other, reason in self._redundant(surplus.memories):
            if survivor in present and other in present:
                return AppDecision(
                    action="edit",
                    target=survivor,
                    content=present[survivor].content,
                    merged=other,
                    reason=f"{short(other)} says the same: {reason}",
                )
        nearly = self._nearly_redundant(surplus)
        if nearly is not None:
            return nearly
        least = _least(surplus)
        why = f"it counts least by importance, use and age ({surplus.worths[least.id]:.2f})"
        return AppDecision(action="delete", target=least.id, reason=why)

    def _nearly_redundant(self, surplus: Surplus) -> AppDecision | None:
        """Return the end of the one that counts less of two that say nearly the same, if any do."""
        new, present = surplus.memories[-1], {memory.id: memory for memory in surplus.memories}
        for pair in self._near:
            both = [present[name] for name in pair if name in present]
            loose = [memory for memory in both if not memory.pinned and memory is not new]
            if len(both) > 1 and loose:
                goes = _least_of(loose, surplus)
                (stays,) = (memory for memory in both if memory is not goes)
                why = f"{short(stays.id)} says nearly the same"
                return AppDecision(action="delete", target=goes.id, reason=why)
        return None

    def _redundant(self, memories: Sequence[Memory]) -> list[tuple[str, str, str]]:
        """Return who stays, who says the same, and why; worked out anew for unknown memories."""
        from pmem.core.lifecycle.similar import gathered, similar, texts_of  # slow, rarely needed

        said = frozenset((memory.id, memory.content) for memory in memories)
        if not said <= self._read:
            known = similar(memories)
            groups = gathered(known, texts_of(known))
            self._read = said
            self._near = _near_pairs(memories)
            self._same = [(g.survivor.id, other.id, why) for g in groups for other, why in g.others]
        return self._same


def _near_pairs(memories: Sequence[Memory]) -> list[tuple[str, str]]:
    """Return those that say nearly the same; of a crowd, as an import brings it, none."""
    from pmem.core.apps.alike import adds_little  # slow, rarely needed

    if len(memories) > _CROWD:
        return []
    pairs = combinations(memories, 2)
    return [(one.id, other.id) for one, other in pairs if adds_little(one.content, other.content)]


def _least(surplus: Surplus) -> Memory:
    """Return the memory that counts least; the new one, and what is pinned, only if all are."""
    older = surplus.memories[:-1] or surplus.memories
    loose = [memory for memory in older if not memory.pinned] or _loose(surplus.memories)
    return _least_of(loose, surplus)


def _least_of(memories: Iterable[Memory], surplus: Surplus) -> Memory:
    return min(
        memories, key=lambda memory: (surplus.worths[memory.id], memory.created_at, memory.id)
    )


def oldest(memories: Sequence[Memory]) -> Memory:
    """Return the memory that goes when nothing can be decided: the oldest that is not pinned.

    Args:
        memories: The oldest first.
    """
    return _loose(memories)[0]


def _loose(memories: Sequence[Memory]) -> Sequence[Memory]:
    return [memory for memory in memories if not memory.pinned] or memories


def checked(answer: Any, surplus: Surplus) -> AppDecision:
    """Return a decision that can be carried out, whole ids in it.

    Args:
        answer: What a model gave: a decision, a mapping, or JSON.
        surplus: What it was asked about.

    Raises:
        Unusable: It is none, names a memory that is not among them, deletes a pinned one where
            others are not, or has no content or one that is too long.
    """
    decision = _read_decision(answer)
    reason = usable(" ".join(decision.reason.split()), MOST_REASON, "the decision's reason")
    known = {name: memory for memory in surplus.memories for name in (memory.id, short(memory.id))}
    target = _find_memory(decision.target, known)
    if decision.action == "delete":
        if target not in _loose(surplus.memories):
            raise Unusable(f"the decision deletes {target.id}, which is pinned")
        return AppDecision(action="delete", target=target.id, reason=reason)
    merged = _find_memory(decision.merged or surplus.memories[-1].id, known)
    if merged.id == target.id:
        raise Unusable(f"the decision merges {target.id} with itself")
    content = decision.content
    if content is None or content != target.content:
        content = usable(content, surplus.most, "the new content")
    return AppDecision(
        action="edit", target=target.id, content=content, merged=merged.id, reason=reason
    )


def _read_decision(answer: Any) -> AppDecision:
    try:
        if isinstance(answer, str | bytes):
            answer = msgspec.json.decode(answer)
        if isinstance(answer, AppDecision):
            answer = msgspec.to_builtins(answer)
        if isinstance(answer, Mapping):
            answer = {_NAMES.get(name, name): value for name, value in answer.items()}
        return msgspec.convert(answer, AppDecision)
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
        raise Unusable(f"the answer is no decision: {str(error)[:200]}") from None


def _find_memory(identifier: str, known: Mapping[str, Memory]) -> Memory:
    if identifier not in known:
        raise Unusable(f"the decision names {identifier[:60]!r}, which is no memory of the app")
    return known[identifier]


def usable(text: Any, most: int, what: str) -> str:
    """Return a text that a model gave, without the space around it.

    Args:
        text: What it gave.
        most: Characters at the most.
        what: What it is, for the sentence.

    Raises:
        Unusable: It is no text, empty, too long, or not valid UTF-8.
    """
    if not isinstance(text, str) or not text.strip():
        raise Unusable(f"{what} is empty")
    stripped: str = text.strip()
    if len(stripped) > most:
        raise Unusable(f"{what} has {len(stripped)} characters, and the limit is {most}")
    try:
        stripped.encode()
    except UnicodeEncodeError:
        raise Unusable(f"{what} is not valid UTF-8") from None
    return stripped


def impersonal(text: str, private: Collection[str], what: str) -> None:
    """See that a text that a model gave says nothing of a person that nobody agreed to.

    Args:
        text: What it gave.
        private: What may not be said (see `core.consent`).
        what: What it is, for the sentence.

    Raises:
        Unusable: It does.
    """
    field = sensitive(text, private)
    if field is not None:
        raise Unusable(f"{what} tells a person's {field.replace('_', ' ')}")


def without_secret(text: str, allowed: Collection[str], what: str) -> None:
    """See that a text that a model gave holds no secret.

    Args:
        text: What it gave.
        allowed: What is no secret (the setting `secrets.allow`).
        what: What it is, for the sentence.

    Raises:
        Unusable: It does.
    """
    from pmem.core import secrets

    if secrets.find(text, allowed):
        raise Unusable(f"{what} holds what looks like a secret")


def may_be_told(text: str, private: Collection[str], allowed: Collection[str]) -> bool:
    """Tell whether a sentence about a failure may be kept: it may quote what it failed at.

    Args:
        text: The sentence.
        private: What may not be said of a person.
        allowed: What is no secret.
    """
    from pmem.core import secrets

    return sensitive(text, private) is None and not secrets.find(text, allowed)
