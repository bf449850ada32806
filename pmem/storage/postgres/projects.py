"""The projects of a server: making one, and what is known of it."""

import os
import re
from typing import TYPE_CHECKING, Any, Final

from pmem.errors import InvalidValue
from pmem.storage.index.schema import VERSION as READING

if TYPE_CHECKING:
    from psycopg import Connection

_KEY: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,40}-[0-9a-f]{16}")
_PLAIN: Final = re.compile(r"[^a-z0-9]+")
_MOST: Final = 30
_ADD: Final = (
    "with made as (insert into pmem.project (key, name, reading) values (%s, %s, %s)"
    " on conflict (key) do nothing returning number)"
    " insert into pmem.consent_key select number, %s from made"
)


def new_key(name: str) -> str:
    """Return a key that no other project has, and that nobody can guess.

    Args:
        name: The project's name, which it begins with.
    """
    plain = _PLAIN.sub("-", name.lower()).strip("-")[:_MOST].strip("-") or "project"
    return f"{plain}-{os.urandom(8).hex()}"


def checked_key(key: str) -> str:
    """Return a key, if it is one.

    Args:
        key: What a project's settings say.

    Raises:
        InvalidValue: It is none.
    """
    if not _KEY.fullmatch(key):
        raise InvalidValue(
            f"database_project cannot be {key!r}: it is no key of a project",
            "`pmem db init` writes one",
        )
    return key


def add_project(connection: "Connection[Any]", key: str, name: str) -> None:
    """Let a server know a project; one that it knows stays as it is.

    Args:
        connection: To a server whose schema is up to date.
        key: The project's key.
        name: Its name, as people read it.
    """
    connection.execute(_ADD, (key, name, READING, os.urandom(16).hex()))
