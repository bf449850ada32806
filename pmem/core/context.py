"""The block that a model reads: what goes in, in which order, and never over the budget."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal

import msgspec

from pmem.records import dump_line

Format = Literal["markdown", "json", "messages"]
Counter = Callable[[str], int]

STABLE_SHARE: Final = 0.5
"""Share of recall's part of the budget that the stable memory block may take."""

TITLES: Final = {
    "memory": "## Memory",
    "recalled": "## Recalled",
    "summaries": "## Earlier in this conversation",
    "recent": "## Recent messages",
}
"""The sections of a context in the order in which they stand, with their headings."""


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a context: what it says and which record it comes from.

    `heading` groups items below a line of its own; `role` is the speaker's, for messages.
    """

    id: str
    text: str
    external_id: str | None = None
    heading: str = ""
    role: str = "user"


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the context and what it cost."""

    name: str
    tokens: int
    items: tuple[Item, ...]


class Omitted(msgspec.Struct, frozen=True):
    """A candidate that did not make it, and why."""

    id: str
    reason: str


class Allocation(msgspec.Struct, frozen=True):
    """How a budget was spent, by section."""

    total_tokens: int
    by_section: dict[str, int]


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """A finished context."""

    text: str
    tokens: int
    budget: int
    sections: tuple[Section, ...]
    omitted: tuple[Omitted, ...]
    revision: int | None = None

    @property
    def allocation(self) -> Allocation:
        """What each section cost, and all of them together."""
        return Allocation(self.tokens, {part.name: part.tokens for part in self.sections})


