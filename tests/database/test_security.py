"""An agent's role on a server reads and writes within its allowlist, whatever SQL it sends."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, get_type_hints

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pmem.conversation.conversations import SayRequest
from pmem.conversation.episodes import EpisodeRequest
from pmem.core.filters import Filter
from pmem.errors import PmemError, Refused
from pmem.memory.reading import ListRequest
from pmem.memory.requests import AddRequest
from pmem.operations import table
from pmem.project.caller import Caller
from pmem.search.context_request import ContextRequest
from pmem.search.hits import SearchRequest
from pmem.storage.postgres.server import Server
from pmem.storage.postgres.setting_up import role_name
from pmem.upkeep.database import DatabaseRequest
from pmem.upkeep.integrity import CheckRequest
from tests.asking import ask
from tests.conftest import NOW
from tests.postgres import TestDatabase, served

SECRET = "The merger closes in May."
OPEN = "Ship the parser on Friday."
LISTS = {"planner": ("tasks",), "reader": ("knowledge",)}


_OF_SECRET = " from pmem.record where project = {project} and kind = 'knowledge'"
HIDDEN = (
    "insert into pmem.proposal (project, id, body) values ({project}, 'p', 'the merger')",
    "insert into pmem.decision (project, body) values ({project}, 'the merger')",
    f"insert into pmem.recall (project, at, ids, counts) select project, now(), array[id], '{{1}}'"
    f"{_OF_SECRET}",
    f"insert into pmem.place select project, 'merger/**', number{_OF_SECRET}",
    f"insert into pmem.cited select project, 'merger', number{_OF_SECRET}",
    f"insert into pmem.mark select 'merger', number{_OF_SECRET}",
    "insert into pmem.link select project, number, 'merger', 'x', 1 from pmem.document"
    " where project = {project} and category = 'knowledge'",
    "insert into pmem.shared select project, 'merger', store, record from pmem.document"
    " where project = {project} and category = 'knowledge'",
    "insert into pmem.speaker values ({project}, 'memory', 'merger', 1)",
    "insert into pmem.figure values ({project}, 'long-term-memory', 'x', 1, 'merger')",
    "insert into pmem.judged values ({project}, 'merger', now())",
    f"insert into pmem.twin select 'merger', number{_OF_SECRET}",
    "insert into pmem.store values ({other}, 'merger', 1)",
    "insert into pmem.total values ({other}, 'merger', 1, 1, 1, 1, 1)",
    "update pmem.consent_key set key = 'merger' where project = {other}",
    "insert into pmem.app_energy values ({other}, 7777777, now(), 0, 0)",
    "insert into pmem.app_work values ({other}, default, 'merger', 'x', 'y', now(), '', 0, '{}')",
    "insert into pmem.app_context values ({other}, 'y', 'merger')",
    "insert into pmem.app_gone values ({other}, 'merger', now())",
)
"""What an agent sees nothing of in each table: other people's work, and another project."""


class Agent:
    """A login that is nothing but the agent `planner` of one project."""

    def __init__(self, root: str, person: Server, address: str) -> None:
        self.root, self.person = root, person
        self.server = Server(address, person.project, lambda: 5.0)
        self.connection = psycopg.connect(address, autocommit=True)
        self.project = person.number

    def ask(self, operation: Any, request: Any, **settings: Any) -> Any:
        workspace = served(self.root, self.server, allowlists=LISTS, **settings)
        return ask(workspace, operation, request, Caller("planner"))


