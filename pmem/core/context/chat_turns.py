"""Messages as chat APIs take them: what calls tools, and right behind it what they answered.

An API refuses a list in which a call has no result, a result no call, or anything stands between
the two. So items that have calls or answers come with the other half, and a result stands behind
its call wherever it was said. Calls that were said one right behind the other are one message's.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from pmem.core.context.parts import Item
from pmem.core.visible import visible
from pmem.values.records import dump_line

MARKER: Final = "marker"
"""The role of the line that stands for messages that are left out."""
LONGEST_NAME: Final = 64
"""Characters of a speaker's name that APIs take."""
_NO_NAME = re.compile(r"[\s<|\\/>]+")


def chat_turns(items: Sequence[Item]) -> Iterator[dict[str, Any]]:
    """Yield the messages that items are."""
    answers: dict[str, list[str]] = {}
    for item in items:
        for number, call in enumerate(item.answers):
            answers.setdefault(call, []).append(item.text if number == 0 else "")
    calling: list[Item] = []
    for item in items:
        if calling and not (item.calls and item.speaker == calling[0].speaker):
            yield from _call_turns(calling, answers)
            calling = []
        if item.calls:
            calling.append(item)
        elif not item.answers:
            yield _speech_turn(item)
    if calling:
        yield from _call_turns(calling, answers)


def chat_entry(item: Item) -> str:
    """Write what an item is by itself among others, with what separates it from the next."""
    turns = [_call_turn([item])] if item.calls else [] if item.answers else [_speech_turn(item)]
    texts = (item.text, *("" for _ in item.answers[1:]))
    turns += [_result_turn(call, text) for call, text in zip(item.answers, texts, strict=False)]
    return written_turns(turns)


def chat_frame(item: Item) -> str:
    """Write what an item may cost less among others: the frame that it shares with one of them."""
    if item.calls:
        return written_turns([_call_turn([item]) | {"content": "", "tool_calls": []}])
    return written_turns([_result_turn(call, "") for call in item.answers])


def written_turns(turns: Sequence[dict[str, Any]]) -> str:
    """Write messages as members of a list, each with the comma behind it."""
    return "".join(f"{dump_line(turn).decode()}," for turn in turns)


def _call_turns(items: Sequence[Item], answers: dict[str, list[str]]) -> Iterator[dict[str, Any]]:
    yield _call_turn(items)
    for item in items:
        for call in item.calls:
            yield _result_turn(call.id, "\n".join(filter(None, answers[call.id])))


def _call_turn(items: Sequence[Item]) -> dict[str, Any]:
    """Return the message that makes the calls of items; what has its own answer says nothing."""
    said = "\n".join(item.text for item in items if item.text and not item.answers)
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for item in items
        for call in item.calls
    ]
    named = _name_field(items[0])
    return {"role": "assistant", **named, "content": visible(said), "tool_calls": calls}


def _result_turn(call: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": visible(text)}


def _speech_turn(item: Item) -> dict[str, Any]:
    """Return a message without calls; what a tool says by itself is told by the assistant."""
    if item.role == MARKER:
        return {"role": "system", "content": item.text}
    if item.role == "tool":
        return {"role": "assistant", "content": visible(item.text)}
    return {"role": item.role, **_name_field(item), "content": visible(item.text)}


def _name_field(item: Item) -> dict[str, str]:
    """Return the speaker's name without the characters that APIs refuse in one."""
    name = _NO_NAME.sub("_", visible(item.speaker or "").strip())[:LONGEST_NAME]
    return {"name": name} if name else {}
