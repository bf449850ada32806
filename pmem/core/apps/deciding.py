"""Choosing what goes when an app has one memory too many: by rules, or the oldest."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from pmem.values.ids import short
from pmem.values.records import Memory

if TYPE_CHECKING:
    from pmem.core.duplicates import Claim


OFFLINE: Final = "offline"
FIFO: Final = "fifo"
"""Who decided: the rules, or nobody."""
_CROWD: Final = 40
"""Memories of one app that are not compared two by two any more."""


class AppDecision(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of one memory too many, and why.

    `delete` removes its target; `edit` lets its target take `merged` in, and say `content` from
    then on. `by` is who decided: the rules, a model, or `fifo` where the oldest went because of a
    `failure`.
    """

    action: Literal["delete", "edit"]
    target: str
    merged: str | None = None
    content: str | None = None
    reason: str
    by: str
    failure: str = ""


class OfflineRules:
    """Decides by rules: what says the same becomes one, else the least valuable memory goes."""

    def __init__(self, memories: Sequence[Memory]) -> None:
        from pmem.core.lifecycle.merging import gathered, with_claims  # slow, rarely needed

        groups = list(gathered(with_claims(memories)))
        self._same = [(g.survivor.id, other.id, why) for g in groups for other, why in g.others]
        pairs = combinations(memories if len(memories) <= _CROWD else (), 2)
        self._near = [(a.id, b.id) for a, b in pairs if adds_little(a.content, b.content)]

    def decide(self, memories: Sequence[Memory], worths: Mapping[str, float]) -> AppDecision:
        """Return which one is to go.

        `memories` are those that are left, the oldest first and the new one last; `worths` say by
        id what each counts by its importance, use and age.
        """
        present = {memory.id: memory for memory in memories}
        for survivor, other, reason in self._same:
            if survivor in present and other in present:
                return AppDecision(
                    action="edit",
                    target=survivor,
                    content=present[survivor].content,
                    merged=other,
                    reason=f"{short(other)} says the same: {reason}",
                    by=OFFLINE,
                )
        nearly = self._nearly_redundant(present, memories[-1], worths)
        if nearly is not None:
            return nearly
        older = memories[:-1] or memories  # the new one, and what is pinned, go only if all are
        loose = [memory for memory in older if not memory.pinned] or _loose(memories)
        least = _least_of(loose, worths)
        why = f"it counts least by importance, use and age ({worths[least.id]:.2f})"
        return AppDecision(action="delete", target=least.id, reason=why, by=OFFLINE)

    def _nearly_redundant(
        self, present: Mapping[str, Memory], new: Memory, worths: Mapping[str, float]
    ) -> AppDecision | None:
        """Return the end of the one that counts less of two that say nearly the same, if any do."""
        for pair in self._near:
            both = [present[name] for name in pair if name in present]
            loose = [memory for memory in both if not memory.pinned and memory is not new]
            if len(both) > 1 and loose:
                goes = _least_of(loose, worths)
                (stays,) = (memory for memory in both if memory is not goes)
                why = f"{short(stays.id)} says nearly the same"
                return AppDecision(action="delete", target=goes.id, reason=why, by=OFFLINE)
        return None


def oldest_goes(memories: Sequence[Memory], failure: str) -> AppDecision:
    """Return the end of the oldest that is not pinned, where nobody can decide."""
    target, reason = _loose(memories)[0].id, "it is the oldest"
    return AppDecision(action="delete", target=target, reason=reason, by=FIFO, failure=failure)


def _least_of(memories: Iterable[Memory], worths: Mapping[str, float]) -> Memory:
    return min(memories, key=lambda memory: (worths[memory.id], memory.created_at, memory.id))


def _loose(memories: Sequence[Memory]) -> Sequence[Memory]:
    return [memory for memory in memories if not memory.pinned] or memories


MOST_MORE: Final = 2
"""Words that one of the two may have beyond the other's."""
_TELLING: Final = 3
"""Words of content that tell what a sentence is on, where no number does."""


def adds_little(one: str, other: str) -> bool:
    """Tell whether two sentences are so near that one of them is enough.

    Their numbers and negations are the same, and all the words of the one are in the other. That
    is less than being a duplicate, which is merged: here one is left out, or goes first.
    """
    from pmem.core.duplicates import Relation, claim_of  # slow, and reading needs none
    from pmem.core.duplicates.comparing import compare

    claims = claim_of(one), claim_of(other)
    relation = compare(*claims).relation
    return relation is Relation.DUPLICATE or (relation is Relation.NEIGHBOUR and _contained(claims))


def _contained(claims: "tuple[Claim, Claim]") -> bool:
    lean, rich = sorted(claims, key=lambda claim: len(claim.content))
    few, many = set(lean.content), set(rich.content)
    enough = bool(lean.numbers and few) or len(few) >= _TELLING
    lean_signs, rich_signs = (
        [sign for sign in claim.signs if sign != "was" and not sign.startswith("past")]
        for claim in (lean, rich)  # when something was is no difference here
    )
    same = sorted(lean.numbers) == sorted(rich.numbers) and lean_signs == rich_signs
    return enough and same and few <= many and len(many) - len(few) <= MOST_MORE
