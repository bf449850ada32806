"""The writing commands that the fault tests break, and a folder to run them in."""

import orjson

from pmem.conversation.conversations import SayRequest, StartRequest
from pmem.conversation.exchange import MessagesRequest
from pmem.memory.lifecycle import PurgeRequest
from pmem.memory.requests import AddAllRequest, AddRequest, EditRequest, LinkRequest
from pmem.operations import table
from pmem.project.setup import initialise
from pmem.project.workspace import Workspace
from pmem.values.records import Conversation, Memory
from tests.asking import ask
from tests.storage.folders import fixed_chance, opened


def prepare(root: str) -> None:
    """Make a folder with linked memories and a conversation of two chunks."""
    initialise(root)
    with fixed_chance(1):
        workspace = opened(root)
        for number in range(3):
            ask(workspace, table.ADD, AddRequest(content=f"memory {number}", subject=f"s{number}"))
        first, second, third = workspace.memories.ids()
        ask(workspace, table.LINK, LinkRequest(start=first, end=second))
        ask(workspace, table.LINK, LinkRequest(start=second, end=third))
        ask(workspace, table.START, StartRequest(title="talk"))
        for number in range(8):
            ask(workspace, table.SAY, SayRequest(content=f"message {number}"))


def add_one(workspace: Workspace) -> None:
    ask(workspace, table.ADD, AddRequest(content="one more", subject="new"))


def add_several(workspace: Workspace) -> None:
    requests = [AddRequest(content=f"several {number}") for number in range(3)]
    ask(workspace, table.ADD_ALL, AddAllRequest(memories=tuple(requests)))


def edit_one(workspace: Workspace) -> None:
    _, identifier = workspace.resolve(workspace.memories.ids()[0], Memory)
    ask(workspace, table.EDIT, EditRequest(reference=identifier, content="edited"))


def say_and_overflow(workspace: Workspace) -> None:
    ask(workspace, table.SAY, SayRequest(content="one too many"))


def purge_a_conversation(workspace: Workspace) -> None:
    _, identifier = workspace.resolve(workspace.conversations.ids()[0], Conversation)
    ask(workspace, table.PURGE, PurgeRequest(references=(identifier,), force=True))


def purge_a_linked_memory(workspace: Workspace) -> None:
    ask(
        workspace,
        table.PURGE,
        PurgeRequest(references=(workspace.memories.ids()[1],), force=True),
    )


def import_a_transcript(workspace: Workspace) -> None:
    lines = [
        orjson.dumps({"conversation": "t", "id": str(number), "content": f"imported {number}"})
        for number in range(7)
    ]
    ask(
        workspace,
        table.IMPORT_MESSAGES,
        MessagesRequest(lines=lines, name="t", progress=lambda done, total: None),
    )


COMMANDS = [
    add_one,
    add_several,
    edit_one,
    say_and_overflow,
    purge_a_conversation,
    purge_a_linked_memory,
    import_a_transcript,
]
