"""What is wrong with the records of a memory."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cache
from itertools import islice
from typing import Any, Final

import msgspec

from pmem.core.findings import Finding, FolderPlace, line_of_damage, line_of_field, line_of_value
from pmem.core.lifecycle.states import successor_of, successors_of
from pmem.core.pointers import leads
from pmem.core.rawjson import NotJson, load
from pmem.core.secrets import unsecret
from pmem.core.threeway.conflicts import open_conflicts
from pmem.errors import Damaged, NewerSchema, NotFound, PmemError, StorageRefused, TooLarge
from pmem.project.configuration import CONFIG_FILE
from pmem.project.workspace import Workspace
from pmem.storage.backend import Problem
from pmem.storage.files.lock import LOCK
from pmem.storage.files.recordfile import read_bytes
from pmem.storage.git.repository import Repository
from pmem.storage.git.tracked import LOCAL
from pmem.storage.store import Store
from pmem.values.bounds import LARGE_RECORD_BYTES, RECORD_BYTES, SEARCHED_CHARACTERS, SEARCHED_NAMES
from pmem.values.ids import short
from pmem.values.records import (
    STORES,
    Chunk,
    Conversation,
    Episode,
    Memory,
    Message,
    Record,
    State,
    plain,
)
from pmem.values.requests import NoArguments
from pmem.values.times import iso, shifted
from pmem.vcs.doubts import forsaken, kept_twice, overruled, same_subjects
from pmem.vcs.ignoring import exposed

_LONGEST_CIRCLE: Final = 20
_MOST_LINKS: Final = 100
"""Links of one record that are told; once they are mended, the next ones are."""
_CLOCKS_DIFFER: Final = timedelta(days=1)
"""Clocks that are set by hand, or to another zone, differ by less."""
_TEXTS: Final = ("content", "subject", "title", "summary", "context", "outcome", "category", "tags")
_SHORT: Final = 4000
"""Characters of texts that are looked at together."""
_APART: Final = "\n.\n"

Source = Callable[[str], bytes]
"""Returns what the file of a path holds; nothing where it cannot be read."""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What `check` looked at and found."""

    records: int
    findings: tuple[Finding, ...]


def check(workspace: Workspace, request: NoArguments) -> Checked:  # noqa: ARG001
    """Read everything and report all that is wrong, by path. Nothing is changed."""
    from pmem.vcs.repair import problems

    links = tuple(link_findings(workspace.root))
    linked = {os.path.basename(each.path) for each in links}
    stores = [store for store in workspace.stores if STORES[store.type] not in linked]
    is_whole = len(stores) == len(STORES)  # what a link leads to is not read
    ids = [identifier for store in stores for identifier in store.ids()]
    read = _ReadRecords(workspace, set(ids) if is_whole else None)
    findings = [finding for store in stores for finding in read.findings(store)]
    open_ = problems(workspace)
    waiting = {problem.path for problem in open_}
    others = [problem for problem in workspace.problems if problem.path not in waiting]
    findings += [of_problem(problem, _on_disk) for problem in (*others, *open_)]
    findings += settings_findings(workspace)
    findings += weak_settings(workspace) + unknown_settings(workspace)
    findings += links
    if LOCAL not in linked and workspace.own.is_ours:
        findings += _of_own_state(workspace)
    findings += exposed(workspace)
    findings += _duplicates(workspace, ids)
    memories = _with_successors(workspace, read.gave_way)
    findings += circles(workspace.root, memories)
    findings += rivals(workspace.root, memories)
    findings += same_subjects(workspace.root, read.on_subjects, workspace.now())
    if is_whole:
        findings += forsaken(workspace.root, memories, set(ids))
        findings += read.repeats()
    return Checked(
        records=read.records,
        findings=tuple(sorted(findings, key=lambda finding: (finding.path, finding.code))),
    )


