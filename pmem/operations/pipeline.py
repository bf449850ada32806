"""The one way that every operation runs, whoever asks for it and from wherever.

Who asks and which moment is meant, what there is for whom, whether anything may be written, the
secrets in the request, the transaction, the operation itself, and what it leaves to be told:
all of it is decided here from the operation's row in the table, and nowhere else.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import msgspec

from pmem.core.lines import composed
from pmem.errors import ModelFailed, PmemError, Refused, StorageRefused, Unfinished
from pmem.operations.operation import Operation, Outcome, Writes
from pmem.project.caller import NOBODY, Caller, asked_by
from pmem.project.configuration import embeds
from pmem.project.transaction import check_writable, note_command
from pmem.project.workspace import Workspace
from pmem.storage.backend import Problem
from pmem.values.rules import AUTO

if TYPE_CHECKING:
    from pmem.model.tasks import TaskKind

Q = TypeVar("Q")
A = TypeVar("A")
_NAMES: Final = frozenset(
    "subject subjects tags add_tags remove_tags category categories places not_places app user"
    " agent run role actor by speaker participants thread".split()
)
"""The fields of requests and filters that hold names; a file's is found on the disk in any form."""


def run(
    workspace: Workspace, operation: Operation[Q, A], request: Q, caller: Caller = NOBODY
) -> Outcome[A]:
    """Run an operation; return its answer, and what is to be told beside it.

    The request's fields `at` and `revision`, if it has them, say which moment is meant.

    Raises:
        Refused: Whoever asks may not do it, nothing may be written, or the request holds a
            secret.
        Unfinished: The disk refused something after records had been changed.
        ModelFailed: A model failed, and the settings are strict; what the rules did is kept.
        PmemError: Whatever the operation itself raises.
    """
    request = _with_composed_names(request)
    unit = _unit_of(workspace, request, caller)
    _check_caller(unit, operation)
    writes = writes_of(operation, request)
    told = len(unit.notes)
    _start_afresh(unit, operation)
    try:
        _check_scope(unit, operation, request)
        if writes:
            check_writable(unit)
        request = _pass_gate(unit, operation, request)  # before the lock: nobody waits for it
        result = _do(unit, operation, request, is_writing=writes == "records")
        if operation.is_final and writes:
            note_command(unit, operation.name, beyond=True)  # `undo` stops at it
    except PmemError:
        if operation.logged or writes == "records":
            with suppress(PmemError):  # settings that cannot be read are what is told already
                _log_run(unit, operation, {"status": "error"})
        raise
    if operation.embeds and writes and embeds(unit.settings.vectors):
        from pmem.embedding.embedding import embed_missing

        embed_missing(unit)
    if getattr(request, "counts", True):
        recalled = getattr(result, "recalled", ()) if operation.recalls else ()
        kept = getattr(result, "kept_in_use", ()) if operation.recalls else ()
        if recalled or kept:
            from pmem.memory import recalls

            recalls.note(unit, recalled, kept)
        told_of = getattr(result, "noted", None) if operation.logged else None
        if told_of is not None:
            _log_run(unit, operation, told_of)
    if unit.model_failures and unit.settings.model.strict:
        raise ModelFailed(unit.model_failures[0])
    return Outcome(
        result=result,
        notes=tuple(_notes(unit.notes[told:], result)),
        problems=tuple(_problems(workspace, unit, operation, result)),
        has_written=unit.has_written,
    )


def _unit_of(workspace: Workspace, request: Any, caller: Caller) -> Workspace:
    """Return the project as it is for whoever asks, at the moment that is asked about."""
    named: tuple[str | None, str | None] = getattr(request, "named_caller", (None, None))
    unit = asked_by(workspace, caller.joined(Caller(*named)))
    at: datetime | None = getattr(request, "at", None)
    revision: str | None = getattr(request, "revision", None)
    if at is not None or revision is not None:
        from pmem.project.views import seen_at

        unit = seen_at(seen_at(unit, revision), at)
    return unit


def _check_caller(unit: Workspace, operation: Operation[Any, Any]) -> None:
    program = unit.caller.agent or unit.caller.app
    if operation.by_person and program is not None:
        how = "PMEM_AGENT and --agent" if unit.caller.agent else "PMEM_APP"
        raise Refused(f"{program} may not decide this: a person does", f"run it without {how}")
    if unit.caller != NOBODY:
        from pmem.project.own_memory import check_owner

        check_owner(unit)


def _do(unit: Workspace, operation: Operation[Q, A], request: Q, *, is_writing: bool) -> A:
    """Call the operation's function, then models once the lock is free, and note the command."""
    function = function_of(operation)  # before the lock: nobody waits for what it loads
    try:
        with unit.transaction() if is_writing else unit.whole.moment():
            result: A = function(unit, request)
        _ask_models(unit, operation, request, result)
        if unit.written and unit.settings.vectors.model == AUTO and embeds(unit.settings.vectors):
            from pmem.embedding.embedding import embed_written

            embed_written(unit)
    except StorageRefused as error:
        if unit.has_written:
            raise Unfinished(error.message) from None
        raise
    finally:
        if unit.written or unit.forgot:
            _report_first_write(unit)
            note_command(unit, operation.name)
    return result


