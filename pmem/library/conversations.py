"""What a project does with conversations, and with the threads that use its memory."""

from collections.abc import Iterable
from typing import Any

from pmem.conversation.conversations import (
    ConversationsRequest,
    EndRequest,
    Overview,
    SayRequest,
    SayResult,
    StartRequest,
)
from pmem.conversation.episodes import EpisodeListing, EpisodeRequest, EpisodesRequest
from pmem.conversation.message_changes import (
    MarkRequest,
    RemovedMessage,
    RemoveMessageRequest,
)
from pmem.conversation.pruning import PrunedListing, PruneRequest, Pruning
from pmem.core.extraction.episodes import Arc
from pmem.library.asking import Asking
from pmem.library.typed import made
from pmem.memory.changes import RecordsRequest
from pmem.memory.chunking import Transcript
from pmem.memory.facts import FactListing, FactsRequest, PromoteRequest, Promotion
from pmem.memory.reading import ConversationRequest, LookRequest, MessageRef
from pmem.operations import table
from pmem.search.threads import (
    Checkpoint,
    CheckpointInfo,
    CheckpointRequest,
    CheckpointsRequest,
    Delta,
    SaveRequest,
    ThreadRequest,
)
from pmem.search.usage import ContextUsage
from pmem.values.records import Conversation, Episode, Fact, Status


class Conversations(Asking):
    """Operations on conversations, facts, episodes and threads."""

    def start_conversation(self, title: str | None = None, app: str | None = None) -> Conversation:
        """Start a conversation, held in an app if one is named; it becomes the current one."""
        return self._run(table.START, StartRequest(title=title, app=app))

    def add_message(self, role: str, content: str, **fields: Any) -> SayResult:
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
        return self._run(table.SAY, request)

    def end_conversation(
        self, outcome: str | None = None, reference: str | None = None
    ) -> Conversation:
        """End a conversation, the current one by default; its app remembers it."""
        request = EndRequest(conversation=reference, outcome=outcome)
        return self._run(table.END, request).conversation

    def pause_conversation(self, reference: str | None = None) -> Conversation:
        """Pause a conversation, the current one by default."""
        return self._run(table.PAUSE, ConversationRequest(conversation=reference))

    def resume_conversation(self, reference: str | None = None) -> Conversation:
        """Make a paused or ended conversation active again."""
        return self._run(table.RESUME, ConversationRequest(conversation=reference))

    def clear_conversation(self, reference: str | None = None) -> Conversation:
        """Let contexts of a conversation start afresh; its messages stay kept."""
        return self._run(table.CLEAR, ConversationRequest(conversation=reference))

    def conversations(self, status: Status | None = None) -> Iterable[Overview]:
        """Return every conversation, the earliest first."""
        return self._run(table.CONVERSATIONS, ConversationsRequest(status=status)).items

    def transcript(self, reference: str | None = None) -> Transcript:
        """Return a conversation with everything that was said in it."""
        return self._run(table.TRANSCRIPT, LookRequest(conversation=reference))

    def prune_conversation(self, reference: str | None = None, **request: Any) -> Pruning:
        """Leave messages out of contexts; `request` has the other fields of PruneRequest."""
        return self._run(table.PRUNE, made(PruneRequest, conversation=reference, **request))

    def pruned_messages(self, reference: str | None = None) -> PrunedListing:
        """Return which messages of a conversation were pruned, when and why."""
        return self._run(table.PRUNED, LookRequest(conversation=reference))

    def mark_message(self, reference: str, **request: Any) -> MessageRef:
        """Say how much a message counts, or pin it.

        Args:
            reference: The message's id, or the start of it.
            request: The other fields of `MarkRequest`: importance, scored, pinned.

        Raises:
            NotFound, Ambiguous: The message.
            InvalidValue: What is asked for is not allowed.
        """
        return self._run(table.MARK, made(MarkRequest, message=reference, **request))

    def remove_message(self, reference: str, reason: str | None = None) -> RemovedMessage:
        """Remove the text of a message; its place, who spoke and when are kept.

        What was made of it stays, and is named.
        """
        request = RemoveMessageRequest(message=reference, reason=reason)
        return self._run(table.REMOVE_MESSAGE, request)

    def conversation_stats(self, reference: str | None = None) -> ContextUsage:
        """Count what a conversation holds and what a context shows of it."""
        return self._run(table.USAGE, LookRequest(conversation=reference))

    def facts(self, *, limit: int | None = None, **wanted: Any) -> FactListing:
        """Return the facts that messages state; `wanted` has the fields of FactsRequest."""
        return self._run(table.FACTS, made(FactsRequest, limit=limit, **wanted))

    def promote_facts(self, *references: str, above: float | None = None) -> Iterable[Promotion]:
        """Make memories of facts: of those named, and of all that are at least so sure.

        What waits for a person's consent instead stands in `waiting`.
        """
        return self._run(table.PROMOTE, PromoteRequest(references=references, above=above)).items

    def reject_facts(self, *references: str) -> Iterable[Fact]:
        """Reject facts, so that they are never noted again."""
        return self._run(table.REJECT_FACTS, RecordsRequest(references=references)).items

    def add_episode(self, summary: str, **request: Any) -> Episode:
        """Add an episode; `request` has the other fields of EpisodeRequest."""
        return self._run(table.ADD_EPISODE, made(EpisodeRequest, summary=summary, **request))

    def episodes(self, *, limit: int | None = None, **wanted: Any) -> EpisodeListing:
        """Return episodes, the oldest first; `wanted` has the fields of EpisodesRequest."""
        return self._run(table.EPISODES, made(EpisodesRequest, limit=limit, **wanted))

    def narrative_arc(self, reference: str | None = None) -> Arc:
        """Return a conversation's episodes by thirds, and its key moments."""
        return self._run(table.ARC, LookRequest(conversation=reference))

    def delta(self, thread: str) -> Delta:
        """Return what is new to a thread since it last asked, and mark it as told."""
        return self._run(table.DELTA, ThreadRequest(thread=thread))

    def save_checkpoint(self, thread: str, state: dict[str, Any], user: str = "") -> CheckpointInfo:
        """Save a thread's state in place of the one saved before."""
        return self._run(table.SAVE_CHECKPOINT, SaveRequest(thread=thread, state=state, user=user))

    def load_checkpoint(self, thread: str, user: str = "") -> Checkpoint:
        """Return a thread's state as it was saved last.

        Raises:
            NotFound: None was saved for this thread and user.
        """
        return self._run(table.LOAD_CHECKPOINT, CheckpointRequest(thread=thread, user=user))

    def remove_checkpoint(self, thread: str, user: str = "") -> None:
        """Remove a thread's saved state for good."""
        self._run(table.REMOVE_CHECKPOINT, CheckpointRequest(thread=thread, user=user))

    def checkpoints(self, user: str | None = None) -> Iterable[CheckpointInfo]:
        """Return what checkpoints there are, the last saved first."""
        return self._run(table.CHECKPOINTS, CheckpointsRequest(user=user)).items
