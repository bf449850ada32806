"""A plugin for pytest that notes which functions of pmem a run has called.

`PMEM_TRACE_FILE=out.txt python -m pytest -p tests.conformance.tracing ...` writes one line for
each: the file, the line where it begins, and its name.
"""

import os
import sys
import threading
from types import CodeType, FrameType
from typing import Any, Final

import pytest

_PACKAGE: Final = os.path.abspath("pmem") + os.sep
_called: Final[set[CodeType]] = set()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Begin to listen, in every thread."""
    sys.setprofile(_note)
    threading.setprofile(_note)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write what was called."""
    sys.setprofile(None)
    lines = sorted(
        f"{os.path.relpath(code.co_filename)}\t{code.co_firstlineno}\t{code.co_name}\n"
        for code in _called
        if code.co_filename.startswith(_PACKAGE) and code.co_name != "<module>"
    )
    with open(os.environ["PMEM_TRACE_FILE"], "w", encoding="utf-8") as file:
        file.writelines(lines)


def _note(frame: FrameType, event: str, _: Any) -> None:
    if event == "call":
        _called.add(frame.f_code)
