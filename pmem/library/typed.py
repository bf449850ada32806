"""Arguments of the types that they should have, or one sentence that says which has another."""

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import cache, wraps
from types import NoneType, UnionType
from typing import Any, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from pmem.core import exactjson
from pmem.errors import InvalidValue
from pmem.values.times import in_utc

P = ParamSpec("P")
T = TypeVar("T")
_ITERABLE = (Iterable, list)
_NO_LISTS = (str, bytes, bytearray, Mapping)
_PATHS = ("memory_dir", "start", "file", "folder")
"""What names a place on the disk: such a path may also be one of pathlib's."""
_LARGEST = 2**63 - 1


def made(type_: type[T], **fields: Any) -> T:
    """Make a request of fields that have their types; some may be those of a struct inside it."""
    hints: dict[str, Any] = _hints(type_)  # type: ignore[arg-type]  # a class has a hash
    for name, hint in hints.items():
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct) and name not in fields:
            within = fields.keys() & {*hint.__struct_fields__} - hints.keys()
            if within:
                fields[name] = made(hint, **{each: fields.pop(each) for each in within})
    return type_(**{name: _field(name, value, type_) for name, value in fields.items()})


def checked(method: Callable[P, T]) -> Callable[P, T]:
    """Return a method that looks first whether its arguments have the types that they name."""
    signature = inspect.signature(method)

    @wraps(method)
    def looked(*given: P.args, **named: P.kwargs) -> T:
        bound = signature.bind(*given, **named)
        for name, value in bound.arguments.items():
            if signature.parameters[name].kind is not inspect.Parameter.VAR_KEYWORD:
                bound.arguments[name] = _field(name, value, method)
        return method(*bound.args, **bound.kwargs)

    return looked


@cache
def _hints(owner: Any) -> dict[str, Any]:
    return get_type_hints(owner)


def _field(name: str, value: Any, owner: Any) -> Any:
    try:
        hint = _hints(owner).get(name, Any)
        if name in _PATHS and value is not None and str in (hint, *get_args(hint)):
            path = os.fspath(value) if isinstance(value, os.PathLike) else value
            if isinstance(path, str) and "\0" in path:
                raise InvalidValue(f"{name} has a zero byte: {path!r}", "leave it out")
            return _value(path, str)
        return _value(value, hint)
    except RecursionError:
        raise InvalidValue(f"{name} is nested too deep") from None
    except msgspec.ValidationError as error:
        said = exactjson.sentence(error, name=name)
        said = f"{said.removesuffix('null')}None" if said.endswith(", not null") else said
        raise InvalidValue(said) from None


def _value(value: Any, hint: Any) -> Any:
    """Return a value of a type, or raise what the decoder says against it."""
    origin = get_origin(hint)
    if hint is Any or isinstance(value, msgspec.Struct):
        return _struct(value, hint)
    if origin in (Union, UnionType):
        return _one_of(value, get_args(hint))
    if origin in _ITERABLE and isinstance(value, Iterable) and not isinstance(value, _NO_LISTS):
        return [_value(one, get_args(hint)[0]) for one in value]
    if origin is tuple and isinstance(value, Iterable) and not isinstance(value, _NO_LISTS):
        value = [_struct(one, get_args(hint)[0]) for one in value]
    if getattr(hint, "_is_protocol", False):
        if all(hasattr(value, name) for name in vars(hint) if name[0] != "_"):
            return value
        raise _unexpected(value, hint)
    if hint is bytes and not isinstance(value, bytes):  # the decoder takes a text for base64
        raise _unexpected(value, hint)
    try:
        if isinstance(value, str):
            str.encode(value)
        found = msgspec.convert(value, list[Any] if origin is Iterable else hint)
    except UnicodeEncodeError:
        raise InvalidValue("a text is not valid UTF-8", "convert it to UTF-8") from None
    except TypeError:  # what is called back
        return value
    check_bounds(found)
    return found


def _unexpected(value: Any, hint: Any) -> msgspec.ValidationError:
    return msgspec.ValidationError(f"Expected `{hint.__name__}`, got `{type(value).__name__}`")


def check_bounds(value: Any) -> None:
    """See that a time has a zone and is in the calendar in UTC, and a number within 64 bits."""
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise msgspec.ValidationError("Expected `datetime` with a zone")
        try:
            in_utc(value)
        except OverflowError:
            raise InvalidValue(f"{value} leaves the calendar in UTC") from None
    if type(value) is int and abs(value) > _LARGEST:
        raise msgspec.ValidationError(f"Expected `int` from -{_LARGEST} to {_LARGEST}")


def _one_of(value: Any, hints: tuple[Any, ...]) -> Any:
    if value is None and NoneType in hints:
        return None
    others = [hint for hint in hints if hint is not NoneType]
    for hint in others[1:]:
        try:
            return _value(value, hint)
        except msgspec.ValidationError:
            continue
    return _value(value, others[0])


def _struct(value: Any, hint: Any) -> Any:
    if isinstance(value, msgspec.Struct) and hint is not Any:
        for name in value.__struct_fields__:
            _field(name, getattr(value, name), type(value))
        return msgspec.convert(value, hint)
    return value
