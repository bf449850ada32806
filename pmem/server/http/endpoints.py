"""What an endpoint is: a row that routes, threads and the description of the API are made from.

A command's exit codes become statuses here and nowhere else. Several threads read and one writes,
so no read waits for a writer.
"""

import asyncio
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

import msgspec

from pmem.core.secrets import unsecret
from pmem.errors import InvalidValue, PmemError, UsageError
from pmem.operations.operation import Operation, Outcome, data_line, error_line, json_line
from pmem.operations.pipeline import run
from pmem.project.failures import note_failure
from pmem.project.workspace import Workspace
from pmem.server.http.tokens import TokenHolder

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)
JSON: Final = "application/json"
READERS: Final = 4
"""Threads that read: more would only wait for each other."""
STATUSES: Final[Mapping[int, int]] = {
    2: 400,
    3: 422,
    4: 404,
    5: 500,
    6: 409,
    7: 403,
    8: 502,
    9: 409,
    70: 500,
    74: 507,
}
"""The status of an error, by the exit code that a command would have."""

STATUSES_BY_CODE: Final[Mapping[str, int]] = {"not_found": 404, "ambiguous": 409}
"""The status of errors of which the exit code says too little, by their code."""

STATUSES_BY_ACTION: Final[Mapping[str, int]] = {
    "added": 200,
    "suggested": 409,
    "queued": 202,
    "waiting": 202,
    "rejected": 403,
}
"""The status of what became of a memory that was to be added, by its action."""

_TRY_AGAIN: Final = {"Retry-After": "1"}
_HANG_UP: Final = {"Connection": "close"}
_HEADERS: Final[Mapping[str, Mapping[str, str]]] = {
    "locked": _TRY_AGAIN,
    "busy": _TRY_AGAIN,
    "token": {"WWW-Authenticate": "Bearer"},
    "too_large": _HANG_UP,
    "too_slow": _HANG_UP,
}
"""Headers that belong to errors, by their code."""


_NAME_SCHEMA: Final[Mapping[str, Any]] = {"type": "string", "minLength": 1}


