"""The commands that change one message of a conversation."""

from pmem.cli.asking import asks
from pmem.cli.conversation import message_line
from pmem.cli.session import Answer, CommandSession, Line
from pmem.conversation.message_changes import MarkRequest, RemoveMessageRequest
from pmem.errors import UsageError
from pmem.operations import table
from pmem.values.ids import short


@asks(MarkRequest)
def mark(session: CommandSession, request: MarkRequest) -> Answer:
    """Say how much a message counts, or pin it.

    A pinned message is never pruned. Contexts show it word for word, also once it has moved into
    a chunk.
    """
    if request.importance is not None and request.scored:
        raise UsageError("--importance and --scored say different things", "give one of them")
    done = session.run(table.MARK, request)
    line: Line = [("marked ", "green"), (short(done.message.id), "cyan"), ("  ", "")]
    return Answer(data=done, lines=[[*line, *message_line(done.message)]])


@asks(RemoveMessageRequest)
def remove(session: CommandSession, request: RemoveMessageRequest) -> Answer:
    """Remove the text of one message, and keep its trace.

    Its place, who spoke, when, who removed it and why are kept. What was made of it stays, and is
    named. Where the message was committed, git has its text.
    """
    done = session.run(table.REMOVE_MESSAGE, request)
    line: Line = [("removed the text of ", "green"), (short(done.message.id), "cyan")]
    notes = [
        f"{what} was made of it and stays: {', '.join(map(short, made))}; `pmem rm` takes it out of"
        " recall"
        for what, made in (("a memory", done.memories), ("an episode", done.episodes))
        if made
    ]
    return Answer(data=done, lines=[line], note="\n".join(notes))
