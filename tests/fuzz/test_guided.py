"""The guided fuzzer finds what lies behind conditions, and writes it down as a test."""

import os
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.fuzz.guided import Hunt, write_test
from tests.fuzz.judging import Entry, Violation, judge
from tests.fuzz.mutation import mutated

HERE = os.path.dirname(__file__)
SECONDS = 200


def _planted(data: bytes) -> Any:
    text = data.decode("utf-8", "ignore")
    if text.startswith("merge-"):
        rest = text.removeprefix("merge-")
        if "conflicts" in rest:
            last = rest[-12:]
            if last.endswith("theirs!"):
                raise RuntimeError("planted")
    return None


ENTRY = Entry("planted", _planted, (b"something harmless",))


def _hunted(seed: int, folder: Path) -> Hunt:
    hunt = Hunt(ENTRY, seed, str(folder), [HERE])
    end = time.perf_counter() + SECONDS
    while not hunt.crashes and time.perf_counter() < end:
        hunt.go(50)
    return hunt


def test_a_bug_behind_three_conditions_is_found_within_seconds(tmp_path: Path) -> None:
    for seed in range(3):
        hunt = _hunted(seed, tmp_path)
        (crash,) = hunt.crashes.values()
        assert "planted" in crash.why
        assert len(os.listdir(tmp_path)) >= 2


def test_blind_mutation_does_not_find_it(tmp_path: Path) -> None:
    inputs, random = _hunted(0, tmp_path).inputs, Random(0)
    for _ in range(inputs):
        judge(ENTRY, mutated(ENTRY.examples[0], random))


def test_a_crash_is_written_down_as_a_test_that_fails(tmp_path: Path) -> None:
    (crash,) = _hunted(0, tmp_path).crashes.values()
    path = write_test(crash, str(tmp_path / "crashes"))
    source = Path(path).read_text().replace("ENTRIES", "[ENTRY]")
    namespace: dict[str, Any] = {}
    exec(source.replace("fuzz.entries import [ENTRY]", "fuzz.test_guided import ENTRY"), namespace)
    (test,) = [value for name, value in namespace.items() if name.startswith("test_")]
    with pytest.raises(Violation, match="planted"):
        test()
