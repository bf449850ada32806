"""What is wrong with the records of a memory."""

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from pmem import __version__
from pmem.core.filters import Filter
from pmem.core.findings import Finding, FolderPlace, line_of_damage, line_of_field
from pmem.core.lifecycle.states import successors_of
from pmem.core.secrets import unsecret
from pmem.core.selection import Selection, ticks
from pmem.errors import Damaged, NewerSchema, PmemError, TooLarge
from pmem.project.configuration import CONFIG_FILE
from pmem.project.workspace import Workspace
from pmem.storage.backend import Problem
from pmem.storage.files.lock import LOCK
from pmem.storage.files.recordfile import read_bytes
from pmem.storage.git.repository import Repository
from pmem.storage.git.tracked import LOCAL
from pmem.storage.store import Store
from pmem.upkeep.record_checks import CLOCKS_DIFFER, ByteSource, RecordCheck
from pmem.values.bounds import RECORD_BYTES
from pmem.values.ids import short
from pmem.values.records import STORES, Chunk, Conversation, Memory, Record, RecordType
from pmem.values.times import shifted
from pmem.vcs.doubts import find_unsound_successions, kept_twice, same_subjects
from pmem.vcs.ignoring import exposed, ignored
from pmem.vcs.rule_files import lagging

_SOUND: Final = f"sound {__version__}"
"""The mark of a record in which this version finds nothing wrong."""
_ASKED_SINGLY: Final = 500
"""Ids that are looked for one by one before all are listed."""
_GAVE_WAY: Final = "gave way"  # the mark of a memory that another one took the place of


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What `check` looked at and found."""

    records: int
    findings: tuple[Finding, ...]


class CheckRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to check: `full` reads also what was found sound before, and has not changed since."""

    full: bool = False


def check(workspace: Workspace, request: CheckRequest) -> Checked:
    """Report all that is wrong, by path. Nothing is changed.

    A record that was found sound is not read again until it changes, any record goes, or somebody
    wants all to be read.
    """
    from pmem.vcs.repair import problems

    links = tuple(link_findings(workspace.root))
    linked = {os.path.basename(each.path) for each in links}
    stores = [store for store in workspace.stores if STORES[store.type] not in linked]
    is_whole = len(stores) == len(STORES)  # what a link leads to is not read
    names = _Names(stores)
    read = _ReadRecords(workspace, names if is_whole else None, full=request.full)
    findings = [finding for store in stores for finding in read.findings(store)]
    open_ = problems(workspace)
    waiting = {problem.path for problem in open_}
    others = [problem for problem in workspace.problems if problem.path not in waiting]
    findings += [of_problem(problem, _on_disk) for problem in (*others, *open_)]
    findings += settings_findings(workspace)
    findings += links
    if LOCAL not in linked and workspace.own.is_ours:
        findings += _of_own_state(workspace)
    findings += exposed(workspace)
    findings += ignored(workspace)
    findings += _duplicates(workspace, stores, names)
    if Memory in {store.type for store in stores}:
        memories = _with_successors(workspace, read.gave_way())
        known = names if is_whole else None
        findings += find_unsound_successions(workspace.root, memories, known)
        findings += same_subjects(workspace.root, on_one_subject(workspace), workspace.now())
    findings += read.repeats() if is_whole else ()
    findings += lagging(workspace)
    read.remember()
    return Checked(
        records=sum(store.count() for store in stores),
        findings=tuple(sorted(findings, key=lambda finding: (finding.path, finding.code))),
    )


class _Names(Collection[str]):
    """The ids of all records, also of those that cannot be read; listed when somebody asks."""

    def __init__(self, stores: Sequence[Store[Any]]) -> None:
        self._stores = stores
        self._asked = 0

    @cached_property
    def all(self) -> list[str]:
        """Every id, as often as there are files of it."""
        return [identifier for store in self._stores for identifier in store.ids()]

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.all)

    def __contains__(self, identifier: object) -> bool:
        if self._asked < _ASKED_SINGLY:
            self._asked += 1
            one = Selection(ids=(str(identifier),))
            if any(store.count(one) for store in self._stores):
                return True
        return identifier in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


