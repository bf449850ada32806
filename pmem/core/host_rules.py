"""What hosts without hooks read from files: rules for every task, and for each place its own.

Cursor, VS Code's Copilot and Claude Code apply a rule file to the files that its front matter
names; AGENTS.md is read whole by most assistants. The texts are made of memories alone: the same
memories give the same bytes. What memories say stands in a fence that no text can close.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

from pmem.core.context.parts import Item
from pmem.core.context.writing import fence_of
from pmem.core.managed_block import MARKS, SIGN
from pmem.core.outcomes import failed, told_with, warns
from pmem.core.own_words import KEEP
from pmem.core.trust import Trust, trust_of
from pmem.core.visible import one_visible_line
from pmem.values.records import Memory, MemoryType

STANDING_TOKENS: Final = 600
"""What every task is told takes so many tokens at the most, and what a place is told as well."""
_MADE: Final = f"{SIGN}`pmem setup rules` writes it again, and keeps nothing else in it. -->"
_DATA: Final = f"What this project's people recorded. {KEEP} `pmem why FILE` says more."
_ALWAYS: Final = "always"
_KINDS: Final = (MemoryType.CONSTRAINT, MemoryType.PREFERENCE)
_LONGEST_NAME: Final = 40


class RuleForm(NamedTuple):
    """How a host takes rules: its folder, its files' ending, and what stands at the top of one.

    `head` is given the globs, none for a rule of every task, and what the rule is about.
    """

    folder: str
    ending: str
    head: Callable[[Sequence[str], str], Sequence[str]]


def _cursor(globs: Sequence[str], about: str) -> Sequence[str]:
    applied = (
        [f"globs: {','.join(globs)}", "alwaysApply: false"] if globs else ["alwaysApply: true"]
    )
    return [f"description: {_quoted(about)}", *applied]


def _copilot(globs: Sequence[str], about: str) -> Sequence[str]:
    return [f"description: {_quoted(about)}", f"applyTo: {_quoted(','.join(globs) or '**')}"]


def _claude(globs: Sequence[str], about: str) -> Sequence[str]:  # noqa: ARG001 - the form's
    return ["paths:", *(f"  - {_quoted(glob)}" for glob in globs)] if globs else []


FORMS: Final[Mapping[str, RuleForm]] = {
    "cursor": RuleForm(".cursor/rules", ".mdc", _cursor),
    "copilot": RuleForm(".github/instructions", ".instructions.md", _copilot),
    "claude": RuleForm(".claude/rules", ".md", _claude),
}
"""Every host that takes rules for places, by its name."""


def file_of(host: str, place: str = "") -> str:
    """Return the file of a place's rule, or of the rule for every task."""
    form = FORMS[host]
    slug = re.sub(r"[^A-Za-z0-9]+", "-", place).strip("-")[:_LONGEST_NAME]
    digest = blake2b(place.encode(), digest_size=3).hexdigest()
    return f"{form.folder}/pmem-{f'{slug}-{digest}' if place else _ALWAYS}{form.ending}"


def rule_files(
    host: str, memories: Iterable[Memory], count: Callable[[str], int]
) -> dict[str, str]:
    """Return the files of a host: one for every task, and one for each place."""
    shared = [memory for memory in memories if is_shared(memory)]
    at_places: dict[str, list[Memory]] = {}
    for one in shared:
        for place in dict.fromkeys(map(_plain_place, _taken(one))):
            at_places.setdefault(place, []).append(one)
    found = {file_of(host): _rule(host, "", standing(shared), count)}
    for place, there in at_places.items():
        found[file_of(host, place)] = _rule(host, place, sorted(there, key=_order), count)
    return found


def block(memories: Iterable[Memory], count: Callable[[str], int]) -> str:
    """Return the block of AGENTS.md: what every task is told, and what warns or binds at places."""
    begin, end = MARKS
    shared = [memory for memory in memories if is_shared(memory)]
    told = _in_fence([*standing(shared), *_placed(shared)], count, names_places=True)
    first = f"{begin}: `pmem setup rules` writes these lines again, `--remove` takes them away -->"
    return "\n".join([first, "## What this project remembers", "", *told, end]) + "\n"


