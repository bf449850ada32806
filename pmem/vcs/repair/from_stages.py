"""The records of a merge that git still knows about: what its index holds for unmerged paths."""

from collections.abc import Mapping
from typing import Any, Final

from pmem.core.threeway.deciding import Versions, version
from pmem.core.threeway.markers import plain_lines
from pmem.core.threeway.shapes import SHAPES
from pmem.core.threeway.values import same
from pmem.storage.git.merge_stages import BASE, OURS, THEIRS, MergeState
from pmem.storage.git.repository import TreeEntry
from pmem.vcs.repair.cases import UNREADABLE, Case, RecordKey, Unfit, key_in, key_of

_FILES: Final = ("100644", "100755", "100664")
_NAMES: Final = {OURS: "ours", THEIRS: "theirs"}
_BY_HAND: Final = "resolve it by hand, then `git add` it"
Found = list[tuple[RecordKey, int, dict[str, Any]]]
"""Versions in one path: of which record, at which stage."""


def stage_cases(
    state: MergeState, unmerged: Mapping[str, Mapping[int, TreeEntry]]
) -> tuple[list[Case], dict[str, str]]:
    """Gather the versions of all unmerged paths by record.

    Returns:
        The records, and the paths that must be left with the reason for each.
    """
    found: dict[str, Found] = {}
    lines: dict[str, frozenset[bytes]] = {}
    left = {}
    contents = _contents(state, unmerged)
    for path, stages in unmerged.items():
        try:
            found[path] = _versions(path, stages, contents)
        except Unfit as unfit:
            left[path] = str(unfit)
        lines[path] = frozenset[bytes]().union(
            *(plain_lines(contents[entry.object] or b"") for entry in stages.values())
        )
    cases = []
    for key in sorted({key for versions in found.values() for key, _, _ in versions}):
        try:
            cases.append(_case(key, found, lines))
        except Unfit as unfit:
            left |= dict.fromkeys(_paths(key, found), str(unfit))
    return cases, left


def _contents(
    state: MergeState, unmerged: Mapping[str, Mapping[int, TreeEntry]]
) -> dict[str, bytes | None]:
    objects = sorted({entry.object for stages in unmerged.values() for entry in stages.values()})
    return dict(zip(objects, state.blobs(objects), strict=True))


def _versions(
    path: str, stages: Mapping[int, TreeEntry], contents: Mapping[str, bytes | None]
) -> Found:
    if key_of(path) is None:
        raise Unfit(f"it is no record: {_BY_HAND}")
    store = path.partition("/")[0]
    found = []
    for number, entry in sorted(stages.items()):
        data = contents[entry.object]
        try:
            if entry.mode not in _FILES or data is None:
                raise Unfit(f"one of its sides is no file that can be read: {_BY_HAND}")
            read = version(data, SHAPES[store])
            found.append((key_in(read, store), number, read))
        except UNREADABLE as error:
            if number != BASE:
                raise Unfit(
                    f"{_NAMES[number]} is not as pmem writes it ({error}): take the other side"
                    f" with `git checkout --{_NAMES[OURS + THEIRS - number]}`, or {_BY_HAND}"
                ) from None
    return found


def _case(
    key: RecordKey, found: Mapping[str, Found], lines: Mapping[str, frozenset[bytes]]
) -> Case:
    paths = _paths(key, found)
    all_ = [(stage, read) for path in paths for k, stage, read in found[path] if k == key]
    base, ours, theirs = (
        _only(number, [read for stage, read in all_ if stage == number])
        for number in (BASE, OURS, THEIRS)
    )
    return Case(
        key=key,
        versions=Versions(base, ours, theirs),
        origin="from git's stages" + ", which have no base" * (base is None),
        paths=frozenset(paths),
        known=frozenset[bytes]().union(*(lines[path] for path in paths)),
        there=tuple(read for path in paths for _, _, read in found[path]),
        staged=True,
    )


def _paths(key: RecordKey, found: Mapping[str, Found]) -> list[str]:
    """Return the paths that have a version of a record."""
    return [path for path, versions in found.items() if any(key == k for k, _, _ in versions)]


def _only(number: int, versions: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the one version that there is at a stage.

    Raises:
        Unfit: There are several, and they differ.
    """
    if all(same(versions[0], other) for other in versions[1:]):
        return versions[0] if versions else None
    if number == BASE:
        return None
    raise Unfit(f"{_NAMES[number]} has the record in two files that differ: {_BY_HAND}")
