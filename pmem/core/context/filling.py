"""A context that is being filled: what an item costs, and whether there is room for it.

The cost of the text with one more item is between two sums of prices. Only when the limit is
between them too is the text written and counted.
"""

from collections import Counter as Tally
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from itertools import chain
from typing import Final, NamedTuple

import msgspec

from pmem.core.context.parts import (
    TITLES,
    UPDATE_MARK,
    Candidates,
    Counter,
    Exchange,
    Format,
    Item,
    Omitted,
    Section,
    shown,
)
from pmem.core.context.worth import SEAM, Price
from pmem.core.context.writing import longest_run, markers_added, parts_of, write

PATIENCE: Final = 30
"""After so many candidates in a row that do not fit, no further one is looked at."""
OVER_BUDGET: Final = "over_budget"
PINNED: Final = "pinned"
"""Why an item that somebody pinned is shown."""
UNANSWERED: Final = "no good match"
"""What the receipt says where nothing answers the task, or only by a chance word."""

_DROPPED: Final = (
    *("further", "summaries", "earlier", "yours", "recalled", "updates", "recent", "memory"),
    "system",
)
"""The sections in the order in which they give way."""
_ORDERED: Final = ("memory", "summaries", "earlier")
"""The sections whose items stand in an order of their own, not in that of their priority."""
_MOST: Final = 999_999
_ANY_RECEIPT: Final = {"pruned": _MOST, "not_valid_yet": _MOST}
_PLAIN: Final = frozenset(
    (OVER_BUDGET, "no_match", "unasked", "below_threshold", "repeated", "expired")
)
"""Reasons that go without saying in the receipt; `--explain` names them."""


class _Cost(NamedTuple):
    """What something costs, as far as it is known."""

    least: int
    most: int


