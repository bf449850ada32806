"""Facts that messages state: listed, promoted to memories or rejected."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec

from pmem.core.extraction.facts import category_of, key
from pmem.core.extraction.third_person import leaves_open
from pmem.core.filters import Filter
from pmem.core.lifecycle.neighbours import Neighbour, judgements
from pmem.core.outcomes import COMMIT
from pmem.core.text.paths import named_paths
from pmem.core.trust import AGREED
from pmem.errors import BuiltOn, InvalidValue, NotFound
from pmem.memory import memories
from pmem.memory.changes import RecordsRequest, only_one
from pmem.memory.conversations import conversation_named
from pmem.memory.noted_facts import new_facts, settled_fact, with_standing, write_standing
from pmem.memory.requests import Added, AddRequest
from pmem.project.caller import reaches
from pmem.project.workspace import Workspace
from pmem.values.fields import AsOf, OfConversation, asked
from pmem.values.ids import matches, short
from pmem.values.records import Conversation, Fact, Memory, MemoryType, Scope, Source, Standing

if TYPE_CHECKING:
    from pmem.core.apps.deciding import AppDecision
    from pmem.memory.proposals import Held


class Stated(msgspec.Struct, frozen=True, kw_only=True):
    """A fact, the conversation in which it was stated, and the app that this was held in."""

    fact: Fact
    conversation: str
    app: str | None = None


class FactListing(msgspec.Struct, frozen=True, kw_only=True):
    """Facts that pass the filters, and how many there are in all."""

    items: tuple[Stated, ...]
    total: int

    def to_plain(self) -> dict[str, Any]:
        """Return each fact with the conversation that states it, and how many there are."""
        items = [
            {**msgspec.structs.asdict(item.fact), "conversation": item.conversation}
            for item in self.items
        ]
        return {"items": items, "total": self.total}


class FactsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which facts to list, so many at the most; an empty field lets everything through."""

    conversation: OfConversation = None
    types: Annotated[tuple[MemoryType, ...], asked("Only this type.", flag="--type")] = ()
    standing: Annotated[Standing | None, asked("Only with this status.")] = Standing.PENDING
    above: Annotated[float, asked("At least this certain, from 0 to 1.", shown="N")] = 0.0
    limit: Annotated[int | None, asked("At most N.", shown="N", least=0)] = None
    at: AsOf = None
    revision: str | None = None


MOST_PROMOTIONS: Final = 3
MOST_PROMOTIONS_A_DAY: Final = 100
"""Facts of one message, and of one day, that become memories at once."""
EVERY_FACT: Final = FactsRequest(standing=None)


class PromoteRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which facts become memories: those named, and all pending ones of at least a confidence."""

    references: tuple[str, ...] = ()
    above: float | None = None


class Rejected(msgspec.Struct, frozen=True, kw_only=True):
    """Facts that were rejected."""

    items: tuple[Fact, ...]

    def to_plain(self) -> dict[str, Any]:
        """Return them, and how many they are."""
        return {"items": self.items, "total": len(self.items)}


class Promotion(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that became a memory, or that a memory said already.

    `neighbours` are memories that the new one updates or contradicts; `beside` is one that says
    otherwise on the same subject, or the same in other words.
    """

    fact: Fact
    memory: Memory
    added: bool
    beside: Memory | None = None
    neighbours: tuple[Neighbour, ...] = ()


