"""The calls of tools that a message records, in the forms in which programs keep them."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from pmem.core import exactjson
from pmem.core.visible import escaped
from pmem.values.records import dump_line

LOOKED_AT: Final = 20_000
"""Characters of arguments that are looked at, where these are JSON in a text."""
_DEEPEST: Final = 3
_LINKS: Final = ("tool_call_id", "call_id", "tool_use_id", "id")


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
    """Yield the calls in what a message keeps as its `tool_call`: one, or several in a list.

    Args:
        value: Any JSON; an empty object is no call.
    """
    return _calls(value, None, 0)


def link_ids(value: Any) -> list[str]:
    """Return the ids by which calls and results name each other.

    Args:
        value: What a message keeps as its `tool_call` or `tool_result`: one, or several in a list.
    """
    parts = value if isinstance(value, list) else [value]
    return [name for name in map(_link_id, parts) if name is not None]


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
