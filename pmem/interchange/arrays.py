"""The four array files of the multi-tier design: one JSON array per store.

They are written with this project's own keys, so that nothing is lost on the way back, and
read with those or with the camelCase keys and the nested `metadata` of that design.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import msgspec

from pmem.core import exactjson
from pmem.core.checks import nesting
from pmem.core.lines import MARK
from pmem.errors import InvalidValue
from pmem.interchange import Skipped
from pmem.values.defaults import DEFAULT_CATEGORY, DEFAULT_IMPORTANCE
from pmem.values.ids import derived_id, is_id, moment_of
from pmem.values.records import (
    KINDS,
    SCHEMA,
    STORES,
    Chunk,
    Conversation,
    Episode,
    Memory,
    MemoryType,
    Record,
    RecordType,
    dump,
    stored,
)
from pmem.values.times import iso, parse_moment

FILES: Final[dict[str, RecordType]] = {f"{folder}.json": type_ for type_, folder in STORES.items()}
"""File names and the records that they hold."""

MOST_LEVELS: Final = 64
"""How deep an entry may be nested, as records are."""

_MEND: Final = "fix that file; nothing was imported"
_CAPITAL = re.compile(r"(?<=[a-z0-9])([A-Z])")
_RENAMED: Final = {
    "emotional_valence": "valence",
    "milestone_ids": "milestones",
    "conversation_id": "conversation",
    "project_id": "project",
    "total_turns": "turns",
    "chunk_number": "number",
    "token_count": "tokens",
    "timestamp": "created_at",
    "target_id": "target",
}


class ParsedArrays(msgspec.Struct, frozen=True):
    """Records by type, and what was skipped; `left_out` counts the keys that no record has."""

    records: dict[RecordType, list[Record]]
    skipped: list[Skipped]
    left_out: Counter[str]


def write(records: dict[RecordType, list[Record]]) -> dict[str, bytes]:
    """Return the four files' contents by name."""
    return {name: dump([stored(record) for record in records[FILES[name]]]) for name in FILES}


def parse(files: dict[str, bytes]) -> ParsedArrays:
    """Read array files."""
    items = [
        (f"{name}[{place}]", FILES[name], item)
        for name, data in files.items()
        for place, item in enumerate(_array(name, data))
    ]
    renamed = _Renamed([*items, *_embedded_chunks(items)])
    parsed = ParsedArrays({type_: [] for type_ in STORES}, [], Counter())
    _take(items, renamed, parsed)
    refused = {skipped.where for skipped in parsed.skipped}
    _take(_embedded_chunks([item for item in items if item[0] not in refused]), renamed, parsed)
    return parsed


Placed = tuple[str, RecordType, Any]
"""Where an entry stands, what it should be, and the entry itself."""


class _Renamed:
    """What the ids that do not have our form became, so that references follow."""

    def __init__(self, items: Iterable[Placed]) -> None:
        self._ours: dict[tuple[RecordType, str], str] = {}
        for _, type_, item in items:
            if isinstance(item, dict) and "schema" not in item:
                try:
                    known = _snake(nesting(item, MOST_LEVELS))
                    self._ours[type_, str(known.get("id"))] = _identifier(known, KINDS[type_])
                except InvalidValue:
                    continue

    def __call__(self, type_: RecordType, reference: Any) -> Any:
        return self._ours.get((type_, str(reference)), reference)


def _take(items: Iterable[Placed], renamed: _Renamed, parsed: ParsedArrays) -> None:
    for where, type_, item in items:
        try:
            value = _fields(type_, item, renamed)
            record = msgspec.convert(value, type_)
            if not is_id(record.id):
                raise InvalidValue(f"has the id {record.id!r}, which is not one of ours")
            parsed.records[type_].append(record)
            known = {field.encode_name for field in msgspec.structs.fields(type_)}
            parsed.left_out.update(f"{KINDS[type_]} {key}" for key in value.keys() - known)
        except InvalidValue as error:
            parsed.skipped.append(Skipped(where, error.message))
        except msgspec.ValidationError as error:
            parsed.skipped.append(Skipped(where, f"is no record: {exactjson.sentence(error)}"))


