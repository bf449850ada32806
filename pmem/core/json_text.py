"""Changing somebody else's JSON as a text: what is put in can be taken out again to the byte.

A new entry stands behind those that are there, written as they are. What was there stays as it is,
white space included. White space behind an opening bracket tells a container that was made for an
entry from one that was there and empty: the first goes with its last entry, the second stays.
"""

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

MOST_DEPTH: Final = 100
INDENT: Final = "  "
_WHITE: Final = re.compile(r"[ \t\r\n]*")
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_SCALAR: Final = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
Path = tuple[str | int, ...]
"""Names of members and places of items, from the outermost value inwards."""


class NotStrictJson(ValueError):
    """A text is not JSON to the letter; comments, say, are none."""


class NoPlace(ValueError):
    """An entry cannot be put into a text: there is something else in its place, or two of it."""


class JsonNode(NamedTuple):
    """A value in a text: where it begins and ends, and what is in it.

    `names` are the names of an object's members with the places where they begin; None for
    anything else. `inner` are the values of members, or the items of an array.
    """

    start: int
    end: int
    kind: str
    names: tuple[tuple[str, int], ...] = ()
    inner: "tuple[JsonNode, ...]" = ()

    def child(self, step: str | int) -> "JsonNode | None":
        """Return a member or an item; None where there is none.

        Raises:
            NoPlace: There are two of the name.
        """
        if isinstance(step, int):
            return self.inner[step] if step < len(self.inner) else None
        places = [place for place, (name, _) in enumerate(self.names) if name == step]
        if len(places) > 1:
            raise NoPlace(f"{step!r} stands there twice")
        return self.inner[places[0]] if places else None

    def begin(self, place: int) -> int:
        """Return where a member or an item begins, its name included."""
        return self.names[place][1] if self.kind == "{" else self.inner[place].start


@lru_cache(maxsize=1)
def parse(text: str) -> JsonNode:
    """Read a text; the last one read is at hand, as each entry of a file is looked for in it.

    Raises:
        NotStrictJson: It is none, or nested beyond all reason.
    """
    node = _value(text, _after_white(text, 0), 0)
    if _after_white(text, node.end) != len(text):
        raise NotStrictJson(f"something follows at character {node.end}")
    return node


def value_at(text: str, path: Path) -> Any:
    """Return a value in a text; None where there is none.

    Raises:
        NotStrictJson, NoPlace: See `parse` and `JsonNode.child`.
    """
    node = _find(parse(text), path)
    return None if node is None else json.loads(text[node.start : node.end])


def with_member(text: str, path: Path, name: str, value: Any) -> str:
    """Put a member into an object, which is made if it is missing, as are those around it.

    Raises:
        NotStrictJson: See `parse`.
        NoPlace: Something else is in the way.
    """
    return _put(text, path, name, value)


def with_item(text: str, path: Path, value: Any) -> str:
    """Put an item at the end of an array, which is made if it is missing.

    Raises:
        NotStrictJson, NoPlace: See `with_member`.
    """
    node = _find(parse(text), path)
    if node is None:
        return _put(text, path[:-1], str(path[-1]), [value])
    if node.kind != "[":
        raise NoPlace(f"{'.'.join(map(str, path))} is no list")
    return _append(text, node, None, value)


def with_value(text: str, path: Path, value: Any) -> str:
    """Replace a value.

    Raises:
        NotStrictJson, NoPlace: See `with_member`; or there is nothing.
    """
    node = _find(parse(text), path)
    if node is None:
        raise NoPlace("there is nothing to replace")
    line = text[text.rfind("\n", 0, node.start) + 1 : node.start]
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    many = "\n" in text[node.start : node.end]
    return text[: node.start] + _write_value(text, value, indent, many=many) + text[node.end :]


def without(text: str, path: Path) -> str | None:
    """Take a value out, and every container that was made for it.

    Returns:
        The text; None where nothing is left that was not made for it.

    Raises:
        NotStrictJson, NoPlace: See `with_member`; or there is no such value.
    """
    chain = [parse(text)]
    for step in path:
        found = chain[-1].child(step)
        if found is None:
            raise NoPlace("there is nothing to take out")
        chain.append(found)
    for parent, child in zip(chain[-2::-1], chain[:0:-1], strict=True):
        place = parent.inner.index(child)
        if len(parent.inner) > 1:
            return _cut_out(text, parent, place)
        if text[parent.start + 1] not in " \t\r\n":
            return text[: parent.start + 1] + text[child.end :]
    return None


def new_text(members: dict[str, Any], newline: str = "\n") -> str:
    """Return the text of a new file."""
    return _write_lines(members, "", INDENT, newline) + newline


