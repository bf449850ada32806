"""Making a folder and a server equal: each record is merged as git's branches are.

Both sides start from what they had in common the last time (`storage.local.sync_base`). A batch
is written to the server first, and then to the folder; where it was cut short between the two,
the next run knows what the server has already taken in, and goes on from there.
"""

import os
from collections.abc import Sequence
from hashlib import sha256
from typing import Annotated, Final, Literal, NamedTuple
from uuid import uuid4

import msgspec

from pmem.core.lines import split_lines
from pmem.core.rawjson import NotJson, dump
from pmem.core.retrieval.documents import shown_text
from pmem.core.threeway.deciding import Versions, decide, version
from pmem.core.threeway.shapes import SHAPES
from pmem.core.threeway.values import Doubt
from pmem.errors import Damaged
from pmem.project.setup import IGNORE_FILE, SHARE_CONVERSATIONS
from pmem.project.workspace import Workspace
from pmem.storage.backend import Problem
from pmem.storage.files import safe_files
from pmem.storage.files.durable import FileChange
from pmem.storage.files.listing import SUFFIX, record_file
from pmem.storage.files.recordfile import decode, parse, read_within
from pmem.storage.jsonfiles import JsonFiles
from pmem.storage.local.state import LocalState
from pmem.storage.local.sync_base import RecordKey, SyncBase, UnfinishedBatch
from pmem.storage.postgres.exchange import ServerSide, server_side
from pmem.values.fields import DryRun, asked
from pmem.values.ids import is_id
from pmem.values.records import RECORD_TYPES, Chunk, Episode, Memory
from pmem.vcs.ignoring import TRANSCRIPTS

_BATCH: Final = 500  # records that are written together: more would keep other writers waiting

Fate = Literal["to_server", "to_folder", "merged", "removed"]


class SyncRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Whether to change nothing, and whether transcripts that git does not track go along."""

    dry_run: DryRun = False
    conversations: Annotated[bool, asked("Take transcripts along that git ignores.")] = False


class SyncedRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one record, what it says unless it was deleted, and the fields in which both
    sides contradict each other.
    """

    store: str
    id: str
    fate: Fate
    text: str
    conflicts: tuple[str, ...] = ()


class Synced(msgspec.Struct, frozen=True, kw_only=True):
    """The records that were written to make both sides equal, or would be, and what is `left` as it
    cannot be read; `checkpoints` counts the saved states of threads that went to the server.
    """

    server: str
    records: tuple[SyncedRecord, ...]
    left: tuple[Problem, ...]
    checkpoints: int = 0


class _Decided(NamedTuple):
    """What a record is to be on both sides, and what each has of it now."""

    ours: bytes | None
    theirs: bytes | None
    result: bytes | None
    conflicts: tuple[str, ...] = ()

    @property
    def fate(self) -> Fate | None:
        """What happens to the record; None where both sides have it so."""
        if self.result == self.ours == self.theirs:
            return None
        if self.result is None:
            return "removed"
        if self.result == self.ours:
            return "to_server"
        return "to_folder" if self.result == self.theirs else "merged"


def sync(workspace: Workspace, request: SyncRequest) -> Synced:
    """Make the memory folder and the server equal.

    Cut short at any point, it is run again; run twice, the second run changes nothing.
    """
    server = server_side(workspace.whole)
    state = LocalState(workspace.own.root, read_only=workspace.read_only or request.dry_run)
    base = SyncBase(state, workspace.settings.database_project)
    both = _Sides(workspace, server, base)
    if not request.dry_run:
        both.go_on()
    stores = shared_stores(workspace, conversations=request.conversations)
    found: list[SyncedRecord] = []
    keys = both.differing(stores)
    for start in range(0, len(keys), _BATCH):
        batch = keys[start : start + _BATCH]
        found += both.look_at(batch) if request.dry_run else both.make_equal(batch)
    saved = 0 if request.dry_run else _send_checkpoints(workspace, both.state)
    return Synced(
        server=server.name, records=tuple(found), left=tuple(both.problems), checkpoints=saved
    )


