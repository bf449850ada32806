"""The files by which hosts without hooks read the memory: written, compared, and made anew."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Annotated, Final, Literal, NamedTuple

import msgspec

from pmem.core import managed_block
from pmem.core.context.parts import Item
from pmem.core.context.writing import fence_of
from pmem.core.filters import Filter
from pmem.core.findings import Finding
from pmem.core.managed_block import MARKS, SIGN
from pmem.core.outcomes import failed, told_with, warns
from pmem.core.own_words import KEEP
from pmem.core.retention import valid_at
from pmem.core.trust import Trust, trust_of
from pmem.core.visible import one_visible_line
from pmem.errors import Damaged, InvalidValue, PmemError, Refused, not_utf8
from pmem.project.workspace import Workspace
from pmem.storage.files.durable import refusals, write_file
from pmem.storage.files.recordfile import read_bytes
from pmem.values.fields import SetupRequest, asked
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
    chosen = (one for one in memories if one.pinned or (_binds(one) and not one.places))
    return sorted(chosen, key=_order)


def _placed(memories: Iterable[Memory]) -> list[Memory]:
    """Return the dead ends and rules of some places alone, which AGENTS.md has no other way for."""
    chosen = (one for one in memories if _binds(one) and one.places and not one.pinned)
    return sorted(chosen, key=_order)


def _binds(memory: Memory) -> bool:
    return _is_warning(memory) or memory.type in _KINDS


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
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


AGENTS_MD: Final = "agents-md"
HOSTS: Final = (AGENTS_MD, *FORMS)
LAGGING: Final = "lagging"
_AGENTS_FILE: Final = "AGENTS.md"
_MOST_BYTES: Final = 4_000_000

RuleState = Literal["set", "missing", "differs", "foreign"]


class RulesRequest(SetupRequest, frozen=True, kw_only=True):
    """Which hosts read the memory from files; those that do already when none is named."""

    hosts: Annotated[
        tuple[str, ...],
        asked(f"{', '.join(HOSTS)} [those that have some].", shown="[HOST]...", is_argument=True),
    ] = ()


class RuleFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of rules: its path, and whether it says what the memory says."""

    path: str
    state: RuleState


class RulesSetup(msgspec.Struct, frozen=True, kw_only=True):
    """The files of rules, and whether all of them say what the memory says."""

    hosts: tuple[str, ...]
    parts: tuple[RuleFile, ...]

    @property
    def ok(self) -> bool:
        """Whether all of them do, and there is one."""
        return bool(self.parts) and all(part.state == "set" for part in self.parts)


class _Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A file: its path, what it holds, what it is to hold; None where there is no file."""

    path: str
    before: str | None
    after: str | None
    is_foreign: bool = False

    @property
    def state(self) -> RuleState:
        """How it is."""
        if self.is_foreign:
            return "foreign"
        if self.before == self.after:
            return "set"
        return "missing" if self.before is None else "differs"


def set_up(workspace: Workspace, request: RulesRequest) -> RulesSetup:
    """Write the files by which hosts read the memory, take them away, or only look.

    A file that pmem did not make is never written over.
    """
    hosts = request.hosts or tuple(_in_use(workspace))
    for host in hosts:
        if host not in HOSTS:
            raise InvalidValue(f"there is no host {host!r}", f"there are {', '.join(HOSTS)}")
    wanted = list(_wanted(workspace, hosts, is_gone=request.remove))
    if not request.check:
        for one in wanted:
            if one.is_foreign and not request.remove:
                raise Refused(f"{one.path} was not made by pmem", "move it away")
        for one in wanted:
            _bring(one)
        wanted = list(_wanted(workspace, hosts, is_gone=request.remove))
    parts = tuple(RuleFile(path=one.path, state=one.state) for one in wanted)
    return RulesSetup(hosts=hosts, parts=parts)


def lagging(workspace: Workspace) -> Iterator[Finding]:
    """Yield a finding for each file of rules that does not say what the memory says."""
    try:
        late = _lagging(workspace)
    except PmemError as error:
        yield Finding(workspace.root, LAGGING, error.message, severity="warning")
        return
    for one in late:
        sentence = f"{one.path} is not what the memory says: run `pmem setup rules`"
        yield Finding(one.path, LAGGING, sentence, severity="warning")


def refresh(workspace: Workspace, *, dry_run: bool) -> list[str]:
    """Make the files of rules anew that do not say what the memory says; return their paths."""
    late = _lagging(workspace)
    for one in () if dry_run else late:
        _bring(one)
    return [one.path for one in late]


def _lagging(workspace: Workspace) -> list[_Wanted]:
    """Return the files of hosts in use that are pmem's, and do not hold what they are to hold."""
    hosts = tuple(_in_use(workspace))
    wanted = _wanted(workspace, hosts) if hosts else ()
    return [one for one in wanted if one.state in ("missing", "differs")]


