"""Every use case of pmem, once: what it means, where it is, and what it needs.

The command line, the library and every server read this table; the pipeline runs what stands in
it. A row's type names its request and its answer. Nothing of a use case is loaded before it runs.
"""

from __future__ import annotations  # a row's type is for readers and checkers: it costs nothing

from typing import TYPE_CHECKING, Any, Final

from pmem.operations.operation import Operation

if TYPE_CHECKING:
    from pmem.apps.figures import AppFigures, Polled
    from pmem.apps.reading import (
        AppContext,
        AppContextRequest,
        AppListing,
        AppLookRequest,
        AppOverviews,
        AppShowRequest,
    )
    from pmem.apps.remembering import CompactRequest, Remembered, RememberRequest
    from pmem.apps.removal import AppDeleteRequest, Purged, Uninstalled, UninstallRequest
    from pmem.assistants.hook_answers import HookAnswer, HookRequest
    from pmem.assistants.setup import AssistantSetup, AssistantSetupRequest, SetupOverviews
    from pmem.conversation.conversations import (
        ConversationsRequest,
        Ended,
        EndRequest,
        Overviews,
        SayRequest,
        SayResult,
        StartRequest,
    )
    from pmem.conversation.episodes import EpisodeListing, EpisodeRequest, EpisodesRequest
    from pmem.conversation.exchange import ArraysRequest, Exported, Imported, MessagesRequest
    from pmem.conversation.notes import NotesImported, NotesRequest
    from pmem.conversation.pruning import PruneRequest, Pruning
    from pmem.conversation.sessions import SessionsImported, SessionsRequest
    from pmem.core.extraction.episodes import Arc
    from pmem.core.queries import QueryRequest
    from pmem.memory.app_limit import Compacted
    from pmem.memory.app_memories import AppMemory, AppRequest
    from pmem.memory.changes import ChangedRecords, RecordsRequest, Removable
    from pmem.memory.chunking import Transcript
    from pmem.memory.citations import Verified, VerifyRequest
    from pmem.memory.consent import Approved, ConsentListing, Declined, WaitingRequest
    from pmem.memory.facts import FactListing, FactsRequest, PromoteRequest, Promotions, Rejected
    from pmem.memory.journal import (
        AuditRequest,
        EventsRequest,
        History,
        HistoryRequest,
        Journal,
        Ran,
        RanRequest,
        Trail,
    )
    from pmem.memory.lifecycle import PurgeRequest, SupersedeByRequest, Superseded
    from pmem.memory.reading import (
        Block,
        ConversationRequest,
        ListRequest,
        LookRequest,
        MemoryListing,
        ShownRecord,
        ShowRequest,
    )
    from pmem.memory.requests import (
        AddAllRequest,
        Added,
        AddedAll,
        AddRequest,
        Edited,
        EditRequest,
        LinkRequest,
        PinRequest,
        UnlinkRequest,
    )
    from pmem.project.setup import (
        SettingChanged,
        SettingChangeRequest,
        SettingRequest,
        SettingReset,
        SettingsListing,
    )
    from pmem.search.context_request import BuiltContext, ContextRequest
    from pmem.search.evaluation import Evaluation, EvaluationRequest
    from pmem.search.golden import QuestionAdded, QuestionRequest
    from pmem.search.queries import QueryAnswer
    from pmem.search.search import SearchRequest, SearchResult
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
    from pmem.search.usage import ContextUsage
    from pmem.upkeep.consolidation import UpkeepReport, UpkeepRequest
    from pmem.upkeep.doctor import DoctorRequest, Examination
    from pmem.upkeep.integrity import Checked, CheckRequest
    from pmem.upkeep.secret_scan import Scanned, ScanRequest
    from pmem.upkeep.statistics import MemoryFigures
    from pmem.values.config import Resolved
    from pmem.values.records import Conversation, Episode, Memory, Record
    from pmem.values.requests import AtRequest, NoArguments, RangeRequest, SetupRequest
    from pmem.vcs.changelog import Compared
    from pmem.vcs.conflicts import SettledConflicts, SettleRequest
    from pmem.vcs.gitsetup import GitSetup
    from pmem.vcs.hooksetup import HookSetup
    from pmem.vcs.merges import MergesChecked
    from pmem.vcs.provenance import Provenance
    from pmem.vcs.repair import Repair, RepairRequest
    from pmem.vcs.starting import InitRequest, Started

