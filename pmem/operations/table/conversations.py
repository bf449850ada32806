"""Conversations, what was said, and what apps remember of it."""

from __future__ import annotations  # a row's type is for readers and checkers: it costs nothing

from typing import TYPE_CHECKING, Final

from pmem.operations.operation import Operation

if TYPE_CHECKING:
    from pmem.apps.reading import (
        AppContext,
        AppContextRequest,
        AppFigures,
        AppListing,
        AppListRequest,
        AppOverviews,
        AppShowRequest,
        Polled,
    )
    from pmem.apps.remembering import (
        AppDeleteRequest,
        Purged,
        Remembered,
        RememberRequest,
        Uninstalled,
        UninstallRequest,
    )
    from pmem.conversation.conversations import (
        ConversationsRequest,
        Ended,
        EndRequest,
        Overviews,
        SayRequest,
        SayResult,
        StartRequest,
    )
    from pmem.conversation.decision_records import DecisionsImported, DecisionsRequest
    from pmem.conversation.episodes import EpisodeListing, EpisodeRequest, EpisodesRequest
    from pmem.conversation.exchange import (
        ArraysRequest,
        Exported,
        ExportRequest,
        Imported,
        MessagesRequest,
    )
    from pmem.conversation.git_history import HistoryImported, HistoryImportRequest
    from pmem.conversation.message_changes import (
        MarkRequest,
        RemovedMessage,
        RemoveMessageRequest,
    )
    from pmem.conversation.notes import NotesImported, NotesRequest
    from pmem.conversation.pages import MarkdownPages, MarkdownRequest
    from pmem.conversation.project_sources import ProjectImported, ProjectImportRequest
    from pmem.conversation.pruning import PrunedListing, PruneRequest, Pruning
    from pmem.conversation.sessions import SessionsImported, SessionsRequest
    from pmem.core.extraction.episodes import Arc
    from pmem.memory.app_limit import Compacted
    from pmem.memory.app_memories import AppMemory, AppRequest
    from pmem.memory.conversations import ConversationRequest, LookRequest, Transcript
    from pmem.memory.reading import MessageRef, ShowRequest
    from pmem.search.usage import ContextUsage
    from pmem.values.fields import AtRequest, NoArguments
    from pmem.values.records import Conversation, Episode

# conversation: what was said

