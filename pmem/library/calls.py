"""Methods made of the table of operations: a method's arguments are the fields of its request."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from pmem.library.typed import made
from pmem.operations.operation import Operation
from pmem.operations.pipeline import request_of

A = TypeVar("A")
B_co = TypeVar("B_co", covariant=True)


class Method(Protocol[B_co]):
    """What takes the fields of a request, and returns the answer or a part of it."""

    def __call__(self, *given: Any, **fields: Any) -> B_co: ...


def call(operation: Operation[Any, A], *names: str, **usual: Any) -> Method[A]:
    """Return a method that runs an operation, and returns its answer; see `part`."""
    return part(operation, *names, of=lambda answer: answer, **usual)


def part(
    operation: Operation[Any, A], *names: str, of: Callable[[A], B_co], **usual: Any
) -> Method[B_co]:
    """Return a method that runs an operation, and returns a part of its answer.

    The fields `names` may be given by position, in this order; `*name` takes all of them. `usual`
    is what the request has where a field is not given.
    """

    def run(self: Any, *given: Any, **fields: Any) -> B_co:
        asked = {**usual, **_by_name(names, given, fields), **fields}
        return of(self._run(operation, made(request_of(operation), **asked)))

    run.__doc__ = f"{operation.meaning}; takes the fields of the request of `{operation.function}`."
    return run


def _by_name(names: tuple[str, ...], given: tuple[Any, ...], fields: dict[str, Any]) -> Any:
    """Return the arguments that were given by position, each by the name of its field."""
    if names[:1] and names[0].startswith("*"):
        return {names[0][1:]: given} if given or names[0][1:] not in fields else {}
    if len(given) > len(names):
        raise TypeError(f"{len(names)} arguments may be given by position, not {len(given)}")
    twice = fields.keys() & set(names[: len(given)])
    if twice:
        raise TypeError(f"{', '.join(twice)} is given twice")
    return dict(zip(names, given, strict=False))
