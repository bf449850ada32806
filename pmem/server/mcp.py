"""The Model Context Protocol, through its official SDK: what a client asks, handed to pmem.

The SDK speaks every revision of the protocol; here stands only what there is. Calls run one after
another in a thread, so that the protocol is answered meanwhile. This module and
`http.mcp_endpoint` are the only ones that know the SDK.
"""

import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol, TypeVar

import anyio
import mcp_types as types
from anyio import to_thread
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types.methods import CacheableMethod

from pmem import __version__
from pmem.server.tools import (
    INSTRUCTIONS,
    MIME,
    PROMPTS,
    RESOURCES,
    SPELLINGS,
    TEMPLATES,
    ModelTool,
    NotOffered,
    Session,
    prompt_text,
    read_resource,
)
from pmem.values.bounds import LINE_BYTES

if TYPE_CHECKING:
    from pmem.server.calls import ToolCalls

T = TypeVar("T")
Asked = ServerRequestContext[Any, Any]
Paged = types.PaginatedRequestParams | None

_DAY: Final = CacheHint(ttl_ms=24 * 60 * 60 * 1000)
_LISTS: Final[tuple[CacheableMethod, ...]] = (
    "tools/list", "prompts/list", "resources/list", "resources/templates/list",
)  # fmt: skip
"""What does not change while the server runs."""
GRACE: Final = 1.0
"""How long what is asked when the input ends may take to be answered, in seconds."""
_MOMENT: Final = 0.01
_NO_REQUEST: Final = "this is no request of JSON-RPC 2.0"


def go_on(
    make_calls: "Callable[[], ToolCalls]",
    tools: Mapping[str, ModelTool],
    streams: tuple[BinaryIO, BinaryIO],
    said: tuple[Sequence[bytes], int],
    session: Session,
) -> None:
    """Answer a client, whose first lines are said, until its input ends or it reads no more.

    So many of the requests in these lines, the first ones, are answered already.
    """
    anyio.run(_serve, make_calls, tools, _Client(*streams, *said), session)


async def _serve(
    make_calls: "Callable[[], ToolCalls]",
    tools: Mapping[str, ModelTool],
    client: "_Client",
    session: Session,
) -> None:
    server = ProtocolDesk(_OneByOne(make_calls).run, tools, session).server()
    files: Any = client
    try:
        async with stdio_server(files, files) as (read, write):
            await server.run(read, write, server.create_initialization_options())
    except* OSError:  # nobody is there any more
        pass


class _Client:
    """The client at the other end of two streams of bytes, as the SDK's server reads and writes.

    Its first lines are said, and so many requests among them answered: it does not hear these
    answers again. What is asked before the input ends is answered, if that takes no longer than
    `GRACE`.
    """

    def __init__(
        self, source: BinaryIO, sink: BinaryIO, said: Sequence[bytes], answered: int
    ) -> None:
        self._source, self._sink = source, sink
        self._said, self._answered = deque(said), answered
        self._unanswered = 0

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await self._next_line():
            told = line.decode("utf-8", "replace")
            try:
                message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                await self._refuse(told)
            else:
                self._unanswered += isinstance(message, types.JSONRPCRequest)
                yield told
        with anyio.move_on_after(GRACE):
            while self._unanswered > 0:
                await anyio.sleep(_MOMENT)

    async def _next_line(self) -> bytes:
        """Return what was said, once all before it is answered; then what is read."""
        if not self._said:
            return await to_thread.run_sync(
                self._source.readline, LINE_BYTES, abandon_on_cancel=True
            )
        while self._unanswered > 0:
            await anyio.sleep(0)
        return self._said.popleft()

    async def write(self, text: str) -> None:
        """Write a message, which is one line."""
        if self._answered and '"id"' in text:
            self._answered -= 1
            self._unanswered -= 1
            return
        await to_thread.run_sync(self._sink.write, text.encode())
        await to_thread.run_sync(self._sink.flush)
        self._unanswered -= '"id"' in text

    async def flush(self) -> None:
        """Do nothing: what is written is flushed at once."""

    async def _refuse(self, line: str) -> None:
        """Answer a request that is none by its id, so that nobody waits; pass over all else."""
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return
        name = value.get("id") if isinstance(value, dict) and "method" in value else None
        if type(name) is not int and not (isinstance(name, str) and name.isprintable()):
            return
        self._unanswered += 1
        error = types.ErrorData(code=types.INVALID_REQUEST, message=_NO_REQUEST)
        refusal = types.JSONRPCError(jsonrpc="2.0", id=name, error=error)
        await self.write(refusal.model_dump_json(by_alias=True, exclude_unset=True) + "\n")


class CallRunner(Protocol):
    """Does something with what answers calls, beside the protocol."""

    async def __call__(
        self, asked: Asked | None, work: "Callable[[ToolCalls], T]", *, writes: bool
    ) -> T:
        """Do it."""


