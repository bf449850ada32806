"""Everything that could enter a context, each kind in the order of its priority."""

from collections.abc import Iterator
from typing import Final

from pmem.conversation.window import ConversationWindow
from pmem.core.context.modes import mode_of
from pmem.core.context.parts import Candidates, Item
from pmem.core.context.worth import Valuation, tie
from pmem.project.workspace import Workspace
from pmem.search.context_answers import Answers
from pmem.search.context_items import (
    exchanges,
    memory_item,
    message_item,
    recalled_item,
    summary_item,
)
from pmem.search.context_request import ContextRequest, task_of
from pmem.search.search import Scored, SearchKind, opened
from pmem.values.ids import moment_of
from pmem.values.records import Memory
from pmem.values.times import UNDATED

EPISODE_TOKENS: Final = 30
"""An episode is put in its place before it is read, as if it were so long."""
Recalled = Iterator[tuple[str, Item]]


def gather_candidates(
    workspace: Workspace,
    request: ContextRequest,
    usable: list[Memory],
    talk: ConversationWindow,
    answers: Answers,
) -> Candidates:
    """Gather everything that could go in.

    Args:
        workspace: Where it comes from.
        request: What the context is for.
        usable: The memories that contexts may show.
        talk: The conversation.
        answers: What answers the task.
    """
    settings = workspace.settings
    given = bool(task_of(request))
    retained = settings.short_term_retention_turns
    near = sum(turns < retained for turns in talk.turns_ago)
    said = map(workspace.mask.fields, talk.recent)
    recent = [message_item(message, place) for place, message in enumerate(said)]
    scores = answers.scores()
    stable = _standing(workspace, usable, answers.valuation) if given else _all(workspace, usable)
    block = [
        memory_item(memory, ids=request.ids, score=scores.get(memory.id), why=why)
        for memory, why in stable
    ]
    return Candidates(
        system=[message_item(message, place) for place, message in enumerate(talk.system)],
        memory=block,
        memory_share=settings.context.standing_share if given else None,
        recalled=_recalled(workspace, request, usable, answers),
        said=map(recalled_item, opened(workspace, answers.said)),
        said_share=settings.context.said_share if answers.found else 1.0,
        recallable=list(scores.items()),
        summaries=[summary_item(chunk) for chunk in talk.chunks[:near]],
        older=[summary_item(chunk) for chunk in talk.chunks[near:]],
        further=_further(request, usable, answers) if given else block,
        recent=recent,
        exchanges=exchanges(talk, recent),
        asked=given,
    )


def _all(workspace: Workspace, usable: list[Memory]) -> list[tuple[Memory, str]]:
    """Return the memories for a block that nobody asked for, the most important first."""
    modes = workspace.settings.categories.context
    shown = [(mode_of(memory, modes), memory) for memory in usable]
    shown = [(mode, memory) for mode, memory in shown if memory.pinned or mode != "rag"]
    shown.sort(
        key=lambda one: (not one[1].pinned, one[0] != "all", -one[1].importance, *tie(one[1]))
    )
    return [(memory, "pinned" if memory.pinned else "importance") for _, memory in shown]


def _standing(
    workspace: Workspace, usable: list[Memory], valuation: Valuation
) -> list[tuple[Memory, str]]:
    """Return what stands in the block whatever the task: pinned, lifted or standing."""
    modes = workspace.settings.categories.context
    shown = []
    for memory in valuation.standing_first(usable):
        if memory.pinned or mode_of(memory, modes) != "rag":
            worth = valuation.worth(memory)
            why = "standing" if worth.standing >= worth.lifted else "lifted"
            shown.append((memory, "pinned" if memory.pinned else why))
    return shown


def _recalled(
    workspace: Workspace, request: ContextRequest, usable: list[Memory], answers: Answers
) -> Recalled:
    """Yield memories and episodes that answer, the most worth for their tokens first.

    Each memory is followed by those that it brings along. Where nobody asked, only what was
    found is there.
    """
    rules, valuation = answers.valuation.rules, answers.valuation
    scores = answers.scores()
    given = bool(task_of(request))
    known = {memory.id: memory for memory in usable}
    refused = {left.id for left in answers.below}
    places: list[tuple[tuple[object, ...], Memory | Scored]] = []
    for memory in usable:
        if memory.id in refused:
            continue
        worth = valuation.worth(memory)
        if worth.value >= rules.floor if given else memory.id in scores:
            places.append(((-rules.order(worth.value, memory.tokens), *tie(memory)), memory))
    for one in answers.found:
        if one[0] is SearchKind.EPISODE:
            order = rules.order(valuation.answers[one[1].id], EPISODE_TOKENS)
            places.append(((-order, 0.0, moment_of(one[1].id) or UNDATED, ""), one))
    places.sort(key=lambda place: place[0])
    for _, found in places:
        if not isinstance(found, Memory):
            yield from map(recalled_item, opened(workspace, [found]))
            continue
        why = valuation.worth(found).reason
        yield "recalled", memory_item(found, ids=request.ids, score=scores.get(found.id), why=why)
        for _, place, hit in answers.brought_by(found.id):
            other = known[place.id]
            yield (
                "recalled",
                memory_item(other, ids=request.ids, score=hit.score, via=found.id, why="related"),
            )


def _further(request: ContextRequest, usable: list[Memory], answers: Answers) -> list[Item]:
    """Return the memories that hardly answer, which take the room that is left."""
    rules, valuation = answers.valuation.rules, answers.valuation
    refused = {left.id for left in answers.below}
    rest = [(valuation.worth(memory), memory) for memory in usable if memory.id not in refused]
    rest = [one for one in rest if one[0].value < rules.floor]
    rest.sort(key=lambda one: (-rules.order(one[0].value, one[1].tokens), *tie(one[1])))
    return [memory_item(memory, ids=request.ids, why=worth.reason) for worth, memory in rest]
