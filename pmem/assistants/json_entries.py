"""Our entries in an assistant's JSON: found by what they run, put in, taken out. Pure.

An entry is pmem's by the end of its command, wherever it stands and whatever runs it. All else in
the file is somebody else's: it is passed over, and stays.
"""

import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from pmem.assistants.events import event_of
from pmem.assistants.harnesses import Entry
from pmem.core.json_text import (
    JsonNode,
    NoPlace,
    Path,
    new_text,
    parse,
    value_at,
    with_item,
    with_member,
    with_value,
    without,
)

State = Literal["set", "missing", "differs"]
Usable = Callable[[str], bool]
"""Tells whether what an entry runs can be run."""


class _FoundHook(NamedTuple):
    """A hook of ours: where its command stands, what goes with it, and what it runs."""

    path: Path
    whole: Path
    program: str
    event: str | None


def state_of(text: str | None, entry: Entry, usable: Usable) -> State:
    """Tell whether an entry is there as it should be.

    Raises:
        NotStrictJson, NoPlace: The file is not JSON, or something else is in the way.
    """
    if text is None:
        return "missing"
    if not entry.event:
        return _server_state(value_at(text, entry.path), entry, usable)
    found = list(_hooks(text, entry))
    if not found:
        return "missing"
    good = [one for one in found if one.event == entry.event and usable(one.program)]
    return "set" if len(good) == len(found) == 1 else "differs"


def with_entries(
    text: str | None, wanted: Sequence[Entry], alone: Mapping[str, Any], usable: Usable
) -> str:
    """Put entries into a file; those that are there as they should be stay as they are.

    Raises:
        NotStrictJson, NoPlace: See `state_of`.
    """
    if text is None:
        return new_text({**_as_members(wanted), **alone})
    if parse(text).kind != "{":
        raise NoPlace("it is no object")
    for entry in wanted:
        state = state_of(text, entry, usable)
        if state == "missing" and entry.event:
            text = with_item(text, entry.path, entry.value)
        elif state == "missing":
            text = with_member(text, entry.path[:-1], entry.path[-1], entry.value)
        elif state == "differs":
            text = _mend(text, entry)
    return text


def without_entries(text: str, wanted: Iterable[Entry], alone: Mapping[str, Any]) -> str | None:
    """Take entries out of a file.

    Returns:
        The file as it was before; None where there was none.

    Raises:
        NotStrictJson, NoPlace: See `state_of`.
    """
    left: str | None = text
    for entry in wanted:
        while left is not None and (path := _to_remove(left, entry)) is not None:
            left = without(left, path)
    if left is None or left == text or not alone:
        return left
    was_made = [name for name, _ in parse(text).names] == ["hooks", *alone]
    return None if was_made and json.loads(left) == alone else left


def _to_remove(text: str, entry: Entry) -> Path | None:
    if entry.event:
        return next((one.whole for one in _hooks(text, entry)), None)
    found = value_at(text, entry.path)
    return entry.path if _program_of(found) is not None else None


def _mend(text: str, entry: Entry) -> str:
    """Replace what is ours and runs something that is not there, or runs twice."""
    if not entry.event:
        return with_value(text, entry.path, entry.value)
    for spare in list(_hooks(text, entry))[:0:-1]:
        text = without(text, spare.whole) or text
    (first,) = _hooks(text, entry)
    handler = entry.value["hooks"][0] if "hooks" in entry.value else entry.value
    return with_value(text, first.path, handler)


def _server_state(found: Any, entry: Entry, usable: Usable) -> State:
    if found is None:
        return "missing"
    program = _program_of(found)
    if program is None:
        raise NoPlace(f"{'.'.join(entry.path)} is something else")
    return "set" if usable(program) else "differs"


def _program_of(server: Any) -> str | None:
    """Return what a server of ours runs; None where it is none of ours."""
    if not isinstance(server, dict):
        return None
    command, arguments = server.get("command"), server.get("args", [])
    words = command if isinstance(command, list) else [command, *_list(arguments)]
    ours = [place for place, word in enumerate(words) if word == "mcp" and place]
    return words[ours[0] - 1] if ours and _is_pmem(words[ours[0] - 1]) else None


def _hooks(text: str, entry: Entry) -> Iterator[_FoundHook]:
    """Yield the hooks of ours for an event, whatever else stands there passed over."""
    node: JsonNode | None = parse(text)
    for step, kind in zip(entry.path, ("{", "["), strict=True):
        node = None if node is None else node.child(step)
        if node is not None and node.kind != kind:
            raise NoPlace(f"{step!r} is something else there")
    groups = [] if node is None else json.loads(text[node.start : node.end])
    for number, group in enumerate(groups):
        here: Path = (*_path_of(entry), number)
        inner = group.get("hooks") if isinstance(group, dict) else None
        if isinstance(inner, list):
            ours = [_hook_of(handler) for handler in inner]
            for place, found in enumerate(ours):
                path: Path = (*here, "hooks", place)
                whole = here if all(ours) else path
                if found is not None:
                    yield _FoundHook(path, whole, *found)
        elif (flat := _hook_of(group)) is not None:
            yield _FoundHook(here, here, *flat)


def _path_of(entry: Entry) -> Path:
    return entry.path


def _hook_of(handler: Any) -> tuple[str, str | None] | None:
    """Return what a hook of ours runs, and for which event; None where it is none of ours."""
    command = handler.get("command") if isinstance(handler, dict) else None
    words = _words(command) if isinstance(command, str) else []
    for program, word, event in zip(words, words[1:], words[2:], strict=False):
        if word == "hook" and _is_pmem(program) and event_of(event) is not None:
            return program, event_of(event)
    return None


@lru_cache(maxsize=64)
def _words(command: str) -> list[str]:
    """Return the words of a shell's command line; none where a quote is left open."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _is_pmem(word: Any) -> bool:
    if not isinstance(word, str):
        return False
    return word.replace("\\", "/").rpartition("/")[2] in ("pmem", "pmem.exe")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _as_members(wanted: Iterable[Entry]) -> dict[str, Any]:
    """Return what a file with these entries alone holds."""
    members: dict[str, Any] = {}
    for entry in wanted:
        here = members
        for name in entry.path[:-1]:
            here = here.setdefault(name, {})
        if entry.event:
            here.setdefault(entry.path[-1], []).append(entry.value)
        else:
            here[entry.path[-1]] = entry.value
    return members