class UnpromotedFact(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that stays pending though it is certain, until somebody chooses, and why.

    `memory` is the one to update or bring back instead; None where a cap was met.
    """

    fact: str
    memory: str | None
    reason: str


class Promotions(msgspec.Struct, frozen=True, kw_only=True):
    """Facts that became memories, what waits for a person, what is left, and what made room."""

    items: tuple[Promotion, ...] = ()
    held: "tuple[Held, ...]" = ()
    unpromoted: tuple[UnpromotedFact, ...] = ()
    made_room: "tuple[AppDecision, ...]" = ()

    def to_plain(self) -> dict[str, Any]:
        """Return the memories, how many they are, and what waits."""
        return {
            "items": self.items,
            "total": len(self.items),
            "held": self.held,
            "unpromoted": self.unpromoted,
        }


def promoted_at_once(
    workspace: Workspace, conversation: Conversation, before: Conversation, already: int = 0
) -> tuple[Conversation, Promotions]:
    """Promote the new facts that are certain enough, inside a transaction.

    A fact that says otherwise than a memory on its subject stays pending: somebody chooses. What
    is said in an app stays pending as well: the app's own memory is made when it ends. `before`
    is the conversation without its new facts; `already` is how many of the same message became
    memories before.
    """
    threshold = workspace.settings.promotion_threshold
    fresh = new_facts(conversation, before)
    certain = [fact for fact in fresh if fact.confidence >= threshold]
    if threshold == 1 or not certain or conversation.app is not None:
        return conversation, Promotions()
    settled, today = _settled_before(workspace, certain)
    left, left_today = MOST_PROMOTIONS - already, MOST_PROMOTIONS_A_DAY - today
    cap = f"one message makes at most {MOST_PROMOTIONS} memories"
    if left_today < left:
        left, cap = left_today, f"a day makes at most {MOST_PROMOTIONS_A_DAY}"
    made: list[Promotions] = []
    for fact in certain:
        if short(fact.id) in settled or not reaches(workspace, category_of(fact)):
            continue
        added = sum(item.added for each in made for item in each.items)
        reason = f"{cap}; `pmem inbox accept` makes it one" if added >= left else _unnamed(fact)
        if reason:
            made.append(_left_pending(fact, reason))
        else:
            with suppress(InvalidValue):  # settings may not allow such a memory
                made.append(
                    _promote_fact(workspace, Stated(fact=fact, conversation=conversation.id))
                )
    promotions = _together(made)
    settled |= {short(item.fact.id): item.fact for item in promotions.items}
    return with_standing(conversation, settled), promotions


def _together(made: Iterable[Promotions]) -> Promotions:
    items: list[Promotion] = []
    held: list[Held] = []
    unpromoted: list[UnpromotedFact] = []
    for each in made:
        items += each.items
        held += each.held
        unpromoted += each.unpromoted
    return Promotions(items=tuple(items), held=tuple(held), unpromoted=tuple(unpromoted))


def _left_pending(fact: Fact, reason: str, memory: str | None = None) -> Promotions:
    left = UnpromotedFact(fact=fact.id, memory=memory, reason=reason)
    return Promotions(unpromoted=(left,))


def _unnamed(fact: Fact) -> str:
    """Return why a fact does not stand on its own as a memory; nothing where it does."""
    if not leaves_open(fact.content, fact.user):
        return ""
    return "whom or what it means is not said in it; `pmem inbox accept` makes it a memory"


def list_facts(workspace: Workspace, wanted: FactsRequest) -> FactListing:
    """Return the facts that pass a filter, each once, the surest first.

    What was promoted or rejected anywhere is pending nowhere.
    """
    found = sorted(
        _distinct(workspace, wanted),
        key=lambda item: (-item.fact.confidence, item.fact.extracted_at, item.fact.id),
    )
    return FactListing(items=tuple(found[: wanted.limit]), total=len(found))


def promote(workspace: Workspace, request: PromoteRequest) -> Promotions:
    """Make memories of facts; one that needs a person's consent waits for it.

    A person who names a fact agrees to it. What only passes `above` is trusted as what was said,
    and stays pending where `say` would leave it so.
    """
    above = request.above
    chosen = _each_named(workspace, request.references)
    named = set(chosen)
    if above is not None:
        if not 0 <= above <= 1:
            raise InvalidValue(f"a confidence lies between 0 and 1, not {above:g}")
        sure = list_facts(workspace, FactsRequest(above=above)).items
        chosen |= {short(item.fact.id): item for item in sure}
    elif not chosen:
        raise InvalidValue("no fact is named", "give ids, or --above 0.8")
    done = _together(
        _promote_fact(workspace, item, is_named=name in named)
        if name in named or not _unnamed(item.fact)
        else _left_pending(item.fact, _unnamed(item.fact))
        for name, item in chosen.items()
    )
    write_standing(workspace, [item.fact for item in done.items])
    if not any(item.memory.scope.app for item in done.items):
        return done
    from pmem.memory.app_limit import make_room

    return msgspec.structs.replace(done, made_room=make_room(workspace))


def reject(workspace: Workspace, request: RecordsRequest) -> Rejected:
    """Reject facts: they are not pending any more, and never noted again."""
    rejected = []
    for fact in (item.fact for item in _each_named(workspace, request.references).values()):
        if fact.standing is Standing.PROMOTED:
            raise InvalidValue(
                f"fact {short(fact.id)} is the memory {fact.memory}", "`pmem rm` removes it"
            )
        at = fact.settled_at or workspace.now()
        rejected.append(msgspec.structs.replace(fact, standing=Standing.REJECTED, settled_at=at))
    write_standing(workspace, rejected)
    return Rejected(items=tuple(rejected))


def unsettle(workspace: Workspace, left: Mapping[str, tuple[Standing, str | None]]) -> None:
    """Make facts pending again, as before they were promoted or rejected; what is gone is let go.

    `left` says by the short part of each fact's id what it became, and as which memory.
    """
    known = {short(item.fact.id): item.fact for item in _distinct(workspace, EVERY_FACT)}
    pending = []
    for name in known.keys() & left.keys():
        fact = known[name]
        if (fact.standing, fact.memory) != left[name]:
            raise BuiltOn(f"the fact {name} is {fact.standing} now", "`pmem inbox facts --all`")
        new = {"standing": Standing.PENDING, "memory": None, "settled_at": None}
        pending.append(msgspec.structs.replace(fact, **new))
    write_standing(workspace, pending)


def settle(workspace: Workspace, reference: str, memory: str) -> None:
    """Note that a fact became a memory, both by their ids; a fact that is gone is let go."""
    with suppress(NotFound):
        for item in _each_named(workspace, [reference]).values():
            write_standing(workspace, [_promoted(workspace, item.fact, memory)])


def _promoted(workspace: Workspace, fact: Fact, memory: str) -> Fact:
    return msgspec.structs.replace(
        fact, standing=Standing.PROMOTED, memory=memory, settled_at=workspace.now()
    )


def _all(workspace: Workspace) -> Iterator[Stated]:
    for conversation in workspace.conversations.find():
        for fact in conversation.facts:
            yield Stated(fact=fact, conversation=conversation.id, app=conversation.app)
    for chunk in workspace.chunks.find():
        for fact in chunk.facts:
            yield Stated(fact=fact, conversation=chunk.conversation, app=chunk.app)


def _distinct(workspace: Workspace, wanted: FactsRequest) -> Iterator[Stated]:
    """Yield one fact of each key; what was settled in one conversation is so in all."""
    only = wanted.conversation and conversation_named(workspace, wanted.conversation).id
    everything = list(_all(workspace))
    settled = _settlements(everything)
    seen: set[str] = set()
    for item in everything:
        fact = settled_fact(item.fact, settled)
        name = short(fact.id)
        fits = wanted.standing in (None, fact.standing) and fact.confidence >= wanted.above
        fits = fits and (not wanted.types or fact.type in wanted.types)
        if fits and only in (None, item.conversation) and name not in seen:
            seen.add(name)
            yield msgspec.structs.replace(item, fact=fact)


def _settlements(everything: Iterable[Stated]) -> dict[str, Fact]:
    """Return the facts that were promoted or rejected, by what they say."""
    facts = (item.fact for item in everything)
    return {short(one.id): one for one in facts if one.standing is not Standing.PENDING}


def _settled_before(workspace: Workspace, facts: Sequence[Fact]) -> tuple[dict[str, Fact], int]:
    """Return what became of facts wherever else they were stated, and the day's promotions."""
    settled, today = _settlements(_all(workspace)), workspace.now().date()
    promoted = sum(
        one.standing is Standing.PROMOTED
        and one.settled_at is not None
        and one.settled_at.date() == today
        for one in settled.values()
    )
    wanted = {short(fact.id) for fact in facts}
    return {name: fact for name, fact in settled.items() if name in wanted}, promoted


def _each_named(workspace: Workspace, references: Sequence[str]) -> dict[str, Stated]:
    """Return the facts that references mean, each once, as what they became if they did."""
    everything = list(_all(workspace)) if references else []
    found: dict[str, Stated] = {}
    for reference in references:
        fitting = [item for item in everything if reference and matches(reference, item.fact.id)]
        fitting.sort(key=lambda item: item.fact.standing is Standing.PENDING)
        by_name = {short(item.fact.id): item for item in reversed(fitting)}
        item = only_one(reference, "fact", by_name, "`pmem inbox facts` shows ids")
        found[short(item.fact.id)] = item
    return found


def _saying(workspace: Workspace, item: Stated) -> Memory | None:
    """Return the latest active memory that says what a fact says, of the likeliest to do so."""
    from pmem.core.lifecycle.candidates import MOST_CANDIDATES, word_keys

    content, scope = item.fact.content, Scope(app=item.app, user=_concerned(item.fact))
    keys = word_keys(content, scope)
    known = workspace.memories
    found: Iterable[Memory] = known.alike(keys, MOST_CANDIDATES) if keys else known.find(Filter())
    wanted = key(content)
    same = (one for one in found if one.scope == scope and key(one.content) == wanted)
    return max(same, key=lambda one: one.id, default=None)


def _concerned(fact: Fact) -> str | None:
    """Return whom a fact concerns: its speaker, where he speaks of himself; else everyone."""
    return fact.user if fact.user is not None and fact.subject == fact.user else None


def _promote_fact(workspace: Workspace, item: Stated, *, is_named: bool = False) -> Promotions:
    """Add the memory of a fact; one that says the same already is taken for it.

    Beside one that says otherwise on its subject only what somebody chose by name is added.
    """
    fact = item.fact
    if fact.standing is Standing.PROMOTED:
        return Promotions()
    known = _saying(workspace, item)
    if known is not None:
        settled = _promoted(workspace, fact, known.id)
        return Promotions(items=(Promotion(fact=settled, memory=known, added=False),))
    beside = None
    added = _put_fact(workspace, item, is_named=is_named)
    if is_named and added.action == "suggested":
        beside = added.memory
        added = _put_fact(workspace, item, is_named=is_named, force=True)
    if added.held is not None:
        return Promotions(held=(added.held,))
    if added.action != "added":
        return _left_pending(fact, f"{added.reason}; {added.next_step}", added.memory.id)
    promotion = Promotion(
        fact=_promoted(workspace, fact, added.memory.id),
        memory=added.memory,
        added=True,
        neighbours=judgements(added.neighbours),
        beside=beside,
    )
    return Promotions(items=(promotion,))


def _put_fact(workspace: Workspace, item: Stated, *, is_named: bool, force: bool = False) -> Added:
    """Add a memory that says what a fact says, in the ways of `add`."""
    fact = item.fact
    cite: tuple[str, ...] = ()
    if named_paths(fact.content):
        from pmem.memory.citations import citable

        cite = citable(workspace, fact.content)
    commit = next((one for one in fact.evidence if one.startswith(COMMIT)), None)
    source = Source(
        kind="conversation" if commit is None else "commit",
        conversation=item.conversation,
        message=fact.message,
        commit=commit,
    )
    request = AddRequest(
        content=fact.content,
        type=fact.type,
        category=category_of(fact),
        subject=fact.subject,
        user=_concerned(fact),
        app=item.app,
        source=source,
        places=fact.places,
        tried=fact.tried,
        because=fact.because,
        evidence=fact.evidence,
        cite=cite,
        force=force,
    )
    is_person = workspace.caller.agent is None and workspace.caller.app is None
    detail: dict[str, Any] = msgspec.structs.asdict(fact.made_by) if fact.made_by else {}
    if is_named and is_person:  # somebody chose these words of what came from anywhere
        detail[AGREED] = {"fact": short(fact.id)}
    return memories.put_new(workspace, request, short(fact.id), **detail)
