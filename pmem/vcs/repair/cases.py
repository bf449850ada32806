"""The records that a merge left open: their versions, from git's stages or from conflict markers.

Where git's stages are gone, the text is all there is: no history is searched.
"""

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from pmem.core.rawjson import NotJson, load
from pmem.core.threeway.deciding import Versions, base_of, version
from pmem.core.threeway.markers import apart, has_markers, plain_lines
from pmem.core.threeway.shapes import SHAPES, RecordShape, checked
from pmem.core.threeway.values import Doubt, same
from pmem.errors import Damaged, FileNotRead, Locked
from pmem.project.configuration import CONFIG_FILE
from pmem.storage.files.durable import refusals, write_file
from pmem.storage.files.listing import SUFFIX, record_file
from pmem.storage.files.recordfile import read_bytes
from pmem.storage.git.merge_stages import BASE, OURS, THEIRS, MergeState, Placed
from pmem.storage.git.repository import FILES, TreeEntry
from pmem.storage.jsonfiles import scratch
from pmem.values.ids import is_id
from pmem.values.records import RECORD_TYPES
from pmem.vcs.settingsmerge import SettingsFile, is_sound, merge_files

UNREADABLE: Final = (NotJson, Doubt)
_LABEL: Final = re.compile(
    rb"^(?:<+|>+) [^\n]*/([0-9a-z]{1,11}-[0-9a-z]{8})\.json\r?$", re.MULTILINE
)
"""A marker that names the file which its side came from, as git writes it after a renaming."""
_SIDES: Final = {OURS: "ours", THEIRS: "theirs"}
_BY_HAND: Final = "resolve it by hand, then `git add` it"
_FINISH_BY_HAND: Final = "finish it by hand, then `git add` it"
_FIX_BY_HAND: Final = "fix it by hand, or take it from git with `git checkout COMMIT -- FILE`"
Record = dict[str, Any]
Unmerged = Mapping[str, Mapping[int, TreeEntry]]
"""Paths with their stages by number."""


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
    there: tuple[Record, ...]
    staged: bool


def read_version(data: bytes, store: str) -> tuple[RecordKey, Record]:
    """Read a version of a record, and which record it says it is of.

    Raises:
        NotJson, Doubt: It is none.
    """
    found = version(data, SHAPES[store])
    if not is_id(found["id"]):
        raise Doubt(f"{found['id']!r} is no id")
    return RecordKey(store, found["id"]), found


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


def marked_files(root: str, besides: Iterable[str]) -> dict[str, bytes]:
    """Return the files of the stores that have conflict markers, by path, but for some.

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
            if data is not None and _is_marked(data):
                found[path] = data
    return found


def marker_cases(path: str, data: bytes) -> list[Case]:
    """Take both versions of the records in a file from the text between its markers.

    Raises:
        Unfit: They do not come apart into records.
    """
    key = key_of(path)
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
    (one, ours), (other, theirs) = (
        _side(number, side, key.store)
        for number, side in zip(_SIDES, (text.ours, text.theirs), strict=True)
    )
    found = {one: Versions(None, ours, None), other: Versions(None, None, theirs)}
    if one == other:
        found = {one: Versions(_shown_base(base_of(text), one), ours, theirs)}
    return [
        Case(
            each,
            versions,
            origin="from the text between the markers"
            + ", where two records stand side by side" * (len(found) > 1),
            paths=frozenset({key.path}),
            known=frozenset(plain_lines(data)),
            there=(ours, theirs),
            staged=False,
        )
        for each, versions in found.items()
    ]


def stage_cases(state: MergeState, unmerged: Unmerged) -> tuple[list[Case], dict[str, str]]:
    """Gather the versions of all unmerged paths by the id that is inside of them.

    Git's rename detection pairs a purged record with a new one that looks like it, so that a file
    may hold versions of another record than its name says.

    Returns:
        The records, and the paths that must be left with the reason for each.
    """
    objects = sorted({entry.object for stages in unmerged.values() for entry in stages.values()})
    contents = dict(zip(objects, state.blobs(objects), strict=True))
    found: dict[str, list[tuple[RecordKey, int, Record]]] = {}
    lines: dict[str, set[bytes]] = {}
    left = {}
    for path, stages in unmerged.items():
        held = {number: (it.mode, contents[it.object]) for number, it in sorted(stages.items())}
        lines[path] = set().union(*(plain_lines(data or b"") for _, data in held.values()))
        try:
            found[path] = _stage_versions(path, held)
        except Unfit as unfit:
            left[path] = str(unfit)
    cases = []
    for key in sorted({key for versions in found.values() for key, _, _ in versions}):
        paths = [path for path, versions in found.items() if any(key == it[0] for it in versions)]
        own = [it for path in paths for it in found[path] if it[0] == key]
        try:
            versions = Versions(*(_only(number, own) for number in (BASE, OURS, THEIRS)))
        except Unfit as unfit:
            left |= dict.fromkeys(paths, str(unfit))
            continue
        cases.append(
            Case(
                key,
                versions,
                origin="from git's stages" + ", which have no base" * (versions.base is None),
                paths=frozenset(paths),
                known=frozenset[bytes]().union(*(lines[path] for path in paths)),
                there=tuple(record for path in paths for _, _, record in found[path]),
                staged=True,
            )
        )
    return cases, left


def _stage_versions(
    path: str, held: Mapping[int, tuple[str, bytes | None]]
) -> list[tuple[RecordKey, int, Record]]:
    """Read a path's stages: of which record, at which stage; a base that is no record is none."""
    if key_of(path) is None:
        raise Unfit(f"it is no record: {_BY_HAND}")
    found = []
    for number, (mode, data) in held.items():
        if mode not in FILES or data is None:
            raise Unfit(f"one of its sides is no file that can be read: {_BY_HAND}")
        try:
            key, record = read_version(data, path.partition("/")[0])
            found.append((key, number, record))
        except UNREADABLE as error:
            if number != BASE:
                raise Unfit(
                    f"{_SIDES[number]} is not as pmem writes it ({error}): take the other side"
                    f" with `git checkout --{_SIDES[OURS + THEIRS - number]}`, or {_BY_HAND}"
                ) from None
    return found


