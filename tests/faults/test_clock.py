"""Clocks that run backwards, far ahead, or not at all."""

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.lifecycle.presence import presence
from pmem.memory.requests import AddAllRequest, AddRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.values.times import in_utc, iso
from tests.asking import ask
from tests.conftest import NOW
from tests.faults import world
from tests.faults.console import pmem
from tests.faults.test_disk import reading
from tests.faults.world import WRITES

TIMES = ("2016-11-21T14:30:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z")
"""Ten years back, and both ends of the calendar, the later one nearly 8,000 years ahead."""
ANSWERS = (0, 1, 3, 7, 9)
"""Exit codes of commands that ran; neither damage, nor a refusal of the disk, nor a bug."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = str(tmp_path_factory.mktemp("clock"))
    world.build(place)
    return place


@pytest.fixture
def place(template: str) -> Iterator[str]:
    here = os.path.join(os.path.dirname(template), "clock-copy")
    with world.surroundings(here):
        world.copied(template, here)
        yield here
        os.chdir("/")


@pytest.mark.some(1)
@pytest.mark.parametrize("time", TIMES)
def test_no_command_stumbles_over_the_clock(place: str, time: str) -> None:
    known = world.names()
    for name, write in WRITES.items():
        if name.startswith(("init", "setup", "purge", "app purge", "app uninstall")):
            continue
        words = [known.get(word, word) for word in write.arguments]
        done = world.ran(*words, "--now", time, stdin=write.stdin)
        assert done.code in ANSWERS, (name, done)
        assert "Traceback" not in done.err, (name, done)
    for looking in reading(known["OTHER"]):
        if "talk" not in looking:
            assert world.ran(*looking, "--now", time).code in (0, 1, 3), looking
            assert world.ran(*looking).code in (0, 1, 3), looking
    assert world.ran("add", "Written when the clock was right again", "--force").code == 0
    assert not world.strays(place)


@given(
    born=st.datetimes().map(in_utc),
    used=st.datetimes().map(in_utc),
    now=st.datetimes().map(in_utc),
    half_life=st.floats(min_value=1e-6, max_value=1e9),
)
def test_decay_lies_between_0_and_1_at_every_time(
    born: object, used: object, now: object, half_life: float
) -> None:
    import msgspec

    from pmem.values.records import Access
    from tests.storage.folders import memory

    access = Access(count=3, last_at=used)  # type: ignore[arg-type]
    kept = msgspec.structs.replace(
        memory("mvz1fwao-5gfu3i2z"), created_at=born, updated_at=born, access=access
    )
    assert 0 <= presence(kept, now, half_life) <= 1  # type: ignore[arg-type]


@pytest.mark.long
def test_a_thousand_memories_of_one_millisecond_are_a_thousand(root: str) -> None:
    workspace = Workspace(root, actor="tester", now=NOW)
    requests = [AddRequest(content=f"thing number {number}") for number in range(900)]
    made = [
        done.memory.id
        for done in ask(workspace, table.ADD_ALL, AddAllRequest(memories=tuple(requests))).items
    ]
    for number in range(100):  # as many processes would: each knows nothing of the others' ids
        alone = Workspace(root, actor="tester", now=NOW)
        made.append(ask(alone, table.ADD, AddRequest(content=f"alone {number}")).memory.id)
    assert len(set(made)) == 1000
    assert set(Workspace(root).memories.ids()) == set(made)


def test_ids_of_a_clock_that_runs_backwards_are_new(root: str) -> None:
    later, earlier = NOW, NOW.replace(year=NOW.year - 10)
    made = [
        ask(Workspace(root, actor="tester", now=at), table.ADD, AddRequest(content=text)).memory.id
        for at, text in ((later, "first"), (earlier, "second"), (later, "third"))
    ]
    assert len(set(made)) == 3
    assert len(list(Workspace(root).memories.find())) == 3


AHEAD = "2999-01-01T00:00:00Z"


@pytest.mark.parametrize(
    "line",
    [
        ("add", "The queue runs on the host"),
        ("episode", "add", "The queue moved to the host"),
        ("conversation", "start"),
    ],
)
def test_what_a_clock_far_ahead_wrote_is_told(line: tuple[str, ...], root: str) -> None:
    assert pmem(*line, "--now", AHEAD).code == 0
    done = pmem("check", "records", "--json")
    (found,) = done.data["records"]["findings"]
    assert (done.code, found["code"], found["severity"]) == (0, "ahead", "warning")
    assert "2999-01-01T00:00:00Z" in found["message"]
    assert "correct the times in the file" in found["message"]
    assert pmem("check", "records", "--strict").code == 1
    assert pmem("check", "records", "--now", AHEAD, "--json").data["records"]["findings"] == []


def test_once_the_times_in_the_file_are_corrected_all_is_well(root: str) -> None:
    pmem("add", "The queue runs on the host", "--now", AHEAD)
    (path,) = Path(root, "long-term-memory").glob("*.json")
    path.write_text(path.read_text().replace(AHEAD, iso(NOW)))
    assert pmem("check", "records", "--now", iso(NOW), "--json").data["records"]["findings"] == []
    assert "host" in pmem("context", "queue host", "--now", iso(NOW)).out.decode()


@pytest.mark.parametrize(("hours", "told"), [(23, False), (25, True)])
def test_clocks_may_differ_by_a_day(hours: int, told: bool, root: str) -> None:
    pmem("add", "one", "--now", iso(NOW + timedelta(hours=hours)))
    found = pmem("check", "records", "--now", iso(NOW), "--json").data["records"]["findings"]
    assert [finding["code"] for finding in found] == ["ahead"] * told


def test_what_was_removed_is_not_told_as_ahead(root: str) -> None:
    pmem("add", "one", "--now", AHEAD)
    (path,) = Path(root, "long-term-memory").glob("*.json")
    assert pmem("rm", path.stem).code == 0
    assert pmem("check", "records", "--json").data["records"]["findings"] == []


def test_a_memory_that_begins_later_is_no_sign_of_a_wrong_clock(root: str) -> None:
    pmem("add", "The host moves", "--valid-from", AHEAD)
    assert pmem("check", "records", "--json").data["records"]["findings"] == []


@pytest.mark.parametrize(("query", "why"), [("host", "no good match, "), ("", "")])
def test_a_context_counts_what_begins_later_as_left_out(query: str, why: str, root: str) -> None:
    pmem("add", "The queue runs on the host", "--now", AHEAD)
    told = pmem("context", *filter(None, [query])).out.decode()
    assert f"0 shown, 1 left out: {why}1 not valid yet" in told
    pmem("add", "The host was another one", "--valid-until", "2020-01-01", "--force")
    assert "0 shown, 1 left out" in pmem("context", *filter(None, [query])).out.decode()
