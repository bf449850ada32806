"""What a context of a project is given of the memory of whoever asks."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from pmem.conversation.window import ConversationWindow
from pmem.core.context.parts import Candidates, Item, Omitted
from pmem.core.context.worth import mode_of, tie
from pmem.core.lifecycle.neighbours import differences
from pmem.errors import PmemError
from pmem.project.own_memory import own_beside, told_as_left_out
from pmem.project.workspace import Workspace
from pmem.search.context_answers import ContextSource, rank_answers
from pmem.search.context_candidates import gather_candidates
from pmem.search.context_items import memory_item
from pmem.search.context_request import ContextRequest, modes_of, task_of
from pmem.values.records import Memory, MemoryType

SHARE: Final = 0.1
"""Share of a context that one's own memory may take."""
RULES: Final = (MemoryType.PREFERENCE, MemoryType.CONSTRAINT)
"""What stands whatever the task, beside what is pinned."""


class OwnPart(msgspec.Struct, frozen=True, kw_only=True):
    """What there is for a context, and what is to be told of it.

    `standing` is what stands whatever the task, `answering` what answers it; of the others some are
    `left_out` by name and `unnamed` counts the rest. `notes` say what was wrong. The `source` is
    None where there is none for whoever asks.
    """

    standing: tuple[Item, ...] = ()
    answering: tuple[Item, ...] = ()
    left_out: tuple[Omitted, ...] = ()
    unnamed: Mapping[str, int] = {}
    notes: tuple[str, ...] = ()
    source: ContextSource | None = None

    def joined_to(self, candidates: Candidates) -> Candidates:
        """Return candidates of a project together with these."""
        return msgspec.structs.replace(
            candidates,
            yours_share=SHARE,
            answered=candidates.answered or bool(self.answering),
            yours=self.standing,
            yours_answering=self.answering,
            left_out=[*candidates.left_out, *self.left_out],
            unnamed=Counter(candidates.unnamed) + Counter(self.unnamed),
        )


def own_part(workspace: Workspace, request: ContextRequest, asked: str, budget: int) -> OwnPart:
    """Gather what a context could show of the memory of whoever asks.

    The workspace is the project's, before anything narrows what may be seen of it. What is wrong
    with a person's own memory keeps nobody from the project's: that is told.
    """
    try:
        own = own_beside(workspace)
        return OwnPart() if own is None else _gathered(own, request, asked, int(budget * SHARE))
    except PmemError as error:
        return OwnPart(notes=told_as_left_out(workspace, error))


def _gathered(own: Workspace, request: ContextRequest, asked: str, room: int) -> OwnPart:
    """Put the question to a memory that knows neither the conversation nor its thread.

    Nothing is named by its id: whoever reads that would look for it in the project.
    """
    request = msgspec.structs.replace(
        request, thread=None, conversation=None, agent=None, paths=(), only="memories", ids=False
    )
    source = rank_answers(own, request, asked, max(1, room))
    usable = source.usable
    usable.read_rules(RULES)
    usable.read_judged()
    source = msgspec.structs.replace(source, differing=differences(usable, usable.doubts.is_lesser))
    found = gather_candidates(source, ConversationWindow())
    standing = tuple(_standing(source))
    answering = tuple(
        msgspec.structs.replace(item, mine=True) for _, item in found.recalled if asked
    )
    offered = {item.id for item in (*standing, *answering)}
    return OwnPart(
        standing=standing,
        answering=answering,
        left_out=tuple(
            msgspec.structs.replace(left, mine=True)
            for left in found.left_out
            if left.id not in offered
        ),
        unnamed=found.unnamed,
        notes=tuple(f"your own memory: {problem.message}" for problem in own.problems),
        source=source,
    )


def _standing(source: ContextSource) -> Iterator[Item]:
    """Yield what is pinned, then the rules, those that answer the task best before the others."""
    scores = source.scores if task_of(source.request) else {}
    modes = modes_of(source.workspace.settings, source.request)

    def order(memory: Memory) -> tuple[object, ...]:
        score = scores.get(memory.id) or 0.0
        return (not memory.pinned, -score, -memory.importance, *tie(memory))

    for memory in sorted(source.usable, key=order):
        is_rule = memory.type in RULES and mode_of(memory, modes) != "rag"
        if memory.pinned or is_rule:
            why = "pinned" if memory.pinned else "yours"
            score = scores.get(memory.id)
            item = memory_item(memory, score=score, why=why, plain=source.is_plain)
            yield msgspec.structs.replace(item, mine=True)
