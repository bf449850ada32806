"""What a project does with conversations, and with the threads that use its memory."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

from pmem.conversation import conversations, episodes, pruning
from pmem.conversation.conversations import Heard, Overview, SayRequest
from pmem.conversation.episodes import EpisodeFilter, EpisodeListing, EpisodeRequest
from pmem.conversation.pruning import PruneRequest, Pruning
from pmem.core.extraction.episodes import Arc
from pmem.library.typed import Typed, made
from pmem.memory import facts
from pmem.memory.chunking import Transcript
from pmem.memory.facts import FactFilter, FactListing, Promotion
from pmem.project.workspace import Workspace
from pmem.search import threads
from pmem.search.threads import Checkpoint, CheckpointInfo, Delta
from pmem.search.usage import Overlay, overlay
from pmem.values.records import Conversation, Episode, Fact, Status


class Conversations(Typed):
    """Operations on conversations, facts, episodes and threads."""

    @property
    @abstractmethod
    def workspace(self) -> Workspace:
        """A unit of work of its own, for one call."""

    def start_conversation(self, title: str | None = None, app: str | None = None) -> Conversation:
        """Start a conversation, held in an app if one is named; it becomes the current one."""
        return conversations.start(self.workspace, title, app)

    def add_message(self, role: str, content: str, **fields: Any) -> Heard:
        """Add a message to a conversation, the current one by default.

        Args:
            role: Who speaks: user, assistant, system or tool.
            content: What is said.
            fields: The other fields of `SayRequest`.

        Raises:
            NotFound: No conversation is active.
            InvalidValue: The message is not allowed.
        """
        request = made(SayRequest, role=role, content=content, **fields)
        return conversations.say(self.workspace, request)

    def end_conversation(
        self, outcome: str | None = None, reference: str | None = None
    ) -> Conversation:
        """End a conversation, the current one by default; its app remembers it."""
        return conversations.end(self.workspace, reference, outcome)[0]

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

    def prune_conversation(self, reference: str | None = None, **request: Any) -> Pruning:
        """Leave messages out of contexts; `request` has the other fields of PruneRequest."""
        return pruning.prune(self.workspace, made(PruneRequest, conversation=reference, **request))

    def conversation_stats(self, reference: str | None = None) -> Overlay:
        """Count what a conversation holds and what a context shows of it."""
        return overlay(self.workspace, reference)

    def facts(self, *, limit: int | None = None, **wanted: Any) -> FactListing:
        """Return the facts that messages state; `wanted` has the fields of FactFilter."""
        return facts.listing(self.workspace, made(FactFilter, **wanted), limit)

    def promote_facts(self, *references: str, above: float | None = None) -> Iterable[Promotion]:
        """Make memories of facts: of those named, and of all that are at least so sure.

        What waits for a person's consent instead stands in `waiting`.
        """
        return facts.promote(self.workspace, references, above).items

    def reject_facts(self, *references: str) -> Iterable[Fact]:
        """Reject facts, so that they are never noted again."""
        return facts.reject(self.workspace, references)

    def add_episode(self, summary: str, **request: Any) -> Episode:
        """Add an episode; `request` has the other fields of EpisodeRequest."""
        return episodes.add(self.workspace, made(EpisodeRequest, summary=summary, **request))

    def episodes(self, *, limit: int | None = None, **wanted: Any) -> EpisodeListing:
        """Return episodes, the oldest first; `wanted` has the fields of EpisodeFilter."""
        return episodes.listing(self.workspace, made(EpisodeFilter, **wanted), limit)

    def narrative_arc(self, reference: str | None = None) -> Arc:
        """Return a conversation's episodes by thirds, and its key moments."""
        return episodes.narrative(self.workspace, reference)

    def delta(self, thread: str) -> Delta:
        """Return what is new to a thread since it last asked, and mark it as told."""
        return threads.delta(self.workspace, thread)

    def save_checkpoint(self, thread: str, state: dict[str, Any], user: str = "") -> CheckpointInfo:
        """Save a thread's state in place of the one saved before."""
        return threads.save_checkpoint(self.workspace, thread, state, user)

    def load_checkpoint(self, thread: str, user: str = "") -> Checkpoint:
        """Return a thread's state as it was saved last.

        Raises:
            NotFound: None was saved for this thread and user.
        """
        return threads.load_checkpoint(self.workspace, thread, user)

    def remove_checkpoint(self, thread: str, user: str = "") -> None:
        """Remove a thread's saved state for good."""
        threads.remove_checkpoint(self.workspace, thread, user)

    def checkpoints(self, user: str | None = None) -> Iterable[CheckpointInfo]:
        """Return what checkpoints there are, the last saved first."""
        return threads.checkpoints(self.workspace, user)
