"""One record as one JSON file: reading with a diagnosis, writing without losing a key."""

import os
import stat
from codecs import BOM_UTF8
from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec
import orjson

from pmem.core import exactjson
from pmem.core.exactjson import InexactJson
from pmem.core.exactjson import read as read_exactly
from pmem.errors import (
    Damaged,
    FileNotRead,
    NewerSchema,
    TooLarge,
    Unresolved,
    not_fetched,
    not_utf8,
)
from pmem.values.bounds import RECORD_BYTES, RECORD_LEVELS, RECORD_VALUES, is_crowded, is_too_deep
from pmem.values.ids import is_id
from pmem.values.records import SCHEMA, Record, dump

LFS_POINTER: Final = b"version https://git-lfs.github.com/spec/"
"""How a file begins that stands for one which Git LFS has not fetched."""
_IDENTITIES: Final = (
    ("id",),
    ("target", "type"),
    ("event", "at"),
    ("at", "verdict"),
    ("file", "digest"),
)

R = TypeVar("R", bound=Record)
Stamp = tuple[int, int, int]
"""Inode, size and modification time in nanoseconds: equal while a file is untouched."""


def stamp_of(status: os.stat_result) -> Stamp:
    """Return the stamp of a file's status."""
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def read_bytes(path: str, most: int = RECORD_BYTES, what: str = "a record") -> tuple[bytes, Stamp]:
    """Read a record's file, refusing links and files beyond all reason.

    Raises:
        FileNotFoundError: There is no such file.
        Damaged: The file is a link, or no regular file.
        TooLarge: It is larger than that.
        StorageRefused: It may not be read.
    """
    try:
        descriptor = os.open(path, _AS_IT_IS)
    except FileNotFoundError:
        raise
    except OSError as error:
        if os.path.islink(path):
            raise Damaged(f"{path} is a link, not {what}", "replace it by the file") from None
        raise FileNotRead(f"{path} cannot be read: {error.strerror}") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Damaged(f"{path} is not a regular file")
        if status.st_size > most:
            raise TooLarge(f"{path} has {status.st_size} bytes, more than {most}")
        data = os.read(descriptor, status.st_size + 1)
        if len(data) != status.st_size:  # others are writing it
            with open(descriptor, "rb", closefd=False) as file:
                data += file.read()
        return data, stamp_of(status)
    except OSError as error:
        raise FileNotRead(f"{path} cannot be read: {error.strerror}") from None
    finally:
        os.close(descriptor)


def read_within(path: str, most_bytes: Callable[[], int]) -> tuple[bytes, Stamp]:
    """Read a record's file that may be larger than any that pmem writes.

    Settings are asked for the most bytes of large ones only.

    Raises:
        FileNotFoundError, Damaged, TooLarge, StorageRefused: See `read_bytes`.
    """
    try:
        return read_bytes(path)
    except TooLarge:
        return read_bytes(path, most_bytes())


def parse(data: bytes, type_: type[R], path: str) -> R:
    """Turn a file's bytes into a record, whose id must be the file's name.

    Raises:
        Damaged: The bytes are not such a record; the sentence says why.
        NewerSchema: A newer pmem wrote it.
    """
    data = data.removeprefix(BOM_UTF8)
    if is_crowded(data):
        raise _too_many_values(data, path)
    try:
        record = _decoder(type_).decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _diagnosis(data, path, error) from None
    if is_too_deep(data):
        raise _deep(path)
    if record.schema != SCHEMA:
        raise _other_schema(record.schema, path)
    name = os.path.basename(path).removesuffix(".json")
    if record.id != name:
        raise Damaged(
            f"{path} holds the id {record.id!r}, which is not its name",
            f"rename the file to {record.id}.json, or set its id to {name!r}",
        )
    if not is_id(name):
        raise Damaged(f"{path} has a name that is no id", "move it out of the store")
    return record


def decode(data: bytes, type_: type[R]) -> R:
    """Read the bytes of a record that `parse` has read before."""
    return _decoder(type_).decode(data.removeprefix(BOM_UTF8))


def serialise(record: Record, previous: bytes | None, path: str) -> bytes:
    """Write a record as JSON, keeping the keys of `previous` that this version does not know.

    What is `previous` are the bytes of the file as it is now; None when it is new.

    Returns:
        Bytes that parse back to the same record.

    Raises:
        Damaged: The file as it is now cannot be used, so nothing may take its place.
        NewerSchema: A newer pmem wrote it.
    """
    if previous is None:
        return dump(record)
    previous = previous.removeprefix(BOM_UTF8)
    read = parse(previous, type(record), path)
    everything = _read_whole_record(previous, path)
    known = dump(read)
    if known == previous:
        return dump(record)
    merged = msgspec.json.decode(dump(record))
    _carry(everything, msgspec.json.decode(known), merged)
    return dump(merged)


