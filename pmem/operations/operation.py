"""What the table says of one use case, what a run of it led to, and the JSON of that."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, Literal, TypeVar

import msgspec

from pmem.errors import PmemError
from pmem.storage.backend import Problem
from pmem.values.records import dump_line, plain

Q = TypeVar("Q")
A = TypeVar("A")


Need = Literal["content", "whole", "nothing"]
"""How much of the memory an operation needs to see: what whoever asks may see (what the request
names must lie within), all of it (whoever may not see everything is refused), or none of it."""

Writes = Literal["", "records", "beside"]
"""What it writes: nothing; records, in one transaction that the pipeline holds around it; or
settings, local state, files, or records in transactions of its own."""

GateScope = Literal["", "request", "thread", "items"]
"""What of the request is kept, and so must hold no secret: nothing; all of it; the name of a thread
alone; or a stream of items, which the request's `admit` lets in one by one."""

Effect = Literal["safe", "idempotent", "destructive"]
"""What it does to what is there: it takes nothing away; a second run changes nothing more, and
there is a way back; or what it takes away does not come back."""


class Room:
    """A package, a module or a function by its dotted name, which nothing loads: see `function`."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> "Room":
        return Room(f"{self._path}.{name}")

    def __str__(self) -> str:
        return self._path


class Operation(msgspec.Struct, Generic[Q, A], frozen=True):
    """One use case: what it is called and means, what does it, and what the pipeline must know.

    `logged` is what the log of operations calls it: a part of pmem, a colon, and what it did; the
    answer's `noted` says how it went, and writes of records that fail are noted in any case.
    """

    name: str  # in words that dots join
    meaning: str  # in one line
    function: Callable[[Any, Q], A]  # its dotted name, which only type checkers follow
    scope: Need = "content"  # how much of the memory it needs to see
    categories: tuple[str, ...] = ()  # what whoever asks must be allowed to see
    doing: str = ""  # as in "may not ...", where it needs everything
    writes: Writes = ""
    only_if: str = ""  # a field of the request without which it writes nothing
    unless: str = ""  # a field of the request with which it writes nothing
    gate: GateScope = ""
    recalls: bool = False  # whether what its answer calls `recalled` counts as that
    logged: str = ""
    embeds: bool = False  # whether what it leaves is embedded after it, where a model is set
    asks: tuple[str, ...] = ()  # work for models after it, on what its answer calls `worked_on`
    asks_if: str = ""  # a field of the request without which they do not
    effect: Effect = "safe"
    is_final: bool = False  # whether it changes what is no record, so that `undo` stops at it
    by_person: bool = False  # whether no agent and no app may do it


class Outcome(msgspec.Struct, Generic[A], frozen=True):
    """What an operation led to: its answer, and what whoever asked should be told beside it.

    `problems` are files that could not be used and were left out. `has_written` is whether any
    record was changed.
    """

    result: A
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    has_written: bool = False

    @property
    def plain(self) -> Any:
        """The answer as every front end gives it in JSON."""
        return plain_form(self.result)


def plain_form(answer: Any) -> Any:
    """Return an answer as it is written in JSON; one of another form says so by `to_plain`."""
    to_plain = getattr(answer, "to_plain", None)
    return answer if to_plain is None else to_plain()


SCHEMA: Final = "pmem/1"


def data_line(data: Any, notes: Sequence[str] = ()) -> bytes:
    """Return an answer as one line of JSON."""
    return json_line({"schema": SCHEMA, "data": data, **({"notes": notes} if notes else {})})


def error_line(error: PmemError, **more: Any) -> bytes:
    """Return an error as one line of JSON, without the secrets that it repeats."""
    from pmem.core.secrets import unsecret

    said = {"message": unsecret(error.message), "hint": unsecret(error.hint)}
    return json_line({"schema": SCHEMA, "error": {"code": error.code, **said, **more}})


def json_line(value: Any) -> bytes:
    """Return a value as one line of JSON in which nothing is hidden from people."""
    try:
        line = dump_line(value) + b"\n"
    except TypeError:  # a path that is not UTF-8
        line = dump_line(_in_utf_8(plain(value))) + b"\n"
    if line.isascii() and b"\x7f" not in line:
        return line
    from pmem.core.visible import escaped

    return escaped(line.decode()).encode()


def _in_utf_8(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {key: _in_utf_8(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_in_utf_8(inner) for inner in value]
    return value
