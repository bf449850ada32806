"""What a command opens, runs and calls while it works: noted by Python's audit hook."""

import os
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

_FORBIDDEN: Final = ("socket.connect", "socket.bind", "socket.getaddrinfo", "os.system", "os.exec")
_LINKS_ARE_REFUSED: Final = getattr(os, "O_NOFOLLOW", 0)
MOST_BYTES: Final = 200 * 2**20
"""How much more memory a command may take than the interpreter has."""
_PATIENCE: Final = 5
"""A busy machine takes longer, and waits for nothing either."""
_watching: list["Watch"] = []


class Watch:
    """Notes what was done beyond a memory folder.

    Args:
        root: The memory folder.
        secret: The folder outside of it that nobody has any business in.
    """

    def __init__(self, root: str, secret: str) -> None:
        self.root = root
        self.secret = os.path.realpath(secret)
        self.found: list[str] = []

    def note(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Judge one event of the interpreter."""
        if event == "open" and isinstance(arguments[0], str | bytes):
            path, _, flags = arguments
            if not (isinstance(flags, int) and flags & _LINKS_ARE_REFUSED):
                self._opened("open", os.fsdecode(path))
        elif event == "sqlite3.connect":
            name = os.fsdecode(arguments[0]).removeprefix("file://").partition("?")[0]
            for end in ("", "-journal", "-wal", "-shm"):
                self._opened("database", name + end)
        elif event == "subprocess.Popen":
            words = [os.fsdecode(word) for word in arguments[1]]
            if words[0] != "git" or not _is_safe(words, arguments[3]):
                self.found.append(f"ran {words}")
        elif event.startswith(_FORBIDDEN):
            self.found.append(f"{event} {arguments}")
        elif event in ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod"):
            names = [os.fsdecode(one) for one in arguments if isinstance(one, str | bytes)]
            for name in names:  # a link may be removed or replaced; what it leads to may not
                folder, last = os.path.split(os.path.abspath(name))
                if os.path.realpath(folder).startswith(self.secret):
                    self.found.append(f"{event} {os.path.join(folder, last)}")

    def _opened(self, how: str, path: str) -> None:
        place = os.path.realpath(path)
        if place.startswith((self.secret, "/etc/passwd")) or _is_special(place):
            self.found.append(f"{how} {path} -> {place}")


def _is_safe(words: list[str], environment: dict[str, str] | None) -> bool:
    """Tell whether a call of git says all that keeps it from running something."""
    said = {"safe.bareRepository=explicit", "core.fsmonitor=false"}
    if "--git-path" not in words:  # that asks where the hooks are
        said.add(f"core.hooksPath={os.devnull}")
    kept = environment is not None and environment.get("GIT_ALLOW_PROTOCOL") == "none"
    return kept and "GIT_DIR" not in (environment or ()) and said <= set(words)


def _is_special(path: str) -> bool:
    if path in (os.devnull, "/dev/urandom", "/dev/tty") or not os.path.exists(path):
        return False
    return not (os.path.isfile(path) or os.path.isdir(path))


def _size() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching:
        watch = _watching.pop()  # so that its own looking is not noted
        try:
            watch.note(event, arguments)
        finally:
            _watching.append(watch)


class TooLong(BaseException):
    """A command that hangs."""


def _stop(number: int, frame: FrameType | None) -> None:
    raise TooLong


@contextmanager
def watching(root: str, secret: str, seconds: int) -> Iterator[Watch]:
    """Note what happens meanwhile.

    Args:
        root: The memory folder.
        secret: See `Watch`.
        seconds: Of computing after which it has hung; where it waits, several times as many.
    """
    if not getattr(sys, "_pmem_hook", False):
        sys.addaudithook(_hook)
        sys._pmem_hook = True  # type: ignore[attr-defined]
    watch = Watch(root, secret)
    memory = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_size() + MOST_BYTES, memory[1]))
    before = [(number, signal.signal(number, _stop)) for number in (signal.SIGALRM, signal.SIGPROF)]
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(_PATIENCE * seconds)
    _watching.append(watch)
    try:
        yield watch
    finally:
        _watching.clear()
        resource.setrlimit(resource.RLIMIT_AS, memory)
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        for number, handler in before:
            signal.signal(number, handler)