def standing(memories: Iterable[Memory]) -> list[Memory]:
    """Return what every task is told: what is pinned, dead ends, and rules, of no one place."""
    chosen = [
        one
        for one in memories
        if one.pinned or (not one.places and (_is_warning(one) or one.type in _KINDS))
    ]
    return sorted(chosen, key=_order)


def _placed(memories: Iterable[Memory]) -> list[Memory]:
    """Return the dead ends and rules of some places alone, which AGENTS.md has no other way for."""
    chosen = (one for one in memories if one.places and (_is_warning(one) or one.type in _KINDS))
    return sorted((one for one in chosen if not one.pinned), key=_order)


def _taken(memory: Memory) -> list[str]:
    return [place for place in memory.places if not place.startswith("!")]


def _plain_place(place: str) -> str:
    """Return a pattern without a slash at its start that changes nothing: `/a/b` is `a/b`."""
    bare = place.removeprefix("/")
    return bare if "/" in bare.rstrip("/") else place


def is_shared(memory: Memory) -> bool:
    """Tell whether a memory may stand in a file that everybody reads: no one's own, and trusted."""
    scope = memory.scope
    is_own = scope.app or scope.user or scope.agent
    return not is_own and trust_of(memory) is not Trust.LOW and memory.settled is None


def globs_of(place: str) -> tuple[str, ...]:
    """Return a place as hosts write it: gitignore's depth and folders spelt out."""
    is_folder = place.endswith("/")
    inner = place.strip("/")
    if "/" not in place.rstrip("/"):
        inner = f"**/{inner}"
    if inner.endswith("**"):
        return (inner,)
    within = f"{inner}/**"
    last = inner.rpartition("/")[2]
    if is_folder:
        return (within,)
    return (inner,) if "." in last.strip(".*") or "." in last[1:] else (inner, within)


def _rule(host: str, place: str, memories: Sequence[Memory], count: Callable[[str], int]) -> str:
    about = f"what this project remembers of {place}" if place else "what this project remembers"
    head = FORMS[host].head(globs_of(place) if place else (), one_visible_line(about))
    front = ["---", *head, "---"] if head else []
    return "\n".join([*front, _MADE, "", *_in_fence(memories, count, leaves_out=place)]) + "\n"


def _in_fence(
    memories: Iterable[Memory],
    count: Callable[[str], int],
    *,
    names_places: bool = False,
    leaves_out: str = "",
) -> list[str]:
    """Return memories in a fence, as many as the budget holds, and how many it does not.

    With `names_places` each says where it applies; `leaves_out` is where that is said already.
    """
    shown: list[Item] = []
    left, more = STANDING_TOKENS, 0
    for memory in memories:
        said = memory.content + told_with(memory)
        if names_places and memory.places:
            said = f"{', '.join(_taken(memory))}: {said}"
        if leaves_out or names_places:
            said += _exceptions(memory)
        item = Item(id=memory.id, text=one_visible_line(said))
        cost = count(f"- {item.text}\n")
        if cost > left:
            more += 1
            continue
        left -= cost
        shown.append(item)
    if not shown:
        return [_DATA, "", "Nothing yet."]
    rest = [f"{more} more: `pmem context` shows them."] if more else []
    return [_DATA, "", *fence_of(shown), *rest]


def _exceptions(memory: Memory) -> str:
    """Say in which files a memory does not apply, since no host's globs can leave files out."""
    out = [place.removeprefix("!") for place in memory.places if place.startswith("!")]
    return f" (not in {', '.join(out)})" if out else ""


def _order(memory: Memory) -> tuple[object, ...]:
    kind = _KINDS.index(memory.type) if memory.type in _KINDS else len(_KINDS)
    return (not memory.pinned, not _is_warning(memory), kind, memory.created_at, memory.id)


def _is_warning(memory: Memory) -> bool:
    return warns(memory) or failed(memory)


def _quoted(text: str) -> str:
    """Return a text as YAML has it in double quotes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
