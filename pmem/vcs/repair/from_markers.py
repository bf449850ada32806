"""The records of files that have conflict markers while git thinks that they are merged."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from pmem.core.rawjson import dump
from pmem.core.threeway.deciding import (
    Versions,
    base_of,
    decide,
    keeps_all,
    may_be_base,
)
from pmem.core.threeway.markers import Apart, apart, plain_lines
from pmem.core.threeway.shapes import SHAPES
from pmem.core.threeway.sides import checked
from pmem.core.threeway.values import Doubt
from pmem.errors import StorageRefused
from pmem.storage.files.listing import SUFFIX
from pmem.storage.git.repository import Entry
from pmem.storage.git.stages import MergeState
from pmem.vcs.repair.cases import (
    UNREADABLE,
    Case,
    Key,
    Unfit,
    in_tree,
    is_marked,
    key_in,
    key_of,
    sound,
)
from pmem.vcs.repair.sources import NOTHING, Past, Source, past_of, sources

_ID: Final = re.compile(rb'^  "id": "([0-9a-z]{1,11}-[0-9a-z]{8})"', re.MULTILINE)
_MOST_IDS: Final = 20
"""Ids that a file may name for git to be asked about them; a merge names two."""
_LABEL: Final = re.compile(
    rb"^(?:<+|>+) [^\n]*/([0-9a-z]{1,11}-[0-9a-z]{8})\.json\r?$", re.MULTILINE
)
"""A marker that names the file which its side came from, as git writes it after a renaming."""
_BY_HAND: Final = "mend it by hand, or take it from git with `git checkout COMMIT -- FILE`"
Record = dict[str, Any]


def marked_files(root: str, besides: Iterable[str]) -> dict[str, bytes]:
    """Return the files of the stores that have conflict markers, by path.

    Args:
        root: The memory folder.
        besides: Paths that are not looked at.

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


def marker_cases(state: MergeState | None, path: str, data: bytes) -> list[Case]:
    """Find the versions of the records in a file with conflict markers.

    Args:
        state: What git knows; None where there is no git.
        path: The file.
        data: What it holds.

    Raises:
        Unfit: They cannot be found.
        StorageRefused: Git cannot read the repository.
    """
    key = key_of(path)
    if key is None:
        raise Unfit(f"its name is no id: {_BY_HAND}")
    past = NOTHING if state is None else past_of(state, key)
    named = [Key(key.store, identifier) for identifier in _named(data, key)]
    for source in () if state is None else sources(state, [key, *named], past):
        assert state is not None
        found = _from_commits(state, key, data, source)
        if found:
            return found
    return _from_text(key, data, past)


def _names(folder: str) -> list[str]:
    if os.path.islink(folder):
        return []
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StorageRefused(f"{folder} cannot be read: {error.strerror}") from None
    return sorted(name for name in names if name.endswith(SUFFIX) and name[0] != ".")


def _from_commits(state: MergeState, key: Key, data: bytes, source: Source) -> list[Case] | None:
    """Return the records as three commits have them, if those are what the file was made of."""
    sides = source.sides
    ids = {key.id, *_named(data, key), *(found.decode() for found in _ID.findall(data))}
    if len(ids) > _MOST_IDS:
        return None
    keys = {Key(key.store, id_) for id_ in ids}
    paths = sorted(each.path for each in keys)
    trees = [{} if commit is None else state.at(commit, paths) for commit in sides]
    contents = _contents(state, trees)
    strange = plain_lines(data) - _lines_of(contents)
    if strange:
        trees = [{} if commit is None else state.files(commit) for commit in sides]
        keys |= _paired(state, key.store, trees, strange)
        paths = sorted(each.path for each in keys)
        trees = [{path: tree[path] for path in paths if path in tree} for tree in trees]
        contents = _contents(state, trees)
    known = _lines_of(contents)
    if plain_lines(data) - known or (source.guessed and not _fits(trees, contents, data)):
        return None
    try:
        found = {
            each: Versions(*(_at(tree.get(each.path), contents, each) for tree in trees))
            for each in sorted(keys)
        }
    except UNREADABLE:
        return None
    there = tuple(side for versions in found.values() for side in versions if side is not None)
    return [
        Case(each, versions, source.origin, frozenset({key.path}), known, there, staged=False)
        for each, versions in found.items()
        if versions.ours is not None or versions.theirs is not None
    ]


def _fits(
    trees: Sequence[Mapping[str, Entry]], contents: Mapping[str, bytes | None], data: bytes
) -> bool:
    """Tell whether both sides changed something, and all that they added is in the file."""
    base, *sides = (
        _lines_of({each.object: contents[each.object] for each in tree.values()}) for tree in trees
    )
    return all(side - base and not (side - base) - plain_lines(data) for side in sides)


