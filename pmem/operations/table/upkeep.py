"""Keeping the memory in order, in git, and set up."""

from __future__ import annotations  # a row's type is for readers and checkers: it costs nothing

from typing import TYPE_CHECKING, Final

from pmem.operations.operation import Operation

if TYPE_CHECKING:
    from pmem.assistants.setup import AssistantSetup, AssistantSetupRequest, SetupOverviews
    from pmem.memory.accepting import Accepted
    from pmem.memory.changes import RecordsRequest
    from pmem.memory.citations import Verified, VerifyRequest
    from pmem.memory.journal import HistoryRequest
    from pmem.project.setup import (
        SettingChanged,
        SettingChangeRequest,
        SettingRequest,
        SettingReset,
        SettingsListing,
    )
    from pmem.report.collecting import ReceiptsRequest, ReportRequest
    from pmem.report.document import Receipts, ReportDocument
    from pmem.upkeep.consolidation import UpkeepReport, UpkeepRequest
    from pmem.upkeep.database import DatabaseRequest, DatabaseSetup, DatabaseStatus
    from pmem.upkeep.doctor import DoctorRequest, Examination
    from pmem.upkeep.inbox import Inbox, InboxRequest
    from pmem.upkeep.integrity import Checked, CheckRequest
    from pmem.upkeep.secret_scan import Scanned, ScanRequest
    from pmem.upkeep.statistics import MemoryFigures
    from pmem.upkeep.sync import Synced, SyncRequest
    from pmem.values.config import Resolved
    from pmem.values.fields import AtRequest, NoArguments, RangeRequest, SetupRequest
    from pmem.vcs.changelog import Compared
    from pmem.vcs.conflicts import SettledConflicts, SettleRequest
    from pmem.vcs.gitsetup import GitSetup
    from pmem.vcs.hooksetup import HookSetup, PreCommitRequest
    from pmem.vcs.merges import MergesChecked
    from pmem.vcs.provenance import Provenance
    from pmem.vcs.repair import Repair, RepairRequest
    from pmem.vcs.review import Reviewed, ReviewRequest
    from pmem.vcs.rule_files import RulesRequest, RulesSetup
    from pmem.vcs.starting import InitRequest, Started

# upkeep: keeping it in order

