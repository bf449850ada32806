"""Whether two signals are one: do two texts say the same of somebody's goals, or of their tone."""

import re
from functools import lru_cache

from pmem.core.duplicates import Relation, claim_of, compare
from pmem.core.extraction.facts import key


def says_the_same(one: str, other: str) -> bool:
    """Tell whether two texts say the same, however each begins.

    "The user's goal is to learn Rust" and "The user wants to learn Rust" do.
    """
    first, second = _aim(one), _aim(other)
    if key(first) == key(second):
        return True
    return compare(claim_of(first), claim_of(second)).relation is Relation.DUPLICATE


def _aim(text: str) -> str:
    """Return what somebody aims at, without the words that say that they do."""
    stripped = text.strip().rstrip(".!")
    found = _head().match(stripped)
    return stripped[found.end() :] if found and found.end() < len(stripped) else stripped


@lru_cache(maxsize=1)
def _head() -> re.Pattern[str]:
    """Compiled when first needed: most commands compare no signals."""
    who = r"(?:(?:the |our )?(?:user|team|customer)|i|we|[A-Z][a-z]{1,20})"
    whose = r"(?:(?:(?:the |our )?(?:user|team|customer)|[A-Z][a-z]{1,20})'s|my|our|the)"
    noun = r"(?:current |main |next |long-term )?(?:goal|aim|target|objective|plan|wish)s?"
    verb = (
        r"(?:wants?|would like|'d like|hopes?|plans?|aims?|intends?|wishes|wish"
        r"|(?:is|are|am) (?:trying|planning|aiming|hoping|going))"
    )
    return re.compile(
        rf"(?i:(?:{whose} {noun} (?:is|are)(?: still| now)? (?:to )?|{who} (?:still )?{verb} to ))"
    )
