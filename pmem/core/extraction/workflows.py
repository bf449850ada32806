"""How something is done, as people write it down: an occasion, a colon, and numbered steps."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from pmem.core.text.sentences import LONGEST, MOST

_FEWEST_STEPS: Final = 2
_NO_OCCASION: Final = (
    r"(?:me|you|us|all|everyone|the|do|be|answer|clarify|conclude|recap|sum|summari[sz]e)\b"
    r"|(?-i:[A-Z][a-z])"
)
"""What follows "to" where a list is for somebody, or is the talk's own."""


class Workflow(NamedTuple):
    """Numbered steps with what they are for, as they were written, and the prose around them."""

    steps: str
    rest: str


def split_workflow(text: str) -> Workflow | None:
    """Return the numbered steps that a message tells, apart from what else it says; None for none.

    "To roll back:" or "Steps for a release:" stands before them, each says what to do and is whole,
    and there are two or more. What "we need to" do is a task and comes once.
    """
    if "1. " not in text and "1) " not in text:
        return None
    from pmem.core.style_rules import lints_of_steps
    from pmem.core.text.blocks import read_prose

    prose = read_prose(text[:MOST])
    found = _workflow().search(prose)
    if found is None:
        return None
    steps = found[0].strip().rstrip(".")
    many = len(_number().findall(steps))
    is_whole = _plain(found[0]) in _plain(text) and not steps.endswith(":")  # else code stood there
    if many < _FEWEST_STEPS or len(steps) > LONGEST or not is_whole or lints_of_steps(steps):
        return None
    return Workflow(steps, f"{prose[: found.start()]}\n{prose[found.end() :]}")


def _plain(text: str) -> str:
    return " ".join(text.split())


@lru_cache(maxsize=1)
def _workflow() -> re.Pattern[str]:
    occasion = (
        rf"(?:(?:in order )?to (?!{_NO_OCCASION})|how (?:to|we)\b|when(?:ever)? (?:you|we)\b"
        r"|every time\b|(?:the |our )?(?:steps|procedure|runbook|checklist) (?:to|for)\b)"
    )
    return re.compile(
        rf"^[ \t]*{occasion}(?![^\n:]{{0,120}}\b(?:we (?:need|have|must|should|will)|let's|i)\b)"
        r"[^\n:]{2,120}:(?:[ \t]|[ \t]*\n{1,2}[ \t]*)1[.)] [^\n]+"
        r"(?:\n{1,2}[ \t]*\d{1,2}[.)] [^\n]+){0,20}",
        re.IGNORECASE | re.MULTILINE,
    )


@lru_cache(maxsize=1)
def _number() -> re.Pattern[str]:
    return re.compile(r"(?:^|(?<=\s))\d{1,2}[.)] ")
