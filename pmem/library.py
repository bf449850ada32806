"""pmem in Python: one class with the operations that the command line has.

Everything returns values and nothing prints. `from pmem import Project`.
"""

import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Self

import msgspec

from pmem import (
    conversations,
    evaluation,
    exchange,
    golden,
    lookup,
    memories,
    recall,
    setup,
    upkeep,
)
from pmem.conversations import Overview, SayRequest, Transcript
from pmem.core import context
from pmem.core.filters import Filter
from pmem.evaluation import Evaluation, EvaluationRequest
from pmem.exchange import Imported
from pmem.golden import QuestionAdded, QuestionRequest
from pmem.lookup import Listing, Said
from pmem.memories import Added, AddRequest, EditRequest, Removable
from pmem.recall import ContextRequest, Found, Hit, SearchRequest
from pmem.records import Conversation, Event, Memory, MemoryType, Record, Role, Status
from pmem.storage.backend import Backend, Problem
from pmem.upkeep import Checked, Diagnosis, Statistics
from pmem.workspace import Workspace, discover


class BuiltContext(context.Context, frozen=True, kw_only=True):
    """A context together with what was retrieved for it."""

    retrieval_results: tuple[Hit, ...] = ()


class Project:
    """A project's memory.

    Args:
        memory_dir: The memory folder; it is made if it is missing.
        actor: Who writes, as histories name them; git's user.name, else the login, when None.
        now: A fixed present for reproducible runs.
        read_only: Refuse every write.
        backend: Where records live; JSON files in `memory_dir` by default.
        settings: Settings by name, such as `chunk_size=10`; they win over every other source.

    Raises:
        InvalidValue: There is a file of the folder's name; or, on use, a setting that does
            not exist or does not allow its value.
        StorageRefused: The folder cannot be made.
    """

    def __init__(
        self,
        memory_dir: str = ".project-memory",
        *,
        actor: str | None = None,
        now: datetime | None = None,
        read_only: bool = False,
        backend: Backend | None = None,
        **settings: Any,
    ) -> None:
        if backend is None and not read_only and not os.path.isdir(memory_dir):
            setup.initialise(memory_dir)
        self.workspace = Workspace(
            os.path.abspath(memory_dir),
            actor=actor,
            now=now,
            read_only=read_only,
            overrides=settings,
            environment=os.environ,
            backend=backend,
        )

    @classmethod
    def discover(cls, start: str = ".", **options: Any) -> Self:
        """Open the memory of a place, looked for there and in every parent.

        Args:
            start: Where to look from.
            options: See the class.

        Raises:
            NoProject: There is none.
        """
        return cls(discover(start), **options)

    @property
    def problems(self) -> list[Problem]:
        """Files met so far that could not be used; they were left out of every answer."""
        return self.workspace.problems

    def add(self, content: str, type: str = MemoryType.FACT, **fields: Any) -> Added:  # noqa: A002
        """Add a memory, or find the one that should be updated instead.

        Args:
            content: What to remember.
            type: What it says.
            fields: The other fields of `AddRequest`.

        Raises:
            InvalidValue: A value is not allowed.
        """
        request = AddRequest(content=content, type=MemoryType(type), **fields)
        return memories.add(self.workspace, request)

    def add_all(self, requests: Iterable[AddRequest]) -> list[Added]:
        """Add several memories in one commit.

        Raises:
            InvalidValue: A value is not allowed; nothing was added.
        """
        return memories.add_all(self.workspace, list(requests))

    def show(self, reference: str, at: datetime | None = None) -> Record | Said:
        """Return the record, or the message, that a reference means.

        Raises:
            NotFound, Ambiguous: The reference.
        """
        return lookup.show(self.workspace, reference, at)

    def list(
        self, wanted: Filter | None = None, *, limit: int | None = None, at: datetime | None = None
    ) -> Listing:
        """Return the memories that pass a filter, the oldest first."""
        return lookup.listing(self.workspace, wanted or Filter(), limit=limit, at=at)

    def edit(self, reference: str, content: str | None = None, **fields: Any) -> Memory:
        """Change a memory.

        Args:
            reference: Which one.
            content: Its new content.
            fields: The other fields of `EditRequest`.

        Raises:
            NotFound, Ambiguous: The reference.
            InvalidValue: A value is not allowed.
        """
        return memories.edit(self.workspace, reference, EditRequest(content=content, **fields))

    def remove(self, *references: str) -> Iterable[Removable]:
        """Remove memories and episodes so that they can still be restored."""
        return memories.remove(self.workspace, references)

    def restore(self, *references: str) -> Iterable[Removable]:
        """Bring memories and episodes back to `active`."""
        return memories.restore(self.workspace, references)

    def purge(self, *references: str, force: bool = False) -> Iterable[Record]:
        """Delete records for good."""
        return memories.purge(self.workspace, references, force=force)

    def pin(self, reference: str, *, pinned: bool = True) -> Removable:
        """Pin a memory or an episode, or unpin it."""
        return memories.pin(self.workspace, reference, pinned=pinned)

    def link(
        self,
        start: str,
        end: str,
        type: str = "related_to",  # noqa: A002
        strength: float = 0.5,
    ) -> Memory:
        """Link one memory to another."""
        return memories.link(self.workspace, start, end, type, strength)

    def unlink(self, start: str, end: str, type: str | None = None) -> Memory:  # noqa: A002
        """Remove the links from one memory to another."""
        return memories.unlink(self.workspace, start, end, type)

    def history(self, reference: str) -> tuple[Event, ...]:
        """Return what happened to a record, the oldest event first."""
        return lookup.history(self.workspace, reference)

    def search(self, query: str, **request: Any) -> Found:
        """Rank everything kept by how well it answers a query.

        Args:
            query: What to look for.
            request: The other fields of `SearchRequest`.
        """
        return recall.search(self.workspace, SearchRequest(query=query, **request))

    def build_context(self, query: str | None = None, **request: Any) -> BuiltContext:
        """Write the block that a model reads, within a budget.

        Args:
            query: What it is for.
            request: The other fields of `ContextRequest`.
        """
        built = recall.build_context(self.workspace, ContextRequest(query=query, **request))
        hits = self.search(query).hits if query else ()
        return BuiltContext(**msgspec.structs.asdict(built), retrieval_results=hits)

    def evaluate(self, file: str | None = None, **request: Any) -> Evaluation:
        """Ask a golden set's questions; `request` has the other fields of EvaluationRequest."""
        asked = golden.read(file or golden.default_file(self.workspace))
        return evaluation.evaluate(self.workspace, EvaluationRequest(golden=asked, **request))

    def add_question(self, query: str, reference: str, **request: Any) -> QuestionAdded:
        """Add to a golden set what a query must find; see QuestionRequest for more."""
        line = QuestionRequest(query=query, reference=reference, **request)
        return golden.add(self.workspace, line)

    def start_conversation(self, title: str | None = None) -> Conversation:
        """Start a conversation; it becomes the current one."""
        return conversations.start(self.workspace, title)

    def add_message(self, role: str, content: str, **fields: Any) -> Said:
        """Add a message to a conversation, the current one by default.

        Args:
            role: Who speaks: user, assistant, system or tool.
            content: What is said.
            fields: The other fields of `SayRequest`.

        Raises:
            NotFound: No conversation is active.
            InvalidValue: The message is not allowed.
        """
        request = SayRequest(role=Role(role), content=content, **fields)
        return conversations.say(self.workspace, request)

    def end_conversation(
        self, outcome: str | None = None, reference: str | None = None
    ) -> Conversation:
        """End a conversation, the current one by default."""
        return conversations.change_status(self.workspace, reference, Status.ENDED, outcome)

    def pause_conversation(self, reference: str | None = None) -> Conversation:
        """Pause a conversation, the current one by default."""
        return conversations.change_status(self.workspace, reference, Status.PAUSED)

    def resume_conversation(self, reference: str | None = None) -> Conversation:
        """Make a paused or ended conversation active again."""
        return conversations.change_status(self.workspace, reference, Status.ACTIVE)

    def clear_conversation(self, reference: str | None = None) -> Conversation:
        """Let contexts of a conversation start afresh; its messages stay kept."""
        return conversations.clear(self.workspace, reference)

    def conversations(self, status: Status | None = None) -> Iterable[Overview]:
        """Return every conversation, the earliest first."""
        return conversations.overviews(self.workspace, status)

    def transcript(self, reference: str | None = None) -> Transcript:
        """Return a conversation with everything that was said in it."""
        return conversations.transcript(self.workspace, reference)

    def import_messages(self, lines: Iterable[bytes], name: str = "transcript") -> Imported:
        """Take in a transcript in JSON Lines; a second time adds nothing."""
        return exchange.import_messages(self.workspace, lines, name, _silent)

    def import_arrays(self, folder: str) -> Imported:
        """Take in the four array files of a folder."""
        return exchange.import_arrays(self.workspace, folder, _silent)

    def export_arrays(self) -> Mapping[str, bytes]:
        """Return the four array files' contents by name."""
        return exchange.export_arrays(self.workspace)

    def stats(self) -> Statistics:
        """Count what the memory holds."""
        return upkeep.statistics(self.workspace)

    def check(self) -> Checked:
        """Read everything and report all that is wrong."""
        return upkeep.check(self.workspace)

    def doctor(self, *, fix: bool = False) -> Iterable[Diagnosis]:
        """Look at everything that pmem needs around the records."""
        return upkeep.doctor(self.workspace, fix=fix)

    def flush(self) -> None:
        """Return at once: every operation is on disk when it returns.

        Kept for programs written for stores that batch their writes.
        """


def _silent(done: int, total: int) -> None:
    """Report no progress."""
