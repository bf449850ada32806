"""Words that are written apart or together: "work out" and "workout", "log in" and "login"."""

import re
from itertools import pairwise
from typing import Final

from pmem.core.text.terms import terms

_TOGETHER: Final = frozenset(
    """
    backup bookshelf bookstore boardgame breakup changelog checkin checkout cheesecake classmate
    cleanup codebase cupcake database dataset everyday fallback feedback filename fundraiser
    getaway haircut hairstyle handmade handoff healthcare homemade hometown icecream kickoff layout
    lifestyle login logoff logon logout lookup makeup meetup namespace payback pickup playlist
    popup roadtrip rollback roommate runtime setup shutdown signin signup songwriting soundtrack
    standup startup takeout teammate timeout timestamp toolchain tradeoff turnaround videogame
    website workaround workflow workout
    """.split()
)
_WORD: Final = re.compile(r"[A-Za-z]+")


def joined_words(text: str) -> list[str]:
    """Return the terms of words that `text` writes apart and others write together."""
    pairs = pairwise(_WORD.findall(text.lower()))
    return [term for first, second in pairs if first + second in _TOGETHER
            for term in terms(first + second)]  # fmt: skip