@pytest.fixture
def agent(
    root: str, new_project: Callable[[], Server], test_database: TestDatabase
) -> Iterator[Agent]:
    person = new_project()
    workspace = served(root, person, allowlists=LISTS)
    ask(workspace, table.DATABASE_INIT, DatabaseRequest(apps=("Shop",)))
    for content, category in ((SECRET, "knowledge"), (OPEN, "tasks")):
        ask(workspace, table.ADD, AddRequest(content=content, category=category, force=True))
    workspace.own.checkpoints.save("quiet-thread", "", b'{"secret": 1}', NOW)
    workspace.own.threads.advance("quiet-thread", [7777777])
    other = Server(test_database.address, test_database.new_project("merger"), lambda: 5.0)
    role = role_name(person.project, "agent", "planner")
    login = f"bot_{os.urandom(4).hex()}"
    with psycopg.connect(test_database.address, autocommit=True) as admin:
        for query in HIDDEN:
            numbered = query.replace("{project}", str(person.number))
            admin.execute(numbered.replace("{other}", str(other.number)).encode())
        other.close()
        admin.execute(f"create role {login} login in role {role}")
        made = Agent(root, person, make_conninfo(test_database.address, user=login))
        yield made
        made.connection.close()
        made.server.close()
        admin.execute(f"drop role {login}")


def test_an_agent_works_within_its_allowlist_over_a_connection_of_its_own(agent: Agent) -> None:
    listed = agent.ask(table.LIST, ListRequest())
    assert [memory.content for memory in listed.items] == [OPEN]
    found = agent.ask(table.SEARCH, SearchRequest(query="merger parser"))
    assert [hit.text for hit in found.hits] == [OPEN]
    assert SECRET not in agent.ask(table.CONTEXT, ContextRequest(query="merger", budget=900)).text
    added = agent.ask(table.ADD, AddRequest(content="Test the lexer.", category="tasks"))
    assert added.action == "added"
    with pytest.raises(Refused):
        agent.ask(table.ADD, AddRequest(content="Sell the lexer.", category="knowledge"))
    assert SECRET in repr(ask(served(agent.root, agent.person), table.LIST, ListRequest()))


READS = (
    "select data from pmem.record",
    "select body::text from pmem.record",
    "select body ->> 'content' from pmem.record where kind = 'knowledge'",
    "select id from pmem.record where body::text like '%merger%'",
    "table pmem.record",
    "select facts from pmem.document",
    "select array_to_string(terms, ' ') from pmem.document",
    "select term from pmem.posting",
    "select document from pmem.posting where term = 'merger'",
    "select word from pmem.word",
    "select encode(key, 'escape') from pmem.twin",
    "select key from pmem.project",
    "select key from pmem.consent_key",
    "select name from pmem.store",
    "select label from pmem.total",
    "select level from pmem.app_energy",
    "select app from pmem.app_work",
    "select app from pmem.app_context",
    "select app from pmem.app_gone",
    "select id from pmem.change",
    "select convert_from(checkpoint_data, 'UTF8') from pmem.supervisor_checkpoints",
    "select thread_id from pmem.thread_revision",
    "select fingerprint::text from pmem.thread_seen",
    "select body from pmem.proposal",
    "select body from pmem.decision",
    "select ids::text from pmem.recall",
    "select name from pmem.speaker",
    "select target from pmem.link",
    "select value from pmem.figure",
    "select name from pmem.mark",
    "select patterns from pmem.place",
    "select encode(path, 'escape') from pmem.cited",
    "select encode(id, 'escape') from pmem.shared",
    "select pair from pmem.judged",
    "select role from pmem.access",
    "select r.data from pmem.record r join pmem.document d on d.record = r.id",
    "with x as materialized (select * from pmem.record) select data from x",
    "select data from pmem.record for update",
    "select data from pmem.record where 1 / (case when kind = 'knowledge' then 0 else 1 end) = 1",
    "copy pmem.record to stdout",
    "explain (analyze, verbose) select * from pmem.record",
    "select most_common_vals::text from pg_stats where schemaname = 'pmem'",
    "set role pmem_member",
    "set role tester",
    "set session authorization tester",
    "set row_security = off; select data from pmem.record",
    "select pg_read_file('/etc/passwd')",
    "create view pmem.mine as select * from pmem.record",
    "create function pmem.leak() returns text language sql security definer as 'select 1'",
)


