"""A short sweep on every run; `python -m tests.faults.sweep` is the whole one."""

import os
from pathlib import Path
from unittest import mock

import pytest

from pmem.assistants.harnesses import HARNESSES
from pmem.storage.files import durable
from tests.effort import IS_THOROUGH
from tests.faults import injection, powercuts, world
from tests.faults.sweep import ACTS, Bench, swept
from tests.faults.test_locked import WRITING
from tests.faults.world import WRITES

FEW = ("edit", "config set", "checkpoint save")
"""One file, a setting, and SQLite's database; `rm` is several files."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("sweep")
    (place / "template").mkdir()
    world.build(str(place / "template"))
    os.chdir(place)
    return str(place)


def test_every_writing_command_is_swept() -> None:
    swept_ = {name.partition(" -")[0] for name in WRITES}
    twins = {"checkpoint rm", "app list", *(f"setup {name}" for name in HARNESSES)}
    twins |= {"eval misses", "import codex", "import gemini", "import auto"}
    twins |= {"import git"}  # as other imports into a conversation
    twins |= {"share", "work apply"}  # as `add` and `edit`, which they run
    twins -= {"setup gemini"}  # as others that are swept
    assert set(WRITING) - swept_ - twins == set()


@pytest.mark.parametrize("name", ["rm", *(pytest.param(n, marks=pytest.mark.long) for n in FEW)])
def test_a_fault_at_any_call_leaves_all_or_nothing(folder: str, name: str) -> None:
    """What several faults leave alike is judged once."""
    bench = swept(folder, name, list(ACTS), stride=1 if IS_THOROUGH else 3)
    assert bench.broken == []
    assert bench.calls >= 8


def test_an_interrupt_in_every_seventh_call_of_the_most_manifold_command(folder: str) -> None:
    assert swept(folder, "conversation say", ["INT"], stride=7).broken == []


def test_the_sweep_notices_a_commit_that_is_made_file_by_file(folder: str) -> None:
    def apply(root: str, local: str, changes: list[durable.FileChange]) -> None:
        for change in changes:
            assert change.data is not None
            durable.write_file(os.path.join(root, change.path), change.data, local)

    with mock.patch.object(durable, "apply", apply):
        bench = swept(folder, "rm", ["KILL"])
    assert any("half" in item.what for item in bench.broken)


def test_the_sweep_notices_an_answer_that_comes_too_early(folder: str) -> None:
    with world.surroundings(folder):
        bench = Bench(folder, "edit")
        with mock.patch.object(durable, "apply"):
            bench.sweep("ENOSPC", stride=100)
        os.chdir("/")
    assert any("lost" in item.what for item in bench.broken)


def test_the_calls_of_sqlite_are_met_too(folder: str) -> None:
    with world.surroundings(folder):
        bench = Bench(folder, "checkpoint save")
        os.chdir("/")
    if not bench.calls:
        pytest.skip("this SQLite does not let its calls be replaced")
    assert bench.calls > 10
    assert set(ACTS) == {"KILL", "TERM", "INT", *injection.FAULTS}


@pytest.mark.long
@pytest.mark.parametrize("name", ["add", "edit --supersede", "conversation end"])
def test_a_power_cut_at_any_moment_of_a_command_does_no_harm(folder: str, name: str) -> None:
    done = powercuts.cut(folder, name)
    assert done.wrong == ()
    assert done.states >= 8


def test_signals_that_arrive_all_the_time_disturb_nothing(tmp_path: Path, folder: str) -> None:
    """Calls that a signal interrupts are made again."""
    import signal

    seen: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: seen.append(number))
    try:
        with world.surroundings(folder):
            bench = Bench(folder, "conversation say")
            place = bench.fresh()
            signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
            done = world.do(bench.write, bench.known)
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert (done.code, bench.state(place)) == (0, bench.after)
            os.chdir("/")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert seen
