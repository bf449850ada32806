"""Searching a server: what ranking asks of documents, answered by SQL.

Postings come as two packed columns, put together by the server: a common word has many.
"""

import re
import sys
from array import array
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from pmem.core.retrieval.collection import LAST
from pmem.storage.index.search import SearchIndex
from pmem.storage.postgres.selecting import clean_value

if TYPE_CHECKING:
    from psycopg import Connection

POSTINGS: Final = (
    "select string_agg(int8send(document), ''), string_agg(float8send(count), '')"
    " from (select document, count from pmem.posting where project = %(project)s and label {}"
    " and term = %(term)s order by document) as held"
)
_BEGINNING: Final = """
with recursive found (label, stop, term) as (
  select label, stop, (select term from pmem.posting where project = %(project)s
    and posting.label = asked.label and term >= start and term < stop
    order by term limit 1) from unnest(%(labels)s::text[]) as asked (label),
    unnest(%(starts)s::text[], %(stops)s::text[]) as begun (start, stop)
  union all
  select label, stop, (select term from pmem.posting where project = %(project)s
    and posting.label = found.label and posting.term > found.term and term < found.stop
    order by term limit 1) from found where found.term is not null
) select distinct term from found where term is not null
"""
"""From one term to the next: a common one has many postings, which need not be looked at."""
_BODIES: Final = """
select one.number, one.store, one.record, one.id, record.data
    from @document as one join @record on record.store = one.store and record.id = one.record
    where one.number among :numbers
"""
_TABLE: Final = re.compile(r"@(\w+)(?: as (\w+))?")
_WORDS: Final = (
    (re.compile(r"not among :(\w+)"), r"!= all(%(\1)s)"),
    (re.compile(r"among :(\w+)"), r"= any(%(\1)s)"),
    (re.compile(r"each of :(\w+)"), r"unnest(%(\1)s::bigint[]) as each (value)"),
    (re.compile(r"(?<!:):(\w+)"), r"%(\1)s"),
    (re.compile(r"cross join"), "join"),
)
"""What SQLite is asked, in the other's words."""


class ServerPool(SearchIndex):
    """The documents of a project on a server, as of one moment; a pool to search.

    Of several searches of one moment each asks the same again: what was answered is kept.
    """

    bodies = _BODIES

    def __init__(self, connection: "Connection[Any]", project: int) -> None:
        super().__init__(connection)
        self._project = project
        self._known: dict[str, list[Any]] = {}

    def rows(self, query: str, **asked: Any) -> list[Any]:
        """Return the rows of a query that is put into the server's words."""
        return self._rows(_of_server(query, self._project), asked)

    def has_links(self) -> bool:
        """Leave it open: the question would cost a server as much as the answer."""
        return True

    def postings(self, labels: Sequence[str], term: str) -> Mapping[int, float]:
        among, asked = (
            ("= any(%(labels)s)", labels) if len(labels) > 1 else ("= %(labels)s", labels[0])
        )
        query = POSTINGS.format(among)  # of one label, the index has them in order
        values = {"project": self._project, "labels": asked, "term": term}
        ((packed, counts),) = self._rows(query, values)
        if packed is None:
            return {}
        return dict(zip(_unpacked("q", packed), _unpacked("d", counts), strict=True))

    def beginning(self, labels: Sequence[str], starts: Sequence[str]) -> Sequence[str]:
        stops = [start + LAST for start in starts]
        asked = {"project": self._project, "labels": labels, "starts": list(starts), "stops": stops}
        return [term for (term,) in self._rows(_BEGINNING, asked)]

    def _rows(self, query: str, asked: Mapping[str, Any]) -> list[Any]:
        key = f"{query} {asked}"
        if key not in self._known:
            values = {name: clean_value(value) for name, value in asked.items()}
            rows = self._connection.execute(query.encode(), values, binary=True)
            self._known[key] = rows.fetchall()
        return self._known[key]


@cache
def _of_server(query: str, project: int) -> str:
    def table(found: re.Match[str]) -> str:
        name = found[1]
        return f"(select * from pmem.{name} where project = {project}) as {found[2] or name}"

    query = _TABLE.sub(table, query)
    for words, others in _WORDS:
        query = words.sub(others, query)
    return query


def _unpacked(kind: str, packed: bytes) -> "array[Any]":
    numbers = array(kind, packed)
    if sys.byteorder == "little":
        numbers.byteswap()
    return numbers
