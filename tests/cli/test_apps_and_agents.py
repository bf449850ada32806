"""What the commands for apps, agents and consent say, and what they never do unasked."""

import json
import os
import re
from typing import Any

import pytest

from tests.cli.shell import data_of as data
from tests.cli.shell import pmem


@pytest.fixture(autouse=True)
def _memory(root: str) -> None:
    """Work beside a memory."""


def test_a_damaged_state_is_named_and_doctor_moves_it_away(root: str) -> None:
    pmem("app", "remember", "mail", "The lift is broken.")
    path = f"{root}/local/state.sqlite3"
    with open(path, "wb") as file:
        file.write(b"no database at all")
    for line in ("app remember mail Tea", "app compact mail", "app list"):
        done = pmem(*line.split())
        assert done.code == 5
        assert path in done.said
        assert "pmem check --fix" in done.said
    wrong = pmem("check", "setup")
    assert (wrong.code, path in wrong.text) == (1, True)
    assert pmem("check", "setup", "--fix").code == 0
    assert os.path.exists(f"{path}.damaged-1")
    assert data("app", "list")["total"] == 1
    assert pmem("check", "setup").code == 0


BOT = {"PMEM_AGENT": "bot"}


def told(text: str) -> None:
    pmem("conversation", "start")
    pmem("conversation", "say", text)


@pytest.mark.parametrize("line", ["app purge calendar", "app uninstall calendar --purge"])
def test_nothing_is_deleted_for_good_where_nobody_can_be_asked(line: str) -> None:
    pmem("app", "remember", "calendar", "The lift is broken.")
    done = pmem(*line.split())
    assert done.code == 2
    assert "for good, and nobody can be asked\nhint: give --yes" in done.said
    assert data("app", "list", "calendar")["total"] == 1
    assert pmem(*line.split(), "--yes").code == 0
    assert data("app", "list", "calendar")["total"] == 0


@pytest.mark.parametrize("line", ["app purge calendar", "app uninstall calendar --purge"])
def test_every_count_is_of_the_memories_that_an_app_lists(line: str) -> None:
    for text in ("The lift is broken.", "The stairs are steep.", "Newsletters are archived."):
        pmem("app", "remember", "calendar", text)
    pmem("app", "delete", "calendar", data("app", "list", "calendar")["items"][0]["id"])
    assert data("app", "list", "calendar")["total"] == 2
    assert pmem("app", "uninstall", "calendar").text == "uninstalled calendar  2 memories kept\n"
    assert "deleted 2 memories, and 1 removed before" in pmem(*line.split(), "--yes").text


@pytest.mark.row("S0.5.6")
def test_an_app_that_is_uninstalled_without_its_memories_asks_nobody() -> None:
    pmem("app", "remember", "calendar", "The lift is broken.")
    assert pmem("app", "uninstall", "calendar").code == 0


@pytest.mark.parametrize("app", [(), ("--app", "calendar")])
def test_a_conversation_ends_whatever_an_agent_says_of_its_outcome(app: tuple[str, ...]) -> None:
    pmem("conversation", "start", *app)
    pmem("conversation", "say", "The launch moves to May.")
    done = pmem("conversation", "end", " The user lives in Quuxville ", "--json", environment=BOT)
    ended = json.loads(done.out)["data"]
    assert (done.code, ended["status"], ended["outcome"]) == (0, "ended", None)
    assert "the outcome is not kept" in done.said
    assert "Quuxville" not in done.said
    assert data("episode", "list")["total"] == 0
    known = pmem("conversation", "end", "-q", "x", "--conversation", ended["id"])
    assert (known.code, known.said) == (0, "")


def test_an_outcome_that_is_nobodys_is_kept_without_a_word() -> None:
    pmem("conversation", "start")
    done = pmem("conversation", "end", " The launch moves. ", "--json", environment=BOT)
    assert (json.loads(done.out)["data"]["outcome"], done.said) == ("The launch moves.", "")


def test_a_message_whose_fact_waits_says_that_and_not_what(root: str) -> None:
    pmem("conversation", "start")
    done = pmem("conversation", "say", "Remember that I live in Quuxville.")
    assert "city is remembered only with a person's consent" in done.said
    assert "pmem inbox accept" in done.said
    (held,) = data("conversation", "say", "Remember that my pronouns are they/them.")["held"]
    assert (held["kind"], held["field"], held["rejected"]) == ("consent", "pronouns", False)
    assert "they/them" not in json.dumps(held)


def test_promoting_a_fact_that_waits_says_so() -> None:
    told("Remember that I live in Quuxville.")
    (fact,) = data("inbox", "facts")["items"]
    for line in (("--above", "0"), (fact["id"],), (fact["id"], "--above", "0.1")):
        done = pmem("inbox", "accept", *line)
        assert done.code == 7
        assert done.said.startswith("city is remembered only with a person's consent: ")
        assert done.said.count("\n") == 1
        assert "Quuxville" not in done.said + done.text
    done = pmem("inbox", "accept", fact["id"], "--json")
    answer = json.loads(done.out)["data"]
    assert done.code == 7
    assert (answer["total"], [held["field"] for held in answer["held"]]) == (0, ["city"])
    assert pmem("inbox", "accept", "--above", "1").said == "nothing to promote\n"


def test_promoting_again_what_is_a_memory_says_that_alone() -> None:
    told("Remember that the kettle is on the shelf.")
    (fact,) = data("inbox", "facts", "--all")["items"]
    pmem("inbox", "accept", fact["id"])
    assert pmem("inbox", "accept", fact["id"]).said == "1 not promoted: a memory already\n"


