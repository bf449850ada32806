"""Taking records in from other programs' files, and giving them out."""

import os
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from typing import Annotated, Any, Final

import msgspec

from pmem.conversation import transcripts
from pmem.core.apps.deciding import AppDecision
from pmem.core.chunking import by_conversation, repeated
from pmem.core.filters import EVERYTHING
from pmem.core.lines import shortened
from pmem.core.policy import app_of
from pmem.core.retention import changed
from pmem.core.secrets import unsecret
from pmem.core.trust import Trust, modest, trust_of
from pmem.errors import Damaged, InvalidValue, NotFound, StorageRefused
from pmem.interchange import Skipped, arrays, messages
from pmem.interchange.sessions import RECOGNISED_BY, recognise
from pmem.memory.app_limit import make_room
from pmem.memory.conversations import read_once
from pmem.project.references import living
from pmem.project.secret_gate import SecretFound
from pmem.project.workspace import Workspace
from pmem.storage.files.durable import sweep_dead, write_file
from pmem.storage.files.recordfile import read_bytes
from pmem.storage.store import Store
from pmem.values.bounds import MESSAGE_CHARACTERS
from pmem.values.fields import Admit, AtRequest, Progress, as_it_is, asked, ignore_progress
from pmem.values.ids import short
from pmem.values.programs import TITLES
from pmem.values.records import (
    KINDS,
    SAID,
    Chunk,
    Conversation,
    Episode,
    Event,
    EventKind,
    Memory,
    Message,
    Record,
    RecordType,
    Role,
    dump,
    dump_line,
    plain,
)
from pmem.values.times import HALF_LIFE_DAYS

STDIN: Final = "-"
MOST_ARRAY_BYTES: Final = 512 * 1024 * 1024
_KEYS: Final = 50
_LONGEST_KEY: Final = 60
_ARRAYS: Final = "import arrays"
_TRUSTED_MORE: Final = "is trusted more as it is here: change it with `pmem edit`"


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What an import led to.

    `undecided` names those unchanged that say something else in the file, and are as old there as
    here: neither is the later one. `made_room` is what went so that apps keep to their limits.
    `left_out` counts what the file has and no record has a place for, the most frequent ones.
    """

    added: int
    updated: int
    unchanged: int
    skipped: tuple[Skipped, ...]
    undecided: tuple[str, ...] = ()
    made_room: tuple[AppDecision, ...] = ()
    left_out: dict[str, int] = {}

    def to_plain(self) -> dict[str, Any]:
        """Return all but what made room; what is skipped repeats no secret."""
        fields = msgspec.structs.asdict(self)
        del fields["made_room"]
        return fields


class MessagesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A transcript in JSON Lines.

    Lines that name no conversation are of the one called `name`. `admit` lets in what holds no
    secret, line by line; where the request is `strict`, one secret refuses the whole transcript.
    """

    lines: Iterable[bytes]
    name: str = "transcript"
    strict: Annotated[bool, asked("Import nothing if a message holds a secret.")] = False
    progress: Progress = ignore_progress
    admit: Admit = as_it_is


class ArraysRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The array files of a folder, any of the four, perhaps somebody else's.

    What an agent takes in is always `untrusted`. `admit` lets in what holds no secret.
    """

    folder: Annotated[
        str, asked("The folder with the four array files.", shown="DIR", is_argument=True)
    ]
    untrusted: Annotated[bool, asked("Somebody else wrote them: trust them less (see above).")] = (
        False
    )
    progress: Progress = ignore_progress
    admit: Admit = as_it_is


class ExportRequest(AtRequest, frozen=True, kw_only=True):
    """What to export, everything or what belongs to an app, and how.

    `camel_case` writes the multi-tier design's own field names, and what that design knows; else
    pmem's own are written, and all there is.
    """

    app: Annotated[str | None, asked("Only what belongs to this app.", completes="app")] = None
    camel_case: Annotated[bool, asked("Use the multi-tier design's own field names.")] = False

    @property
    def named_app(self) -> str | None:
        """The app whose records it asks for by name."""
        return self.app


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of the four array files by name."""

    files: dict[str, bytes]

    def to_plain(self) -> Any:
        """Return one object with a key for each array."""
        return msgspec.json.decode(one_document(self.files))


