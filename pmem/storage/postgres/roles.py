"""Roles of agents and apps on a server, which row-level security holds to their categories."""

import re
from collections.abc import Collection, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from pmem.storage.postgres.selecting import clean

if TYPE_CHECKING:
    from psycopg import Connection

_PLAIN: Final = re.compile(r"[^a-z0-9]+")
_MOST: Final = 30
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
    nothing is written: that much everybody may ask for.

    Args:
        connection: As somebody who may make roles.
        key: The project's key.
        allowlists: The categories that each agent sees.
        apps: The apps.
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
    """Return the roles of a project's agents and apps, and whom they are for.

    Args:
        connection: As somebody who may see them; who may not sees none.
        key: The project's key.
    """
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
    """Return what a role is called: roles are those of all databases of a server.

    Args:
        key: The project's key.
        kind: What it is for: `agent` or `app`.
        name: Its name.
    """
    plain = _PLAIN.sub("_", name.lower()).strip("_")[:_MOST]
    if plain != name:
        plain = f"{plain}_{blake2b(name.encode(), digest_size=4).hexdigest()}"
    return f"pmem_{key.rpartition('-')[2][:8]}_{kind}_{plain}"
