"""Arguments of the types that they should have, or one sentence that says which has another."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from pmem.core import mistakes
from pmem.errors import InvalidValue

T = TypeVar("T")
_ITERABLE = (Iterable, list)
_NO_LISTS = (str, bytes, bytearray, Mapping)


class Typed:
    """A class whose public methods refuse arguments of other types than they name."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Put the look at the arguments in front of every public method."""
        super().__init_subclass__(**options)
        for name, method in list(vars(cls).items()):
            if inspect.isfunction(method) and not name.startswith("_"):
                setattr(cls, name, _looking(method))


def made(type_: type[T], **fields: Any) -> T:
    """Make a request of fields that have their types.

    Args:
        type_: The request's class.
        fields: Its fields.

    Raises:
        InvalidValue: One has another type.
        TypeError: There is no such field, or a needed one is missing.
    """
    return type_(**{name: _field(name, value, type_) for name, value in fields.items()})


def options_of(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a function, once they are seen to have their types.

    Raises:
        InvalidValue: One has another type.
    """
    return {name: _field(name, value, function) for name, value in options.items()}


def _looking(method: Callable[..., T]) -> Callable[..., T]:
    signature = inspect.signature(method)

    @wraps(method)
    def looked(*given: Any, **named: Any) -> T:
        bound = signature.bind(*given, **named)
        for name, value in bound.arguments.items():
            kind = signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                bound.arguments[name] = tuple(_field(name, one, method) for one in value)
            elif kind is not inspect.Parameter.VAR_KEYWORD:
                bound.arguments[name] = _field(name, value, method)
        return method(*bound.args, **bound.kwargs)

    return looked


@cache
def _hints(owner: Any) -> dict[str, Any]:
    return get_type_hints(owner)


def _field(name: str, value: Any, owner: Any) -> Any:
    try:
        return _value(value, _hints(owner).get(name, Any))
    except msgspec.ValidationError as error:
        said = mistakes.sentence(error, name=name)
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
    if hint is bytes and not isinstance(value, bytes):  # the decoder takes a text for base64
        raise msgspec.ValidationError(f"Expected `bytes`, got `{type(value).__name__}`")
    _must_be_unicode(value)
    try:
        return msgspec.convert(value, list[Any] if origin is Iterable else hint)
    except TypeError:  # a protocol, or what is called back
        return value


def _one_of(value: Any, hints: tuple[Any, ...]) -> Any:
    """Return a value of one of several types."""
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
    """See that a request which the caller made has fields of their types."""
    if isinstance(value, msgspec.Struct) and hint is not Any:
        for name in value.__struct_fields__:
            _field(name, getattr(value, name), type(value))
        return msgspec.convert(value, hint)
    return value


def _must_be_unicode(value: Any) -> None:
    try:
        str.encode(value) if isinstance(value, str) else None
    except UnicodeEncodeError:
        raise InvalidValue("a text is not valid UTF-8", "convert it to UTF-8") from None