def _in_use(workspace: Workspace) -> Iterator[str]:
    for host in FORMS:
        held = _text_at(_place(workspace, file_of(host)))
        if held is not None and SIGN in held:
            yield host
    held = _text_at(_place(workspace, _AGENTS_FILE))
    if held is not None and MARKS[0] in held:
        yield AGENTS_MD


def _wanted(
    workspace: Workspace, hosts: tuple[str, ...], *, is_gone: bool = False
) -> Iterator[_Wanted]:
    now = workspace.now()
    hidden = [n for n, mode in workspace.settings.categories.context.items() if mode == "none"]
    found = (one for one in workspace.memories.find(Filter()) if valid_at(one, now))
    memories = [one for one in found if one.category not in hidden]
    for host in hosts:
        if host == AGENTS_MD:
            yield _agents(workspace, memories, is_gone=is_gone)
        else:
            yield from _rules(workspace, host, memories, is_gone=is_gone)


def _agents(workspace: Workspace, memories: list[Memory], *, is_gone: bool) -> _Wanted:
    path = _place(workspace, _AGENTS_FILE)
    before = _text_at(path)
    try:
        text = "" if is_gone else block(memories, workspace.count)
        if before is None or managed_block.found(before, *MARKS) is None:
            after = before if is_gone else managed_block.at_end(before, text)
        elif is_gone:
            after = managed_block.without_end(before, *MARKS)
        else:
            after = managed_block.replaced(before, text, *MARKS)
    except managed_block.Unclear:
        raise Refused(
            f"the lines that pmem put into {path} cannot be told from the rest",
            "take them out by hand",
        ) from None
    return _Wanted(path=path, before=before, after=after)


def _rules(
    workspace: Workspace, host: str, memories: list[Memory], *, is_gone: bool
) -> Iterator[_Wanted]:
    texts = {} if is_gone else rule_files(host, memories, workspace.count)
    form = FORMS[host]
    folder = _place(workspace, form.folder)
    there = os.listdir(folder) if os.path.isdir(folder) else []
    ours = [f"{form.folder}/{name}" for name in there if name.startswith("pmem-")]
    for file in sorted({*texts, *(one for one in ours if one.endswith(form.ending))}):
        path = _place(workspace, file)
        before = _text_at(path)
        is_foreign = before is not None and SIGN not in before
        if file in texts or not is_foreign:
            after = texts.get(file)
            yield _Wanted(path=path, before=before, after=after, is_foreign=is_foreign)


def _place(workspace: Workspace, file: str) -> str:
    return os.path.join(os.path.dirname(workspace.root), *file.split("/"))


def _text_at(path: str) -> str | None:
    if os.path.islink(path) or os.path.islink(os.path.dirname(path)):
        raise Refused(f"{path} is or is in a link, and pmem writes through none", "move it away")
    if not os.path.lexists(path):
        return None
    data, _ = read_bytes(path, _MOST_BYTES, "a file of rules")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Damaged(not_utf8(path, data, error.start), "save it as UTF-8") from None


def _bring(one: _Wanted) -> None:
    if one.before == one.after or one.is_foreign:
        return
    with refusals(one.path):
        if one.after is not None:
            write_file(one.path, one.after.encode())
            return
        os.unlink(one.path)
    folder = os.path.dirname(one.path)
    for empty in (folder, os.path.dirname(folder)):
        try:
            os.rmdir(empty)
        except OSError:
            return
