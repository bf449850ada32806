"""`pmem serve` and `pmem mcp`: the memory over HTTP, and over MCP for assistants."""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from signal import SIGINT, SIGTERM, default_int_handler, signal
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from pmem.cli import render
from pmem.cli.asking import asks, own
from pmem.cli.session import Answer, CommandSession, Line, needing
from pmem.errors import Damaged, InvalidValue, Refused, UsageError
from pmem.project.caller import Caller, asked_by
from pmem.storage.shared import Shared
from pmem.values.fields import NoArguments

if TYPE_CHECKING:
    from pmem.server.http.connections import ListeningPlace
    from pmem.server.http.tokens import Tokens

_WHO: Final = "WHO"
AGENT: Final = "assistant"  # who calls, where nobody says
TOOLS: Final = own(
    "MCP tools to offer: read, agent, admin, work, all, or names.", "agent", shown="NAME,..."
)
_AUTO: Final = "auto"
_SESSION: Final = "CLAUDE_CODE_SESSION_ID"  # where a client says of which session it is
_TURN: Final = "x-codex-turn-metadata"  # where a client says so with each call


@asks(NoArguments)
def serve(
    session: CommandSession,
    _: NoArguments,
    host: str = own("Where to listen; this machine alone by default.", "127.0.0.1", shown="NAME"),
    port: int = own("The port; 0 takes a free one.", 7636, shown="N"),
    socket: str | None = own("Listen at a unix socket instead.", shown="FILE"),
    allow_host: tuple[str, ...] = own("Another name that clients use for it.", (), shown="NAME"),
    tools: str = TOOLS,
    token: str | None = own(
        "Print the token of `person`, `agent:NAME` or `app:NAME`, and end.", shown=_WHO
    ),
    revoke: str | None = own("Let a token count no more, and end.", shown=_WHO),
) -> Answer | None:
    """Serve the memory over HTTP, to anyone who has a token.

    A token says who asks: a person, an agent within its allowlist, or an app. It serves until you
    interrupt it.
    """
    if token is not None and revoke is not None:
        raise UsageError("--token and --revoke exclude each other", "give one of them")
    from pmem.server.http.tokens import VARIABLE, Tokens, file_of

    file = file_of(session.found_root, session.environment)
    tokens = Tokens(file, session.environment.get(VARIABLE) or None)
    named = revoke if token is None else token
    if named is not None:
        return _changed_token(session, tokens, named, is_revoked=token is None)
    with needing("server", "pmem serve"):
        from pmem.server.http.connections import ListeningPlace

    place = ListeningPlace(host=host, port=port, socket=socket)
    _serve(session, tokens, place, allow_host, tools)
    return None


def _serve(
    session: CommandSession,
    tokens: "Tokens",
    place: "ListeningPlace",
    names: tuple[str, ...],
    tools: str,
) -> None:
    from pmem.server.http.application import HttpServer
    from pmem.server.http.connections import listen, serve
    from pmem.server.http.guard import GuardRules
    from pmem.server.http.mcp_endpoint import McpOffer
    from pmem.server.http.tokens import PERSON
    from pmem.server.tools import chosen

    shared = Shared()
    opened = partial(session.opened_anew, session.found_root, shared)
    opened().reach  # noqa: B018 - may they start it?
    offer = McpOffer(
        tools=chosen(tools, read_only=session.read_only),
        agent=session.caller.agent or session.environment.get("PMEM_AGENT", AGENT),
        session=partial(thread_of, "auto", {}),
    )
    own = tokens.token_of(PERSON).secret
    server = HttpServer(opened, tokens, GuardRules(hosts=(*place.names, *names)), offer)
    listener = listen(place)
    if place.socket is not None:
        address = f"unix:{os.path.abspath(place.socket)}"
    else:
        host, port = listener.getsockname()[:2]
        address = f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
    try:
        signal(SIGTERM, lambda *_: sys.exit(0))  # what was begun is ended
        signal(SIGINT, default_int_handler)
        key = own if place.socket is None and _program_in(session) is None else ""
        render.show(session, _announced(session, place, address, tokens, key))
        serve(server.application, listener)
    finally:
        shared.close()
        if place.socket is not None:
            with suppress(FileNotFoundError):  # somebody tidied up before
                os.unlink(place.socket)


def _program_in(session: CommandSession) -> str | None:
    asking = session.caller.known_in(session.environment)
    return asking.agent or asking.app


def _changed_token(
    session: CommandSession, tokens: "Tokens", words: str, *, is_revoked: bool
) -> Answer:
    from pmem.server.http.tokens import holder_named

    program = _program_in(session)
    if program is not None:
        raise Refused(f"{program} may not look after tokens: a person does")
    holder = holder_named(words)
    if is_revoked:
        tokens.revoke(holder)
        gone = {"holder": str(holder), "revoked": True}
        return Answer(data=gone, lines=[[(f"revoked {holder}", "")]])
    secret = tokens.token_of(holder).secret
    return Answer(data={"holder": str(holder), "token": secret}, lines=[[(secret, "")]])


def _announced(
    session: CommandSession, place: "ListeningPlace", address: str, tokens: "Tokens", key: str
) -> Answer:
    """Say where it serves, what that opens, and where its token is.

    On a terminal the address lets its reader into the page: what stands behind `#` is sent to no
    server. A pipe may be a log, so that it is told the bare address.
    """
    from pmem.server.http.application import has_page

    line: Line = [("serving ", "green"), (address, "bold")]
    may = "read" if session.read_only else "read and change"
    warning = (
        f"warning: other machines can reach this; anyone who has a token may {may} the whole"
        " memory, and without TLS in front of it others on the way can read along\n"
    )
    keyed: Line = [*line, (f"#token={key}", "dim")] if key and has_page() else line
    return Answer(
        data={"address": address, "tokens": tokens.path, "read_only": session.read_only},
        lines=[line],
        screen=lambda _: [keyed],
        note=f"{warning * place.is_open}tokens stand in {tokens.path};"
        " `pmem serve --token person` prints yours\nCtrl+C ends it",
    )


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
    from pmem.server.greeting import serve
    from pmem.server.tools import chosen

    offered = chosen(tools, read_only=session.read_only)
    root, shared = session.found_root, Shared()
    named = session.caller.agent or session.environment.get("PMEM_AGENT")
    agent = AGENT if named is None else named
    workspace = asked_by(session.opened_anew(root, shared), Caller(agent))
    with suppress(Damaged, InvalidValue):  # then each call says it: a start is read by nobody
        workspace.settings  # noqa: B018 - can they be read?
        workspace.reach  # noqa: B018 - is it allowed?
    source, sink = _own_streams()
    with needing("mcp", "pmem mcp"):
        if find_spec("mcp") is None:
            raise ModuleNotFoundError("No module named 'mcp'")

    def make_calls() -> Any:
        from pmem.server.calls import ToolCalls

        opened = partial(session.opened_anew, root, shared)
        return ToolCalls(opened, agent, offered, structured=structured, is_named=named is not None)

    serve(make_calls, offered, source, sink, partial(thread_of, thread, session.environment))
    shared.close()


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