class _Sides:
    def __init__(self, workspace: Workspace, server: ServerSide, base: SyncBase) -> None:
        self._root = workspace.root
        self._files: JsonFiles = workspace.files
        self._most = workspace.settings.limits.record
        self._server = server
        self._base = base
        self.state = LocalState(workspace.root, read_only=workspace.read_only)
        self.problems: dict[Problem, None] = {}

    def go_on(self) -> None:
        """Learn what became of a batch that was cut short.

        Where the server has it, the server's side grew out of what the folder has of it, or had.
        """
        batch = self._base.pending()
        if batch is None:
            return
        common: dict[RecordKey, bytes | None] = {}
        if self._server.has_written(batch.name):
            for key, (before, result) in batch.records.items():
                common[key] = result if self._read(key) == result else before
        self._base.end(common)
        self._server.forget(batch.name)

    def differing(self, stores: Sequence[str]) -> list[RecordKey]:
        """Return the records that are not the same on both sides and in what they had in common."""
        theirs = self._server.digests(stores)
        base = {key: held for key, held in self._base.digests().items() if key[0] in stores}
        ours: dict[RecordKey, bytes] = {}
        for store in stores:
            for identifier in self._files.ids(RECORD_TYPES[store]):
                data = self._read((store, identifier))
                if data is not None:
                    ours[store, identifier] = sha256(data).digest()
        known = ours.keys() | theirs.keys() | base.keys()
        differ = {key for key in known if not ours.get(key) == theirs.get(key) == base.get(key)}
        return sorted(differ)

    def look_at(self, keys: Sequence[RecordKey]) -> list[SyncedRecord]:
        """Say what would become of records."""
        return _as_told(self._decisions(keys, self._server.peek(keys)))

    def make_equal(self, keys: Sequence[RecordKey]) -> list[SyncedRecord]:
        """Make records equal on both sides, durably."""
        with self._files.lock(), self._server.lock():
            decided = self._decisions(keys, self._server.read(keys))
            to_server = {key: it.result for key, it in decided.items() if it.result != it.theirs}
            to_folder = {key: it.result for key, it in decided.items() if it.result != it.ours}
            written = {
                key: (decided[key].ours, decided[key].result) for key in to_server | to_folder
            }
            batch = UnfinishedBatch(str(uuid4()), written)
            if written:
                self._base.begin(batch)
                self._server.write(batch.name, to_server)
            if to_folder:
                self._files.replace_files(
                    [FileChange(record_file(*key), it) for key, it in to_folder.items()]
                )
            self._base.end({key: it.result for key, it in decided.items()})
        if written:
            self._server.forget(batch.name)
        return _as_told(decided)

    def _decisions(
        self, keys: Sequence[RecordKey], theirs: dict[RecordKey, bytes]
    ) -> dict[RecordKey, _Decided]:
        bases = self._base.records(keys)
        ours = {key: self._read(key) for key in keys}
        alone = [key for key in keys if key not in theirs and key not in bases]
        gone = self._server.gone(alone) if alone else {}
        decided = {}
        for key in keys:
            base, mine = bases.get(key), ours[key]
            if mine is not None and gone.get(key) == sha256(mine).digest():
                base = mine  # what was deleted there is exactly what is here
            try:
                decided[key] = _decide(key, base, mine, theirs.get(key))
            except (Damaged, Doubt, NotJson) as error:
                path, code = "/".join(key), getattr(error, "code", "damaged")
                message = getattr(error, "message", str(error))
                self.problems[Problem(path, code, f"{path}: {message}")] = None
        return decided

    def _read(self, key: RecordKey) -> bytes | None:
        try:
            return read_within(os.path.join(self._root, *key) + SUFFIX, lambda: self._most)[0]
        except FileNotFoundError:
            return None


def _decide(
    key: RecordKey, base: bytes | None, ours: bytes | None, theirs: bytes | None
) -> _Decided:
    if ours == theirs:
        return _Decided(ours, theirs, ours)
    store, identifier = key
    if not is_id(identifier):
        raise Damaged("its name is no id", "")
    for side in (ours, theirs):
        if side is not None:
            parse(side, RECORD_TYPES[store], record_file(store, identifier))
    shape = SHAPES[store]
    sides = [None if side is None else version(side, shape) for side in (base, ours, theirs)]
    done = decide(Versions(*sides), shape)
    if done.result is None:
        return _Decided(ours, theirs, None)
    for held, side in ((sides[1], ours), (sides[2], theirs)):
        if done.result is held:
            return _Decided(ours, theirs, side, done.conflicts)
    return _Decided(ours, theirs, dump(done.result), done.conflicts)


def _as_told(decided: dict[RecordKey, _Decided]) -> list[SyncedRecord]:
    told = []
    for (store, id_), it in decided.items():
        if it.fate is None:
            continue
        text = ""  # of one that was deleted for good
        if it.result is not None:
            record = decode(it.result, RECORD_TYPES[store])
            text = getattr(record, "title", None) or "(conversation)"
            text = shown_text(record) if isinstance(record, Memory | Episode | Chunk) else text
        told.append(
            SyncedRecord(store=store, id=id_, fate=it.fate, text=text, conflicts=it.conflicts)
        )
    return told


def shared_stores(workspace: Workspace, *, conversations: bool = False) -> list[str]:
    """Return the folders of the records that go along: transcripts only where git has them."""
    ignore = safe_files.text(os.path.join(workspace.root, IGNORE_FILE))
    shares = conversations or SHARE_CONVERSATIONS.strip() in split_lines(ignore)
    return [store for store in RECORD_TYPES if shares or store not in TRANSCRIPTS]


def _send_checkpoints(workspace: Workspace, state: LocalState) -> int:
    """Bring the saved states of threads to the server, unless it has later ones."""
    keeper = workspace.own.checkpoints
    known = {(each.thread, each.user): each.updated_at for each in keeper.all()}
    late = [
        each
        for each in state.checkpoints.all()
        if (each.thread, each.user) not in known or known[each.thread, each.user] < each.updated_at
    ]
    for each in late:
        held = state.checkpoints.load(each.thread, each.user)
        if held is not None:
            keeper.save(each.thread, each.user, held[1], each.updated_at)
    return len(late)
