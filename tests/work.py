"""How much work something is, so that a busy or slow machine does not fail a test.

Seconds are measured by `tests/benchmarks`. A test that holds an answer to a time counts the
functions that it calls instead: the same number on every machine. A test that only shows that a
text cannot stall pmem has a limit far above what the work takes, on any machine (`STALLED`).
"""

import enum
import gc
import os
import re
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Final

STALLED = 10.0  # seconds: many times what such a test takes, far less than a stall
WITHIN = 1000  # calls a millisecond, with what runs between them: a slow machine manages as many
_ONCE: Final = (os.path.dirname(re.__file__), enum.__file__, "<frozen importlib")


def calls(work: Callable[[], object]) -> int:
    """Return how many functions, Python's and C's, are called by `work`.

    What is done once in a process, to compile patterns and to load modules, counts for nothing.
    """
    count = 0

    def note(frame: FrameType, event: str, _arg: object) -> None:
        nonlocal count
        is_once = frame.f_code.co_filename.startswith(_ONCE)
        count += event in ("call", "c_call") and not is_once

    gc.disable()  # nothing else is called meanwhile
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


def seconds(work: Callable[[], object]) -> float:
    """Return the processor's seconds that `work` takes in this process."""
    begun = time.process_time()
    work()
    return time.process_time() - begun
