"""What every front end wraps its JSON in: one line that names its schema, and hides nothing."""

from collections.abc import Sequence
from typing import Any, Final

from pmem.errors import PmemError
from pmem.values.records import dump_line, plain

SCHEMA: Final = "pmem/1"


def data_line(data: Any, notes: Sequence[str] = ()) -> bytes:
    """Return an answer as one line of JSON."""
    return json_line({"schema": SCHEMA, "data": data, **({"notes": notes} if notes else {})})


def error_line(error: PmemError, **more: Any) -> bytes:
    """Return an error as one line of JSON, without the secrets that it repeats."""
    from pmem.core.secrets import unsecret

    said = {"message": unsecret(error.message), "hint": unsecret(error.hint)}
    return json_line({"schema": SCHEMA, "error": {"code": error.code, **said, **more}})


def json_line(value: Any) -> bytes:
    """Return a value as one line of JSON in which nothing is hidden from people."""
    try:
        line = dump_line(value) + b"\n"
    except TypeError:  # a path that is not UTF-8
        line = dump_line(_in_utf_8(plain(value))) + b"\n"
    if line.isascii() and b"\x7f" not in line:
        return line
    from pmem.core.visible import escaped

    return escaped(line.decode()).encode()


def _in_utf_8(value: Any) -> Any:
    """Write out the bytes of paths that are not UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {key: _in_utf_8(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_in_utf_8(inner) for inner in value]
    return value
