"""Links between memories that belong together, for `consolidate` and `add`."""

import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final

from pmem.core.duplicates import Claim, Relation, Verdict, claim_of, compare, pairs
from pmem.core.duplicates.comparing import NEAREST, closeness, has_all_of, in_other_forms
from pmem.core.filters import same_text
from pmem.core.lifecycle.neighbours import Neighbour, concern_of, is_near
from pmem.core.text.terms import terms
from pmem.values import defaults
from pmem.values.records import Memory, Relationship

LINK_AT: Final = defaults.LINK_AT
_ASIDE: Final = re.compile(r"[,;]? because |; ")
_LONGEST_NAME: Final = 3
"""The most words of a subject that names something."""
MOST_LINKS: Final = 3
"""The most neighbours that are linked to one memory."""
_OTHER_FORMS: Final = Verdict(Relation.NEIGHBOUR, NEAREST, "the same words in other forms")
_NEARLY_ALL: Final = 0.85
"""Share of common words with which something is said again."""
LINK_TYPES: Final = {
    Relation.NEIGHBOUR: "related_to",
    Relation.DUPLICATE: "related_to",
    Relation.UPDATE: "updates",
    Relation.CONTRADICTION: "contradicts",
}
Close = Sequence[tuple[Verdict, Memory]]
"""How memories relate to another one, the closest first."""


def close_to(memory: Memory, others: Sequence[Memory]) -> Close:
    """Return how a new memory relates to those that it belongs with, the closest first.

    They are compared as consolidation compares them, except that each of the others takes one
    more link however many it has, and that one which has all words of the new one is close, or has
    them in other forms.

    `others` come by ascending id.
    """
    new = len(others)
    claims = [*(_claim(other.content) for other in others), _claim(memory.content)]
    alone = [None] * len(claims)
    found = pairs(claims, alone, link_min=LINK_AT, most_links=new, only=new)
    close = [(pair.verdict, others[pair.first]) for pair in found if pair.second == new]
    kept = [
        (verdict, other)
        for verdict, other in close
        if verdict.score >= LINK_AT or verdict.relation is Relation.DUPLICATE
    ]
    known = {other.id for _, other in kept}
    for claim, other in zip(claims[:new], others, strict=True):
        if other.id in known:
            continue
        if has_all_of(claim, claims[new]):
            score = closeness(claim, claims[new])
            kept.append((Verdict(Relation.NEIGHBOUR, score, "it has all these words"), other))
        elif (
            claim.numbers == claims[new].numbers
            and claim.signs.count("not") == claims[new].signs.count("not")
            and in_other_forms(other.content, memory.content)
        ):
            kept.append((_OTHER_FORMS, other))
    return sorted(kept, key=lambda pair: (-pair[0].score, pair[1].id))


def same_as(memory: Memory, close: Close) -> Memory | None:
    """Return the closest memory that says the same as a new one to the same people, if one does."""
    for verdict, other in close:
        says_same = verdict.relation is Relation.DUPLICATE and same_subject(memory, other)
        if says_same and concern_of(other.scope) == concern_of(memory.scope):
            return other
    return None


def said_before(memory: Memory, others: Sequence[Memory]) -> Memory | None:
    """Return one of some memories that says what a new one does, in whatever words, if one does."""
    new, concern = _claim(memory.content), concern_of(memory.scope)
    return next(
        (
            other
            for other in others
            if concern_of(other.scope) == concern and _says_it_too(_claim(other.content), new)
        ),
        None,
    )


def _says_it_too(one: Claim, other: Claim) -> bool:
    if compare(one, other).relation is Relation.DUPLICATE:
        return True
    same_signs = one.signs.count("not") == other.signs.count("not")
    nearly_all = closeness(one, other) >= _NEARLY_ALL * NEAREST
    return nearly_all and same_signs and one.numbers == other.numbers


def linked_to(memory: Memory, close: Close, at: datetime) -> list[Neighbour]:
    """Return the links from a new memory to those that it belongs with."""
    return [
        Neighbour(
            link=relationship(memory, other, verdict, at),
            content=other.content,
            reason=verdict.reason,
        )
        for verdict, other in close[:MOST_LINKS]
    ]


def relationship(start: Memory, end: Memory, verdict: Verdict, at: datetime) -> Relationship:
    """Return the link from one memory to another that it is like.

    Memories about different subjects are only related.
    """
    relation = verdict.relation if same_subject(start, end) else Relation.NEIGHBOUR
    return Relationship(
        target=end.id,
        type=LINK_TYPES[relation],
        strength=round(verdict.score, 3),
        created_at=at,
    )


def same_subject(one: Memory, other: Memory) -> bool:
    """Tell whether two memories may be about the same; one without a subject may be about all."""
    return not one.subject or not other.subject or same_text(one.subject, other.subject)


def say_nearly_the_same(one: Memory, other: Memory) -> bool:
    """Tell whether two linked memories are so near that one may do; a link by hand says both hold.

    A link that is made by hand is weaker than those made because texts are near.
    """
    ties = [link for link in one.relationships if link.target == other.id]
    ties += [link for link in other.relationships if link.target == one.id]
    if not ties or not all(is_near(link) for link in ties):
        return False
    first, second = _claim(one.content), _claim(other.content)
    if first.numbers != second.numbers or concern_of(one.scope) != concern_of(other.scope):
        return False
    verdict = compare(first, second)
    return verdict.relation is Relation.NEIGHBOUR and verdict.score >= LINK_AT


def says_otherwise(one: Memory, other: Memory) -> bool:
    """Tell whether two memories on one subject give it two values, or one denies the other."""
    relation = compare(statement_of(one), statement_of(other)).relation
    return relation in (Relation.UPDATE, Relation.CONTRADICTION)


def statement_of(memory: Memory) -> Claim:
    """Return what a memory says of its subject, which stands first where the text leaves it out.

    A title is no such subject: it says more than whom or what something is about. What follows
    as a reason or an aside is left out: two values may have different ones.
    """
    subject, content = memory.subject or "", _ASIDE.split(memory.content, maxsplit=1)[0]
    is_named = set(terms(subject)) <= set(terms(content))
    is_title = len(subject.split()) > _LONGEST_NAME
    return _claim(content if is_named or is_title else f"{subject}: {content}")


@lru_cache(maxsize=1024)
def _claim(content: str) -> Claim:
    return claim_of(content)
