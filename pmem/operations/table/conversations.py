"""Conversations, what was said, and what apps remember of it."""

from typing import TYPE_CHECKING, Final

from pmem.operations.operation import Operation, Room

if TYPE_CHECKING:
    import pmem.apps.reading
    import pmem.apps.remembering
    import pmem.conversation.conversations
    import pmem.conversation.decision_records
    import pmem.conversation.episodes
    import pmem.conversation.exchange
    import pmem.conversation.git_history
    import pmem.conversation.message_changes
    import pmem.conversation.notes
    import pmem.conversation.pages
    import pmem.conversation.project_sources
    import pmem.conversation.pruning
    import pmem.conversation.sessions
    import pmem.search.contexts
else:
    pmem = Room("pmem")  # by name alone: nothing of a use case is loaded before it runs

# fmt: off

# conversation: what was said

START: Final = Operation("conversation.start", "Start a conversation; it becomes the current one",
    pmem.conversation.conversations.start, categories=("activity",), writes="records",
    gate="request")
SAY: Final = Operation("conversation.say", "Add a message to a conversation",
    pmem.conversation.conversations.say, categories=("activity",), writes="records", gate="request",
    logged="hotpath:classify", asks=("turn_facts", "episode", "chunk_summary"), asks_if="learn")
END: Final = Operation("conversation.end",
    "End a conversation; the app that it is held in remembers it",
    pmem.conversation.conversations.end, categories=("activity",), writes="beside", gate="request",
    effect="idempotent", asks=("episode", "chunk_summary"))
PAUSE: Final = Operation("conversation.pause", "Pause a conversation",
    pmem.conversation.conversations.pause, categories=("activity",), writes="records",
    effect="idempotent")
RESUME: Final = Operation("conversation.resume", "Make a paused or ended conversation active again",
    pmem.conversation.conversations.resume, categories=("activity",), writes="records",
    effect="idempotent")
CLEAR: Final = Operation("conversation.clear",
    "Let contexts start afresh; every message stays kept and searchable",
    pmem.conversation.conversations.clear, categories=("activity",), writes="records",
    effect="destructive")
CONVERSATIONS: Final = Operation("conversation.list", "List conversations, the earliest first",
    pmem.conversation.conversations.list_conversations, categories=("activity",))
TRANSCRIPT: Final = Operation("conversation.show",
    "Show a conversation with everything that was said in it", pmem.conversation.conversations.show,
    categories=("activity",))
PRUNE: Final = Operation("conversation.prune",
    "Leave messages out of contexts; every one stays kept and searchable",
    pmem.conversation.pruning.prune, categories=("activity",), writes="records", unless="dry_run",
    effect="idempotent")
PRUNED: Final = Operation("pruned_messages", "List which messages were pruned, when and why",
    pmem.conversation.pruning.list_pruned, categories=("activity",))
MARK: Final = Operation("conversation.mark", "Say how much a message counts, or pin it for good",
    pmem.conversation.message_changes.mark, categories=("activity",), writes="records",
    effect="idempotent")
REMOVE_MESSAGE: Final = Operation("conversation.rm",
    "Remove the text of one message; its place, who and when are kept",
    pmem.conversation.message_changes.remove, categories=("activity",), writes="records",
    gate="request", effect="destructive")
USAGE: Final = Operation("conversation.stats",
    "Show what a conversation holds and what of it a context sees", pmem.search.contexts.overlay,
    categories=("activity",))
ADD_EPISODE: Final = Operation("episode.add",
    "Add an episode by hand; those that messages make are noticed by themselves",
    pmem.conversation.episodes.add, categories=("event",), writes="records", gate="request")
EPISODES: Final = Operation("episode.list", "List episodes, the earliest first",
    pmem.conversation.episodes.list_episodes, categories=("event",))
EPISODE: Final = Operation("episode.show", "Show an episode", pmem.conversation.episodes.show)
IMPORT_MESSAGES: Final = Operation("import.messages",
    "Import a transcript; importing it again adds nothing",
    pmem.conversation.exchange.import_messages, "whole", doing="import", writes="beside",
    gate="items", embeds=True, effect="idempotent", asks=("turn_facts", "episode", "chunk_summary"))
