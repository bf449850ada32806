"""Where coding assistants keep the sessions of a project."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from typing import Final, NamedTuple

from pmem.conversation.session_content import ZSTD, lines_of, read_past_compressed, start_of
from pmem.core.lines import composed
from pmem.errors import InvalidValue
from pmem.interchange.chat_forms import program_of_chat, unread_program
from pmem.interchange.sessions import SessionNotes, objects, recognise, text_of
from pmem.storage.git.work_trees import other_work_trees
from pmem.values.programs import FORMS, TITLES, SessionProgram


class FoundSessions(NamedTuple):
    """The files of sessions, and how many more are compressed and could not be looked into."""

    files: tuple[str, ...]
    compressed: int = 0


_DIGEST: Final = re.compile(rb'"projectHash":\s{0,9}"([0-9a-f]{64})"')
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


class NotReadYet(InvalidValue):
    """A chat is of a program that is known, and that has no reader."""

    def __init__(self, path: str, title: str) -> None:
        super().__init__(
            f"{path} is a chat of {title}: pmem has no reader for it yet",
            "`pmem import messages` takes JSON Lines, one message each",
        )


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
    places: dict[SessionProgram, partial[Iterator[str]]] = {
        SessionProgram.CLAUDE_CODE: partial(
            _claude_code, home, environment, roots, sub_agents=sub_agents
        ),
        SessionProgram.CODEX: partial(_codex, home, environment),
        SessionProgram.GEMINI: partial(_gemini, home, environment, sub_agents=sub_agents),
    }
    found = places.get(harness)
    return FoundSessions(()) if found is None else _of_project(harness, found(), roots)


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
        files = [
            os.path.join(folder, name)
            for folder, _, names in os.walk(path)
            for name in names
            if _is_session(harness, name)
        ]
        found = _of_project(harness, files, work_trees(root, environment))
        return found if found.files or found.compressed else _moved(harness, path, files)
    try:
        program = harness_of(path)
    except NoSession:
        raise NoSession(path, TITLES[harness]) from None
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
        raise NotReadYet(path, unread)
    raise NoSession(path, "a program that pmem knows")


def work_trees(root: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return a project's folder and where it is in the other work trees of its repository."""
    others = (tree.folder for tree in other_work_trees(root, environment))
    return tuple(dict.fromkeys((os.path.realpath(root), *others)))


def _claude_code(
    home: str, environment: Mapping[str, str], roots: tuple[str, ...], *, sub_agents: bool
) -> Iterator[str]:
    own = environment.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")
    projects = os.path.join(own, "projects")
    starts = tuple(_NO_LETTER.sub("-", root) for root in roots)
    for folder in _names_in(projects):
        files = list(_claude_files(os.path.join(projects, folder), sub_agents=sub_agents))
        # One file says where a folder's sessions are; a name that fits may have those of others.
        is_wanted = folder.startswith(starts) or any(
            _is_in(_place_of(SessionProgram.CLAUDE_CODE, file), roots) for file in files[:1]
        )
        if is_wanted:
            yield from files


def _claude_files(folder: str, *, sub_agents: bool) -> Iterator[str]:
    for place, _, names in os.walk(folder):
        for name in sorted(names):
            is_agents = name.startswith("agent-") or "subagents" in place
            if _is_session(SessionProgram.CLAUDE_CODE, name) and (sub_agents or not is_agents):
                yield os.path.join(place, name)


def _codex(home: str, environment: Mapping[str, str]) -> Iterator[str]:
    own = environment.get("CODEX_HOME") or os.path.join(home, ".codex")
    for part in ("sessions", "archived_sessions"):
        for place, _, names in os.walk(os.path.join(own, part)):
            for name in names:
                if name.startswith("rollout-") and _is_session(SessionProgram.CODEX, name):
                    yield os.path.join(place, name)


def _gemini(home: str, environment: Mapping[str, str], *, sub_agents: bool) -> Iterator[str]:
    own = os.path.join(environment.get("GEMINI_CLI_HOME") or home, ".gemini", "tmp")
    for folder in _names_in(own):
        chats = os.path.join(own, folder, "chats")
        for place, inner, names in os.walk(chats):
            if not sub_agents:
                inner.clear()
            for name in sorted(names):
                if _is_session(SessionProgram.GEMINI, name):
                    yield os.path.join(place, name)


def _is_session(harness: SessionProgram, name: str) -> bool:
    """Tell by its name whether a file may be a session; Gemini had one document each once."""
    if harness is SessionProgram.GEMINI and name.startswith("session-") and name.endswith(".json"):
        return True
    return name.endswith((".jsonl", f".jsonl{ZSTD}"))


def _of_project(
    harness: SessionProgram, files: Iterable[str], roots: tuple[str, ...]
) -> FoundSessions:
    kept, compressed = read_past_compressed(
        files, lambda path: _is_in(_place_of(harness, path), roots)
    )
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