# memory: what was learned

ADD: Final[Operation[AddRequest, Added]] = Operation(
    "add", "Add a memory, or find the one that should be updated instead", "memory.memories:add",
    writes="records", gate="request", logged="hotpath:create"
)  # fmt: skip
SHOW: Final[Operation[ShowRequest, ShownRecord]] = Operation(
    "show", "Show a record, or a message, whole", "memory.reading:show", recalls=True
)
LIST: Final[Operation[ListRequest, MemoryListing]] = Operation(
    "list", "List memories, the oldest first", "memory.reading:list_memories"
)
BLOCK: Final[Operation[ListRequest, Block]] = Operation(
    "block", "Write memories as the block of a system prompt", "memory.reading:write_block"
)
ADD_ALL: Final[Operation[AddAllRequest, AddedAll]] = Operation(
    "add_all", "Add several memories, all of them or none", "memory.memories:add_all",
    writes="records", gate="request", logged="hotpath:create"
)  # fmt: skip
EDIT: Final[Operation[EditRequest, Edited]] = Operation(
    "edit", "Change a memory; its history keeps what it was", "memory.memories:edit",
    writes="records", gate="request", effect="idempotent"
)  # fmt: skip
SUPERSEDE: Final[Operation[EditRequest, Superseded]] = Operation(
    "supersede", "Let a new memory take the place of one, which held until now",
    "memory.lifecycle:supersede", writes="records", gate="request"
)  # fmt: skip
SUPERSEDE_BY: Final[Operation[SupersedeByRequest, Superseded]] = Operation(
    "supersede_by", "Let a memory that exists take the place of another one",
    "memory.lifecycle:supersede_by", writes="records", effect="idempotent"
)  # fmt: skip
REMOVE: Final[Operation[RecordsRequest, ChangedRecords[Removable]]] = Operation(
    "rm", "Remove memories or episodes; `restore` brings them back until they are purged",
    "memory.lifecycle:remove", writes="records", effect="idempotent"
)  # fmt: skip
RESTORE: Final[Operation[RecordsRequest, ChangedRecords[Removable]]] = Operation(
    "restore", "Bring back what was removed or archived", "memory.lifecycle:restore",
    writes="records", effect="idempotent"
)  # fmt: skip
PURGE: Final[Operation[PurgeRequest, ChangedRecords[Record]]] = Operation(
    "purge", "Delete records for good, with every link to them", "memory.lifecycle:purge",
    writes="records", effect="destructive"
)  # fmt: skip
PIN: Final[Operation[PinRequest, Removable]] = Operation(
    "pin", "Pin a memory or an episode, so that it never fades, or unpin it",
    "memory.memories:pin", writes="records", effect="idempotent"
)  # fmt: skip
LINK: Final[Operation[LinkRequest, Memory]] = Operation(
    "link", "Link one memory to another", "memory.memories:link",
    writes="records", effect="idempotent"
)  # fmt: skip
UNLINK: Final[Operation[UnlinkRequest, Memory]] = Operation(
    "unlink", "Remove the links from one memory to another", "memory.memories:unlink",
    writes="records", effect="idempotent"
)  # fmt: skip

HISTORY: Final[Operation[HistoryRequest, History]] = Operation(
    "history", "Show what happened to a record, the oldest event first",
    "memory.journal:show_history"
)  # fmt: skip
EVENTS: Final[Operation[EventsRequest, Journal]] = Operation(
    "events", "Show what happened to all records, the newest last", "memory.journal:list_events"
)
OPERATIONS: Final[Operation[RanRequest, Ran]] = Operation(
    "operations", "Show what ran in this clone", "memory.journal:list_operations"
)
EXPORT_AUDIT: Final[Operation[AuditRequest, Trail]] = Operation(
    "export.audit", "Export the audit trail, one event each", "memory.journal:audit"
)

