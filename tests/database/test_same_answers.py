"""A server and a folder that hold the same answer the same: scores, orders, contexts, bytes."""

import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from pmem.conversation.message_changes import MarkRequest, RemoveMessageRequest
from pmem.core.filters import Filter
from pmem.memory.reading import ListRequest
from pmem.memory.requests import AddRequest
from pmem.operations import table
from pmem.operations.operation import Operation
from pmem.project.caller import NOBODY, Caller
from pmem.project.workspace import Workspace
from pmem.search.context_request import ContextRequest
from pmem.search.hits import SearchRequest
from pmem.storage.postgres.server import Server
from pmem.upkeep.consolidation import UpkeepRequest
from pmem.upkeep.sync import SyncRequest
from pmem.values.fields import AtRequest
from pmem.values.records import dump_line
from tests.asking import ask
from tests.conftest import NOW
from tests.postgres import served
from tests.storage.folders import opened
from tests.storage.searches import AT, REQUESTS, TEXTS, fill

TALK = (
    "the queue is RabbitMQ since March", "orders are kept in PostgreSQL 17", "Ann reviews SQL",
    "deploys happen on Fridays at noon", "never retry a payment twice", "猫咪 likes the server",
    "the parser reads RFC 3339 times", "invoices are numbered per tenant", "tabs, not spaces",
    "the health check asks port 8080", "backups run at night", "flaky tests are quarantined",
)  # fmt: skip


@dataclass
class Both:
    """A memory folder, and a server that holds the same."""

    root: str
    server: Server

    def files(self, **settings: Any) -> Workspace:
        return Workspace(self.root, actor="tester", now=AT, overrides=dotted(settings))

    def postgres(self, **settings: Any) -> Workspace:
        return served(self.root, self.server, now=AT, **settings)

    def answers(
        self,
        operation: Operation[Any, Any],
        request: Any,
        caller: Caller = NOBODY,
        **settings: Any,
    ) -> tuple[Any, Any]:
        """Return what the folder and what the server answers."""
        return (
            ask(self.files(**settings), operation, request, caller),
            ask(self.postgres(**settings), operation, request, caller),
        )


def dotted(settings: dict[str, Any]) -> dict[str, Any]:
    return {name.replace("__", "."): value for name, value in settings.items()}


@pytest.fixture
def both(root: str, new_project: Callable[[], Server]) -> Both:
    """Return a folder of every kind of record, and a server that has the same."""
    fill(root)
    workspace = opened(root, now=NOW)
    chance = random.Random(7)
    for number in range(40):
        words = " and ".join(chance.sample(TALK, 2))
        category = ("knowledge", "tasks", "profile")[number % 3]
        ask(workspace, table.ADD, AddRequest(
            content=f"Note {number}: {words}", category=category, force=True,
            importance=number / 40, pinned=number % 13 == 0, tags=("a", "b")[: number % 3],
            app="shop" if number % 10 == 9 else None, subject=f"Topic {number % 7}",
        ))  # fmt: skip
    os.unlink(os.path.join(root, "local", "access.log"))  # each side counts its own recalls
    server = new_project()
    ask(served(root, server), table.SYNC, SyncRequest(conversations=True))
    return Both(root, server)


def test_every_search_ranks_and_scores_alike(both: Both) -> None:
    for request in REQUESTS:
        files, server = both.answers(table.SEARCH, request)
        assert files == server, request


QUERIES = ("apple river", "which queue", "when are deploys", "PostgreSQL", "port 8080 health", "猫")


def test_recall_on_our_own_data_is_the_same_to_the_last_bit(both: Both) -> None:
    for query in QUERIES:
        for ranking in ("structure", "weighted_sum"):
            request = SearchRequest(query=query, top_k=30)
            files, server = both.answers(table.SEARCH, request, ranking=ranking)
            assert repr(files.hits) == repr(server.hits)
            assert files.hits


@pytest.mark.some(1)
@pytest.mark.parametrize("budget", [120, 600, 4000])
def test_a_context_is_the_same_to_the_byte(both: Both, budget: int) -> None:
    for query in (None, *QUERIES):
        files, server = both.answers(table.CONTEXT, ContextRequest(query=query, budget=budget))
        assert files.text == server.text, query
        assert dump_line(files.to_plain()) == dump_line(server.to_plain()), query


