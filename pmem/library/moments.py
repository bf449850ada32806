"""What a project tells of a moment: what applies to a file, what was tried, what has changed."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pmem.library.asking import Asking
from pmem.library.typed import made
from pmem.memory.dead_ends import Tried, TriedRequest
from pmem.memory.journal import HistoryRequest
from pmem.memory.outcomes import DueListing, DueRequest, OutcomeRequest
from pmem.memory.overviews import NameListing, NamesRequest, Naming
from pmem.memory.week import Week, WeekRequest
from pmem.memory.why import Why, WhyRequest
from pmem.operations import table
from pmem.report.collecting import ReceiptsRequest, ReportRequest
from pmem.report.document import Receipts, ReportDocument
from pmem.report.receipts import DEFAULT_BUDGETS
from pmem.upkeep.inbox import Inbox, InboxRequest
from pmem.values.records import Memory
from pmem.values.requests import RangeRequest
from pmem.vcs.changelog import Changelog
from pmem.vcs.provenance import Provenance


class Moments(Asking):
    """Operations on places in files, on what failed there, and on what git knows of changes."""

    def tried(self, tried: str, failed: str | None = None, **fields: Any) -> Tried:
        """Note what was tried and failed, and what worked instead.

        Args:
            tried: What was tried.
            failed: Why it failed.
            fields: The other fields of `TriedRequest`, such as `worked` and `places`.

        Raises:
            InvalidValue: A value is not allowed, or it neither failed nor is known to have.
        """
        request = made(TriedRequest, tried=tried, failed=failed, **fields)
        return self._run(table.TRIED, request)

    def outcome(self, reference: str, verdict: str, text: str = "") -> Memory:
        """Note how a decision turned out.

        Args:
            reference: Which memory.
            verdict: `good`, `bad` or `mixed`.
            text: What happened.

        Raises:
            NotFound, Ambiguous: The reference.
            InvalidValue: A value is not allowed.
        """
        request = made(OutcomeRequest, reference=reference, verdict=verdict, text=text)
        return self._run(table.OUTCOME, request).memory

    def due(self, until: datetime | None = None) -> DueListing:
        """Return what is to be looked at again until a moment, now when None."""
        return self._run(table.DUE, DueRequest(until=until))

    def inbox(self, *kinds: str, limit: int | None = None) -> Inbox:
        """Return what needs attention, with the commands that settle it.

        Args:
            kinds: Only these of `pmem.core.inbox.InboxKind`; all when none is named.
            limit: So many items at the most.

        Raises:
            InvalidValue: There is no such kind.
        """
        return self._run(table.INBOX, made(InboxRequest, kinds=kinds, limit=limit))

    def week(self, since: datetime | None = None) -> Week:
        """Return what was learned, changed and forgotten since a moment, and by whom.

        Args:
            since: The moment; seven days ago when None.

        Raises:
            InvalidValue: It lies in the future.
        """
        return self._run(table.WEEK, WeekRequest(since=since))

    def report(self, tasks: Sequence[str] = (), since: datetime | None = None) -> ReportDocument:
        """Return what the page of a report shows; `pmem.report.page` draws it.

        Args:
            tasks: What a context would be asked for; a few that the memory suggests when none.
            since: Since when to tell what changed; seven days ago when None.

        Raises:
            InvalidValue: That moment lies in the future.
        """
        return self._run(table.REPORT, made(ReportRequest, tasks=tasks, since=since))

    def receipts(self, task: str, budgets: Sequence[int] = DEFAULT_BUDGETS) -> Receipts:
        """Return what contexts for a task hold, and why each candidate is in or out.

        Args:
            task: What is asked for; empty for the start of a session.
            budgets: In tokens.

        Raises:
            InvalidValue: A budget is below one token.
        """
        return self._run(table.RECEIPTS, made(ReceiptsRequest, task=task, budgets=budgets))

    def names(self, of: Naming) -> NameListing:
        """Return the tags or the subjects of active memories, the most used first.

        Args:
            of: `tags` or `subjects`.
        """
        return self._run(table.NAMES, made(NamesRequest, of=of))

    def why(self, place: str) -> Why:
        """Return what was decided, tried and replaced at a place in a file.

        Args:
            place: A file, or a line of it such as `src/a.py:12`, seen from the current folder.

        Raises:
            InvalidValue: It is not in the project, or the file has no such line.
        """
        return self._run(table.WHY, WhyRequest(place=place))

    def changelog(self, revisions: str = "HEAD..") -> Changelog:
        """Say what the memory learned, changed and forgot between two git revisions.

        Args:
            revisions: Such as `main..HEAD`; see `RangeRequest`.
        """
        return self._run(table.CHANGELOG, made(RangeRequest, revisions=revisions)).changelog

    def provenance(self, reference: str) -> Provenance:
        """Return the commits that touched a record, the newest last; also of one that is gone."""
        return self._run(table.PROVENANCE, made(HistoryRequest, reference=reference))