# facts and consent

FACTS: Final[Operation[FactsRequest, FactListing]] = Operation(
    "facts.list", "List the facts that messages state, the surest first",
    "memory.facts:list_facts", categories=("activity",)
)  # fmt: skip
PROMOTE: Final[Operation[PromoteRequest, Promotions]] = Operation(
    "facts.promote", "Make memories of facts", "memory.facts:promote",
    categories=("activity",), writes="records", gate="request", effect="idempotent"
)  # fmt: skip
REJECT_FACTS: Final[Operation[RecordsRequest, Rejected]] = Operation(
    "facts.reject", "Reject facts: they are not pending any more, and never noted again",
    "memory.facts:reject",
    categories=("activity",), writes="records", effect="destructive"
)  # fmt: skip
WAITING: Final[Operation[WaitingRequest, ConsentListing]] = Operation(
    "consent.list", "List what waits for consent or for a second signal, the oldest first",
    "memory.consent:list_waiting", scope="nothing"
)  # fmt: skip
APPROVE: Final[Operation[RecordsRequest, Approved]] = Operation(
    "consent.approve", "Agree: remember what was proposed", "memory.consent:approve",
    writes="beside", gate="request", effect="idempotent", by_person=True
)  # fmt: skip
REJECT: Final[Operation[RecordsRequest, Declined]] = Operation(
    "consent.reject", "Do not agree: forget what was proposed, and do not ask again",
    "memory.consent:reject",
    writes="beside", gate="request", effect="destructive", by_person=True
)  # fmt: skip

# conversation: what was said

START: Final[Operation[StartRequest, Conversation]] = Operation(
    "conversation.start", "Start a conversation; it becomes the current one",
    "conversation.conversations:start",
    categories=("activity",), writes="records", gate="request"
)  # fmt: skip
SAY: Final[Operation[SayRequest, SayResult]] = Operation(
    "conversation.say", "Add a message to a conversation", "conversation.conversations:say",
    categories=("activity",), writes="records", gate="request", logged="hotpath:classify"
)  # fmt: skip
END: Final[Operation[EndRequest, Ended]] = Operation(
    "conversation.end", "End a conversation; the app that it is held in remembers it",
    "conversation.conversations:end",
    categories=("activity",), writes="beside", gate="request", effect="idempotent"
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
    writes="beside", gate="items", embeds=True, effect="idempotent"
)  # fmt: skip
IMPORT_SESSIONS: Final[Operation[SessionsRequest, SessionsImported]] = Operation(
    "import.auto", "Import a coding assistant's sessions; again adds what is new",
    "conversation.sessions:import_sessions", "whole", doing="import",
    writes="beside", unless="dry_run", gate="items", embeds=True, effect="idempotent"
)  # fmt: skip
IMPORT_NOTES: Final[Operation[NotesRequest, NotesImported]] = Operation(
    "import.notes", "Make memories of instruction files, and change what has changed",
    "conversation.notes:import_notes", "whole", doing="import", writes="records", gate="items"
)  # fmt: skip
IMPORT_ARRAYS: Final[Operation[ArraysRequest, Imported]] = Operation(
    "import.arrays", "Import the four array files of the multi-tier design",
    "conversation.exchange:import_arrays", "whole", doing="import",
    writes="beside", gate="items", embeds=True, effect="idempotent"
)  # fmt: skip
EXPORT_ARRAYS: Final[Operation[AtRequest, Exported]] = Operation(
    "export.arrays", "Export everything as four array files", "conversation.exchange:export_arrays"
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
APP_MEMORIES: Final[Operation[AppLookRequest, AppListing]] = Operation(
    "app.memories", "List an app's memories, the newest update first", "apps.reading:listing"
)
APP_MEMORY: Final[Operation[AppShowRequest, AppMemory]] = Operation(
    "app.show", "Show one memory of an app", "apps.reading:show", recalls=True
)
APP_CONTEXT: Final[Operation[AppContextRequest, AppContext]] = Operation(
    "app.context", "Write an app's memories as a block for a model", "apps.reading:context",
    recalls=True
)  # fmt: skip
COMPACT: Final[Operation[CompactRequest, Compacted]] = Operation(
    "app.compact", "Hold an app to its limit: one decision for each memory too many",
    "apps.remembering:tidy", writes="beside", effect="idempotent"
)  # fmt: skip
APP_DELETE: Final[Operation[AppDeleteRequest, AppMemory]] = Operation(
    "app.delete", "Remove one memory of an app; `restore` brings it back until it is purged",
    "apps.removal:delete", writes="beside", effect="destructive"
)  # fmt: skip
APP_PURGE: Final[Operation[AppRequest, Purged]] = Operation(
    "app.purge", "Delete all memories of an app for good", "apps.removal:purge",
    writes="beside", effect="destructive"
)  # fmt: skip
UNINSTALL: Final[Operation[UninstallRequest, Uninstalled]] = Operation(
    "app.uninstall", "Note that an app is gone; its memories outlive it, unless they are purged",
    "apps.removal:uninstall", writes="beside", effect="destructive"
)  # fmt: skip
APP_STATS: Final[Operation[AtRequest, AppFigures]] = Operation(
    "app.stats", "Show what apps remember, and what models have spent on it",
    "apps.figures:statistics"
)  # fmt: skip
POLL_ENERGY: Final[Operation[NoArguments, Polled]] = Operation(
    "app.poll", "Return the units that models have spent since this was last asked",
    "apps.figures:poll_energy", writes="beside", scope="nothing"
)  # fmt: skip

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
    writes="beside", effect="destructive", scope="nothing"
)  # fmt: skip