START: Final[Operation[StartRequest, Conversation]] = Operation(
    "conversation.start", "Start a conversation; it becomes the current one",
    "conversation.conversations:start",
    categories=("activity",), writes="records", gate="request"
)  # fmt: skip
SAY: Final[Operation[SayRequest, SayResult]] = Operation(
    "conversation.say", "Add a message to a conversation", "conversation.conversations:say",
    categories=("activity",), writes="records", gate="request", logged="hotpath:classify",
    asks=("turn_facts", "episode", "chunk_summary"), asks_if="learn"
)  # fmt: skip
END: Final[Operation[EndRequest, Ended]] = Operation(
    "conversation.end", "End a conversation; the app that it is held in remembers it",
    "conversation.conversations:end",
    categories=("activity",), writes="beside", gate="request", effect="idempotent",
    asks=("episode", "chunk_summary")
)  # fmt: skip
PAUSE: Final[Operation[ConversationRequest, Conversation]] = Operation(
    "conversation.pause", "Pause a conversation", "conversation.conversations:pause",
    categories=("activity",), writes="records", effect="idempotent"
)  # fmt: skip
RESUME: Final[Operation[ConversationRequest, Conversation]] = Operation(
    "conversation.resume", "Make a paused or ended conversation active again",
    "conversation.conversations:resume",
    categories=("activity",), writes="records", effect="idempotent"
)  # fmt: skip
CLEAR: Final[Operation[ConversationRequest, Conversation]] = Operation(
    "conversation.clear", "Let contexts start afresh; every message stays kept and searchable",
    "conversation.conversations:clear",
    categories=("activity",), writes="records", effect="destructive"
)  # fmt: skip
CONVERSATIONS: Final[Operation[ConversationsRequest, Overviews]] = Operation(
    "conversation.list", "List conversations, the earliest first",
    "conversation.conversations:list_conversations", categories=("activity",)
)  # fmt: skip
TRANSCRIPT: Final[Operation[LookRequest, Transcript]] = Operation(
    "conversation.show", "Show a conversation with everything that was said in it",
    "conversation.conversations:show", categories=("activity",)
)  # fmt: skip
PRUNE: Final[Operation[PruneRequest, Pruning]] = Operation(
    "conversation.prune", "Leave messages out of contexts; every one stays kept and searchable",
    "conversation.pruning:prune", categories=("activity",), writes="records",
    unless="dry_run", effect="idempotent"
)  # fmt: skip
PRUNED: Final[Operation[LookRequest, PrunedListing]] = Operation(
    "pruned_messages", "List which messages were pruned, when and why",
    "conversation.pruning:list_pruned", categories=("activity",)
)  # fmt: skip
MARK: Final[Operation[MarkRequest, MessageRef]] = Operation(
    "conversation.mark", "Say how much a message counts, or pin it for good",
    "conversation.message_changes:mark",
    categories=("activity",), writes="records", effect="idempotent"
)  # fmt: skip
REMOVE_MESSAGE: Final[Operation[RemoveMessageRequest, RemovedMessage]] = Operation(
    "conversation.rm", "Remove the text of one message; its place, who and when are kept",
    "conversation.message_changes:remove",
    categories=("activity",), writes="records", gate="request", effect="destructive"
)  # fmt: skip
USAGE: Final[Operation[LookRequest, ContextUsage]] = Operation(
    "conversation.stats", "Show what a conversation holds and what of it a context sees",
    "search.usage:overlay", categories=("activity",)
)  # fmt: skip
ADD_EPISODE: Final[Operation[EpisodeRequest, Episode]] = Operation(
    "episode.add", "Add an episode by hand; those that messages make are noticed by themselves",
    "conversation.episodes:add",
    categories=("event",), writes="records", gate="request"
)  # fmt: skip
EPISODES: Final[Operation[EpisodesRequest, EpisodeListing]] = Operation(
    "episode.list", "List episodes, the earliest first", "conversation.episodes:list_episodes",
    categories=("event",)
)  # fmt: skip
EPISODE: Final[Operation[ShowRequest, Episode]] = Operation(
    "episode.show", "Show an episode", "conversation.episodes:show"
)
IMPORT_MESSAGES: Final[Operation[MessagesRequest, Imported]] = Operation(
    "import.messages", "Import a transcript; importing it again adds nothing",
    "conversation.exchange:import_messages", "whole", doing="import",
    writes="beside", gate="items", embeds=True, effect="idempotent",
    asks=("turn_facts", "episode", "chunk_summary")
)  # fmt: skip
IMPORT_SESSIONS: Final[Operation[SessionsRequest, SessionsImported]] = Operation(
    "import.auto", "Import a coding assistant's sessions; again adds what is new",
    "conversation.sessions:import_sessions", "whole", doing="import",
    writes="beside", unless="dry_run", gate="items", embeds=True, effect="idempotent",
    asks=("turn_facts", "episode", "chunk_summary"), asks_if="learn"
)  # fmt: skip
IMPORT_GIT: Final[Operation[HistoryImportRequest, HistoryImported]] = Operation(
    "import.git", "Propose what the project's commits say, as pending facts",
    "conversation.git_history:import_git", "whole", doing="import",
    writes="beside", unless="dry_run", gate="items", embeds=True, effect="idempotent"
)  # fmt: skip
IMPORT_DECISIONS: Final[Operation[DecisionsRequest, DecisionsImported]] = Operation(
    "import.adr", "Make memories of decision records, and change what has changed",
    "conversation.decision_records:import_decisions", "whole", doing="import",
    writes="records", unless="dry_run", gate="items"
)  # fmt: skip
IMPORT_NOTES: Final[Operation[NotesRequest, NotesImported]] = Operation(
    "import.notes", "Make memories of instruction files, and change what has changed",
    "conversation.notes:import_notes", "whole", doing="import", writes="records", gate="items"
)  # fmt: skip
IMPORT_PROJECT: Final[Operation[ProjectImportRequest, ProjectImported]] = Operation(
    "import.project", "Make memories of the project's own files, and change what has changed",
    "conversation.project_sources:import_project", "whole", doing="import",
    writes="beside", unless="dry_run", gate="items", embeds=True
)  # fmt: skip
IMPORT_ARRAYS: Final[Operation[ArraysRequest, Imported]] = Operation(
    "import.arrays", "Import the four array files of the multi-tier design",
    "conversation.exchange:import_arrays", "whole", doing="import",
    writes="beside", gate="items", embeds=True, effect="idempotent"
)  # fmt: skip
EXPORT_ARRAYS: Final[Operation[ExportRequest, Exported]] = Operation(
    "export.arrays", "Export everything as four array files", "conversation.exchange:export_arrays"
)
EXPORT_MARKDOWN: Final[Operation[MarkdownRequest, MarkdownPages]] = Operation(
    "export.markdown", "Write the memory as Markdown pages", "conversation.pages:export_markdown"
)
ARC: Final[Operation[LookRequest, Arc]] = Operation(
    "episode.arc", "Show the narrative arc of a conversation: beginning, middle, end, key moments",
    "conversation.episodes:narrative", categories=("event",)
)  # fmt: skip

