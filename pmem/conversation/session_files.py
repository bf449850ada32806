"""Where coding assistants keep the sessions of a project, and what the files hold.

A file is plain, compressed, or an archive of several.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from importlib import import_module
from typing import IO, Any, Final, NamedTuple

from pmem.core.lines import composed
from pmem.errors import FileNotRead, InvalidValue
from pmem.interchange.sessions import (
    LOOKED_AT,
    SessionNotes,
    objects,
    program_of_chat,
    recognise,
    text_of,
    unread_program,
)
from pmem.storage.git.work_trees import other_work_trees
from pmem.values.bounds import LINE_BYTES
from pmem.values.programs import FORMS, TITLES, SessionProgram

ZSTD: Final = ".zst"
"""The ending of what Codex compresses after a week."""
MOST_BYTES: Final = 512 << 20
"""A file, or a part of an archive, of more bytes is not read at once."""
_ARCHIVE: Final = b"PK\x03\x04"
_CHATS: Final = re.compile(r"conversations.*\.json", re.DOTALL)


_DIGEST: Final = re.compile(rb'"projectHash":\s{0,9}"([0-9a-f]{64})"')
_NO_LETTER: Final = re.compile(r"[^A-Za-z0-9]")
_LOOKED_AT: Final = 50
"""Lines of a file that are looked at for the folder of its session."""


class NotDecompressed(FileNotRead):
    """A file is compressed, and nothing here decompresses it."""

    default_hint = "install the program `zstd`"


def lines_of(path: str, told: Callable[[int], None] = lambda count: None) -> Iterator[bytes]:
    """Yield the lines of a file with their ends, none longer than is looked at and one byte more.

    A whole JSON document (`.json`) is one line.

    Raises:
        InvalidValue: It is a whole document, and larger than can be read at once.
    """
    done = 0
    try:
        with _open_session(path) as file:
            if path.endswith(".json"):
                yield _within_limit(path, file.read(MOST_BYTES + 1)).replace(b"\n", b" ")
                return
            while line := file.readline(LINE_BYTES + 1):
                done += len(line)
                while len(line) > LINE_BYTES and not line.endswith(b"\n"):
                    rest = file.readline(LINE_BYTES + 1)
                    done += len(rest)
                    if not rest or rest.endswith(b"\n"):
                        break
                told(done)
                yield line
    except OSError as error:
        raise FileNotRead(f"{path} cannot be read: {error.strerror or error}") from None


def start_of(path: str) -> bytes:
    """Return how a file begins, or the first chats of an archive do.

    Raises:
        InvalidValue: It is an archive without chats, or a damaged one.
    """
    start = _bytes_of(path, LOOKED_AT)
    return next(_members(path, LOOKED_AT)) if start.startswith(_ARCHIVE) else start


def documents_of(path: str) -> Iterator[bytes]:
    """Yield what a file holds, or each file with chats in an archive.

    Raises:
        InvalidValue: It is larger than can be read at once, or an archive that is damaged.
    """
    if _bytes_of(path, len(_ARCHIVE)) == _ARCHIVE:
        yield from _members(path, MOST_BYTES + 1)
    else:
        yield _within_limit(path, _bytes_of(path, MOST_BYTES + 1))


def _bytes_of(path: str, most: int) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except OSError as error:
        raise FileNotRead(f"{path} cannot be read: {error.strerror}") from None


def _within_limit(name: str, data: bytes) -> bytes:
    """Return what a file holds, where it was not too much to be read at once."""
    if len(data) > MOST_BYTES:
        raise InvalidValue(f"{name} has more than {MOST_BYTES >> 20} MB", "export fewer chats")
    return data


def _members(path: str, most: int) -> Iterator[bytes]:
    """Yield the start of each file with chats in an archive; nothing is written anywhere."""
    from zipfile import BadZipFile, ZipFile

    try:
        with ZipFile(path) as archive:
            bases = ((one, os.path.basename(one)) for one in archive.namelist())
            names = [one for one, base in bases if _CHATS.fullmatch(base)]
            if not names:
                raise InvalidValue(f"{path} has no conversations.json", "name the export of a chat")
            for name in sorted(names):
                with archive.open(name) as file:
                    data = file.read(most)
                yield _within_limit(f"{name} in {path}", data)
    except (BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise InvalidValue(f"{path} is an archive that cannot be read: {error}") from None


@contextmanager
def _open_session(path: str) -> Iterator[Any]:
    """Open a file to be read, through what decompresses it."""
    if not path.endswith(ZSTD):
        with open(path, "rb") as file:
            yield file
        return
    try:
        zstd = import_module("compression.zstd")  # from Python 3.14 on
    except ImportError:
        with _open_by_program(path) as file:
            yield file
        return
    try:
        with zstd.open(path) as file:
            yield file
    except (zstd.ZstdError, EOFError) as error:
        raise FileNotRead(f"{path} cannot be decompressed: {error}") from None


@contextmanager
def _open_by_program(path: str) -> Iterator[IO[bytes]]:
    program = shutil.which("zstd")
    if program is None:
        raise NotDecompressed(f"{path} is compressed, and there is no zstd")
    command = [program, "--decompress", "--stdout", "--quiet", "--", path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:  # noqa: S603
        assert running.stdout is not None
        yield running.stdout
        if running.wait() != 0:
            raise FileNotRead(f"{path} cannot be decompressed: it is damaged")


class FoundSessions(NamedTuple):
    """The files of sessions, and how many more are compressed and could not be looked into."""

    files: tuple[str, ...]
    compressed: int = 0


class NoSession(InvalidValue):
    """A file is no session of any program that is known."""

    default_hint = "`pmem import messages` takes JSON Lines of any other program"


def sessions_of(
    harness: SessionProgram, root: str, environment: Mapping[str, str], *, sub_agents: bool = False
) -> FoundSessions:
    """Return a project's sessions where their program keeps them, the oldest first.

    A session belongs to the project by what it says itself, and not by the name of its folder. Of a
    program that keeps none in a home there is none. The other work trees of its repository are the
    project as well.
    """
    roots = work_trees(root, environment)
    home = environment.get("HOME") or os.path.expanduser("~")
    if harness is SessionProgram.CLAUDE_CODE:
        own = environment.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")
        found = _claude_code(os.path.join(own, "projects"), roots, sub_agents=sub_agents)
    elif harness is SessionProgram.CODEX:
        found = _codex(environment.get("CODEX_HOME") or os.path.join(home, ".codex"))
    elif harness is SessionProgram.GEMINI:
        own = os.path.join(environment.get("GEMINI_CLI_HOME") or home, ".gemini", "tmp")
        found = _gemini(own, sub_agents=sub_agents)
    else:
        return FoundSessions(())
    return _of_project(harness, found, roots)


def sessions_in(
    harness: SessionProgram, path: str, root: str, environment: Mapping[str, str]
) -> FoundSessions:
    """Return a file that somebody names, or the project's sessions in a folder.

    A folder that has sessions of one other place alone, which is there no more, is that of a
    project that has moved: they are taken.

    Raises:
        InvalidValue: There is no such file, it is no session of that program, or the folder has
            sessions of other projects only.
    """
    if os.path.isdir(path):
        files = list(_sessions_below(harness, path))
        found = _of_project(harness, files, work_trees(root, environment))
        return found if found.files or found.compressed else _moved(harness, path, files)
    try:
        program = harness_of(path)
    except NoSession:
        raise NoSession(f"{path} is no session of {TITLES[harness]}") from None
    if program is harness:
        return FoundSessions((path,))
    how = "auto" if FORMS[program].whole else program
    hint = f"`pmem import {how} {path}` reads it"
    raise InvalidValue(f"{path} is a session of {TITLES[program]}, not of {TITLES[harness]}", hint)


def _moved(harness: SessionProgram, path: str, files: Iterable[str]) -> FoundSessions:
    """Return the sessions in a folder where all of them are of one place that is not there."""
    by_place: dict[str, list[str]] = {}
    for file in files:
        by_place.setdefault(_place_of(harness, file), []).append(file)
    by_place.pop("", None)
    if len(by_place) == 1 and not os.path.isdir(next(iter(by_place))):
        return FoundSessions(_by_age(next(iter(by_place.values()))))
    if by_place:
        counts = ", ".join(f"{place} ({len(of)})" for place, of in sorted(by_place.items()))
        raise InvalidValue(
            f"the sessions in {path} are of other projects: {counts}",
            f"name a file to take it in all the same: `pmem import {harness} FILE`",
        )
    return FoundSessions(())


def harness_of(path: str) -> SessionProgram:
    """Return the program that wrote a session.

    Raises:
        InvalidValue: There is no such file, or it is no session.
    """
    if not os.path.isfile(path):
        raise InvalidValue(f"there is no file {path}", "look at the path")
    start = b"" if path.endswith(ZSTD) else start_of(path)
    if path.endswith((".jsonl", ZSTD)):
        found = recognise(lines_of(path)) or program_of_chat(start)
    else:
        found = program_of_chat(start) or recognise(lines_of(path))
    if found is not None:
        return found
    unread = unread_program(start)
    if unread:
        raise InvalidValue(
            f"{path} is a chat of {unread}: pmem has no reader for it yet",
            "`pmem import messages` takes JSON Lines, one message each",
        )
    raise NoSession(f"{path} is no session of a program that pmem knows")


def work_trees(root: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return a project's folder and where it is in the other work trees of its repository."""
    others = (tree.folder for tree in other_work_trees(root, environment))
    return tuple(dict.fromkeys((os.path.realpath(root), *others)))


