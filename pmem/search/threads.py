"""What pmem keeps for each thread, a session of a model or an agent: its news, its checkpoint.

Both are this clone's own and never tracked.
"""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any, Final

import msgspec
import orjson

from pmem.core import checks, exactjson
from pmem.core.delta import MOST, MemoryNews, changes, header, seen_with
from pmem.core.filters import EVERYTHING
from pmem.errors import Damaged, InvalidValue, NotFound, StorageRefused
from pmem.project.caller import serving
from pmem.project.origins import Doubts
from pmem.project.workspace import Workspace
from pmem.storage.local.state import Seen
from pmem.values.fields import asked
from pmem.values.records import Memory

MOST_CHECKPOINT_BYTES: Final = 10_000_000
_JSON: Final = "with whole numbers below 64 bits, and keys that are texts"
_STRICT: Final = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME


class Delta(msgspec.Struct, frozen=True, kw_only=True):
    """What is new to a thread: `since` is its revision before, `revision` that of this read.

    Every read that is marked has a revision of its own; without marking, both are the same.
    `changes` are those that it is told now, three at the most and the newest first; of `total`
    there are the rest is told next time. `lines` say the same at the head of a context.
    """

    thread: str
    since: int
    revision: int
    changes: tuple[MemoryNews, ...] = ()
    total: int = 0
    lines: tuple[str, ...] = ()


class CheckpointInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint without its state; `size` is the state's, in bytes of JSON."""

    thread: str
    user: str
    size: int
    created_at: datetime
    updated_at: datetime


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a thread as it was saved last."""

    thread: str
    user: str
    state: dict[str, Any]
    created_at: datetime
    updated_at: datetime


class ThreadRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A thread by its name, as its owner chose it, such as a session's."""

    thread: Annotated[
        str,
        asked(
            "The thread's name, as its owner chose it.",
            shown="THREAD",
            is_argument=True,
            completes="checkpoint",
        ),
    ]


class CheckpointRequest(ThreadRequest, frozen=True, kw_only=True):
    """A thread's checkpoint; `user` is whose it is, where several have a thread of this name."""

    user: Annotated[
        str, asked("Whose thread it is [no one's].", shown="NAME", completes="user")
    ] = ""


class SaveRequest(CheckpointRequest, frozen=True, kw_only=True):
    """A thread's state to save: a JSON object, such as `graph_state`, `context`, `messages`."""

    state: dict[str, Any]


class CheckpointsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Whose checkpoints to list; everyone's when None."""

    user: Annotated[str | None, asked("Only this user's.", shown="NAME", completes="user")] = None


class CheckpointListing(msgspec.Struct, frozen=True, kw_only=True):
    """CheckpointListing, the last saved first, and how many there are."""

    items: tuple[CheckpointInfo, ...]
    total: int


class _ToldAlready(Exception):
    """Another read of the thread was quicker."""


def tell_news(workspace: Workspace, request: ThreadRequest) -> Delta:
    """Tell a thread what has happened to the memories since it last asked; see `delta`."""
    return delta(workspace, request.thread)


def delta(
    workspace: Workspace,
    thread: str,
    memories: Iterable[Memory] | None = None,
    *,
    doubts: Doubts | None = None,
    mark: bool = True,
) -> Delta:
    """Tell a thread what has happened to the memories since it last asked.

    A thread's first call sets where it starts: all that there is counts as seen. An event that
    comes in later is new, however old it is, and is told once; what is too much for one call is
    told by the next ones. Where nothing can be written, the same is told again next time.
    What is in doubt is marked, or waits where it is to be hidden. Without `mark`, nothing is
    remembered as told; without `memories`, it is told of all that belong to no app.

    Raises:
        InvalidValue: The name is not allowed.
    """
    name = _name(thread)
    if memories is None:  # nothing that belongs to an app that does not ask
        memories = serving(workspace, None).memories.find(EVERYTHING)
    known = list(memories)
    doubts = doubts or Doubts(workspace)

    def choose(before: Seen) -> set[int]:
        new = _new(known, before)
        told = {change.id for change in _told(known, new, doubts)[:MOST]}
        return seen_with(known, new, told)

    seen, revision = _mark_seen(workspace, name, choose) if mark else _standing(workspace, name)
    new = _told(known, _new(known, seen), doubts)
    new[:MOST] = map(workspace.mask.fields, new[:MOST])
    return Delta(
        thread=name,
        since=seen.revision,
        revision=revision,
        changes=tuple(new[:MOST]),
        total=len(new),
        lines=tuple(header(seen.revision, new, plain=workspace.settings.trust.is_plain)),
    )


def mark_told(
    workspace: Workspace, thread: str, memories: Sequence[Memory], told: Collection[str]
) -> int | None:
    """Note that a thread was told what is new about some memories, under a revision of its own.

    A thread that is new starts with it: all that there is counts as seen.

    Returns:
        The thread's revision from now on; None, and nothing is noted, where another read has
        told it some of the same meanwhile.

    Raises:
        InvalidValue: The name is not allowed.
    """
    name = _name(thread)

    def choose(before: Seen) -> set[int]:
        new = _new(memories, before)
        if before.revision and not {change.id for change in new}.issuperset(told):
            raise _ToldAlready
        return seen_with(memories, new, told)

    try:
        return _mark_seen(workspace, name, choose)[1]
    except _ToldAlready:
        return None