# apps: what apps remember

REMEMBER: Final[Operation[RememberRequest, Remembered]] = Operation(
    "app.remember", "Make a memory for an app, and room for it", "apps.remembering:remember",
    writes="beside", gate="request"
)  # fmt: skip
APPS: Final[Operation[AtRequest, AppOverviews]] = Operation(
    "app.list", "List the apps that have left a trace", "apps.reading:list_apps"
)
APP_MEMORIES: Final[Operation[AppListRequest, AppListing]] = Operation(
    "app.memories", "List an app's memories, the newest update first", "apps.reading:listing"
)
APP_MEMORY: Final[Operation[AppShowRequest, AppMemory]] = Operation(
    "app.show", "Show one memory of an app", "apps.reading:show", recalls=True
)
APP_CONTEXT: Final[Operation[AppContextRequest, AppContext]] = Operation(
    "app.context", "Write an app's memories as a block for a model", "apps.reading:context",
    recalls=True, logged="context:retrieve"
)  # fmt: skip
COMPACT: Final[Operation[AppRequest, Compacted]] = Operation(
    "app.compact", "Hold an app to its limit: one decision for each memory too many",
    "apps.remembering:tidy", writes="beside", effect="idempotent"
)  # fmt: skip
APP_DELETE: Final[Operation[AppDeleteRequest, AppMemory]] = Operation(
    "app.delete", "Remove one memory of an app; `restore` brings it back until it is purged",
    "apps.remembering:delete", writes="beside", effect="destructive"
)  # fmt: skip
APP_PURGE: Final[Operation[AppRequest, Purged]] = Operation(
    "app.purge", "Delete all memories of an app for good", "apps.remembering:purge",
    writes="beside", effect="destructive"
)  # fmt: skip
UNINSTALL: Final[Operation[UninstallRequest, Uninstalled]] = Operation(
    "app.uninstall", "Note that an app is gone; its memories outlive it, unless they are purged",
    "apps.remembering:uninstall", writes="beside", effect="destructive"
)  # fmt: skip
APP_STATS: Final[Operation[AtRequest, AppFigures]] = Operation(
    "app.stats", "Show what apps remember, and what models have spent on it",
    "apps.reading:statistics"
)  # fmt: skip
POLL_ENERGY: Final[Operation[NoArguments, Polled]] = Operation(
    "app.poll", "Return the units that models have spent since this was last asked",
    "apps.reading:poll_energy", writes="beside", scope="nothing"
)  # fmt: skip
