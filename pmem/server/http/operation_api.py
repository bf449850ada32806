"""Every operation of the table as `POST /pmem/1/NAME`: its request in, its plain form out.

What a body is read as, and what describes it, come from the request's own fields. What a client on
the other side cannot have, such as a function that is told of progress, is no field here.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import cache, partial
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

import msgspec

from pmem.core import exactjson
from pmem.core.exactjson import InexactJson, read
from pmem.core.queries import QueryRequest, parse
from pmem.errors import InvalidValue, Refused
from pmem.library.typed import check_bounds
from pmem.operations import table
from pmem.operations.operation import Operation
from pmem.operations.pipeline import request_of
from pmem.server.arguments import bare_type
from pmem.server.http.endpoints import Endpoint, HttpCall, HttpRefusal, Reply, enveloped
from pmem.values.bounds import is_crowded, is_too_deep

_LINES: Final = Iterable[bytes]
"""The type of a stream of lines, which over HTTP is a list of texts."""


PREFIX: Final = "/pmem/1/"
OF_THIS_MACHINE: Final = frozenset(
    """hook init setup.git setup.pre-commit setup.assistant setup.rules setup.list
    import.auto import.project import.git import.adr import.notes import.arrays eval.run eval.add
    eval.misses doctor repair check.staged operations""".split()
)
"""Operations on files and settings around the memory: for a person's token alone."""
_OF_ADDED: Final[Mapping[int, tuple[Any, ...]]] = {200: (), 202: (), 409: ()}
"""The statuses of what adds a memory; see `STATUSES_BY_ACTION`."""
_PATHS: Final = ("file", "folder", "path", "paths", "transcript")
"""Fields of requests that name a place on the disk."""


@cache
def body_of(request: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """Return what a body is read as: the request, without what cannot come over HTTP."""
    hints = get_type_hints(request)
    if all(map(_is_plain, hints.values())):
        return request
    fields = [
        (one.name, list[str] if hints[one.name] == _LINES else hints[one.name], _field(one))
        for one in msgspec.structs.fields(request)
        if hints[one.name] == _LINES or _is_plain(hints[one.name])
    ]
    return msgspec.defstruct(request.__name__, fields, frozen=True, kw_only=True)


def read_request(operation: Operation[Any, Any], data: bytes) -> Any:
    """Return the request that a body holds for an operation."""
    request = request_of(operation)
    body = read_body(body_of(request), data)
    given = {name: getattr(body, name) for name in body.__struct_fields__}
    if get_type_hints(request).get("lines") == _LINES:
        given["lines"] = [line.encode() for line in given["lines"]]
    return request(**given)


def read_query(data: bytes) -> QueryRequest:
    """Return the query that a body holds."""
    read_body(body_of(QueryRequest), data)
    return parse(read_object(data))


def read_body(type_: type[msgspec.Struct], data: bytes) -> Any:
    """Return the struct that a body holds."""
    value = read_object(data)
    _check_keys(value, type_, "the body")
    try:
        found = msgspec.convert(value, type_)
        for part in _parts(found):
            check_bounds(part)
    except msgspec.ValidationError as error:
        raise InvalidValue(exactjson.sentence(error, _choices(type_))) from None
    return found


def _choices(type_: type[msgspec.Struct]) -> dict[str, tuple[str, ...]]:
    """Return what may stand in the fields of a struct in which only some words may."""
    hints = get_type_hints(type_)
    found: dict[str, tuple[str, ...]] = {}
    for one in msgspec.structs.fields(type_):
        for hint in (hints[one.name], *get_args(hints[one.name])):
            if get_origin(hint) is Literal:
                found[one.encode_name] = get_args(hint)
            elif isinstance(hint, type) and issubclass(hint, Enum):
                found[one.encode_name] = tuple(hint)
    return found


def read_object(data: bytes) -> Any:
    """Return the object that a body holds."""
    if is_too_deep(data):
        raise HttpRefusal(400, "no_json", "the body is no JSON: it is nested too deep")
    if is_crowded(data):
        raise HttpRefusal(400, "no_json", "the body has too many values")
    try:
        value = read(data)
    except InexactJson as error:
        hint = "send {} where there is nothing to say" if not data.strip() else ""
        raise HttpRefusal(400, "no_json", f"the body is no JSON: {error}", hint) from None
    if not isinstance(value, dict):
        raise InvalidValue("the body must be an object", 'such as {"reference": "k3v9"}')
    return value


def _field(one: msgspec.structs.FieldInfo) -> Any:
    given: dict[str, Any] = {} if one.encode_name == one.name else {"name": one.encode_name}
    if one.default is not msgspec.NODEFAULT:
        given["default"] = one.default
    elif one.default_factory is not msgspec.NODEFAULT:
        given["default_factory"] = one.default_factory
    return msgspec.field(**given)


def _is_plain(hint: Any) -> bool:
    try:
        msgspec.json.schema(hint)
    except TypeError:
        return False
    return True


def _check_keys(value: Any, hint: Any, where: str) -> None:
    """See that every object has only the keys that its struct has."""
    bare = bare_type(hint)
    if isinstance(value, list):
        inner = get_args(bare)
        for number, part in enumerate(value if inner else ()):
            _check_keys(part, inner[0], f"{where}[{number}]")
    is_struct = isinstance(bare, type) and issubclass(bare, msgspec.Struct)
    if not isinstance(value, Mapping) or not is_struct:
        return
    names = dict(zip(bare.__struct_encode_fields__, bare.__struct_fields__, strict=True))
    hints = get_type_hints(bare)
    for key, part in value.items():
        if key not in names:
            known = ", ".join(names) or "none at all"
            raise InvalidValue(f"{where} has the unknown key `{key}`", f"there are {known}")
        _check_keys(part, hints[names[key]], key)


def _parts(value: Any) -> Iterator[Any]:
    """Yield the single values of a struct's fields, however deep; free JSON is as it is."""
    if isinstance(value, msgspec.Struct):
        value = [getattr(value, name) for name in value.__struct_fields__]
    if isinstance(value, list | tuple):
        for part in value:
            yield from _parts(part)
    else:
        yield value


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
            body=body_of(request),
            answers=_OF_ADDED if operation in (table.ADD, table.TRIED) else {200: ()},
        )


def _answer(operation: Operation[Any, Any], call: HttpCall) -> Reply:
    if operation.name in OF_THIS_MACHINE and not call.holder.is_person:
        raise Refused(
            f"{call.holder} may not do this: it concerns the machine that serves",
            "ask with a person's token",
        )
    if operation is table.QUERY:
        request: Any = read_query(call.body)
    else:
        request = read_request(operation, call.body)
    _check_paths(call, request)
    return enveloped(call, call.run(operation, request))


def _check_paths(call: HttpCall, request: Any) -> None:
    """See that what a request names on the disk lies in the project."""
    for name in _PATHS:
        value = getattr(request, name, None) or ()
        for path in (value,) if isinstance(value, str) else value:
            call.workspace.sources.named(path)
