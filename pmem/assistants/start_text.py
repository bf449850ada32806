"""What a session starts with: one line on what it is, then memories in groups, in a fence."""

from itertools import chain
from typing import Final

from pmem.assistants.trial import can_serve
from pmem.core.context.parts import YOURS, Item, ShownItem
from pmem.core.context.writing import fence_of, naming
from pmem.core.filters import Filter
from pmem.core.outcomes import failed, warns
from pmem.core.own_words import AT_START, KEEP
from pmem.core.selection import Selection
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
    rest = "tool `search`" if can_serve() else "`pmem search`"
    many = f"all {shown}" if shown >= total else f"{shown} of {total}; the rest: {rest}"
    return f"{AT_START} ({workspace.project_name}, {many}). {KEEP}"


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