class HttpRefusal(UsageError):
    """A request that is refused for what it is in HTTP, whatever it asks for."""

    def __init__(self, status: int, code: str, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.status = status
        self.code = code


def status_of_answer(answer: Any) -> int:
    """Return the status of an operation's answer: 200, unless it added a memory otherwise."""
    return STATUSES_BY_ACTION.get(getattr(answer, "action", ""), 200)


class Reply(msgspec.Struct, frozen=True):
    """What a request is answered: a status, JSON, and headers of its own."""

    status: int
    body: bytes
    headers: Mapping[str, str] = {}


class HttpCall(msgspec.Struct, frozen=True):
    """One request on its way through an endpoint, a unit of work of its own.

    The workspace is as nobody in particular sees it; `path` has what stands in the places of the
    endpoint's path, `query` what comes after the question mark.
    """

    workspace: Workspace
    holder: TokenHolder
    path: Mapping[str, str] = {}
    query: Mapping[str, str] = {}
    body: bytes = b""

    def run(self, operation: Operation[Any, Any], request: Any) -> Outcome[Any]:
        """Run an operation as whoever has the token."""
        return run(self.workspace, operation, request, self.holder.caller)

    def masked(self, data: Any) -> Any:
        """Return an answer's plain form as whoever asks may see it: programs see no secrets."""
        if self.holder.is_person:
            return data
        return self.workspace.mask.value(msgspec.json.decode(json_line(data)))

    def masked_struct(self, document: S) -> S:
        """Return a record, or what stands for one, as whoever asks may see it; see `masked`."""
        return document if self.holder.is_person else self.workspace.mask.fields(document)


class AddressValue(msgspec.Struct, frozen=True):
    """A value in an endpoint's address, `where` in its path or its query, and what it means."""

    name: str
    says: str
    where: str = "path"
    schema: Mapping[str, Any] = msgspec.field(default_factory=lambda: _NAME_SCHEMA)


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that can be asked for over HTTP.

    `path` has a name in braces for every place, `name` is the operation's id in the description of
    the API, and `answers` has the types of each status, or none for any data in the envelope.
    """

    method: str
    path: str
    name: str
    says: str
    group: str
    answer: Callable[[HttpCall], Reply]
    writes: bool = False
    body: Any = None
    places: tuple[AddressValue, ...] = ()
    answers: Mapping[int, tuple[Any, ...]]


def shaped(value: Any, status: int = 200) -> Reply:
    """Return a reply that has the shape of a document's own, without an envelope."""
    return Reply(status, json_line(value))


def enveloped(call: HttpCall, outcome: Outcome[Any]) -> Reply:
    """Return the reply to an operation's outcome, as the command line writes it with `--json`."""
    data = call.masked(outcome.plain)
    return Reply(
        status_of_answer(outcome.result), data_line(data, tuple(map(unsecret, _notes(outcome))))
    )


def _notes(outcome: Outcome[Any]) -> Iterator[str]:
    """Yield what is told beside an answer, where commands tell it on standard error."""
    yield from outcome.notes
    reason = getattr(outcome.result, "reason", "")
    if isinstance(reason, str) and reason:
        yield reason
    yield from (f"pmem: left out: {problem.message}" for problem in outcome.problems)


def refused(error: PmemError, **more: Any) -> Reply:
    """Return the reply to an error, with what else is known of it."""
    usual = STATUSES_BY_CODE.get(error.code, STATUSES[error.exit_code])
    status = error.status if isinstance(error, HttpRefusal) else usual
    return Reply(status, error_line(error, **more), _HEADERS.get(error.code, {}))


def query_of(
    given: Iterable[tuple[str, str]], places: Iterable[AddressValue] = ()
) -> dict[str, str]:
    """Return what stands after the question mark, of which nothing may be ignored."""
    known = {place.name for place in places if place.where == "query"}
    found: dict[str, str] = {}
    for name, value in given:
        if name not in known:
            hint = "GET /openapi.json says what it takes"
            raise InvalidValue(f"this address does not take `{name}`", hint)
        if name in found:
            raise InvalidValue(f"`{name}` is given twice", "give it once")
        found[name] = value
    return found


class AnswerDesk:
    """Answers calls in threads, each a unit of work of its own."""

    def __init__(self, opened: Callable[[], Workspace]) -> None:
        self._opened = opened
        self._readers = ThreadPoolExecutor(READERS, "pmem-reader")
        self._writer = ThreadPoolExecutor(1, "pmem-writer")
        self.on_write: Callable[[], None] = lambda: None
        """Is called after each call that writes."""

    async def answer(self, endpoint: Endpoint, holder: TokenHolder, **given: Any) -> Reply:
        """Answer a request."""
        return await self.run(lambda: self._reply(endpoint, holder, given), writes=endpoint.writes)

    async def run(self, work: Callable[[], T], *, writes: bool) -> T:
        """Do something in a thread; it goes on to its end, whoever leaves meanwhile."""
        pool = self._writer if writes else self._readers
        try:
            return await asyncio.shield(asyncio.get_running_loop().run_in_executor(pool, work))
        finally:
            if writes:
                self.on_write()

    def opened(self) -> Workspace:
        """Open the project for one unit of work."""
        return self._opened()

    def close(self) -> None:
        """Wait for what is under way, and let the threads go."""
        self._readers.shutdown()
        self._writer.shutdown()

    def note(self, error: Exception) -> Reply:
        """Return the reply to something that never should happen; the rest is kept for a report."""
        trace = unsecret("".join(traceback.format_exception(error)))
        try:
            where = note_failure(self._opened(), trace)
        except PmemError:
            where = None
        hint = f"please report it with {where}" if where else ""
        return refused(PmemError(f"this is a bug in pmem: {type(error).__name__}", hint))

    def _reply(self, endpoint: Endpoint, holder: TokenHolder, given: dict[str, Any]) -> Reply:
        try:
            query = query_of(given.pop("query"), endpoint.places)
            return endpoint.answer(HttpCall(self._opened(), holder, query=query, **given))
        except PmemError as error:
            return refused(error)
        except Exception as error:
            return self.note(error)