def import_messages(workspace: Workspace, request: MessagesRequest) -> Imported:
    """Take in a transcript in JSON Lines: all that can be used, in one commit.

    A secret is taken out of what tools were told and answered. What people and assistants said
    with one is left out, and the rest goes on; where the request is strict, nothing does.
    """
    progress = request.progress
    name = request.admit(request.name, "the file's name")
    most = MESSAGE_CHARACTERS
    lines = iter(request.lines)
    beginning = list(islice(lines, RECOGNISED_BY))
    harness = recognise(beginning)
    if harness is not None:
        raise InvalidValue(
            f"{name} is a session of {TITLES[harness]}, not a transcript",
            f"`pmem import {harness} FILE` reads it",
        )
    refused: list[SecretFound] = []
    parsed = messages.parse(chain(beginning, lines), name, most, _admitting_lines(request, refused))
    if parsed.skipped and not parsed.conversations:
        if refused:
            raise refused[0]
        first = parsed.skipped[0]
        raise InvalidValue(
            f"{name} holds no message that can be used ({first.where}: it {first.why})",
            'each line is one message: {"role": "user", "content": "..."}',
        )
    total = sum(len(said) for said in parsed.conversations.values())
    added = updated = done = 0
    with workspace.transaction():
        known = {
            one.external_id: workspace.conversations.get(one.id)
            for one in workspace.conversations.find()
            if one.external_id is not None
        }
        for external_id, said in parsed.conversations.items():
            counted = [with_token_count(workspace, message) for message in said]
            before = known.get(external_id)
            told = partial(tell_part, progress, done, total)
            fresh, edited = transcripts.take_in(workspace, external_id, counted, before, told)
            added, updated, done = added + fresh, updated + edited, done + len(said)
            progress(done, total)
    return Imported(
        added=added,
        updated=updated,
        unchanged=total - added - updated,
        skipped=tuple(parsed.skipped),
        left_out=_frequent(parsed.left_out),
    )


def _frequent(left_out: Counter[str]) -> dict[str, int]:
    """Return the most frequent keys, as they may be repeated."""
    return {unsecret(shortened(key, _LONGEST_KEY)): n for key, n in left_out.most_common(_KEYS)}


def _admitting_lines(
    request: MessagesRequest, refused: list[SecretFound]
) -> Callable[[Any, str], Any]:
    """Return what lets a line in, skips it, or raises; what is skipped is noted as refused."""

    def admit(line: Any, where: str) -> Any:
        is_of_a_tool = isinstance(line, dict) and bool(
            line.get("role") == Role.TOOL or line.get("tool_call") or line.get("tool_result")
        )
        try:
            return request.admit(line, where, redacting=not request.strict and is_of_a_tool)
        except SecretFound as found:
            if request.strict:
                raise
            refused.append(found)
            field = found.where.removeprefix(f"{where}: ")
            raise InvalidValue(
                f"holds a secret ({found.kind}) in {field}, {found.place}; "
                "--redact keeps the rest of it"
            ) from None

    return admit


