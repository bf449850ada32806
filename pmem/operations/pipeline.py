"""The one way that every operation runs, whoever asks for it and from wherever.

Who asks and which moment is meant, what there is for whom, whether anything may be written, the
secrets in the request, the transaction, the operation itself, and what it leaves to be told:
all of it is decided here from the operation's row in the table, and nowhere else.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from importlib import import_module
from typing import Any, TypeVar, cast

import msgspec

from pmem.errors import Refused, StorageRefused, Unfinished
from pmem.operations.operation import Operation, Writes
from pmem.operations.outcome import Outcome
from pmem.project.caller import NOBODY, Caller, asked_by
from pmem.project.transaction import check_writable
from pmem.project.workspace import Workspace
from pmem.storage.backend import Problem

Q = TypeVar("Q")
A = TypeVar("A")


def run(
    workspace: Workspace, operation: Operation[Q, A], request: Q, caller: Caller = NOBODY
) -> Outcome[A]:
    """Run an operation.

    Args:
        workspace: The project, as it is now or as it was.
        operation: Its row in the table.
        request: What is asked for. Fields `at` and `revision` say of which moment, and of which
            git revision.
        caller: Who asks.

    Returns:
        The answer, and what is to be told beside it.

    Raises:
        Refused: Whoever asks may not do it, nothing may be written, or the request holds a
            secret.
        Unfinished: The disk refused something after records had been changed.
        PmemError: Whatever the operation itself raises.
    """
    named: tuple[str | None, str | None] = getattr(request, "named_caller", (None, None))
    unit = asked_by(workspace, caller.joined(Caller(*named)))
    at: datetime | None = getattr(request, "at", None)
    revision: str | None = getattr(request, "revision", None)
    if at is not None or revision is not None:
        from pmem.project.views import seen_at

        unit = seen_at(seen_at(unit, revision), at)
    program = unit.caller.agent or unit.caller.app
    if operation.by_person and program is not None:
        how = "PMEM_AGENT and --agent" if unit.caller.agent else "PMEM_APP"
        raise Refused(f"{program} may not decide this: a person does", f"run it without {how}")
    if unit.caller != NOBODY:
        from pmem.project.own_memory import check_owner

        check_owner(unit)
    _check_scope(unit, operation, request)
    writes = _writes(operation, request)
    if writes:
        check_writable(unit)
    unit.has_written, told = False, len(unit.notes)
    unit.written.clear()
    unit.taken_back.clear()
    unit.forgot = False
    request = _pass_gate(unit, operation, request)  # before the lock: nobody waits for it
    try:
        with unit.transaction() if writes == "records" else unit.whole.moment():
            result = function_of(operation)(unit, request)
    except StorageRefused as error:
        if unit.has_written:
            raise Unfinished(error.message) from None
        raise
    finally:
        if unit.written or unit.forgot:
            from pmem.project.noting import note_command

            note_command(unit, operation.name)
    if operation.embeds and writes and unit.settings.vectors.model:
        from pmem.embedding.embedding import embed_missing

        embed_missing(unit)
    if getattr(request, "counts", True):
        _count_recalls(unit, operation, result)
        _note_run(unit, operation, result)
    return Outcome(
        result=result,
        notes=tuple(_notes(unit.notes[told:], result)),
        problems=tuple(_problems(workspace, unit, operation, result)),
        has_written=unit.has_written,
    )


def function_of(operation: Operation[Any, Any]) -> Any:
    """Load the function of an operation, and nothing before it is to run."""
    module, _, name = operation.function.partition(":")
    return getattr(import_module(f"pmem.{module}"), name)


def _check_scope(unit: Workspace, operation: Operation[Q, A], request: Q) -> None:
    """See that whoever asks may see all that an operation needs.

    Raises:
        Refused: Something lies beyond; the sentence says what.
    """
    reach = unit.reach if operation.scope != "nothing" else None
    if reach is None:
        return
    if operation.scope == "whole":
        raise Refused(*reach.refusal(operation.doing))
    app = getattr(request, "named_app", None)
    reach.check_categories([*operation.categories, *getattr(request, "named_categories", ())])
    if app is not None:
        reach.check_app(app)


def _writes(operation: Operation[Q, A], request: Q) -> Writes:
    """Tell what an operation writes, if its request does not keep it from doing so."""
    is_off = operation.unless and getattr(request, operation.unless)
    is_on = not operation.only_if or getattr(request, operation.only_if)
    return operation.writes if is_on and not is_off else ""


def _pass_gate(unit: Workspace, operation: Operation[Q, A], request: Q) -> Q:
    """Return a request without secrets, or with what lets its items in one by one.

    Who asks and who writes are kept with what they ask for, and so are looked at as well.

    Raises:
        SecretFound: It holds one, and the settings say that it is refused.
    """
    thread = getattr(request, "thread", None)
    if operation.gate == "thread":
        if thread is None:
            return request
        clean = unit.gate.admit(thread, "the thread")
        return cast(Q, msgspec.structs.replace(cast(Any, request), thread=clean))
    if operation.gate or _writes(operation, request) == "records":
        unit.gate.refuse_secrets_in(unit.caller.agent or "", "the agent")
        unit.gate.refuse_secrets_in(unit.given_actor or "", "the actor")
    if operation.gate == "request":
        return unit.gate.admit(request)
    if operation.gate == "items":
        streamed: Any = request
        return cast(Q, msgspec.structs.replace(streamed, admit=unit.gate.admit))
    return request


def _count_recalls(unit: Workspace, operation: Operation[Q, A], result: Any) -> None:
    """Count what an answer shows as recalled, where reading it is a recall."""
    recalled = result.recalled if operation.recalls else ()
    if recalled:
        from pmem.memory import recalls

        recalls.note(unit, recalled)


def _note_run(unit: Workspace, operation: Operation[Q, A], result: Any) -> None:
    """Note in the log of operations that one ran, where that is wanted."""
    told = getattr(result, "noted", None) if operation.logged else None
    if told is None or unit.is_past or unit.read_only or not unit.settings.record_operations:
        return
    from pmem.core.operations import Node
    from pmem.core.operations import operation as logged

    node, _, op = operation.logged.partition(":")
    unit.own.operations.note([logged(unit.now(), cast("Node", node), op, told)])


def _notes(secrets: Sequence[str], result: Any) -> Iterator[str]:
    """Yield what is to be told beside an answer: what made room for it, secrets that were found."""
    made_room = getattr(result, "made_room", ())
    if made_room:
        from pmem.memory.app_memories import room_notes

        yield from room_notes(made_room)
    yield from (f"pmem: {note}" for note in secrets)


def _problems(
    workspace: Workspace, unit: Workspace, operation: Operation[Q, A], result: Any
) -> dict[Problem, None]:
    """Return the files that could not be used, each once, also of revisions that were asked of."""
    found: list[Problem] = [*getattr(result, "problems", ())]
    if operation.scope != "nothing":  # what needs no record has met none
        found += workspace.problems
        found += unit.problems if unit.revision is not None else []
    return dict.fromkeys(found)
