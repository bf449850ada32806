"""Secrets that a sentence gives without a sign: "changed the token from ... to ..."."""

import re
from typing import Final, NamedTuple

from pmem.core.secrets.innocent import is_chosen, is_strong

_GIVEN: Final = re.compile(
    r"""
    s?(?:
      (?:\s(?:for|of|on|in|at|für|des|der)(?:\s[\w'./-]{1,24}+){1,4}?)?
      (?:\s(?:is|was|were|has|have|had|been|got|just|now|again|wurde|wird)){0,3}+
      (?:\s(?:changed|rotated|reset|set|updated|renewed|replaced|moved|switched|swapped))?+
      \s(?:from|to|with|by|into|von|auf|durch)\s{1,2}
      | \s?[:=]\s{1,3}(?:[A-Za-z][\w-]{0,24}+:?\s{1,3}){1,2}
    )
    ["'`*(]{0,3}+(?P<value>[^\s"'`<>]{6,96}+)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TRAILING: Final = ".,;:)]}»”’*"


class Given(NamedTuple):
    """A value that a sentence gives, and where it begins."""

    value: str
    start: int


def given(text: str, end: int, *, is_short: bool) -> Given | None:
    """Return what a sentence gives after a word for secrets, if it looks drawn or made up.

    Args:
        text: Any text.
        end: Where the word ends.
        is_short: Whether the word is one for passwords, which people make up.
    """
    match = _GIVEN.match(text, end)
    if match is None:
        return None
    value = match["value"].rstrip(_TRAILING)
    fits = looks_drawn(value, is_short=is_short)
    return Given(value, match.start("value")) if fits else None


def looks_drawn(value: str, *, is_short: bool) -> bool:
    """Tell whether a value is a secret by its look where a sentence only hints at one.

    Args:
        value: A word of a text.
        is_short: Whether it may be a password that a person made up.
    """
    return bool(value) and (is_strong(value) or (is_short and is_chosen(value)))
