"""Our entries in an assistant's JSON: found by what they run, put in, taken out. Pure.

An entry is pmem's by the end of its command, wherever it stands and whatever runs it. All else in
the file is somebody else's, and stays. A file that changes is written anew, with its own indent and
line ends; the text of before is put back where nobody has changed anything else since.
"""

import copy
import json
import math
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, Literal

from pmem.assistants.events import event_of
from pmem.assistants.harnesses import Entry

State = Literal["set", "missing", "differs"]
Usable = Callable[[str], bool]
"""Tells whether what an entry runs can be run."""
_INDENT: Final = "  "


class NotStrictJson(ValueError):
    """A text is not JSON to the letter; comments, say, are none."""


class NoPlace(ValueError):
    """An entry cannot be put into a file: there is something else in its place, or two of it."""


class JsonEntries:
    """The entries of ours in one file; `alone` is what a new file has beside them, at its end.

    Each method raises `NotStrictJson` where the file is no JSON, and `NoPlace` where something else
    is in the way.
    """

    def __init__(self, wanted: Sequence[Entry], alone: Mapping[str, Any], usable: Usable) -> None:
        self._wanted, self._alone, self._usable = wanted, alone, usable

    def state(self, text: str | None) -> State:
        """Tell whether the entries are there as they should be."""
        members = _read(text)
        states = {self._state_in(members, entry) for entry in self._wanted}
        return states.pop() if len(states) == 1 else "differs"

    def any_in(self, text: str) -> bool:
        """Tell whether one of the entries is there, as it should be or not."""
        members = _read(text)
        return any(_ours_in(members, entry) for entry in self._wanted)

    def put(self, text: str | None) -> str:
        """Put the entries into a file; those that are as they should be stay as they are."""
        before = _read(text)
        members = copy.deepcopy(before)
        for entry in self._wanted:
            state = self._state_in(members, entry)
            if state == "set":
                continue
            here = members
            for name in entry.path[:-1]:
                here = here.setdefault(name, {})
            if not entry.event:
                here[entry.path[-1]] = entry.value
            elif state == "missing":
                here.setdefault(entry.path[-1], []).append(entry.value)
            else:  # where somebody put it, about the tools that they named
                handler = entry.value["hooks"][0] if "hooks" in entry.value else entry.value
                here[entry.path[-1]] = _with_ours(here[entry.path[-1]], [handler])
        if text is None:
            return _write({**members, **self._alone}, "")
        return text if members == before else _write(members, text)

    def take(self, text: str, before: str | None) -> str | None:
        """Take the entries out of a file; None where nothing is left that was not made for them.

        `before` is what there was when they came; None where there was no file.
        """
        members = _read(text)
        if not self.any_in(text):
            return text
        left = _taken_out(members, self._wanted)
        if before is None:
            return None if left in ({}, self._alone) else _write(left, text)
        was = _read(before)
        is_same = json.dumps(_taken_out(was, self._wanted)) == json.dumps(left)  # true is not 1
        return before if is_same and not self.any_in(before) else _write(left, text)

    def _state_in(self, members: Mapping[str, Any], entry: Entry) -> State:
        found = _find(members, entry.path)
        ours = _ours_in(members, entry)
        if found is not None and not ours and not entry.event:
            raise NoPlace(f"{'.'.join(entry.path)} is something else")
        good = [one for one in ours if one[1] == entry.event and self._usable(one[0])]
        return "missing" if not ours else "set" if len(good) == len(ours) == 1 else "differs"


def _read(text: str | None) -> dict[str, Any]:
    """Return the members of a file; none where there is no file."""
    try:
        found = {} if text is None else json.loads(
            text, object_pairs_hook=_members, parse_constant=_refuse, parse_float=_finite
        )  # fmt: skip
    except (NotStrictJson, NoPlace):
        raise
    except (ValueError, RecursionError) as error:
        raise NotStrictJson(str(error)) from None
    if not isinstance(found, dict):
        raise NoPlace("it is no object")
    return found


