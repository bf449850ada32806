"""Playing a history in a repository with a memory, to see what pmem says of each step."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pmem.core.citations import CitationState
from pmem.core.review import ReviewKind
from pmem.memory.changes import RecordsRequest
from pmem.memory.citations import VerifyRequest
from pmem.memory.requests import AddRequest, EditRequest
from pmem.operations import table
from pmem.project.setup import initialise
from pmem.project.workspace import Workspace
from pmem.vcs.review import ReviewRequest
from tests.asking import ask
from tests.git.branches import ok
from tests.histories.steps import Files, Remembered, State, Step, place_of, played

ROOT = ".project-memory"
Cite = Callable[[Mapping[str, str], Remembered], str | None]


class Replayed(NamedTuple):
    """A step, the project before and after it, and what pmem says of it.

    `hits` and `rules` are the memories that it names, by their names in the history; `ids` leads
    from each name to the memory's id. The repository in the current folder is as the step left it.
    """

    state: State
    hits: frozenset[str]
    rules: frozenset[str]
    ids: Mapping[str, str]


def replay(
    files: Mapping[str, str],
    memories: Mapping[str, Remembered],
    steps: tuple[Step, ...],
    cite: Cite | None = None,
) -> Iterator[Replayed]:
    """Play a history in the current folder, one commit for each step.

    Between two steps somebody answers: what moved is cited where it is now, and what was hit is
    said to hold, so that each step is judged by itself.
    """
    cite = cite or citation
    ok("init", "--quiet", "--initial-branch=main")
    initialise(ROOT)
    write({}, dict(files))
    ids = _remember(memories, files, cite)
    _commit("Begin")
    for state in played(files, steps):
        write(state.before, state.after)
        _commit(state.step.title)
        names = {id_: name for name, id_ in ids.items()}
        found = ask(opened(), table.REVIEW, ReviewRequest(revisions="HEAD~1..HEAD")).items
        cited = (ReviewKind.CITED, ReviewKind.STANDING)
        hits = frozenset(names[each.id] for each in found if each.kind in cited)
        rules = frozenset(names[each.id] for each in found if each.kind is ReviewKind.APPLIES)
        assert {each.kind for each in found} <= {*cited, ReviewKind.APPLIES}
        yield Replayed(state, hits, rules, ids)
        _answer(state.after, memories, ids, cite)


def opened() -> Workspace:
    """Open the memory of the current folder."""
    return Workspace(os.path.abspath(ROOT), actor="kim", environment=os.environ)


def write(before: Files, after: Files) -> None:
    """Make the current folder hold the files of one state instead of another's."""
    for name in before.keys() - after.keys():
        Path(name).unlink()
    for name, text in after.items():
        if before.get(name) != text:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(text.encode())


def citation(files: Mapping[str, str], memory: Remembered) -> str | None:
    """Return what a memory rests on as `--cite` takes it; None where it rests on nothing."""
    place = place_of(files, memory)
    return None if place is None else f"{place[0]}:{place[1]}-{place[2]}"


def symbol_citation(files: Mapping[str, str], memory: Remembered) -> str | None:
    """Return the name that a memory rests on as `--cite` takes it, of a constant with its value."""
    place = place_of(files, memory)
    if place is None:
        return None
    name, first, last = place
    line = files[name].splitlines()[first - 1]
    value = f"={line.partition('=')[2].strip().rstrip(';')}" if first == last else ""
    return f"{name}::{memory.symbol}{value}"


def _remember(
    memories: Mapping[str, Remembered], files: Mapping[str, str], cite: Cite
) -> dict[str, str]:
    ids = {}
    for name, memory in memories.items():
        cited = cite(files, memory)
        request = AddRequest(
            content=memory.text,
            type=memory.type,
            cite=() if cited is None else (cited,),
            places=tuple(memory.places),
            force=True,
        )
        ids[name] = ask(opened(), table.ADD, request).memory.id
    return ids


def _answer(
    files: Mapping[str, str],
    memories: Mapping[str, Remembered],
    ids: Mapping[str, str],
    cite: Cite,
) -> None:
    """Say that everything holds as it is now; what lost its file is cited where it is now."""
    workspace = opened()
    broken = ask(workspace, table.VERIFY, VerifyRequest()).items
    gone = {item.id: item.file for item in broken if item.state is CitationState.GONE}
    held = {item.id for item in broken} - gone.keys()
    if held:
        ask(workspace, table.ACCEPT, RecordsRequest(references=tuple(sorted(held))))
    for name, memory in memories.items():
        if ids[name] in gone:
            cited = cite(files, memory)
            request = EditRequest(
                reference=ids[name],
                uncite=(gone[ids[name]],),
                cite=() if cited is None else (cited,),
            )
            ask(workspace, table.EDIT, request)
    _commit("Answer")


def _commit(message: str) -> None:
    ok("add", "--all")
    ok("commit", "--quiet", "--allow-empty", "--message", message)
