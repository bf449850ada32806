"""The few lines that a tool's call is given: a fence that no memory can close, within a length."""

from collections.abc import Sequence
from typing import Final

from pmem.core.context.parts import Item
from pmem.core.context.writing import fence_of, naming
from pmem.core.lines import shortened
from pmem.core.trust import label_of
from pmem.memory.reading import Staleness, fix_of
from pmem.project.caller import serving
from pmem.project.workspace import Workspace
from pmem.values.ids import short
from pmem.values.records import Memory

_LEAST: Final = 2
_FIX: Final = 120
"""Characters of what worked, behind what failed."""


def touch_text(workspace: Workspace, title: str, memories: Sequence[Memory], most: int) -> str:
    """Write memories, a line each."""
    staleness = Staleness(workspace)
    fixes = [fix_of(serving(workspace, None), memory) for memory in memories]
    short_fixes = (fix for fix in fixes if fix and len(_one_line(workspace, fix)) <= _FIX)
    fixing = {fix.id for fix in short_fixes}
    lines = [
        (workspace.mask.text(_label(memory, staleness(memory))), _line(workspace, memory, fix))
        for memory, fix in zip(memories, fixes, strict=True)
        if fix is not None or memory.id not in fixing
    ]
    left = most - len(_in_fence(title, [(label, "") for label, _ in lines]))
    cut: list[tuple[str, str]] = []
    for number, (label, text) in enumerate(lines):
        share = max(_LEAST, left // (len(lines) - number))
        cut.append((label, shortened(text, share)))
        left -= len(cut[-1][1])
    while len(written := _in_fence(title, cut)) > most and any(
        len(text) > _LEAST for _, text in cut
    ):
        over = len(written) - most
        longest = max(range(len(cut)), key=lambda number: len(cut[number][1]))
        label, text = cut[longest]
        cut[longest] = (label, shortened(text, max(_LEAST, len(text) - over)))
    return written


def _in_fence(title: str, lines: Sequence[tuple[str, str]]) -> str:
    items = [Item(id="", text=text, label=label) for label, text in lines]
    return "\n".join([f"{title}:", *fence_of(items)])


def _label(memory: Memory, stale: Sequence[str]) -> str:
    """Return what stands before a memory: its name, its places, what speaks against it."""
    doubt = "(stale) " if stale else ""
    return f"{naming(memory.id, memory.places)}{label_of(memory)}{doubt}"


def _line(workspace: Workspace, memory: Memory, fix: Memory | None) -> str:
    """Return what a memory says, and behind what failed what worked."""
    said = _one_line(workspace, memory)
    if fix is None:
        return said
    worked = shortened(_one_line(workspace, fix), _FIX)
    return f"{said} Fixed by: {worked} [{short(fix.id)}]"


def _one_line(workspace: Workspace, memory: Memory) -> str:
    return " ".join(workspace.mask.text(memory.content).split())
