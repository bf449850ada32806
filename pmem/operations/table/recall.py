"""Searching, contexts, and the threads that are told what is new."""

from __future__ import annotations  # a row's type is for readers and checkers: it costs nothing

from typing import TYPE_CHECKING, Final

from pmem.operations.operation import Operation

if TYPE_CHECKING:
    from pmem.assistants.hook_answers import HookAnswer, HookRequest
    from pmem.core.queries import QueryRequest
    from pmem.search.context_request import BuiltContext, ContextRequest
    from pmem.search.evaluation import Evaluation, EvaluationRequest
    from pmem.search.golden import QuestionAdded, QuestionRequest
    from pmem.search.misses import Misses, MissesRequest
    from pmem.search.picking import SearchRequest
    from pmem.search.queries import QueryAnswer
    from pmem.search.search import SearchResult
    from pmem.search.threads import (
        Checkpoint,
        CheckpointInfo,
        CheckpointListing,
        CheckpointRequest,
        CheckpointsRequest,
        Delta,
        SaveRequest,
        ThreadRequest,
    )

# search: what is found again

SEARCH: Final[Operation[SearchRequest, SearchResult]] = Operation(
    "search", "Find memories, episodes, chunk summaries and messages", "search.search:search",
    recalls=True, logged="hotpath:search"
)  # fmt: skip
CONTEXT: Final[Operation[ContextRequest, BuiltContext]] = Operation(
    "context", "Write the block that a model reads, within a token budget",
    "search.contexts:build_context", gate="thread", recalls=True, logged="context:search"
)  # fmt: skip
HOOK: Final[Operation[HookRequest, HookAnswer]] = Operation(
    "hook", "Answer a coding assistant's hook: a session's start, a prompt, an end",
    "assistants.hook_answers:answer_hook", gate="thread", recalls=True, logged="context:hook"
)  # fmt: skip
QUERY: Final[Operation[QueryRequest, QueryAnswer]] = Operation(
    "query", "Answer an agent's request, within its allowlist and its budget",
    "search.queries:query", recalls=True, logged="hotpath:query"
)  # fmt: skip
EVALUATE: Final[Operation[EvaluationRequest, Evaluation]] = Operation(
    "eval.run", "Measure recall on a golden set", "search.evaluation:evaluate",
    "whole", doing="evaluate recall", writes="beside", only_if="accept", effect="idempotent"
)  # fmt: skip
ADD_QUESTION: Final[Operation[QuestionRequest, QuestionAdded]] = Operation(
    "eval.add", "Add what a query must find to a golden set", "search.golden:add",
    "whole", doing="add to a golden set", writes="records", gate="request", effect="idempotent"
)  # fmt: skip
MISSES: Final[Operation[MissesRequest, Misses]] = Operation(
    "eval.misses", "List prompts that were not shown what answers them, for a golden set",
    "search.misses:misses",
    "whole", doing="see what others asked", writes="beside", only_if="drop", effect="idempotent"
)  # fmt: skip

# threads and checkpoints

DELTA: Final[Operation[ThreadRequest, Delta]] = Operation(
    "delta", "Show what is new to a thread since it last asked", "search.threads:tell_news",
    gate="thread"
)  # fmt: skip
SAVE_CHECKPOINT: Final[Operation[SaveRequest, CheckpointInfo]] = Operation(
    "checkpoint.save", "Save a thread's state in place of the one saved before",
    "search.threads:save_checkpoint",
    writes="beside", gate="request", effect="idempotent", scope="nothing"
)  # fmt: skip
LOAD_CHECKPOINT: Final[Operation[CheckpointRequest, Checkpoint]] = Operation(
    "checkpoint.load", "Return a thread's state as it was saved last",
    "search.threads:load_checkpoint", scope="nothing"
)  # fmt: skip
CHECKPOINTS: Final[Operation[CheckpointsRequest, CheckpointListing]] = Operation(
    "checkpoint.list", "List checkpoints, the last saved first",
    "search.threads:list_checkpoints", scope="nothing"
)  # fmt: skip
REMOVE_CHECKPOINT: Final[Operation[CheckpointRequest, CheckpointRequest]] = Operation(
    "checkpoint.rm", "Remove a thread's saved state for good", "search.threads:remove_checkpoint",
    writes="beside", effect="destructive", scope="nothing", is_final=True
)  # fmt: skip
