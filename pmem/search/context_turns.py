"""A conversation's recent messages as items of a context, and which of them belong together."""

from collections.abc import Iterator, Sequence

from pmem.conversation.window import ConversationWindow
from pmem.core.context.parts import Exchange, Format, Item
from pmem.core.pruning.segments import units
from pmem.search.context_items import message_item
from pmem.values.records import Message


def recent_items(
    talk: ConversationWindow, said: Sequence[Message], format_: Format, budget: int
) -> tuple[list[Item], list[Exchange]]:
    """Describe the recent messages, and group those that may be shown, the latest group first."""
    exchanges = list(_exchanges(talk))
    items = [message_item(message, place, budget) for place, message in enumerate(said)]
    if format_ == "messages":
        from pmem.search.chat_items import chat_items

        items = chat_items(items, said, _bond_of_each(exchanges, len(said)))
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
