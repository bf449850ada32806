"""What git runs for each file: merging two versions of a record, and telling one as text.

Both are processes of their own for every file, so nothing here imports the record classes.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from pmem.core.rawjson import NotJson, dump, load
from pmem.core.threeway.record import merged
from pmem.core.threeway.shapes import SHAPES, RecordShape
from pmem.core.threeway.values import Doubt
from pmem.core.visible import visible
from pmem.values.bounds import LARGE_RECORD_BYTES, RECORD_BYTES
from pmem.values.ids import is_id

CONFLICT: Final = 10
"""The driver's exit code for a conflict that is written down already."""
DOUBT: Final = 5
"""Its exit code where the files are not for it to merge: the fallback in git's settings does."""
USAGE: Final = 2
SECONDS: Final = 30
"""How long the driver may take before its process is ended, and the fallback does the work."""
_MARKER: Final = 7
_SCRATCH: Final = ".tmp-"
_SETTINGS: Final = "config.toml"


def merge_driver(arguments: Sequence[str]) -> tuple[int, bytes]:
    """Merge a file for git; see `gitattributes(5)`, "Defining a custom merge driver".

    Args:
        arguments: The files of the base, of ours and of theirs, the length of conflict markers,
            and the path in the repository. The result takes the place of ours.

    Returns:
        The exit code (0, `CONFLICT`, or another one, and then ours is as it was) and what to
        print.
    """
    if len(arguments) != 5:
        _say("git calls it as pmem merge-driver BASE OURS THEIRS MARKER-SIZE PATH")
        return USAGE, b""
    base, ours, theirs, marker, path = arguments
    if os.path.basename(path) == _SETTINGS:
        return _merge_settings(base, ours, theirs, path)
    shape = SHAPES.get(os.path.basename(os.path.dirname(path)))
    identifier = os.path.basename(path).removesuffix(".json")
    if shape is None or not is_id(identifier):
        return DOUBT, b""
    data = [_read_version(file) for file in (base, ours, theirs)]
    try:
        code, result = _merge_versions(data, shape, identifier, marker)
    except (Doubt, NotJson):
        return DOUBT, b""
    memory = os.path.dirname(os.path.dirname(path))
    if result not in data[1:]:
        _note_merged(memory, path, result)
    _replace(ours, result, memory)
    _tell_of_secrets(result, path)
    return code, b""


def _merge_settings(base: str, ours: str, theirs: str, path: str) -> tuple[int, bytes]:
    from pmem.errors import Damaged
    from pmem.vcs.settingsmerge import merge_files

    before, one, other = (_read_version(file) for file in (base, ours, theirs))
    try:
        found = merge_files(before, one, other, path)
    except (Damaged, UnicodeDecodeError):
        return DOUBT, b""
    _replace(ours, found.data, os.path.dirname(path))
    _tell_of_secrets(found.data, path)
    for name in found.conflicts:
        _say(f"{path}: two branches disagree on {name}; its end says what gave way")
    return CONFLICT if found.conflicts else 0, b""


def _note_merged(memory: str, path: str, result: bytes) -> None:
    """Note a record as what this person's pmem writes: not every merge is committed at once.

    What it was stays noted, as a merge may be taken back.
    """
    from pmem.storage.local.origins import OwnWrites

    name = os.path.relpath(path, memory).replace(os.sep, "/")
    OwnWrites(os.environ).expect(memory, {name: result})


def _tell_of_secrets(data: bytes, path: str) -> None:
    """Say that a merged record holds a secret; no side is dropped over it, as git has both."""
    if len(data) > LARGE_RECORD_BYTES:  # git waits
        _say(f"{path} is too large to look for secrets now: `pmem check secrets` does")
        return
    from pmem.core.secrets import find

    kinds = sorted({found.kind for found in find(data.decode("utf-8", "replace"))})
    if kinds:
        _say(f"{path} holds a secret ({', '.join(kinds)}): `pmem check secrets` tells where")


def textconv(arguments: Sequence[str]) -> tuple[int, bytes]:
    """Tell a record as text that people read, for `git diff`.

    What is no record is told as it is.
    """
    if len(arguments) != 1:
        _say("git calls it as pmem textconv FILE")
        return USAGE, b""
    with open(arguments[0], "rb") as file:
        data = file.read()
    if len(data) > LARGE_RECORD_BYTES:
        return 0, data
    try:
        return 0, readable(load(data)).encode()
    except (NotJson, UnicodeEncodeError):
        return 0, data


PLUMBING: Final[dict[str, Callable[[Sequence[str]], tuple[int, bytes]]]] = {
    "merge-driver": merge_driver,
    "textconv": textconv,
}
"""Commands that git calls; they take no options and need no command line."""


def run(name: str, arguments: Sequence[str]) -> tuple[int, bytes]:
    """Run one of the commands in `PLUMBING`; an error is an exit code, and one line of talk."""
    try:
        with _limited(SECONDS if name == "merge-driver" else 0):
            return PLUMBING[name](arguments)
    except OSError as error:
        _say(f"{error.filename}: {error.strerror}")
        return 74, b""
    except Exception as error:
        from pmem.core.secrets import unsecret

        _say(unsecret(f"this is a bug in pmem: {type(error).__name__}: {error}"))
        return 70, b""


@contextmanager
def _limited(seconds: int) -> Iterator[None]:
    """Let the system end this process when its time is up, wherever it hangs.

    Windows knows no such alarm: there a driver that hangs has to be ended by hand.

    0 is no limit.
    """
    if sys.platform == "win32" or not seconds:
        yield
        return
    import signal

    before = signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _say(text: str) -> None:
    os.write(sys.stderr.fileno(), f"pmem: {text}\n".encode("utf-8", "backslashreplace"))


