"""Calls of pmem's own tools, known by what they were answered: a server may have any name."""

from collections.abc import Iterable, Iterator
from typing import Final

from pmem.core.own_words import is_own_answer
from pmem.interchange.sessions import OWN_WORDS, Line, SessionNotes

MOST_HELD: Final = 200
"""Lines that wait for a call's result; then the call is taken for somebody else's."""
_OTHERS: Final = frozenset(
    ("command", "cmd", "script", "path", "file_path", "absolute_path", "patch")
)
"""Arguments that no tool of pmem's has: what shows a file, or runs a command, may show its words.
"""


def without_own_calls(lines: Iterable[Line], notes: SessionNotes) -> Iterator[Line]:
    """Yield lines without the calls that pmem answered, and without these answers."""
    held: list[Line] = []
    servers: set[str] = set()
    waiting: set[str] = set()
    own: set[str] = set()
    for line in lines:
        name, call, is_result = _call_of(line)
        if call in own or (name and _server(name) in servers):
            own.add(call)
            notes.leave_out(OWN_WORDS)
            continue
        if is_result and call in waiting and is_own_answer(line["content"]):
            asked = next(one for one in held if _call_of(one)[1] == call)
            held.remove(asked)
            servers.update(filter(None, [_server(_call_of(asked)[0])]))
            own.add(call)
            notes.left_out[OWN_WORDS] += 2
        else:
            held.append(line)
        waiting.discard(call) if is_result else waiting.update([call] if name and call else [])
        while held and (len(held) > MOST_HELD or _call_of(held[0])[1] not in waiting):
            waiting.discard(_call_of(held[0])[1])
            yield held.pop(0)
    yield from held


def _call_of(line: Line) -> tuple[str, str, bool]:
    """Return the tool and the id of a call that may be pmem's, or the id of what is a result."""
    result, call = line.get("tool_result"), line.get("tool_call")
    if result is not None:
        return "", str(result.get("id") or ""), True
    given = call.get("arguments") if call is not None else None
    if call is None or (isinstance(given, dict) and not _OTHERS.isdisjoint(given)):
        return "", "", False
    return str(call.get("name") or ""), str(call.get("id") or ""), False


def _server(name: str) -> str:
    """Return the server of a tool, where its name has it."""
    return name.rpartition("__")[0] if name.startswith("mcp__") else ""
