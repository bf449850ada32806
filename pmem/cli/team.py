"""`pmem resolve`, which finishes merges and settles conflicts, and `pmem db`, for servers."""

import os
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from pmem.cli.asking import asks, own
from pmem.cli.changes import records_answer
from pmem.cli.session import Answer, CommandSession, Line, counted
from pmem.core.journal import one_line
from pmem.core.visible import one_visible_line
from pmem.errors import UsageError
from pmem.memory.changes import ChangedRecords
from pmem.operations import table
from pmem.upkeep.database import DatabaseRequest, DatabaseSetup, DatabaseStatus
from pmem.upkeep.sync import Synced, SyncedRecord, SyncRequest
from pmem.values.fields import NoArguments
from pmem.values.ids import short
from pmem.vcs.conflicts import SettleRequest
from pmem.vcs.repair import Repair, RepairRequest

_COLOURS: Final = {"kept": "yellow", "cut": "yellow", "purged": "red", "left": "red"}
_SHOWN: Final = 5


@asks(SettleRequest, references=())
def resolve(
    session: CommandSession,
    request: SettleRequest,
    references: tuple[str, ...] = own(
        "Ids [all that git left].", (), shown="[REF]...", completes="memory", is_argument=True
    ),
    dry_run: bool = own("Print what would be done and change nothing."),
) -> Answer:
    """Finish a merge that git could not, or decide a conflict.

    Without REF it works from git's three stages, else from the text between the conflict markers.
    It asks nothing and gives the reason for each decision. Two sides that contradict each other
    stay in the record, and `pmem check` reports them. It adds what it decided to git's index; you
    commit. It exits with 1 if it had to leave a file. Where no merge is open, it fixes what is
    wrong between records: links to nothing, memories that gave way to one that is gone, and
    messages that are there twice.

    With REF it decides what two branches contradict each other in. What the memory says now stays:
    the later of the two. --ours and --theirs are git's sides, during a merge and right after it;
    the side that wins may have removed, archived or replaced the memory. With --text the memory
    says what you write. `pmem show REF` has both.
    """
    if references:
        if dry_run:
            raise UsageError("--dry-run goes without REF", "leave one of them out")
        decided = session.run(table.SETTLE, msgspec.structs.replace(request, references=references))
        answer = records_answer("resolved", ChangedRecords(records=decided.records))
        return msgspec.structs.replace(answer, note=f"next: {decided.next}" * bool(decided.next))
    if request != SettleRequest(references=()):
        raise UsageError("which memory is missing", "`pmem check` lists the conflicts")
    done = session.run(table.REPAIR, RepairRequest(dry_run=dry_run))
    note = _repair_note(done, dry_run=dry_run)
    return Answer(data=done, lines=_lines(done), note=note, exit_code=1 if done.left else 0)


def _lines(done: Repair) -> Iterator[Line]:
    told = [(it.decision, it.path, it.detail, bool(it.conflicts)) for it in done.repaired]
    told += [("left", it.path, it.why, False) for it in done.left]
    for word, path, said, is_open in told:
        is_inside = path.startswith(os.path.join(done.root, ""))
        seen = os.path.relpath(path, done.root if is_inside else None)  # a file outside: from here
        yield [
            (f"{word:<8}", _COLOURS.get(word, "green")),
            (f"{one_visible_line(seen)}  ", "cyan"),
            (one_visible_line(said), "yellow" if is_open else ""),
        ]


def _repair_note(done: Repair, *, dry_run: bool) -> str:
    if not done.repaired and not done.left:
        return "nothing to resolve"
    records = sum(bool(each.id) for each in done.repaired)
    named = [counted(records, "record")] if records or not done.repaired else []
    if files := len(done.repaired) - records:
        named.append(counted(files, "file"))
    said = f"{' and '.join(named)} {'would be ' * dry_run}repaired"
    if done.left:
        said += f", {len(done.left)} left: see to what is left, then run `pmem resolve` again"
    elif dry_run:
        said += "; nothing was changed"
    elif done.others:
        said += f"; {done.others} more paths are unmerged outside the memory, then `{done.next}`"
    elif done.next:
        open_ = [short(each.id) for each in done.repaired if each.conflicts and each.id]
        shown = f"{' '.join(open_[:_SHOWN])}{' ...' * (len(open_) > _SHOWN)}"
        first = f"pmem resolve {shown} with --ours or --theirs, then " * bool(open_)
        said += f"; next: {first}{done.next}"
    return said


