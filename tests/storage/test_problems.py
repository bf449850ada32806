"""Files that cannot be used are told in the order of their names, whichever was met first."""

import os
import tempfile
from pathlib import Path
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from pmem import Project
from pmem.core.filters import Filter
from pmem.project.setup import initialise
from tests.effort import examples
from tests.storage.folders import opened

NAMES = tuple(f"mwqi{place}000-0000000{place}.json" for place in range(1, 8))


def _damage(root: str, names: list[str]) -> None:
    for name in names:
        Path(root, "long-term-memory", name).write_bytes(b"{")


@settings(max_examples=examples(40), deadline=None)
@given(st.permutations(NAMES), st.lists(st.integers(0, 6), max_size=3), st.integers(0, 99))
def test_unusable_files_are_told_by_their_names(
    order: list[str], mended: list[int], seed: int
) -> None:
    root = os.path.join(tempfile.mkdtemp(prefix="problems-", dir="."), ".project-memory")
    initialise(root)
    Project(root).add("It can be read")
    _damage(root, order)
    workspace = opened(root)
    for name in Random(seed).sample(order, 3):  # some are asked for one by one before
        assert workspace.memories.ids(name.removesuffix(".json"))
    list(workspace.memories.find(Filter()))
    for place in mended:  # and some are mended, and damaged again
        os.unlink(Path(root, "long-term-memory", NAMES[place]))
        list(workspace.memories.find(Filter()))
        _damage(root, [NAMES[place]])
        list(workspace.memories.select())
    told = [os.path.basename(problem.path) for problem in workspace.problems]
    assert told == sorted(NAMES)
