"""The page that the server shows: its empty shell for anybody, and all that its script asks for."""

import sys
from unittest import mock

import pytest

from pmem import Project
from tests.http.serving import Asked, asking
from tests.http.test_recall_api import allow


def test_anybody_may_load_the_shell_which_holds_nothing_of_the_memory(ask: Asked) -> None:
    Project(ask.served.opened().root).add("The queue is RabbitMQ.")
    shell = ask.client.get("/")
    assert shell.status_code == 200
    assert shell.headers["Content-Type"].startswith("text/html")
    assert 'data-live="/pmem/1/"' in shell.text
    assert "RabbitMQ" not in shell.text
    assert shell.headers["Cache-Control"] == "no-store"


def test_the_shell_runs_its_own_script_and_stands_in_no_frame(ask: Asked) -> None:
    (policy,) = ask.client.get("/").headers.get_list("Content-Security-Policy")
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert parts["default-src"] == parts["frame-ancestors"] == "'none'"
    assert parts["connect-src"] == "'self'"
    assert parts["script-src"].startswith("'sha256-")


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {"Host": "evil.example"}, 421),
        ("GET", {"Origin": "http://evil.example"}, 403),
        ("HEAD", {}, 200),
        ("POST", {"Content-Type": "application/json"}, 405),
    ],
)
def test_the_shell_is_guarded_like_the_rest_but_for_the_token(
    method: str, headers: dict[str, str], status: int, ask: Asked
) -> None:
    assert ask.client.request(method, "/", headers=headers).status_code == status


def test_a_server_that_writes_nothing_has_all_that_the_page_shows(root: str) -> None:
    Project(root).add("The queue is RabbitMQ.")
    with asking(root, read_only=True) as ask:
        assert ask.run("report")["memories"][0]["text"] == "The queue is RabbitMQ."
        assert ask.run("inbox", {"kinds": ["fact"], "limit": 200})["items"] == []
        (memory,) = ask.run("list")["items"]
        refused = ask("POST", "/pmem/1/pin", {"reference": memory["id"]})
        assert refused.status_code == 403


def test_no_token_of_an_app_opens_the_page_and_an_agents_only_without_allowlists(
    root: str, ask: Asked
) -> None:
    statuses = [ask("POST", "/pmem/1/report", {}, who=who).status_code for who in ("agent", "app")]
    assert statuses == [200, 403]
    allow(root, "project")
    assert ask("POST", "/pmem/1/report", {}, who="agent").status_code == 403


def test_without_the_extra_the_page_says_what_to_install(ask: Asked) -> None:
    gone: dict[str, None] = {"jinja2": None, "pmem.report.page": None}
    with mock.patch.dict(sys.modules, gone):
        answer = ask.client.get("/")
    assert answer.status_code == 501
    assert "pip install 'pmem-cli[report]'" in answer.text