@pytest.mark.some(15)
@pytest.mark.parametrize("query", READS)
def test_no_sql_of_its_own_reads_what_lies_beyond(agent: Agent, query: str) -> None:
    shown = ""
    try:
        for part in query.split("; "):
            with agent.connection.cursor() as cursor:
                if part.startswith("copy"):
                    with cursor.copy(part.encode()) as copied:
                        shown += repr(b"".join(map(bytes, copied)))
                elif cursor.execute(part.encode()).description:
                    shown += repr(cursor.fetchall())
    except psycopg.Error as error:
        shown += str(error)
    texts = ("merger", "May.", '"secret"', "quiet-thread", "7777777")
    assert not any(text in shown for text in texts if f"'{text}'" not in query)
    hidden = ids(agent, "knowledge")
    assert not any(identifier in shown for identifier in hidden)
    assert query.startswith(("select id", "explain")) or "knowledge" not in shown


WRITES = (
    "delete from pmem.record",
    "update pmem.record set data = '{}'",
    "update pmem.record set data = convert_to(replace(convert_from(data, 'UTF8'),"
    " '\"tasks\"', '\"knowledge\"'), 'UTF8') where kind = 'tasks'",
    "insert into pmem.record (project, store, id, data, body) values ({project},"
    " 'long-term-memory', 'mjwaid1q-00000077',"
    ' \'{"id": "mjwaid1q-00000077", "category": "knowledge"}\', \'null\')',
    "insert into pmem.record (project, store, id, data, body) values ({project},"
    " 'episodic-memory', 'mjwaid1q-00000078', '{\"id\": \"mjwaid1q-00000078\"}', 'null')",
    "delete from pmem.document",
    "delete from pmem.posting",
    "update pmem.posting set count = 1e9",
    "delete from pmem.twin",
    "delete from pmem.supervisor_checkpoints",
    "update pmem.supervisor_checkpoints set checkpoint_data = 'x'",
    "update pmem.thread_revision set revision = 99",
    "delete from pmem.thread_seen",
    "update pmem.access set categories = null",
    "insert into pmem.access (role, project) values (current_user, {project})",
    "update pmem.project set revision = 0",
    "delete from pmem.project",
    "delete from pmem.change",
    "update pmem.total set documents = 0",
    "delete from pmem.schema_version",
    "select pmem.note_changes(array[{project}], array['x'], array['y'], array[null::bytea])",
    "alter table pmem.record disable row level security",
    "drop policy agent on pmem.record",
    "grant pmem_member to current_user",
    "truncate pmem.record cascade",
)


@pytest.mark.parametrize("query", WRITES)
def test_no_sql_of_its_own_writes_what_lies_beyond(agent: Agent, query: str) -> None:
    before = state(agent)
    wrong = None
    try:
        agent.connection.execute(query.replace("{project}", str(agent.project)).encode())
    except psycopg.Error as error:
        wrong = error.sqlstate
    assert wrong != "42601", "the test's own SQL is wrong"
    assert before == state(agent)


def ids(agent: Agent, kind: str) -> list[str]:
    with agent.person.connection() as connection:
        query = "select id from pmem.record where project = %s and kind = %s"
        return [id_ for (id_,) in connection.execute(query, (agent.project, kind))]


def state(agent: Agent) -> Any:
    """Return everything that lies beyond the agent."""
    queries = (
        "select id, data from pmem.record where project = %s and kind <> 'tasks' order by id",
        "select number, facts from pmem.document where project = %s and category <> 'tasks'",
        "select count(*) from pmem.posting join pmem.document on number = document"
        " and document.project = posting.project where posting.project = %s"
        " and category <> 'tasks'",
        "select checkpoint_data from pmem.supervisor_checkpoints where project = %s",
        "select thread_id, revision from pmem.thread_revision where project = %s",
        "select fingerprint from pmem.thread_seen where project = %s",
        "select role, categories, apps from pmem.access where project = %s order by role",
        "select count(*) from pmem.project where number = %s",
        "select count(*) > 0 from pmem.change where project = %s",
        "select count(*) from pg_policies where schemaname = 'pmem' and %s > 0",
        "select count(*) from pmem.schema_version where %s > 0",
    )
    with agent.person.connection() as connection:
        return [connection.execute(one.encode(), (agent.project,)).fetchall() for one in queries]


