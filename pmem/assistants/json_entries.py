"""Our entries in an assistant's JSON: found by what they run, put in, taken out. Pure.

An entry is pmem's by the end of its command, wherever it stands and whatever runs it. All else in
the file is somebody else's: it is passed over, and stays.
"""

import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple, NoReturn

from pmem.assistants.events import event_of
from pmem.assistants.harnesses import Entry
from pmem.values.json_layout import fold_lists

INDENT: Final = "  "
_WHITE: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder()
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
    try:
        json.loads(text, parse_constant=_refuse)
        return _node(text, _after_white(text, 0))
    except RecursionError:
        raise NotStrictJson("it is nested too deep") from None
    except ValueError as error:
        raise NotStrictJson(str(error)) from None


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


def with_item(text: str, path: Path, value: Any) -> str:
    """Put an item at the end of an array, which is made if it is missing.

    Raises:
        NotStrictJson, NoPlace: See `with_member`.
    """
    node = _find(parse(text), path)
    if node is None:
        return with_member(text, path[:-1], str(path[-1]), [value])
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
    return _write_lines(members, INDENT).replace("\n", newline) + newline


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
    newline = "\r\n" if "\r\n" in text else "\n"
    return _write_lines(value, _step(text)).replace("\n", newline + indent)


def _write_lines(value: Any, step: str) -> str:
    written = json.dumps(value, ensure_ascii=False, indent=INDENT)
    lines = fold_lists(f"{written}\n".encode()).decode()[:-1]
    return re.sub(r"(?m)^(?:  )+", lambda found: step * (len(found[0]) // len(INDENT)), lines)


def _on_one_line(value: Any) -> str:
    if isinstance(value, dict) and value:
        members = (f"{_on_one_line(name)}: {_on_one_line(part)}" for name, part in value.items())
        return f"{{ {', '.join(members)} }}"
    if isinstance(value, list) and value:
        return f"[ {', '.join(map(_on_one_line, value))} ]"
    return json.dumps(value, ensure_ascii=False)


def _step(text: str) -> str:
    """Return by how much a text indents: as its first indented line."""
    found = re.search(r"\n([ \t]+)[^ \t\r\n]", text)
    return found[1] if found else INDENT


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


def _refuse(constant: str) -> NoReturn:
    raise NotStrictJson(f"{constant} is no JSON")


def _node(text: str, start: int) -> JsonNode:
    """Return where a value of JSON, which was read as such, and all in it stand."""
    kind = text[start]
    if kind not in "{[":
        return JsonNode(start, _DECODER.raw_decode(text, start)[1], "")
    names: list[tuple[str, int]] = []
    inner: list[JsonNode] = []
    place = _after_white(text, start + 1)
    while text[place] not in "}]":
        if kind == "{":
            name, end = _DECODER.raw_decode(text, place)
            names.append((name, place))
            place = _after_white(text, _after_white(text, end) + 1)
        inner.append(_node(text, place))
        place = _after_white(text, inner[-1].end)
        if text[place] == ",":
            place = _after_white(text, place + 1)
    return JsonNode(start, place + 1, kind, tuple(names), tuple(inner))


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