_LABEL: Final = 11
_MOST: Final = 20
_TEXT: Final = 76
_FATES: Final = {
    "to_server": ("green", "to server"),
    "to_folder": ("green", "to folder"),
    "merged": ("magenta", "merged"),
    "removed": ("red", "removed"),
}


@asks(DatabaseRequest)
def init(session: CommandSession, request: DatabaseRequest) -> Answer:
    """Put this project on a PostgreSQL server; safe to repeat.

    The setting `database` or PMEM_DATABASE says where the server is. It makes the tables, and a
    role for each agent that has an allowlist. The key by which the server knows the project goes
    into the project's config.toml; the address never does.
    """
    found = session.run(table.DATABASE_INIT, request)
    status = found.status
    bring = status.in_folder and not status.records
    many = "1 record" if status.in_folder == 1 else f"{status.in_folder} records"
    note = f"the folder has {many}: `pmem db sync` brings them there"
    return Answer(data=found, lines=_setup_lines(found), note=note if bring else "")


@asks(NoArguments)
def migrate(session: CommandSession, request: NoArguments) -> Answer:
    """Bring the server's tables up to date."""
    found = session.run(table.DATABASE_MIGRATE, request)
    return Answer(data=found, lines=_setup_lines(found))


@asks(NoArguments)
def status(session: CommandSession, request: NoArguments) -> Answer:
    """Say which server there is, and where this project stands on it.

    It exits with 1 where the records are not on a server yet.
    """
    found = session.run(table.DATABASE_STATUS, request)
    is_ready = found.is_known and not found.is_stale and found.version == found.wanted
    note = "" if found.is_known else "run `pmem db init`"
    if not found.server:
        note = "no database is set: records are files"
    elif found.version and (found.is_stale or found.version < found.wanted):
        note = "run `pmem db migrate`"
    code = 0 if is_ready else 1
    return Answer(data=found, lines=_status_lines(found), note=note, exit_code=code)


@asks(SyncRequest)
def sync(session: CommandSession, request: SyncRequest) -> Answer:
    """Make the memory folder and the server equal.

    Each record is merged as git's branches are; what both sides contradict each other in is
    reported, and `pmem check` reports it until `pmem resolve REF` decides. Cut short, run it again.
    It exits with 1 where a record cannot be read on a side.
    """
    found = session.run(table.SYNC, request)
    note = "" if found.records else f"the folder and {found.server} are equal"
    return Answer(data=found, lines=_sync_lines(found), note=note, exit_code=1 if found.left else 0)


def _sync_lines(found: Synced) -> Iterator[Line]:
    for fate, (colour, said) in _FATES.items():
        if records := [record for record in found.records if record.fate == fate]:
            yield [(said, f"bold {colour}"), (f"  {len(records)}", "dim")]
            yield from _some_of(records)
    if found.checkpoints:
        yield [(f"{'to server':<{_LABEL}}", "green"), (f"{found.checkpoints} checkpoints", "")]
    for problem in found.left:
        yield [(f"{'left':<{_LABEL}}", "red"), (problem.message, "")]


def _some_of(records: Sequence[SyncedRecord]) -> Iterator[Line]:
    """Yield a line for each record, of many only for the first and those to settle."""
    in_doubt = [record for record in records if record.conflicts]
    agreed = [record for record in records if not record.conflicts]
    for record in [*in_doubt, *agreed[:_MOST]]:
        yield [("  ", ""), (short(record.id), "cyan"), (f"  {one_line(record.text, _TEXT)}", "")]
        if record.conflicts:
            yield [(f"    both sides disagree on {', '.join(record.conflicts)}", "yellow")]
    if len(agreed) > _MOST:
        yield [(f"  and {len(agreed) - _MOST} more; --json has them all", "dim")]


def _setup_lines(found: DatabaseSetup) -> Iterator[Line]:
    for number in found.migrated:
        yield [("migrated", "green"), (f"  to schema {number}", "")]
    yield from _status_lines(found.status)


def _status_lines(found: DatabaseStatus) -> Iterator[Line]:
    rows = {
        "server": found.server or "none",
        "project": found.project or "none yet",
        "schema": f"{found.version} of {found.wanted}",
        "records": f"{found.records} there, {found.in_folder} in the folder",
        "revision": str(found.revision),
    }
    if not found.server:
        rows = {"server": "none", "records": f"{found.in_folder} in the folder"}
    for label, value in rows.items():
        yield [(f"{label:<{_LABEL}}", "dim"), (value, "")]
    for role, whom in found.roles.items():
        yield [(f"{'role':<{_LABEL}}", "dim"), (role, "cyan"), (f"  {whom}", "")]