def import_arrays(workspace: Workspace, request: ArraysRequest) -> Imported:
    """Take in the four array files of a folder, in one commit.

    A record that is there already is replaced when the file's was updated later. What an agent
    takes in, or a person from somebody else, is trusted little until a person changes it, claims
    less of itself (see `core.trust.modest`), and replaces nothing that is trusted more.
    """
    parsed = arrays.parse(_array_files(request.folder))
    total = sum(len(records) for records in parsed.records.values())
    counts = {"added": 0, "updated": 0, "unchanged": 0}
    event = msgspec.structs.replace(workspace.event(EventKind.UPDATE), source=_ARRAYS)
    is_doubted = request.untrusted or workspace.caller.agent is not None
    doubt = _doubt_of(workspace, event) if is_doubted else None
    refused: list[Skipped] = []
    undecided: list[str] = []
    with workspace.transaction():
        for store in workspace.stores:
            known = set(store.ids())
            for number, record in enumerate(parsed.records[store.type], start=1):
                counted = _with_token_counts(workspace, record)
                admitted = request.admit(counted, f"{KINDS[store.type]} {number}")
                done = _keep_record(store, admitted, known, doubt)
                where = f"{KINDS[store.type]} {short(record.id)}"
                if done is None:
                    refused.append(Skipped(where, _TRUSTED_MORE))
                else:
                    counts[done] += 1
                if done == "unchanged" and _is_undecided(store.get(record.id), admitted):
                    undecided.append(where)
                request.progress(sum(counts.values()) + len(refused), total)
        refused += _cut_loose(workspace)
        made_room = make_room(workspace)
    return Imported(
        **counts,
        made_room=made_room,
        skipped=(*parsed.skipped, *refused),
        undecided=tuple(undecided),
        left_out=_frequent(parsed.left_out),
    )


def export_arrays(workspace: Workspace, request: ExportRequest) -> Exported:
    """Return the four array files' contents; what is damaged is left out, and is a problem."""
    records = _everything(workspace)
    if request.app is not None:
        records = _of_app(workspace, records, request.app)
    if not request.camel_case:
        return Exported(files=arrays.write(records))
    from pmem.interchange import multi_tier

    return Exported(
        files=multi_tier.write(records, workspace.project_name, workspace.now(), HALF_LIFE_DAYS)
    )


def _of_app(
    workspace: Workspace, records: dict[RecordType, list[Record]], app: str
) -> dict[RecordType, list[Record]]:
    """Leave out what belongs to no app, or to another one."""
    from pmem.apps.reading import known_app

    name = known_app(workspace, app)
    return {
        type_: [record for record in found if (app_of(record) or "").casefold() == name]
        for type_, found in records.items()
    }


def write_files(folder: str, files: dict[str, bytes]) -> None:
    """Write files into a folder, each one whole or not at all.

    What an export that was killed left there goes.
    """
    sweep_dead(folder or os.curdir)
    for name, data in files.items():
        path = os.path.join(folder, name)
        try:
            write_file(os.path.abspath(path), data)
        except OSError as error:
            raise StorageRefused(f"{path} cannot be written: {error.strerror}") from None


def json_lines(values: Iterable[Any]) -> bytes:
    """Write values as JSON Lines."""
    return b"".join(dump_line(value) + b"\n" for value in values)


def one_document(files: dict[str, bytes]) -> bytes:
    """Join array files into one JSON object with a key per store, for a pipe."""
    return dump(
        {name.removesuffix(".json"): msgspec.json.decode(data) for name, data in files.items()}
    )


def tell_part(progress: Progress, before: int, total: int, done: int) -> None:
    """Tell how much is done, short of the end."""
    progress(min(before + done, max(total - 1, 0)), total)


def with_token_count(workspace: Workspace, message: Message) -> Message:
    """Return a message with its number of tokens."""
    return msgspec.structs.replace(message, tokens=workspace.count(message.content))


def _with_token_counts(workspace: Workspace, record: Record) -> Record:
    """Return a record with the numbers of tokens that its file does not tell."""

    def counted(messages: Iterable[Message]) -> tuple[Message, ...]:
        return tuple(one if one.tokens else with_token_count(workspace, one) for one in messages)

    changes: dict[str, Any] = {}
    if isinstance(record, Conversation):
        changes["recent_messages"] = counted(record.recent_messages)
    elif isinstance(record, Memory):
        changes["tokens"] = record.tokens or workspace.count(record.content)
    elif isinstance(record, Episode | Chunk):
        changes["tokens"] = record.tokens or workspace.count(record.summary)
    if isinstance(record, Chunk):
        changes["messages"] = counted(record.messages)
    return msgspec.structs.replace(record, **changes)