class _ReadRecords:
    """What is found while the records are read, one after another.

    Args:
        ids: Those of all records; None where not all of them can be known.
    """

    def __init__(self, workspace: Workspace, ids: set[str] | None) -> None:
        self.records = 0
        self.gave_way: dict[str, Memory] = {}
        """Memories that others took the place of, by their ids."""
        self.on_subjects: dict[str, Memory] = {}
        """Active memories with a subject, by their ids, without texts and histories."""
        self._said: dict[str, set[str]] = {}
        self._twice: dict[str, set[str]] = {}
        self._workspace = workspace
        self._ids = ids
        self._now = workspace.now()

    def findings(self, store: Store[Any]) -> Iterator[Finding]:
        """Yield what is wrong with the records of a store."""
        folder = os.path.join(self._workspace.root, STORES[store.type])
        for record in store.find():
            self.records += 1
            path = os.path.join(folder, f"{record.id}.json")
            data = cache(_on_disk)  # for this record alone
            if self._ids is not None:
                missing = [target for target in targets_of(record) if target not in self._ids]
                yield from of_links(path, missing, data)
            yield from of_record(path, record, self._now, data)
            if isinstance(record, Memory):
                self._keep(record)
            elif isinstance(record, Conversation):
                self._note_messages(record.id, record.recent_messages)
            elif isinstance(record, Chunk):
                self._note_messages(record.conversation, record.messages)

    def repeats(self) -> Iterator[Finding]:
        """Yield which conversations keep messages twice."""
        for conversation, twice in self._twice.items():
            yield kept_twice(self._workspace.root, conversation, len(twice))

    def _note_messages(self, conversation: str, messages: Iterable[Message]) -> None:
        seen = self._said.setdefault(conversation, set())
        for message in messages:
            if message.id in seen:
                self._twice.setdefault(conversation, set()).add(message.id)
            seen.add(message.id)

    def _keep(self, memory: Memory) -> None:
        """Keep a memory that others have to do with."""
        if successors_of(memory):
            self.gave_way[memory.id] = memory
        if memory.subject and memory.state is State.ACTIVE:
            self.on_subjects[memory.id] = msgspec.structs.replace(memory, content="", history=())


def _with_successors(workspace: Workspace, memories: Mapping[str, Memory]) -> dict[str, Memory]:
    """Return memories together with those that took their place, as far as they can be read."""
    found = dict(memories)
    for identifier in {id_ for memory in memories.values() for id_ in successors_of(memory)}:
        if identifier not in found:
            with suppress(NotFound, Damaged, StorageRefused):
                found[identifier] = workspace.memories.get(identifier)
    return found


def link_findings(root: str) -> Iterator[Finding]:
    """Report links in the place of a store, of what this clone keeps, or of the writers' lock.

    Args:
        root: The memory folder.
    """
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
    """Report settings that do not allow their values."""
    try:
        assert workspace.settings
    except PmemError as error:
        return [_of_settings(workspace, error)]
    conflict = workspace.configuration.conflict
    return [] if conflict is None else [_of_settings(workspace, conflict)]


def _of_settings(workspace: Workspace, error: PmemError) -> Finding:
    path = os.path.join(workspace.root, CONFIG_FILE)
    return Finding(path, error.code, unsecret(error.message))


def weak_settings(workspace: Workspace) -> list[Finding]:
    """Report, as warnings, settings of the project's that protect less than there would be.

    Whoever clones a project was not asked: what it says of the gate counts for nothing, and what
    it says of consent counts and is told.
    """
    return _warnings(workspace, "weakened", workspace.configuration.weaknesses)


def unknown_settings(workspace: Workspace) -> list[Finding]:
    """Report, as warnings, settings of the project's that this pmem does not know: often slips."""
    return _warnings(workspace, "unknown_setting", workspace.configuration.unknown)


def _warnings(workspace: Workspace, code: str, said: Callable[[], list[str]]) -> list[Finding]:
    path = os.path.join(workspace.root, CONFIG_FILE)
    try:
        return [Finding(path, code, unsecret(each), severity="warning") for each in said()]
    except PmemError:  # reported as settings that are wrong
        return []


def _of_own_state(workspace: Workspace) -> Iterator[Finding]:
    """Report what this clone keeps for itself and cannot make again, where it cannot be used."""
    own = workspace.own
    for path, look in ((own.state.path, own.state.check), (own.proposals.path, own.proposals.read)):
        try:
            look()
        except PmemError as error:
            yield Finding(path, error.code, unsecret(error.message))
            return