CHECK: Final[Operation[CheckRequest, Checked]] = Operation(
    "check", "Report all that is wrong", "upkeep.integrity:check",
    "whole", doing="check the memory"
)  # fmt: skip
CHECK_STAGED: Final[Operation[NoArguments, Checked]] = Operation(
    "check.staged", "Report what is wrong with the next commit",
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
    writes="beside", unless="dry_run", embeds=True, logged="worker:consolidate",
    effect="idempotent"
)  # fmt: skip
SWEEP: Final[Operation[UpkeepRequest, UpkeepReport]] = Operation(
    "sweep", "Remove what is unused, and delete what was removed long ago",
    "upkeep.consolidation:sweep", "whole", doing="sweep",
    writes="beside", unless="dry_run", logged="worker:sweep", effect="destructive"
)  # fmt: skip
STATS: Final[Operation[AtRequest, MemoryFigures]] = Operation(
    "stats", "Show what the memory holds", "upkeep.statistics:statistics"
)
INBOX: Final[Operation[InboxRequest, Inbox]] = Operation(
    "inbox", "Collect what needs attention, with the commands that settle it",
    "upkeep.inbox:collect_inbox", "whole", doing="look into the inbox"
)  # fmt: skip
REPORT: Final[Operation[ReportRequest, ReportDocument]] = Operation(
    "report", "Collect what the page of a report shows, as one document",
    "report.collecting:collect", "whole", doing="make a report"
)  # fmt: skip
RECEIPTS: Final[Operation[ReceiptsRequest, Receipts]] = Operation(
    "receipts", "Show what contexts for a task hold within a few budgets, and why",
    "report.collecting:collect_receipts", "whole", doing="make a report"
)  # fmt: skip
VERIFY: Final[Operation[VerifyRequest, Verified]] = Operation(
    "verify", "See whether the files, lines and names that memories cite still say the same",
    "memory.citations:verify", "whole", doing="verify citations",
    writes="beside", only_if="update", effect="idempotent"
)  # fmt: skip
ACCEPT: Final[Operation[RecordsRequest, Accepted]] = Operation(
    "verify.accept", "Say that memories still hold: the text as it is now is what they cite",
    "memory.accepting:accept", "whole", doing="verify citations",
    writes="records", effect="idempotent"
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
REVIEW: Final[Operation[ReviewRequest, Reviewed]] = Operation(
    "review", "Say what a change to the project has to do with what is remembered",
    "vcs.review:review", "whole", doing="review a change"
)  # fmt: skip
PROVENANCE: Final[Operation[HistoryRequest, Provenance]] = Operation(
    "log.git", "Show the commits that touched a record, also one that is gone",
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
    "whole", doing="set up git", writes="beside", unless="check", effect="idempotent",
    is_final=True
)  # fmt: skip
SETUP_PRE_COMMIT: Final[Operation[PreCommitRequest, HookSetup]] = Operation(
    "setup.pre-commit", "Have every commit checked", "vcs.hooksetup:set_up",
    "whole", doing="set up hooks", writes="beside", unless="check", effect="idempotent",
    is_final=True
)  # fmt: skip
SETUP_ASSISTANT: Final[Operation[AssistantSetupRequest, AssistantSetup]] = Operation(
    "setup.assistant", "Tell a coding assistant about the memory", "assistants.setup:set_up",
    "whole", doing="set up assistants", writes="beside", unless="check", effect="idempotent",
    is_final=True
)  # fmt: skip
SETUP_RULES: Final[Operation[RulesRequest, RulesSetup]] = Operation(
    "setup.rules", "Write what the memory says into files for hosts without hooks",
    "vcs.rule_files:set_up",
    "whole", doing="set up rules", writes="beside", unless="check", effect="idempotent",
    is_final=True
)  # fmt: skip
SETUP_LIST: Final[Operation[NoArguments, SetupOverviews]] = Operation(
    "setup.list", "Say which coding assistants know the memory, and which could",
    "assistants.setup:list_setups", "whole", doing="look at assistants"
)  # fmt: skip
INIT: Final[Operation[InitRequest, Started]] = Operation(
    "init", "Start a memory, or complete the one that is there", "vcs.starting:start",
    "nothing", writes="beside", effect="idempotent", is_final=True
)  # fmt: skip
DATABASE_INIT: Final[Operation[DatabaseRequest, DatabaseSetup]] = Operation(
    "db.init", "Put this project on a PostgreSQL server", "upkeep.database:init",
    "nothing", writes="beside", effect="idempotent", by_person=True
)  # fmt: skip
DATABASE_MIGRATE: Final[Operation[NoArguments, DatabaseSetup]] = Operation(
    "db.migrate", "Bring a server's tables up to date", "upkeep.database:migrate_database",
    "nothing", writes="beside", effect="idempotent", by_person=True
)  # fmt: skip
DATABASE_STATUS: Final[Operation[NoArguments, DatabaseStatus]] = Operation(
    "db.status", "Say where this project stands on a server", "upkeep.database:status", "nothing"
)
SYNC: Final[Operation[SyncRequest, Synced]] = Operation(
    "sync", "Make the memory folder and the server equal", "upkeep.sync:sync",
    "whole", doing="sync", writes="beside", unless="dry_run", effect="idempotent"
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
    "whole", doing="change settings", writes="beside", effect="idempotent", is_final=True,
    by_person=True
)  # fmt: skip
RESET_SETTING: Final[Operation[SettingRequest, SettingReset]] = Operation(
    "config.unset", "Take one of the project's settings back to what holds without it",
    "project.setup:reset_setting", "whole", doing="change settings", writes="beside",
    effect="idempotent", is_final=True, by_person=True
)  # fmt: skip