def _array_files(folder: str) -> dict[str, bytes]:
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise InvalidValue(f"{folder} is no folder", "give the one with the files")
    found: dict[str, bytes] = {}
    for name in arrays.FILES:
        path = os.path.join(folder, name)
        try:
            found[name] = read_bytes(path, MOST_ARRAY_BYTES, "a file of arrays")[0]
        except FileNotFoundError:
            continue
        except Damaged as error:
            raise InvalidValue(error.message, error.hint) from None
    if not found:
        hint = "give the folder that holds them"
        raise NotFound(f"{folder} has none of {', '.join(arrays.FILES)}", hint)
    return found


def _doubt_of(workspace: Workspace, event: Event) -> Callable[[Record], Record]:
    """Return what notes in a record that it was imported, and takes from it what it may not claim.

    When it was updated stays, so that importing it again finds it unchanged.
    """
    modes = workspace.settings.categories.context
    prominent = [category for category, mode in modes.items() if mode == "all"]

    def doubted(record: Record) -> Record:
        if not isinstance(record, Memory | Episode):
            return record
        fields = modest(record, prominent)
        return msgspec.structs.replace(
            changed(record, event, **fields), updated_at=record.updated_at
        )

    return doubted


def _keep_record(
    store: Store[Any],
    record: Record,
    known: set[str],
    doubt: Callable[[Record], Record] | None,
) -> str | None:
    """Keep an imported record; None where it is doubted and ours is trusted more."""
    if record.id not in known:
        store.put(record if doubt is None else doubt(record))
        known.add(record.id)
        return "added"
    kept = store.get(record.id)
    later = getattr(record, "updated_at", None)
    if plain(kept) == plain(record) or later is None or later <= kept.updated_at:
        return "unchanged"
    if doubt is not None and trust_of(kept) not in (None, Trust.LOW):
        return None
    replaced = _replacement(kept, record)
    store.put(replaced if doubt is None else doubt(replaced))
    return "updated"


def _cut_loose(workspace: Workspace) -> list[Skipped]:
    """Leave out what imported records lead to that is neither here nor in the files."""
    found: list[Skipped] = []
    for store in workspace.stores:
        for change in store.changes():
            if change.record is None:
                continue
            left = living(workspace, change.record)
            if left is not change.record:
                updated = getattr(change.record, "updated_at", None)
                fields = {} if updated is None else {"updated_at": updated}
                store.put(msgspec.structs.replace(left, **fields))
                where = f"{KINDS[store.type]} {short(change.id)}"
                found.append(Skipped(where, "leads to what is not there: that is left out"))
    return found


def _is_undecided(kept: Record, record: Record) -> bool:
    """Tell whether a record says something else than ours, and neither is the later one."""
    at = getattr(record, "updated_at", None)
    if at is None or at != getattr(kept, "updated_at", None):
        return False
    return any(getattr(kept, name, None) != getattr(record, name, None) for name in SAID)


def _replacement(kept: Record, record: Record) -> Record:
    """Return the later record; an event says so where its history does not go on from ours."""
    if not isinstance(kept, Memory | Episode):
        return record
    ours, theirs = kept.history, getattr(record, "history", ())
    if len(theirs) > len(ours) and theirs[: len(ours)] == ours:
        return record
    fields = msgspec.structs.asdict(record)
    at = fields.pop("updated_at")
    del fields["history"]
    event = Event(event=EventKind.UPDATE, at=at, source=_ARRAYS)
    return changed(kept, event, **fields)


def _everything(workspace: Workspace) -> dict[RecordType, list[Record]]:
    """Return every record by its type, in the order of ids, each message of a conversation once."""
    found: dict[RecordType, dict[str, Any]] = {
        store.type: {record.id: record for record in store.find(EVERYTHING)}
        for store in workspace.stores
    }
    chunks = by_conversation(found[Chunk].values())
    for conversation in [*found[Conversation].values()]:
        parts = chunks.get(conversation.id, ())
        if repeated(parts, conversation.recent_messages):
            with suppress(Damaged):
                whole = read_once(workspace, conversation, parts)
                found[Conversation][conversation.id] = whole.conversation
                for part in parts:
                    del found[Chunk][part.id]
                found[Chunk] |= {chunk.id: chunk for chunk in whole.chunks}
    return {type_: [kept[id_] for id_ in sorted(kept)] for type_, kept in found.items()}
