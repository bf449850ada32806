"""What a tool's call is answered: the memories about a file, or about an error that came again.

They come by an exact place, citation or fingerprint, never by words; few, short, each once in a
thread; and a memory that a person marked may stop an edit, once, where the user allows it.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from pmem.assistants.tool_calls import ToolFile
from pmem.core.context.parts import Item
from pmem.core.context.writing import fence_of, naming
from pmem.core.filters import Filter, cited_files
from pmem.core.lines import shortened
from pmem.core.outcomes import warns
from pmem.core.places import nearness
from pmem.core.selection import Selection
from pmem.core.trust import label_of, may_be_told, may_stop, origin_mark
from pmem.errors import TooLarge
from pmem.memory.reading import Staleness, fix_of
from pmem.project.caller import noted_for, serving
from pmem.project.origins import Doubts
from pmem.project.workspace import Workspace
from pmem.storage.git.project_files import Unreadable
from pmem.storage.index.applying import applies_in_time, applying, deadline
from pmem.storage.local.shown_keys import MOST_TOUCHED, touch_key_of, touched_count
from pmem.values.ids import short
from pmem.values.records import Citation, Memory, MemoryType

MOST_LINES: Final = 3
_MOST_BYTES: Final = 1024 * 1024
"""In a larger file nobody looks for the lines that an edit touches."""
_FIRST: Final = (MemoryType.DEAD_END, MemoryType.CONSTRAINT, MemoryType.DECISION)
"""Types in the order in which they are told, before all others."""

_NO_MEMORY: Final = Selection(ids=("-",))

Lines = tuple[int, int]
"""The first and the last line."""


_STEP: Final = 7
"""Characters by which lines are cut until all of them fit."""
_FIX: Final = 120
"""Characters of what worked, behind what failed."""


def about_files(
    workspace: Workspace, files: Sequence[ToolFile], ids: tuple[str, ...] | None
) -> list[Memory]:
    """Return the memories that apply to files or cite them, those to be told first before others.

    `ids` are those that the index has found already; None where nobody has asked it.
    """
    names = [touch.path for touch in files]
    if ids is None:
        ids = _ids_applying(workspace, names)
    until = deadline()
    wanted = _selection(workspace, ids=ids or (), holding_at=workspace.now())
    held = [] if ids == () else serving(workspace, None).memories.select(wanted)
    found = [
        one
        for one in held
        if _still_tells(one)
        and any(
            name in cited_files(one) or applies_in_time(one.places, name, until) for name in names
        )
    ]
    overlaps = _overlap(workspace, files)
    doubts = Doubts(workspace)
    doubted = doubts.of(found)
    if doubts.treats == "hide":
        found = [one for one in found if one.id not in doubted]
    return sorted(found, key=lambda one: (one.id in doubted, _rank(one, overlaps, names)))


def _selection(workspace: Workspace, **wanted: Any) -> Selection:
    """Return what selects of some memories those that hooks show."""
    return Selection(wanted=Filter(), noted_for=noted_for(workspace), **wanted)


def _ids_applying(workspace: Workspace, names: Sequence[str]) -> tuple[str, ...] | None:
    """Return what the index finds once it is up to date; None where there can be none."""
    if not workspace.own.is_ours:
        return None
    workspace.memories.select(_NO_MEMORY)  # brings the index up to date
    found = applying(workspace.root, names)
    return None if found is None else tuple(found)


def about_error(workspace: Workspace, evidence: Sequence[str]) -> list[Memory]:
    """Return what failed with an error before, or fixed it."""
    from pmem.search.search import known_of

    shown_to = noted_for(workspace)
    known = known_of(serving(workspace, None), evidence)
    return [one for one in known if _still_tells(one) and may_be_told(one, shown_to)]


def untold(workspace: Workspace, thread: str | None, memories: Iterable[Memory]) -> list[Memory]:
    """Return those that a thread is to be told of: each once, and not too many in all."""
    known = workspace.own.shown.known(thread) if thread else frozenset()
    most = min(MOST_LINES, MOST_TOUCHED - touched_count(known))
    fresh = [one for one in memories if touch_key_of(one.id, _content(workspace, one)) not in known]
    return fresh[: max(0, most)]


def touch_keys(workspace: Workspace, memories: Iterable[Memory]) -> list[str]:
    """Return what stands for memories that are told at a call."""
    return [touch_key_of(one.id, _content(workspace, one)) for one in memories]


def stoppers(workspace: Workspace, memories: Iterable[Memory]) -> list[Memory]:
    """Return the memories that may stop an edit of what they are about: none that is in doubt."""
    wanted = [memory for memory in memories if may_stop(memory)]
    doubted = Doubts(workspace).of(wanted)
    return [memory for memory in wanted if memory.id not in doubted]


def _content(workspace: Workspace, memory: Memory) -> str:
    return workspace.mask.text(memory.content)


def _still_tells(memory: Memory) -> bool:
    return memory.type is not MemoryType.DEAD_END or warns(memory)


def _rank(
    memory: Memory, overlaps: Callable[[Citation], bool], names: Sequence[str]
) -> tuple[bool, bool, int, int, float, str]:
    """Order memories: what warns, what cites the lines, what is closest, what binds."""
    type_ = _FIRST.index(memory.type) if memory.type in _FIRST else len(_FIRST)
    is_met = any(map(overlaps, memory.citations))
    close = max(nearness(memory.places, name) for name in names)
    return not warns(memory), not is_met, -close, type_, -memory.importance, memory.id


def _overlap(workspace: Workspace, files: Sequence[ToolFile]) -> Callable[[Citation], bool]:
    """Return what tells whether cited lines are among those that are touched."""
    touched = {touch.path: list(_ranges(workspace, touch)) for touch in files}

    def overlaps(citation: Citation) -> bool:
        ranges = touched.get(citation.file, [])
        if citation.lines is None:
            return bool(ranges)
        first, last = citation.lines
        return any(begin <= last and first <= end for begin, end in ranges)

    return overlaps


def _ranges(workspace: Workspace, touch: ToolFile) -> Iterable[Lines]:
    """Yield the lines of a file that are read or replaced; a large number for the last of all."""
    if touch.lines is not None:
        first, many = touch.lines
        yield first, first + many - 1
    elif not touch.texts:
        yield 1, 1 << 62
    else:
        try:
            content = workspace.sources.read(touch.path, _MOST_BYTES).decode("utf-8", "replace")
        except (Unreadable, TooLarge):
            return
        for text in touch.texts:
            place = content.find(text.rstrip("\n"))
            if place >= 0:
                first = content.count("\n", 0, place) + 1
                yield first, first + text.rstrip("\n").count("\n")


def touch_text(workspace: Workspace, title: str, memories: Sequence[Memory], most: int) -> str:
    """Write memories, a line each; the longest are cut until there is room for all."""
    staleness = Staleness(workspace)
    shown_to, plain = noted_for(workspace), workspace.settings.trust.is_plain
    known = (fix_of(serving(workspace, None), memory) for memory in memories)
    fixes = [fix if fix is not None and may_be_told(fix, shown_to) else None for fix in known]
    short_fixes = (fix for fix in fixes if fix and len(_one_line(workspace, fix)) <= _FIX)
    fixing = {fix.id for fix in short_fixes}
    doubted = Doubts(workspace).of(memories)
    lines = [
        (
            workspace.mask.text(
                f"{naming(memory.id, memory.places)}{origin_mark(doubted.get(memory.id))}"
                f"{label_of(memory, plain=plain)}"
                f"{'(stale) ' if staleness(memory) else ''}"
            ),
            _line(workspace, memory, fix),
        )
        for memory, fix in zip(memories, fixes, strict=True)
        if fix is not None or memory.id not in fixing
    ]
    written = ""
    for longest in range(most, 0, -_STEP):
        written = _in_fence(title, [(label, shortened(text, longest)) for label, text in lines])
        if len(written) <= most:
            break
    return written


def _in_fence(title: str, lines: Sequence[tuple[str, str]]) -> str:
    items = [Item(id="", text=text, label=label) for label, text in lines]
    return "\n".join([f"{title}:", *fence_of(items)])


def _line(workspace: Workspace, memory: Memory, fix: Memory | None) -> str:
    """Return what a memory says, and behind what failed what worked."""
    said = _one_line(workspace, memory)
    if fix is None:
        return said
    worked = shortened(_one_line(workspace, fix), _FIX)
    return f"{said} Fixed by: {worked} [{short(fix.id)}]"


def _one_line(workspace: Workspace, memory: Memory) -> str:
    return " ".join(workspace.mask.text(memory.content).split())
