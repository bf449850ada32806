"""The schema of a server, made and brought up to date by numbered files of SQL.

Each is one transaction, and all of them run under one lock, whoever else tries the same.
"""

import os
import re
from collections.abc import Collection, Mapping
from hashlib import blake2b
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from pmem.errors import Damaged, InvalidValue
from pmem.storage.files.recordfile import parse
from pmem.storage.index.schema import VERSION as READING
from pmem.storage.postgres.selecting import clean
from pmem.storage.postgres.server import unlocking
from pmem.storage.postgres.turn import WRITER
from pmem.storage.postgres.writing import WrittenRecord, write_records
from pmem.values.records import RECORD_TYPES

if TYPE_CHECKING:
    from psycopg import Connection

    from pmem.storage.index.documents import Source

_LOCK: Final = 0x706D656D
_VERSION: Final = (
    "create schema if not exists pmem;"
    "create table if not exists pmem.schema_version"
    " (version integer primary key, at timestamptz not null default now())"
)


def migrations() -> list[tuple[int, str]]:
    """Return the migrations in order: number, and what it does."""
    folder = files(__package__) / "migrations"
    found = sorted(each.name for each in folder.iterdir() if each.name.endswith(".sql"))
    return [(int(name[:4]), (folder / name).read_text("utf-8")) for name in found]


def version_of(connection: "Connection[Any]") -> int:
    """Return the version of a server's schema; 0 where there is none."""
    query = "select to_regclass('pmem.schema_version') is not null"
    (is_there,) = connection.execute(query).fetchone() or (False,)
    if not is_there:
        return 0
    query = "select coalesce(max(version), 0) from pmem.schema_version"
    (version,) = connection.execute(query).fetchone() or (0,)
    return int(version)


def migrate(connection: "Connection[Any]") -> list[int]:
    """Bring a server's schema up to date, and return the migrations that ran.

    The connection is outside of any transaction.
    """
    connection.execute("select pg_advisory_lock(%s)", (_LOCK,))
    with unlocking(connection, _LOCK):
        before = version_of(connection)
        if before == 0:
            connection.execute(_VERSION)
        ran = [(number, text) for number, text in migrations() if number > before]
        for number, text in ran:
            with connection.transaction():
                connection.execute(text.encode())
                query = "insert into pmem.schema_version (version) values (%s)"
                connection.execute(query, (number,))
    return [number for number, _ in ran]


_KEY: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,40}-[0-9a-f]{16}")
_PLAIN: Final = re.compile(r"[^a-z0-9]+")
_MOST: Final = 30
_ADD: Final = (
    "with made as (insert into pmem.project (key, name, reading) values (%s, %s, %s)"
    " on conflict (key) do nothing returning number)"
    " insert into pmem.consent_key select number, %s from made"
)


def new_key(name: str) -> str:
    """Return a key that no other project has, and that nobody can guess."""
    plain = _PLAIN.sub("-", name.lower()).strip("-")[:_MOST].strip("-") or "project"
    return f"{plain}-{os.urandom(8).hex()}"


