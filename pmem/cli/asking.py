"""Commands made from requests: their options are the request's fields."""

import inspect
from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from functools import cache, cached_property
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin

import msgspec

from pmem.cli.session import Answer, CommandSession
from pmem.core.exactjson import read_given
from pmem.core.filters import Filter
from pmem.values.bounds import LINES_BYTES
from pmem.values.fields import asked

R = TypeVar("R", bound=msgspec.Struct)
_JSON: Final = '\'{"name": "ls"}\''


class Field(msgspec.Struct):
    """A field of a request, as the command line takes it.

    `type` is that of one value; `hints` are the rest of what `pmem.values.fields.asked` says.
    """

    name: str
    type: Any
    is_many: bool
    default: Any
    meaning: str
    hints: dict[str, Any]

    @property
    def is_argument(self) -> bool:
        """Whether it has no option: its place on the line says what it is."""
        return bool(self.hints["is_argument"])

    @property
    def least(self) -> int | None:
        """The least that a number may be."""
        return self.hints["least"]  # type: ignore[no-any-return]

    @property
    def absent(self) -> Any:
        """What it is where the line says nothing; `...` where the line has to."""
        is_needed = self.default is msgspec.NODEFAULT
        return ... if is_needed else None if self.is_many else self.default

    @property
    def flags(self) -> list[str]:
        """Its option, the way that help names it first; `--on/--off` are two of one."""
        if self.hints["flag"]:
            return list(self.hints["flag"].split())
        name = self.name.replace("_", "-")
        is_either = self.type is bool and self.default is None
        return [f"--{name}/--no-{name}" if is_either else f"--{name}"]

    def values(self, session: CommandSession, given: Any) -> dict[str, Any]:
        """Return what the request has for what was given on the command line."""
        if given is None:
            return {}
        reading = self.hints["reading"]
        if reading == "moment":
            return session.when(given)
        if self.is_many:
            given = tuple(value for value in given if value != "" or self.default is not None)
        flag = self.flags[0]
        read: dict[str, Callable[[Any], Any]] = {
            "time": session.time,
            "ahead": session.ahead,
            "file": session.file,
            "files": lambda paths: tuple(map(session.file, paths)),
            "places": session.places,
            "text": lambda text: session.input(text, f"the {self.name}"),
            "log": lambda text: session.input(text, self.name, LINES_BYTES, "replace"),
            "json": lambda text: read_given(text, flag, f"put the JSON in quotes: {flag} {_JSON}"),
        }
        return {self.name: read[reading](given) if reading in read else given}


class AskedCommand(msgspec.Struct, dict=True):
    """A command with an option for each field that its request describes; a field that is a struct
    gives the options of its own fields.
    """

    command: Callable[..., Answer | None]  # takes the session, the request, and own options
    kind: type[msgspec.Struct]
    without: Collection[str]  # fields that the command does not have
    filled: dict[str, Any]  # what the request has in fields that the command fills by itself
    meaning: str = ""  # what help says of it, where several commands share what runs

    @cached_property
    def own(self) -> tuple[Field, ...]:
        """The options that no field of the request stands for."""
        _, _, *others = inspect.signature(self.command).parameters.values()
        return tuple(map(_own_field, others))

    @cached_property
    def fields(self) -> dict[str, Field]:
        """All options and arguments, by their names."""
        hidden = {*self.without, *self.filled}
        asked_for = (field for field in _fields(self.kind) if field.name not in hidden)
        return {field.name: field for field in (*asked_for, *self.own)}

    def run(self, session: CommandSession, given: Mapping[str, Any]) -> Answer | None:
        """Run it with what the command line gives for each of its fields."""
        values: dict[str, Any] = {}
        named = {each.name: each.default for each in self.own}
        for name, field in self.fields.items():
            told = field.values(session, given[name])
            if name in named:
                named |= told
            else:
                values |= told
        return self.command(session, _built(self.kind, values | self.filled), **named)


def own(meaning: str, default: Any = None, **hints: Any) -> Any:
    """Make an option of a command's parameter, described as `asked` describes a field."""
    return default, asked(meaning, **hints)


def _own_field(parameter: inspect.Parameter) -> Field:
    default, meta = parameter.default
    field = _field(parameter.name, parameter.annotation, default, meta)
    if parameter.annotation is bool:
        field.default = bool(field.default)
    return field


def asks(
    kind: type[msgspec.Struct], *, without: Collection[str] = (), meaning: str = "", **filled: Any
) -> Callable[[Callable[..., Answer | None]], AskedCommand]:
    """Make a command of a function and the request that it runs; see `AskedCommand`."""
    return lambda command: AskedCommand(command, kind, without, filled, meaning)


def scoped(session: CommandSession, wanted: Filter, *, all_states: bool) -> Filter:
    """Return a filter for the agent that a command is about, and for records in any state."""
    states = () if all_states else wanted.states
    agent = session.asker and session.concerned
    return msgspec.structs.replace(wanted, agent=agent, states=states)


def _built(kind: type[R], values: dict[str, Any]) -> R:
    """Make a request of values, some of which belong to a struct in it."""
    names = kind.__struct_fields__
    inner = {
        field.name: _built(field.type, values)
        for field in _typed(kind)
        if _is_asking(field.type) and field.name not in values
    }
    return kind(**inner, **{name: values[name] for name in names if name in values})


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[Field, ...]:
    found: list[Field] = []
    for field in _typed(kind):
        if _is_asking(field.type):
            found += _fields(field.type)
        elif get_origin(field.type) is Annotated:
            hint, *metas = get_args(field.type)
            told = (meta for meta in metas if meta.extra is not None)
            found += (_field(field.name, hint, field.default, meta) for meta in told)
    return tuple(found)


def _field(name: str, hint: Any, default: Any, meta: msgspec.Meta) -> Field:
    hints: dict[str, Any] = (meta.extra or {})["command_line"]
    type_, is_many = _one_value(hint)
    return Field(name, hints["choices"] or type_, is_many, default, meta.description or "", hints)


_typed = cache(msgspec.structs.fields)


def _is_asking(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, msgspec.Struct) and bool(_fields(hint))


def _one_value(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) is Annotated:
        return _one_value(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return _one_value(next(part for part in get_args(hint) if part is not NoneType))
    if get_origin(hint) is tuple:
        one = get_args(hint)[0]
        is_choice = get_origin(one) is Literal  # which Typer takes of one value alone
        return StrEnum(
            "Choice", [(name, name) for name in get_args(one)]
        ) if is_choice else one, True
    return hint, False
