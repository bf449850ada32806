"""Keeping the memory in order, in git, and set up."""

from typing import TYPE_CHECKING, Final

from pmem.operations.operation import Operation, Room

if TYPE_CHECKING:
    import pmem.assistants.setup
    import pmem.memory.accepting
    import pmem.memory.citations
    import pmem.project.setup
    import pmem.report.collecting
    import pmem.upkeep.check_commit
    import pmem.upkeep.consolidation
    import pmem.upkeep.database
    import pmem.upkeep.doctor
    import pmem.upkeep.inbox
    import pmem.upkeep.integrity
    import pmem.upkeep.origins
    import pmem.upkeep.secret_scan
    import pmem.upkeep.statistics
    import pmem.upkeep.sync
    import pmem.vcs.changelog
    import pmem.vcs.conflicts
    import pmem.vcs.gitsetup
    import pmem.vcs.hooksetup
    import pmem.vcs.merges
    import pmem.vcs.provenance
    import pmem.vcs.repair
    import pmem.vcs.review
    import pmem.vcs.rule_files
else:
    pmem = Room("pmem")  # by name alone: nothing of a use case is loaded before it runs

# fmt: off

# upkeep: keeping it in order

CHECK: Final = Operation("check", "Report all that is wrong", pmem.upkeep.integrity.check, "whole",
    doing="check the memory")
CHECK_STAGED: Final = Operation("check.staged", "Report what is wrong with the next commit",
    pmem.upkeep.check_commit.check_staged, "nothing")
CHECK_ORIGINS: Final = Operation("check.origin",
    "Say which records something else than pmem has changed", pmem.upkeep.origins.check_origins,
    "whole", doing="check where records come from")
TAKE: Final = Operation("check.accept", "Take what was changed outside pmem as written here",
    pmem.upkeep.origins.take, "whole", doing="check where records come from", writes="beside",
    effect="idempotent", is_final=True, by_person=True)
SCAN: Final = Operation("scan", "Look for secrets in the memory, and never show one",
    pmem.upkeep.secret_scan.scan, "whole", doing="scan the memory")
DOCTOR: Final = Operation("doctor", "Look at everything that pmem needs around the records",
    pmem.upkeep.doctor.doctor, "whole", doing="look after the memory", writes="beside",
    only_if="fix", effect="idempotent")
CONSOLIDATE: Final = Operation("consolidate",
    "Archive what has faded, merge duplicates, link neighbours, fold recalls in",
    pmem.upkeep.consolidation.consolidate, "whole", doing="consolidate", writes="beside",
    unless="dry_run", embeds=True, logged="worker:consolidate", effect="idempotent")
SWEEP: Final = Operation("sweep", "Remove what is unused, and delete what was removed long ago",
    pmem.upkeep.consolidation.sweep, "whole", doing="sweep", writes="beside", unless="dry_run",
    logged="worker:sweep", effect="destructive")
STATS: Final = Operation("stats", "Show what the memory holds", pmem.upkeep.statistics.statistics)
INBOX: Final = Operation("inbox", "Collect what needs attention, with the commands that settle it",
    pmem.upkeep.inbox.collect_inbox, "whole", doing="look into the inbox")
REPORT: Final = Operation("report", "Collect what the page of a report shows, as one document",
    pmem.report.collecting.collect, "whole", doing="make a report")
RECEIPTS: Final = Operation("receipts",
    "Show what contexts for a task hold within a few budgets, and why",
    pmem.report.collecting.collect_receipts, "whole", doing="make a report")
VERIFY: Final = Operation("verify",
    "See whether the files, lines and names that memories cite still say the same",
    pmem.memory.citations.verify, "whole", doing="verify citations", writes="beside",
    only_if="update", effect="idempotent")
ACCEPT: Final = Operation("verify.accept",
    "Say that memories still hold: the text as it is now is what they cite",
    pmem.memory.accepting.accept, "whole", doing="verify citations", writes="records",
    effect="idempotent")

