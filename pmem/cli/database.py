"""The commands of a PostgreSQL server: setting up, migrating, looking."""

from collections.abc import Iterator, Sequence
from typing import Final

from pmem.cli.asking import asks
from pmem.cli.session import Answer, CommandSession, Line
from pmem.core.journal import one_line
from pmem.operations import table
from pmem.upkeep.database import DatabaseRequest, DatabaseSetup, DatabaseStatus
from pmem.upkeep.sync import Synced, SyncedRecord, SyncRequest
from pmem.values.fields import NoArguments
from pmem.values.ids import short

_LABEL: Final = 11
_MOST: Final = 20
_SHOWN: Final = 76
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
    return Answer(
        data=found, lines=_lines(found), note=_next_step(found), exit_code=0 if is_ready else 1
    )


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
        records = [record for record in found.records if record.fate == fate]
        if records:
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
        yield [("  ", ""), (short(record.id), "cyan"), (f"  {one_line(record.text, _SHOWN)}", "")]
        if record.conflicts:
            yield [(f"    both sides disagree on {', '.join(record.conflicts)}", "yellow")]
    if len(agreed) > _MOST:
        yield [(f"  and {len(agreed) - _MOST} more; --json has them all", "dim")]


def _next_step(found: DatabaseStatus) -> str:
    if not found.server:
        return "no database is set: records are files"
    if found.version and (found.is_stale or found.version < found.wanted):
        return "run `pmem db migrate`"
    return "" if found.is_known else "run `pmem db init`"


def _setup_lines(found: DatabaseSetup) -> Iterator[Line]:
    for number in found.migrated:
        yield [("migrated", "green"), (f"  to schema {number}", "")]
    yield from _lines(found.status)


def _lines(found: DatabaseStatus) -> Iterator[Line]:
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
