"""A short storm on every run; `python -m tests.faults.storm` is the long one."""

from pathlib import Path

from tests.faults.storm import Storm

WRITERS = 4


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    storm = Storm(str(tmp_path), WRITERS)
    storm.write(3, ("add",))
    outcome = storm.judge()
    assert outcome.wrongs == {}
    assert outcome.acknowledged == {"add": 12}


def test_writers_killed_at_random_lose_nothing_they_acknowledged(tmp_path: Path) -> None:
    storm = Storm(str(tmp_path), WRITERS)
    storm.write(0, kills=16)
    outcome = storm.judge()
    assert outcome.wrongs == {}
    assert outcome.killed >= 16
    assert outcome.acknowledged.total() >= 4
