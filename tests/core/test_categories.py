"""A category is one short visible line, and a typing mistake is told."""

import pytest

from tests.cli.shell import pmem


@pytest.mark.row("S4.2.2")
@pytest.mark.parametrize("name", ["x" * 51, "### A\nB ### X", "bell\a", " "])
def test_a_category_is_one_line_of_at_most_50_characters(name: str, root: str) -> None:
    done = pmem("-C", root, "add", "Ana likes tea.", "--category", name)
    assert (done.code, "a category" in done.said) == (3, True)
    kept = pmem("-C", root, "add", "Ana likes tea.", "--category", "x" * 50)
    assert kept.code == 0
    assert pmem("-C", root, "edit", kept.text.split()[1], "--category", name).code == 3


@pytest.mark.row("S4.2.2")
def test_a_subject_has_at_most_200_characters_or_none(root: str) -> None:
    assert pmem("-C", root, "add", "Ana likes tea.", "--subject", "x" * 201).code == 3
    assert pmem("-C", root, "add", "Ana likes tea.", "--subject", "x" * 200).code == 0
    assert pmem("-C", root, "add", "Ben likes tea.").code == 0


@pytest.mark.row("S1.5.5")
def test_a_category_that_may_be_mistyped_is_told_and_kept(root: str) -> None:
    done = pmem("-C", root, "add", "Ana likes tea.", "--category", "persn")
    assert (done.code, "--category person" in done.said) == (0, True)
    for name in ("person", "recipes"):
        known = pmem("-C", root, "add", f"Ana has {name}.", "--category", name)
        assert "is new here" not in known.said