def of_problem(problem: Problem, source: Source) -> Finding:
    """Report a file that cannot be used.

    Args:
        problem: What is wrong with it.
        source: Where its bytes come from.
    """
    if problem.code == TooLarge.code:
        return Finding(problem.path, problem.code, unsecret(_read_again(problem)))
    data = source(problem.path)
    newer = problem.code == NewerSchema.code
    line = line_of_field(data, "schema") if newer else line_of_damage(data)
    return Finding(problem.path, problem.code, unsecret(problem.message), line if data else None)


def _read_again(problem: Problem) -> str:
    """Say how a record that is too large is read, and split where it can be."""
    size = os.path.getsize(problem.path) if os.path.exists(problem.path) else RECORD_BYTES
    store = os.path.basename(os.path.dirname(problem.path))
    if store in (STORES[Conversation], STORES[Chunk]):
        way = f"`PMEM_LIMITS_RECORD={size} pmem repair` splits it, and nothing is lost"
    else:
        way = f"`PMEM_LIMITS_RECORD={size} pmem show {short(_name_of(problem.path))}` reads it"
    return f"{problem.message}: {way}"


def _name_of(path: str) -> str:
    return os.path.basename(path).removesuffix(".json")


def of_links(path: str, missing: Iterable[str], source: Source) -> Iterator[Finding]:
    """Report the links of a record that lead nowhere.

    Args:
        path: The record's file.
        missing: The ids that it leads to and that do not exist.
        source: Where the file's bytes come from.
    """
    for target in islice(missing, _MOST_LINKS):
        line = line_of_value(source(path), target)
        sentence = f"{path} leads to {target}, which does not exist"
        yield Finding(path, "dangling", sentence, line)


def place_of(workspace: Workspace) -> FolderPlace:
    """Return where a memory folder is in its repository; outside of one, in its own folder."""
    try:
        prefix = Repository(workspace.root, workspace.environment).place()
    except PmemError:
        prefix = f"{os.path.basename(workspace.root)}/"
    return FolderPlace(workspace.root, prefix)


def _duplicates(workspace: Workspace, ids: list[str]) -> list[Finding]:
    """Report ids that several stores use."""
    return [
        Finding(workspace.root, "duplicate", f"the id {identifier} stands in {times} stores")
        for identifier, times in Counter(ids).items()
        if times > 1
    ]


def of_record(path: str, record: Any, now: datetime, source: Source) -> Iterator[Finding]:
    """Report what is wrong with a record, whatever others there are.

    Args:
        path: The record's file.
        record: The record.
        now: The present.
        source: Where the file's bytes come from.
    """
    yield from contradictions(path, record, source)
    yield from repeated_keys(path, source)
    yield from instructions(path, record, source)
    yield from ahead(path, record, now, source)
    yield from large(path, source)


def large(path: str, source: Source) -> Iterator[Finding]:
    """Report, as a warning, a record that is larger than any that people write.

    Args:
        path: The record's file.
        source: Where the file's bytes come from.
    """
    size = len(source(path))
    if size > LARGE_RECORD_BYTES:
        sentence = (
            f"{path} has {size} bytes: of its texts {SEARCHED_CHARACTERS} characters are searched,"
            f" and of its tags {SEARCHED_NAMES}"
        )
        yield Finding(path, "large", sentence, severity="warning")


def ahead(path: str, record: Any, now: datetime, source: Source) -> Iterator[Finding]:
    """Report, as a warning, a record with a time well in the future: some clock was wrong.

    Args:
        path: The record's file.
        record: The record.
        now: The present.
        source: Where the file's bytes come from.
    """
    if getattr(record, "state", None) is State.SOFT_DELETED:
        return
    times = [(name, getattr(record, name, None)) for name in ("created_at", "updated_at")]
    times += [("history", event.at) for event in getattr(record, "history", ())]
    limit = shifted(now, _CLOCKS_DIFFER)
    field = next((name for name, at in times if at is not None and at > limit), None)
    if field is not None:
        latest = max(at for _, at in times if at is not None)
        sentence = (
            f"{path} has the time {iso(latest)}, which is still to come: set the wrong clock right,"
            " and if it wrote this record, correct the times in the file"
        )
        line = line_of_field(source(path), field)
        yield Finding(path, "ahead", sentence, line, severity="warning")