def test_a_fact_that_a_person_has_rejected_says_so() -> None:
    told("Remember that I live in Quuxville.")
    (item,) = data("inbox", "proposals")["items"]
    pmem("inbox", "reject", item["id"])
    (fact,) = data("inbox", "facts", "--all")["items"]
    done = pmem("inbox", "accept", fact["id"])
    assert done.said == "a person has rejected this before (city)\n"
    assert data("conversation", "say", "Remember that I live in Quuxville.")["held"] == []


@pytest.mark.parametrize("verb", ["accept", "reject"])
def test_what_waits_is_decided_all_of_it_or_nothing_and_by_an_id_of_one(verb: str) -> None:
    told("We should use RabbitMQ because it routes by topic.")
    pmem("add", "The user lives in Quuxville.", "--agent", "bot")
    (fact,), (item,) = data("inbox", "facts")["items"], data("inbox", "proposals")["items"]
    both = fact["id"][:2]
    done = pmem("inbox", verb, both)
    short = fact["id"].rpartition("-")[2]
    assert done.said.startswith(f"pmem: {both!r} fits {item['short']}, {short}\n")
    for words in ((both,), (item["id"], "zzzz"), ("zzzz", item["id"])):
        assert pmem("inbox", verb, *words).code == 3
        assert data("inbox", "--list")["total"] == 2
    assert pmem("inbox", verb, item["id"], fact["id"]).code == 0
    assert data("inbox", "--list")["total"] == 0


def test_a_query_for_everything_prints_whole_texts_and_what_is_known_of_them() -> None:
    pmem("add", "The kettle is on the shelf.\nThe tea is beside it.", "--tag", "tea", "--pin")
    pmem("add", "The kettle is blue.", "--importance", "0.2")
    asked = b'{"query": "kettle", "return": "full"}'
    lines = pmem("query", stdin=asked).text.splitlines()
    start = lines.index("The kettle is on the shelf.")
    assert lines[start + 1] == "The tea is beside it."
    known = {
        line.partition(":")[0]: line.partition(":")[2].strip() for line in lines if ":" in line
    }
    assert known["kind"] == "memory"
    assert re.fullmatch(r"0\.\d\d|1\.00", known["score"])
    assert known.keys() >= {"type", "tags", "pinned", "importance", "created_at", "updated_at"}
    assert len(pmem("query", stdin=b'{"query": "kettle"}').text.splitlines()) == 2


def test_what_came_of_it_does_not_pass_for_the_last_speakers_words() -> None:
    pmem("conversation", "start", "--app", "calendar")
    pmem("conversation", "say", "The vendors must deliver by Friday.", "--speaker", "Tom")
    pmem("conversation", "end", "Thursday it is")
    (memory,) = data("app", "list", "calendar")["items"]
    assert memory["content"] == "Tom: The vendors must deliver by Friday. Outcome: Thursday it is."


def test_what_came_of_it_stands_alone_where_nothing_else_is_told() -> None:
    pmem("conversation", "start", "--app", "calendar")
    pmem("conversation", "end", "Thursday it is")
    (memory,) = data("app", "list", "calendar")["items"]
    assert memory["content"] == "Thursday it is."


def test_an_allowlist_that_names_an_unknown_category_is_noted() -> None:
    done = pmem("config", "set", "allowlists.planner", "goals,taks")
    assert (done.code, done.said) == (
        0,
        "allowlists name what no memory has and no setting knows: taks\n",
    )
    settings = {item["name"]: item for item in data("check", "setup")["setup"]["items"]}["settings"]
    assert (settings["ok"], settings["detail"].endswith("no setting knows: taks")) == (True, True)
    pmem("add", "The kettle is on the shelf.", "--category", "taks")
    assert pmem("config", "set", "allowlists.planner", "goals,taks").said == ""
    assert pmem("config", "set", "allowlists", "planner=goals taks,boss=goal").said.endswith(
        ": goal\n"
    )


def test_init_makes_no_memory_inside_a_memory(root: str) -> None:
    done = pmem("init", environment={"PMEM_DIR": root})
    assert (done.code, done.text) == (0, f"memory is ready: {root}\n")
    os.chdir(root)
    assert pmem("init").text == f"memory is ready: {root}\n"
    assert not os.path.exists(os.path.join(root, ".project-memory"))


def test_a_query_stands_in_the_log_of_operations() -> None:
    pmem("add", "The kettle is on the shelf.")
    pmem("query", stdin=b'{"query": "kettle"}')
    pmem("query", stdin=b'{"query": "teapot"}')
    ran = [(item["op"], item.get("status", "ok")) for item in data("log", "--operations")["items"]]
    assert ran[:2] == [("query", "skipped"), ("query", "ok")]


def test_an_export_into_a_folder_that_is_not_there_makes_none() -> None:
    done = pmem("export", "audit", "nowhere/at/all.jsonl")
    assert done.code == 3
    assert "there is no folder nowhere/at" in done.said
    assert not os.path.exists("nowhere")
    assert pmem("export", "audit", "trail.jsonl").code == 0


def test_a_history_tells_whole_reasons(root: str) -> None:
    from pmem import Project
    from pmem.model.models import Models

    why = "It is about a dentist who has moved away, " + "and so on " * 20 + "to the very end."

    def decide(given: Any) -> Any:
        return {"action": "delete", "targetMemoryId": given.memories[0].id, "reason": why}

    project = Project(root, apps={"limit": 1}, models=Models("mine", compaction=decide))
    first = project.apps.remember("calendar", "The dentist is on Tuesday.").memory
    assert first is not None
    project.apps.remember("calendar", "The review moves to Thursday.")
    assert why in pmem("log", first.id).text
