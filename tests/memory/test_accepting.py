"""Saying that a memory still holds: what it cites then, and what its history keeps."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem.storage.git.changed_files import Hunk, hunks, lines_after, touching
from tests.effort import examples
from tests.faults.console import Done, added, pmem
from tests.git.branches import begin, ok

CODE = "import time\n\nRETRIES = 3\nWAIT = 2\n\n\ndef wait():\n    time.sleep(WAIT)\n"


def write(text: str) -> None:
    Path("retry.py").write_text(text, encoding="utf-8")


def cited(identifier: str) -> list[str]:
    found = pmem("show", identifier, "--json").data["citations"]
    return [f"{each['file']}:{each.get('lines', '')}" for each in found]


def accepted(*words: str) -> Done:
    return pmem("check", *(f"--accept={word}" for word in words))


@pytest.fixture
def committed() -> None:
    """Make a repository with a program, committed."""
    begin()
    write(CODE)
    ok("add", "--all")
    ok("commit", "--quiet", "--message", "x")


def test_the_text_as_it_is_now_is_cited_where_it_is_now(committed: None) -> None:
    one, body = (
        added("Three retries", "--cite", "retry.py:3"),
        added("It waits", "--cite", "retry.py:7-8"),
    )
    write(
        CODE.replace("RETRIES = 3", "# More.\nRETRIES = 5").replace(
            "(WAIT)", "(\n        WAIT + 1\n    )"
        )
    )
    assert pmem("check", "citations").code == 1
    done = accepted(one)
    assert done.code == 0
    assert "retry.py:3 -> retry.py:3-4" in done.out.decode()
    assert "# More. RETRIES = 5" in done.out.decode()
    assert accepted(body).code == 0
    assert cited(body) == ["retry.py:[8, 11]"]
    assert pmem("check", "citations").code == 0


def test_the_history_keeps_what_was_cited(committed: None) -> None:
    identifier = added("Three retries", "--cite", "retry.py:3")
    before = pmem("show", identifier, "--json").data["citations"]
    write(CODE.replace("= 3", "= 5"))
    assert accepted(identifier).code == 0
    event = pmem("log", identifier, "--json").data["items"][0]
    assert (event["event"], event["source"]) == ("UPDATE", "verify")
    assert event["before"]["citations"] == before
    assert accepted(identifier).out == b"citations  nothing to accept\n"
    assert pmem("log", identifier, "--json").data["total"] == 2


def test_what_was_never_committed_counts_by_its_lines() -> None:
    assert pmem("init").code == 0
    write(CODE)
    identifier = added("Three retries", "--cite", "retry.py:3", "--cite", "retry.py")
    write(CODE.replace("= 3", "= 5"))
    assert accepted(identifier).code == 0
    assert cited(identifier) == ["retry.py:[3, 3]", "retry.py:"]
    assert pmem("check", "citations").code == 0


def test_what_moved_is_cited_where_it_went(committed: None) -> None:
    identifier = added("It waits", "--cite", "retry.py:7-8")
    write(CODE.replace("import", "# Patience.\nimport"))
    assert accepted(identifier).code == 0
    assert cited(identifier) == ["retry.py:[8, 9]"]


def test_names_and_values_are_accepted_as_they_are_now(committed: None) -> None:
    cited_names = ("--cite", "retry.py::RETRIES=3", "--cite", "retry.py::wait")
    identifier = added("It retries and waits", *cited_names)
    write(CODE.replace("RETRIES = 3", "# More.\nRETRIES = 5").replace("(WAIT)", "(WAIT + 1)"))
    done = accepted(identifier)
    assert done.code == 0, done
    assert "retry.py::RETRIES=3 -> retry.py::RETRIES=5" in done.out.decode()
    assert "accepted retry.py::wait " in done.out.decode()
    assert pmem("check", "citations").code == 0
    for text in ("RETRIES = 5\nRETRIES = 6\n", "WAIT = 2\n"):
        write(text)
        assert accepted(identifier).code == 3


@pytest.mark.parametrize("change", ["gone", "removed", "empty"])
def test_what_is_gone_cannot_be_accepted_and_nothing_changes(change: str, committed: None) -> None:
    identifier = added("Three retries", "--cite", "retry.py:4", "--cite", "retry.py:3")
    ok("add", "--all")
    if change == "gone":
        os.unlink("retry.py")
    else:
        write(CODE.replace("RETRIES = 3\n", "") if change == "removed" else "")
    done = accepted(identifier)
    assert done.code == 3
    assert "cannot be accepted" in done.err
    assert "--uncite retry.py" in done.err
    assert pmem("log", identifier, "--json").data["total"] == 1


def test_one_says_which_memories_hold_and_what_is_to_be_done(committed: None) -> None:
    assert pmem("check", "--accept").code == 2
    assert pmem("check", "--accept", added("x y"), "--fix").code == 2
    assert accepted("nobody").code == 3
    write(CODE.replace("= 3", "= 5"))
    assert pmem("check", "--accept", added("x", "--cite", "retry.py:3"), "--read-only").code == 7


LINES = st.lists(st.sampled_from(["a", "b", "c", "d e", ""]), min_size=1, max_size=12)


@settings(max_examples=examples(100), deadline=None)
@given(LINES, LINES)
def test_lines_that_a_change_leaves_alone_are_found_again(
    before: list[str], after: list[str]
) -> None:
    texts = ["".join(f"{line}\n" for line in lines).encode() for lines in (before, after)]
    found = hunks(texts[0], texts[1], os.environ)
    replaced = {line for hunk in found for line in range(hunk.old, hunk.old + hunk.old_size)}
    for line in range(1, len(before) + 1):
        place = lines_after(found, (line, line))
        if line in replaced:
            assert touching(found, (line, line)) is not None
        else:
            assert place is not None
            assert after[place[0] - 1] == before[line - 1]
            assert touching(found, (line, line)) is None
    whole = lines_after(found, (1, len(before)))
    assert (touching(found, (1, len(before))) is not None) == any(
        hunk.old_size or 0 < hunk.old < len(before) for hunk in found
    )
    assert whole is None or 1 <= whole[0] <= whole[1] <= len(after)


def test_without_git_nothing_is_known_of_lines() -> None:
    assert hunks(b"a\n", b"b\n", {"PATH": "/nowhere"}) == []
    assert lines_after([], (2, 3)) == (2, 3)
    assert lines_after([Hunk(2, 2, 1, 0)], (2, 3)) is None
