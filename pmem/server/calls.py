"""One call of a tool: arguments to a request, through the pipeline, to an answer for a model."""

import re
import traceback
from collections.abc import Callable, Mapping
from typing import Any, Final, get_args

import msgspec

from pmem.core.error_fingerprint import evidence_of
from pmem.core.queries import parse
from pmem.core.secrets import unsecret
from pmem.core.tokens import budget_counter
from pmem.errors import InvalidValue, PmemError
from pmem.library.typed import made
from pmem.operations import table
from pmem.operations.operation import Outcome
from pmem.operations.pipeline import run
from pmem.project.caller import Caller
from pmem.project.failures import note_failure, of_files
from pmem.project.masking import message_of
from pmem.project.workspace import Workspace
from pmem.server import answers
from pmem.server.answers import NotDone
from pmem.server.arguments import fields_of, property_of
from pmem.server.tools import PROFILES, SPELLINGS, Form, ModelTool
from pmem.values.records import dump_line

_FORMAT: Final = "format"
_BUDGETED: Final = {table.CONTEXT: "budget", table.QUERY: "budget_tokens"}
"""The field of the request by which an operation holds its answer to a budget by itself."""
_MASKED: Final = (table.SEARCH, table.CONTEXT, table.QUERY)
"""What takes secrets out of its answer by itself."""
_CHANGING: Final = (table.EDIT, table.REMOVE)
_UNNAMED: Final = re.compile(r"[^a-z0-9._]+")
"""What no name of an agent has."""
_NAME: Final = 40
"""Characters of a client's name."""


class ToolAnswer(msgspec.Struct, frozen=True):
    """What a call led to, as a model reads it; `data` is its plain form, where that was asked for.

    Where it is refused nothing was done, and the text says what to do next.
    """

    text: str
    is_refused: bool = False
    data: dict[str, Any] | None = None


class ToolCalls:
    """Answers calls on one project, each a unit of work of its own.

    Where nobody has named the agent (`is_named`), a client is called by its own name, unless the
    project has allowlists that name agents.
    """

    def __init__(
        self,
        opened: Callable[[], Workspace],
        agent: str,
        tools: Mapping[str, ModelTool],
        *,
        structured: bool = False,
        is_named: bool = True,
    ) -> None:
        self._opened = opened
        self._is_named = is_named
        self._caller = Caller(agent)
        self._tools = tools
        self._structured = structured

    def call(
        self, name: str, given: Mapping[str, Any], thread: str | None = None, client: str = ""
    ) -> ToolAnswer:
        """Run a tool."""
        return self._run(self._tools[SPELLINGS.get(name, name)], given, thread, client)

    def answer(self, name: str, given: Mapping[str, Any]) -> ToolAnswer:
        """Run a tool that only reads, whether it is offered or not."""
        (tool,) = (tool for tool in PROFILES["all"]() if tool.name == name and tool.is_reading)
        return self._run(tool, {**given, _FORMAT: "text"}, None)

    def _run(
        self, tool: ModelTool, given: Mapping[str, Any], thread: str | None, client: str = ""
    ) -> ToolAnswer:
        workspace: Workspace | None = None
        try:
            workspace = self._opened()
            if workspace.settings.tokenizer == "auto":  # a vocabulary takes 65 MB in every window
                workspace.budget_counter = budget_counter("estimate")
            return self._answered(workspace, tool, given, thread, client)
        except NotDone as declined:
            return ToolAnswer(message_of(workspace, str(declined)), is_refused=True)
        except PmemError as error:
            hint = f"\n{error.hint}" if error.hint else ""
            return ToolAnswer(message_of(workspace, f"{error.message}{hint}"), is_refused=True)
        except Exception as error:
            return ToolAnswer(_bug(workspace, error), is_refused=True)

    def _caller_of(self, workspace: Workspace, client: str) -> Caller:
        """Return who calls: the agent that was named, else the client by its own name."""
        name = _UNNAMED.sub("-", client.casefold()).strip("-").removesuffix("-mcp-client")
        listed = workspace.settings.allowlists or workspace.settings.mine.agents
        if self._is_named or not name or listed:
            return self._caller
        return Caller(name[:_NAME])

    def _answered(
        self,
        workspace: Workspace,
        tool: ModelTool,
        given: Mapping[str, Any],
        thread: str | None,
        client: str,
    ) -> ToolAnswer:
        asked = _read_call(tool, given)
        if tool.operation is table.CONTEXT:
            asked.fields.setdefault("thread", thread)
        is_structured = asked.form == "json" or (self._structured and asked.form is None)
        caller = self._caller_of(workspace, client)
        outcome = run(workspace, tool.operation, _request(tool, asked), caller)
        if is_structured:
            return _structured(workspace, outcome)
        if tool.operation in _CHANGING and not outcome.has_written:
            return ToolAnswer("nothing changed: it is so already")
        count = workspace.budget_counter.count
        text = answers.written(tool.name, outcome.result, asked.budget, count)
        if tool.operation not in _MASKED:
            text = workspace.mask.laid_out(text, msgspec.to_builtins(outcome.plain))
        trouble = of_files(outcome.problems)
        left = [f"pmem: {trouble}. Tell the person."] if trouble else []
        return ToolAnswer("\n".join([text, *map(unsecret, outcome.notes), *left]))