def _paired(
    state: MergeState, store: str, trees: Sequence[Mapping[str, Entry]], lines: set[bytes]
) -> set[Key]:
    """Return records that git may have taken for another one, for they brought lines into it.

    One side has purged such a record, and the other has changed it.
    """
    base, ours, theirs = trees
    changed = {}
    for path, entry in base.items():
        key = key_of(path)
        left = [tree[path] for tree in (ours, theirs) if path in tree]
        if key is not None and key.store == store and len(left) == 1 and left != [entry]:
            changed[key] = (entry, left[0])
    contents = _contents(
        state, [{str(n): each for n, each in enumerate(two)} for two in changed.values()]
    )
    return {
        key
        for key, two in changed.items()
        if lines <= _lines_of({each.object: contents[each.object] for each in two})
    }


def _contents(state: MergeState, trees: Iterable[Mapping[str, Entry]]) -> dict[str, bytes | None]:
    """Return what the objects in trees hold."""
    objects = sorted({entry.object for tree in trees for entry in tree.values()})
    return dict(zip(objects, state.blobs(objects), strict=True))


def _lines_of(contents: Mapping[str, bytes | None]) -> frozenset[bytes]:
    return frozenset[bytes]().union(*(plain_lines(blob or b"") for blob in contents.values()))


def _at(entry: Entry | None, contents: Mapping[str, bytes | None], key: Key) -> Record | None:
    """Read a commit's version of a record; nothing where it has none.

    Raises:
        NotJson, Doubt: It is not as pmem writes it.
    """
    if entry is None:
        return None
    found = sound(contents[entry.object] or b"", key.shape)
    if key_in(found, key.store) != key:
        raise Doubt("the file has another record's name")
    return found


def _from_text(key: Key, data: bytes, past: Past) -> list[Case]:
    """Return the records as they stand between the markers."""
    text = apart(data)
    if text is None:
        raise Unfit(f"its conflict markers do not belong together: {_BY_HAND}")
    mixed = _named(data, key)
    if mixed:
        raise Unfit(
            f"git mixed record {mixed[0]} into it, and no commits tell them apart: take both"
            " files from the commits where they are whole, with `git checkout COMMIT -- FILE`"
        )
    origin = "from the text between the markers"
    theirs = _side("theirs", text.theirs, key)
    try:
        ours = _side("ours", text.ours, key)
    except Unfit:
        ours = _before(text, past)
        origin += ", ours from the version before"
    known = frozenset(plain_lines(data))
    paths = frozenset({key.path})
    try:
        keys = [key_in(side, key.store) for side in (ours, theirs)]
    except UNREADABLE as error:
        raise Unfit(f"between its markers, {error}: {_BY_HAND}") from None
    if keys[0] != keys[1]:
        origin += ", where two records stand side by side"
        apart_ = (Versions(None, ours, None), Versions(None, None, theirs))
        return [
            Case(each, versions, origin, paths, known, (ours, theirs), staged=False)
            for each, versions in zip(keys, apart_, strict=True)
        ]
    base, told = _base(text, Versions(None, ours, theirs), keys[0], past)
    versions = Versions(base, ours, theirs)
    return [Case(keys[0], versions, origin + told, paths, known, (ours, theirs), staged=False)]


def _named(data: bytes, key: Key) -> list[str]:
    """Return the ids of other records whose files the markers name."""
    return sorted({found.decode() for found in _LABEL.findall(data)} - {key.id})


def _side(name: str, data: bytes, key: Key) -> Record:
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


def _before(text: Apart, past: Past) -> Record:
    """Return ours as it was before the markers, if all that now stands there comes from it.

    Raises:
        Unfit: There is no such version.
    """
    for version in past.versions[:1]:
        if not plain_lines(text.ours) - plain_lines(dump(version)) - plain_lines(text.theirs):
            return version
    raise Unfit(f"between its markers, ours is not as pmem writes it: {_BY_HAND}")


def _base(text: Apart, versions: Versions, key: Key, past: Past) -> tuple[Record | None, str]:
    """Return what both sides came from, as far as that is known, and how it is known."""
    shown = base_of(text)
    if shown is not None and _is_of(shown, key):
        return shown, ", which show the base"
    for candidate in past.versions:
        if _is_of(candidate, key) and may_be_base(candidate, versions):
            guess = versions._replace(base=candidate)
            try:
                result = decide(guess, key.shape).result
            except UNREADABLE:
                continue
            if result is not None and keeps_all(result, versions, key.shape):
                return candidate, ", and an older version that both sides know"
    return None, ", without a base"


def _is_of(version: Record, key: Key) -> bool:
    try:
        checked(version, key.shape)
        return key_in(version, key.store) == key
    except UNREADABLE:
        return False
