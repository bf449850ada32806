"""Branches that go on with one conversation: every message counts once, at once after the merge."""

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pmem import Project
from pmem.conversation.window import talk_of
from pmem.core import rawjson
from pmem.core.threeway.record import merged
from pmem.core.threeway.shapes import SHAPES
from pmem.project.setup import initialise
from tests.conftest import NOW
from tests.faults.console import pmem
from tests.git import world
from tests.git.branches import ROOT, git, ok
from tests.messages import all_messages

TALK = "conversations"
PARTS = "conversation-chunks"
SMALL: dict[str, Any] = {"max_recent_messages": 4, "chunk_size": 2, "max_chunks": 3}
Store = dict[str, bytes]


def project(folder: str, hour: int, **overrides: Any) -> Project:
    now = NOW + timedelta(hours=hour)
    return Project(folder, actor="tester", now=now, **{**SMALL, **overrides})


def said(folder: str, who: str, count: int, hour: int, **overrides: Any) -> list[str]:
    """Go on with the conversation: so many messages, an hour apart from what others say."""
    texts = [f"Module {who}{number} takes {number} seconds." for number in range(count)]
    made = project(folder, hour, **overrides)
    with mock.patch("os.fsync"):
        for place, text in enumerate(texts):
            made.add_message("assistant" if place % 3 else "user", text)
    return texts


def files(folder: str) -> Store:
    return {
        f"{store}/{path.name}": path.read_bytes()
        for store in SHAPES
        for path in Path(folder, store).glob("*.json")
    }


def brought_together(base: Store, ours: Store, theirs: Store, *, driver: bool) -> Store:
    """Merge as git does; without the driver whoever merges keeps our side of a file in conflict."""
    found = {}
    for path in sorted(ours.keys() | theirs.keys()):
        before, here, there = (side.get(path) for side in (base, ours, theirs))
        result = there if here == before else here
        if driver and len({before, here, there}) == 3:
            start, one, other = (side and rawjson.load(side) for side in (before, here, there))
            whole = merged(
                start or None, one or None, other or None, SHAPES[os.path.dirname(path)]
            ).result
            result = None if whole is None else rawjson.dump(whole)
        if result is not None:
            found[path] = result
    return found


def laid_out(folder: str, store: Store) -> None:
    for path in files(folder):
        Path(folder, path).unlink()
    for path, data in store.items():
        Path(folder, path).write_bytes(data)


def must_count_once(folder: str, texts: Sequence[str], everything: Sequence[str]) -> None:
    """See that all that reads takes each message of a conversation once, and everything kept."""
    made = project(folder, 99)
    shown = made.transcript()
    contents = [message.content for message in shown.messages]
    assert sorted(contents) == sorted(texts)
    stats = made.conversation_stats().usage
    assert stats.total_messages == len(texts)
    assert made.stats().messages == len(everything)
    kept = [item.message.content for item in all_messages(made.workspace)]
    assert sorted(kept) == sorted(everything)
    ids = {message.id for chunk in shown.chunks for message in chunk.messages}
    assert len(ids) + len(shown.conversation.recent_messages) == len(texts)
    hits = made.search("module takes seconds", kinds=("message",), top_k=200).hits
    assert len({hit.id for hit in hits}) == len(hits)
    summaries = made.search("module takes seconds", kinds=("chunk",), top_k=200).hits
    begun = [project_first(folder, hit.id) for hit in summaries]
    assert len(set(begun)) == len(begun)
    talk = talk_of(made.workspace, None)
    seen = [message.id for chunk in talk.chunks for message in chunk.messages]
    seen += [message.id for message in talk.recent]
    assert len(set(seen)) == len(seen)
    for chunk, ago in zip(talk.chunks, talk.turns_ago, strict=True):
        later = contents[[item.id for item in shown.messages].index(chunk.messages[-1].id) + 1 :]
        assert ago == len(later)
    arrays = {name: json.loads(data) for name, data in made.export_arrays().items()}
    exported = [item for each in arrays[f"{PARTS}.json"] for item in each["messages"]]
    exported += [item for each in arrays[f"{TALK}.json"] for item in each["recent_messages"]]
    assert sorted(item["content"] for item in exported) == sorted(everything)


