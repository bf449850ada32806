"""Commands made from requests: their options are the request's fields."""

import inspect
from collections.abc import Callable, Collection
from datetime import datetime
from enum import StrEnum
from functools import cache, wraps
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin

import msgspec
import typer

from pmem.cli.session import Answer, CommandSession
from pmem.core.exactjson import read_given
from pmem.core.filters import Filter
from pmem.values.bounds import LINES_BYTES
from pmem.values.fields import Completes, asked

R = TypeVar("R", bound=msgspec.Struct)
_JSON: Final = '\'{"name": "ls"}\''
_SEVERAL: Final = "; repeatable."


class _Field(msgspec.Struct):
    """A field of a request, as the command line takes it.

    `type` is that of one value; `hints` are the rest of what `pmem.values.fields.asked` says.
    """

    name: str
    type: Any
    is_many: bool
    default: Any
    meaning: str
    hints: dict[str, Any]

    def parameter(self) -> inspect.Parameter:
        """Return it as Typer reads a function's parameters."""
        is_needed = self.default is msgspec.NODEFAULT
        absent = ... if is_needed else None if self.is_many else self.default
        shared: dict[str, Any] = {
            "metavar": self.hints["shown"] or ("TIME" if self.type is datetime else None),
            "autocompletion": completing(self.hints["completes"]),
        }
        info = (
            typer.Argument(absent, help=self.meaning, **shared)
            if self.hints["is_argument"]
            else typer.Option(
                absent,
                *self._flags(),
                help=self.meaning.removesuffix(".") + _SEVERAL if self.is_many else self.meaning,
                min=self.hints["least"],
                case_sensitive=False,
                rich_help_panel=self.hints["group"],
                **shared,
            )
        )
        type_: Any = str if self.type in (datetime, Any) else self.type
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=info,
            annotation=list[type_] if self.is_many else type_,
        )

    def values(self, session: CommandSession, given: Any) -> dict[str, Any]:
        """Return what the request has for what was given on the command line."""
        if given is None:
            return {}
        reading = self.hints["reading"]
        if reading == "moment":
            return session.when(given)
        if self.is_many:
            given = tuple(value for value in given if value != "" or self.default is not None)
        flag = self._flags()[0]
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

    def _flags(self) -> list[str]:
        if self.hints["flag"]:
            return list(self.hints["flag"].split())
        name = self.name.replace("_", "-")
        is_either = self.type is bool and self.default is None
        return [f"--{name}/--no-{name}" if is_either else f"--{name}"]


class AskedCommand(msgspec.Struct):
    """A command with an option for each field that its request describes; a field that is a struct
    gives the options of its own fields.
    """

    command: Callable[..., Answer | None]  # takes the session, the request, and own options
    kind: type[msgspec.Struct]
    without: Collection[str]  # fields that the command does not have
    filled: dict[str, Any]  # what the request has in fields that the command fills by itself
    meaning: str = ""  # what help says of it, where several commands share what runs

    def function(self) -> Callable[..., Answer | None]:
        """Return it as a function from whose parameters Typer makes the options."""
        hidden = {*self.without, *self.filled}
        fields = {field.name: field for field in _fields(self.kind) if field.name not in hidden}
        _, _, *others = inspect.signature(self.command).parameters.values()
        own = [_own_field(each) for each in others]
        parameters = [
            inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
            *(field.parameter() for field in (*fields.values(), *own)),
        ]

        @wraps(self.command)
        def run(ctx: typer.Context, **given: Any) -> Answer | None:
            session: CommandSession = ctx.obj
            session.context = ctx
            values: dict[str, Any] = {}
            for name, field in fields.items():
                values |= field.values(session, given[name])
            named = {each.name: each.default for each in own}
            for each in own:
                named |= each.values(session, given[each.name])
            return self.command(session, _built(self.kind, values | self.filled), **named)

        run.__dict__["__signature__"] = inspect.Signature(parameters)
        run.__doc__ = self.meaning or run.__doc__
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run


def own(meaning: str, default: Any = None, **hints: Any) -> Any:
    """Make an option of a command's parameter, described as `asked` describes a field."""
    return default, asked(meaning, **hints)


def _own_field(parameter: inspect.Parameter) -> _Field:
    default, meta = parameter.default
    field = _field(parameter.name, parameter.annotation, default, meta)
    if parameter.annotation is bool:
        field.default = bool(field.default)
    return field


@cache
def completing(what: Completes) -> Callable[..., list[tuple[str, str]]] | None:
    """Return what completes a value in a shell, as Typer takes it."""

    def found(ctx: typer.Context, _words: list[str], incomplete: str) -> list[tuple[str, str]]:
        return ctx.obj.candidates(what, ctx, incomplete)  # type: ignore[no-any-return]

    return found if what else None


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
def _fields(kind: type[msgspec.Struct]) -> tuple[_Field, ...]:
    found: list[_Field] = []
    for field in _typed(kind):
        if _is_asking(field.type):
            found += _fields(field.type)
        elif get_origin(field.type) is Annotated:
            hint, *metas = get_args(field.type)
            told = (meta for meta in metas if meta.extra is not None)
            found += (_field(field.name, hint, field.default, meta) for meta in told)
    return tuple(found)


def _field(name: str, hint: Any, default: Any, meta: msgspec.Meta) -> _Field:
    hints: dict[str, Any] = (meta.extra or {})["command_line"]
    type_, is_many = _one_value(hint)
    return _Field(name, hints["choices"] or type_, is_many, default, meta.description or "", hints)


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
