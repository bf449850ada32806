"""Messages as items of a chat: tools are called and answer where both halves are shown."""

from collections.abc import Mapping, Sequence

import msgspec

from pmem.core.context.parts import Item
from pmem.core.context.tool_pairs import ToolHalves, pair_tools
from pmem.core.text.commands import call_line
from pmem.core.text.tool_text import RAN, is_result, repeats_calls, result_text
from pmem.values.records import Message, Role


def chat_items(
    items: Sequence[Item], said: Sequence[Message], bonds: Sequence[int | None]
) -> list[Item]:
    """Return items as chat APIs take them: with the calls and answers that have another half."""
    return list(map(_chat_item, items, said, pair_tools(said, bonds)))


def _chat_item(item: Item, message: Message, halves: ToolHalves) -> Item:
    """Return an item of a chat; what has no other half stands as the assistant's words."""
    if halves.calls or halves.answers:
        text = _paired_text(message, halves)
        return msgspec.structs.replace(item, text=text, calls=halves.calls, answers=halves.answers)
    if message.role is Role.SYSTEM or not (message.tool_call or is_result(message)):
        return item
    text = item.text if message.tool_call else f"{_tool_of(message)} answered: {item.text}"
    return msgspec.structs.replace(item, text=text, role=Role.ASSISTANT.value, speaker=None)


def _paired_text(message: Message, halves: ToolHalves) -> str:
    """Return what a message says beside its calls, or the result that it is."""
    if halves.answers:
        return result_text(message)
    said = "" if repeats_calls(message) else message.content
    alone = [RAN + call_line(halves.alone)] if halves.alone else []
    return "\n".join([*filter(None, [said]), *alone])


def _tool_of(message: Message) -> str:
    named = message.tool_result.get("name") if isinstance(message.tool_result, Mapping) else None
    return named if isinstance(named, str) and named else "a tool"
