"""What is known of single records is brought up to date by what changed: the answers stay as if all
had been computed anew.
"""

import json
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pmem import Project
from pmem.errors import PmemError
from pmem.project.setup import initialise
from tests.conftest import NOW
from tests.effort import examples
from tests.storage.folders import contents, path_of, values, write

TEXTS = (
    "Money is integer cents, never a float",
    "Money is always integer cents, never floats",
    "Money is never a float, integer cents always",
    "The harbour gate opens at six in the morning",
    "The harbour gate opens at seven in the morning",
    "In the morning the harbour gate opens at six",
    "The lighthouse keeper logs every ship that passes",
)
SUBJECTS = (None, "money", "Gate")
Change = tuple[str, int, int]
changes = st.tuples(
    st.sampled_from(
        "add add edit link unlink remove restore supersede purge write write delete later"
        " consolidate talk".split()
    ),
    st.integers(0, 6),
    st.integers(0, 6),
)


def _ids(root: str) -> list[str]:
    return sorted(id_ for id_, value in values(root).items() if "valid_from" in value)


def _edit_file(root: str, identifier: str, text: str) -> None:
    path = path_of(root, identifier)
    value = json.loads(contents(path)) | {"content": text}
    write(path, json.dumps(value, indent=2).encode())


def _make(project: Project, root: str, change: Change) -> None:
    """Make a change as a command, another clone or an editor does."""
    what, first, second = change
    known = _ids(root) or ["0-00000000"]
    one, other = known[first % len(known)], known[second % len(known)]
    doing: dict[str, Callable[[], object]] = {
        "add": lambda: project.add(TEXTS[first], subject=SUBJECTS[second % 3], force=second > 2),
        "edit": lambda: project.edit(one, content=TEXTS[second]),
        "link": lambda: project.link(one, other),
        "unlink": lambda: project.unlink(one, other),
        "remove": lambda: project.remove(one),
        "restore": lambda: project.restore(one),
        "supersede": lambda: project.supersede_by(one, other),
        "purge": lambda: project.purge(one, force=True),
        "write": lambda: _edit_file(root, one, TEXTS[second]),
        "delete": lambda: os.unlink(path_of(root, one)),
        "consolidate": project.consolidate,
        "talk": lambda: project.add_message("user", TEXTS[first]),
    }
    with suppress(PmemError, FileNotFoundError):
        doing.get(what, bool)()


def answers(root: str, days: int, *, read_only: bool = False) -> dict[str, Any]:
    """Return what a new process answers; one that may not write keeps and uses no index."""
    project = Project(root, now=NOW + timedelta(days=days), read_only=read_only)
    return {
        "stats": project.stats(),
        "check": project.check(),
        "inbox": project.inbox(),
        "consolidate": project.consolidate(dry_run=True),
    }


@settings(max_examples=examples(60))
@given(made=st.lists(st.lists(changes, min_size=1, max_size=4), min_size=2, max_size=6))
def test_after_changes_the_answers_are_those_of_the_whole_computation(
    made: list[list[Change]],
) -> None:
    with tempfile.TemporaryDirectory() as place:
        root, days = os.path.join(place, "memory"), 0
        initialise(root)
        for text in TEXTS[:4]:
            Project(root, now=NOW).add(text)
        for together in made:
            assert answers(root, days) == answers(root, days, read_only=True)
            days += 40 * any(change[0] == "later" for change in together)
            for change in together:
                _make(Project(root, now=NOW + timedelta(days=days)), root, change)
        assert answers(root, days) == answers(root, days, read_only=True)
