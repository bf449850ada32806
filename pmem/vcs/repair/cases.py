"""One record that a merge left open: its versions, and where they were found."""

import os
from typing import Any, Final, NamedTuple

from pmem.core.rawjson import NotJson, load
from pmem.core.threeway.deciding import Versions
from pmem.core.threeway.markers import has_markers
from pmem.core.threeway.shapes import SHAPES, RecordShape
from pmem.core.threeway.sides import checked
from pmem.core.threeway.values import Doubt
from pmem.errors import Damaged, Locked
from pmem.storage.files.listing import SUFFIX
from pmem.storage.files.recordfile import read_bytes
from pmem.values.ids import is_id
from pmem.values.records import RECORD_TYPES

UNREADABLE: Final = (NotJson, Doubt)


class Unfit(Exception):
    """A file cannot be repaired; the sentence says why, and what to do."""


class RecordKey(NamedTuple):
    """A record's store and id."""

    store: str
    id: str

    @property
    def path(self) -> str:
        """Where its file is in the memory folder."""
        return f"{self.store}/{self.id}{SUFFIX}"

    @property
    def shape(self) -> RecordShape:
        """What its fields are."""
        return SHAPES[self.store]


class Case(NamedTuple):
    """A record to decide about.

    `origin` says what its versions were taken from. `paths` are the files whose conflict it is
    a part of, `known` the lines that git put into them, `there` every version in that conflict,
    other records' too. It is `staged` where git still has the conflict in its index.
    """

    key: RecordKey
    versions: Versions
    origin: str
    paths: frozenset[str]
    known: frozenset[bytes]
    there: tuple[dict[str, Any], ...]
    staged: bool


def key_of(path: str) -> RecordKey | None:
    """Return the record that a file's path stands for; None where it is no record's."""
    store, _, name = path.partition("/")
    identifier = name.removesuffix(SUFFIX)
    if store not in RECORD_TYPES or not name.endswith(SUFFIX) or not is_id(identifier):
        return None
    return RecordKey(store, identifier)


def key_in(version: dict[str, Any], store: str) -> RecordKey:
    """Return the record that a version says it is of.

    Raises:
        Doubt: Its id is none.
    """
    if not is_id(version["id"]):
        raise Doubt(f"{version['id']!r} is no id")
    return RecordKey(store, version["id"])


def sound(data: bytes, shape: RecordShape) -> dict[str, Any]:
    """Read a version as pmem wrote it.

    Raises:
        NotJson, Doubt: It is none.
    """
    found = load(data)
    checked(found, shape)
    return found


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


def check_unchanged(root: str, path: str, seen: bytes | None) -> None:
    """See that nobody changed a file since it was read to decide about it.

    `seen` is what it held; None where there was none.

    Raises:
        Locked: Somebody did.
        StorageRefused: It may not be read.
    """
    try:
        is_as_seen = in_tree(root, path) == seen
    except Unfit:
        is_as_seen = False
    if not is_as_seen:
        raise Locked(f"{path} was changed by another program meanwhile")


def is_marked(data: bytes) -> bool:
    """Tell whether a file is no JSON and has conflict markers."""
    if not data.startswith(b"<") and b"\n<" not in data:
        return False
    try:
        load(data)
    except NotJson:
        return has_markers(data)
    return False
