"""Every row of the documents is held by a test, or says what stands in its place."""

import os

from tests.conformance.page import DECISIONS, PAGE, page
from tests.conformance.table import documents, holders

ROWS = [row for document in documents() for row in document.rows]


def test_each_row_has_a_name_of_its_own() -> None:
    names = [row.name for row in ROWS]
    assert sorted(set(names)) == sorted(names)


def test_each_row_is_held_by_a_test_or_says_what_stands_in_its_place() -> None:
    held = {name for holder in holders() for name in holder.rows}
    assert [row.name for row in ROWS if row.name not in held and not row.instead] == []


def test_what_is_done_otherwise_was_decided() -> None:
    assert [row.name for row in ROWS if row.instead and not row.decisions] == []


def test_each_mark_names_a_row() -> None:
    names = {row.name for row in ROWS}
    marked = [(holder.node, name) for holder in holders() for name in holder.rows]
    assert [mark for mark in marked if mark[1] not in names] == []


def test_each_decision_that_a_row_names_exists() -> None:
    numbers = {int(name[:4]) for name in os.listdir(DECISIONS) if name[:4].isdigit()}
    assert [row.name for row in ROWS if not set(row.decisions) <= numbers] == []


def test_the_page_is_up_to_date() -> None:
    with open(PAGE, encoding="utf-8") as file:
        assert file.read() == page(), "run `python -m tests.conformance.page`"
