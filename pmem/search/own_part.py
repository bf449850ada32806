"""What a context or a search of a project is given of the memory of whoever asks."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

import msgspec

from pmem.conversation.window import ConversationWindow
from pmem.core.context.modes import mode_of
from pmem.core.context.parts import Item, Omitted
from pmem.core.context.worth import tie
from pmem.core.lifecycle.neighbours import SaidOtherwise, differences
from pmem.errors import PmemError
from pmem.project.own_memory import own_beside, told_as_left_out
from pmem.project.workspace import Workspace
from pmem.search.context_answers import Answers, rank_answers
from pmem.search.context_candidates import gather_candidates
from pmem.search.context_items import memory_item
from pmem.search.context_memories import UsableMemories
from pmem.search.context_request import ContextRequest, modes_of, task_of
from pmem.values.records import Memory, MemoryType

SHARE: Final = 0.1
"""Share of a context that one's own memory may take."""
RULES: Final = (MemoryType.PREFERENCE, MemoryType.CONSTRAINT)
"""What stands whatever the task, beside what is pinned."""


class OwnPart(msgspec.Struct, frozen=True, kw_only=True):
    """What there is for a context, and what is to be told of it.

    Attributes:
        standing: what stands whatever the task, the first before the others.
        answering: what answers the task.
        share: of the budget, what all of it may take.
        left_out: what no context shows, or this one does not.
        unnamed: how many others there are, by reason.
        notes: what was wrong with it.
        workspace: the memory that it is of; None where there is none for whoever asks.
        memories: those that were read.
        differing: how those stand that contradict each other, by id.
    """

    standing: tuple[Item, ...] = ()
    answering: tuple[Item, ...] = ()
    share: float = 0.0
    left_out: tuple[Omitted, ...] = ()
    unnamed: Mapping[str, int] = {}
    notes: tuple[str, ...] = ()
    workspace: Workspace | None = None
    memories: tuple[Memory, ...] = ()
    differing: Mapping[str, SaidOtherwise] = {}


def own_part(workspace: Workspace, request: ContextRequest, asked: str, budget: int) -> OwnPart:
    """Gather what a context could show of the memory of whoever asks.

    What is wrong with it keeps nobody from the project's: that is told.
    """
    try:
        own = own_beside(workspace)
        if own is None:
            return OwnPart()
        room = int(budget * SHARE)
        return msgspec.structs.replace(
            _gathered(own, _request(request), asked, room),
            share=SHARE,
        )
    except PmemError as error:
        return OwnPart(notes=told_as_left_out(workspace, error))


def _request(request: ContextRequest) -> ContextRequest:
    """Return the same question to a memory that knows neither the conversation nor its thread.

    Nothing is named by its id: whoever reads that would look for it in the project.
    """
    return msgspec.structs.replace(
        request, thread=None, conversation=None, agent=None, paths=(), only="memories", ids=False
    )


def _gathered(own: Workspace, request: ContextRequest, asked: str, room: int) -> OwnPart:
    usable = UsableMemories(own, request, room)
    answers = rank_answers(own, request, asked, max(1, room), usable, ())
    usable.read_rules(RULES)
    usable.read_judged()
    differing = differences(usable)
    found = gather_candidates(
        own, request, usable, ConversationWindow(), answers, differing, max(1, room)
    )
    standing = tuple(_standing(own, request, usable, answers))
    answering = tuple(
        msgspec.structs.replace(item, mine=True) for _, item in found.recalled if asked
    )
    offered = {item.id for item in (*standing, *answering)}
    return OwnPart(
        standing=standing,
        answering=answering,
        left_out=tuple(_unneeded(found.left_out, offered)),
        unnamed=found.unnamed,
        notes=tuple(f"your own memory: {problem.message}" for problem in own.problems),
        workspace=own,
        memories=tuple(usable),
        differing=differing,
    )


def _standing(
    own: Workspace, request: ContextRequest, usable: Iterable[Memory], answers: Answers
) -> Iterator[Item]:
    """Yield what is pinned, then the rules, those that answer the task best before the others."""
    scores = answers.scores() if task_of(request) else {}
    modes = modes_of(own.settings, request)
    chosen = [
        memory
        for memory in usable
        if memory.pinned or (memory.type in RULES and mode_of(memory, modes) != "rag")
    ]
    chosen.sort(
        key=lambda memory: (
            not memory.pinned,
            -(scores.get(memory.id) or 0.0),
            -memory.importance,
            *tie(memory),
        )
    )
    for memory in chosen:
        item = memory_item(
            memory,
            score=scores.get(memory.id),
            why="pinned" if memory.pinned else "yours",
        )
        yield msgspec.structs.replace(item, mine=True)


def _unneeded(left_out: Iterable[Omitted], offered: Collection[str]) -> Iterator[Omitted]:
    for left in left_out:
        if left.id not in offered:
            yield msgspec.structs.replace(left, mine=True)
