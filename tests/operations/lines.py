"""A toy front end: operations asked for and answered as lines of JSON.

Each line is `{"operation": "add", "request": {...}}`; `"agent": "planner"` beside it says who asks.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any, get_type_hints

import msgspec

from pmem.errors import InvalidValue, PmemError
from pmem.operations.pipeline import function_of, run
from pmem.operations.table import TABLE
from pmem.project.caller import Caller
from pmem.project.discovery import discover
from pmem.project.workspace import Workspace
from pmem.values.records import dump_line


def serve(root: str, lines: Iterable[str]) -> Iterator[bytes]:
    for line in lines:
        try:
            yield dump_line({"data": _answer(root, json.loads(line))})
        except PmemError as error:
            yield dump_line({"error": {"code": error.code, "message": error.message}})


def _answer(root: str, asked: dict[str, Any]) -> Any:
    operation = TABLE[asked["operation"]]
    _, type_, *_ = get_type_hints(function_of(operation)).values()
    try:
        request = msgspec.convert(asked.get("request", {}), type_)
    except msgspec.ValidationError as error:
        raise InvalidValue(str(error)) from None
    return run(Workspace(root), operation, request, Caller(asked.get("agent"))).plain


if __name__ == "__main__":
    for answered in serve(discover("."), sys.stdin):
        sys.stdout.buffer.write(answered + b"\n")
