"""What people type, with a server as the model that answers well, and one that does not."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.faults.console import pmem
from tests.model.serving import ChatServer, served

DAY = "2026-11-21T14:30:00Z"
LATER = "2026-11-22T10:00:00Z"
NEXT_DAY = "2026-11-22T15:00:00Z"


@pytest.fixture
def server(root: str) -> Iterator[ChatServer]:
    with served() as running:
        running.mode = "perfect"
        yield running


def run(server: ChatServer, *words: str, now: str = DAY, **more: str) -> Any:
    environment = {
        "PMEM_NOW": now,
        "PMEM_ACTOR": "ada",
        "PMEM_MODEL_URL": f"http://127.0.0.1:{server.server_port}/v1",
        "PMEM_MODEL_NAME": "fake",
        "PMEM_MODEL_TIMEOUT": "2",
        **more,
    }
    return pmem(*words, environment=environment)


def talk(server: ChatServer, text: str, *end: str, **more: str) -> Any:
    assert run(server, "conversation", "start", "--app", "mail").code == 0
    assert run(server, "conversation", "say", text, "--speaker", "Ben").code == 0
    return run(server, "conversation", "end", *end, **more)


def contents(server: ChatServer) -> list[str]:
    found = run(server, "app", "list", "mail", "--json").data["items"]
    return [item["content"] for item in found]


def overfull(server: ChatServer, mode: str = "perfect") -> Any:
    limit = {"PMEM_APPS_LIMIT": "2"}
    for text in ("Ben likes tea.", "Ada likes rye bread."):
        assert run(server, "app", "remember", "mail", text, **limit).code == 0
    server.mode = mode
    done = run(server, "app", "remember", "mail", "Cleo likes figs.", **limit)
    assert done.code == 0
    return done


@pytest.mark.row("S0.2.6", "S0.6.1")
def test_a_conversation_that_ends_leaves_what_the_model_says(server: ChatServer) -> None:
    done = talk(server, "Ben reads mail in the morning only.")
    assert done.code == 0
    assert contents(server) == ["The talk was about this: Ben reads mail in the morning only."]
    energy = run(server, "app", "stats", "--json").data["energy"]
    assert energy["spent"] == 12


@pytest.mark.row("S0.3.5")
def test_past_the_limit_the_model_decides_with_a_reason(server: ChatServer) -> None:
    assert "both are kept in one" in overfull(server).err
    assert "Ben likes tea. Ada likes rye bread." in contents(server)
    assert len(contents(server)) == 2


@pytest.mark.row("S0.7.6")
@pytest.mark.parametrize("mode", ["half", "wrong", "hang", "crash", "invented", "overloaded"])
def test_where_the_decision_fails_the_oldest_goes(server: ChatServer, mode: str) -> None:
    assert "it is the oldest" in overfull(server, mode).err
    assert sorted(contents(server)) == ["Ada likes rye bread.", "Cleo likes figs."]


@pytest.mark.row("S0.7.1")
def test_a_model_that_fails_costs_no_conversation_its_end(server: ChatServer) -> None:
    server.mode = "hang"
    done = talk(server, "Ben reads mail in the morning only.", "--json")
    assert done.code == 0
    assert done.data["status"] == "ended"
    assert contents(server) == ["Ben: Ben reads mail in the morning only."]


def test_settings_that_do_not_fit_cost_nothing_but_a_sentence(server: ChatServer) -> None:
    done = talk(
        server, "Ben reads mail in the morning only.", PMEM_MODEL_KEY_VARIABLE="NO_SUCH_KEY"
    )
    assert done.code == 0
    assert "NO_SUCH_KEY, which is not set" in done.err
    assert contents(server) == ["Ben: Ben reads mail in the morning only."]
    assert run(server, "consolidate", PMEM_MODEL_KEY_VARIABLE="NO_SUCH_KEY").code == 0


def test_strict_is_exit_8_and_the_rules_have_done_their_part(server: ChatServer) -> None:
    server.mode = "half"
    done = talk(server, "Ben reads mail in the morning only.", "--strict-model", "--json")
    assert done.code == 8
    assert done.out == b""
    assert '"code":"model"' in done.err
    assert contents(server) == ["Ben: Ben reads mail in the morning only."]


@pytest.mark.parametrize("setting", ["PMEM_MODEL_COMMAND", "PMEM_MODEL_USE"])
def test_a_program_that_is_not_there_costs_neither_energy_nor_calls(
    setting: str, server: ChatServer
) -> None:
    gone = {"PMEM_MODEL_URL": "", setting: "codex", "PATH": "/nowhere"}
    done = talk(server, "Ben reads mail in the morning only.", **gone)
    assert done.code == 0
    assert contents(server) == ["Ben: Ben reads mail in the morning only."]
    assert "there is no program 'codex'; install it, or change " in done.err
    assert run(server, "app", "stats", "--json", **gone).data["energy"]["spent"] == 0
    assert "200 calls are left today" in run(server, "check", "setup").out.decode()
    told = run(server, "check", "setup", **gone).out.decode()
    assert "there is no program 'codex'; rules go on alone" in told
    upkeep = run(server, "consolidate", **gone).err
    assert upkeep.count("there is no program 'codex'") == 1


@pytest.mark.row("S0.6.5")
def test_a_decision_that_is_put_off_says_what_makes_it_later(server: ChatServer) -> None:
    poor = {"PMEM_APPS_ENERGY": "0", "PMEM_APPS_LIMIT": "1"}
    run(server, "app", "remember", "mail", "The inbox is read in the morning.", **poor)
    done = run(server, "app", "remember", "mail", "The outbox is empty at noon.", **poor)
    assert "put off: too little energy; `pmem app compact mail` makes it later" in done.err


@pytest.mark.row("S0.6.5")
def test_too_little_energy_puts_the_work_off_and_doctor_counts_it(server: ChatServer) -> None:
    poor = {"PMEM_APPS_ENERGY": "0"}
    done = talk(server, "Ben reads mail in the morning only.", **poor)
    assert done.code == 0
    assert "put off: too little energy" in done.err
    assert contents(server) == []
    (seen,) = (
        item
        for item in run(server, "check", "setup", "--json").data["setup"]["items"]
        if item["name"] == "model"
    )
    assert seen["detail"].startswith("fake: ")
    assert not seen["detail"].startswith("fake: 0 ")
    assert run(server, "consolidate").code == 0
    assert contents(server) == ["The talk was about this: Ben reads mail in the morning only."]


def test_a_program_beside_the_project_is_named_by_its_whole_path(server: ChatServer) -> None:
    """It runs in an empty folder, where `./model.sh` is not."""
    beside = {"PMEM_MODEL_URL": "", "PMEM_MODEL_COMMAND": "./model.sh"}
    done = talk(server, "Ben reads mail in the morning only.", **beside)
    assert (done.code, "give the program's whole path" in done.err) == (0, True)
    assert "200 calls are left today" in run(server, "check", "setup").out.decode()
    assert (
        "model.command begins with './model.sh'"
        in run(server, "check", "setup", **beside).out.decode()
    )


def test_what_a_model_merges_is_told_with_its_records(server: ChatServer) -> None:
    texts = ("Backups of orders run nightly in Berlin.", "Orders have nightly backups, Berlin.")
    added = [run(server, "add", text, "--force", "--json").data["memory"] for text in texts]
    done = run(server, "consolidate")
    assert done.err.splitlines()[0] == "the rules found nothing to do"
    told = done.err.splitlines()[-1]
    assert told.startswith("model: 1 answer was applied, from fake: ")
    assert sorted(told.rpartition(": ")[2].split(", ")) == sorted(one["id"][-8:] for one in added)
    assert run(server, "consolidate").err.splitlines()[0] == "nothing to do"


def test_nothing_is_asked_on_a_dry_run_or_where_nothing_may_be_written(
    server: ChatServer,
) -> None:
    words = ("episode", "add", "SQLite locked tables while the report was slow.")
    assert run(server, *words, "--title", "One").code == 0
    assert run(server, *words, "--title", "Two").code == 0
    assert run(server, "consolidate", "--dry-run").code == 0
    assert run(server, "consolidate", "--read-only").code == 7
    assert run(server, "search", "tables").code == 0
    assert server.asked == []


def test_a_project_cannot_choose_a_model(server: ChatServer, root: str) -> None:
    from pathlib import Path

    url = f"http://127.0.0.1:{server.server_port}/v1"
    Path(root, "config.toml").write_text(
        f"[model]\nurl = '{url}'\nname = 'theirs'\ncommand = ['touch', 'planted']\n"
    )
    done = pmem("model", "test", environment={"PMEM_NOW": DAY})
    assert done.code == 3
    assert "no model is chosen" in done.err
    assert server.asked == []
    assert not Path("planted").exists()
    doctor = pmem("check", "setup", environment={"PMEM_NOW": DAY})
    assert "model.command" in f"{doctor.out.decode()}{doctor.err}"


@pytest.mark.row("S0.6.2", "S0.6.3")
def test_a_decision_costs_energy_and_the_poll_counts_it_once(server: ChatServer) -> None:
    overfull(server)
    polled = [run(server, "app", "stats", "--poll", "--json").data["energy"] for _ in range(2)]
    assert [energy["since_last_poll"] for energy in polled] == [25, 0]
    assert [energy["spent"] for energy in polled] == [25, 25]
    assert polled[0]["units"] == 75


@pytest.mark.row("S0.6.4")
def test_at_the_floor_work_waits_and_just_above_it_runs(server: ChatServer) -> None:
    small = {"PMEM_APPS_ENERGY": "15"}
    assert talk(server, "Ben reads mail in the morning only.", **small).code == 0
    assert run(server, "app", "stats", "--json", **small).data["energy"]["units"] == 3  # 0.2 of 15
    done = talk(server, "Ben reads news in the evening only.", **small)
    assert "put off: too little energy" in done.err
    assert len(contents(server)) == 1
    soon = "2026-11-21T14:33:00Z"
    later = run(server, "app", "compact", "mail", now=soon, **small)
    assert later.code == 0  # a unit came back, which is enough above the floor
    assert "The talk was about this: Ben reads news in the evening only." in contents(server)
    energy = run(server, "app", "stats", "--json", now="2026-11-21T14:33:00Z", **small).data[
        "energy"
    ]
    assert (energy["spent"], energy["waiting"]) == (24, 0)