IMPORT_SESSIONS: Final = Operation("import.auto",
    "Import a coding assistant's sessions; again adds what is new",
    pmem.conversation.sessions.import_sessions, "whole", doing="import", writes="beside",
    unless="dry_run", gate="items", embeds=True, effect="idempotent",
    asks=("turn_facts", "episode", "chunk_summary"), asks_if="asks_models")
IMPORT_GIT: Final = Operation("import.git",
    "Propose what the project's commits say, as pending facts",
    pmem.conversation.git_history.import_git, "whole", doing="import", writes="beside",
    unless="dry_run", gate="items", embeds=True, effect="idempotent")
IMPORT_DECISIONS: Final = Operation("import.adr",
    "Make memories of decision records, and change what has changed",
    pmem.conversation.decision_records.import_decisions, "whole", doing="import", writes="records",
    unless="dry_run", gate="items")
IMPORT_NOTES: Final = Operation("import.notes",
    "Make memories of instruction files, and change what has changed",
    pmem.conversation.notes.import_notes, "whole", doing="import", writes="records", gate="items")
IMPORT_PROJECT: Final = Operation("import.project",
    "Make memories of the project's own files, and change what has changed",
    pmem.conversation.project_sources.import_project, "whole", doing="import", writes="beside",
    unless="dry_run", gate="items", embeds=True)
IMPORT_ARRAYS: Final = Operation("import.arrays",
    "Import the four array files of the multi-tier design",
    pmem.conversation.exchange.import_arrays, "whole", doing="import", writes="beside",
    gate="items", embeds=True, effect="idempotent")
EXPORT_ARRAYS: Final = Operation("export.arrays", "Export everything as four array files",
    pmem.conversation.exchange.export_arrays)
EXPORT_MARKDOWN: Final = Operation("export.markdown", "Write the memory as Markdown pages",
    pmem.conversation.pages.export_markdown)
ARC: Final = Operation("episode.arc",
    "Show the narrative arc of a conversation: beginning, middle, end, key moments",
    pmem.conversation.episodes.narrative, categories=("event",))

# apps: what apps remember

REMEMBER: Final = Operation("app.remember", "Make a memory for an app, and room for it",
    pmem.apps.remembering.remember, writes="beside", gate="request")
APPS: Final = Operation("app.list", "List the apps that have left a trace",
    pmem.apps.reading.list_apps)
APP_MEMORIES: Final = Operation("app.memories", "List an app's memories, the newest update first",
    pmem.apps.reading.listing)
APP_MEMORY: Final = Operation("app.show", "Show one memory of an app", pmem.apps.reading.show,
    recalls=True)
APP_CONTEXT: Final = Operation("app.context", "Write an app's memories as a block for a model",
    pmem.apps.reading.context, recalls=True, logged="context:retrieve")
COMPACT: Final = Operation("app.compact",
    "Hold an app to its limit: one decision for each memory too many", pmem.apps.remembering.tidy,
    writes="beside", effect="idempotent")
APP_DELETE: Final = Operation("app.delete",
    "Remove one memory of an app; `restore` brings it back until it is purged",
    pmem.apps.remembering.delete, writes="beside", effect="destructive")
APP_PURGE: Final = Operation("app.purge", "Delete all memories of an app for good",
    pmem.apps.remembering.purge, writes="beside", effect="destructive")
UNINSTALL: Final = Operation("app.uninstall",
    "Note that an app is gone; its memories outlive it, unless they are purged",
    pmem.apps.remembering.uninstall, writes="beside", effect="destructive")
APP_STATS: Final = Operation("app.stats",
    "Show what apps remember, and what models have spent on it", pmem.apps.reading.statistics)
POLL_ENERGY: Final = Operation("app.poll",
    "Return the units that models have spent since this was last asked",
    pmem.apps.reading.poll_energy, writes="beside", scope="nothing")