class _OneByOne:
    """Does one thing after another in a thread, with the calls of one client."""

    def __init__(self, make_calls: "Callable[[], ToolCalls]") -> None:
        self._make_calls = make_calls
        self._calls: ToolCalls | None = None
        self._turn = anyio.Lock()

    async def run(
        self,
        asked: Asked | None,  # noqa: ARG002 - all is asked by the one client
        work: "Callable[[ToolCalls], T]",
        *,
        writes: bool,  # noqa: ARG002 - all waits for its turn
    ) -> T:
        """Do something when it is its turn."""

        def working() -> T:
            if self._calls is None:
                self._calls = self._make_calls()
            return work(self._calls)

        async with self._turn:
            return await to_thread.run_sync(working, abandon_on_cancel=True)


class ProtocolDesk:
    """Answers the methods of the protocol."""

    def __init__(self, run: CallRunner, tools: Mapping[str, ModelTool], session: Session) -> None:
        self._run, self._tools, self._session = run, tools, session

    def server(self) -> Server[Any]:
        """Return the SDK's server that asks here."""
        return Server(
            "pmem",
            version=__version__,
            title="Project memory",
            instructions=INSTRUCTIONS,
            cache_hints=dict.fromkeys(_LISTS, _DAY),
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=_list_resources,
            on_list_resource_templates=_list_templates,
            on_read_resource=self.read_resource,
            on_list_prompts=_list_prompts,
            on_get_prompt=self.get_prompt,
        )

    async def list_tools(self, _: Asked, params: Paged) -> types.ListToolsResult:
        """Answer `tools/list`."""
        _check_page(params)
        listed = [_tool(tool) for tool in self._tools.values()]
        return types.ListToolsResult(tools=listed)

    async def call_tool(
        self, asked: Asked, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Answer `tools/call`."""
        tool = self._tools.get(SPELLINGS.get(params.name, params.name))
        if tool is None:
            raise _wrong(f"there is no tool {params.name!r}; there are {', '.join(self._tools)}")
        given = params.arguments or {}
        thread = self._session((asked.params or {}).get("_meta") or {})
        told = asked.session.client_params
        client = "" if told is None else told.client_info.name
        answer = await self._run(
            asked,
            lambda calls: calls.call(params.name, given, thread, client),
            writes=not tool.is_reading,
        )
        content: list[types.ContentBlock] = [types.TextContent(type="text", text=answer.text)]
        if answer.data is None:
            return types.CallToolResult(content=content, is_error=answer.is_refused)
        return types.CallToolResult(content=content, structured_content=answer.data)

    async def read_resource(
        self, asked: Asked, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Answer `resources/read`."""
        uri = str(params.uri)
        try:
            text = await self._run(asked, lambda calls: read_resource(calls, uri), writes=False)
        except NotOffered as error:
            raise _wrong(str(error)) from None
        found = types.TextResourceContents(uri=uri, mime_type=MIME, text=text)
        return types.ReadResourceResult(contents=[found])

    async def get_prompt(
        self, asked: Asked, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        """Answer `prompts/get`."""
        name, given = params.name, params.arguments or {}
        try:
            text = await self._run(
                asked, lambda calls: prompt_text(calls, name, given), writes=False
            )
        except NotOffered as error:
            raise _wrong(str(error)) from None
        content = types.TextContent(type="text", text=text)
        return types.GetPromptResult(
            description=PROMPTS[name].meaning,
            messages=[types.PromptMessage(role="user", content=content)],
        )


@cache
def _tool(tool: ModelTool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.is_reading,
            destructive_hint=tool.is_destructive,
            idempotent_hint=tool.is_idempotent,
            open_world_hint=False,
        ),
    )


async def _list_resources(_: Asked, params: Paged) -> types.ListResourcesResult:
    _check_page(params)
    listed = [types.Resource(**one._asdict(), mime_type=MIME) for one in RESOURCES]
    return types.ListResourcesResult(resources=listed)


async def _list_templates(_: Asked, params: Paged) -> types.ListResourceTemplatesResult:
    _check_page(params)
    (one,) = TEMPLATES
    listed = types.ResourceTemplate(
        uri_template=one.uri, name=one.name, description=one.description, mime_type=MIME
    )
    return types.ListResourceTemplatesResult(resource_templates=[listed])


async def _list_prompts(_: Asked, params: Paged) -> types.ListPromptsResult:
    _check_page(params)
    prompts = [
        types.Prompt(
            name=one.name,
            description=one.meaning,
            arguments=[
                types.PromptArgument(
                    name=one.argument, description=one.argument_meaning, required=one.is_needed
                )
            ],
        )
        for one in PROMPTS.values()
    ]
    return types.ListPromptsResult(prompts=prompts)


def _check_page(params: Paged) -> None:
    """See that the one page is asked for that there is."""
    if params is not None and params.cursor is not None:
        raise _wrong("there is no further page")


def _wrong(sentence: str) -> MCPError:
    return MCPError(code=types.INVALID_PARAMS, message=sentence)
