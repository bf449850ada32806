"""Property tests draw the same examples each time, and `make explore` looks for others."""

import os
import subprocess
import sys
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def drawn() -> list[tuple[int, str]]:
    """Return the examples of a small property."""
    seen = []

    @settings(max_examples=200)
    @given(st.integers(), st.text())
    def draw(number: int, text: str) -> None:
        seen.append((number, text))

    draw()
    return seen


def test_the_examples_are_the_same_in_ci_and_whatever_is_imported_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = drawn()
    constants = ", ".join(f"{number}, 'word {number}'" for number in range(70000, 70400))
    (tmp_path / "imported_later.py").write_text(f"CONSTANTS = [{constants}]\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("CI", "true")
    import_module("imported_later")
    assert drawn() == before


@pytest.mark.long
def test_exploring_lists_each_property_that_fails_with_the_command_that_repeats_it(
    tmp_path: Path,
) -> None:
    properties = tmp_path / "test_properties.py"
    properties.write_text(
        "from hypothesis import given, strategies as st\n"
        "@given(st.integers())\n"
        "def test_small(number): assert number < 300\n"
        "@given(st.text())\n"
        "def test_one_letter(text): assert len(text) < 2\n"
        "@given(st.text())\n"
        "def test_text(text): assert text == str(text)\n"
        "def test_no_property(): raise AssertionError\n",
        encoding="utf-8",
    )
    variables = {"PYTHONPATH": str(Path(__file__).parents[1]), "PYTEST_XDIST_AUTO_NUM_WORKERS": "1"}
    variables["PYTEST_ADDOPTS"] = "-p no:schemathesis"  # which takes seconds to import
    run = partial(
        subprocess.run, cwd=tmp_path, env=os.environ | variables, capture_output=True, text=True
    )
    done = run([sys.executable, "-m", "tests.explore", str(properties)])
    assert done.returncode == 1
    *_, count, first, second = done.stdout.splitlines()
    assert count == "2 findings"
    assert "test_small" in first + second
    assert "test_one_letter" in first + second
    assert "Failing test case" in run(first, shell=True).stdout
