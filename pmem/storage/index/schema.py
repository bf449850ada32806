"""The tables of the index."""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from operator import itemgetter
from types import NoneType
from typing import Any, Final

VERSION: Final = 48
"""Another one makes every index anew: it changes whenever what is kept does."""

_RECORDS: Final = """
create table looked (store text primary key, at integer, names blob, stamps blob,
                     revision integer);
create table figure (store text, name text, revision integer, value text,
                     primary key (store, name)) without rowid;
create table record (number integer primary key, store text,
                     :columns);
create unique index record_by_id on record (store, id);
create index record_by_type on record (store, type, tokens, created, moment);
create index record_by_category on record (store, category, type);
create index record_by_importance on record (store, importance, worth, created, moment);
create index record_by_subject on record (store, subject, type, state);
create index record_by_validity on record (store, valid_from, valid_until, state, app);
create index record_by_noting on record (store, noting, trust, state);
create index record_by_use on record (store, used);
create index record_by_state on record (store, state) where state != 'active';
:sparse;
create index record_pinned on record (store, id) where pinned;
create index record_by_time on record (store, happened, events);
create index record_by_change on record (store, updated);
create index record_by_creation on record (store, created, state);
create table body (number integer primary key, data blob);
create table twin (key text, number integer, primary key (key, number)) without rowid;
create index twin_by_number on twin (number);
create table word (word text, number integer, primary key (word, number)) without rowid;
create table held (number integer primary key, words text);
create table mark (name text, number integer, primary key (name, number)) without rowid;
create index mark_by_number on mark (number);
create table tie (number integer, target text, rules text, holds integer,
                  primary key (number, target)) without rowid;
create index tie_by_target on tie (target);
create index tie_by_rules on tie (rules, holds);
create table counted (vocabulary text, key integer, tokens integer,
                      primary key (vocabulary, key)) without rowid;
create table place (patterns text, number integer,
                    primary key (patterns, number)) without rowid;
create index place_by_number on place (number);
create table cited (file text, number integer, primary key (file, number)) without rowid;
create index cited_by_number on cited (number);
create table problem (store text, record blob, code text, message blob,
                      primary key (store, record)) without rowid;
create table unposted (store text, id text, primary key (store, id)) without rowid
"""
"""What the index keeps of every record, once it was looked at."""

_DOCUMENTS: Final = """
create table posting (label text, term text, numbers blob, counts blob,
                      primary key (label, term));
create table document (number integer primary key, label text, store text, record text, id text,
                       length real, peak real, traits integer, session integer, place integer,
                       speaker text, at real, importance real, accesses integer, about text,
                       bounded integer, category text, procedural integer, app text, facts blob,
                       terms blob);
create index document_by_record on document (store, record);
create index document_counted on document (label, length, session, speaker) where length >= 0;
create index document_by_session on document (session, place) where session is not null;
create index document_by_category on document (category, procedural);
create index document_by_app on document (app) where app is not null;
create index document_bounded on document (number) where bounded;
create table link (source integer, target text, type text, strength real);
create index link_by_source on link (source);
create index link_by_target on link (target);
create table speaker (label text, name text, said integer, terms text,
                      primary key (label, name)) without rowid;
create table shared (id text, store text, record text,
                     primary key (id, store, record)) without rowid;
create index shared_by_record on shared (store, record);
create table total (label text primary key, documents integer, length real, sessions integer,
                    said integer, said_length real)
"""
"""What searches need of the records, once somebody searched."""


COUNTED: Final = {
    "count_by_label": ("state", "type", "category", "pinned", "importance"),
    "count_by_length": ("state", "tokens"),
    "count_by_day": ("state", "day"),
}
"""The tables that say how many memories have the same values of some columns."""
_SPARSE: Final = ("review_at", "review_if", "valid_until", "purge_at", "disputed", "cites", "app")
"""Columns with a value in few records, which are found by it."""


def rebuild(connection: sqlite3.Connection) -> None:
    """Make the tables anew, whatever was there, unless others have just made them."""
    from pmem.core.selection import STORED  # whoever asks for the version needs none of it

    columns = ", ".join(f"{name} {column.type}" for name, column in STORED.items())
    sparse = "create index record_by_{0} on record (store, {0}) where {0} is not null"
    tables = f"{_RECORDS.strip()};\n{_DOCUMENTS.strip()}".replace(":columns", columns)
    tables = tables.replace(":sparse", ";\n".join(map(sparse.format, _SPARSE)))
    tables += ";\n".join(
        f";\ncreate table {table} (store text, {', '.join(names)}, many integer,"
        f" primary key (store, {', '.join(names)})) without rowid"
        for table, names in COUNTED.items()
    )
    connection.execute("begin immediate")
    if connection.execute("pragma user_version").fetchone() == (VERSION,):
        connection.execute("rollback")
        return
    known = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
    for (name,) in known:
        connection.execute(f'drop table "{name}"')
    for statement in tables.split(";\n"):
        connection.execute(statement)
    connection.execute(f"pragma user_version = {VERSION}")
    connection.execute("commit")


@contextmanager
def filling(connection: sqlite3.Connection, *tables: str) -> Iterator[None]:
    """Fill empty tables in less time: what finds their rows is made when all of them are there."""
    query = (
        "select name, sql from sqlite_master where tbl_name = ? and type = 'index' and sql != ''"
    )
    found = [row for table in tables for row in connection.execute(query, (table,)).fetchall()]
    for name, _ in found:
        connection.execute(f'drop index "{name}"')
    yield
    for _, sql in found:
        connection.execute(sql)


_EXACT: Final = frozenset((int, float, str, bytes))


def insert(connection: sqlite3.Connection, table: str, rows: Iterable[list[Any]]) -> None:
    """Insert whole rows of more than one value each, of which many are nothing.

    Those that have the same types are inserted together, without what is nothing: to bind that,
    or what is only nearly a text or a number, takes longer than all the rest.
    """
    alike: defaultdict[tuple[type, ...], list[list[Any]]] = defaultdict(list)
    for row in rows:
        alike[tuple(map(type, row))].append(row)
    columns = [name for _, name, *_ in connection.execute(f"pragma table_info({table})")]
    for types, same in alike.items():
        held = [place for place, type_ in enumerate(types) if type_ is not NoneType]
        names = ", ".join(f'"{columns[place]}"' for place in held)
        query = f"insert into {table} ({names}) values ({', '.join('?' * len(held))})"
        odd = [
            (place, int if issubclass(types[place], int) else str)
            for place in held
            if types[place] not in _EXACT
        ]
        for place, exact in odd:
            for row in same:
                row[place] = exact(row[place])
        connection.executemany(query, map(itemgetter(*held), same))
