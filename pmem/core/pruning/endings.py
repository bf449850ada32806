"""Where tasks end and begin: what states that one is complete, what turns to something new.

All read sentences as `kinds.plain_lines` writes them: in plain words, clauses parted by `|`.
"""

import re
from collections.abc import Sequence
from typing import Final, Literal

OPENING: Final = 400
"""How far into a message a new task may be announced, in characters."""

Opening = Literal["", "weak", "strong"]
"""How clearly a message turns to something new; a weak sign counts after a finished task."""

_DONE: Final = (
    r"(?:done|finished|completed|fixed|merged|shipped|deployed|solved|resolved|implemented)(?!-)"
)
_COMPLETE: Final = (
    rf"^(?:\w+ )?{_DONE}(?: (?:and|it|the|to)\b|$)|\b(?:is|are|am|been|all) (?:\w+ )?{_DONE}\b"
    r"|(?:^\w+|\b(?:is|are)) complete$"
    r"|\b(?:all|tests?|ci|suite|build)\b.* (?:pass(?:e[sd]|ing)?|green)\b"
    r"|\bthat (?:is (?:all|everything)\b|settles it\b|did the trick\b)"
    r"|\beverything (?:works|passes)\b|\bworks now\b"
)
_OPEN: Final = (
    r"\b(?:not|never|almost|nearly|half|partly|will|would|should|could|must|might|may|cannot"
    r"|make|step|part|tab|except|let|how|done by|merged with)\b"
)
_LATER: Final = r"\b(?:if|unless|once|until|when|after|before|while)\b"
_OBJECTION: Final = r"\b(?:but|however|still|remain)\b"

_START: Final = r"^(?:[\w ]{1,20} \| )?"
"""A sentence may begin with a short clause: "ok,", "Great, thanks,"."""
_ONWARD: Final = r"(?! (?:see|check|try|run|\w+ (?:at )?(?:it|that|this|them))\b)"
_OTHER: Final = r"(?:new|next|different) (?:topic|task|subject|question)\b"
_STRONG: Final = (
    rf"(?:now (?:\| )?(?:let us\b{_ONWARD}|on to\b)|next(?: \|| up\b)|{_OTHER}|moving on\b"
    r"|on a different\b|(?:completely )?unrelated\b|switching gears\b|changing the subject\b"
    r"|let us (?:move on|switch|change the|put \w+ aside)\b)"
)
_ANNOUNCED: Final = r"\bhere is a new task\b|\bsomething unrelated\b"
_WEAK: Final = (
    rf"(?:(?:now )?let us\b{_ONWARD}|now\b(?! let us\b)|next(?! (?:time|week|to)\b)|then|another"
    r"|(?:can|could) you (?:now|help)|(?:i|we) (?:would like|want|need) (?:to|you|an?|some)"
    r"|time to|implement|write|create|add|build|set up|refactor|design|help me)\b(?!\.)"
)
ONGOING: Final = r"\b(?:it|that|this|also|again|same|too|still|those|them|there|its|undo|revert)\b"
"""Speaks of what was there before."""


def completes(lines: Sequence[str]) -> bool:
    """Tell whether a text states that a task is complete, and does not take it back."""
    stated = False
    for line in lines:
        if line.endswith("?"):
            continue
        for clause in map(str.strip, line.split("|")):
            if stated and re.search(_OBJECTION, clause):
                return False
            if re.search(_LATER, clause):
                break
            stated = stated or (
                re.search(_COMPLETE, clause) is not None and not re.search(_OPEN, clause)
            )
    return stated


def opening_of(lines: Sequence[str]) -> Opening:
    """Tell how clearly the beginning of a text turns to something new."""
    weak: Opening = ""
    passed = 0
    for line in lines:
        if passed > OPENING:
            break
        passed += len(line)
        if re.match(_START + _STRONG, line) or re.search(_ANNOUNCED, line):
            return "strong"
        if re.match(_START + _WEAK, line) and not re.search(ONGOING, line):
            weak = "weak"
    return weak