def _array(name: str, data: bytes) -> list[Any]:
    if name not in FILES:
        raise InvalidValue(f"{name} is none of {', '.join(FILES)}")
    value = exactjson.read_given(data.removeprefix(MARK), name, _MEND)
    if not isinstance(value, list):
        raise InvalidValue(f"{name} does not hold a JSON array", _MEND)
    return value


def _embedded_chunks(items: Sequence[Placed]) -> list[Placed]:
    """Return the chunks that stand whole in their conversations and in no file of their own."""
    known = {str(item["id"]) for _, type_, item in items if type_ is Chunk and _has_id(item)}
    return [
        (f"{where}.chunks[{place}]", Chunk, chunk)
        for where, type_, item in items
        if type_ is Conversation and isinstance(item, dict) and isinstance(item.get("chunks"), list)
        for place, chunk in enumerate(item["chunks"])
        if _has_id(chunk) and "summary" in chunk and str(chunk["id"]) not in known
    ]


def _has_id(item: Any) -> bool:
    return isinstance(item, dict) and "id" in item


def _fields(type_: RecordType, item: Any, renamed: _Renamed) -> dict[str, Any]:
    """Return an entry with the keys that records have, and any others it has."""
    if not isinstance(item, dict):
        raise InvalidValue("is not a JSON object")
    nesting(item, MOST_LEVELS)
    if item.get("schema", SCHEMA) != SCHEMA:
        raise InvalidValue(f"has the schema {item['schema']!r}, and this pmem knows {SCHEMA}")
    reader = _READERS.get(type_)  # that design has no other kinds
    return item if "schema" in item or reader is None else reader(_snake(item), renamed)


def _snake(value: Any) -> Any:
    """Rename keys from camelCase, through all levels, and drop empty ones."""
    if isinstance(value, list):
        return [_snake(item) for item in value]
    if not isinstance(value, dict):
        return value
    named = {_CAPITAL.sub(r"_\1", key).lower(): _snake(item) for key, item in value.items()}
    return {_RENAMED.get(key, key): item for key, item in named.items() if item is not None}


def _memory(item: dict[str, Any], renamed: _Renamed) -> dict[str, Any]:
    metadata = _object(item.pop("metadata", {}), "metadata")
    kind = _memory_type(item)
    item.setdefault("created_at", item.get("valid_from"))
    created = _created(item)
    return {
        **item,
        "id": _identifier(item, KINDS[Memory]),
        "type": kind,
        "category": item.get("category") or DEFAULT_CATEGORY[kind],
        "importance": metadata.get("importance", item.get("importance", DEFAULT_IMPORTANCE[kind])),
        "relationships": [
            {**link, "target": renamed(Memory, link.get("target"))}
            for link in _objects(item, "relationships")
        ],
        "access": {
            "count": metadata.get("access_count", 0),
            "last_at": metadata.get("last_accessed_at"),
        },
        "tokens": metadata.get("tokens", item.get("tokens", 0)),
        "source": _source(metadata.get("source", item.get("source")), renamed),
        "created_at": created,
        "valid_from": item.get("valid_from") or created,
        "updated_at": item.get("updated_at", created),
        "history": [{"event": "ADD", "at": created, "source": "import arrays"}],
    }


def _episode(item: dict[str, Any], renamed: _Renamed) -> dict[str, Any]:
    metadata = _object(item.pop("metadata", {}), "metadata")
    where = _object(item.pop("conversation_ref", {}), "conversation_ref")
    kind = item.pop("episode_type", item.pop("type", None))
    created = _created(item)
    return {
        **item,
        "id": _identifier(item, KINDS[Episode]),
        "type": "decision_made" if kind in (None, "episode") else kind,
        "linked_memories": _references(item, "linked_memories", Memory, renamed),
        "conversation": renamed(Conversation, where.get("conversation")),
        "turns": where.get("turn_range"),
        "tokens": metadata.get("tokens", 0),
        "created_at": created,
        "updated_at": item.get("updated_at", created),
        "history": [{"event": "ADD", "at": created, "source": "import arrays"}],
    }