def _put(text: str, path: Path, name: str, value: Any) -> str:
    """Put a member where a path leads, in containers of its own as far as there are none."""
    node, steps = parse(text), list(path)
    while steps and (inner := node.child(steps[0])) is not None:
        node = inner
        steps.pop(0)
        if node.kind != "{":
            break
    if node.kind != "{":
        raise NoPlace("something else stands where an object belongs")
    for step in reversed((*steps, name)[1:]):
        value = {str(step): value}
    first = str((*steps, name)[0])
    there = node.child(first)
    if there is not None:
        return with_value(text, (*path, name), value)
    return _append(text, node, first, value)


def _append(text: str, node: JsonNode, name: str | None, value: Any) -> str:
    """Put a member or an item behind the last one; into an empty container, at its very start."""
    label = "" if name is None else f"{json.dumps(name, ensure_ascii=False)}: "
    if not node.inner:
        line = text[text.rfind("\n", 0, node.start) + 1 : node.start]
        indent = line[: len(line) - len(line.lstrip(" \t"))]
        put = label + _write_value(text, value, indent, many="\n" in text)
        return text[: node.start + 1] + put + text[node.start + 1 :]
    last = len(node.inner) - 1
    before = node.inner[last - 1].end if last else node.start + 1
    between = text[before : node.begin(last)]
    white = between.partition(",")[2] if last else between
    indent = white.rpartition("\n")[2]
    put = _write_value(text, value, indent, many="\n" in white)
    end = node.inner[last].end
    return f"{text[:end]},{white}{label}{put}{text[end:]}"


def _cut_out(text: str, node: JsonNode, place: int) -> str:
    """Take one of several members or items out."""
    if place:
        return text[: node.inner[place - 1].end] + text[node.inner[place].end :]
    return text[: node.begin(0)] + text[node.begin(1) :]


def _write_value(text: str, value: Any, indent: str, *, many: bool) -> str:
    """Write a value as the text around it is written: over many lines, or on one."""
    if not many:
        return _on_one_line(value)
    return _write_lines(value, indent, _step(text), "\r\n" if "\r\n" in text else "\n")


def _step(text: str) -> str:
    """Return by how much a text indents: as its first indented line."""
    found = re.search(r"\n([ \t]+)[^ \t\r\n]", text)
    return found[1] if found else INDENT


def _write_lines(value: Any, indent: str, step: str, newline: str) -> str:
    if not value or not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return json.dumps(value, ensure_ascii=False)
    inner = indent + step
    parts = [f"{label}{_write_lines(part, inner, step, newline)}" for label, part in _parts(value)]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    lines = f",{newline}".join(inner + part for part in parts)
    return f"{opening}{newline}{lines}{newline}{indent}{closing}"


def _on_one_line(value: Any) -> str:
    if not value or not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    parts = (f"{label}{_on_one_line(part)}" for label, part in _parts(value))
    return f"{opening} {', '.join(parts)} {closing}"


def _parts(value: dict[str, Any] | list[Any]) -> Sequence[tuple[str, Any]]:
    if isinstance(value, list):
        return [("", item) for item in value]
    return [(f"{json.dumps(name, ensure_ascii=False)}: ", part) for name, part in value.items()]


def _find(node: JsonNode, path: Path) -> JsonNode | None:
    found: JsonNode | None = node
    for step in path:
        if found is None:
            return None
        found = found.child(step)
    return found


def _after_white(text: str, place: int) -> int:
    found = _WHITE.match(text, place)
    return found.end() if found else place


def _value(text: str, place: int, depth: int) -> JsonNode:
    if depth > MOST_DEPTH:
        raise NotStrictJson("it is nested too deep")
    sign = text[place : place + 1]
    if sign in ("{", "["):
        return _container(text, place, depth)
    found = (_STRING if sign == '"' else _SCALAR).match(text, place)
    if found is None:
        raise NotStrictJson(f"there is no value at character {place}")
    return JsonNode(place, found.end(), "")


def _container(text: str, start: int, depth: int) -> JsonNode:
    kind, closing = text[start], "}" if text[start] == "{" else "]"
    names: list[tuple[str, int]] = []
    inner: list[JsonNode] = []
    place = _after_white(text, start + 1)
    if text[place : place + 1] == closing:
        return JsonNode(start, place + 1, kind)
    while True:
        if kind == "{":
            found = _STRING.match(text, place)
            if found is None:
                raise NotStrictJson(f"there is no name at character {place}")
            names.append((json.loads(found[0]), place))
            place = _after_white(text, found.end())
            if text[place : place + 1] != ":":
                raise NotStrictJson(f"there is no colon at character {place}")
            place = _after_white(text, place + 1)
        inner.append(_value(text, place, depth + 1))
        place = _after_white(text, inner[-1].end)
        sign = text[place : place + 1]
        if sign == closing:
            return JsonNode(start, place + 1, kind, tuple(names), tuple(inner))
        if sign != ",":
            raise NotStrictJson(f"there is no comma at character {place}")
        place = _after_white(text, place + 1)