class _ReadRecords:
    def __init__(self, workspace: Workspace, ids: "_Names | None", *, full: bool) -> None:
        self._gave_way: dict[str, Memory] = {}
        self._said: dict[str, set[str]] = {}
        self._twice: dict[str, set[str]] = {}
        self._sound: dict[RecordType, dict[str, str]] = {}
        self._workspace = workspace
        self._backend = workspace.whole
        self._ids = ids
        self._full = full
        self._now = workspace.now()

    def findings(self, store: Store[Any]) -> Iterator[Finding]:
        """Yield what is wrong with the records of a store."""
        folder = os.path.join(self._workspace.root, STORES[store.type])
        sound = self._sound.setdefault(store.type, {})
        for record in self._to_read(store):
            look = RecordCheck(os.path.join(folder, f"{record.id}.json"), record, _on_disk)
            found = [*(look.dangling(self._ids) if self._ids is not None else ())]
            found += look.findings(self._now)
            placed = isinstance(record, Memory) and record.places
            found += look.lost_places(self._workspace.sources.top) if placed else ()
            yield from found
            if not (found or placed):  # the project's files change without it
                sound[record.id] = _conversation_of(record)
            if isinstance(record, Memory) and successors_of(record):
                self._gave_way[record.id] = record
            self._note_messages(record)

    def gave_way(self) -> dict[str, Memory]:
        """Return by id what others took the place of, as far as `Backend.gave_way` tells."""
        marked = () if self._full else self._backend.gave_way(_GAVE_WAY)
        return {**{memory.id: memory for memory in marked}, **self._gave_way}

    def repeats(self) -> Iterator[Finding]:
        """Yield which conversations keep messages twice."""
        if self._said and not self._full:
            for type_ in (Conversation, Chunk):
                for record in self._backend.marked(type_, _SOUND):
                    self._note_messages(record)
        for conversation, twice in self._twice.items():
            yield kept_twice(self._workspace.root, conversation, len(twice))

    def remember(self) -> None:
        """Mark what was found sound, unless its conversation keeps messages twice."""
        if self._ids is None:
            return
        for type_, sound in self._sound.items():
            well = [id_ for id_, talk in sound.items() if talk not in self._twice]
            self._backend.mark(type_, _SOUND, well)
        self._backend.mark(Memory, _GAVE_WAY, self._gave_way.keys())

    def _to_read(self, store: Store[Any]) -> Iterator[Any]:
        """Yield what is new since the last check, and what is dated ahead of the present one."""
        if self._full:
            yield from store.find()
            return
        read = set()
        for record in self._backend.scan(store.type, _SOUND):
            read.add(record.id)
            yield record
        ahead = ticks(shifted(self._now, CLOCKS_DIFFER)) + 1
        for column in ("created", "updated", "happened"):
            for record in store.select(Selection(least=((column, ahead),))):
                if record.id not in read:
                    read.add(record.id)
                    yield record

    def _note_messages(self, record: Record) -> None:
        if not isinstance(record, Conversation | Chunk):
            return
        held = record.messages if isinstance(record, Chunk) else record.recent_messages
        conversation = _conversation_of(record)
        seen = self._said.setdefault(conversation, set())
        for message in held:
            if message.id in seen:
                self._twice.setdefault(conversation, set()).add(message.id)
            seen.add(message.id)


def _conversation_of(record: Record) -> str:
    """Return the conversation whose messages a record holds; nothing for one that holds none."""
    if isinstance(record, Chunk):
        return record.conversation
    return record.id if isinstance(record, Conversation) else ""


def on_one_subject(workspace: Workspace) -> list[Memory]:
    """Return the active memories that share their subject with another one, by id."""
    named = Selection(wanted=Filter(), on_subject=True)
    shared = tuple(subject for (subject,) in workspace.memories.tally(named, ("subject",), least=2))
    if not shared:
        return []
    return workspace.memories.select(replace(named, subjects=shared))


def count_rivals(workspace: Workspace) -> int:
    """Count the memories that several others took the place of, or that gave way in a circle."""
    gone = workspace.memories.gave_way()
    known = _with_successors(workspace, {memory.id: memory for memory in gone})
    return sum(1 for _ in find_unsound_successions(workspace.root, known, None))


