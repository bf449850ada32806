"""Deciding what becomes of every record that a merge left open, and of the files around it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from pmem.core.rawjson import NotJson, dump, load
from pmem.core.threeway.deciding import MergeDecision, Versions, decide
from pmem.core.threeway.markers import apart, has_markers, plain_lines
from pmem.core.threeway.values import same
from pmem.errors import PmemError
from pmem.storage.files.recordfile import parse
from pmem.values.records import RECORD_TYPES
from pmem.vcs.repair.cases import UNREADABLE, Case, RecordKey, Unfit, read_version

_BY_HAND: Final = "finish it by hand, then `git add` it"
Read = Callable[[str], bytes | None]
"""Returns what a file holds now, or None where there is none; raises Unfit."""


class RepairOutcome(NamedTuple):
    """What a record's file is to hold (None: it goes), and what was decided."""

    case: Case
    decided: MergeDecision
    data: bytes | None


class RepairPlan(NamedTuple):
    """What is to be done: outcomes, the files that they leave without a record, what is left.

    `seen` is what the files held that the plan looked at.
    """

    outcomes: tuple[RepairOutcome, ...]
    emptied: tuple[str, ...]
    left: Mapping[str, str]
    seen: Mapping[str, bytes | None]

    @property
    def files(self) -> dict[str, bytes | None]:
        """What files are to hold; None where they go."""
        return {it.case.key.path: it.data for it in self.outcomes} | dict.fromkeys(self.emptied)


def planned(cases: Sequence[Case], left: Mapping[str, str], read: Read) -> RepairPlan:
    """Decide about all records at once, for files hang together by the records in them.

    Raises:
        StorageRefused: A file may not be read.
    """
    seen: dict[str, bytes | None] = {}

    def look(path: str) -> bytes | None:
        if path not in seen:
            seen[path] = read(path)
        return seen[path]

    unfit = dict(left)
    outcomes = []
    for case in cases:
        try:
            outcomes.append(_outcome(case, look(case.key.path)))
        except Unfit as error:
            unfit |= {path: str(error) for path in case.paths if path not in unfit}
    own = {case.key.path for case in cases}
    for path in sorted({path for case in cases for path in case.paths} - own):
        try:
            here = look(path)
        except Unfit as error:
            unfit.setdefault(path, str(error))
            continue
        known = frozenset[bytes]().union(*(case.known for case in cases if path in case.paths))
        if here is not None and plain_lines(here) - known:
            why = f"it was edited by hand, and no record of its name is in it: {_BY_HAND}"
            unfit.setdefault(path, why)
    _leave_what_hangs_together(cases, unfit)
    done = [outcome for outcome in outcomes if not outcome.case.paths & unfit.keys()]
    paths = {path for outcome in done for path in outcome.case.paths}
    return RepairPlan(tuple(done), tuple(sorted(paths - own)), unfit, seen)


def _leave_what_hangs_together(cases: Sequence[Case], unfit: dict[str, str]) -> None:
    """Leave the paths that share a record with one that is left, and so on from there."""
    known = -1
    while known != len(unfit):
        known = len(unfit)
        for case in cases:
            bad = case.paths & unfit.keys()
            for path in case.paths - bad if bad else ():
                unfit[path] = f"it shares record {case.key.id} with {min(bad)}, which is left"


def _outcome(case: Case, here: bytes | None) -> RepairOutcome:
    """Decide about one record, given what its own file holds now."""
    try:
        decided = decide(case.versions, case.key.shape)
        if here is None:
            return _checked_outcome(case, decided)
        if case.key.path in case.paths:
            return _over_conflict(case, decided, here)
        return _checked_outcome(case, _beside(case, decided, here))
    except UNREADABLE as error:
        raise Unfit(f"its versions cannot be merged ({error}): {_BY_HAND}") from None


def _over_conflict(case: Case, decided: MergeDecision, here: bytes) -> RepairOutcome:
    """Decide about a file that is itself a part of the conflict."""
    try:
        now = load(here)
    except NotJson as error:
        if not plain_lines(here) - case.known:
            return _checked_outcome(case, decided)
        if has_markers(here):
            return _checked_outcome(case, _edited(case, here))
        raise Unfit(f"it was edited by hand, and is no JSON ({error}): {_BY_HAND}") from None
    if same(now, decided.result) or any(same(now, there) for there in case.there):
        return _checked_outcome(case, decided)
    _parse_case(case.key, here, "it was resolved by hand, but")
    kept = MergeDecision(now, "kept", "it was resolved by hand and stays as it is")
    return RepairOutcome(case, kept, here)


def _edited(case: Case, here: bytes) -> MergeDecision:
    """Settle a record between whose markers somebody has edited."""
    text = apart(here)
    try:
        sides = [] if text is None else [text.ours, text.theirs]
        versions = [read_version(side, case.key.store) for side in sides]
    except UNREADABLE:
        versions = []
    if not versions or any(key != case.key for key, _ in versions):
        raise Unfit(f"it was edited by hand between its markers: {_BY_HAND}")
    edited = Versions(case.versions.base, *(record for _, record in versions))
    decided = decide(edited, case.key.shape)
    why = f"{decided.why}; what was edited by hand between the markers is in it"
    return decided._replace(why=why)


def _beside(case: Case, decided: MergeDecision, here: bytes) -> MergeDecision:
    """Settle a record that has a file of its own already, which is not in conflict."""
    key, now = read_version(here, case.key.store)
    if key != case.key:
        raise Unfit(f"{case.key.path}, where a record of it belongs, holds another one")
    if decided.result is None:
        return MergeDecision(now, "kept", "its own file is in no conflict")
    if same(now, decided.result) or any(same(now, side) for side in case.versions):
        return decided
    both = decide(Versions(case.versions.base, now, decided.result), case.key.shape)
    return both._replace(why=f"{both.why}; merged with what its own file held")


def _checked_outcome(case: Case, decided: MergeDecision) -> RepairOutcome:
    """Return an outcome, once it is known that what it writes is a record."""
    if decided.result is None:
        return RepairOutcome(case, decided, None)
    data = dump(decided.result)
    _parse_case(case.key, data, "merged,")
    return RepairOutcome(case, decided, data)


def _parse_case(key: RecordKey, data: bytes, what: str) -> None:
    try:
        parse(data, RECORD_TYPES[key.store], key.path)
    except PmemError as error:
        raise Unfit(f"{what} it would be no sound record ({error.message}): {_BY_HAND}") from None
