"""The files by which hosts without hooks read the memory: written, compared, and made anew."""

import os
from collections.abc import Iterator
from typing import Annotated, Final, Literal

import msgspec

from pmem.core import managed_block
from pmem.core.filters import Filter
from pmem.core.findings import Finding
from pmem.core.host_rules import FORMS, block, file_of, rule_files
from pmem.core.managed_block import MARKS, SIGN
from pmem.core.retention import valid_at
from pmem.errors import Damaged, FileNotRead, InvalidValue, PmemError, Refused
from pmem.project.workspace import Workspace
from pmem.storage.files.durable import refusals, write_file
from pmem.values.fields import SetupRequest, asked
from pmem.values.records import Memory

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
    def lags(self) -> bool:
        """Whether it is pmem's, and does not hold what it is to hold."""
        return self.state in ("missing", "differs")

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

    Raises:
        Refused: A file that is to be made is somebody else's, or is a link.
        StorageRefused: A file may not be read or written.
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
        late = [one.path for one in _of_hosts_in_use(workspace) if one.lags]
    except PmemError as error:
        yield Finding(workspace.root, LAGGING, error.message, severity="warning")
        return
    for path in late:
        sentence = f"{path} is not what the memory says: run `pmem setup rules`"
        yield Finding(path, LAGGING, sentence, severity="warning")


def refresh(workspace: Workspace, *, dry_run: bool) -> list[str]:
    """Make the files of rules anew that do not say what the memory says; return their paths."""
    late = [one for one in _of_hosts_in_use(workspace) if one.lags]
    for one in () if dry_run else late:
        _bring(one)
    return [one.path for one in late]


def _of_hosts_in_use(workspace: Workspace) -> list[_Wanted]:
    hosts = tuple(_in_use(workspace))
    return list(_wanted(workspace, hosts)) if hosts else []


def _in_use(workspace: Workspace) -> Iterator[str]:
    """Yield the hosts that have a file of pmem's."""
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
        after = None if before is None else managed_block.without_end(before, *MARKS)
        if not is_gone:
            text = block(memories, workspace.count)
            held = None if before is None else managed_block.found(before, *MARKS)
            replaced = before is not None and held is not None
            after = (
                managed_block.replaced(before or "", text, *MARKS)
                if replaced
                else managed_block.at_end(before, text)
            )
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
    """Return what a file holds; None where there is none.

    Raises:
        Refused: It, or the folder that it is in, is a link.
        Damaged: It is not UTF-8, or far too large.
        StorageRefused: It may not be read.
    """
    if os.path.islink(path) or os.path.islink(os.path.dirname(path)):
        raise Refused(f"{path} is or is in a link, and pmem writes through none", "move it away")
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise FileNotRead(f"{path} cannot be read: {error.strerror}") from None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise Damaged(f"{path} is not UTF-8", "save it as UTF-8") from None
    if len(data) > _MOST_BYTES:
        raise Damaged(f"{path} has more than {_MOST_BYTES} bytes", "make it shorter")
    return text


def _bring(one: _Wanted) -> None:
    """Bring a file to what it is to hold."""
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
