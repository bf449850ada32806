"""The files that a merge left open, and the versions of records in them.

The versions are git's stages; where these are gone, the text between the markers is all there is:
no history is searched.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pmem.core.rawjson import NotJson, load
from pmem.core.threeway.deciding import Versions, version
from pmem.core.threeway.markers import apart, has_markers, plain_lines
from pmem.core.threeway.shapes import SHAPES, RecordShape
from pmem.core.threeway.values import Doubt, same
from pmem.errors import Damaged, FileNotRead
from pmem.project.configuration import CONFIG_FILE
from pmem.storage.files.listing import SUFFIX, record_file
from pmem.storage.files.recordfile import read_bytes
from pmem.storage.git.merge_stages import BASE, OURS, THEIRS, MergeState
from pmem.storage.git.repository import FILES
from pmem.values.ids import is_id
from pmem.vcs.settingsmerge import is_sound

UNREADABLE: Final = (NotJson, Doubt)
BY_HAND: Final = "finish it by hand, then `git add` it"
_FIX_BY_HAND: Final = "fix it by hand, or take it from git with `git checkout COMMIT -- FILE`"
_LABEL: Final = re.compile(
    rb"^(?:<+|>+) [^\n]*/([0-9a-z]{1,11}-[0-9a-z]{8})\.json\r?$", re.MULTILINE
)
"""A marker that names the file which its side came from, as git writes it after a renaming."""
_SIDES: Final = {OURS: "ours", THEIRS: "theirs"}
MODE: Final = "100644"
Record = dict[str, Any]


class Unfit(Exception):
    """A file cannot be repaired; the sentence says why, and what to do."""


class RecordKey(NamedTuple):
    """A record's store and id."""

    store: str
    id: str

    @property
    def path(self) -> str:
        """Where its file is in the memory folder."""
        return record_file(self.store, self.id)

    @property
    def shape(self) -> RecordShape:
        """What its fields are."""
        return SHAPES[self.store]


class OpenFile(NamedTuple):
    """A file that a merge left open: what it holds now, and git's stages by number.

    There are no stages where the text alone tells of the merge.
    """

    path: str
    here: bytes | None
    stages: Mapping[int, bytes]
    mode: str = MODE

    @property
    def lines(self) -> set[bytes]:
        """The lines that git put into it."""
        texts = self.stages.values() if self.stages else [self.here or b""]
        return set[bytes]().union(*map(plain_lines, texts))


class Case(NamedTuple):
    """A record to decide about: its versions, and the files whose conflict it is a part of.

    `there` has every version in that conflict, other records' too.
    """

    key: RecordKey
    versions: Versions
    files: tuple[OpenFile, ...]
    there: tuple[Record, ...]

    @property
    def paths(self) -> set[str]:
        """The paths of the files."""
        return {file.path for file in self.files}

    @property
    def lines(self) -> set[bytes]:
        """The lines that git put into the files."""
        return set[bytes]().union(*(file.lines for file in self.files))


class _Version(NamedTuple):
    key: RecordKey
    number: int
    record: Record


def find_open_files(root: str, state: MergeState | None) -> tuple[list[OpenFile], dict[str, str]]:
    """Return the files of the memory that merges left open.

    Returns:
        The files, and the paths that must be left with the reason for each.

    Raises:
        StorageRefused: A folder or a file may not be read.
    """
    unmerged = {} if state is None else state.unmerged()
    objects = sorted({entry.object for stages in unmerged.values() for entry in stages.values()})
    blobs = () if state is None else state.blobs(objects)
    contents = dict(zip(objects, blobs, strict=True))
    found, left = [], {}
    for path, stages in unmerged.items():
        held = {number: contents[it.object] for number, it in stages.items() if it.mode in FILES}
        texts = {number: data for number, data in held.items() if data is not None}
        side = stages.get(OURS) or stages.get(THEIRS)
        try:
            if path != CONFIG_FILE and key_of(path) is None:
                raise Unfit(f"it is no record: {BY_HAND}")
            if len(texts) < len(stages):
                raise Unfit(f"one of its sides is no file that can be read: {BY_HAND}")
            here = in_tree(root, path)
            found.append(OpenFile(path, here, texts, MODE if side is None else side.mode))
        except Unfit as unfit:
            left[path] = str(unfit)
    for path in _paths(root):
        if path not in unmerged:
            try:
                here = in_tree(root, path)
            except Unfit:
                continue  # a link has no markers
            if here is not None and _is_marked(os.path.join(root, path), here):
                found.append(OpenFile(path, here, {}))
    return found, left


def _paths(root: str) -> Iterator[str]:
    yield CONFIG_FILE
    for store in SHAPES:
        folder = os.path.join(root, store)
        try:
            names = [] if os.path.islink(folder) else os.listdir(folder)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise FileNotRead(f"{folder} cannot be read: {error.strerror}") from None
        yield from (f"{store}/{it}" for it in sorted(names) if it.endswith(SUFFIX) and it[0] != ".")


