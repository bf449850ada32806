"""A short storm on every run; `python -m tests.faults.storm` is the long one."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.effort import IS_THOROUGH
from tests.faults.storm import EARLY, Storm

ROOT = Path(__file__).parents[2]
WRITERS = 3
KILLS = 6 if IS_THOROUGH else 3


@pytest.mark.long
def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    storm = Storm(str(tmp_path), WRITERS)
    storm.write(3, ("add",))
    outcome = storm.judge()
    assert outcome.wrongs == {}
    assert outcome.acknowledged == {"add": 9}


@pytest.mark.long
@pytest.mark.row("S3.10.10")
def test_writers_killed_at_random_lose_nothing_they_acknowledged(tmp_path: Path) -> None:
    storm = Storm(str(tmp_path), WRITERS)
    storm.write(0, kills=KILLS)
    outcome = storm.judge()
    assert outcome.wrongs == {}
    assert outcome.killed >= KILLS
    assert outcome.acknowledged.total() >= 4


@pytest.mark.long
@pytest.mark.parametrize(
    ("signal_", "latest"),
    [(signal.SIGTERM, None), (signal.SIGINT, None), (signal.SIGINT, EARLY)],
    ids=["SIGTERM", "SIGINT", "early SIGINT"],
)
def test_a_signal_ends_a_writer_without_a_word_and_loses_nothing(
    tmp_path: Path, signal_: signal.Signals, latest: float | None
) -> None:
    storm = Storm(str(tmp_path), WRITERS, signal_=signal_, latest=latest)
    storm.write(0, ("add", "edit"), kills=2)
    outcome = storm.judge()
    assert outcome.wrongs == {}
    assert outcome.killed >= 2


@pytest.mark.parametrize("command", [("list",), ("add", "more")], ids=["reading", "writing"])
def test_pmem_lets_the_system_end_it_at_an_interrupt(root: str, command: tuple[str, ...]) -> None:
    """What Python does instead could be swallowed, and ends in a traceback."""
    program = (
        "import signal, sys; import pmem.cli, pmem.cli.app as app;"
        " app.run = lambda arguments: signal.getsignal(signal.SIGINT) == signal.SIG_DFL;"
        " pmem.cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", program, *command], check=False)
    assert done.returncode == 1


def test_an_interrupt_that_the_caller_ignores_is_ignored(root: str) -> None:
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN);"
        " import pmem.cli, pmem.cli.app as app;"
        " app.run = lambda arguments: signal.getsignal(signal.SIGINT) == signal.SIG_IGN;"
        " pmem.cli.main()"
    )
    assert subprocess.run([sys.executable, "-c", program, "list"], check=False).returncode == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_what_the_suites_caller_ignores_the_suite_does_not(number: signal.Signals) -> None:
    """`make test &` in a script ignores interrupts, and every child would, too."""
    program = (
        f"import signal; signal.signal({int(number)}, signal.SIG_IGN);"
        " from tests.conftest import pytest_sessionstart; pytest_sessionstart();"
        f" raise SystemExit(signal.getsignal({int(number)}) is signal.SIG_IGN)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False)
    assert done.returncode == 0