def _merge_versions(
    data: Sequence[bytes], shape: RecordShape, identifier: str, marker: str
) -> tuple[int, bytes]:
    sides: list[Any] = [load(side) if number or side else None for number, side in enumerate(data)]
    ids = {_id_of(side) for side in sides if side is not None}
    if len(ids) == 3:  # git took both new records for the old one: each stays in its own file
        return CONFLICT, data[1]
    if len(ids) > 1:
        return CONFLICT, _side_by_side(data[1], data[2], int(marker) if marker.isdecimal() else 0)
    if ids != {identifier}:
        raise Doubt("the file has another record's name")
    base, ours, theirs = sides
    done = merged(base, ours, theirs, shape)
    for number in (1, 2):
        if done.result is sides[number]:
            return 0, data[number]
    return CONFLICT if done.conflicts else 0, dump(done.result)


def _id_of(side: dict[str, Any]) -> str:
    identifier = side.get("id")
    if not isinstance(identifier, str):
        raise Doubt("a side has no id")
    return identifier


def _side_by_side(ours: bytes, theirs: bytes, length: int) -> bytes:
    """Write two records that git took for one, whole: their lines must never be mixed."""
    size = length or _MARKER
    parts = (
        b"<" * size + b" ours\n",
        ours,
        b"=" * size + b"\n",
        theirs,
        b">" * size + b" theirs\n",
    )
    return b"".join(part if part.endswith(b"\n") else part + b"\n" for part in parts if part)


def _read_version(path: str) -> bytes:
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size > RECORD_BYTES:
            raise OSError(27, "File too large", path)
        return file.read()


def _is_plain(folder: str) -> bool:
    """Tell whether a folder is there, and no link leads to it or out of it."""
    return os.path.isdir(folder) and os.path.realpath(folder) == os.path.join(
        os.path.realpath("."), os.path.normpath(folder)
    )


def _replace(path: str, data: bytes, memory: str) -> None:
    """Put a file in another one's place at once: git must never find half of it.

    Args:
        path: The file that is replaced.
        data: What it is to hold.
        memory: The memory folder. In it the new file is made, if it is there: what a killed
            process leaves is ignored by git, and in `local` swept away by the next writer.
    """
    places = (os.path.join(memory, "local"), memory, os.path.dirname(path))
    folder = next(filter(_is_plain, places), ".")
    temporary = os.path.join(folder, f"{_SCRATCH}{os.getpid()}-{os.urandom(4).hex()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.chmod(temporary, os.stat(path).st_mode & 0o777)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


_TEXTS: Final = ("title", "content", "summary", "context", "outcome")
_INDENT: Final = "  "


def readable(record: Mapping[str, Any]) -> str:
    """Return a record as text: what it says first, then its fields, then what happened to it."""
    return "".join(f"{visible(line)}\n".replace("\r", "\\r") for line in _lines(record))


def _lines(record: Mapping[str, Any]) -> Iterator[str]:
    texts = [name for name in _TEXTS if isinstance(record.get(name), str) and record[name]]
    for name in texts:
        yield from (record[name] if name == "content" else f"{name}: {record[name]}").split("\n")
        yield ""
    events: list[Any] = []
    for name, value in record.items():
        if name == "history" and isinstance(value, list):
            events = value
        elif name not in texts:
            yield from _field(name, value)
    for event in events:
        yield from _event(event)


def _field(name: str, value: Any) -> Iterator[str]:
    if value is None or value in ([], {}, ""):
        return
    if not isinstance(value, list):
        yield f"{_short(name)}: {_short(value)}"
        return
    if all(isinstance(item, str) for item in value):
        yield f"{_short(name)}: {', '.join(map(_short, value))}"
        return
    yield f"{_short(name)}:"
    for item in value:
        yield from (f"{_INDENT}{line}" for line in _item(item))


def _item(item: Any) -> Iterator[str]:
    """Tell a message by who said what, and anything else by its fields."""
    if isinstance(item, dict) and isinstance(item.get("lines"), list):
        item = {**item, "lines": "-".join(map(_short, item["lines"]))}
    if not isinstance(item, dict) or not isinstance(item.get("content"), str):
        yield _short(item)
        return
    head = [_short(item[key]) for key in ("created_at", "speaker", "role", "type") if item.get(key)]
    yield f"{' '.join(head)}:"
    yield from (f"{_INDENT}{line}" for line in item["content"].split("\n"))
    told = ("created_at", "speaker", "role", "type", "content")
    yield from (
        f"{_INDENT}{_short(name)}: {_short(value)}"
        for name, value in item.items()
        if name not in told
    )


def _event(event: Any) -> Iterator[str]:
    if not isinstance(event, dict):
        yield _short(event)
        return
    words = [_short(event.get(key, "")) for key in ("at", "event", "actor", "source")]
    yield " ".join(word for word in words if word)
    for name in ("before", "detail"):
        if isinstance(event.get(name), dict):
            for key, value in event[name].items():
                was = "was " if name == "before" else ""
                yield f"{_INDENT}{was}{_short(key)}: {_short(value)}"


def _short(value: Any) -> str:
    """Write a value on one line: texts as they are, an object by its fields."""
    if isinstance(value, str):
        return value.replace("\n", "\\n")
    if isinstance(value, dict):
        return ", ".join(f"{_short(key)} {_short(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return "; ".join(map(_short, value))
    return dump(value).decode().strip()
