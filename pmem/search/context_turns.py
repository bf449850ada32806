"""A conversation's recent messages as items of a context, and which of them belong together."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from pmem.conversation.window import ConversationWindow
from pmem.core.context.parts import Exchange, Format, Item
from pmem.core.context.tool_pairs import ToolHalves, pair_tools
from pmem.core.pruning.segments import units
from pmem.core.text.commands import call_line
from pmem.core.text.tool_text import (
    RAN,
    is_result,
    repeats_calls,
    result_text,
    shown_of_tools,
)
from pmem.search.context_items import message_item
from pmem.values.records import Message, Role


def recent_items(
    talk: ConversationWindow, said: Sequence[Message], format_: Format, budget: int
) -> tuple[list[Item], list[Exchange]]:
    """Describe the recent messages, and group those that may be shown, the latest group first.

    Args:
        talk: The conversation.
        said: Its recent messages without secrets.
        format_: How the context is written; only as chat messages tools are called and answer.
        budget: Tokens; the larger, the more of a tool's output is shown.
    """
    exchanges = list(_exchanges(talk))
    most = shown_of_tools(budget)
    items = [message_item(message, place, most) for place, message in enumerate(said)]
    if format_ == "messages":
        halves = pair_tools(said, _bond_of_each(exchanges, len(said)))
        items = list(map(_chat_item, items, said, halves))
    return items, [[[items[n] for n in bond] for bond in exchange] for exchange in exchanges]


def _exchanges(talk: ConversationWindow) -> Iterator[list[list[int]]]:
    """Yield the places of messages that belong together, in bonds, the latest exchange first."""
    live = [place for place, each in enumerate(talk.recent) if each.id not in talk.gone]
    shown = [talk.recent[place] for place in live]
    for unit in sorted(units(shown), key=max, reverse=True):
        bonds = _bonds([shown[number] for number in unit])
        yield [[live[unit[number]] for number in bond] for bond in bonds]


def _bonds(said: Sequence[Message]) -> list[list[int]]:
    """Divide what belongs together into what must never be apart: the question, calls, ..."""
    alone = 0 if said[0].tool_call is not None else 1
    rest = ([alone + number for number in bond] for bond in units(said[alone:]))
    return [*([[0]] * alone), *rest]


def _bond_of_each(exchanges: Sequence[Sequence[Sequence[int]]], many: int) -> list[int | None]:
    """Return for each of so many places in which bond it is."""
    found: list[int | None] = [None] * many
    bonds = (bond for exchange in exchanges for bond in exchange)
    for number, bond in enumerate(bonds):
        for place in bond:
            found[place] = number
    return found


def _chat_item(item: Item, message: Message, halves: ToolHalves) -> Item:
    """Return an item as chat APIs take it: with the calls and answers that have another half.

    What has none stands as the assistant's words.
    """
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
