"""The command that finishes merges, and decides what branches contradict each other in."""

import os
from collections.abc import Iterator
from typing import Final

import msgspec

from pmem.cli.asking import asks, own
from pmem.cli.changes import records_answer
from pmem.cli.session import Answer, CommandSession, Line, counted
from pmem.core.visible import one_visible_line
from pmem.errors import UsageError
from pmem.memory.changes import ChangedRecords
from pmem.operations import table
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
    """Say how much was done, and what to do next."""
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
        said += f"; next: {_settle_first(done)}{done.next}"
    return said


def _settle_first(done: Repair) -> str:
    """Say what to do before a commit makes the contradictions everybody's."""
    open_ = [short(each.id) for each in done.repaired if each.conflicts and each.id]
    if not open_:
        return ""
    named = f"{' '.join(open_[:_SHOWN])}{' ...' * (len(open_) > _SHOWN)}"
    return f"pmem resolve {named} with --ours or --theirs, then "