def _is_marked(path: str, data: bytes) -> bool:
    if not data.startswith(b"<") and b"\n<" not in data:
        return False
    if os.path.basename(path) == CONFIG_FILE:
        return has_markers(data) and not is_sound(data, path)
    try:
        load(data)
    except NotJson:
        return has_markers(data)
    return False


def in_tree(root: str, path: str) -> bytes | None:
    """Return what a file of a store holds; None where there is none.

    Raises:
        Unfit: It is a link, no regular file, or too large; or the store is a link.
        StorageRefused: It may not be read.
    """
    if os.path.islink(os.path.join(root, path.partition("/")[0])):
        raise Unfit("its store is a link, not a folder")
    try:
        return read_bytes(os.path.join(root, path))[0]
    except FileNotFoundError:
        return None
    except Damaged as error:
        raise Unfit(error.message) from None


def key_of(path: str) -> RecordKey | None:
    """Return the record that a file's path stands for; None where it is no record's."""
    store, _, name = path.partition("/")
    identifier = name.removesuffix(SUFFIX)
    if store not in SHAPES or not name.endswith(SUFFIX) or not is_id(identifier):
        return None
    return RecordKey(store, identifier)


def record_cases(files: Sequence[OpenFile]) -> tuple[list[Case], dict[str, str]]:
    """Gather the versions in all files by the id that is inside of them.

    Git's rename detection pairs a purged record with a new one that looks like it, so that a file
    may hold versions of another record than its name says.

    Returns:
        The records, and the paths that must be left with the reason for each.
    """
    read: dict[str, list[_Version]] = {}
    left = {}
    for file in files:
        try:
            read[file.path] = _versions(file)
        except Unfit as unfit:
            left[file.path] = str(unfit)
    cases = []
    for key in sorted({it.key for versions in read.values() for it in versions}):
        own = [file for file in files if any(it.key == key for it in read.get(file.path, ()))]
        held = [it for file in own for it in read[file.path]]
        try:
            three = (_only(n, [it for it in held if it.key == key]) for n in (BASE, OURS, THEIRS))
            versions = Versions(*three)
        except Unfit as unfit:
            left |= dict.fromkeys((file.path for file in own), str(unfit))
            continue
        cases.append(Case(key, versions, tuple(own), tuple(it.record for it in held)))
    return cases, left


def _versions(file: OpenFile) -> list[_Version]:
    """Read git's stages, else what stands between the markers; a base of no use is none."""
    found = []
    for number, data in sorted((file.stages or _apart(file)).items()):
        try:
            found.append(read_version(number, data, file.path))
        except UNREADABLE as error:
            if number == BASE:
                continue
            where, advice = "between its markers, ", _FIX_BY_HAND
            if file.stages:
                other = _SIDES[OURS + THEIRS - number]
                where, advice = (
                    "",
                    f"take the other side with `git checkout --{other}`, or {BY_HAND}",
                )
            raise Unfit(
                f"{where}{_SIDES[number]} is not as pmem writes it ({error}): {advice}"
            ) from None
    if not file.stages and len({it.key for it in found}) > 1:
        return [it for it in found if it.number != BASE]
    return found


def _apart(file: OpenFile) -> dict[int, bytes]:
    """Take the text with markers apart into what the stages would be."""
    data, key = file.here or b"", key_of(file.path)
    if key is None:
        raise Unfit(f"its name is no id: {_FIX_BY_HAND}")
    text = apart(data)
    if text is None:
        raise Unfit(f"its conflict markers do not belong together: {_FIX_BY_HAND}")
    mixed = {found.decode() for found in _LABEL.findall(data)} - {key.id}
    if mixed:
        raise Unfit(
            f"git mixed record {min(mixed)} into it, and without its stages nothing tells them"
            " apart: take both files from the commits where they are whole, with"
            " `git checkout COMMIT -- FILE`"
        )
    sides = {OURS: text.ours, THEIRS: text.theirs}
    return sides if text.base is None else {**sides, BASE: text.base}


def read_version(number: int, data: bytes, path: str) -> _Version:
    """Read a version of a record, and which record it says it is of.

    Raises:
        NotJson, Doubt: It is none.
    """
    store = path.partition("/")[0]
    found = version(data, SHAPES[store])
    if not is_id(found["id"]):
        raise Doubt(f"{found['id']!r} is no id")
    return _Version(RecordKey(store, found["id"]), number, found)


def _only(number: int, versions: Sequence[_Version]) -> Record | None:
    found = [it.record for it in versions if it.number == number]
    if all(same(found[0], other) for other in found[1:]):
        return found[0] if found else None
    if number == BASE:
        return None
    raise Unfit(f"{_SIDES[number]} has the record in two files that differ: {BY_HAND}")
