"""The calls of tools that messages record, in the forms in which programs keep them."""

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pmem.core import exactjson
from pmem.core.visible import escaped
from pmem.values.records import Message, Role, dump_line

LOOKED_AT: Final = 20_000
"""Characters of arguments that are looked at, where these are JSON in a text."""
_DEEPEST: Final = 3
_LINKS: Final = ("tool_call_id", "call_id", "tool_use_id", "id")
Link = tuple[int, int]
"""The places of two messages that belong together, such as a call's and its result's."""


class RecordedCall(NamedTuple):
    """A call of a tool.

    Attributes:
        name: The tool's; empty where the record names none.
        id: What the record calls it, by which its result names it.
        given: The arguments as the record keeps them: an object, JSON in a text, or a text.
    """

    name: str
    id: str | None = None
    given: Any = None

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments by their names; of a plain text, `command` is its name."""
        given = self.given
        if isinstance(given, str) and given[:1] == "{":
            try:
                given = json.loads(given[:LOOKED_AT])
            except ValueError:
                return {}
        if isinstance(given, str):
            return {"command": given}
        return given if isinstance(given, Mapping) else {}

    @property
    def arguments_json(self) -> str:
        """The arguments as the text of a JSON object; what is none stands in its `input`."""
        given = {} if self.given is None else self.given
        if isinstance(given, str) and _is_object(given):
            return escaped(given)
        whole = given if isinstance(given, Mapping) else {"input": given}
        return escaped(dump_line(whole).decode())

    def texts(self) -> Iterator[str]:
        """Yield the texts and numbers of the call: the tool's name, each argument and its name."""
        yield self.name
        left = [self.arguments or self.given]
        while left:
            part = left.pop()
            if isinstance(part, Mapping):
                left += [*part, *part.values()]
            elif isinstance(part, list | tuple):
                left += part
            else:
                yield str(part)


def recorded_calls(value: Any) -> Iterator[RecordedCall]:
    """Yield the calls in what a message keeps as its `tool_call`: one, or several in a list."""
    return _calls(value, None, 0)


def link_ids(value: Any) -> list[str]:
    """Return the ids by which calls and results name each other."""
    parts = value if isinstance(value, list) else [value]
    return [name for name in map(_link_id, parts) if name is not None]


def call_links(messages: Sequence[Message]) -> Iterator[Link]:
    """Pair calls with results: by id where both have one, else by order."""
    known: dict[str, int] = {}
    named: dict[str, int] = {}
    unnamed: deque[int] = deque()
    for i, message in enumerate(messages):
        call, result = message.tool_call, message.tool_result
        if message.role is Role.SYSTEM:
            continue
        if call is not None:
            ids = dict.fromkeys(link_ids(call), i)
            known |= ids
            if result is None:
                named |= ids
                unnamed.extend([i] * ((len(call) if isinstance(call, list) else 1) - len(ids)))
        elif result is not None or message.role is Role.TOOL:
            ids = dict.fromkeys(link_ids(result), i)
            answered = [known[name] for name in ids if name in known]
            for name in ids:
                named.pop(name, None)
            if not answered:
                answered = _oldest_waiting(named, unnamed, by_name=bool(ids))
            yield from ((place, i) for place in answered)


def _oldest_waiting(named: dict[str, int], unnamed: deque[int], *, by_name: bool) -> list[int]:
    """Take the oldest call whose result has not come; one by an id is awaited by no other id."""
    first = next(iter(named), None)
    if unnamed and (by_name or first is None or unnamed[0] < named[first]):
        return [unnamed.popleft()]
    return [] if by_name or first is None else [named.pop(first)]


def _link_id(part: Any) -> str | None:
    if not isinstance(part, Mapping):
        return None
    return next((str(part[key]) for key in _LINKS if part.get(key) is not None), None)


def _calls(value: Any, known: str | None, depth: int) -> Iterator[RecordedCall]:
    if depth > _DEEPEST or not value:
        return
    if isinstance(value, list | tuple):
        for one in value:
            yield from _calls(one, None, depth + 1)
    elif isinstance(value, Mapping):
        known = _link_id(value) or known
        if isinstance(value.get("function"), Mapping):
            yield from _calls(value["function"], known, depth + 1)
        else:
            name = str(value.get("name") or value.get("tool") or "")
            given = value.get("input", value.get("arguments", value.get("args")))
            yield RecordedCall(name, known, given)
    elif isinstance(value, str):
        yield RecordedCall(value)


def _is_object(text: str) -> bool:
    try:
        return isinstance(exactjson.read(text), dict)
    except (ValueError, RecursionError):
        return False