def _claude_code(projects: str, roots: tuple[str, ...], *, sub_agents: bool) -> Iterator[str]:
    starts = tuple(_NO_LETTER.sub("-", root) for root in roots)
    for folder in _names_in(projects):
        files = [
            path
            for path in _sessions_below(SessionProgram.CLAUDE_CODE, os.path.join(projects, folder))
            if sub_agents
            or not ("subagents" in path or os.path.basename(path).startswith("agent-"))
        ]
        # One file says where a folder's sessions are; a name that fits may have those of others.
        is_wanted = folder.startswith(starts) or any(
            _is_in(_place_of(SessionProgram.CLAUDE_CODE, file), roots) for file in files[:1]
        )
        if is_wanted:
            yield from files


def _codex(own: str) -> Iterator[str]:
    for part in ("sessions", "archived_sessions"):
        for path in _sessions_below(SessionProgram.CODEX, os.path.join(own, part)):
            if os.path.basename(path).startswith("rollout-"):
                yield path


def _gemini(own: str, *, sub_agents: bool) -> Iterator[str]:
    for folder in _names_in(own):
        chats = os.path.join(own, folder, "chats")
        for path in _sessions_below(SessionProgram.GEMINI, chats):
            if sub_agents or os.path.dirname(path) == chats:
                yield path


