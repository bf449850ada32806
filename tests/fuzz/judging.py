"""What must hold of every input: a value or one of our own errors, soon, in little memory."""

import os
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import msgspec

from pmem.errors import PmemError

MOST_SECONDS: Final = 1.0
"""CPU time that one input may take."""
MOST_BYTES: Final = 200 * 1024 * 1024
"""Memory that may be added to what a run started with."""
MOST_CHARACTERS: Final = 2000
"""Longer than this an error is no sentence that anybody reads."""
CUT_OFF_SECONDS: Final = 5.0


class Entry(NamedTuple):
    """A way in.

    `run` reads an input and asserts what must hold of what it makes of it. `examples` are valid
    inputs. `errors` are further exceptions by which it may refuse one. `share` is how many inputs
    it is given, as a part of what others are.
    """

    name: str
    run: Callable[[bytes], Any]
    examples: tuple[bytes, ...]
    errors: tuple[type[Exception], ...] = ()
    share: float = 1.0


class Outcome(NamedTuple):
    """What an input led to: `value` or an error's name, and CPU time in seconds."""

    kind: str
    seconds: float
    told: str


class Violation(Exception):
    """An input broke what must hold."""


class _TooLong(BaseException):
    """Raised into what does not end; no handler of errors may take it for one of its own."""


def judge(entry: Entry, data: bytes, *, twice: bool = False) -> Outcome:
    """Give an entry point an input.

    Args:
        entry: The entry point.
        data: The input.
        twice: Also see that the same input leads to the same result again.

    Raises:
        Violation: Something else came of it than a value or a refusal, or too late.
    """
    start = time.process_time()
    kind, told = _run(entry, data)
    seconds = time.process_time() - start
    if seconds > MOST_SECONDS:
        raise Violation(f"took {seconds:.2f} s of CPU time")
    if twice and _run(entry, data) != (kind, told):
        raise Violation("led to something else the second time")
    return Outcome(kind, seconds, told)


def _run(entry: Entry, data: bytes) -> tuple[str, str]:
    try:
        with _cut_off():
            return "value", told(entry.run(data))
    except PmemError as error:
        _must_be_a_sentence(error)
        return type(error).__name__, error.message
    except entry.errors as error:
        return type(error).__name__, str(error)
    except _TooLong:
        raise Violation(f"did not end within {CUT_OFF_SECONDS} s") from None
    except Exception as error:
        raise Violation(f"{type(error).__name__}: {error}"[:500]) from error


def _must_be_a_sentence(error: PmemError) -> None:
    if error.exit_code >= PmemError.exit_code:
        raise Violation(f"exit code {error.exit_code}: {error.message}")
    if not error.message.strip() or "\n" in error.message:
        raise Violation(f"an error that is not one line: {error.message!r}"[:500])
    if len(error.message) + len(error.hint) > MOST_CHARACTERS:
        raise Violation(f"an error of {len(error.message)} characters: {error.message[:80]}")


def told(value: Any) -> str:
    """Write a value down so that equal values look the same in every process."""
    if isinstance(value, Set):
        return f"{{{', '.join(sorted(map(told, value)))}}}"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{told(key)}: {told(item)}' for key, item in value.items())}}}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(told, value))}]"
    if isinstance(value, msgspec.Struct):
        return f"{type(value).__name__}{told(msgspec.structs.astuple(value))}"
    return repr(value)


@contextmanager
def guarded() -> Iterator[None]:
    """Turn warnings into errors, and refuse memory beyond what a run may take."""
    with warnings.catch_warnings(), _little_memory():
        warnings.simplefilter("error")
        yield


@contextmanager
def _cut_off() -> Iterator[None]:
    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, CUT_OFF_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _stop(_signal: int, _frame: object) -> None:
    raise _TooLong


@contextmanager
def _little_memory() -> Iterator[None]:
    if not os.path.exists("/proc/self/statm"):
        yield
        return
    import resource

    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (now + MOST_BYTES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
