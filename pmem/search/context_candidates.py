"""Everything that could enter a context, each kind in the order of its priority."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from pmem.conversation.window import ConversationWindow
from pmem.core.context.parts import Candidates, Exchange, Format, Item, Omitted
from pmem.core.context.worth import ALWAYS, FLOOR, LEAST_LIKELY, Worth, mode_of, per_token, tie
from pmem.core.lifecycle.neighbours import newer_first, with_newer
from pmem.core.pruning.segments import units
from pmem.core.retrieval.question import searched_part
from pmem.core.text.speech import TOOLS, speech_of
from pmem.core.text.terms import terms
from pmem.core.trust import origin_mark
from pmem.search.context_answers import ContextSource
from pmem.search.context_items import (
    episode_item,
    memory_item,
    message_item,
    pinned_item,
    said_item,
    summary_item,
)
from pmem.search.context_memories import LINE_TOKENS
from pmem.search.context_request import AT_WORK, modes_of, task_of
from pmem.search.hits import LoadedHit, Scored, SearchKind, opened
from pmem.values.ids import moment_of
from pmem.values.records import Memory, Message
from pmem.values.times import UNDATED

EPISODE_TOKENS: Final = 30
"""An episode is put in its place before it is read, as if it were so long."""
SAID_TOKENS: Final = 100
"""And an earlier message as if it were so long."""
STANDING_SHARE: Final = 0.25
"""Share of a task's context that standing memories may take before answers."""
UNANSWERED_SHARE: Final = 0.4
"""Where nothing answers a task, standing memories may take so much behind the stable block."""
Recalled = Iterator[tuple[str, Item]]
Reasoned = tuple[Memory | Scored, str]
"""A memory or a hit, and why it may be shown."""


def gather_candidates(source: ContextSource, talk: ConversationWindow) -> Candidates:
    """Gather everything that could go in; the larger the budget, the more of a long message."""
    workspace, request, budget = source.workspace, source.request, source.budget
    settings, given = workspace.settings, bool(task_of(request))
    near = sum(turns < settings.short_term_retention_turns for turns in talk.turns_ago)
    said = list(map(workspace.mask.fields, talk.recent))
    recent, exchanges = _recent_items(talk, said, request.format, budget)
    block = [
        _memory_item(source, memory, why)
        for memory, why in _newest_first(source, _standing(source) if given else _all(source))
        if isinstance(memory, Memory)
    ]
    ordered = _newest_first(source, _in_order(source))
    pinned = list(_pinned(source, talk, recent))
    recallable = _recallable(source, [_id_of(found) for found, _ in ordered])
    recallable |= {item.id: None for name, item in pinned if name == "earlier"}
    needed = {*recallable, *(item.id for item in block), *(left.id for left in source.below)}
    return Candidates(
        system=[message_item(workspace.mask.fields(prompt), 0) for prompt in talk.system],
        memory=block,
        memory_share=STANDING_SHARE if given else None,
        recalled=_recalled(source, ordered),
        said=_said(source),
        recalled_share=1.0 if source.weighs or not given else UNANSWERED_SHARE,
        said_share=settings.context.said_share if source.weighs else 1.0,
        answered=source.weighs or bool(source.said) or not given,
        pinned=pinned,
        recallable=list(recallable.items()),
        summaries=[summary_item(chunk) for chunk in talk.chunks[:near]],
        older=[summary_item(chunk) for chunk in talk.chunks[near:]],
        further=() if given else block,
        recent=recent,
        exchanges=exchanges,
        asked=given,
        left_out=list(_unneeded(source, needed)) if request.names_omitted else (),
        unnamed={} if request.names_omitted else _count_unneeded(source, needed),
    )


def tokens_of_others(source: ContextSource) -> int:
    """Estimate what a context takes that shows everything but the talk."""
    usable = source.usable
    memories = usable.tokens + LINE_TOKENS * usable.count
    return memories + EPISODE_TOKENS * len(source.found) + SAID_TOKENS * len(source.said)


def _recallable(source: ContextSource, ids: Sequence[str]) -> dict[str, float | None]:
    """Return what may be recalled, by id with its score, of the memories and episodes in order."""
    scores = source.scores
    brought = (place.id for via in ids for _, place, _ in source.brought_by(via))
    said = (place.id for _, place, _ in source.said)
    return {identifier: scores.get(identifier) for identifier in (*ids, *brought, *said)}


