"""Where coding assistants keep the sessions of a project."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from typing import Final

from pmem.errors import FileNotRead, InvalidValue
from pmem.interchange.sessions import SessionNotes, objects, recognise, text_of
from pmem.storage.git.work_trees import other_work_trees
from pmem.values.bounds import LINE_BYTES
from pmem.values.programs import TITLES, SessionProgram

_NO_LETTER: Final = re.compile(r"[^A-Za-z0-9]")
_LOOKED_AT: Final = 50
"""Lines of a file that are looked at for the folder of its session."""


class NoSession(InvalidValue):
    """A file is no session of any program that is known."""

    def __init__(self, path: str, title: str) -> None:
        super().__init__(
            f"{path} is no session of {title}",
            "`pmem import messages` takes JSON Lines of any other program",
        )


def sessions_of(
    harness: SessionProgram, root: str, environment: Mapping[str, str], *, sub_agents: bool = False
) -> tuple[str, ...]:
    """Return the files of a project's sessions where their program keeps them, the oldest first.

    Args:
        harness: The program.
        root: The project's folder; the other work trees of its repository are the project as well.
        environment: The environment's variables.
        sub_agents: Whether the files of sub-agents are wanted as well.
    """
    roots = work_trees(root, environment)
    home = environment.get("HOME") or os.path.expanduser("~")
    places: dict[SessionProgram, partial[Iterator[str]]] = {
        SessionProgram.CLAUDE_CODE: partial(
            _claude_code, home, environment, roots, sub_agents=sub_agents
        ),
        SessionProgram.CODEX: partial(_codex, home, environment),
        SessionProgram.GEMINI: partial(_gemini, home),
    }
    return _of_project(harness, places[harness](), roots)


def sessions_in(
    harness: SessionProgram, path: str, root: str, environment: Mapping[str, str]
) -> tuple[str, ...]:
    """Return a file that somebody names, or the files of the project's sessions in a folder.

    Args:
        harness: The program.
        path: A session's file, or a folder.
        root: The project's folder.
        environment: The environment's variables.

    Raises:
        InvalidValue: There is no such file, or it is no session of that program.
    """
    if os.path.isdir(path):
        files = (
            os.path.join(folder, name)
            for folder, _, names in os.walk(path)
            for name in names
            if name.endswith(".jsonl")
        )
        return _of_project(harness, files, work_trees(root, environment))
    if not os.path.isfile(path):
        raise InvalidValue(f"there is no file {path}", "look at the path")
    found = recognise(lines_of(path))
    if found is harness:
        return (path,)
    if found is None:
        raise NoSession(path, TITLES[harness])
    hint = f"`pmem import {found} {path}` reads it"
    raise InvalidValue(f"{path} is a session of {TITLES[found]}, not of {TITLES[harness]}", hint)


def harness_of(path: str) -> SessionProgram:
    """Return the program that wrote a session.

    Args:
        path: A session's file.

    Raises:
        InvalidValue: There is no such file, or it is no session.
    """
    if not os.path.isfile(path):
        raise InvalidValue(f"there is no file {path}", "look at the path")
    found = recognise(lines_of(path))
    if found is None:
        raise NoSession(path, "a program that pmem knows")
    return found


def work_trees(root: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return a project's folder and where it is in the other work trees of its repository.

    Args:
        root: The project's folder.
        environment: The environment's variables.
    """
    others = (tree.folder for tree in other_work_trees(root, environment))
    return tuple(dict.fromkeys((os.path.realpath(root), *others)))


def _claude_code(
    home: str, environment: Mapping[str, str], roots: Iterable[str], *, sub_agents: bool
) -> Iterator[str]:
    own = environment.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")
    projects = os.path.join(own, "projects")
    starts = tuple(_NO_LETTER.sub("-", root) for root in roots)
    for folder in _names_in(projects):
        if folder.startswith(starts):
            for place, _, names in os.walk(os.path.join(projects, folder)):
                for name in names:
                    is_agents = name.startswith("agent-") or "subagents" in place
                    if name.endswith(".jsonl") and (sub_agents or not is_agents):
                        yield os.path.join(place, name)


def _codex(home: str, environment: Mapping[str, str]) -> Iterator[str]:
    own = environment.get("CODEX_HOME") or os.path.join(home, ".codex")
    for part in ("sessions", "archived_sessions"):
        for place, _, names in os.walk(os.path.join(own, part)):
            for name in names:
                if name.startswith("rollout-") and name.endswith(".jsonl"):
                    yield os.path.join(place, name)


def _gemini(home: str) -> Iterator[str]:
    own = os.path.join(home, ".gemini", "tmp")
    for folder in _names_in(own):
        chats = os.path.join(own, folder, "chats")
        for name in _names_in(chats):
            if name.endswith(".jsonl"):
                yield os.path.join(chats, name)


def _of_project(
    harness: SessionProgram, files: Iterable[str], roots: tuple[str, ...]
) -> tuple[str, ...]:
    digests = {sha256(root.encode("utf-8", "surrogateescape")).hexdigest() for root in roots}
    kept = [path for path in files if _is_of(harness, path, roots, digests)]
    return tuple(sorted(kept, key=lambda path: (os.path.getmtime(path), path)))


def _is_of(harness: SessionProgram, path: str, roots: tuple[str, ...], digests: set[str]) -> bool:
    """Tell whether a file is a program's session in one of some folders, or below."""
    first = (line for line, _ in zip(lines_of(path), range(_LOOKED_AT), strict=False))
    for _, value in objects(first, SessionNotes()):
        if harness is SessionProgram.GEMINI and "projectHash" in value:
            return value["projectHash"] in digests
        payload = value.get("payload") if harness is SessionProgram.CODEX else value
        folder = text_of(payload.get("cwd")) if isinstance(payload, dict) else ""
        if folder:
            place = os.path.realpath(folder)
            return any(place == root or place.startswith(root + os.sep) for root in roots)
    return False


def _names_in(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def lines_of(path: str, told: Callable[[int], None] = lambda count: None) -> Iterator[bytes]:
    """Yield the lines of a file with their ends, none longer than is looked at and one byte more.

    Args:
        path: The file.
        told: Told how many bytes were read.

    Raises:
        StorageRefused: It may not be read.
    """
    done = 0
    try:
        with open(path, "rb") as file:
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
        raise FileNotRead(f"{path} cannot be read: {error.strerror}") from None