def test_an_allowlist_that_is_taken_away_shuts_the_role_out(agent: Agent) -> None:
    workspace = served(agent.root, agent.person, allowlists={"reader": ("knowledge",)})
    ask(workspace, table.DATABASE_INIT, DatabaseRequest())
    rows = agent.connection.execute("select id from pmem.record").fetchall()
    assert rows == []
    rows = agent.connection.execute("select key from pmem.project").fetchall()
    assert rows == []


def test_the_role_of_an_app_sees_no_other_app(agent: Agent, test_database: TestDatabase) -> None:
    people = served(agent.root, agent.person)
    for app in ("shop", "crm"):
        ask(people, table.ADD, AddRequest(content=f"Kept by {app}.", app=app, force=True))
    role = role_name(agent.person.project, "app", "shop")
    with psycopg.connect(test_database.address, autocommit=True) as admin:
        admin.execute(f"set role {role}".encode())
        query = "select body ->> 'content' from pmem.record where project = %s"
        found = {text for (text,) in admin.execute(query, (agent.project,))}
    assert "Kept by shop." in found
    assert "Kept by crm." not in found


def test_roles_that_a_backup_does_not_have_are_made_again(
    agent: Agent, test_database: TestDatabase
) -> None:
    key = agent.person.project
    roles = [role_name(key, "app", "shop"), role_name(key, "agent", "reader")]
    query = (
        "select array_agg(rolname order by rolname)::text[] from pg_roles where rolname = any(%s)"
    )
    with psycopg.connect(test_database.address, autocommit=True) as admin:
        for role in roles:
            admin.execute(f"drop role {role}".encode())
        ask(
            served(agent.root, agent.person, allowlists=LISTS),
            table.DATABASE_INIT,
            DatabaseRequest(),
        )
        assert admin.execute(query, (roles,)).fetchone() == (sorted(roles),)


def _texts_in(struct: Any, text: str) -> Iterator[dict[str, Any]]:
    """Yield the text in each field that can hold one, by itself or in a list."""
    for name, type_ in get_type_hints(struct).items():
        for value, fits in (
            (text, type_ in (str, str | None)),
            ((text,), "tuple[str" in str(type_)),
        ):
            if fits:
                yield {name: value}


@pytest.mark.parametrize("text", ["'; drop table pmem.record; -- %s %(x)s $1 \\' \" $$", "\x00'%"])
def test_sql_in_each_field_is_only_text(
    root: str, new_project: Callable[[], Server], text: str
) -> None:
    server = new_project()
    asked: list[tuple[Any, Any]] = [
        (table.ADD, AddRequest(**{"content": f"Number {number}.", "force": True, **field}))
        for number, field in enumerate(_texts_in(AddRequest, text))
    ]
    asked += [
        (table.ADD_EPISODE, EpisodeRequest(**{"summary": "It went well.", **field}))
        for field in _texts_in(EpisodeRequest, text)
    ]
    asked += [
        (table.SAY, SayRequest(**{"role": "user", "content": "Hello.", **field}))
        for field in _texts_in(SayRequest, text)
    ]
    for field in _texts_in(Filter, text):
        asked.append((table.LIST, ListRequest(wanted=Filter(**field))))
        asked.append((table.SEARCH, SearchRequest(query=text, wanted=Filter(**field))))
    kept = 0
    for operation, request in asked:
        with suppress(PmemError):
            ask(served(root, server), operation, request)
            kept += operation is table.ADD
    assert kept > 5
    assert len(ask(served(root, server), table.LIST, ListRequest()).items) >= kept
    assert ask(served(root, server), table.CHECK, CheckRequest()).findings == ()