# upkeep: keeping it in order

CHECK: Final[Operation[CheckRequest, Checked]] = Operation(
    "check", "Report all that is wrong", "upkeep.integrity:check",
    "whole", doing="check the memory"
)  # fmt: skip
CHECK_STAGED: Final[Operation[NoArguments, Checked]] = Operation(
    "check.staged", "Report what is wrong with what is about to be committed, whoever commits",
    "upkeep.check_commit:check_staged", "nothing"
)  # fmt: skip
SCAN: Final[Operation[ScanRequest, Scanned]] = Operation(
    "scan", "Look for secrets in the memory, and never show one", "upkeep.secret_scan:scan",
    "whole", doing="scan the memory"
)  # fmt: skip
DOCTOR: Final[Operation[DoctorRequest, Examination]] = Operation(
    "doctor", "Look at everything that pmem needs around the records", "upkeep.doctor:doctor",
    "whole", doing="look after the memory", writes="beside", only_if="fix", effect="idempotent"
)  # fmt: skip
CONSOLIDATE: Final[Operation[UpkeepRequest, UpkeepReport]] = Operation(
    "consolidate", "Archive what has faded, merge duplicates, link neighbours, fold recalls in",
    "upkeep.consolidation:consolidate", "whole", doing="consolidate",
    writes="beside", unless="dry_run", embeds=True, effect="idempotent"
)  # fmt: skip
SWEEP: Final[Operation[UpkeepRequest, UpkeepReport]] = Operation(
    "sweep", "Remove what is unused, and delete what was removed long ago",
    "upkeep.consolidation:sweep", "whole", doing="sweep",
    writes="beside", unless="dry_run", effect="destructive"
)  # fmt: skip
STATS: Final[Operation[AtRequest, MemoryFigures]] = Operation(
    "stats", "Show what the memory holds", "upkeep.statistics:statistics"
)
VERIFY: Final[Operation[VerifyRequest, Verified]] = Operation(
    "verify", "See whether the files and lines that memories cite still say the same",
    "memory.citations:verify", "whole", doing="verify citations",
    writes="beside", only_if="update", effect="idempotent"
)  # fmt: skip