def _new(memories: Sequence[Memory], seen: Seen) -> list[MemoryNews]:
    """Return what is new to a thread; nothing is to one that only starts."""
    return changes(memories, seen.fingerprints) if seen.revision else []


def _told(memories: Iterable[Memory], new: list[MemoryNews], doubts: Doubts) -> list[MemoryNews]:
    """Return news as they are told: of what is in doubt marked, or not at all."""
    if not new:
        return new
    ids = {change.id for change in new}
    doubted = doubts.of(memory for memory in memories if memory.id in ids)
    if doubts.treats == "hide":
        return [change for change in new if change.id not in doubted]
    return [
        msgspec.structs.replace(change, origin=doubted[change.id])
        if change.id in doubted
        else change
        for change in new
    ]


def save_checkpoint(workspace: Workspace, request: SaveRequest) -> CheckpointInfo:
    """Save a thread's state in place of the one saved before.

    Raises:
        InvalidValue: A name is not allowed, or the state is no JSON object or too large.
    """
    name, owner = _names(request)
    data = _encode_state(request.state)
    saved = workspace.own.checkpoints.save(name, owner, data, workspace.now())
    return CheckpointInfo(**saved._asdict())


def load_checkpoint(workspace: Workspace, request: CheckpointRequest) -> Checkpoint:
    """Return a thread's state as it was saved last.

    Raises:
        InvalidValue: A name is not allowed.
    """
    name, owner = _names(request)
    found = workspace.own.checkpoints.load(name, owner)
    if found is None:
        raise _missing(workspace, name, owner)
    saved, data = found
    try:
        state = msgspec.convert(exactjson.read(data), dict[str, Any])
    except (exactjson.InexactJson, msgspec.ValidationError):
        raise Damaged(
            f"the checkpoint of thread {name!r} is no JSON object", "save it again"
        ) from None
    named = {name: value for name, value in saved._asdict().items() if name != "size"}
    return Checkpoint(state=state, **named)


def list_checkpoints(workspace: Workspace, request: CheckpointsRequest) -> CheckpointListing:
    """Return what checkpoints there are, the last saved first."""
    found = workspace.own.checkpoints.all(request.user)
    items = tuple(CheckpointInfo(**saved._asdict()) for saved in found)
    return CheckpointListing(items=items, total=len(items))


def remove_checkpoint(workspace: Workspace, request: CheckpointRequest) -> CheckpointRequest:
    """Remove a thread's saved state for good, and return whose it was.

    Raises:
        InvalidValue: A name is not allowed.
    """
    name, owner = _names(request)
    if not workspace.own.checkpoints.remove(name, owner):
        raise _missing(workspace, name, owner)
    return request


def _mark_seen(
    workspace: Workspace, thread: str, choose: Callable[[Seen], Collection[int]]
) -> tuple[Seen, int]:
    """Mark events as seen; where nothing can be written, all stays as it is."""
    with suppress(StorageRefused):
        if not workspace.read_only:
            return workspace.own.threads.advance_by(thread, choose)
    return _standing(workspace, thread)


def _standing(workspace: Workspace, thread: str) -> tuple[Seen, int]:
    seen = workspace.own.threads.seen(thread)
    return seen, seen.revision


def _name(thread: str) -> str:
    return checks.text(thread, "a thread's name", checks.MOST_WORD_CHARACTERS)


def _names(request: CheckpointRequest) -> tuple[str, str]:
    user = request.user and checks.text(request.user, "a user", checks.MOST_WORD_CHARACTERS)
    return _name(request.thread), user


def _encode_state(state: Any) -> bytes:
    """Write a state as JSON that every reader gets back as it was given."""
    if not isinstance(state, dict):
        raise InvalidValue(
            "a checkpoint's state must be a JSON object", 'such as {"context": "step 3"}'
        )
    try:
        nested = orjson.dumps([[[[state]]]], option=_STRICT)
        data = nested[4:-4]  # an answer that wraps it must not be too deep to write
        if b"null" in data:  # which is what orjson makes of NaN
            json.dumps(state, allow_nan=False)
    except (orjson.JSONEncodeError, ValueError) as error:
        raise InvalidValue(f"a checkpoint's state must be JSON: {error}", _JSON) from None
    if len(data) > MOST_CHECKPOINT_BYTES:
        raise InvalidValue(
            f"a checkpoint's state has {len(data)} bytes, and the limit is {MOST_CHECKPOINT_BYTES}"
        )
    return data


def _missing(workspace: Workspace, thread: str, user: str) -> NotFound:
    """Say that a thread has no checkpoint, and whose there is instead."""
    whose = f" of user {user!r}" if user else ""
    saved = workspace.own.checkpoints.all(None)
    others = [item.user for item in saved if item.thread == thread]
    hint = "`pmem checkpoint list` shows them"
    if others:
        whom = f"the user {others[0]!r}" if others[0] else "nobody in particular"
        hint += f": this thread has one of {whom}"
    return NotFound(f"there is no checkpoint of thread {thread!r}{whose}", hint)