def contradictions(path: str, record: Any, source: Source) -> Iterator[Finding]:
    """Report what two branches said differently, until somebody settles it.

    Args:
        path: The record's file.
        record: The record.
        source: Where the file's bytes come from.
    """
    if isinstance(record, Memory | Episode) and record.state is not State.SOFT_DELETED:
        fields = open_conflicts(plain(record.history))
        left = fields.pop("state", None)
        if left is not None and record.state is State.ACTIVE:
            yield overruled(path, record, left, line_of_field(source(path), "state"))
        for field in fields:
            message = (
                f"{path} was changed on two branches: the later {field} holds, `pmem history"
                f" {short(record.id)}` shows the other; `pmem settle` or `pmem edit` settles it"
            )
            yield Finding(path, "conflict", message, line_of_field(source(path), field))


def instructions(path: str, record: Any, source: Source) -> Iterator[Finding]:
    """Report, as a warning, a record that speaks to the model that reads it.

    Args:
        path: The record's file.
        record: The record.
        source: Where the file's bytes come from.
    """
    if not isinstance(record, Memory | Episode) or record.state is State.SOFT_DELETED:
        return
    from pmem.core.instructions import instruction_in

    texts = dict(_texts_of(record))
    joined = _APART.join(texts.values())
    if len(joined) <= _SHORT and instruction_in((joined,)) is None:  # as nearly always
        return
    for name, text in texts.items():
        what = instruction_in((text,))
        if what is not None:
            line = line_of_field(source(path), name)
            sentence = f"{path} {what} in its {name}: see whether it belongs there"
            yield Finding(path, "instructions", sentence, line, severity="warning")
            return


def _texts_of(record: Memory | Episode) -> Iterator[tuple[str, str]]:
    """Yield what a record says, field by field."""
    for name in _TEXTS:
        value = getattr(record, name, None)
        if value:
            yield name, value if isinstance(value, str) else "\n".join(value)


def repeated_keys(path: str, source: Source) -> Iterator[Finding]:
    """Report a file with a key that stands there twice, as gluing two sides together leaves it.

    It can be read, but only one of the two values is.

    Args:
        path: A record's file that can be read.
        source: Where its bytes come from.
    """
    data = source(path)
    try:
        load(data or b"{}")
    except NotJson as error:
        yield Finding(path, "damaged", f"{path} cannot be taken at its word: {error}")


def rivals(root: str, memories: Mapping[str, Memory]) -> Iterator[Finding]:
    """Report memories that took the place of the same one on two branches, while both hold.

    Args:
        root: The memory folder.
        memories: The memories by their ids.
    """
    for memory in memories.values():
        found = [memories[id_] for id_ in successors_of(memory) if id_ in memories]
        active = [short(rival.id) for rival in found if rival.state is State.ACTIVE]
        if len(active) > 1:
            path = os.path.join(root, STORES[Memory], f"{memory.id}.json")
            sentence = (
                f"{path} was replaced on two branches, by {' and '.join(active)}:"
                f" `pmem edit {active[0]} --superseded-by {active[1]}` keeps the second alone"
            )
            yield Finding(path, "rivals", sentence)


def circles(root: str, memories: Mapping[str, Memory]) -> Iterator[Finding]:
    """Report memories that give way to each other, so that none of them is active.

    Git leaves such a circle when two clones merged or replaced a pair each its own way, and one
    side of each file was taken.

    Args:
        root: The memory folder.
        memories: The memories by their ids.
    """
    into = {id_: successor_of(memory) for id_, memory in memories.items() if successor_of(memory)}
    for start, first in into.items():
        reached = start
        for _ in range(_LONGEST_CIRCLE):
            reached = into.get(reached, "")
            if reached in ("", start):
                break
        if reached == start:
            path = os.path.join(root, STORES[Memory], f"{start}.json")
            sentence = f"{path} gave way to {first}, and that to it: restore one of them"
            yield Finding(path, "circle", sentence)


def targets_of(record: Record) -> Iterator[str]:
    """Yield the ids of the records that a record leads to.

    Args:
        record: Any record.
    """
    yield from (lead.id for lead in leads(record))


def _on_disk(path: str) -> bytes:
    try:
        return read_bytes(path)[0]
    except (OSError, PmemError):
        return b""
