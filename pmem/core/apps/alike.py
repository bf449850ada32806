"""Whether a sentence adds next to nothing to another one; it need not say the very same."""

from typing import Final

from pmem.core.duplicates import Claim, Relation, claim_of
from pmem.core.duplicates.comparing import compare

MOST_MORE: Final = 2
"""Words that one of the two may have beyond the other's."""
_TELLING: Final = 3
"""Words of content that tell what a sentence is on, where no number does."""


def adds_little(one: str, other: str) -> bool:
    """Tell whether two sentences are so near that one of them is enough.

    Their numbers and negations are the same, and all the words of the one are in the other. That
    is less than being a duplicate, which is merged: here one is left out, or goes first.

    Args:
        one: The one.
        other: The other.
    """
    claims = claim_of(one), claim_of(other)
    relation = compare(*claims).relation
    return relation is Relation.DUPLICATE or (relation is Relation.NEIGHBOUR and _contained(claims))


def _contained(claims: tuple[Claim, Claim]) -> bool:
    lean, rich = sorted(claims, key=lambda claim: len(claim.content))
    few, many = set(lean.content), set(rich.content)
    enough = bool(lean.numbers and few) or len(few) >= _TELLING
    same = sorted(lean.numbers) == sorted(rich.numbers) and _signs(lean) == _signs(rich)
    return enough and same and few <= many and len(many) - len(few) <= MOST_MORE


def _signs(claim: Claim) -> list[str]:
    """Its negations and the like; when something was is no difference here."""
    return [sign for sign in claim.signs if sign != "was" and not sign.startswith("past")]