FILTERS = (
    Filter(), Filter(tags=("a",)), Filter(app="shop"), Filter(pinned=True),
    Filter(subject="topic 3"), Filter(importance_min=0.5), Filter(created_before=NOW),
    Filter(categories=("tasks", "profile"), importance_max=0.7), Filter(states=()),
)  # fmt: skip


def test_lists_filter_and_order_alike(both: Both) -> None:
    for wanted in FILTERS:
        files, server = both.answers(table.LIST, ListRequest(wanted=wanted))
        assert files == server, wanted


def test_what_was_then_is_told_alike(both: Both) -> None:
    for ago in (timedelta(minutes=-1), timedelta(minutes=5), timedelta(days=90)):
        moment = AT + ago
        files, server = both.answers(table.SEARCH, SearchRequest(query="queue apple", at=moment))
        assert files == server, ago
        files, server = both.answers(table.STATS, AtRequest(at=moment))
        assert files == server, ago


def test_statistics_are_counted_alike(both: Both) -> None:
    files, server = both.answers(table.STATS, AtRequest())
    assert files == server


def test_an_allowlist_shows_an_agent_the_same(both: Both) -> None:
    lists = {"allowlists": {"planner": ("tasks",), "reader": ("knowledge", "activity")}}
    for agent in lists["allowlists"]:
        for query in QUERIES:
            request = SearchRequest(query=query, top_k=20)
            files, server = both.answers(table.SEARCH, request, Caller(agent), **lists)
            assert files == server
        asked = ContextRequest(query="queue", budget=900)
        files, server = both.answers(table.CONTEXT, asked, Caller(agent), **lists)
        assert files.text == server.text


def test_an_app_sees_the_same(both: Both) -> None:
    for query in QUERIES:
        request = SearchRequest(query=query, top_k=20)
        files, server = both.answers(table.SEARCH, request, Caller(app="shop"))
        assert files == server


def test_consolidating_plans_the_same(both: Both) -> None:
    request = UpkeepRequest(dry_run=True)
    files, server = both.answers(table.CONSOLIDATE, request)
    assert files == server


def test_a_delta_tells_a_thread_the_same_and_nothing_twice(both: Both) -> None:
    request = ContextRequest(query="queue", budget=900, thread="review-1")
    files, server = both.answers(table.CONTEXT, request)
    assert files.text == server.text
    ask(both.files(), table.ADD, AddRequest(content="The queue is new.", force=True))
    ask(both.postgres(), table.SYNC, SyncRequest())
    files, server = both.answers(table.CONTEXT, msgspec.structs.replace(request, query="new"))
    assert files.text == server.text
    assert "The queue is new." in files.text


def test_what_an_agent_proposes_waits_on_the_server_for_everybody(both: Both) -> None:
    agent = Caller("planner")
    held = AddRequest(content="The user lives in Graz.")
    assert ask(both.postgres(), table.ADD, held, agent).held is not None
    assert len(both.postgres().own.proposals.read().proposals) == 1
    assert both.files().own.proposals.read().proposals == ()


def test_a_message_is_pinned_and_its_text_removed_alike(both: Both) -> None:
    pinned, removed = "m-00000004", "m-00000005"
    marks = (
        MarkRequest(message=pinned, importance=0.9, pinned=True),
        MarkRequest(message=pinned, pinned=False),
    )
    for request in marks:
        files, server = both.answers(table.MARK, request)
        assert files == server
    query = SearchRequest(query=TEXTS[5], top_k=30)
    assert removed in repr(ask(both.postgres(), table.SEARCH, query).hits)
    going = RemoveMessageRequest(message=removed, reason="private")
    files, server = both.answers(table.REMOVE_MESSAGE, going)
    assert files == server
    assert files.message.content == ""
    here, there = (
        side.conversations.get(files.conversation) for side in (both.files(), both.postgres())
    )
    assert here == there
    files, server = both.answers(table.SEARCH, query)
    assert files == server
    assert removed not in repr(server.hits)
