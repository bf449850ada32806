"""Selections as SQL of PostgreSQL: what SQLite is asked, in the other's words."""

import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import msgspec

from pmem.core.selection import COLUMNS, Order, Selection
from pmem.storage.index.selecting import AMONG, COVERS, KEYED, Condition, expression, where

if TYPE_CHECKING:
    from psycopg import Connection


_DAY_MICROSECONDS: Final = 86_400_000_000
_DAY: Final = (
    f"(created / {_DAY_MICROSECONDS}"
    f" - (created < 0 and mod(created, {_DAY_MICROSECONDS}) <> 0)::integer)"
)
_SQLITE_DAY: Final = COLUMNS["day"].sql
_COVERS: Final = (
    "(number in (select record from pmem.cited where project = %s and path = %s)"
    " or number in (select record from pmem.place where project = %s and patterns = any(%s)))"
)
_KEYED: Final = "number in (select record from pmem.twin where key = any(%s))"
_ORDERS: Final = {"id": "id", "-id": "id desc"}
"""Of what is never nothing: an index has it in either order."""
_PLUS: Final = re.compile(r"\+(?=[a-z])")
"""What keeps SQLite from finding rows by a column."""


def held_for_update(
    connection: "Connection[Any]",
    project: int,
    keys: Iterable[tuple[str, str]],
    locking: str = " for update",
) -> dict[tuple[str, str], bytes]:
    """Lock the rows of records, and return what they hold."""
    pairs = sorted(keys)
    query = (
        "select store, id, data from pmem.record where project = %s and (store, id) in"
        " (select * from unnest(%s::text[], %s::text[])) order by store, id"
    )
    values = (project, [store for store, _ in pairs], [id_ for _, id_ in pairs])
    rows = connection.execute(f"{query}{locking}".encode(), values, binary=True)
    return {(store, id_): held for store, id_, held in rows}


def condition(project: int, store: str, selection: Selection, placed: Sequence[str]) -> Condition:
    """Return the condition for the records of a store that can be selected.

    `placed` are those of the patterns that memories are placed by that fit the selection's path.
    """
    found = where(store, selection)
    text = _PLUS.sub("", found.text)
    values: list[Any] = [project]
    given = iter(found.values)
    parts = re.split(f"({'|'.join(map(re.escape, (COVERS, KEYED, AMONG, '?')))})", text)
    for place, part in enumerate(parts):
        if part == COVERS:
            path, *_ = islice(given, COVERS.count("?"))
            parts[place] = _COVERS
            values += [project, digest_of_key(path), project, list(placed)]
        elif part == KEYED:
            parts[place] = _KEYED
            values.append([twin_digest(project, key) for key in msgspec.json.decode(next(given))])
        elif part == AMONG:
            among = clean_value(msgspec.json.decode(next(given)))
            is_one = len(among) == 1  # an index has the rows of one in order
            parts[place] = "= %s" if is_one else "= any(%s)"
            values.append(among[0] if is_one else among)
        elif part == "?":
            parts[place] = "%s"
            values.append(clean_value(next(given)))
        else:
            parts[place] = part.replace(_SQLITE_DAY, _DAY).replace("%", "%%")
    return Condition(f"project = %s and {''.join(parts)}", values, found.is_exact)


def ordering(order: Order) -> str:
    """Return the terms of an `order by`; nothing comes before everything."""
    terms = [_ORDERS.get(name) or _in_order(name) for name in order]
    return ", ".join([*terms, "id"] if not _ORDERS.keys() & set(order) else terms)


def _in_order(name: str) -> str:
    if name.startswith("-"):
        return f"{column(name[1:])} desc nulls last"
    return f"{column(name)} nulls first"


def column(name: str) -> str:
    """Return a column, or what makes it of others."""
    return expression(name).replace(_SQLITE_DAY, _DAY)


def clean(text: str) -> str:
    """Return a text without zero characters, which PostgreSQL knows none of."""
    return text.replace("\0", "\ufffd")


def clean_value(value: Any) -> Any:
    """Return a value, or a list of values, with texts as `clean` returns them."""
    if isinstance(value, list):
        return list(map(clean_value, value))
    return clean(str(value)) if isinstance(value, str) else value


def digest_of_key(key: str) -> bytes:
    """Return what stands for a key of any length."""
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def twin_digest(project: int, key: str) -> bytes:
    """Return what a twin key of a project is kept as."""
    return digest_of_key(f"{project}:{key}")


def folders_of(file: str) -> Iterable[str]:
    """Return a path and every folder above it, as a filter may name them."""
    parts = file.split("/")
    return ("/".join(parts[:length]) for length in range(1, len(parts) + 1))