# git, and the project itself

SETTLE: Final[Operation[SettleRequest, SettledConflicts]] = Operation(
    "settle", "Say which of two contradicting values of merged branches holds",
    "vcs.conflicts:settle", writes="beside", effect="destructive"
)  # fmt: skip
CHANGELOG: Final[Operation[RangeRequest, Compared]] = Operation(
    "changelog", "Say what the memory learned, changed and forgot between two revisions",
    "vcs.changelog:changelog", "whole", doing="read a changelog"
)  # fmt: skip
PROVENANCE: Final[Operation[HistoryRequest, Provenance]] = Operation(
    "history.git", "Show the commits that touched a record, also one that is gone",
    "vcs.provenance:provenance", "whole", doing="read git's history"
)  # fmt: skip
CHECK_MERGES: Final[Operation[RangeRequest, MergesChecked]] = Operation(
    "check.merges", "Redo the merges between two revisions, and report those that were done wrong",
    "vcs.merges:check_merges", "whole", doing="check merges"
)  # fmt: skip
REPAIR: Final[Operation[RepairRequest, Repair]] = Operation(
    "repair", "Finish what merges have left unfinished", "vcs.repair:repair",
    "whole", doing="repair the memory", writes="beside", unless="dry_run", effect="idempotent"
)  # fmt: skip
SETUP_GIT: Final[Operation[SetupRequest, GitSetup]] = Operation(
    "setup.git", "Let git merge records field by field in this clone", "vcs.gitsetup:set_up",
    "whole", doing="set up git", writes="beside", unless="check", effect="idempotent"
)  # fmt: skip
SETUP_PRE_COMMIT: Final[Operation[SetupRequest, HookSetup]] = Operation(
    "setup.pre-commit", "Have every commit checked", "vcs.hooksetup:set_up",
    "whole", doing="set up hooks", writes="beside", unless="check", effect="idempotent"
)  # fmt: skip
SETUP_ASSISTANT: Final[Operation[AssistantSetupRequest, AssistantSetup]] = Operation(
    "setup.assistant", "Tell a coding assistant about the memory", "assistants.setup:set_up",
    "whole", doing="set up assistants", writes="beside", unless="check", effect="idempotent"
)  # fmt: skip
SETUP_LIST: Final[Operation[NoArguments, SetupOverviews]] = Operation(
    "setup.list", "Say which coding assistants know the memory, and which could",
    "assistants.setup:list_setups", "whole", doing="look at assistants"
)  # fmt: skip
INIT: Final[Operation[InitRequest, Started]] = Operation(
    "init", "Start a memory, or complete the one that is there", "vcs.starting:start",
    "nothing", writes="beside", effect="idempotent"
)  # fmt: skip
SETTINGS: Final[Operation[NoArguments, SettingsListing]] = Operation(
    "config.list", "Show every setting, its value and where that came from",
    "project.setup:list_settings", "nothing"
)  # fmt: skip
SETTING: Final[Operation[SettingRequest, Resolved]] = Operation(
    "config.get", "Show one setting", "project.setup:show_setting", "nothing"
)
CHANGE_SETTING: Final[Operation[SettingChangeRequest, SettingChanged]] = Operation(
    "config.set", "Change one of the project's settings", "project.setup:change_setting",
    "whole", doing="change settings", writes="beside", effect="idempotent", by_person=True
)  # fmt: skip
RESET_SETTING: Final[Operation[SettingRequest, SettingReset]] = Operation(
    "config.unset", "Take one of the project's settings back to what holds without it",
    "project.setup:reset_setting", "whole", doing="change settings", writes="beside",
    effect="idempotent", by_person=True
)  # fmt: skip

TABLE: Final[dict[str, Operation[Any, Any]]] = {
    row.name: row for row in list(globals().values()) if isinstance(row, Operation)
}
"""Every operation by its name."""
