"""Whatever an input holds: a value or one of our own errors, soon, and the same again."""

import os
import subprocess
import sys
from itertools import count
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pmem.core.rawjson import load
from pmem.core.threeway.shapes import SHAPES
from pmem.storage.files.recordfile import parse
from pmem.values.records import Memory, dump
from tests.fuzz.__main__ import fuzz
from tests.fuzz.entries import ENTRIES
from tests.fuzz.judging import Entry, Violation, guarded, judge
from tests.fuzz.mutation import mutated

EVERY_ENTRY = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
QUICK = tuple(entry for entry in ENTRIES if entry.share == 1)
_COUNTED = count()


@st.composite
def inputs(draw: st.DrawFn, entry: Entry) -> bytes:
    """Draw an example with some damage, or anything at all."""
    if draw(st.integers(0, 4)) == 0:
        return draw(st.binary(max_size=200) | st.text(max_size=100).map(_encoded))
    which = draw(st.sampled_from(entry.examples))
    return mutated(which, draw(st.randoms(use_true_random=False)), entry.examples)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@pytest.mark.some(16)
@EVERY_ENTRY
def test_every_example_is_read_without_an_error(entry: Entry) -> None:
    outcomes = [judge(entry, data, twice=True) for data in entry.examples]
    allowed = {"value", *(error.__name__ for error in entry.errors)}
    for outcome in outcomes:
        assert outcome.kind in allowed, outcome.told
    assert any(outcome.kind == "value" for outcome in outcomes)


@pytest.mark.parametrize("entry", QUICK, ids=lambda entry: entry.name)
@settings(max_examples=5)
@given(data=st.data())
def test_damaged_input_leads_to_a_value_or_a_refusal(entry: Entry, data: st.DataObject) -> None:
    damaged = data.draw(inputs(entry))
    with guarded():
        judge(entry, damaged, twice=True)


def test_a_few_inputs_of_every_kind_break_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with guarded():
        tallies = fuzz(ENTRIES, inputs=100, seed=0, examples=False)
    assert len(tallies) == len(ENTRIES)
    assert not [tally.violations for tally in tallies if tally.violations]
    assert len(capsys.readouterr().out.splitlines()) == len(ENTRIES)


@settings(max_examples=10)
@given(number=st.integers(min_value=2**63 - 2, max_value=2**80))
@example(number=2**63)
def test_whole_numbers_of_any_size_are_kept(number: int) -> None:
    data = ENTRIES[0].examples[0]
    path = f"x/{load(data)['id']}.json"
    said = data.replace(b'"at":', b'"before": {"x": %d}, "at":' % number)
    record = parse(said, Memory, path)
    assert record.history[0].before["x"] == number
    assert parse(dump(record), Memory, path) == record
    counted = data.replace(b'"tokens": ', b'"tokens": %d' % (number + 2))
    kept = parse(counted, Memory, path)
    assert parse(dump(kept), Memory, path) == kept


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("run", "why"),
    [
        (lambda data: 1 / 0, "ZeroDivisionError"),
        (lambda data: [n for n in range(10**9) if n < 0], "did not end"),
        (lambda data: bytearray(1_000_000_000), "MemoryError"),
        (lambda data: next(_COUNTED), "something else the second time"),
        (lambda data: __import__("warnings").warn("x", stacklevel=1), "UserWarning"),
        (lambda data: [n for n in range(10_000_000) if n < 0], "CPU time"),
    ],
    ids=["exception", "endless", "memory", "changing", "warning", "slow"],
)
def test_what_must_not_happen_is_noticed(
    run: Any, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.fuzz.judging.CUT_OFF_SECONDS", 1.5)
    monkeypatch.setattr("tests.fuzz.judging.MOST_SECONDS", 0.1)
    with guarded(), pytest.raises(Violation, match=why):
        judge(Entry("broken", run, (b"",)), b"", twice=True)


@pytest.mark.long
def test_the_same_seed_gives_the_same_results_in_every_process(tmp_path: object) -> None:
    found = set()
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-m", "tests.fuzz", "--inputs", "60", "--only", "text"],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            cwd=os.path.dirname(os.path.dirname(os.path.dirname(__file__))),
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(done.stdout.rpartition("digest ")[2])
    assert len(found) == 1


def test_every_store_has_its_entries() -> None:
    names = {entry.name for entry in ENTRIES}
    assert len(names) == len(ENTRIES)
    for store in SHAPES:
        assert {f"record: {store}", f"merge: {store}", f"conflict markers: {store}"} <= names