def project_first(folder: str, chunk: str) -> str:
    record = json.loads(Path(folder, PARTS, f"{chunk}.json").read_bytes())
    return str(record["messages"][0]["id"])


def begun(folder: str, count: int) -> list[str]:
    initialise(folder, track_conversations=True)
    project(folder, 0).start_conversation("Modules")
    return said(folder, "base", count, 0)


@pytest.mark.long
@given(
    st.integers(0, 9),
    st.lists(st.tuples(st.integers(1, 9), st.integers(1, 3)), min_size=2, max_size=3),
    st.integers(0, 7),
)
@example(4, [(6, 2), (6, 2)], 0)
@example(4, [(1, 2), (6, 2)], 3)
def test_messages_of_merged_branches_count_once_and_go_on(
    before: int, branches: list[tuple[int, int]], after: int
) -> None:
    with tempfile.TemporaryDirectory() as top:
        base = f"{top}/base/.project-memory"
        os.makedirs(base)
        texts = begun(base, before)
        start = files(base)
        sides = []
        for number, (count, size) in enumerate(branches):
            side = f"{top}/side{number}/.project-memory"
            shutil.copytree(base, side)
            texts += said(side, "abc"[number], count, number + 1, chunk_size=size)
            sides.append(files(side))
        whole = sides[0]
        for other in sides[1:]:
            whole = brought_together(start, whole, other, driver=True)
        laid_out(base, whole)
        must_count_once(base, texts, texts)
        texts += said(base, "z", after, 10)
        must_count_once(base, texts, texts)
        repaired = project(base, 50).repair()
        assert not repaired.left
        assert [each.code for each in project(base, 99).check().findings] == []
        must_count_once(base, texts, texts)
        assert project(base, 51).repair().repaired == ()


@pytest.mark.long
@given(st.integers(0, 9), st.integers(1, 9), st.integers(1, 9))
@example(4, 6, 6)
def test_without_the_driver_each_message_counts_once_too(before: int, one: int, two: int) -> None:
    with tempfile.TemporaryDirectory() as top:
        base = f"{top}/base/.project-memory"
        os.makedirs(base)
        texts = begun(base, before)
        start = files(base)
        other = f"{top}/other/.project-memory"
        shutil.copytree(base, other)
        ours = texts + said(base, "a", one, 1)
        said(other, "b", two, 2)
        laid_out(base, brought_together(start, files(base), files(other), driver=False))
        chunks = [json.loads(data) for path, data in files(base).items() if path.startswith(PARTS)]
        held = {message["content"] for chunk in chunks for message in chunk["messages"]}
        must_count_once(base, ours, sorted(held.union(ours)))
        project(base, 50).repair()
        assert [each.code for each in project(base, 99).check().findings] == []
        must_count_once(base, ours, sorted(held.union(ours)))


def codes() -> list[tuple[str, str]]:
    found = pmem("check", "records", "--json").data["records"]["findings"]
    return [(finding["code"], finding["severity"]) for finding in found]


@pytest.mark.parametrize(("recent", "before", "each"), [(20, 19, 6), (4, 4, 3)])
def test_git_merges_a_conversation_that_two_branches_went_on_with_and_check_tells_what_is_twice(
    recent: int, before: int, each: int
) -> None:
    with world.tamed():
        world.begin()
        folder = os.path.abspath(ROOT)
        project(folder, 0).start_conversation("Modules")
        usual = {"max_recent_messages": recent, "chunk_size": recent // 2, "max_chunks": 8}
        texts = said(folder, "base", before, 0, **usual)
        world.commit("base")
        for branch, hour in (("one", 1), ("two", 2)):
            ok("checkout", "--quiet", "-b", branch, "main")
            texts += said(folder, branch, each, hour, **usual)
            world.commit(branch)
        assert git("merge", "--no-edit", "one").code == 0
        must_count_once(folder, texts, texts)
        assert project(folder, 3).conversation_stats().usage.total_messages == len(texts)
        assert codes() == [("twice", "warning")]
        assert [pmem("check", "records", *words).code for words in ((), ("--strict",))] == [0, 1]
        assert pmem("check", "setup", "--fix").code == 0
        assert codes() == []