# git, and the project itself

SETTLE: Final = Operation("settle",
    "Say which of two contradicting values of merged branches holds", pmem.vcs.conflicts.settle,
    writes="beside", effect="destructive")
CHANGELOG: Final = Operation("changelog",
    "Say what the memory learned, changed and forgot between two revisions",
    pmem.vcs.changelog.changelog, "whole", doing="read a changelog")
REVIEW: Final = Operation("review",
    "Say what a change to the project has to do with what is remembered", pmem.vcs.review.review,
    "whole", doing="review a change")
PROVENANCE: Final = Operation("log.git",
    "Show the commits that touched a record, also one that is gone", pmem.vcs.provenance.provenance,
    "whole", doing="read git's history")
CHECK_MERGES: Final = Operation("check.merges",
    "Redo the merges between two revisions, and report those that were done wrong",
    pmem.vcs.merges.check_merges, "whole", doing="check merges")
REPAIR: Final = Operation("repair", "Finish what merges have left unfinished",
    pmem.vcs.repair.repair, "whole", doing="repair the memory", writes="beside", unless="dry_run",
    effect="idempotent")
SETUP_GIT: Final = Operation("setup.git", "Let git merge records field by field in this clone",
    pmem.vcs.gitsetup.set_up, "whole", doing="set up git", writes="beside", unless="check",
    effect="idempotent", is_final=True)
SETUP_PRE_COMMIT: Final = Operation("setup.pre-commit", "Have every commit checked",
    pmem.vcs.hooksetup.set_up, "whole", doing="set up hooks", writes="beside", unless="check",
    effect="idempotent", is_final=True)
SETUP_ASSISTANT: Final = Operation("setup.assistant", "Tell a coding assistant about the memory",
    pmem.assistants.setup.set_up, "whole", doing="set up assistants", writes="beside",
    unless="check", effect="idempotent", is_final=True)
SETUP_RULES: Final = Operation("setup.rules",
    "Write what the memory says into files for hosts without hooks", pmem.vcs.rule_files.set_up,
    "whole", doing="set up rules", writes="beside", unless="check", effect="idempotent",
    is_final=True)
SETUP_LIST: Final = Operation("setup.list",
    "Say which coding assistants know the memory, and which could",
    pmem.assistants.setup.list_setups, "whole", doing="look at assistants")
INIT: Final = Operation("init", "Start a memory, or complete the one that is there",
    pmem.vcs.gitsetup.start, "nothing", writes="beside", effect="idempotent", is_final=True)
DATABASE_INIT: Final = Operation("db.init", "Put this project on a PostgreSQL server",
    pmem.upkeep.database.init, "nothing", writes="beside", effect="idempotent", by_person=True)
DATABASE_MIGRATE: Final = Operation("db.migrate", "Bring a server's tables up to date",
    pmem.upkeep.database.migrate_database, "nothing", writes="beside", effect="idempotent",
    by_person=True)
DATABASE_STATUS: Final = Operation("db.status", "Say where this project stands on a server",
    pmem.upkeep.database.status, "nothing")
SYNC: Final = Operation("sync", "Make the memory folder and the server equal",
    pmem.upkeep.sync.sync, "whole", doing="sync", writes="beside", unless="dry_run",
    effect="idempotent")
SETTINGS: Final = Operation("config.list", "Show every setting, its value and where that came from",
    pmem.project.setup.list_settings, "nothing")
SETTING: Final = Operation("config.get", "Show one setting", pmem.project.setup.show_setting,
    "nothing")
CHANGE_SETTING: Final = Operation("config.set", "Change one of the project's settings",
    pmem.project.setup.change_setting, "whole", doing="change settings", writes="beside",
    effect="idempotent", is_final=True, by_person=True)
RESET_SETTING: Final = Operation("config.unset",
    "Take one of the project's settings back to what holds without it",
    pmem.project.setup.reset_setting, "whole", doing="change settings", writes="beside",
    effect="idempotent", is_final=True, by_person=True)
