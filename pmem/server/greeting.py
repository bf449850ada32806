"""The beginning of every talk over MCP, answered without the SDK, which answers the rest.

A client shakes hands and lists what there is; few sessions go on to call a tool. What the SDK says
to that is kept in greetings.json, which docs/generate.py writes. The first line that is not in
there loads the SDK, and it is told all that was said before.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.resources import files
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import msgspec

from pmem.server.tools import FOR_MODELS, ModelTool, Session
from pmem.values.bounds import LINE_BYTES

if TYPE_CHECKING:
    from pmem.server.calls import ToolCalls

HANDSHAKE: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The revisions that begin with a handshake; all of them have the same answers."""
MODERN: Final = "2026-07-28"
"""The revision in which every request says who asks."""
_SHAKEN: Final = {"jsonrpc": "2.0", "method": "notifications/initialized"}
_TRIED: Final = "2.3."
"""The releases of the SDK that work without `_UNUSED`."""
_UNUSED: Final = (
    "mcp.client.", "mcp.server.auth", "mcp.server.mcpserver", "mcp.server.streamable_http",
    "mcp.server.transport_security", "starlette",
)  # fmt: skip
"""What the SDK imports for clients, for HTTP and for another kind of server."""


def serve(
    make_calls: "Callable[[], ToolCalls]",
    tools: Mapping[str, ModelTool],
    source: BinaryIO,
    sink: BinaryIO,
    session: Session,
) -> None:
    """Answer a client until its input ends, or it reads no more.

    `make_calls` loads what calls need; `session` returns the thread of a call, from the metadata of
    its request.
    """
    lines: list[bytes] = []
    answered, era = 0, ""
    try:
        while line := source.readline(LINE_BYTES):
            lines.append(line)
            message = _decoded(line)
            if message == _SHAKEN and era in HANDSHAKE:
                continue
            era, result = _greeting(message, era)
            if result is None or ("tools" in result and (*tools.values(),) != FOR_MODELS):
                break
            answered += 1
            sink.write(
                msgspec.json.encode({"jsonrpc": "2.0", "id": message["id"], "result": result})
            )
            sink.write(b"\n")
            sink.flush()
        else:
            return
    except OSError:  # nobody is there any more
        return
    with _without_unused_parts():
        from pmem.server.mcp import go_on

    go_on(make_calls, tools, (source, sink), (lines, answered), session)


def _decoded(line: bytes) -> Any:
    """Return a message; None for what is none."""
    try:
        return msgspec.json.decode(line)
    except (ValueError, RecursionError):
        return None


def _greeting(message: Any, era: str) -> tuple[str, dict[str, Any] | None]:
    """Return the revision of a talk, and what a request is answered; None where the SDK has to.

    Only what looks exactly as clients send it is answered from here.
    """
    match message:
        case {"jsonrpc": "2.0", "id": int() | str() as name, "method": str(method), **rest} if type(
            name
        ) is not bool and rest.keys() <= {"params"}:
            pass
        case _:
            return era, None
    match rest.get("params", {}):
        case {
            "protocolVersion": str(version),
            "capabilities": dict(),
            "clientInfo": {"name": str(), "version": str()},
            **more,
        } if version in HANDSHAKE and method == "initialize" and not (more or era):
            return version, {**greetings()[HANDSHAKE[-1]][method], "protocolVersion": version}
        case {
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": str(), "version": str()},
                "io.modelcontextprotocol/clientCapabilities": dict(),
            },
            **more,
        } if era in ("", MODERN) and not more:
            return MODERN, greetings()[MODERN].get(method)
        case {**more} if era in HANDSHAKE and not more and method != "initialize":
            return era, greetings()[HANDSHAKE[-1]].get(method)
    return era, None


@cache
def greetings() -> Mapping[str, Mapping[str, dict[str, Any]]]:
    """Return what the SDK answers, by the revision and the method."""
    kept = files(__package__).joinpath("greetings.json").read_bytes()
    return msgspec.json.decode(kept, type=dict[str, dict[str, dict[str, Any]]])


@contextmanager
def _without_unused_parts() -> Iterator[None]:
    """Let nothing stand for what the SDK imports and does not use here, while it is imported.

    That is a third of its memory. Where it is of another release, or loaded already, it is whole.
    """
    from importlib.metadata import version

    if "mcp" in sys.modules or not version("mcp").startswith(_TRIED):
        yield
        return
    finder = _NothingFinder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in finder.made:
            del sys.modules[name]


class _NothingFinder(MetaPathFinder, Loader):
    """Finds a module without anything for each name in `_UNUSED`."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def find_spec(self, name: str, path: Sequence[str] | None, target: object = None) -> Any:  # noqa: ARG002
        """Find it."""
        if not name.startswith(_UNUSED):
            return None
        self.made.append(name)
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Make it."""
        return _Nothing(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing."""


class _Nothing(ModuleType):
    """Has a class of any name."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})
