"""How a conversation stands: what it holds, and what its next context shows of it."""

import msgspec

from pmem.conversation.pruning import Usage, usage
from pmem.memory.conversations import LookRequest
from pmem.project.workspace import Workspace
from pmem.search.context_request import ContextRequest
from pmem.search.contexts import build_context


class ContextUsage(msgspec.Struct, frozen=True, kw_only=True):
    """How a conversation stands, and what its next context of the default budget holds.

    `parts` are the tokens of each section, without what a query would recall.
    """

    usage: Usage
    budget: int
    used: int
    parts: dict[str, int]


def overlay(workspace: Workspace, request: LookRequest) -> ContextUsage:
    """Count what a conversation holds and what a context shows of it, part by part.

    Raises:
        NotFound, Ambiguous: The conversation.
        Damaged: A chunk's file is missing or cannot be used.
    """
    figures = usage(workspace, request.conversation)
    asked = ContextRequest(conversation=figures.conversation, recall=False, counts=False)
    built = build_context(workspace, asked)
    return ContextUsage(
        usage=figures,
        budget=built.budget,
        used=built.tokens,
        parts=built.allocation.by_section,
    )
