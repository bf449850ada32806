"""Making the n-th call to the operating system fail, or the process die at it."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

CALLS = ("open", "write", "fsync", "chmod", "replace", "rename", "unlink", "mkdir", "rmdir")
"""What a commit asks of the operating system; `makedirs` and `rmtree` are made of these."""

Act = Callable[[str, tuple[Any, ...]], None]
ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES)


class Death(BaseException):
    """The process ends here, as far as a test within it can act that."""


class Counter:
    """How many calls there were."""

    def __init__(self) -> None:
        self.calls = 0


@contextmanager
def fault(
    at: int, act: Act, *, calls: tuple[str, ...] = CALLS, from_then_on: bool = False
) -> Iterator[Counter]:
    """Do something before the n-th call, counted from one; the call happens if that returns."""
    counter = Counter()

    def wrapped(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            counter.calls += 1
            if counter.calls == at or (from_then_on and counter.calls > at > 0):
                act(name, args)
            return original(*args, **kwargs)

        return call

    with ExitStack() as patches:
        for name in calls:
            patches.enter_context(mock.patch.object(os, name, wrapped(name, getattr(os, name))))
        yield counter


def failing(number: int) -> Act:
    """Make a call fail as the system does."""

    def act(name: str, args: tuple[Any, ...]) -> None:
        where = args[0] if args and isinstance(args[0], str) else None
        raise OSError(number, os.strerror(number), where)

    return act


def dying(name: str, args: tuple[Any, ...]) -> None:
    raise Death


def killed(name: str, args: tuple[Any, ...]) -> None:
    """End the process for good, half of what it was writing on the disk."""
    if name == "write":
        descriptor, data = args
        _write(descriptor, data[: len(data) // 2])
    os._exit(137)


_write = os.write


def in_a_child(body: Callable[[], None]) -> int:
    """Run something in a child process.

    Returns:
        Its exit code: 0 when the body came to its end, 137 when a fault killed it.
    """
    child = os.fork()
    if child == 0:
        code = 1
        try:
            body()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
