"""The rows of the table, and the types of their functions."""

from collections.abc import Iterator
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import msgspec

from pmem.operations.operation import Operation
from pmem.operations.pipeline import function_of
from pmem.operations.table import TABLE


class Row(NamedTuple):
    operation: Operation[Any, Any]
    request: Any
    answer: Any


def rows() -> Iterator[Row]:
    for operation in TABLE.values():
        _, request, answer = get_type_hints(function_of(operation)).values()
        yield Row(operation, request, answer)


def structs(type_: Any) -> Iterator[type[msgspec.Struct]]:
    """Yield the structs that a type names: itself, those of a union, and what it is filled with."""
    for named in (type_, get_origin(type_)):
        if isinstance(named, type) and issubclass(named, msgspec.Struct):
            yield named
    for part in get_args(type_):
        yield from structs(part)
