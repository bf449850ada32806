"""The command that serves the memory to assistants."""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any, BinaryIO, Final

from pmem.cli.asking import asks, own
from pmem.cli.session import CommandSession, needing
from pmem.errors import Damaged, InvalidValue
from pmem.project.caller import Caller, asked_by
from pmem.project.workspace import Workspace
from pmem.storage.shared import Shared
from pmem.values.fields import NoArguments

AGENT: Final = "assistant"
"""Who calls, where nobody says."""
TOOLS: Final = own(
    "MCP tools to offer: read, agent, admin, work, all, or names.", "agent", shown="NAME,..."
)
_AUTO: Final = "auto"
_SESSION: Final = "CLAUDE_CODE_SESSION_ID"
"""Where a client says of which session it is."""
_TURN: Final = "x-codex-turn-metadata"
"""Where a client says so with each call."""


@asks(NoArguments)
def mcp(
    session: CommandSession,
    _: NoArguments,
    tools: str = TOOLS,
    thread: str = own(
        "The thread of contexts: a name, or the session's.",
        "auto",
        shown="NAME|auto",
        completes="thread",
    ),
    structured: bool = own("Answer in JSON too, for programs."),
) -> None:
    """Serve the memory over the Model Context Protocol (MCP).

    It talks on standard input and output. Its caller is the agent `assistant`, or the one that you
    name with --agent.
    """
    from pmem.server.tools import chosen

    offered = chosen(tools, read_only=session.read_only)
    root, shared = session.found_root, Shared()
    named = session.caller.agent or session.environment.get("PMEM_AGENT")
    agent = AGENT if named is None else named
    _check_agent(asked_by(session.opened_anew(root, shared), Caller(agent)))
    source, sink = _own_streams()
    with needing("mcp", "pmem mcp"):
        from pmem.server.mcp import serve

    def make_calls() -> Any:
        from pmem.server.calls import ToolCalls

        opened = partial(session.opened_anew, root, shared)
        return ToolCalls(opened, agent, offered, structured=structured, is_named=named is not None)

    serve(make_calls, offered, source, sink, partial(thread_of, thread, session.environment))
    shared.close()


def _check_agent(workspace: Workspace) -> None:
    """See that the agent may ask. Settings that cannot be read keep nothing from starting.

    Then each call says what is wrong: nobody reads why a server did not start.
    """
    with suppress(Damaged, InvalidValue):
        workspace.settings  # noqa: B018 - can they be read?
        workspace.reach  # noqa: B018 - is it allowed?


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """Take standard input and output for the protocol alone.

    Whatever is printed goes to standard error from now on, and no child reads what is ours.
    """
    sys.stdout.flush()
    try:
        sys.stdin.fileno(), sys.stdout.fileno()
    except OSError:  # they are no files: nobody else has them
        return sys.stdin.buffer, sys.stdout.buffer
    source, sink = os.dup(sys.stdin.fileno()), os.dup(sys.stdout.fileno())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    os.close(nothing)
    return os.fdopen(source, "rb"), os.fdopen(sink, "wb")


def thread_of(
    named: str, environment: Mapping[str, str], metadata: Mapping[str, Any]
) -> str | None:
    """Return the thread of a call: as it was named at first, for `auto` the client's session."""
    turn = metadata.get(_TURN)
    session = turn.get("session_id") if isinstance(turn, Mapping) else None
    if named != _AUTO:
        return named
    return session if isinstance(session, str) else environment.get(_SESSION)
