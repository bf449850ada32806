"""Putting a project on a PostgreSQL server: its tables, its roles, and where they stand."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec

from pmem.core import checks
from pmem.errors import InvalidValue, NewerSchema
from pmem.project.configuration import CONFIG_FILE
from pmem.project.setup import locked, write_setting
from pmem.project.workspace import Workspace
from pmem.storage.jsonfiles import scratch
from pmem.values.fields import NoArguments, asked
from pmem.values.records import RECORD_TYPES

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")


class DatabaseRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which apps get a role of their own, beside the agents that have allowlists."""

    apps: Annotated[
        tuple[str, ...],
        asked("Make a role for this app.", flag="--app", shown="APP", completes="app"),
    ] = ()


class DatabaseStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Where a project stands: on which server, under which key, and with how many records there and
    in the folder, of those that `sync` keeps equal.

    `version` is that of the server's tables, 0 where there are none, and `wanted` the one that this
    pmem knows. `is_stale` says that an older pmem read the texts by which records are found there.
    `roles` are those of agents and apps, each with whom it is for.
    """

    server: str
    project: str
    version: int
    wanted: int
    is_known: bool = False
    is_stale: bool = False
    revision: int = 0
    records: int = 0
    in_folder: int = 0
    roles: dict[str, str] = {}


class DatabaseSetup(msgspec.Struct, frozen=True, kw_only=True):
    """What setting up did: the migrations that ran, and where the project stands now."""

    migrated: tuple[int, ...]
    status: DatabaseStatus


def init(workspace: Workspace, request: DatabaseRequest) -> DatabaseSetup:
    """Make the tables and the roles, and let the server know this project; safe to repeat."""
    from pmem.storage.postgres.setting_up import add_project, checked_key, make_roles, new_key

    settings = workspace.settings
    key = settings.database_project
    name = workspace.project_name
    key = checked_key(key) if key else new_key(name)
    apps = [checks.app_name(app) for app in request.apps]

    def set_up(connection: "Connection[Any]") -> tuple[int, ...]:
        ran = _migrated(workspace, connection)
        with connection.transaction():  # a project whose key nobody learns would stay there
            add_project(connection, key, name)
            make_roles(connection, key, settings.allowlists, apps)
        return ran

    migrated = _ask_server(workspace, set_up)
    if not settings.database_project:
        with locked(workspace):
            path = os.path.join(workspace.root, CONFIG_FILE)
            write_setting(path, "database_project", key, scratch(workspace.root))
        workspace.configuration.forget()
    return DatabaseSetup(migrated=migrated, status=status(workspace, NoArguments()))


def migrate_database(workspace: Workspace, _: NoArguments) -> DatabaseSetup:
    """Bring the tables up to date."""
    migrated = _ask_server(workspace, lambda connection: _migrated(workspace, connection))
    return DatabaseSetup(migrated=migrated, status=status(workspace, NoArguments()))


def status(workspace: Workspace, _: NoArguments) -> DatabaseStatus:
    """Say where a project stands."""
    from pmem.storage.postgres.server import VERSION, shown_address
    from pmem.upkeep.sync import shared_stores

    settings = workspace.settings
    key, address = settings.database_project, settings.database
    files = workspace.files
    stores = shared_stores(workspace)
    in_folder = sum(len(files.ids(RECORD_TYPES[store])) for store in stores)
    known = DatabaseStatus(
        server=shown_address(address) if address else "",
        project=key,
        version=0,
        wanted=VERSION,
        in_folder=in_folder,
    )
    if not address:
        return known
    found = _ask_server(workspace, lambda connection: _project_on(connection, key, stores))
    return msgspec.structs.replace(known, **found)


def _project_on(
    connection: "Connection[Any]", key: str, stores: Sequence[str]
) -> Mapping[str, Any]:
    from pmem.storage.postgres.setting_up import is_stale, roles_of, version_of

    version = version_of(connection)
    if version == 0:
        return {}
    query = (
        "select revision, reading, (select count(*) from pmem.record"
        " where record.project = known.number and record.store = any(%s))"
        " from pmem.project as known where key = %s"
    )
    row = connection.execute(query, (stores, key)).fetchone()
    if row is None:
        return {"version": version}
    roles = roles_of(connection, key) if version >= 3 else {}
    revision, reading, records = row
    return {
        "version": version, "is_known": True, "is_stale": is_stale(reading),
        "revision": revision, "records": records, "roles": roles,
    }  # fmt: skip


def _migrated(workspace: Workspace, connection: "Connection[Any]") -> tuple[int, ...]:
    """Bring a server's tables up to date, and return the migrations that ran."""
    from pmem.storage.postgres.server import VERSION, shown_address
    from pmem.storage.postgres.setting_up import migrate, rewrite_stale, version_of

    found = version_of(connection)
    if found > VERSION:
        name = shown_address(workspace.settings.database)
        raise NewerSchema(f"{name} has schema {found}, and this pmem knows {VERSION}")
    ran = tuple(migrate(connection))
    rewrite_stale(connection)
    return ran


def _ask_server(workspace: Workspace, question: "Callable[[Connection[Any]], T]") -> T:
    from pmem.storage.postgres.server import Server

    settings = workspace.settings
    if not settings.database:
        raise InvalidValue(
            "no database is set",
            "set `database` in your own config.toml, or PMEM_DATABASE, to its address",
        )
    server = Server(settings.database, "", lambda: settings.lock_timeout, schema=False)
    try:
        with server.connection() as connection:
            return question(connection)
    finally:
        server.close()
