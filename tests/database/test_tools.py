"""Tools for models on a server: many calls at once, with a single connection."""

import os
from typing import Any

from pmem.memory.reading import ListRequest
from pmem.operations import table
from pmem.storage.postgres.server import Server
from tests.asking import ask
from tests.mcp.talking import request, talk, text_of
from tests.postgres import served


def test_many_calls_at_once_share_one_connection_and_give_it_back_after_a_no(
    root: str, narrow: Server
) -> None:
    with open(os.path.join(root, "config.toml"), "a", encoding="utf-8") as file:
        file.write(f'\ndatabase_project = "{narrow.project}"\nlock_timeout = 0.2\n')
    calls = [_call(number) for number in range(30)]
    answers = talk(
        root, *calls, tools="all", is_patient=False, environment={"PMEM_DATABASE": narrow.address}
    )
    refused = [answer["id"] for answer in answers if answer["result"].get("isError")]
    assert len(answers) == len(calls)
    assert sorted(refused) == [call["id"] for call in calls if call["id"] % 3 == 2]
    assert all("no record has" in text_of(a["result"]) for a in answers if a["id"] in refused)
    unit = served(root, narrow)
    assert len(ask(unit, table.LIST, ListRequest()).items) == 10


def _call(number: int) -> dict[str, Any]:
    """Return a call: something is added, asked for, or refused."""
    name, given = (
        ("add_to_memory", {"content": f"The service {number} listens on port {8000 + number}."}),
        ("search", {"query": "service"}),
        ("fetch", {"id": "mjwaid1q-00000000"}),
    )[number % 3]
    return {**request("tools/call", name=name, arguments=given), "id": number}