class Filling:
    """A context as it fills up. What is taken together, as a batch, leaves together.

    Every decision depends on what was taken before it and on the budget alone. So the first
    decision that a larger budget changes takes something more, and nothing is ever lost but
    to make room for what has priority over it.

    Attributes:
        cut: The sections that have a text of which only the beginning is shown.
    """

    def __init__(
        self, title: str, candidates: Candidates, budget: int, format_: Format, count: Counter
    ) -> None:
        self._title = title
        self._candidates = candidates
        self._budget = budget
        self._format: Format = format_
        self._count = count
        self._price = Price(format_, count, candidates.recent)
        self._batches: dict[str, list[list[Item]]] = {name: [] for name in TITLES}
        self._headings: dict[str, set[str]] = {name: set() for name in TITLES}
        self._runs = dict.fromkeys(TITLES, 0)
        self._taken: set[str] = set()
        self._places = {item.id: place for place, item in enumerate(candidates.recent)}
        self._shown: set[int] = set()
        self._told: set[str] = set()
        self._repeated: set[str] = set()
        self.cut: set[str] = set()
        self._exchange_of: dict[str, Exchange] = {
            item.id: exchange
            for exchange in candidates.exchanges
            for bond in exchange
            for item in bond
        }
        self._cost = _Cost(0, budget + 1)
        self._receipt_of = partial(_receipt, answered=candidates.answered)

    def left(self) -> int:
        """Return how many tokens are free behind the longest receipt that may come."""
        return self._budget - self._spent()

    def left_for_certain(self) -> int:
        """Return how many would be free behind the longest receipt of any candidates."""
        text = self._written(self._sections(), self._receipt_of(_MOST, _ANY_RECEIPT))
        return self._budget - self._count(text) - SEAM

    def add(self, name: str, items: Iterable[Item], most: int | None = None) -> None:
        """Take the items that fit the budget and a section's own limit, in their order."""
        self._add(((name, item) for item in items), self._end(most))

    def add_yours(self, most: int) -> None:
        """Take what is the owner's own, within a limit: what stands first, then what answers.

        What stands leaves half to what answers, and what that leaves goes back to it.
        """
        standing, answering = self._candidates.yours, self._candidates.yours_answering
        end = self._end(most)
        self._add(self._unsaid(standing), self._end(most // 2 if answering else most))
        self._add(self._unsaid(answering), end)
        self._add(self._unsaid(standing), end)

    def _unsaid(self, items: Iterable[Item]) -> Iterator[tuple[str, Item]]:
        """Yield what is the owner's own and not said by the project's memory already."""
        for item in items:
            if item.id not in self._taken and said(item) in self._told:
                self._repeated.add(item.id)
            else:
                yield "yours", item

    def block(self, name: str, items: Iterable[Item], most: int) -> list[Item]:
        """Return the items of a section that fit its limit, whatever the budget."""
        self._add(((name, item) for item in items), self._spent() + most)
        return list(chain(*self._batches[name]))

    def drop(self, several: int) -> bool:
        """Take out the batches of the lowest priority; False when there are none."""
        found = [name for name in _DROPPED for _ in self._batches[name]][:several]
        for name in found:
            gone = self._batches[name].pop()
            self._taken.difference_update(item.id for item in gone)
        return bool(found)

    def text(self) -> str:
        """Write what was taken so far."""
        reasons = Tally(item.reason for item in self.omitted())
        reasons.update(self._candidates.unnamed)
        many = len({identifier.partition(UPDATE_MARK)[0] for identifier in self._taken})
        receipt = self._receipt_of(many, +reasons)
        return self._written(self._sections(), receipt)

    def bill(self) -> tuple[Section, ...]:
        """Return the sections and what each costs by itself."""
        sections = self._sections()
        return tuple(
            Section(name, self._price.section(name, part), tuple(map(shown, sections[name])))
            for name, part in parts_of(sections, self._candidates.recent)
        )

    def omitted(self) -> Iterator[Omitted]:
        """Yield what is not shown, each once, with the first reason that it had."""
        named = set(self._taken)
        for item in _refused(self._candidates):
            if item.id not in named:
                named.add(item.id)
                again = item.id in self._repeated
                yield msgspec.structs.replace(item, reason="repeated") if again else item

    def _end(self, most: int | None) -> int:
        return self._budget if most is None else min(self._budget, self._spent() + most)

    def _add(self, pairs: Iterable[tuple[str, Item]], end: int) -> None:
        passed = 0
        for name, item in pairs:
            if item.id in self._taken or not (item.via is None or item.via in self._taken):
                continue
            marked = self._candidates.mark(item)
            passed = 0 if self._take(name, [marked], end) else passed + 1
            if passed == PATIENCE:
                return

    def _take(self, name: str, items: list[Item], end: int) -> bool:
        """Take items together if they fit."""
        more = self._added(name, items)
        if not self._fits(name, items, more, end):
            return False
        self._cost = _Cost(self._cost.least + more.least, self._cost.most + more.most)
        self._batches[name].append(items)
        self._headings[name].update(item.heading for item in items)
        self._runs[name] = max(self._runs[name], longest_run(items))
        self._taken.update(item.id for item in items)
        self._told.update(map(said, items))
        if name == "recent":
            self._shown.update(self._places[item.id] for item in items)
        return True

    def _fits(self, name: str, items: list[Item], more: _Cost, end: int) -> bool:
        """Tell whether a text with these items too, which add `more`, would keep to a limit."""
        if self._cost.least + more.least <= end < self._cost.most + more.most:
            self._spent()
        if self._cost.most + more.most <= end:
            return True
        return self._cost.least + more.least <= end and self._tried(name, items) <= end

    def _added(self, name: str, items: list[Item]) -> _Cost:
        """Return what items add to the count of the text."""
        price = self._price
        new = {item.heading for item in items} - self._headings[name] - {""}
        least = most = price.items(name, items) + price.headings(new)
        seams = len(items) + len(new)
        is_first = not self._batches[name]
        run = longest_run(items)
        if is_first or run > self._runs[name]:
            frame = price.frame(name, run)
            most += frame
            least += frame if is_first else 0
            seams += 1
        if name == "recent":
            places = [self._places[item.id] for item in items]
            markers = markers_added(len(self._places), self._shown, places)
            markers += not self._shown
            most += max(0, markers) * price.marker
            least += markers * price.least_marker if is_first else -len(items) * price.marker
            seams += abs(markers)
        return _Cost(least - seams * SEAM - price.shared(name, items), most)

    def _spent(self) -> int:
        """Count what was taken, behind the longest receipt that may come of it."""
        if self._cost.least < self._cost.most:
            spent = self._tried("system", [])
            self._cost = _Cost(spent, spent)
        return self._cost.most

    def _tried(self, name: str, items: list[Item]) -> int:
        """Count a text with further items."""
        sections = self._sections()
        sections[name] = self._sorted(name, [*sections[name], *items])
        return self._count(self._written(sections, self._longest_receipt))

    @cached_property
    def _longest_receipt(self) -> str:
        unnamed = +Tally(self._candidates.unnamed)
        refused = list(_refused(self._candidates))
        many = len({item.id for item in refused}) + unnamed.total()
        reasons = {item.reason for item in refused} | unnamed.keys() | {OVER_BUDGET}
        return self._receipt_of(many, dict.fromkeys(reasons, many))

    def _sections(self) -> dict[str, list[Item]]:
        return {name: self._sorted(name, chain(*self._batches[name])) for name in TITLES}

    def _sorted(self, name: str, items: Iterable[Item]) -> list[Item]:
        """Return a section's items in the order in which they are shown."""
        if name == "recent":
            return sorted(items, key=lambda item: self._places[item.id])
        if name in _ORDERED:
            return sorted(items, key=lambda item: (item.heading, item.order))
        return sorted(items, key=lambda item: item.heading)

    def _written(self, sections: dict[str, list[Item]], receipt: str) -> str:
        parts = parts_of(sections, self._candidates.recent)
        return write(self._title, parts, receipt, self._format)


def said(item: Item) -> str:
    """Return what an item says, as it is compared with what others say."""
    return " ".join(item.text.casefold().split()).rstrip(".!?")


def _refused(candidates: Candidates) -> Iterator[Omitted]:
    """Yield every candidate with the reason that it has for not being shown."""
    yield from candidates.left_out
    for item in candidates.memory:
        if item.why == PINNED:
            yield Omitted(item.id, "pinned_over_budget", item.score)
    for identifier, score in candidates.recallable:
        yield Omitted(identifier, OVER_BUDGET, score)
    parts = (candidates.system, candidates.memory, candidates.updates, candidates.summaries)
    for item in chain(*parts, candidates.older, candidates.recent, candidates.further):
        yield Omitted(item.id, OVER_BUDGET)
    for item in chain(candidates.yours, candidates.yours_answering):
        yield Omitted(item.id, OVER_BUDGET, item.score, mine=True)


def _receipt(shown: int, reasons: Mapping[str, int], *, answered: bool) -> str:
    named = sorted(reasons.keys() - _PLAIN)
    counted = [f"{reasons[reason]} {reason.replace('_', ' ')}" for reason in named]
    why = ", ".join([*[UNANSWERED] * (not answered), *counted])
    return f"(pmem: {shown} shown, {sum(reasons.values())} left out{': ' * bool(why)}{why})"
