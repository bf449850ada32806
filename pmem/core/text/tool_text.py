"""What a tool's message says to somebody who reads a conversation: what ran, and how it ended."""

import re
from typing import Final

from pmem.core.lines import shortened
from pmem.core.text.calls import recorded_calls
from pmem.core.text.commands import LONGEST_ERROR, call_line, first_line, tool_outcome
from pmem.values.records import Message, Role

LEAST_SHOWN: Final = 400
"""So many characters of a tool's output are shown, whatever the budget."""
SHOWN_SHARE: Final = 0.1
"""Of a large budget, so many characters for each of its tokens."""
RAN: Final = "ran: "
_WORD = re.compile(r"[^\W_]+")


def shown_of_tools(budget: int) -> int:
    """Return how many characters of a tool's output a context of some tokens shows."""
    return max(LEAST_SHOWN, int(budget * SHOWN_SHARE))


def tool_text(message: Message, most: int | None = None) -> str:
    """Return a message as it reads in a transcript: what its tools were asked, how that ended.

    `most` are the characters of a tool's output that are shown whole; None shortens nothing.
    """
    asks, answers = bool(message.tool_call), is_result(message)
    if asks and answers:
        return f"{ran_line(message)}\n{result_text(message, most)}"
    if asks:
        return call_text(message, most)
    return result_text(message, most) if answers else message.content


def is_result(message: Message) -> bool:
    """Tell whether a message is what a tool answered."""
    return bool(message.tool_result) or message.role is Role.TOOL


def call_text(message: Message, most: int | None = None) -> str:
    """Return what a message says, and in one line what it runs."""
    said, ran = message.content, ran_line(message)
    if repeats_calls(message):
        return said if most is None and said else ran
    if not _writes_out(message):
        return f"{said}\n{ran}"
    return said if most is None or len(said) <= most else f"{ran} {_size(said)}"


def result_text(message: Message, most: int | None = None) -> str:
    """Return a tool's result; of a longer one its errors, changed files, or how it begins."""
    said, outcome = message.content, tool_outcome(message)
    status = "failed" if outcome.failed else ""
    if outcome.exit_code is not None:
        status = f"exit code {outcome.exit_code}"
    if most is None or len(said) <= most:
        return said if status in said.casefold() else f"{status}: {said}"
    changed = f"changed {', '.join(outcome.files)}" if outcome.files else ""
    begins = shortened(first_line(said), LONGEST_ERROR)
    ended = "; ".join(outcome.errors) or changed or begins
    return f"{status}: {ended} {_size(said)}" if status else f"{ended} {_size(said)}"


def ran_line(message: Message) -> str:
    """Return in one line what a message runs."""
    return RAN + call_line(recorded_calls(message.tool_call))


def repeats_calls(message: Message) -> bool:
    """Tell whether every word that a message says stands in its calls as well."""
    calls = recorded_calls(message.tool_call)
    known = {word for call in calls for text in call.texts() for word in _words(text)}
    return known.issuperset(_words(message.content))


def _writes_out(message: Message) -> bool:
    """Tell whether a text is a call written out: the tool's name, a colon, what it is given."""
    head, colon, _ = message.content.partition(":")
    named = _words(head)
    return bool(colon) and any(
        named == _words(call.name) for call in recorded_calls(message.tool_call)
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _size(text: str) -> str:
    return f"[{len(text):,} characters]"
