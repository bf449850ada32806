"""Memories as lines of JSON, for `add --batch`."""

from collections.abc import Iterator
from typing import Final

import msgspec

from pmem.cli.session import CommandSession
from pmem.core import checks, exactjson
from pmem.errors import InvalidValue
from pmem.memory.requests import AddRequest
from pmem.values.bounds import LINE_BYTES

_NOTHING: Final = "nothing was added; fix that line and run it again"


def read_batch(session: CommandSession, path: str, *, force: bool) -> Iterator[AddRequest]:
    """Yield the memories that a file of JSON Lines asks for."""
    for number, line in enumerate(session.read_lines(path), start=1):
        if line.strip():
            yield _request(session, line, number, force=force)


def _request(session: CommandSession, line: bytes, number: int, *, force: bool) -> AddRequest:
    if len(line) > LINE_BYTES:
        raise InvalidValue(
            f"line {number} has {len(line)} bytes, and the limit is {LINE_BYTES}", _NOTHING
        )
    try:
        value = exactjson.read(line)
        for field in ("valid_from", "valid_until", "review_at"):
            if isinstance(value, dict) and isinstance(value.get(field), str):
                with checks.named(f"line {number}, {field}"):
                    value[field] = session.ahead(value[field])
        request = msgspec.convert(value, AddRequest)
    except exactjson.InexactJson as error:
        raise InvalidValue(f"line {number} is not valid JSON: {error}", _NOTHING) from None
    except msgspec.ValidationError as error:
        from pmem.core import decode_errors

        why = decode_errors.sentence(error)
        raise InvalidValue(f"line {number} is no memory: {why}", _NOTHING) from None
    return msgspec.structs.replace(request, force=request.force or force)
