"""What `why` says of forty edits in three languages is what a reader of the files says."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from pmem.memory.why import Why, WhyRequest
from pmem.operations import table
from tests.asking import ask
from tests.git.branches import begin, commit, ok
from tests.histories.replay import Replayed, opened, replay
from tests.histories.shop import FILES, MEMORIES, STEPS
from tests.histories.steps import place_of

RESTS = ("cites ", "verified: ")


@pytest.mark.long
def test_a_line_is_explained_by_what_rests_on_it_and_comes_from_the_commit_that_wrote_it() -> None:
    looked = 0
    asked: dict[tuple[str, int], tuple[str, set[str]]] = {}
    for done in replay(FILES, MEMORIES, STEPS):
        names = {id_: name for name, id_ in done.ids.items()}
        for file, line, resting in _lines(done):
            if asked.get((file, line)) == (done.state.after[file], resting):
                continue  # the step left all that the answer rests on as it was
            asked[file, line] = done.state.after[file], resting
            found = _ask(file, line)
            resters = (one for one in found.items if one.how[0].startswith(RESTS))
            cited = {names[one.memory.id] for one in resters}
            assert cited - done.hits == resting - done.hits, (done.state.step.title, file, line)
            assert found.origin is not None
            assert found.origin.author == "Kim"
            looked += 1
        for file, line in _edited(done):
            origin = _ask(file, line).origin
            assert origin is not None
            assert origin.subject == done.state.step.title
    assert looked > 300


def test_a_line_is_looked_up_as_it_stands_now_and_the_projects_filters_do_not_run() -> None:
    begin()
    Path("a.py").write_text("one\ntwo\n", encoding="utf-8")
    first = commit("first")
    Path(".gitattributes").write_text("a.py filter=evil diff=evil\n", encoding="utf-8")
    ok("config", "filter.evil.clean", "touch ran; cat")
    ok("config", "diff.evil.textconv", "touch ran; cat")
    Path("a.py").write_text("none\none\nnew\ntwo\n", encoding="utf-8")
    found = [_ask("a.py", line) for line in (1, 2, 3, 4)]
    assert [one.origin and one.origin.commit for one in found] == [None, first, None, first]
    assert {one.no_origin for one in found if one.origin is None} == {"not committed yet"}
    Path("b.py").write_text("one\n", encoding="utf-8")
    assert _ask("b.py", 1).no_origin == "not committed yet"
    assert not Path("ran").exists()


def test_other_ends_of_lines_make_no_line_new() -> None:
    begin()
    ok("config", "core.autocrlf", "false")
    Path("a.py").write_bytes(b"one\ntwo\n")
    Path("b.py").write_bytes(b"one\r\ntwo\r\n")
    Path("c.py").write_bytes(b"one\ntwo")
    first = commit("first")
    Path("a.py").write_bytes(b"one\r\nnew\r\ntwo")
    Path("b.py").write_bytes(b"one\nnew\ntwo\n")
    Path("c.py").write_bytes(b"one\nnew\ntwo\n")
    for file in ("a.py", "b.py", "c.py"):
        found = [_ask(file, line).origin for line in (1, 2, 3)]
        assert [one and one.commit for one in found] == [first, None, first], file


def _lines(done: Replayed) -> list[tuple[str, int, set[str]]]:
    """Return lines of the project, each with the memories that rest on it as a reader says."""
    after, before = done.state.after, done.state.before
    places = {name: place_of(after, memory) for name, memory in MEMORIES.items()}
    stayed = {
        name: place
        for name, place in places.items()
        if place is not None and (place_of(before, MEMORIES[name]) or place)[0] == place[0]
    }
    lost = {place[0] for name, place in places.items() if place and name not in stayed}
    found = []
    for file, first, last in set(stayed.values()):
        size = len(after[file].splitlines())
        for line in {first, (first + last) // 2, last, min(size, last + 1)}:
            if file not in lost:
                found.append((file, line, _resting(stayed, file, line)))
    return found


def _edited(done: Replayed) -> list[tuple[str, int]]:
    """Return a line that the step wrote; none where it only renamed or removed a file."""
    before, after = done.state.before, done.state.after
    edited = [name for name in sorted(after) if before.get(name, after[name]) != after[name]]
    for file in edited[:1]:
        old = before[file].splitlines()
        for line, text in enumerate(after[file].splitlines(), 1):
            if text.strip() and text not in old:
                return [(file, line)]
    return []


def _resting(places: Mapping[str, tuple[str, int, int]], file: str, line: int) -> set[str]:
    return {
        name
        for name, (where, first, last) in places.items()
        if where == file and first <= line <= last
    }


def _ask(file: str, line: int) -> Why:
    return ask(opened(), table.WHY, WhyRequest(place=f"{file}:{line}"))