def _bug(workspace: Workspace | None, error: Exception) -> str:
    """Say that something happened that never should, and keep the rest for a report."""
    trace = unsecret("".join(traceback.format_exception(error)))
    where = None if workspace is None else note_failure(workspace, trace)
    more = f"; {where} has more" if where else ""
    return f"this is a bug in pmem: {type(error).__name__}{more}"


class _ReadCall(msgspec.Struct):
    """What a call asks for: the request's fields, tokens of the answer, and its form."""

    fields: dict[str, Any]
    budget: int
    form: Any


def _read_call(tool: ModelTool, given: Mapping[str, Any]) -> _ReadCall:
    """Read the arguments of a call."""
    form = given.get(_FORMAT)
    if form not in (None, *get_args(Form)):
        raise InvalidValue(f"there is no format {form!r}", f"there are {', '.join(get_args(Form))}")
    rest = {name: value for name, value in given.items() if name != _FORMAT}
    fields, own = fields_of(rest, tool.takes, tool.request)
    usual = answers.BUDGETS.get(tool.operation, answers.OTHERS_BUDGET)
    reason, error = own.pop("why", ""), own.pop("error", "")
    if reason and isinstance(fields.get("content"), str):
        because = reason.strip().removeprefix("because ").removeprefix("Because ")
        if because:
            fields["content"] = f"{fields['content'].rstrip(' .')}, because {because}"
    if error:
        fields["evidence"] = evidence_of(error)[:1]
    field = _BUDGETED.get(tool.operation)
    budget = own.get("budget", usual) if field is None else fields.setdefault(field, usual)
    if type(budget) is not int or budget < 1:
        raise InvalidValue(f"a budget is a number of tokens, not {budget!r}")
    return _ReadCall(fields, budget, form)


def _request(tool: ModelTool, asked: _ReadCall) -> Any:
    """Make the request of a call."""
    fields = asked.fields
    if tool.operation is table.QUERY:
        return parse({"return" if name == "form" else name: fields[name] for name in fields})
    if tool.operation is table.CONTEXT:
        fields |= {"ids": True, "omitted": asked.form == "json", "mine": True, "works": True}
    if tool.operation is table.SEARCH:
        fields["mine"] = True
    if tool.operation is table.EDIT and fields.keys() == {"reference"}:
        raise InvalidValue("there is nothing to change", "give the new content")
    try:
        return made(tool.request, **fields)
    except InvalidValue as error:
        raise _in_its_words(tool, error) from None


def _in_its_words(tool: ModelTool, error: InvalidValue) -> InvalidValue:
    """Name an argument as the tool does, and say what may stand there."""
    for one in tool.takes:
        rest = error.message.removeprefix(one.field)
        if one.field and rest != error.message and rest[:1] in (" ", "["):
            schema = property_of(one, tool.request)
            words = schema.get("items", schema).get("enum", ())
            hint = f"there are {', '.join(words)}" if words else error.hint
            return InvalidValue(f"{one.name}{rest}", hint)
    return error


def _structured(workspace: Workspace, outcome: Outcome[Any]) -> ToolAnswer:
    """Return an answer's plain form, and the same as a text."""
    data = workspace.mask.value(msgspec.json.decode(dump_line(outcome.plain)))
    data = data if isinstance(data, dict) else {"items": data}
    return ToolAnswer(dump_line(data).decode(), data=data)
