"""The indexes after a power cut: no answer depends on them, and nobody has to mend anything."""

import os
import random
import sqlite3
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import examples
from tests.faults import world
from tests.faults.index_cuts import INDEXES, Bench, State, cuts, damage, unordered

pytestmark = pytest.mark.skipif(
    not os.path.isdir("/proc/self/fd"), reason="this system does not tell what SQLite writes to"
)


@pytest.fixture(scope="module", params=INDEXES)
def index(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def bench(index: str, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return _bench(str(tmp_path_factory.mktemp("cuts")), index)


def _bench(folder: str, index: str) -> Bench:
    os.mkdir(os.path.join(folder, "template"))
    world.build(os.path.join(folder, "template"))
    return Bench(folder, index)


@pytest.mark.long
@settings(max_examples=examples(24))
@given(seed=st.integers(0, 1 << 32))
def test_no_answer_depends_on_what_a_power_cut_leaves_of_an_index(bench: Bench, seed: int) -> None:
    chance = random.Random(seed)
    states = list(cuts(bench.recording, chance, several=20))
    assert len(states) > 60
    assert bench.wrong(chance.choice(states)) == ""


@pytest.mark.long
def test_no_answer_depends_on_damage_of_an_index(bench: Bench, index: str) -> None:
    states = list(damage(bench.recording, index, random.Random(1)))
    assert [bench.wrong(state) for state in states] == [""] * len(states)


def test_pages_without_their_journal_would_be_noticed(tmp_path: Path) -> None:
    """What a cut would leave if SQLite did not sync: some pages new, some old, and no error.

    The other index reads a record anew whenever its own parts do not agree; it notices most.
    """
    bench = _bench(str(tmp_path), INDEXES[0])
    drawn = (unordered(bench.recording, random.Random(seed), several=40) for seed in range(12))
    assert any(bench.wrong(state) for states in drawn for state in states)


def test_the_indexes_sync_as_the_model_takes_for_granted(bench: Bench, index: str) -> None:
    asked: list[str] = []
    connect = sqlite3.connect

    def traced(path: str, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(path, **options)
        if path.endswith(index):
            connection.set_trace_callback(asked.append)
        return connection

    with mock.patch.object(sqlite3, "connect", traced):
        assert bench.wrong(State("usual", bench.recording.after)) == ""
    assert {sql for sql in asked if "synchronous" in sql} == {"pragma synchronous = normal"}
