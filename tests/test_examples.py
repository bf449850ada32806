"""Property tests draw the same examples each time, and `make explore` looks for others."""

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