def _memory_item(source: ContextSource, memory: Memory, why: str, *, scored: bool = True) -> Item:
    """Describe a memory, which is only shown with the one that goes before it."""
    score = source.scores.get(memory.id) if scored else None
    item = memory_item(memory, ids=source.request.ids, score=score, why=why, plain=source.is_plain)
    found = source.differing.get(memory.id)
    if found is None or found.against is None:
        return item
    return msgspec.structs.replace(item, via=found.against)


def _all(source: ContextSource) -> list[Reasoned]:
    """Return the memories for a block that nobody asked for, the most important first.

    What applies to the files that it is for comes before, and to whoever works here what binds,
    how things are done, and what failed.
    """
    modes = modes_of(source.workspace.settings, source.request)
    near = source.valuation.applying
    works = source.request.works

    def order(memory: Memory) -> tuple[object, ...]:
        is_first = memory.type in AT_WORK if works else mode_of(memory, modes) == "all"
        first = (not memory.pinned, memory.id not in near, not is_first, -memory.importance)
        return (*first, *tie(memory))

    return [
        (
            memory,
            "pinned" if memory.pinned else "place" if memory.id in near else "importance",
        )
        for memory in sorted(source.usable, key=order)
        if memory.pinned or mode_of(memory, modes) != "rag"
    ]


def _standing(source: ContextSource) -> list[Reasoned]:
    """Return what stands in the block whatever the task: pinned, rules, lifted, whole."""
    modes = modes_of(source.workspace.settings, source.request)
    valuation = source.valuation
    shown: list[Reasoned] = []
    for memory in valuation.standing_first(source.usable):
        worth = valuation.worth(memory)
        if memory.pinned:
            shown.append((memory, "pinned"))
        elif mode_of(memory, modes) != "rag" and _is_likely(source, worth):
            shown.append((memory, worth._replace(answers=0.0, place=0.0, kin=0.0).reason))
    return shown


def _is_likely(source: ContextSource, worth: Worth) -> bool:
    """Tell whether a context shows what is worth so much: any budget that was named is filled."""
    return source.request.budget is not None or worth.likelihood >= LEAST_LIKELY


def _id_of(found: Memory | Scored) -> str:
    return found.id if isinstance(found, Memory) else found[1].id


def _newest_first(source: ContextSource, found: Sequence[Reasoned]) -> list[Reasoned]:
    """Return what was found, each memory behind the one that goes before it, found or not."""
    differing = source.differing
    ids = with_newer((_id_of(one) for one, _ in found), differing)
    both = [*found, *((source.usable[identifier], "related") for identifier in ids[len(found) :])]
    return [both[place] for place in newer_first(ids, differing)]


def _in_order(source: ContextSource) -> list[Reasoned]:
    """Return memories and episodes that answer, the most worth for their tokens first.

    Where nothing weighs, only what every task needs does; where nobody asked, what was found. Of
    so few memories that all have room, the others follow.
    """
    valuation = source.valuation
    refused = {left.id for left in source.below}
    given = bool(task_of(source.request))
    places: list[tuple[tuple[object, ...], Reasoned]] = []

    def first_of(memory: Memory) -> tuple[bool, bool]:
        is_below = source.usable.doubts.treats == "below" and source.usable.is_doubted(memory.id)
        return (is_below, not memory.pinned)

    for memory in source.usable:
        worth = valuation.worth(memory)
        fits = worth.value >= FLOOR if source.weighs else worth.always >= ALWAYS
        fits = fits and valuation.is_apt(memory, worth) and _is_likely(source, worth)
        fits = memory.pinned or fits if given else memory.id in valuation.answers
        if (fits or source.usable.is_whole) and memory.id not in refused:
            first = (*first_of(memory), not worth.place, -per_token(worth.value, memory.tokens))
            why = "pinned" if memory.pinned else worth.reason if fits else "few"
            places.append(((*first, *tie(memory)), (memory, why)))
    for one in source.found:
        if one[0] is SearchKind.EPISODE and (source.weighs or not given):
            worth = Worth(answers=valuation.answers[one[1].id])
            if not given or _is_likely(source, worth):
                first = (False, True, True, -per_token(worth.value, EPISODE_TOKENS))
                made = moment_of(one[1].id) or UNDATED
                places.append(((*first, 0.0, made, "", ""), (one, "answers")))
    places.sort(key=lambda place: place[0])
    return [found for _, found in places]


