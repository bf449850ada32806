"""The memories that a context may show: of a large memory those that it could come to.

Every rule that brings a memory into a context is asked of the store: what is pinned or lifted,
what belongs to a category that is shown whole, what binds, what has a subject of the answers, what
answers. Of those that a rule does not tell apart but by their cost or their importance, only so
many are read as a budget could ever hold.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from msgspec.structs import replace

from pmem.core.context.filling import PATIENCE
from pmem.core.context.parts import Omitted
from pmem.core.context.worth import LIFTED_FROM
from pmem.core.filters import Filter, cited_symbols, covers
from pmem.core.followed_rules import repeats_rule
from pmem.core.lifecycle.neighbours import JUDGED
from pmem.core.policy import PROCEDURAL
from pmem.core.record_keys import judged_key, symbol_key
from pmem.core.retention import valid_at
from pmem.core.selection import TYPE_WORTH, Order, Portion, Selection, ticks
from pmem.core.trust import modest
from pmem.project.caller import noted_for
from pmem.project.origins import Doubts
from pmem.project.workspace import Workspace
from pmem.search.context_request import ContextRequest, modes_of
from pmem.values.records import Memory, MemoryType

LEAST_TOKENS: Final = 4
"""No line of a context takes less."""
LINE_TOKENS: Final = 12
"""What stands before a memory takes so much."""
_CHEAPEST: Final = ("tokens", "created", "moment")
_BINDING: Final = [type_ for type_, worth in TYPE_WORTH.items() if worth >= 1.0]
"""The types whose memories are worth being shown for that alone."""
_WEIGHTIEST: Final = ("-importance", "-worth", "created", "moment")


class UsableMemories:
    """The memories that a context may show: active, holding, trusted, and of a mode that shows.

    What is read stays, by id; a store may bring more than was asked for.

    Attributes:
        is_whole: Whether all were read as so few that a context may show every one.
    """

    def __init__(self, workspace: Workspace, request: ContextRequest, budget: int) -> None:
        modes = modes_of(workspace.settings, request)
        self._store = workspace.memories
        self._modes = modes
        self._most = PATIENCE + budget // LEAST_TOKENS
        self._now = workspace.now()
        self._all = Selection(wanted=Filter(agent=request.agent, trust=request.trust))
        self._active = replace(self._all, noted_for=noted_for(workspace))
        self._holding = replace(self._active, holding_at=self._now)
        self._shown = replace(
            self._holding,
            outside=_of_mode(modes, "none"),
            procedures=modes.get(PROCEDURAL) != "none",
        )
        self._prominent = _of_mode(modes, "all")
        self.doubts = Doubts(workspace, reviewed=request.reviewed)
        self.unreviewed: dict[str, None] = {}
        """The memories that were left out as nobody has reviewed them."""
        self.unsaid: dict[str, None] = {}
        """The episodes and messages that were."""
        self._already_read = request.already_read
        self._is_empty = request.only == "conversation"
        self._known: dict[str, Memory] = {}
        self._asked: set[str] = set()
        self._doubted: set[str] = set()
        self.is_whole = False

    def __iter__(self) -> Iterator[Memory]:
        """Yield what is read, by ascending id."""
        return (self._known[identifier] for identifier in sorted(self._known))

    def __contains__(self, identifier: object) -> bool:
        return identifier in self._known

    def __getitem__(self, identifier: str) -> Memory:
        return self._known[identifier]

    def get(self, identifier: str) -> Memory | None:
        """Return a memory if it was read."""
        return self._known.get(identifier)

    def is_doubted(self, identifier: str) -> bool:
        """Tell whether a memory that was read is in doubt, and not only to be marked."""
        return identifier in self._doubted

    @property
    def _is_open(self) -> bool:
        """Whether nothing is left out as nobody confirmed it."""
        return self._active.noted_for is None

    @cached_property
    def count(self) -> int:
        """How many there are, read or not."""
        return 0 if self._is_empty else self._store.count(self._shown)

    @cached_property
    def tokens(self) -> int:
        """How many tokens all of them have."""
        if self._is_empty:
            return 0
        tally = self._store.tally(self._shown, ("tokens",))
        return sum(tokens * many for (tokens,), many in tally.items())

    def hidden(self) -> dict[str, int]:
        """Count by reason the active memories that no context shows."""
        if self._is_empty:
            return {}
        early = replace(self._active, least=(("valid_from", ticks(self._now) + 1),))
        active = self._store.count(self._active)
        is_all_shown = self._shown == self._holding
        holding = self.count if is_all_shown else self._store.count(self._holding)
        not_yet = self._store.count(early)
        left = {} if self._is_open else {"unconfirmed": self._store.count(self._all) - active}
        return left | {
            "mode_none": holding - self.count,
            "not_valid_yet": not_yet,
            "expired": max(0, active - holding - not_yet),
        }

    def hidden_ids(self) -> Iterator[Omitted]:
        """Yield the active memories that no context shows, with the reasons."""
        if self._is_empty:
            return
        active = self._store.select(self._active)
        if not self._is_open:
            known = {memory.id for memory in active}
            for memory in self._store.select(self._all):
                if memory.id not in known:
                    yield Omitted(memory.id, "unconfirmed")
        shown = {memory.id for memory in self._store.select(self._shown)}
        for memory in active:
            if valid_at(memory, self._now) and memory.id not in shown:
                yield Omitted(memory.id, "mode_none")
            elif memory.settled is not None:
                yield Omitted(memory.id, "settled")
        for memory in active:
            if memory.valid_from > self._now:
                yield Omitted(memory.id, "not_valid_yet")
            elif memory.valid_until is not None and memory.valid_until <= self._now:
                yield Omitted(memory.id, "expired")

    def read_all(self) -> None:
        """Read every one."""
        if not self._is_empty:
            self._keep(self._store.select(self._shown))

    def read_whole(self, room: int) -> None:
        """Read every one where all together take at most `room` tokens."""
        if 0 < self.count * (LINE_TOKENS + 1) <= room:
            self.is_whole = self.tokens + self.count * LINE_TOKENS <= room
        if self.is_whole:
            self._keep(self._store.select(self._shown))

    def read_applying(self, paths: Sequence[str], symbols: Collection[str]) -> frozenset[str]:
        """Read what applies to files, by its places or what it cites, or cites symbols.

        Returns:
            The memories' ids.
        """
        parts = [self._portion(path=path) for path in paths]
        self._take(parts, keys=[symbol_key(name) for name in sorted(symbols)])
        return frozenset(
            memory.id
            for memory in self
            if any(covers(memory, path) for path in paths)
            or not cited_symbols(memory).isdisjoint(symbols)
        )

    def read(self, ids: Iterable[str]) -> None:
        """Read those of some memories that may be shown."""
        self._take(self._of_ids(ids))

    def read_standing(self, subjects: Collection[str]) -> None:
        """Read what stands in a context whatever the task, what binds, and kin of the answers."""
        shown, full = self._shown, _of_mode(self._modes, "all")
        self._take(
            [
                self._portion(pinned=True),
                *self._cheapest(replace(shown, least=(("importance", LIFTED_FROM),))),
                *(self._cheapest(self._portion(categories=full).selection) if full else ()),
                *self._cheapest(shown, _BINDING),
                *(
                    self._cheapest(replace(shown, subjects=tuple(sorted(subjects))))
                    if subjects
                    else ()
                ),
            ]
        )

    def read_important(self) -> None:
        """Read what a context shows for which nobody asked anything."""
        modes = self._modes
        usual = replace(
            self._shown,
            outside=(*_of_mode(modes, "none"), *_of_mode(modes, "rag")),
            procedures=modes.get(PROCEDURAL) not in ("none", "rag"),
        )
        full = _of_mode(modes, "all")
        parts = [self._portion(pinned=True), self._portion(_WEIGHTIEST, of=usual)]
        if full:
            parts.append(self._portion(_WEIGHTIEST, of=usual, categories=full))
        self._take(parts)

    def read_rules(self, types: Iterable[MemoryType]) -> None:
        """Read what is pinned, and the most important of some types."""
        rules = (self._portion(_WEIGHTIEST, types=(type_,)) for type_ in types)
        self._take([self._portion(pinned=True), *rules])

    def read_judged(self) -> None:
        """Read what is judged by what was read, and what judges it: that it is newer, say."""
        new = set(self._known)
        while new:
            before = set(self._known)
            links = (link for id_ in new for link in self._known[id_].relationships)
            ends = {link.target for link in links if link.type in JUDGED}
            self._take(self._of_ids(ends), keys=[judged_key(id_) for id_ in sorted(new)])
            new = set(self._known) - before

    def _take(self, parts: Sequence[Portion], keys: Iterable[str] = ()) -> None:
        if keyed := tuple(keys):
            parts = [*parts, Portion(replace(self._shown, keys=keyed))]
        if parts and not self._is_empty:
            self._keep(self._store.some_of(self._shown, parts))

    def _keep(self, found: Iterable[Memory]) -> None:
        """Keep what was read; dead ends that are settled warn nobody.

        What is in doubt claims nothing of itself; of what claims nothing, the mark comes later.
        """
        found = [
            memory
            for memory in found
            if memory.settled is None and not repeats_rule(memory, self._already_read)
        ]
        claims = found
        if self.doubts.treats == "mark":
            claims = [one for one in found if one.pinned or one.importance >= LIFTED_FROM]
        doubted = self.doubts.of(claims)
        for memory in found:
            if memory.id not in doubted:
                self._known[memory.id] = memory
            elif self.doubts.treats == "hide":
                self.unreviewed[memory.id] = None
            else:
                self._doubted.add(memory.id)
                self._known[memory.id] = replace(memory, **modest(memory, self._prominent))

    def _of_ids(self, ids: Iterable[str]) -> list[Portion]:
        missing = tuple(sorted(set(ids) - self._asked - self._known.keys()))
        self._asked.update(missing)
        return [Portion(replace(self._shown, ids=missing))] if missing else []

    def _cheapest(
        self, selection: Selection, types: Iterable[MemoryType] = TYPE_WORTH
    ) -> Iterator[Portion]:
        """Yield for each type the memories that cost least."""
        return (self._portion(_CHEAPEST, of=selection, types=(type_,)) for type_ in types)

    def _portion(self, order: Order = (), of: Selection | None = None, **wanted: Any) -> Portion:
        """Return what passes further filters: all, or in an order as many as a budget may hold."""
        selection = self._shown if of is None else of
        narrowed = replace(selection, wanted=replace(selection.wanted, **wanted))
        return Portion(narrowed, order, self._most if order else None)


def _of_mode(modes: Mapping[str, str], mode: str) -> tuple[str, ...]:
    """Return the categories that contexts show in a mode."""
    return tuple(name for name, own in modes.items() if own == mode)