def _members(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        raise NoPlace(f"{next(one for one in names if names.count(one) > 1)!r} stands there twice")
    return members


def _refuse(name: str) -> Any:
    raise NotStrictJson(f"{name} is no number")


def _finite(digits: str) -> float:
    found = float(digits)
    return found if math.isfinite(found) else _refuse(digits)


def _write(members: Mapping[str, Any], like: str) -> str:
    """Write a file with the indent, the line ends and the end of another text."""
    indented = re.search(r"\n([ \t]+)[^ \t\r\n]", like)
    is_one_line = "\n" not in like.strip() and re.search(r"\w", like) is not None
    indent = None if is_one_line else indented[1] if indented else _INDENT
    written = json.dumps(members, indent=indent, ensure_ascii=False)
    written.encode()  # half a character can be read, and not be written
    end = like[len(like.rstrip()) :] if like else "\n"
    return (written.replace("\n", "\r\n") if "\r\n" in like else written) + end


def _find(members: Mapping[str, Any], path: Sequence[str]) -> Any:
    """Return what stands at a path; None where nothing does."""
    found: Any = members
    for step in path:
        if not isinstance(found, dict):
            raise NoPlace(f"something else stands where {step!r} belongs")
        if step not in found:
            return None
        found = found[step]
    if found is None:
        raise NoPlace(f"{path[-1]!r} is nothing there")
    return found


def _ours_in(members: Mapping[str, Any], entry: Entry) -> list[tuple[str, str]]:
    """Return what the entries of ours at a place run, and at which event if they are hooks."""
    found = _find(members, entry.path)
    if not entry.event:
        program = _program_of(found)
        return [] if program is None else [(program, "")]
    if not isinstance(found, list | None):
        raise NoPlace(f"{entry.path[-1]!r} is something else there")
    handlers = [one for group in found or () for one in _handlers(group)]
    return [hook for hook in map(_hook_of, handlers) if hook is not None]


def _taken_out(members: Mapping[str, Any], wanted: Iterable[Entry]) -> dict[str, Any]:
    """Return members without entries of ours, and without what is empty where they stand."""
    left: dict[str, Any] = copy.deepcopy(dict(members))
    for entry in wanted:
        chain: list[Any] = [left]
        for step in entry.path[:-1]:
            chain.append(chain[-1].get(step, {}))
        if entry.event and entry.path[-1] in chain[-1]:
            chain[-1][entry.path[-1]] = _with_ours(chain[-1][entry.path[-1]], [])
        elif _ours_in(left, entry):
            chain[-1][entry.path[-1]] = {}
        for here, step in zip(chain[::-1], entry.path[::-1], strict=True):
            if here.get(step) in ({}, []):
                del here[step]
    return left


def _with_ours(groups: Iterable[Any], wanted: list[Any]) -> list[Any]:
    """Return hooks, those of ours replaced by what is wanted, as far as that goes."""
    kept = []
    for group in groups:
        handlers = _handlers(group)
        left = []
        for one in handlers:
            if _hook_of(one) is None:
                left.append(one)
            elif wanted:
                left.append(wanted.pop())
        if handlers == [group]:
            kept += left
        elif left or not handlers:
            kept.append({**group, "hooks": left} if left != handlers else group)
    return kept


def _handlers(group: Any) -> list[Any]:
    """Return the hooks of a group; of what is none, that itself."""
    inner = group.get("hooks") if isinstance(group, dict) else None
    return inner if isinstance(inner, list) else [group]


def _program_of(server: Any) -> str | None:
    """Return what a server of ours runs; None where it is none of ours."""
    if not isinstance(server, dict):
        return None
    command, arguments = server.get("command"), server.get("args")
    more = arguments if isinstance(arguments, list) else []
    words = command if isinstance(command, list) else [command, *more]
    ours = [before for before, word in pairwise(words) if word == "mcp"]
    return ours[0] if ours and runs_pmem(ours[0]) else None


def _hook_of(handler: Any) -> tuple[str, str] | None:
    """Return what a hook of ours runs, and at which event; None where it is none of ours."""
    command = handler.get("command") if isinstance(handler, dict) else None
    words = _words(command) if isinstance(command, str) else []
    for program, word, name in zip(words, words[1:], words[2:], strict=False):
        event = event_of(name)
        if word == "hook" and runs_pmem(program) and event is not None:
            return program, event
    return None


@lru_cache(maxsize=64)
def _words(command: str) -> list[str]:
    """Return the words of a shell's command line; none where a quote is left open."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


def runs_pmem(word: Any) -> bool:
    """Tell whether a word of a command line is pmem, wherever it is."""
    is_text = isinstance(word, str)
    return is_text and word.replace("\\", "/").rpartition("/")[2] in ("pmem", "pmem.exe")
