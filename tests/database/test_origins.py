"""Who wrote each record on a server, and that what was changed beside pmem is told."""

from collections.abc import Callable

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pmem.core.trust import RecordOrigin
from pmem.errors import Refused
from pmem.memory.changes import RecordsRequest
from pmem.memory.reading import ListRequest, ShowRequest
from pmem.memory.requests import AddRequest, EditRequest
from pmem.operations import table
from pmem.search.context_request import ContextRequest
from pmem.search.hits import SearchRequest
from pmem.storage.postgres.server import Server
from pmem.storage.postgres.setting_up import rewrite_stale
from pmem.upkeep.origins import OriginRequest, OriginsChecked
from tests.asking import ask
from tests.postgres import TestDatabase, served

CHANGED = (
    "update pmem.record set given = {given},"
    " data = replace(convert_from(data, 'UTF8'), '40', '99')::bytea"
    " where project = %s and convert_from(data, 'UTF8') like '%%is 40%%'"
)
FORGED = "update pmem.record set writer = 'postgres', given = sha256('') where project = %s"


def checked(root: str, server: Server) -> OriginsChecked:
    found: OriginsChecked = ask(served(root, server), table.CHECK_ORIGINS, OriginRequest())
    return found


@pytest.mark.parametrize("given", ["given", "null"])
def test_what_was_changed_beside_pmem_is_told_marked_and_accepted(
    given: str, root: str, new_project: Callable[[], Server], test_database: TestDatabase
) -> None:
    server = new_project()
    memory = ask(served(root, server), table.ADD, AddRequest(content="The limit is 40")).memory
    ask(served(root, server), table.ADD, AddRequest(content="Water is wet"))
    assert checked(root, server).origins == {RecordOrigin.WRITTEN: 2}
    with psycopg.connect(test_database.address, autocommit=True) as admin:
        (me,) = admin.execute("select session_user").fetchone() or ("",)
        admin.execute("create role other_hand login in role pmem_member")
    try:
        address = make_conninfo(test_database.address, user="other_hand")
        with psycopg.connect(address, autocommit=True) as other:
            other.execute(CHANGED.format(given=given).encode(), (server.number,))
        found = checked(root, server)
        assert found.origins == {RecordOrigin.WRITTEN: 1, RecordOrigin.OUTSIDE: 1}
        assert found.writers == {me: 1, "other_hand": 1}
        (finding,) = found.findings
        assert 'by other_hand: it says "The limit is 99"' in finding.message
        with psycopg.connect(test_database.address, autocommit=True) as admin:
            admin.execute("update pmem.project set reading = 0 where number = %s", (server.number,))
            rewrite_stale(admin)
        assert checked(root, server).findings == found.findings
        told = ask(served(root, server), table.CONTEXT, ContextRequest(query="limit", budget=900))
        assert "(changed outside pmem) The limit is 99" in told.text
        for treats, shown in (("mark", True), ("hide", False)):
            workspace = served(root, server, trust__unreviewed=treats)
            hits = ask(workspace, table.SEARCH, SearchRequest(query="limit")).hits
            assert [hit.origin for hit in hits] == [RecordOrigin.OUTSIDE] * shown
            listed = ask(workspace, table.LIST, ListRequest())
            assert len(listed.items) == 1 + shown
        assert ask(served(root, server), table.SHOW, ShowRequest(reference=memory.id)).origin
        ask(served(root, server), table.TAKE, RecordsRequest(references=(memory.id,)))
        assert checked(root, server).findings == ()
    finally:
        with psycopg.connect(test_database.address, autocommit=True) as admin:
            admin.execute("drop role other_hand")


def test_nobody_says_who_wrote_it(
    root: str, new_project: Callable[[], Server], test_database: TestDatabase
) -> None:
    server = new_project()
    memory = ask(served(root, server), table.ADD, AddRequest(content="The limit is 40")).memory
    before = checked(root, server).writers
    with psycopg.connect(test_database.address, autocommit=True) as admin:
        admin.execute(FORGED, (server.number,))
    found = checked(root, server)
    assert (found.writers, found.origins) == (before, {RecordOrigin.OUTSIDE: 1})
    ask(
        served(root, server),
        table.EDIT,
        EditRequest(reference=memory.id, content="The limit is 41"),
    )
    assert checked(root, server).origins == {RecordOrigin.WRITTEN: 1}


def test_nothing_on_a_server_was_reviewed(root: str, new_project: Callable[[], Server]) -> None:
    with pytest.raises(Refused, match="only of files in git"):
        ask(served(root, new_project()), table.LIST, ListRequest(reviewed=True))
