"""The ways in through files of the memory folder: records, merges, and one clone's own state."""

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from pmem.cli.memory import fields_of
from pmem.core import findings
from pmem.core.delta import fingerprints
from pmem.core.filters import EVERYTHING, passes
from pmem.core.journal import Wanted, log
from pmem.core.rawjson import NotJson, dump, load
from pmem.core.retention import as_of
from pmem.core.retrieval.documents import entries
from pmem.core.threeway.deciding import decide, version
from pmem.core.threeway.markers import apart, has_markers, plain_lines
from pmem.core.threeway.record import merged
from pmem.core.threeway.shapes import SHAPES, RecordShape
from pmem.core.threeway.values import Doubt, canonical
from pmem.errors import NewerSchema
from pmem.storage.files.recordfile import parse, serialise
from pmem.storage.local.access import _Tally as Tally
from pmem.storage.local.appstate import AppState
from pmem.storage.local.logs import Operations
from pmem.storage.local.proposals import Proposals, digest, without_expired
from pmem.storage.local.state import LocalState
from pmem.storage.past import _ODD_HISTORY, begun
from pmem.values.records import STORES, Episode, Memory, Record, RecordType
from pmem.values.records import dump as written
from pmem.vcs.gitmerge import _merge_versions as driver
from pmem.vcs.gitmerge import readable
from pmem.vcs.repair.open_files import OpenFile, key_of, record_cases
from tests.core.threeway.sides import sides
from tests.fuzz.judging import Entry, told

NOW: Final = datetime(2026, 11, 21, 14, 30, tzinfo=UTC)
SEPARATOR: Final = b"\n\x1e\n"
"""Between the inputs of what reads several."""
_BEYOND: Final = str(2**70).encode()
"""A number that a record may hold only where nothing has to be rewritten."""
_MARKED: Final = b"<<<<<<< ours\n%s=======\n%s>>>>>>> theirs\n"


def _sides(store: str, seed: int) -> list[bytes]:
    return [dump(side) for side in sides(seed, store)[:3]]


def _id(store: str) -> str:
    identifier = sides(1, store)[0]["id"]
    assert isinstance(identifier, str)
    return identifier


class _Alone(NamedTuple):
    """A record without any others around it."""

    def of(self, *_: object, **__: object) -> tuple[()]:
        return ()

    def __getattr__(self, _name: str) -> Callable[..., Any]:
        return self.of


def record(type_: RecordType) -> Entry:
    """Return the entry that reads a record, writes it again, and looks at it from all sides."""
    store = STORES[type_]
    path = f"{store}/{_id(store)}.json"

    def run(data: bytes) -> Any:
        try:
            read: Record = parse(data, type_, path)
        finally:
            findings.line_of_damage(data)
        again = parse(written(read), type_, path)
        assert written(again) == written(read)  # the first time cuts times to the millisecond
        kept = serialise(read, data, path)
        assert parse(kept, type_, path) == again
        assert serialise(read, kept, path) == kept
        _look_at(read)
        return read

    examples = tuple(side for seed in range(1, 6) for side in _sides(store, seed)[:2])
    mine = tuple(
        side for side in examples if load(side)["id"] == _id(store) and _BEYOND not in side
    )
    return Entry(f"record: {store}", run, mine)


def _look_at(read: Record) -> None:
    """Tell what every command that lists or ranks records tells of one."""
    list(fields_of(read))
    list(entries(read))
    begun(read)
    if isinstance(read, Memory):
        passes(read, EVERYTHING)
        fingerprints([read])
    if isinstance(read, Memory | Episode):
        with suppress(*_ODD_HISTORY):
            as_of(read, NOW)
        log([read], Wanted())


def merge(store: str) -> Entry:
    """Return the entry that merges three versions of a record, as git has it done."""
    shape, identifier = SHAPES[store], _id(store)

    def run(data: bytes) -> Any:
        parts = [*data.split(SEPARATOR), b"", b""][:3]
        code, result = driver(parts, shape, identifier, "7")
        if code == 0:
            load(result)
        if result not in parts:
            _merges_alike(parts, shape)
        return code, result

    examples = tuple(SEPARATOR.join(_sides(store, seed)) for seed in range(1, 9))
    return Entry(f"merge: {store}", run, examples, (Doubt, NotJson))


def _merges_alike(parts: list[bytes], shape: RecordShape) -> None:
    """See that it does not matter which side is ours, and that merging again changes nothing."""
    base, ours, theirs = (load(part) if part else None for part in parts)
    if len({str(side.get("id")) for side in (base, ours, theirs) if side is not None}) != 1:
        return
    one, other = merged(base, ours, theirs, shape), merged(base, theirs, ours, shape)
    assert canonical(one.result) == canonical(other.result)
    assert one.conflicts == other.conflicts
    again = merged(base, one.result, one.result, shape)
    assert canonical(again.result) == canonical(one.result)