def _report_first_write(unit: Workspace) -> None:
    """Note what the clone lacks, before its first command that changed records is noted."""
    if unit.own.commands.has_changes:
        return
    from pmem.vcs.gitsetup import what_the_clone_lacks

    with suppress(PmemError):
        unit.notes += what_the_clone_lacks(unit)


def _start_afresh(unit: Workspace, operation: Operation[Any, Any]) -> None:
    """Forget what an earlier operation of the same unit of work did."""
    unit.has_written = unit.forgot = False
    unit.is_upkeep = operation.logged.startswith("worker:")
    unit.written.clear()
    unit.taken_back.clear()
    unit.model_failures.clear()


def function_of(operation: Operation[Any, Any]) -> Any:
    """Load the function of an operation, and nothing before it is to run."""
    module, _, name = str(operation.function).rpartition(".")
    return getattr(import_module(module), name)


@cache
def request_of(operation: Operation[Any, Any]) -> type[msgspec.Struct]:
    """Return the class of an operation's request, which its function takes second."""
    _, request, *_ = function_of(operation).__annotations__.values()
    return cast(type[msgspec.Struct], request)


def _check_scope(unit: Workspace, operation: Operation[Q, A], request: Q) -> None:
    reach = unit.reach if operation.scope != "nothing" else None
    if reach is None:
        return
    if operation.scope == "whole":
        raise Refused(*reach.refusal(operation.doing))
    app = getattr(request, "named_app", None)
    reach.check_categories([*operation.categories, *getattr(request, "named_categories", ())])
    if app is not None:
        reach.check_app(app)


def writes_of(operation: Operation[Q, A], request: Q) -> Writes:
    """Tell what an operation writes, if its request does not keep it from doing so."""
    is_off = operation.unless and getattr(request, operation.unless)
    is_on = not operation.only_if or getattr(request, operation.only_if)
    return operation.writes if is_on and not is_off else ""


def _pass_gate(unit: Workspace, operation: Operation[Q, A], request: Q) -> Q:
    """Return a request without secrets, or with what lets its items in one by one.

    Who asks and who writes are kept with what they ask for, and so are looked at as well.
    """
    thread = getattr(request, "thread", None)
    if operation.gate == "thread":
        if thread is None:
            return request
        clean = unit.gate.admit(thread, "the thread")
        return cast(Q, msgspec.structs.replace(cast(Any, request), thread=clean))
    if operation.gate or writes_of(operation, request) == "records":
        unit.gate.refuse_secrets_in(unit.caller.agent or "", "the agent")
        unit.gate.refuse_secrets_in(unit.given_actor or "", "the actor")
    if operation.gate == "request":
        return unit.gate.admit(request)
    if operation.gate == "items":
        streamed: Any = request
        return cast(Q, msgspec.structs.replace(streamed, admit=unit.gate.admit))
    return request


def _ask_models(unit: Workspace, operation: Operation[Q, A], request: Q, result: A) -> None:
    is_wanted = not operation.asks_if or getattr(request, operation.asks_if)
    if not operation.asks or not is_wanted or not writes_of(operation, request):
        return
    if unit.given_models is not None or unit.settings.model.is_chosen:
        from pmem.upkeep.work.doing import do_work

        kinds = cast("Sequence[TaskKind]", operation.asks)
        do_work(unit, kinds, getattr(result, "worked_on", None))


def _log_run(unit: Workspace, operation: Operation[Q, A], told: Mapping[str, Any]) -> None:
    if unit.is_past or unit.read_only:
        return
    if not unit.settings.record_operations:
        return
    from pmem.core.operations import Node, write_name
    from pmem.core.operations import operation as logged

    node, _, op = (operation.logged or write_name(operation.name)).partition(":")
    unit.own.operations.note([logged(unit.now(), cast("Node", node), op, told)])


def _notes(told: Sequence[str], result: Any) -> Iterator[str]:
    """Yield what is to be told beside an answer: what made room, and what was noticed, once."""
    made_room = getattr(result, "made_room", ())
    if made_room:
        from pmem.memory.app_memories import room_notes

        yield from room_notes(made_room)
    yield from dict.fromkeys(told)


def _problems(
    workspace: Workspace, unit: Workspace, operation: Operation[Q, A], result: Any
) -> dict[Problem, None]:
    """Return the files that could not be used, each once, also of revisions that were asked of."""
    found: list[Problem] = [*getattr(result, "problems", ())]
    if operation.scope != "nothing":  # what needs no record has met none
        found += workspace.problems
        found += unit.problems if unit.revision is not None else []
    return dict.fromkeys(found)


def _with_composed_names(request: Q) -> Q:
    """Return a request whose names, also those of its filter, are composed."""
    if not isinstance(request, msgspec.Struct):
        return request
    changed = {}
    for field in request.__struct_fields__:
        value = getattr(request, field)
        new = _composed_field(field, value)
        if new is not value and new != value:
            changed[field] = new
    return msgspec.structs.replace(request, **changed) if changed else request


def _composed_field(field: str, value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return _with_composed_names(value)
    if isinstance(value, tuple):
        return tuple(_composed_field(field, one) for one in value)
    return composed(value) if field in _NAMES and isinstance(value, str) else value