class Candidates(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that could enter a context, each list in the order of its priority.

    `recent` alone is in the order in which it was said; its end has the priority.
    `left_out` are candidates that were ruled out before the budget was looked at.
    """

    memory: Sequence[Item] = ()
    recalled: Sequence[Item] = ()
    summaries: Sequence[Item] = ()
    recent: Sequence[Item] = ()
    left_out: Sequence[Omitted] = ()


def build(
    title: str,
    candidates: Candidates,
    budget: int,
    *,
    recent_share: float,
    format_: Format,
    count: Counter,
) -> Context:
    """Fill a budget and write the context.

    The stable block takes at most half of recall's share, recent messages at most theirs;
    what they leave goes to what was recalled, and what that leaves to summaries.

    Args:
        title: The first line.
        candidates: What could go in.
        budget: Tokens for the whole text, as `count` counts them.
        recent_share: The recent messages' share of the budget, from 0 to 1.
        format_: How the context is written.
        count: Counts a text's tokens.

    Returns:
        A context whose text is never over the budget; empty when nothing fits.
    """
    writer = _WRITERS[format_]
    room = max(0, budget - count(writer(title, [], _LONGEST_RECEIPT)))
    price = _Price(format_, count)
    chosen = _choose(candidates, budget, room, recent_share, price)
    text = _text(writer, title, chosen, candidates)
    while count(text) > budget and any(chosen.values()):
        _drop_last(chosen)
        text = _text(writer, title, chosen, candidates)
    if count(text) > budget:
        text = ""
    return Context(
        text=text,
        tokens=count(text),
        budget=budget,
        sections=_sections(chosen, price),
        omitted=_omitted(candidates, chosen),
    )


Chosen = dict[str, list[Item]]
Writer = Callable[[str, Sequence[tuple[str, Sequence[Item]]], str], str]


_LONGEST_RECEIPT: Final = "(pmem: 99999999 shown, 99999999 left out)"
_SECTION: Final = "\n## Earlier in this conversation\n\n"


class _Price:
    """What the parts of a context cost: never less than they add to its text.

    Args:
        format_: How the context is written.
        count: Counts a text's tokens.
    """

    def __init__(self, format_: Format, count: Counter) -> None:
        self._format = format_
        self._count = count

    @property
    def section(self) -> int:
        """A section without its items."""
        return self._text(_SECTION)

    def heading(self, heading: str) -> int:
        """A heading within a section."""
        return self._text(f"\n### {heading}\n\n") if heading else 0

    def item(self, name: str, item: Item) -> int:
        """An item of the section `name`."""
        if self._format == "json":
            return self._count(f"{dump_line(_bare(item)).decode()},")
        if self._format == "messages" and name == "recent":
            return self._count(f"{dump_line(_turn(item)).decode()},")
        return self._text(f"- {item.text}\n")

    def items(self, name: str, items: Sequence[Item]) -> int:
        """A whole section."""
        headings = {item.heading for item in items}
        cost = sum(self.item(name, item) for item in items)
        return cost + sum(map(self.heading, headings)) + (self.section if items else 0)

    def _text(self, text: str) -> int:
        return self._count(text if self._format == "markdown" else dump_line(text).decode())


def _choose(
    candidates: Candidates, budget: int, room: int, recent_share: float, price: _Price
) -> Chosen:
    """Share the room out. The stable block's part depends on nothing but the budget."""
    chosen: Chosen = {}

    def fill(name: str, items: Iterable[Item], most: int, *, in_a_row: bool = False) -> None:
        nonlocal room
        chosen[name] = _fill(name, items, min(most, room), price, in_a_row=in_a_row)
        room -= price.items(name, chosen[name])

    fill("memory", candidates.memory, int(budget * (1 - recent_share) * STABLE_SHARE))
    fill("recent", candidates.recent[::-1], int(room * recent_share), in_a_row=True)
    taken = {item.id for items in chosen.values() for item in items}
    fill("recalled", [item for item in candidates.recalled if item.id not in taken], room)
    fill("summaries", candidates.summaries, room)
    chosen["recent"].reverse()
    chosen["memory"].sort(key=lambda item: (item.heading, item.id))
    return chosen


def _fill(
    name: str, items: Iterable[Item], room: int, price: _Price, *, in_a_row: bool = False
) -> list[Item]:
    """Take what fits, in order; `in_a_row` stops at the first that does not."""
    taken: list[Item] = []
    left = room - price.section
    headings: set[str] = set()
    for item in items:
        cost = price.item(name, item)
        if item.heading not in headings:
            cost += price.heading(item.heading)
        if cost <= left:
            taken.append(item)
            headings.add(item.heading)
            left -= cost
        elif in_a_row:
            break
    return taken


def _drop_last(chosen: Chosen) -> None:
    for name in ("summaries", "recalled", "memory"):
        if chosen[name]:
            chosen[name].pop()
            return
    chosen["recent"].pop(0)


def _text(writer: Writer, title: str, chosen: Chosen, candidates: Candidates) -> str:
    parts = [(name, chosen[name]) for name in TITLES if chosen[name]]
    return writer(title, parts, _receipt(candidates, chosen))


def _receipt(candidates: Candidates, chosen: Chosen) -> str:
    shown = sum(len(items) for items in chosen.values())
    return f"(pmem: {shown} shown, {len(_omitted(candidates, chosen))} left out)"


def _omitted(candidates: Candidates, chosen: Chosen) -> tuple[Omitted, ...]:
    """Name everything that is not shown, each once, with the first reason that it had."""
    taken = {item.id for items in chosen.values() for item in items}
    omitted = {item.id: item for item in candidates.left_out if item.id not in taken}
    for items in (candidates.recalled, candidates.memory, candidates.summaries, candidates.recent):
        for item in items:
            if item.id not in taken:
                omitted.setdefault(item.id, Omitted(item.id, "over_budget"))
    return tuple(omitted.values())


def _sections(chosen: Chosen, price: _Price) -> tuple[Section, ...]:
    return tuple(
        Section(name=name, tokens=price.items(name, chosen[name]), items=tuple(chosen[name]))
        for name in TITLES
        if chosen[name]
    )


def _markdown(title: str, parts: Sequence[tuple[str, Sequence[Item]]], receipt: str) -> str:
    lines = [f"# {title}", ""]
    for name, items in parts:
        lines += [TITLES[name], ""]
        heading = ""
        for item in items:
            if item.heading != heading:
                heading = item.heading
                lines += ["", f"### {heading}", ""] if lines[-1] else [f"### {heading}", ""]
            lines.append(f"- {item.text}")
        lines.append("")
    return "\n".join([*lines, receipt]) + "\n"


def _json(title: str, parts: Sequence[tuple[str, Sequence[Item]]], receipt: str) -> str:
    sections = [{"name": name, "items": [_bare(item) for item in items]} for name, items in parts]
    return dump_line({"title": title, "sections": sections, "receipt": receipt}).decode()


def _bare(item: Item) -> dict[str, Any]:
    return {"id": item.id, "text": item.text}


def _messages(title: str, parts: Sequence[tuple[str, Sequence[Item]]], receipt: str) -> str:
    background = [(name, items) for name, items in parts if name != "recent"]
    said = next((items for name, items in parts if name == "recent"), ())
    system = {"role": "system", "content": _markdown(title, background, receipt)}
    turns = [_turn(item) for item in said]
    return dump_line([system, *turns]).decode()


def _turn(item: Item) -> dict[str, Any]:
    return {"role": item.role, "content": item.text}


_WRITERS: Final[dict[Format, Writer]] = {
    "markdown": _markdown,
    "json": _json,
    "messages": _messages,
}
