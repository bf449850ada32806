"""Every message that a project keeps, wherever it is."""

from collections.abc import Iterator

from pmem.memory.reading import MessageRef
from pmem.project.workspace import Workspace


def all_messages(workspace: Workspace) -> Iterator[MessageRef]:
    """Yield every message that is kept, each once, by conversation and chunk."""
    seen: set[str] = set()
    parts = [(each.id, each.recent_messages) for each in workspace.conversations.find()]
    parts += [(chunk.conversation, chunk.messages) for chunk in workspace.chunks.find()]
    for conversation, messages in parts:
        for message in messages:
            if message.id not in seen:
                seen.add(message.id)
                yield MessageRef(message=message, conversation=conversation)