def _decoder(type_: type[R]) -> "msgspec.json.Decoder[R]":
    decoder = _DECODERS.get(type_)
    if decoder is None:
        decoder = _DECODERS[type_] = msgspec.json.Decoder(type_)
    return decoder


_DECODERS: dict[type[Record], "msgspec.json.Decoder[Any]"] = {}
_AS_IT_IS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)
"""How a file is opened: no link, no waiting for whoever writes to a pipe, byte for byte."""


_KINDS = {list: "a list", str: "a text", int: "a number", float: "a number", bool: "a boolean"}


def _other_schema(schema: Any, path: str) -> Damaged:
    if isinstance(schema, int) and schema > SCHEMA:
        return NewerSchema(
            f"{path} has schema {schema}, and this pmem only knows schemas up to {SCHEMA}"
        )
    return Damaged(f"{path} has the schema {schema!r}, which never existed")


def _diagnosis(data: bytes, path: str, error: Exception) -> Damaged:
    from pmem.core.threeway.markers import has_markers

    if not data.strip():
        return Damaged(f"{path} is empty")
    if data.startswith(LFS_POINTER):
        return Damaged(not_fetched(path))
    if has_markers(data):
        return Unresolved(f"{path} has git's conflict markers: run `pmem resolve`")
    try:
        data.decode()
    except UnicodeDecodeError as wrong:
        return Damaged(not_utf8(path, data, wrong.start), "save it as UTF-8")
    if isinstance(error, RecursionError) or is_too_deep(data):
        return _deep(path)
    return _wrong_shape(data, path, error)


def _wrong_shape(data: bytes, path: str, error: Exception) -> Damaged:
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as wrong:
        return Damaged(
            f"{path} is not valid JSON: {wrong.msg} (line {wrong.lineno}, column {wrong.colno})"
        )
    if not isinstance(value, dict):
        return Damaged(f"{path} holds {_KINDS.get(type(value), 'null')}, not an object")
    schema = value.get("schema", SCHEMA)
    if schema != SCHEMA:
        return _other_schema(schema, path)

    return Damaged(f"{path} is not a record: {exactjson.sentence(error)}")


def _too_many_values(data: bytes, path: str) -> Damaged:
    from pmem.core.threeway.markers import has_markers

    if has_markers(data):
        return Unresolved(f"{path} has git's conflict markers: run `pmem resolve`")
    return Damaged(f"{path} holds more than {RECORD_VALUES} values")


def _deep(path: str) -> Damaged:
    return Damaged(f"{path} is nested deeper than {RECORD_LEVELS} levels")


def _read_whole_record(data: bytes, path: str) -> dict[str, Any]:
    """Read every key of a record, also what the decoder skipped without a look."""
    try:
        value: dict[str, Any] = read_exactly(data)
    except InexactJson as error:
        raise _diagnosis(data, path, error) from None
    return value


def _carry(old: dict[str, Any], known: dict[str, Any], new: dict[str, Any]) -> None:
    """Copy into `new`, level by level, what `old` has and this version did not read."""
    for key, value in old.items():
        if key not in known:
            new.setdefault(key, value)
        elif isinstance(value, dict) and isinstance(new.get(key), dict):
            _carry(value, known[key] or {}, new[key])
        elif isinstance(value, list) and isinstance(new.get(key), list):
            _carry_items(value, known[key], new[key])


def _carry_items(old: list[Any], known: list[Any], new: list[Any]) -> None:
    """Pair the objects of two lists by what identifies them, then carry each pair.

    Objects of the same identity (two events of one moment) are paired in their order.
    """
    left = list(new)
    for value, read in zip(old, known, strict=False):
        if not isinstance(value, dict) or not isinstance(read, dict):
            return
        place = next((i for i, item in enumerate(left) if _identity(item) == _identity(read)), None)
        if place is not None:
            _carry(value, read, left.pop(place))


def _identity(item: Any) -> object:
    for keys in _IDENTITIES:
        if isinstance(item, dict) and all(key in item for key in keys):
            return tuple(item[key] for key in keys)
    return id(item)
