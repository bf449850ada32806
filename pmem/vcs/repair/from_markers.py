"""The records of files that have conflict markers while git thinks that they are merged.

Git's stages are gone, so the text is all there is: no history is searched.
"""

import os
import re
from collections.abc import Iterable
from typing import Any, Final

from pmem.core.threeway.deciding import Versions, base_of
from pmem.core.threeway.markers import apart, plain_lines
from pmem.core.threeway.shapes import SHAPES
from pmem.core.threeway.sides import checked
from pmem.errors import FileNotRead
from pmem.storage.files.listing import SUFFIX
from pmem.vcs.repair.cases import (
    UNREADABLE,
    Case,
    RecordKey,
    Unfit,
    in_tree,
    is_marked,
    key_in,
    key_of,
    sound,
)

_LABEL: Final = re.compile(
    rb"^(?:<+|>+) [^\n]*/([0-9a-z]{1,11}-[0-9a-z]{8})\.json\r?$", re.MULTILINE
)
"""A marker that names the file which its side came from, as git writes it after a renaming."""
_ORIGIN: Final = "from the text between the markers"
_BY_HAND: Final = "fix it by hand, or take it from git with `git checkout COMMIT -- FILE`"
Record = dict[str, Any]


def marked_files(root: str, besides: Iterable[str]) -> dict[str, bytes]:
    """Return the files of the stores that have conflict markers, by path.

    Raises:
        StorageRefused: A folder or a file may not be read.
    """
    found = {}
    known = set(besides)
    for store in SHAPES:
        for name in _names(os.path.join(root, store)):
            path = f"{store}/{name}"
            try:
                data = None if path in known else in_tree(root, path)
            except Unfit:
                continue  # a link has no markers
            if data is not None and is_marked(data):
                found[path] = data
    return found


def marker_cases(path: str, data: bytes) -> list[Case]:
    """Take both versions of the records in a file from the text between its markers.

    Raises:
        Unfit: They do not come apart into records.
    """
    key = key_of(path)
    if key is None:
        raise Unfit(f"its name is no id: {_BY_HAND}")
    text = apart(data)
    if text is None:
        raise Unfit(f"its conflict markers do not belong together: {_BY_HAND}")
    mixed = {found.decode() for found in _LABEL.findall(data)} - {key.id}
    if mixed:
        raise Unfit(
            f"git mixed record {min(mixed)} into it, and without its stages nothing tells them"
            " apart: take both files from the commits where they are whole, with"
            " `git checkout COMMIT -- FILE`"
        )
    ours, theirs = _side("ours", text.ours, key), _side("theirs", text.theirs, key)
    found = _versions(key, ours, theirs, base_of(text))
    return [
        Case(
            each,
            versions,
            origin=_ORIGIN
            if len(found) == 1
            else f"{_ORIGIN}, where two records stand side by side",
            paths=frozenset({key.path}),
            known=frozenset(plain_lines(data)),
            there=(ours, theirs),
            staged=False,
        )
        for each, versions in found.items()
    ]


def _versions(
    key: RecordKey, ours: Record, theirs: Record, shown: Record | None
) -> dict[RecordKey, Versions]:
    """Return the versions of each record that the sides are of; a base only where it is shown."""
    try:
        keys = [key_in(side, key.store) for side in (ours, theirs)]
    except UNREADABLE as error:
        raise Unfit(f"between its markers, {error}: {_BY_HAND}") from None
    if keys[0] != keys[1]:
        return {keys[0]: Versions(None, ours, None), keys[1]: Versions(None, None, theirs)}
    base = shown if shown is not None and _is_of(shown, keys[0]) else None
    return {keys[0]: Versions(base, ours, theirs)}


def _names(folder: str) -> list[str]:
    if os.path.islink(folder):
        return []
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise FileNotRead(f"{folder} cannot be read: {error.strerror}") from None
    return sorted(name for name in names if name.endswith(SUFFIX) and name[0] != ".")


def _side(name: str, data: bytes, key: RecordKey) -> Record:
    """Read a side as it stands between the markers.

    Raises:
        Unfit: It is not as pmem writes it.
    """
    try:
        return sound(data, key.shape)
    except UNREADABLE as error:
        raise Unfit(
            f"between its markers, {name} is not as pmem writes it ({error}): {_BY_HAND}"
        ) from None


def _is_of(version: Record, key: RecordKey) -> bool:
    try:
        checked(version, key.shape)
        return key_in(version, key.store) == key
    except UNREADABLE:
        return False