def _conversation(item: dict[str, Any], renamed: _Renamed) -> dict[str, Any]:
    started = item.get("started_at")
    return {
        **item,
        "id": _identifier(item, KINDS[Conversation]),
        "updated_at": item.get("updated_at") or item.get("ended_at") or started,
        "chunks": _references(item, "chunks", Chunk, renamed),
        "milestones": _references(item, "milestones", Episode, renamed),
        "active_facts": _references(item, "active_facts", Memory, renamed),
        "recent_messages": _messages(item, "recent_messages", started),
    }


def _chunk(item: dict[str, Any], renamed: _Renamed) -> dict[str, Any]:
    return {
        **item,
        "id": _identifier(item, KINDS[Chunk]),
        "conversation": renamed(Conversation, item.get("conversation")),
        "messages": _messages(item, "messages", item.get("created_at")),
    }


def _messages(item: dict[str, Any], name: str, began: Any) -> list[dict[str, Any]]:
    """Read messages; one without a time has that of the one before it, or of the beginning."""
    read: list[dict[str, Any]] = []
    for place, said in enumerate(_objects(item, name)):
        metadata = _object(said.pop("metadata", {}), "metadata")
        said.setdefault("created_at", read[-1]["created_at"] if read else began)
        said.setdefault("id", f"{item['id']} {place}")
        tokens = metadata.get("tokens", said.get("tokens", 0))
        read.append({**said, "id": _identifier(said, "message"), "tokens": tokens})
    return read


def _memory_type(item: dict[str, Any]) -> MemoryType:
    try:
        return MemoryType(item.get("type", MemoryType.FACT))
    except ValueError:
        raise InvalidValue(f"has the type {item['type']!r}, not {', '.join(MemoryType)}") from None


def _object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidValue(f"has a `{name}` that is no object")
    return value


def _objects(item: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [_object(value, name) for value in _list(item, name)]


def _list(item: dict[str, Any], name: str) -> list[Any]:
    value = item.get(name, [])
    if not isinstance(value, list):
        raise InvalidValue(f"has a `{name}` that is no list")
    return value


def _references(item: dict[str, Any], name: str, type_: RecordType, renamed: _Renamed) -> list[Any]:
    """Return ids, whether they or the records themselves stand in a list."""
    values = [part.get("id") if isinstance(part, dict) else part for part in _list(item, name)]
    return [renamed(type_, value) for value in values]


def _created(item: dict[str, Any]) -> str:
    created = item.get("created_at", item.get("started_at"))
    if created is None and (told := moment_of(str(item.get("id")))):
        return iso(told)
    if not isinstance(created, str):
        raise InvalidValue("has no time in `created_at`")
    return created


def _identifier(item: dict[str, Any], kind: str) -> str:
    """Keep an id that has our form; derive ours from any other, always the same one."""
    given = item.get("id")
    if not isinstance(given, str | int):
        raise InvalidValue("has no `id`")
    if isinstance(given, str) and is_id(given):
        return given
    return derived_id(parse_moment(_created(item)), kind, str(given))


def _source(source: Any, renamed: _Renamed) -> dict[str, Any]:
    if isinstance(source, dict):
        kind = source.get("type") or source.get("kind") or "import"
        known = {key: source[key] for key in ("conversation", "message", "file") if key in source}
        if "conversation" in known:
            known["conversation"] = renamed(Conversation, known["conversation"])
        return {**known, "kind": str(kind)}
    return {"kind": source if isinstance(source, str) else "import"}


_READERS: Final[dict[RecordType, Callable[[dict[str, Any], _Renamed], dict[str, Any]]]] = {
    Memory: _memory,
    Episode: _episode,
    Conversation: _conversation,
    Chunk: _chunk,
}