def _only(number: int, versions: list[tuple[RecordKey, int, Record]]) -> Record | None:
    """Return the one version that there is at a stage."""
    found = [record for _, stage, record in versions if stage == number]
    if all(same(found[0], other) for other in found[1:]):
        return found[0] if found else None
    if number == BASE:
        return None
    raise Unfit(f"{_SIDES[number]} has the record in two files that differ: {_BY_HAND}")


def key_of(path: str) -> RecordKey | None:
    """Return the record that a file's path stands for; None where it is no record's."""
    store, _, name = path.partition("/")
    identifier = name.removesuffix(SUFFIX)
    if store not in RECORD_TYPES or not name.endswith(SUFFIX) or not is_id(identifier):
        return None
    return RecordKey(store, identifier)


def _is_marked(data: bytes) -> bool:
    """Tell whether a file is no JSON and has conflict markers."""
    if not data.startswith(b"<") and b"\n<" not in data:
        return False
    try:
        load(data)
    except NotJson:
        return has_markers(data)
    return False


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


def _side(number: int, data: bytes, store: str) -> tuple[RecordKey, Record]:
    """Read a side as it stands between the markers."""
    try:
        return read_version(data, store)
    except UNREADABLE as error:
        raise Unfit(
            f"between its markers, {_SIDES[number]} is not as pmem writes it ({error}):"
            f" {_FIX_BY_HAND}"
        ) from None


def _shown_base(shown: Record | None, key: RecordKey) -> Record | None:
    """Return the base that the markers show, if it is one of that record."""
    try:
        if shown is not None:
            checked(shown, key.shape)
    except Doubt:
        return None
    return shown if shown is not None and shown["id"] == key.id else None


class SettingsRepair(NamedTuple):
    """What the file is to hold, what was decided and why, and what the two sides disagree on.

    `placed` is what git's index is to hold for it; nothing where git does not track it.
    """

    data: bytes
    decision: str
    why: str
    conflicts: tuple[str, ...]
    seen: bytes | None
    placed: Mapping[str, Placed]


def settings_case(
    root: str, state: MergeState | None, stages: Mapping[int, TreeEntry]
) -> SettingsRepair | None:
    """Finish the merge of the project's settings, if one is open."""
    path = os.path.join(root, CONFIG_FILE)
    here = in_tree(root, CONFIG_FILE)
    is_open = here is not None and not is_sound(here, path) and has_markers(here)
    if not stages and not is_open:
        return None
    if here is not None and not is_open:  # somebody has resolved it, or the merge driver
        if not is_sound(here, path):
            raise Unfit(f"it was edited by hand, and is no TOML: {_FINISH_BY_HAND}")
        placed = _index_files(state, stages, here)
        return SettingsRepair(here, "kept", "it was resolved and stays as it is", (), here, placed)
    try:
        done, why = _merge_settings(path, here or b"", state, stages)
    except (Damaged, UnicodeDecodeError) as error:
        raise Unfit(f"its versions cannot be merged ({error}): {_FINISH_BY_HAND}") from None
    if done.conflicts:
        why += f"; the two sides disagree on {', '.join(done.conflicts)}: see the end of the file"
    placed = _index_files(state, stages, done.data)
    return SettingsRepair(done.data, "merged", why, done.conflicts, here, placed)


def carry_out(root: str, state: MergeState | None, merged: SettingsRepair) -> None:
    """Write the file and tell git. Hold the writers' lock."""
    path = os.path.join(root, CONFIG_FILE)
    if merged.data != merged.seen:
        check_unchanged(root, CONFIG_FILE, merged.seen)
        with refusals(path):
            write_file(path, merged.data, scratch(root))
    if state is not None:
        state.place_all(merged.placed)


def _merge_settings(
    path: str, here: bytes, state: MergeState | None, stages: Mapping[int, TreeEntry]
) -> tuple[SettingsFile, str]:
    """Merge from the stages if the file holds nothing else, else from the text between markers."""
    if state is not None and {OURS, THEIRS} & stages.keys():
        contents = state.blobs([entry.object for entry in stages.values()])
        versions = dict(zip(stages, contents, strict=True))
        base, ours, theirs = (versions.get(number) or b"" for number in (BASE, OURS, THEIRS))
        if not plain_lines(here) - plain_lines(base) - plain_lines(ours) - plain_lines(theirs):
            if not {OURS, THEIRS} <= stages.keys():  # removed on one side, changed on another
                ours = theirs = ours or theirs
            return merge_files(base, ours, theirs, path), "setting by setting (from git's stages)"
    text = apart(here)
    if text is None:
        raise Unfit(f"its conflict markers do not belong together: {_FINISH_BY_HAND}")
    done = merge_files(text.base, text.ours, text.theirs, path)
    return done, "setting by setting (from the text between the markers)"


def _index_files(
    state: MergeState | None, stages: Mapping[int, TreeEntry], data: bytes
) -> Mapping[str, Placed]:
    """Return what git's index is to hold, its lines ending as they do in commits."""
    if state is None:
        return {}
    known = stages.get(OURS) or stages.get(THEIRS) or state.tracked([CONFIG_FILE]).get(CONFIG_FILE)
    if known is None:
        return {}
    return {CONFIG_FILE: Placed(known.mode, data.replace(b"\r\n", b"\n"))}
