"""What keeps a memory sound, and equal to what a server has."""

from collections.abc import Iterable
from typing import Any

from pmem.library.asking import Asking
from pmem.library.typed import made
from pmem.memory.citations import Verified, VerifyRequest
from pmem.operations import table
from pmem.upkeep.consolidation import UpkeepReport, UpkeepRequest
from pmem.upkeep.database import DatabaseStatus
from pmem.upkeep.doctor import Diagnosis, DoctorRequest
from pmem.upkeep.integrity import Checked, CheckRequest
from pmem.upkeep.sync import Synced, SyncRequest
from pmem.values.requests import NoArguments, RangeRequest
from pmem.vcs.merges import MergesChecked
from pmem.vcs.repair import Repair, RepairRequest


class Upkeep(Asking):
    """What a project is asked to keep its memory in order."""

    def consolidate(self, **options: Any) -> UpkeepReport:
        """Archive what has faded, merge duplicates, link neighbours, fold recalls in.

        Args:
            options: The fields of `UpkeepRequest`.
        """
        return self._run(table.CONSOLIDATE, made(UpkeepRequest, **options))

    def sweep(self, **options: Any) -> UpkeepReport:
        """Remove what is unused, and delete for good what was removed long ago.

        Args:
            options: The fields of `UpkeepRequest`.
        """
        return self._run(table.SWEEP, made(UpkeepRequest, **options))

    def check(self, *, full: bool = False) -> Checked:
        """Report all that is wrong.

        Args:
            full: Read also what was found sound before, and has not changed since.
        """
        return self._run(table.CHECK, CheckRequest(full=full))

    def repair(self, *, dry_run: bool = False) -> Repair:
        """Finish what merges have left unfinished: from git's stages, or from conflict markers."""
        return self._run(table.REPAIR, RepairRequest(dry_run=dry_run))

    def check_merges(self, revisions: str) -> MergesChecked:
        """Redo the merges between two git revisions, such as `main..HEAD`."""
        return self._run(table.CHECK_MERGES, made(RangeRequest, revisions=revisions))

    def verify(self, *references: str, update: bool = False) -> Verified:
        """See whether what memories cite still stands in the project's files.

        Args:
            references: Which memories; all active ones when there are none.
            update: Rewrite the citations whose text has moved.
        """
        return self._run(table.VERIFY, VerifyRequest(references=references, update=update))

    def sync(self, *, dry_run: bool = False, conversations: bool = False) -> Synced:
        """Make the memory folder and the server equal.

        Args:
            dry_run: Say what would be done, and change nothing.
            conversations: Take transcripts along that git ignores.
        """
        request = SyncRequest(dry_run=dry_run, conversations=conversations)
        return self._run(table.SYNC, request)

    def database_status(self) -> DatabaseStatus:
        """Say which server there is, and where this project stands on it."""
        return self._run(table.DATABASE_STATUS, NoArguments())

    def doctor(self, *, fix: bool = False) -> Iterable[Diagnosis]:
        """Look at everything that pmem needs around the records."""
        return self._run(table.DOCTOR, DoctorRequest(fix=fix)).items
