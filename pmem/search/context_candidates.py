"""Everything that could enter a context, each kind in the order of its priority."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from pmem.conversation.window import ConversationWindow
from pmem.core.context.modes import mode_of
from pmem.core.context.parts import Candidates, Item, Omitted
from pmem.core.context.worth import LEAST_LIKELY, Valuation, Worth, tie
from pmem.core.lifecycle.neighbours import SaidOtherwise, newer_first, with_newer
from pmem.core.text.speech import TOOLS, speech_of
from pmem.project.workspace import Workspace
from pmem.search.context_answers import Answers
from pmem.search.context_items import (
    episode_item,
    memory_item,
    message_item,
    pinned_item,
    said_item,
    summary_item,
)
from pmem.search.context_memories import LINE_TOKENS, UsableMemories
from pmem.search.context_request import ContextRequest, modes_of, task_of
from pmem.search.context_turns import recent_items
from pmem.search.hits import Scored, SearchKind, opened
from pmem.values.ids import moment_of
from pmem.values.records import Memory
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


def gather_candidates(
    workspace: Workspace,
    request: ContextRequest,
    usable: UsableMemories,
    talk: ConversationWindow,
    answers: Answers,
    differing: Mapping[str, SaidOtherwise],
    budget: int,
) -> Candidates:
    """Gather everything that could go in."""
    settings = workspace.settings
    given = bool(task_of(request))
    retained = settings.short_term_retention_turns
    near = sum(turns < retained for turns in talk.turns_ago)
    said = list(map(workspace.mask.fields, talk.recent))
    recent, exchanges = recent_items(talk, said, request.format, budget)
    scores = answers.scores()
    stable = (
        _standing(workspace, request, usable, answers.valuation)
        if given
        else _all(workspace, request, usable, answers.valuation)
    )
    block = [
        _behind_newer(
            memory_item(memory, ids=request.ids, score=scores.get(memory.id), why=why), differing
        )
        for memory, why in _newest_first(stable, usable, differing)
        if isinstance(memory, Memory)
    ]
    ordered = _newest_first(_in_order(request, usable, answers), usable, differing)
    pinned = [*_pinned_memories(request, usable, differing), *_pinned(workspace, talk, recent)]
    recallable = _recallable(answers, [_id_of(found) for found, _ in ordered])
    recallable |= {item.id: None for name, item in pinned if name == "earlier"}
    offered, names = {*recallable, *(item.id for item in block)}, request.names_omitted
    return Candidates(
        system=[message_item(workspace.mask.fields(prompt), 0) for prompt in talk.system],
        memory=block,
        memory_share=STANDING_SHARE if given else None,
        recalled=_recalled(workspace, request, usable, answers, ordered, differing),
        said=_said(workspace, answers, budget),
        recalled_share=1.0 if answers.weighs or not given else UNANSWERED_SHARE,
        said_share=settings.context.said_share if answers.weighs else 1.0,
        answered=answers.weighs or bool(answers.said) or not given,
        pinned=pinned,
        recallable=list(recallable.items()),
        summaries=[summary_item(chunk) for chunk in talk.chunks[:near]],
        older=[summary_item(chunk) for chunk in talk.chunks[near:]],
        further=() if given else block,
        recent=recent,
        exchanges=exchanges,
        asked=given,
        left_out=list(_unneeded(usable, answers, offered, asked=given)) if names else (),
        unnamed={} if names else _count_unneeded(usable, answers, offered),
    )


def _recallable(answers: Answers, ids: Sequence[str]) -> dict[str, float | None]:
    """Return what may be recalled, by id with its score, of the memories and episodes in order."""
    scores = answers.scores()
    brought = (place.id for via in ids for _, place, _ in answers.brought_by(via))
    said = (place.id for _, place, _ in answers.said)
    return {identifier: scores.get(identifier) for identifier in (*ids, *brought, *said)}


def tokens_of_others(usable: UsableMemories, answers: Answers) -> int:
    """Estimate what a context takes that shows everything but the talk."""
    memories = usable.tokens + LINE_TOKENS * usable.count
    return memories + EPISODE_TOKENS * len(answers.found) + SAID_TOKENS * len(answers.said)


def _all(
    workspace: Workspace, request: ContextRequest, usable: Iterable[Memory], valuation: Valuation
) -> list[Reasoned]:
    """Return the memories for a block that nobody asked for, the most important first.

    What applies to the files that it is for comes before.
    """
    modes = modes_of(workspace.settings, request)
    shown = [(mode_of(memory, modes), memory) for memory in usable]
    shown = [(mode, memory) for mode, memory in shown if memory.pinned or mode != "rag"]
    near = valuation.applying
    shown.sort(
        key=lambda one: (
            not one[1].pinned,
            one[1].id not in near,
            one[0] != "all",
            -one[1].importance,
            *tie(one[1]),
        )
    )
    reasons = {memory.id: "place" if memory.id in near else "importance" for _, memory in shown}
    return [(memory, "pinned" if memory.pinned else reasons[memory.id]) for _, memory in shown]


def _standing(
    workspace: Workspace, request: ContextRequest, usable: Iterable[Memory], valuation: Valuation
) -> list[Reasoned]:
    """Return what stands in the block whatever the task: pinned, rules, lifted, whole."""
    modes = modes_of(workspace.settings, request)
    shown: list[Reasoned] = []
    for memory in valuation.standing_first(usable):
        worth = valuation.worth(memory)
        is_needed = mode_of(memory, modes) != "rag" and _is_likely(request, worth)
        if memory.pinned or is_needed:
            why = worth._replace(answers=0.0, place=0.0, kin=0.0).reason
            shown.append((memory, "pinned" if memory.pinned else why))
    return shown


def _is_likely(request: ContextRequest, worth: Worth) -> bool:
    """Tell whether a context shows what is worth so much: any budget that was named is filled."""
    return request.budget is not None or worth.likelihood >= LEAST_LIKELY


def _id_of(found: Memory | Scored) -> str:
    return found.id if isinstance(found, Memory) else found[1].id


def _newest_first(
    found: Sequence[Reasoned], usable: UsableMemories, differing: Mapping[str, SaidOtherwise]
) -> list[Reasoned]:
    """Return what was found, each memory behind the newer one that changes it, found or not."""
    ids = with_newer((_id_of(one) for one, _ in found), differing)
    both = [*found, *((usable[identifier], "related") for identifier in ids[len(found) :])]
    return [both[place] for place in newer_first(ids, differing)]


def _behind_newer(item: Item, differing: Mapping[str, SaidOtherwise]) -> Item:
    """Return an item that is only shown with the newer memory that updates or contradicts it."""
    found = differing.get(item.id)
    newer = None if found is None else found.newer
    return item if newer is None else msgspec.structs.replace(item, via=newer)


def _in_order(request: ContextRequest, usable: UsableMemories, answers: Answers) -> list[Reasoned]:
    """Return memories and episodes that answer, the most worth for their tokens first.

    Where nothing weighs, only what every task needs does; where nobody asked, what was found. Of
    so few memories that all have room, the others follow.
    """
    rules, valuation = answers.valuation.rules, answers.valuation
    refused = {left.id for left in answers.below}
    given = bool(task_of(request))
    places: list[tuple[tuple[object, ...], Reasoned]] = []
    for memory in usable:
        worth = valuation.worth(memory)
        fits = worth.value >= rules.floor if answers.weighs else worth.always >= rules.always
        fits = fits and valuation.is_apt(memory, worth) and _is_likely(request, worth)
        fits = memory.pinned or fits if given else memory.id in valuation.answers
        why = "pinned" if memory.pinned else worth.reason if fits else "few"
        if (fits or usable.is_whole) and memory.id not in refused:
            places.append(
                (
                    (
                        not memory.pinned,
                        not worth.place,
                        -rules.order(worth.value, memory.tokens),
                        *tie(memory),
                    ),
                    (memory, why),
                )
            )
    for one in answers.found:
        if one[0] is SearchKind.EPISODE and (answers.weighs or not given):
            worth = Worth(answers=valuation.answers[one[1].id])
            if given and not _is_likely(request, worth):
                continue
            order = rules.order(worth.value, EPISODE_TOKENS)
            places.append(
                (
                    (True, True, -order, 0.0, moment_of(one[1].id) or UNDATED, "", ""),
                    (one, "answers"),
                )
            )
    places.sort(key=lambda place: place[0])
    return [found for _, found in places]


def _recalled(
    workspace: Workspace,
    request: ContextRequest,
    usable: UsableMemories,
    answers: Answers,
    ordered: list[Reasoned],
    differing: Mapping[str, SaidOtherwise],
) -> Recalled:
    """Yield what is in order as items, each memory followed by those that it brings along."""
    scores = answers.scores()
    for found, why in ordered:
        if not isinstance(found, Memory):
            yield from (("recalled", episode_item(one)) for one in opened(workspace, [found]))
            continue
        score = scores.get(found.id)
        item = memory_item(found, ids=request.ids, score=score, why=why)
        yield "recalled", _behind_newer(item, differing)
        for _, place, hit in answers.brought_by(found.id):
            item = memory_item(
                usable[place.id], ids=request.ids, score=hit.score, via=found.id, why="related"
            )
            yield "recalled", item


def _said(workspace: Workspace, answers: Answers, budget: int) -> Recalled:
    """Yield the messages that answer; of long ones the passages that do.

    A secret is taken out before a part of it could be, and again with all that is shown.
    """
    from pmem.core.context.passages import matching_passages, shown_characters
    from pmem.core.retrieval.question import searched_part
    from pmem.core.text.terms import terms

    wanted = frozenset(terms(searched_part(answers.asked)))
    for found in opened(workspace, answers.said):
        message = found.document
        most = shown_characters(message, budget)
        if len(message.content) > most or speech_of(message) in TOOLS:
            message = workspace.mask.fields(message)
            content = matching_passages(message, wanted, most)
            message = msgspec.structs.replace(message, content=content)
        yield "earlier", said_item(found, message)


def _pinned_memories(
    request: ContextRequest, usable: Iterable[Memory], differing: Mapping[str, SaidOtherwise]
) -> Recalled:
    """Yield the pinned memories: they may take whatever the budget has left."""
    if not task_of(request):
        return
    for memory in usable:
        if memory.pinned:
            item = memory_item(memory, ids=request.ids, why="pinned")
            yield "recalled", _behind_newer(item, differing)


def _pinned(
    workspace: Workspace, talk: ConversationWindow, recent: Sequence[Item]
) -> list[tuple[str, Item]]:
    """Return the pinned messages of a talk: among the recent ones, and in the chunks it shows."""
    wanted = {message.id for message in talk.recent if message.pinned}
    found = [("recent", item) for item in recent if item.id in wanted]
    found += [
        ("earlier", pinned_item(workspace.mask.fields(message), chunk))
        for chunk in talk.chunks
        for message in chunk.messages
        if message.pinned and message.id not in wanted | talk.cleared
    ]
    return found


def _unneeded(
    usable: UsableMemories, answers: Answers, candidates: Iterable[str], *, asked: bool
) -> Iterator[Omitted]:
    """Yield what is no candidate: little speaks for it, or nothing does, or nobody asked."""
    known = {*candidates, *(left.id for left in answers.below)}
    scores = answers.scores()
    for memory in usable:
        if memory.id not in known:
            connects = answers.valuation.worth(memory).connects
            reason = "below_threshold" if connects else "no_match"
            reason = reason if asked else "unasked"
            yield Omitted(memory.id, reason, scores.get(memory.id))
    for identifier in _unneeded_episodes(answers, known):
        yield Omitted(identifier, "below_threshold", scores[identifier])


def _count_unneeded(
    usable: UsableMemories, answers: Answers, candidates: Iterable[str]
) -> dict[str, int]:
    """Count what is no candidate, memories that were not even read among it."""
    known = {*candidates, *(left.id for left in answers.below)}
    return {
        "no_match": usable.count - sum(identifier in usable for identifier in known),
        "below_threshold": sum(1 for _ in _unneeded_episodes(answers, known)),
    }


def _unneeded_episodes(answers: Answers, known: Collection[str]) -> Iterator[str]:
    ids = (place.id for kind, place, _ in answers.found if kind is SearchKind.EPISODE)
    return (identifier for identifier in ids if identifier not in known)