def markers(store: str) -> Entry:
    """Return the entry that takes a file with conflict markers apart, as `repair` does."""
    path = f"{store}/{_id(store)}.json"
    key = key_of(path)
    assert key is not None

    def run(data: bytes) -> Any:
        text = apart(data)
        lines = plain_lines(data)
        if text is not None:
            assert has_markers(data)
            assert plain_lines(text.ours) <= lines
        for case in record_cases([OpenFile(path, data, {})])[0]:
            decide(case.versions, case.key.shape)
        return version(data, key.shape)

    examples = []
    for seed in range(1, 6):
        base, ours, theirs = _sides(store, seed)
        examples += [_MARKED % (ours, theirs), base]
        examples.append(_MARKED % (ours + b"||||||| base\n" + base, theirs))
    return Entry(f"conflict markers: {store}", run, tuple(examples), (Doubt, NotJson))


def _textconv(data: bytes) -> str:
    value = load(data)
    assert load(dump(value)) == value
    return readable(value)


@cache
def folder() -> str:
    """Return a memory folder that goes when this process does."""
    made = TemporaryDirectory(prefix="pmem-fuzz-")
    _KEPT.append(made)
    root = os.path.join(made.name, ".project-memory")
    os.makedirs(os.path.join(root, "local"))
    return root


_KEPT: Final[list[TemporaryDirectory[str]]] = []


def _put(name: str, data: bytes) -> None:
    with open(os.path.join(folder(), "local", name), "wb") as file:
        file.write(data)


def _keep_queue(data: bytes) -> None:
    LocalState(folder()).write("insert or replace into consent values (1, ?)", data)


def _consent(data: bytes) -> Any:
    _keep_queue(data)
    queue = Proposals(LocalState(folder())).read()
    left = without_expired(queue, NOW)
    digest(left, "language", "speaks Finnish")
    _keep_queue(written(left))
    assert written(Proposals(LocalState(folder())).read()) == written(left)
    return left


def _operations(data: bytes) -> Any:
    from pmem.core.operations import LoggedOperation

    _put("operations.log", data)
    found = Operations(folder()).all()
    assert all(isinstance(item, LoggedOperation) for item in found)
    sorted(found, key=lambda item: item.ts)
    return [written(item) for item in found]


def _accesses(data: bytes) -> Any:
    tally = Tally()
    tally.add(data)
    return [written(one) for one in tally.known().values()], tally.damaged


def _state(data: bytes) -> Any:
    path = os.path.join(folder(), "local", "state.sqlite3")
    for name in (path, f"{path}-journal", f"{path}-wal", f"{path}-shm"):
        if os.path.exists(name):
            os.unlink(name)
    _put("state.sqlite3", data)
    state = LocalState(folder(), busy_seconds=0.01)
    apps = AppState(state)
    return (
        state.checkpoints.all(),
        state.checkpoints.load("review", ""),
        told(state.threads.seen("review")),
        apps.waiting(),
        apps.gone(),
        apps.with_context(),
    )


@cache
def _a_state() -> bytes:
    with TemporaryDirectory() as root:
        state = LocalState(root)
        state.checkpoints.save("review", "", b'{"context":"step 3"}', NOW)
        state.threads.advance("review", [1, 2, 2**63])
        AppState(state).uninstall("calendar", NOW)
        with open(os.path.join(root, "local", "state.sqlite3"), "rb") as file:
            return file.read()


_PROPOSED: Final = b"""{"key": "00", "proposals": [{"id": "0a0a0a0a-k3v9m2x1", "kind": "consent",
"field": "contact", "digest": "blake2b:00", "at": "2026-11-01T00:00:00Z",
"until": "2026-12-01T00:00:00Z", "signals": [{"at": "2026-11-01T00:00:00Z"}],
"target": "0a0a0a0a-k3v9m2x2", "changes": {"content": "x"}, "user": "ada"}],
"decisions": [{"id": "0a0a0a0a-k3v9m2x3", "decision": "rejected", "field": "contact",
"digest": "blake2b:01", "at": "2026-11-01T00:00:00Z"}]}"""
_RAN: Final = b"""{"ts":"2026-11-21T14:30:00Z","node":"hotpath","op":"create","sim":0.5}
{"ts":"2026-11-21T14:31:00Z","node":"worker","op":"merge","status":"skipped","user":"ada"}
"""
_RECALLED: Final = b"""2026-11-21T14:30:00.250Z 0a0a0a0a-k3v9m2x1 0a0a0a0a-k3v9m2x2*3
2026-11-21T14:30:01.000Z 0a0a0a0a-k3v9m2x1
"""

ENTRIES: Final = (
    *map(record, STORES),
    *map(merge, SHAPES),
    *map(markers, SHAPES),
    Entry("record as text", _textconv, tuple(_sides("conversations", 3)), (NotJson,)),
    Entry("consent queue", _consent, (_PROPOSED,)),
    Entry("operations log", _operations, (_RAN,)),
    Entry("access log", _accesses, (_RECALLED,)),
    Entry("state database", _state, (_a_state(),), (NewerSchema,), share=0.3),
)
