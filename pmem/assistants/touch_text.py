"""The few lines that a tool's call is given: a fence that no memory can close, within a length."""

from collections.abc import Sequence, Set
from typing import Final

from pmem.core.context.parts import Item
from pmem.core.context.writing import fence_of
from pmem.core.shortening import shortened
from pmem.core.trust import shown, trust_of
from pmem.memory.fixes import fix_of
from pmem.memory.reading import Staleness
from pmem.project.caller import serving
from pmem.project.workspace import Workspace
from pmem.values.ids import short
from pmem.values.records import Memory

_LEAST: Final = 2
_FIX: Final = 120
"""Characters of what worked, behind what failed."""


def touch_text(workspace: Workspace, title: str, memories: Sequence[Memory], most: int) -> str:
    """Write memories, a line each.

    Args:
        workspace: Whose memory it is.
        title: What stands before them.
        memories: At least one.
        most: Characters at the most.
    """
    staleness = Staleness(workspace)
    told = {memory.id for memory in memories}
    lines = [
        (_label(memory, staleness(memory)), _line(workspace, memory, told)) for memory in memories
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
    """Return what stands before a memory: its type, its name, what speaks against it."""
    doubt = "(stale) " if stale else ""
    return f"[{memory.type} {short(memory.id)}] {shown(trust_of(memory))}{doubt}"


def _line(workspace: Workspace, memory: Memory, told: Set[str]) -> str:
    """Return what a memory says, and behind a dead end what worked, where that is not told."""
    said = _one_line(workspace, memory)
    fix = fix_of(serving(workspace, None), memory)
    if fix is None or fix.id in told:
        return said
    return f"{said} Instead: {shortened(_one_line(workspace, fix), _FIX)}"


def _one_line(workspace: Workspace, memory: Memory) -> str:
    return " ".join(workspace.mask.text(memory.content).split())
