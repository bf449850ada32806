"""Which records a request is about: one value with a field for every filter."""

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta
from msgspec.structs import force_setattr

from pmem.core.checks import share
from pmem.core.trust import Trust, reaches
from pmem.values.fields import Completes, asked
from pmem.values.records import Conversation, MemoryType, Part, Record, State

_wanted: Final = partial(asked, group="Filters")


def _only(what: str, flag: str = "", choices: Any = None, *, completes: Completes = "") -> Meta:
    return _wanted(f"Only {what}.", flag=flag, choices=choices, completes=completes)


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """What a record must be to pass; an empty field lets everything through.

    What a field's description says is the help of its option on the command line.
    Within one field any of the values will do, tags apart: all of them must be there. `trust` is
    the least that will do: `low`, `medium` or `high` (see `pmem.core.trust`).
    `path` is seen from the top of the project; a folder, with a slash at its end, stands for the
    files in it.
    Times are inclusive at the start and exclusive at the end. A record that lacks what a
    filter asks about does not pass it.
    """

    types: Annotated[tuple[str, ...], _only("this type", "--type", MemoryType)] = ()
    categories: Annotated[
        tuple[str, ...], _only("this category", "--category", completes="category")
    ] = ()
    tags: Annotated[tuple[str, ...], _only("what has this tag", "--tag", completes="tag")] = ()
    subject: Annotated[str | None, _only("this subject", completes="subject")] = None
    app: Annotated[str | None, _only("this app", completes="app")] = None
    user: Annotated[str | None, _only("this user", completes="user")] = None
    agent: str | None = None
    run: str | None = None
    actor: str | None = None
    role: Annotated[str | None, _only("this role")] = None
    by: Annotated[
        str | None,
        _wanted(
            "Only what this person or program wrote or changed; part of a name will do.",
            shown="NAME",
        ),
    ] = None
    speaker: Annotated[str | None, _only("what this speaker said")] = None
    importance_min: Annotated[
        float | None, _wanted("At least this important, from 0 to 1.", flag="--min-importance")
    ] = None
    importance_max: Annotated[
        float | None, _wanted("At most this important, from 0 to 1.", flag="--max-importance")
    ] = None
    path: Annotated[
        str | None, _wanted("Only what applies to this file, or cites it.", reading="file")
    ] = None
    pinned: Annotated[bool | None, _wanted("Only (un)pinned.", flag="--pinned/--not-pinned")] = None
    trust: Annotated[
        str | None, _wanted("Only what is trusted at least this much.", choices=Trust)
    ] = None
    states: Annotated[tuple[State, ...], _wanted("In this state [active].", flag="--state")] = (
        State.ACTIVE,
    )
    created_after: Annotated[
        datetime | None, _wanted("Created at this time or later.", flag="--since", reading="time")
    ] = None
    created_before: Annotated[
        datetime | None, _wanted("Created before this time.", flag="--until", reading="time")
    ] = None
    updated_after: datetime | None = None
    updated_before: datetime | None = None

    def __post_init__(self) -> None:
        """Mean an app however its name is written.

        Raises:
            InvalidValue: An importance is not from 0 to 1.
        """
        for bound in (self.importance_min, self.importance_max):
            if bound is not None:
                share("importance", bound)
        if self.app is not None:
            force_setattr(self, "app", self.app.strip().casefold())


EVERYTHING = Filter(states=())
"""The filter that every record passes."""

Searchable = Record | Part
"""A record, a message, or whatever has the fields that filters ask about."""

_Test = Callable[[Any, Any], bool]


def rejected_by(record: Searchable, wanted: Filter) -> str | None:
    """Return the first filter that a record fails, as the command line calls it, if any."""
    return judge_of(wanted)(record)


def judge_of(wanted: Filter) -> Callable[[Searchable], str | None]:
    """Return what names the first filter that a record fails, for many records."""
    asked = [(field, test, getattr(wanted, field)) for field, test in _TESTS.items()]
    asked = [one for one in asked if one[2] is not None and one[2] != ()]

    def judge(record: Searchable) -> str | None:
        for field, test, value in asked:
            if not test(record, value):
                return _NAMES.get(field, field)
        return None

    return judge


def passes(record: Searchable, wanted: Filter) -> bool:
    """Tell whether every filter lets `record` through."""
    return rejected_by(record, wanted) is None


