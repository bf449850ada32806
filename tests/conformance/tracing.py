"""A plugin for pytest that notes which functions of pmem each test calls.

`PMEM_TRACE_FILE=out.jsonl python -m pytest -p tests.conformance.tracing ...` writes one line for
each test: its name, and the file, first line and name of every function.
"""

import json
import os
import sys
import threading
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any, Final

import pytest

_PACKAGE: Final = os.path.abspath("pmem") + os.sep
_called: Final[set[CodeType]] = set()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Listen in every thread while a test runs, and write what it has called."""
    _called.clear()
    sys.setprofile(_note)
    threading.setprofile(_note)
    try:
        return (yield)
    finally:
        sys.setprofile(None)
        with open(os.environ["PMEM_TRACE_FILE"], "a", encoding="utf-8") as file:
            file.write(json.dumps([item.nodeid.partition("[")[0], _functions()]) + "\n")


def _functions() -> list[tuple[str, int, str]]:
    return sorted(
        (os.path.relpath(code.co_filename), code.co_firstlineno, code.co_name)
        for code in _called.copy()  # a thread that goes on may add to it
        if code.co_filename.startswith(_PACKAGE) and code.co_name != "<module>"
    )


def _note(frame: FrameType, event: str, _: Any) -> None:
    if event == "call":
        _called.add(frame.f_code)