def _with_successors(workspace: Workspace, memories: Mapping[str, Memory]) -> dict[str, Memory]:
    heirs = {id_ for memory in memories.values() for id_ in successors_of(memory)}
    unread = tuple(heirs - memories.keys())
    found = workspace.memories.select(Selection(ids=unread)) if unread else []
    return {**memories, **{memory.id: memory for memory in found}}


def link_findings(root: str) -> Iterator[Finding]:
    """Report links in the place of a store, of what this clone keeps, or of the writers' lock."""
    local = os.path.join(root, LOCAL)
    lock = os.path.join(local, LOCK)
    stores = (os.path.join(root, folder) for folder in STORES.values())
    for path, what, way_out in (
        (local, "a folder", "remove the link"),
        *((path, "a store", "replace it by the folder") for path in stores),
        *([] if os.path.islink(local) else [(lock, "a lock file", "remove the link")]),
    ):
        if os.path.islink(path):
            yield Finding(path, Damaged.code, f"{path} is a link, not {what}: {way_out}")


def settings_findings(workspace: Workspace) -> list[Finding]:
    """Report settings that do not allow their values, and warn of two kinds of the project's own.

    Those that protect less than there would be: whoever clones a project was not asked, so what
    it says of the gate counts for nothing, and what it says of consent counts and is told. And
    those that this pmem does not know, which are often slips.
    """
    path = os.path.join(workspace.root, CONFIG_FILE)
    configuration = workspace.configuration
    findings = []
    wrong: PmemError | None
    try:
        assert workspace.settings
        wrong = configuration.conflict
    except PmemError as error:
        wrong = error
    if wrong is not None:
        findings.append(Finding(path, wrong.code, unsecret(wrong.message)))
    for code, say in (
        ("weakened", configuration.weaknesses),
        ("unknown_setting", configuration.unknown),
    ):
        with suppress(PmemError):  # reported as settings that are wrong
            findings += [Finding(path, code, unsecret(said), severity="warning") for said in say()]
    return findings


def _of_own_state(workspace: Workspace) -> Iterator[Finding]:
    """Report what this clone keeps for itself and cannot make again, where it cannot be used."""
    own = workspace.own
    for path, look in ((own.state.path, own.state.check), (own.proposals.path, own.proposals.read)):
        try:
            look()
        except PmemError as error:
            yield Finding(path, error.code, unsecret(error.message))
            return


def of_problem(problem: Problem, source: ByteSource) -> Finding:
    """Report a file that cannot be used."""
    if problem.code == TooLarge.code:
        size = os.path.getsize(problem.path) if os.path.exists(problem.path) else RECORD_BYTES
        name = short(os.path.basename(problem.path).removesuffix(".json"))
        said = f"{problem.message}: `PMEM_LIMITS_RECORD={size} pmem show {name}` reads it"
        return Finding(problem.path, problem.code, unsecret(said))
    data = source(problem.path)
    newer = problem.code == NewerSchema.code
    line = line_of_field(data, "schema") if newer else line_of_damage(data)
    return Finding(problem.path, problem.code, unsecret(problem.message), line if data else None)


def place_of(workspace: Workspace) -> FolderPlace:
    """Return where a memory folder is in its repository; outside of one, in its own folder."""
    try:
        prefix = Repository(workspace.root, workspace.environment).place()
    except PmemError:
        prefix = f"{os.path.basename(workspace.root)}/"
    return FolderPlace(workspace.root, prefix)


def _duplicates(workspace: Workspace, stores: Sequence[Store[Any]], names: _Names) -> list[Finding]:
    """Report ids that several stores use; where only one has files, none can."""
    used = [store for store in stores if store.count()]
    if len(used) < 2 and not workspace.problems:
        return []
    return [
        Finding(workspace.root, "duplicate", f"the id {identifier} stands in {times} stores")
        for identifier, times in Counter(names.all).items()
        if times > 1
    ]


def _on_disk(path: str) -> bytes:
    try:
        return read_bytes(path)[0]
    except (OSError, PmemError):
        return b""
