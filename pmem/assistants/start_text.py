"""What a session starts with: one line on what it is, then memories in groups, in a fence.

What an assistant reads of itself is not told again. Claude Code takes files that CLAUDE.md names
with `@`, and AGENTS.md where there is no CLAUDE.md; the others read what stands in `_READ`, from
the project's top to the folder that they work in.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from pmem.assistants.trial import can_serve
from pmem.core.context.parts import YOURS, Item, ShownItem
from pmem.core.context.writing import fence_of, naming
from pmem.core.filters import Filter
from pmem.core.outcomes import failed, warns
from pmem.core.own_words import AT_START, KEEP
from pmem.core.selection import Selection
from pmem.core.visible import one_visible_line
from pmem.project.caller import serving
from pmem.project.workspace import Workspace
from pmem.search.context_request import BuiltContext
from pmem.values.records import Memory, MemoryType

FRAME_TOKENS: Final = 60
"""The line and the groups take so many tokens more than a context's frame at the most."""
FRAME_CHARACTERS: Final = 260
_RULES, _HOW, _DECIDED, _FAILED, _GOOD = GROUPS = (
    "Rules", "How to", "Decided", "Failed before", "Good to know"
)  # fmt: skip
"""The groups in their order."""
_GROUP_OF: Final = {
    MemoryType.CONSTRAINT: _RULES,
    MemoryType.PREFERENCE: _RULES,
    MemoryType.PROCEDURE: _HOW,
    MemoryType.DECISION: _DECIDED,
}
_NAME: Final = 60
"""Characters of a project's name."""


def start_text(workspace: Workspace, built: BuiltContext) -> str:
    """Write a context as a session's start."""
    parts = {part.name: part.items for part in built.sections}
    news = parts.pop("updates", ())
    items = list(chain.from_iterable(parts.values()))
    shown = [item for item in items if not item.mine]
    store = serving(workspace, None).memories
    named = {_id_of(item) for item in (*shown, *news)}
    selection = Selection(wanted=Filter(), ids=tuple(sorted(named)) or ("-",))
    known = {one.id: one for one in store.select(selection)}
    grouped = [(_group_of(known.get(item.id)), item) for item in shown]
    lines = [_item(item, group) for name in GROUPS for group, item in grouped if group == name]
    lines += [_item(item, YOURS) for item in items if item.mine]
    for item in news:
        memory = known.get(_id_of(item))
        label = naming(_id_of(item), memory.places if memory else ())
        lines.append(_item(item, item.heading, label))
    now = workspace.now()
    total = store.count(Selection(wanted=Filter(), holding_at=now))
    return "\n".join([_first_line(workspace, len(shown), total), *fence_of(lines)])


def _first_line(workspace: Workspace, shown: int, total: int) -> str:
    name = one_visible_line(workspace.mask.text(workspace.project_name))[:_NAME]
    rest = "tool `search`" if can_serve() else "`pmem search`"
    many = f"all {shown}" if shown >= total else f"{shown} of {total}; the rest: {rest}"
    return f"{AT_START} ({name}, {many}). {KEEP}"


def _group_of(memory: Memory | None) -> str:
    if memory is not None and (warns(memory) or failed(memory)):
        return _FAILED
    return _GOOD if memory is None else _GROUP_OF.get(memory.type, _GOOD)


def _id_of(item: ShownItem) -> str:
    """Return a memory's id, also that of what is new about one."""
    return item.id.partition("@")[0]


def _item(shown: ShownItem, heading: str, label: str | None = None) -> Item:
    return Item(
        id=shown.id,
        text=shown.text,
        label=shown.label if label is None else label,
        heading=heading,
        difference=shown.difference,
    )


_READ: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "claude-code": (("CLAUDE.md",), (".claude/CLAUDE.md",)),
    "codex": (("AGENTS.override.md", "AGENTS.md"),),
    "gemini": (("GEMINI.md",),),
    "cursor": (("AGENTS.md",),),
    "vscode": (("AGENTS.md",), (".github/copilot-instructions.md",)),
}
"""For each assistant the files of a folder that it reads, of each row the first that is there."""
_CLAUDE: Final = "claude-code"
_INSTEAD: Final = (("AGENTS.md",),)
"""What Claude Code reads in a project without a file of its own, since 2.1.277."""
_CODE: Final = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_INCLUDED: Final = re.compile(r"(?:^|\s)@([\w.~/-]+)")
_MOST_BYTES: Final = 256 * 1024
_DEEPEST: Final = 5
"""Claude Code follows inclusions as deep."""


def files_read(harness: str, project: str, folder: str) -> frozenset[str]:
    """Return the instruction files that an assistant has read when its session starts.

    `folder` is the one that the assistant works in; empty for the project's.

    Returns:
        Their names relative to the project, with slashes; of a link also what it leads to.
    """
    found = set(_there(project, folder, _READ.get(harness, ())))
    if harness == _CLAUDE:
        found = found | _included(project, found) or set(_there(project, folder, _INSTEAD))
    top = os.path.realpath(project)
    real = (os.path.relpath(os.path.realpath(_path(project, file)), top) for file in found)
    return frozenset(found | {file.replace(os.sep, "/") for file in real})


def _there(project: str, folder: str, rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the files of some rows that are in a folder or above it."""
    for near in _folders(project, folder) if rows else ():
        for names in rows:
            paths = [f"{near}{name}" for name in names]
            yield from [one for one in paths if os.path.isfile(_path(project, one))][:1]


def _folders(project: str, folder: str) -> Iterator[str]:
    """Yield the folders from a project's top down to one, with a slash at the end."""
    inside = os.path.relpath(os.path.realpath(folder or project), os.path.realpath(project))
    parts = inside.replace(os.sep, "/").split("/")
    parts = [] if parts[0] in (os.curdir, os.pardir) else parts
    for depth in range(len(parts) + 1):
        yield "".join(f"{part}/" for part in parts[:depth])


def _included(project: str, files: set[str]) -> set[str]:
    """Return the files that some name, those that these name, and so on."""
    found: set[str] = set()
    for _ in range(_DEEPEST):
        files = {name for file in files for name in _named_in(project, file)} - found
        found |= files
    return found


def _named_in(project: str, file: str) -> Iterator[str]:
    try:
        with open(_path(project, file), encoding="utf-8", errors="replace") as opened:
            text = opened.read(_MOST_BYTES)
    except OSError:
        return
    folder = os.path.dirname(file)
    for name in _INCLUDED.findall(_CODE.sub("", text)):
        place = os.path.normpath(os.path.join(folder, name)).replace(os.sep, "/")
        if not place.startswith((os.pardir, "/", "~")) and os.path.isfile(_path(project, place)):
            yield place


def _path(project: str, file: str) -> str:
    return os.path.join(project, *file.split("/"))