def _recalled(source: ContextSource, ordered: list[Reasoned]) -> Recalled:
    """Yield what is in order as items, each memory followed by those that it brings along."""
    for found, why in ordered:
        if not isinstance(found, Memory):
            for one in opened(source.workspace, [found]):
                item = episode_item(one, plain=source.is_plain)
                yield "recalled", _marked(source, one, item)
            continue
        yield "recalled", _memory_item(source, found, why)
        for _, place, hit in source.brought_by(found.id):
            brought, ids, plain = source.usable[place.id], source.request.ids, source.is_plain
            item = memory_item(
                brought, ids=ids, score=hit.score, via=found.id, why="related", plain=plain
            )
            yield "recalled", item


def _said(source: ContextSource) -> Recalled:
    """Yield the messages that answer; of long ones the passages that do.

    A secret is taken out before a part of it could be, and again with all that is shown.
    """
    from pmem.core.context.chat_items import matching_passages, shown_characters

    workspace = source.workspace
    wanted = frozenset(terms(searched_part(source.asked)))
    for found in opened(workspace, source.said):
        message = found.document
        most = shown_characters(message, source.budget)
        if len(message.content) > most or speech_of(message) in TOOLS:
            message = workspace.mask.fields(message)
            content = matching_passages(message, wanted, most)
            message = msgspec.structs.replace(message, content=content)
        yield "earlier", _marked(source, found, said_item(found, message))


def _marked(source: ContextSource, found: LoadedHit, item: Item) -> Item:
    """Return an item that says whether what holds it is in doubt."""
    mark = origin_mark(source.usable.doubts.mark(found.record))
    return msgspec.structs.replace(item, label=f"{mark}{item.label}") if mark else item


def _pinned(source: ContextSource, talk: ConversationWindow, recent: Sequence[Item]) -> Recalled:
    """Yield what is pinned, which may take whatever the budget has left.

    That is memories for a task, and messages of a talk: recent ones, and those in its chunks.
    """
    for memory in source.usable if task_of(source.request) else ():
        if memory.pinned:
            yield "recalled", _memory_item(source, memory, "pinned", scored=False)
    wanted = {message.id for message in talk.recent if message.pinned}
    yield from (("recent", item) for item in recent if item.id in wanted)
    for chunk in talk.chunks:
        for message in chunk.messages:
            if message.pinned and message.id not in wanted | talk.cleared:
                yield "earlier", pinned_item(source.workspace.mask.fields(message), chunk)


def _unneeded(source: ContextSource, needed: set[str]) -> Iterator[Omitted]:
    """Yield what is no candidate: little speaks for it, or nothing does, or nobody asked."""
    scores = source.scores
    for memory in source.usable:
        if memory.id not in needed:
            connects = source.valuation.worth(memory).connects
            reason = "below_threshold" if connects else "no_match"
            reason = reason if task_of(source.request) else "unasked"
            yield Omitted(memory.id, reason, scores.get(memory.id))
    for identifier in _unneeded_episodes(source, needed):
        yield Omitted(identifier, "below_threshold", scores[identifier])


def _count_unneeded(source: ContextSource, needed: set[str]) -> dict[str, int]:
    """Count what is no candidate, memories that were not even read among it."""
    usable = source.usable
    return {
        "no_match": usable.count
        - len(usable.unreviewed)
        - sum(identifier in usable for identifier in needed),
        "below_threshold": sum(1 for _ in _unneeded_episodes(source, needed)),
    }


def _unneeded_episodes(source: ContextSource, needed: set[str]) -> Iterable[str]:
    ids = (place.id for kind, place, _ in source.found if kind is SearchKind.EPISODE)
    return (identifier for identifier in ids if identifier not in needed)


def _recent_items(
    talk: ConversationWindow, said: Sequence[Message], format_: Format, budget: int
) -> tuple[list[Item], list[Exchange]]:
    """Describe the recent messages, and group those that may be shown, the latest group first."""
    exchanges = list(_exchanges(talk))
    items = [message_item(message, place, budget) for place, message in enumerate(said)]
    if format_ == "messages":
        from pmem.core.context.chat_items import chat_items

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
