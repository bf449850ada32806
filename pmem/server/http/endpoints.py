"""What an endpoint is: a row that routes, threads and the description of the API are made from."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

import msgspec

from pmem.core.secrets import unsecret
from pmem.errors import InvalidValue
from pmem.operations.envelope import data_line, error_line, json_line
from pmem.operations.operation import Operation, Outcome
from pmem.operations.pipeline import run
from pmem.project.workspace import Workspace
from pmem.server.http.refusals import HttpRefusal, headers_of, status_of, status_of_answer
from pmem.server.http.tokens import TokenHolder

S = TypeVar("S", bound=msgspec.Struct)
JSON: Final = "application/json"


class Reply(msgspec.Struct, frozen=True):
    """What a request is answered: a status, JSON, and headers of its own."""

    status: int
    body: bytes
    headers: Mapping[str, str] = {}


class HttpCall(msgspec.Struct, frozen=True):
    """One request on its way through an endpoint, a unit of work of its own.

    Attributes:
        workspace: The project as nobody in particular sees it.
        holder: Whose token came with it.
        path: What stands in the places of the endpoint's path.
        query: What the address says after the question mark.
        body: The body's bytes.
    """

    workspace: Workspace
    holder: TokenHolder
    path: Mapping[str, str] = {}
    query: Mapping[str, str] = {}
    body: bytes = b""

    def run(self, operation: Operation[Any, Any], request: Any) -> Outcome[Any]:
        """Run an operation as whoever has the token.

        Raises:
            PmemError: Whatever the operation raises.
        """
        return run(self.workspace, operation, request, self.holder.caller)

    def masked(self, data: Any) -> Any:
        """Return an answer's plain form as whoever asks may see it: programs see no secrets."""
        if self.holder.is_person:
            return data
        return self.workspace.mask.value(msgspec.json.decode(json_line(data)))

    def masked_struct(self, document: S) -> S:
        """Return a record, or what stands for one, as whoever asks may see it; see `masked`."""
        return document if self.holder.is_person else self.workspace.mask.fields(document)


_NAME_SCHEMA: Final[Mapping[str, Any]] = {"type": "string", "minLength": 1}


class AddressValue(msgspec.Struct, frozen=True):
    """A value in an endpoint's address, and what it means.

    Attributes:
        name: What it is called.
        says: What it means.
        where: In the path, or after the question mark.
        schema: Its JSON Schema.
    """

    name: str
    says: str
    where: str = "path"
    schema: Mapping[str, Any] = msgspec.field(default_factory=lambda: _NAME_SCHEMA)


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that can be asked for over HTTP.

    Attributes:
        method: Of HTTP.
        path: With a name in braces for every place.
        name: The id of the operation in the description of the API.
        says: What it does, in one line.
        group: What it belongs to, for readers of that description.
        answer: Answers a call.
        writes: Whether it writes records.
        body: The struct that the body is read as, if it takes one.
        places: The values in its address.
        answers: What each status is answered with: one of these types, or any data in the
            envelope where there are none.
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


def refused(error: Any, **more: Any) -> Reply:
    """Return the reply to an error."""
    return Reply(status_of(error), error_line(error, **more), headers_of(error))


def query_of(
    given: Iterable[tuple[str, str]], places: Iterable[AddressValue] = ()
) -> dict[str, str]:
    """Return what stands after the question mark, of which nothing may be ignored.

    Raises:
        InvalidValue: A name that it does not take, or one that stands there twice.
    """
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


def number_in(call: HttpCall, name: str, usual: int, most: int) -> int:
    """Return a number after the question mark.

    It is from 1 to `most`, and `usual` where none is given.

    Raises:
        HttpRefusal: It is none, or out of bounds.
    """
    given = call.query.get(name)
    if given is None:
        return usual
    if not (given.isascii() and given.isdigit() and len(given) <= len(str(most))):
        raise _no_number(name, most)
    number = int(given)
    if not 1 <= number <= most:
        raise _no_number(name, most)
    return number


def _no_number(name: str, most: int) -> HttpRefusal:
    return HttpRefusal(422, "invalid_value", f"{name} must be a number from 1 to {most}")
