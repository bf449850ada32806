"""Memories, what was learned, what waits to become one, and how all of it is found."""

from typing import TYPE_CHECKING, Final

from pmem.operations.operation import Operation, Room

if TYPE_CHECKING:
    import pmem.assistants.hook_answers
    import pmem.memory.consent
    import pmem.memory.facts
    import pmem.memory.journal
    import pmem.memory.lifecycle
    import pmem.memory.links
    import pmem.memory.memories
    import pmem.memory.outcomes
    import pmem.memory.reading
    import pmem.memory.undo
    import pmem.memory.why
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

# fmt: off

# memory: what was learned

ADD: Final = Operation("add", "Add a memory, or find the one that should be updated instead",
    pmem.memory.memories.add, writes="records", gate="request", logged="hotpath:create")
SHARE: Final = Operation("share", "Copy a memory of your own into the project",
    pmem.memory.lifecycle.share, writes="records", gate="items", by_person=True,
    logged="hotpath:create")
SHOW: Final = Operation("show", "Show a record, or a message, whole", pmem.memory.reading.show,
    recalls=True)
LIST: Final = Operation("list", "List memories, the oldest first",
    pmem.memory.reading.list_memories)
BLOCK: Final = Operation("block", "Write memories as the block of a system prompt",
    pmem.memory.reading.write_block)
ADD_ALL: Final = Operation("add_all", "Add several memories, all of them or none",
    pmem.memory.memories.add_all, writes="records", gate="request", logged="hotpath:create")
EDIT: Final = Operation("edit", "Change a memory; its history keeps what it was",
    pmem.memory.memories.edit, writes="records", gate="request", effect="idempotent")
SUPERSEDE: Final = Operation("supersede",
    "Let a new memory take the place of one, which held until now", pmem.memory.lifecycle.supersede,
    writes="records", gate="request")
SUPERSEDE_BY: Final = Operation("supersede_by",
    "Let a memory that exists take the place of another one", pmem.memory.lifecycle.supersede_by,
    writes="records", effect="idempotent")
REMOVE: Final = Operation("rm",
    "Remove memories or episodes; `restore` brings them back until they are purged",
    pmem.memory.lifecycle.remove, writes="records", effect="idempotent")
RESTORE: Final = Operation("restore", "Bring back what was removed or archived",
    pmem.memory.lifecycle.restore, writes="records", unless="dry_run", effect="idempotent")
PURGE: Final = Operation("purge", "Delete records for good, with every link to them",
    pmem.memory.lifecycle.purge, writes="records", effect="destructive")
PIN: Final = Operation("pin", "Pin a memory or an episode, so that it never fades, or unpin it",
    pmem.memory.memories.pin, writes="records", effect="idempotent")
LINK: Final = Operation("link", "Link one memory to another", pmem.memory.links.link,
    writes="records", effect="idempotent")
UNLINK: Final = Operation("unlink", "Remove the links from one memory to another",
    pmem.memory.links.unlink, writes="records", effect="idempotent")
TRIED: Final = Operation("tried", "Note what was tried and failed, and what worked instead",
    pmem.memory.outcomes.note_attempt, writes="records", gate="request", logged="hotpath:create")
OUTCOME: Final = Operation("outcome", "Note how a decision turned out",
    pmem.memory.outcomes.note_outcome, writes="records", gate="request")
DUE: Final = Operation("due", "List what needs another look, the most overdue first",
    pmem.memory.outcomes.list_due)
WHY: Final = Operation("why", "Show what was decided, tried and replaced at a place in a file",
    pmem.memory.why.explain, recalls=True)
UNDO: Final = Operation("undo", "Take back the last commands of this clone, as new events",
    pmem.memory.undo.undo, "whole", doing="undo commands", writes="records", unless="dry_run",
    by_person=True)
WEEK: Final = Operation("week",
    "Show what was learned, changed and forgotten since a moment, and by whom",
    pmem.memory.journal.look_back)
NAMES: Final = Operation("names", "List the tags or the subjects, and how many memories have each",
    pmem.memory.reading.list_names)
HISTORY: Final = Operation("history", "Show what happened to a record, the oldest event first",
    pmem.memory.journal.show_history)
VERSIONS: Final = Operation("versions", "List what a memory has said, the first version first",
    pmem.memory.journal.list_versions)
EVENTS: Final = Operation("events", "Show what happened to all records, the newest last",
    pmem.memory.journal.list_events)
OPERATIONS: Final = Operation("operations", "Show what ran in this clone",
    pmem.memory.journal.list_operations)
