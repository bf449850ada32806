"""How much work something is, so that a busy or slow machine does not fail a test.

Seconds are measured by `tests/benchmarks`. A test that holds an answer to a time counts the
functions that it calls instead: the same number on every machine. A test that only shows that a
text cannot stall pmem has a limit far above what the work takes, on any machine (`STALLED`).
"""

import gc
import sys
import time
from collections.abc import Callable

STALLED = 10.0  # seconds: many times what such a test takes, far less than a stall
WITHIN = 1000  # calls a millisecond, with what runs between them: a slow machine manages as many


def calls(work: Callable[[], object]) -> int:
    """Return how many functions, Python's and C's, are called by `work`."""
    count = 0

    def note(_frame: object, event: str, _arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

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
