"""How a server answers what commands ask of it: the plans of their queries."""

import re
from collections.abc import Callable
from typing import Any
from unittest import mock

import psycopg

_TABLES = re.compile(r"Seq Scan on (record|document|posting|twin|word|cited|link|change|recall)\b")

Asked = tuple[str, Any]


def recorded(command: Callable[[], object]) -> list[Asked]:
    """Return the queries that a command makes, with their values."""
    asked: list[Asked] = []
    original = psycopg.Connection.execute

    def execute(connection: Any, query: Any, values: Any = None, **options: Any) -> Any:
        text = query.decode() if isinstance(query, bytes) else query
        if text.lstrip().startswith(("select", "with", "delete")) and "pmem." in text:
            asked.append((text, values))
        return original(connection, query, values, **options)

    with mock.patch.object(psycopg.Connection, "execute", execute):
        command()
    return asked


def scans(connection: Any, asked: list[Asked]) -> list[str]:
    """Return the queries that read a whole table which grows with the memory."""
    return [plan for plan in plans(connection, asked) if _TABLES.search(plan)]


def plans(connection: Any, asked: list[Asked]) -> list[str]:
    """Return queries, each with how the server answers it."""
    found = []
    for query, values in {f"{each}": each for each in asked}.values():
        with connection.transaction(force_rollback=True):
            rows = connection.execute(f"explain {query}".encode(), values).fetchall()
        found.append("\n".join([query, *(row[0] for row in rows)]))
    return found