def same_text(one: str | None, other: str | None) -> bool:
    """Compare two texts as people do: letter case and spacing aside."""
    return fold(one or "") == fold(other or "")


def is_part_of_name(part: str, *names: str) -> bool:
    """Tell whether any of the names has this part: letter case and spacing aside."""
    return any(fold(part) in fold(name) for name in names)


def fold(text: str) -> str:
    """Reduce a text to what counts when two are compared: words, in lower case."""
    return " ".join(text.casefold().split())


def _scope(field: str) -> _Test:
    def test(record: Any, value: str) -> bool:
        scope = getattr(record, "scope", None)
        return scope is not None and getattr(scope, field) == value

    return test


def _app(record: Any, value: str) -> bool:
    """A memory concerns an app by its scope; what was said in an app belongs to it."""
    return _scope("app")(record, value) or getattr(record, "app", None) == value


def _field(field: str) -> _Test:
    return lambda record, values: getattr(record, field, None) in values


def _role(record: Any, value: str) -> bool:
    """A message has a role of its own; other records concern one."""
    role = getattr(record, "role", None)
    return role == value if role is not None else _scope("role")(record, value)


def _by(record: Any, value: str) -> bool:
    """A record's history says who wrote and changed it; what has none, nobody did."""
    return any(
        is_part_of_name(value, event.actor, event.agent) for event in getattr(record, "history", ())
    )


def updated(record: Any) -> datetime:
    """Return when a record was changed last."""
    at: datetime = getattr(record, "updated_at", None) or created(record)
    return at


def created(record: Any) -> datetime:
    """Return when a record began."""
    at: datetime = record.started_at if isinstance(record, Conversation) else record.created_at
    return at


def importance_of(record: Any) -> float:
    """Return a record's importance, -1 where it has none."""
    value = getattr(record, "importance", None)
    return -1.0 if value is None else float(value)


def covers(record: Any, path: str) -> bool:
    """Tell whether a record applies to a file by its places, or cites it or a file below it.

    `path` is seen from the top of the project; a folder's ends with a slash.
    """
    places = getattr(record, "places", ())
    if places:
        from pmem.core.places import applies_within

        if applies_within(places, path):
            return True
    path = path.rstrip("/")
    return any(file == path or file.startswith(f"{path}/") for file in cited_files(record))


def cited_symbols(record: Any) -> set[str]:
    """Return the symbols that a record cites, each whole and by its last name, without a value."""
    citations = getattr(record, "citations", ())
    if not citations:
        return set()
    cited = {one.symbol.partition("=")[0] for one in citations if one.symbol}
    return cited | {name.replace("::", ".").rpartition(".")[2] for name in cited}


def cited_files(record: Any) -> tuple[str, ...]:
    """Return the files that a record, or what stands for one, cites."""
    cited: tuple[str, ...] | None = getattr(record, "cited", None)
    if cited is None:
        citations = getattr(record, "citations", ())
        cited = tuple(dict.fromkeys(one.file for one in citations)) if citations else ()
    return cited


def _folded(tags: Iterable[str]) -> set[str]:
    return {fold(tag) for tag in tags}


_TESTS: dict[str, _Test] = {
    "states": lambda record, values: getattr(record, "state", State.ACTIVE) in values,
    "types": _field("type"),
    "categories": _field("category"),
    "tags": lambda record, values: _folded(values) <= _folded(getattr(record, "tags", ())),
    "subject": lambda record, value: same_text(getattr(record, "subject", None), value),
    "app": _app,
    "user": _scope("user"),
    "agent": _scope("agent"),
    "run": _scope("run"),
    "actor": _scope("actor"),
    "role": _role,
    "by": _by,
    "speaker": lambda record, value: same_text(getattr(record, "speaker", None), value),
    "importance_min": lambda record, value: importance_of(record) >= value,
    "importance_max": lambda record, value: 0 <= importance_of(record) <= value,
    "path": covers,
    "pinned": lambda record, value: getattr(record, "pinned", False) == value,
    "trust": reaches,
    "created_after": lambda record, value: created(record) >= value,
    "created_before": lambda record, value: created(record) < value,
    "updated_after": lambda record, value: updated(record) >= value,
    "updated_before": lambda record, value: updated(record) < value,
}

_NAMES = {"types": "type", "categories": "category", "tags": "tag", "states": "state"}
