"""Every operation of the table as `POST /pmem/1/NAME`: its request in, its plain form out."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from pmem.errors import Refused
from pmem.operations import table
from pmem.operations.operation import Operation
from pmem.operations.pipeline import request_of
from pmem.server.http import bodies
from pmem.server.http.endpoints import Endpoint, HttpCall, Reply, enveloped

PREFIX: Final = "/pmem/1/"

OF_THIS_MACHINE: Final = frozenset(
    """hook init setup.git setup.pre-commit setup.assistant setup.rules setup.list
    import.auto import.project import.git import.adr import.notes import.arrays eval.run eval.add
    eval.misses doctor repair check.staged operations""".split()
)
"""Operations on files and settings around the memory: for a person's token alone."""

_PATHS: Final = ("file", "folder", "path", "paths", "transcript")
"""Fields of requests that name a place on the disk."""


def endpoints() -> Iterator[Endpoint]:
    """Yield an endpoint for every operation, in the table's order."""
    for operation in table.TABLE.values():
        request = request_of(operation)
        yield Endpoint(
            method="POST",
            path=PREFIX + operation.name,
            name=operation.name,
            says=operation.meaning,
            group="pmem/1",
            answer=partial(_answer, operation),
            writes=bool(operation.writes),
            body=bodies.body_of(request),
            answers=_answers_of(operation),
        )


def _answers_of(operation: Operation[Any, Any]) -> dict[int, tuple[Any, ...]]:
    """Return the statuses that an operation's answer may have; see `STATUSES_BY_ACTION`."""
    if operation in (table.ADD, table.TRIED):
        return {200: (), 202: (), 409: ()}
    return {200: ()}


def _answer(operation: Operation[Any, Any], call: HttpCall) -> Reply:
    if operation.name in OF_THIS_MACHINE and not call.holder.is_person:
        raise Refused(
            f"{call.holder} may not do this: it concerns the machine that serves",
            "ask with a person's token",
        )
    if operation is table.QUERY:
        request: Any = bodies.read_query(call.body)
    else:
        request = bodies.read_request(operation, call.body)
    _check_paths(call, request)
    return enveloped(call, call.run(operation, request))


def _check_paths(call: HttpCall, request: Any) -> None:
    """See that what a request names on the disk lies in the project.

    Raises:
        InvalidValue: Something does not.
    """
    for name in _PATHS:
        value = getattr(request, name, None) or ()
        for path in (value,) if isinstance(value, str) else value:
            call.workspace.sources.named(path)