def checked_key(key: str) -> str:
    """Return a key, if it is one.

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
    """Let a server know a project; one that it knows stays as it is."""
    connection.execute(_ADD, (key, name, READING, os.urandom(16).hex()))


_GRANT: Final = (
    "insert into pmem.access (role, project, agent, categories, apps)"
    " values (%s, %s, %s, %s, %s) on conflict (role, project) do update set"
    " agent = excluded.agent, categories = excluded.categories, apps = excluded.apps"
)
_KNOWN: Final = (
    "select role, agent, categories, apps, exists (select from pg_roles where rolname = role)"
    " from pmem.access where project = %s"
)
_LEFT: Final = (
    "delete from pmem.access where project = %s and agent is not null and agent != all(%s)"
)


def make_roles(
    connection: "Connection[Any]",
    key: str,
    allowlists: Mapping[str, Collection[str]],
    apps: Collection[str],
) -> None:
    """Make a role for each agent and app of a project, or bring it up to date.

    An agent that has no allowlist any more sees nothing from now on. Where all is as it should be,
    nothing is written: that much everybody may ask for. Else the connection is that of somebody who
    may make roles.
    """
    query = "select number from pmem.project where key = %s"
    (project,) = connection.execute(query, (key,)).fetchone() or (0,)
    known = connection.execute(_KNOWN, (project,)).fetchall()
    made = [tuple(access) for *access, is_there in known if is_there]
    gone = [tuple(access) for *access, is_there in known if not is_there]  # by a restored backup
    agents = {clean(name): sorted(map(clean, seen)) for name, seen in allowlists.items()}
    wanted: list[tuple[Any, ...]] = [
        (role_name(key, "agent", name), name, seen, None) for name, seen in agents.items()
    ]
    wanted += [(role_name(key, "app", app), None, None, [clean(app)]) for app in apps]
    wanted += [access for access in gone if access[1] is None]
    with connection.transaction():
        for role, *seen in (each for each in wanted if each not in made):
            _make(connection, role)
            connection.execute(_GRANT, (role, project, *seen))
        if not {agent for _, agent, *_ in known if agent is not None} <= agents.keys():
            connection.execute(_LEFT, (project, sorted(agents)))


def roles_of(connection: "Connection[Any]", key: str) -> dict[str, str]:
    """Return the roles of a project's agents and apps, and whom they are for."""
    query = (
        "select role, coalesce('agent ' || agent, 'app ' || array_to_string(apps, ', '))"
        " from pmem.access join pmem.project on number = project where key = %s order by role"
    )
    may = "select has_table_privilege('pmem.access', 'select')"
    if connection.execute(may).fetchone() != (True,):
        return {}
    return dict(connection.execute(query, (key,)).fetchall())


def _make(connection: "Connection[Any]", role: str) -> None:
    """Make a role that nobody logs in as: those who are it are granted it."""
    from psycopg import sql

    query = "select 1 from pg_roles where rolname = %s"
    if connection.execute(query, (role,)).fetchone() is None:
        made = sql.SQL("create role {} nologin in role pmem_agent").format(sql.Identifier(role))
        connection.execute(made)


def role_name(key: str, kind: str, name: str) -> str:
    """Return what a role is called: roles are those of all databases of a server."""
    plain = _PLAIN.sub("_", name.lower()).strip("_")[:_MOST]
    if plain != name:
        plain = f"{plain}_{blake2b(name.encode(), digest_size=4).hexdigest()}"
    return f"pmem_{key.rpartition('-')[2][:8]}_{kind}_{plain}"


_PAGE: Final = 500
_STALE: Final = "select number from pmem.project where reading < %s order by number"
_RECORDS: Final = (
    "select store, id, data from pmem.record where project = %s and (store, id) > (%s, %s)"
    " order by store, id limit %s"
)
_DONE: Final = "update pmem.project set reading = %s where number = %s"


def rewrite_stale(connection: "Connection[Any]") -> int:
    """Write anew what the records of projects are found by that an older pmem wrote.

    Cut short, it begins again with the project that it was at.

    Returns:
        How many projects there were.
    """
    stale = [number for (number,) in connection.execute(_STALE, (READING,))]
    for project in stale:
        connection.execute("select pg_advisory_lock(%s, %s)", (WRITER, project))
        with unlocking(connection, WRITER, project):
            _rewrite(connection, project)
    return len(stale)


def is_stale(reading: int) -> bool:
    """Tell whether an older pmem wrote what a project's records are found by."""
    return reading < READING


def _rewrite(connection: "Connection[Any]", project: int) -> None:
    after: Source = ("", "")
    while True:
        with connection.transaction():
            rows = connection.execute(_RECORDS, (project, *after, _PAGE), binary=True).fetchall()
            write_records(connection, project, _readable(rows), ())
        if len(rows) < _PAGE:
            break
        after = rows[-1][:2]
    connection.execute(_DONE, (READING, project))


def _readable(rows: list[Any]) -> "dict[Source, WrittenRecord]":
    """Return the records that can be read; the others stay, and are reported when met."""
    found: dict[Source, WrittenRecord] = {}
    for store, identifier, data in rows:
        try:
            record = parse(data, RECORD_TYPES[store], identifier)
        except Damaged:
            continue
        found[store, identifier] = WrittenRecord(record, data, was_there=True)
    return found
