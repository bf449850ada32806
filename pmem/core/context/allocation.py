"""Which candidates fill a budget.

Sections have their shares; what one leaves flows on to the next. Within a section candidates
are taken in the order of their priority, and one that is too big is passed over.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from pmem.core.context.filling import PATIENCE, PINNED, Filling, said
from pmem.core.context.parts import Candidates, Context, Counter, Exchange, Format, Item, Section
from pmem.core.context.writing import LEAST_KEPT, cut, longest_text
from pmem.values.bounds import CONTEXT_CHARACTERS
from pmem.values.ids import short

SMALL_EXCHANGE: Final = 3
"""An exchange of so many bonds is shown whole or not at all, or shortened if it is the latest."""
HUGE: Final = 500
"""A bond of more tokens may be left out of an exchange that does not fit as a whole."""


class ConversationFilling(Filling):
    """A filling that knows which messages belong together, and what may be shortened."""

    def add_system(self) -> None:
        """Take the system prompt; of one that does not fit, as much as half the budget holds.

        Room is left for any receipt, so what else there is changes neither it nor what follows.
        """
        items = list(self._candidates.system)
        certain = self.left_for_certain()
        if items and not self._take("system", items, self._end(certain)):
            self._take_cut("system", items, self._end(min(certain, self._budget // 2)))

    def recall(self, found: Iterable[tuple[str, Item]], most: int | None = None) -> None:
        """Take what answers the query, the best first; a recent message with its exchange."""
        end = self._end(most)
        passed = 0
        for name, item in found:
            if item.id in self._taken or not (item.via is None or item.via in self._taken):
                continue
            if said(item) in self._told and item.id not in self._exchange_of:
                self._repeated.add(item.id)
                continue
            if item.id in self._exchange_of:
                taken = self._take_around(item)
            else:
                taken = self._take(name, [self._candidates.mark(item)], end)
            passed = 0 if taken else passed + 1
            if passed == PATIENCE:
                return

    def converse(self, most: int | None = None) -> None:
        """Take recent exchanges, the latest first, up to one that does not fit.

        Of an exchange that is too big as a whole huge bonds are left out, and of a long one
        its first bond and its last ones are taken. Exchanges too big even for that are passed
        over until one is shown.
        """
        end = self._end(most)
        passed = 0
        started = False
        for place, exchange in enumerate(self._candidates.exchanges):
            left = self._left(exchange)
            if not left or self._take("recent", list(chain(*left)), end):
                started = True
                continue
            passed += 1
            started = started or len(left) < len(exchange)
            if self._take_part(exchange, left, end):
                return
            small = len(left) == len(exchange) <= SMALL_EXCHANGE
            if place == 0 and small and self._take_latest(left, end):
                started = True
                continue
            if started or passed == PATIENCE:
                return

    def _left(self, exchange: Exchange) -> list[Sequence[Item]]:
        """Return the bonds of an exchange that are not shown yet."""
        return [bond for bond in exchange if bond[0].id not in self._taken]

    def _take_around(self, item: Item) -> bool:
        """Take a recent message with its exchange; of a long one, with the first bond."""
        exchange = self._exchange_of[item.id]
        left = self._left(exchange)
        if self._take("recent", list(chain(*left)), self._budget):
            return True
        around = [
            bond for bond in left if bond is exchange[0] or any(one.id == item.id for one in bond)
        ]
        is_long = len(exchange) > SMALL_EXCHANGE
        return is_long and self._take("recent", list(chain(*around)), self._budget)

    def _take_latest(self, left: Sequence[Sequence[Item]], end: int) -> bool:
        """Take the latest exchange though it is too big: shortened, or whole if nobody asked.

        Shortened it takes half of the room at the most, so that it does not hide those before it.
        """
        lean = [bond for bond in left if self._price.items("recent", bond) <= HUGE]
        items = list(chain(*(lean or left)))
        if not self._candidates.asked and self._take("recent", items, self._budget):
            return True
        return self._take_cut("recent", items, (self._spent() + end) // 2)

    def _take_cut(self, name: str, items: list[Item], end: int) -> bool:
        """Take the beginnings of texts, as much as fits."""

        def is_too_long(kept: int) -> bool:
            shorter = cut(items, kept)
            return not self._fits(name, shorter, self._added(name, shorter), end)

        lengths = range(LEAST_KEPT, min(longest_text(items), CONTEXT_CHARACTERS))
        place = bisect_left(lengths, True, key=is_too_long)
        if not place or not self._take(name, cut(items, lengths[place - 1]), end):
            return False
        self.cut.add(name)
        return True

    def _take_part(self, exchange: Exchange, left: Sequence[Sequence[Item]], end: int) -> bool:
        """Take an exchange without its huge bonds, or else its first bond and its last ones."""
        lean = [bond for bond in left if self._price.items("recent", bond) <= HUGE]
        if lean and len(lean) < len(left) and self._take("recent", list(chain(*lean)), end):
            return True
        return len(exchange) > SMALL_EXCHANGE and self._take_ends(exchange, lean, end)

    def _take_ends(self, exchange: Exchange, left: Sequence[Sequence[Item]], end: int) -> bool:
        """Take as many of the last bonds as fit, with the first one unless it is shown."""
        first = 1 if left and left[0] is exchange[0] else 0

        def ending(start: int) -> list[Item]:
            return list(chain(*left[:first], *left[start:]))

        def fits(start: int) -> bool:
            items = ending(start)
            return self._fits("recent", items, self._added("recent", items), end)

        starts = range(first + 1, len(left))
        place = bisect_left(starts, True, key=fits)
        return place < len(starts) and self._take("recent", ending(starts[place]), end)


STABLE_SHARE: Final = 0.5
"""Share of recall's part of the budget that the stable memory block may take."""
SUMMARY_SHARE: Final = 0.25
"""Share of recall's part that is the summaries' before anything recalled takes it."""


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

    The system prompt comes first. The stable block takes at most half of recall's share, the
    owner's own memory at most its own, recent messages at most theirs; pinned messages come next,
    and summaries with a quarter of recall's if there are so many. What answers the query takes what
    is left, and what that leaves goes to older recent messages, to older summaries, and to further
    memories. Where nobody asked, recent messages and summaries come before what was recalled.

    Returns:
        A context whose text is never over the budget; empty when nothing fits.
    """
    filling = ConversationFilling(title, candidates, budget, format_, count)
    room = filling.left()
    recall_share = 1 - recent_share
    filling.add_system()
    share = candidates.memory_share
    share = recall_share * STABLE_SHARE if share is None else share
    certain = 0 if "system" in filling.cut else filling.left_for_certain()  # cut, it takes all
    most = min(int(budget * share), certain)
    memory = Candidates(memory=candidates.memory, mark=candidates.mark)
    alone = Filling(title, memory, budget, format_, count)
    filling.add("memory", alone.block("memory", candidates.memory, most))
    filling.add_yours(int(budget * candidates.yours_share))
    filling.add("updates", candidates.updates)
    filling.converse(int(room * recent_share))
    filling.recall(candidates.pinned)
    filling.add("summaries", candidates.summaries, int(room * recall_share * SUMMARY_SHARE))
    if candidates.asked:
        filling.recall(candidates.recalled, int(room * candidates.recalled_share))
        filling.recall(candidates.said, int(room * candidates.said_share))
    filling.converse()
    filling.add("summaries", (*candidates.summaries, *candidates.older))
    if not candidates.asked:
        filling.recall(candidates.recalled)
        filling.recall(candidates.said)
    filling.add("further", candidates.further)
    return _finished(filling, candidates, budget, count)


def _finished(filling: Filling, candidates: Candidates, budget: int, count: Counter) -> Context:
    """Write the context; where a counter finds more in the whole than in its parts, cut it."""
    text = filling.text()
    tokens = count(text)
    several = 1
    while tokens > budget and filling.drop(several):
        text = filling.text()
        tokens = count(text)
        several *= 2
    if tokens > budget:
        text, tokens = "", 0
    sections = filling.bill()
    return Context(
        text=text,
        tokens=tokens,
        budget=budget,
        sections=sections,
        omitted=tuple(filling.omitted()),
        revision=None,
        notes=tuple(_notes(candidates, sections, filling.cut)),
    )


def _notes(
    candidates: Candidates, sections: Sequence[Section], cut: Collection[str]
) -> Iterator[str]:
    """Yield what could not be shown, or not whole, though it has a right to be."""
    shown = {part.name: {item.id for item in part.items} for part in sections}
    for name, what, offered in (
        ("system", "the system prompt", candidates.system),
        ("recent", "the last exchange", candidates.exchanges),
    ):
        if offered and name not in shown:
            yield f"{what} does not fit the budget"
        elif name in cut:
            yield f"{what} is shortened: it does not fit the budget"
    known = set().union(*shown.values())
    for item in candidates.memory:
        if item.why == PINNED and item.id not in known:
            yield f"a pinned memory does not fit the budget: {short(item.id)}"
    for name, item in candidates.pinned:
        if name != "recalled" and item.id not in known:
            yield f"a pinned message does not fit the budget: {short(item.id)}"
