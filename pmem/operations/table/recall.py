"""Searching, contexts, the threads that are told what is new, and work for models."""

from typing import TYPE_CHECKING, Final

from pmem.operations.operation import Operation, Room

if TYPE_CHECKING:
    import pmem.assistants.hook_answers
    import pmem.search.contexts
    import pmem.search.evaluation
    import pmem.search.golden
    import pmem.search.queries
    import pmem.search.search
    import pmem.search.threads
    import pmem.upkeep.work.doing
    import pmem.upkeep.work.trying
else:
    pmem = Room("pmem")  # by name alone: nothing of a use case is loaded before it runs

# search: what is found again

SEARCH: Final = Operation(
    "search", "Find memories, episodes, chunk summaries and messages", pmem.search.search.search,
    recalls=True, logged="hotpath:search"
)  # fmt: skip
CONTEXT: Final = Operation(
    "context", "Write the block that a model reads, within a token budget",
    pmem.search.contexts.build_context, gate="thread", recalls=True, logged="context:search"
)  # fmt: skip
HOOK: Final = Operation(
    "hook", "Answer a coding assistant's hook: a session's start, a prompt, an end",
    pmem.assistants.hook_answers.answer_hook, gate="thread", recalls=True, logged="context:hook"
)  # fmt: skip
QUERY: Final = Operation(
    "query", "Answer an agent's request, within its allowlist and its budget",
    pmem.search.queries.query, recalls=True, logged="hotpath:query"
)  # fmt: skip
EVALUATE: Final = Operation(
    "eval.run", "Measure recall on a golden set", pmem.search.evaluation.evaluate, "whole",
    doing="evaluate recall", writes="beside", only_if="accept", effect="idempotent"
)  # fmt: skip
ADD_QUESTION: Final = Operation(
    "eval.add", "Add what a query must find to a golden set", pmem.search.golden.add, "whole",
    doing="add to a golden set", writes="records", gate="request", effect="idempotent"
)  # fmt: skip
MISSES: Final = Operation(
    "eval.misses", "List prompts that were not shown what answers them, for a golden set",
    pmem.search.golden.misses, "whole", doing="see what others asked", writes="beside",
    only_if="drop", effect="idempotent"
)  # fmt: skip

# threads and checkpoints

DELTA: Final = Operation(
    "delta", "Show what is new to a thread since it last asked", pmem.search.threads.tell_news,
    gate="thread"
)  # fmt: skip
SAVE_CHECKPOINT: Final = Operation(
    "checkpoint.save", "Save a thread's state in place of the one saved before",
    pmem.search.threads.save_checkpoint, writes="beside", gate="request", effect="idempotent",
    scope="nothing"
)  # fmt: skip
LOAD_CHECKPOINT: Final = Operation(
    "checkpoint.load", "Return a thread's state as it was saved last",
    pmem.search.threads.load_checkpoint, scope="nothing"
)  # fmt: skip
CHECKPOINTS: Final = Operation(
    "checkpoint.list", "List checkpoints, the last saved first",
    pmem.search.threads.list_checkpoints, scope="nothing"
)  # fmt: skip
REMOVE_CHECKPOINT: Final = Operation(
    "checkpoint.rm", "Remove a thread's saved state for good",
    pmem.search.threads.remove_checkpoint, writes="beside", effect="destructive", scope="nothing",
    is_final=True
)  # fmt: skip
WORK: Final = Operation(
    "work.list", "List the work that waits for a model", pmem.upkeep.work.doing.list_work,
    categories=("activity", "event")
)  # fmt: skip
NEXT_WORK: Final = Operation(
    "work.next", "Hand out the next work for a model, with its prompt and its answer's schema",
    pmem.upkeep.work.doing.hand_out, categories=("activity", "event")
)  # fmt: skip
APPLY_WORK: Final = Operation(
    "work.apply", "Apply answers to work, checked, while what they rest on has not moved",
    pmem.upkeep.work.doing.apply_answers, categories=("activity", "event"), writes="beside",
    effect="idempotent"
)  # fmt: skip
TEST_MODEL: Final = Operation(
    "model.test", "Try the chosen model with one made-up example of each task",
    pmem.upkeep.work.trying.test_model, scope="nothing"
)  # fmt: skip