EXPORT_AUDIT: Final = Operation("export.audit", "Export the audit trail, one event each",
    pmem.memory.journal.audit)

# facts and consent

FACTS: Final = Operation("facts.list", "List the facts that messages state, the surest first",
    pmem.memory.facts.list_facts, categories=("activity",))
CONFIRM: Final = Operation("confirm",
    "Trust all memories that an agent noted: a person has looked at them",
    pmem.memory.changes.confirm, writes="records", by_person=True, effect="idempotent")
PROMOTE: Final = Operation("facts.promote", "Make memories of facts", pmem.memory.facts.promote,
    categories=("activity",), writes="records", gate="request", effect="idempotent")
REJECT_FACTS: Final = Operation("facts.reject",
    "Reject facts: they are no longer pending, and never noted again", pmem.memory.facts.reject,
    categories=("activity",), writes="records", effect="destructive")
WAITING: Final = Operation("consent.list",
    "List what waits for consent or for a second signal, the oldest first",
    pmem.memory.consent.list_waiting, scope="nothing")
APPROVE: Final = Operation("consent.approve", "Agree: remember what was proposed",
    pmem.memory.consent.approve, writes="beside", gate="request", effect="idempotent",
    by_person=True)
REJECT: Final = Operation("consent.reject",
    "Do not agree: forget what was proposed, and do not ask again", pmem.memory.consent.reject,
    writes="beside", gate="request", effect="destructive", by_person=True)


# search: what is found again

SEARCH: Final = Operation("search", "Find memories, episodes, chunk summaries and messages",
    pmem.search.search.search, recalls=True, logged="hotpath:search")
CONTEXT: Final = Operation("context", "Write the block that a model reads, within a token budget",
    pmem.search.contexts.build_context, gate="thread", recalls=True, logged="context:search")
HOOK: Final = Operation("hook",
    "Answer a coding assistant's hook: a session's start, a prompt, an end",
    pmem.assistants.hook_answers.answer_hook, gate="thread", recalls=True, logged="context:hook")
QUERY: Final = Operation("query", "Answer an agent's request, within its allowlist and its budget",
    pmem.search.queries.query, recalls=True, logged="hotpath:query")
EVALUATE: Final = Operation("eval.run", "Measure recall on a golden set",
    pmem.search.evaluation.evaluate, "whole", doing="evaluate recall", writes="beside",
    only_if="accept", effect="idempotent")
ADD_QUESTION: Final = Operation("eval.add", "Add what a query must find to a golden set",
    pmem.search.golden.add, "whole", doing="add to a golden set", writes="records", gate="request",
    effect="idempotent")
MISSES: Final = Operation("eval.misses",
    "List prompts that were not shown what answers them, for a golden set",
    pmem.search.golden.misses, "whole", doing="see what others asked", writes="beside",
    only_if="drop", effect="idempotent")

# threads and checkpoints

DELTA: Final = Operation("delta", "Show what is new to a thread since it last asked",
    pmem.search.threads.tell_news, gate="thread")
SAVE_CHECKPOINT: Final = Operation("checkpoint.save",
    "Save a thread's state in place of the one saved before", pmem.search.threads.save_checkpoint,
    writes="beside", gate="request", effect="idempotent", scope="nothing")
LOAD_CHECKPOINT: Final = Operation("checkpoint.load",
    "Return a thread's state as it was saved last", pmem.search.threads.load_checkpoint,
    scope="nothing")
CHECKPOINTS: Final = Operation("checkpoint.list", "List checkpoints, the last saved first",
    pmem.search.threads.list_checkpoints, scope="nothing")
REMOVE_CHECKPOINT: Final = Operation("checkpoint.rm", "Remove a thread's saved state for good",
    pmem.search.threads.remove_checkpoint, writes="beside", effect="destructive", scope="nothing",
    is_final=True)
WORK: Final = Operation("work.list", "List the work that waits for a model",
    pmem.upkeep.work.doing.list_work, categories=("activity", "event"))
NEXT_WORK: Final = Operation("work.next",
    "Hand out the next work for a model, with its prompt and its answer's schema",
    pmem.upkeep.work.doing.hand_out, categories=("activity", "event"))
APPLY_WORK: Final = Operation("work.apply",
    "Apply answers to work, checked, while what they rest on has not moved",
    pmem.upkeep.work.doing.apply_answers, categories=("activity", "event"), writes="beside",
    effect="idempotent")
TEST_MODEL: Final = Operation("model.test",
    "Try the chosen model with one made-up example of each task",
    pmem.upkeep.work.trying.test_model, scope="nothing")