def _sessions_below(harness: SessionProgram, folder: str) -> Iterator[str]:
    """Yield the files in a folder, at any depth, that may be sessions."""
    for place, _, names in os.walk(folder):
        for name in sorted(names):
            if _is_session(harness, name):
                yield os.path.join(place, name)


def _is_session(harness: SessionProgram, name: str) -> bool:
    """Tell by its name whether a file may be a session; Gemini had one document each once."""
    if harness is SessionProgram.GEMINI and name.startswith("session-") and name.endswith(".json"):
        return True
    return name.endswith((".jsonl", f".jsonl{ZSTD}"))


def _of_project(
    harness: SessionProgram, files: Iterable[str], roots: tuple[str, ...]
) -> FoundSessions:
    kept, compressed = [], 0
    for path in files:
        try:
            if _is_in(_place_of(harness, path), roots):
                kept.append(path)
        except NotDecompressed:
            compressed += 1
    return FoundSessions(_by_age(kept), compressed)


def _by_age(files: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(files, key=lambda path: (os.path.getmtime(path), path)))


def _place_of(harness: SessionProgram, path: str) -> str:
    """Return the folder that a session says it is in, of Gemini a digest of it; empty for none."""
    if path.endswith(".json"):
        digest = _DIGEST.search(start_of(path))
        return digest[1].decode() if digest else ""
    first = (line for line, _ in zip(lines_of(path), range(_LOOKED_AT), strict=False))
    for _, value in objects(first, SessionNotes()):
        if harness is SessionProgram.GEMINI and "projectHash" in value:
            return text_of(value["projectHash"])
        payload = value.get("payload") if harness is SessionProgram.CODEX else value
        folder = text_of(payload.get("cwd")) if isinstance(payload, dict) else ""
        if folder:
            return folder
    return ""


def _is_in(place: str, roots: Iterable[str]) -> bool:
    """Return whether a session's folder is one of some, or below; in any spelling of its name."""
    if not os.path.isabs(place):
        digests = (sha256(root.encode("utf-8", "surrogateescape")) for root in roots)
        return place in {digest.hexdigest() for digest in digests}
    here = composed(os.path.realpath(place))
    names = [composed(root) for root in roots]
    return any(here == name or here.startswith(name + os.sep) for name in names)


def _names_in(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
