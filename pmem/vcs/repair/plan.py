"""Deciding what becomes of every file that a merge left open."""

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pmem.core.rawjson import NotJson, dump, load
from pmem.core.threeway.deciding import MergeDecision, Versions, decide
from pmem.core.threeway.markers import apart, has_markers, plain_lines
from pmem.core.threeway.values import same
from pmem.errors import Damaged, PmemError
from pmem.project.configuration import CONFIG_FILE
from pmem.storage.files.recordfile import parse
from pmem.storage.git.merge_stages import BASE, OURS, THEIRS
from pmem.values.records import RECORD_TYPES
from pmem.vcs.repair.open_files import (
    BY_HAND,
    UNREADABLE,
    Case,
    OpenFile,
    Record,
    RecordKey,
    Unfit,
    in_tree,
    read_version,
    record_cases,
)
from pmem.vcs.settingsmerge import is_sound, merge_files


class RepairOutcome(NamedTuple):
    """What a file is to hold (None: it goes), what was decided, and the files that it came from.

    The settings have no id.
    """

    path: str
    id: str
    data: bytes | None
    decided: MergeDecision
    files: tuple[OpenFile, ...]

    @property
    def paths(self) -> set[str]:
        """The paths of the files that it came from."""
        return {file.path for file in self.files}

    @property
    def is_staged(self) -> bool:
        """Whether git still has the conflict in its index."""
        return any(file.stages for file in self.files)

    @property
    def origin(self) -> str:
        """What its versions were taken from."""
        return "from git's stages" if self.is_staged else "from the text between the markers"


class RepairPlan(NamedTuple):
    """What is to be done: outcomes, the files that they leave without a record, what is left.

    `seen` is what the files held that the plan looked at.
    """

    outcomes: Sequence[RepairOutcome]
    emptied: Sequence[str]
    left: Mapping[str, str]
    seen: Mapping[str, bytes | None]

    @property
    def files(self) -> dict[str, bytes | None]:
        """What files are to hold; None where they go."""
        return {it.path: it.data for it in self.outcomes} | dict.fromkeys(self.emptied)


def planned(root: str, files: Sequence[OpenFile], unfit: Mapping[str, str]) -> RepairPlan:
    """Decide about all files at once, for they hang together by the records in them.

    Raises:
        StorageRefused: A file may not be read.
    """
    seen = {file.path: file.here for file in files}
    cases, left = record_cases([file for file in files if file.path != CONFIG_FILE])
    left |= unfit
    outcomes = []
    for file in files:
        if file.path == CONFIG_FILE:
            try:
                outcomes.append(_settings_outcome(root, file))
            except Unfit as error:
                left[file.path] = str(error)
    for case in cases:
        path = case.key.path
        try:
            if path not in seen:
                seen[path] = in_tree(root, path)
            outcomes.append(_outcome(case, seen[path]))
        except Unfit as error:
            left |= {each: str(error) for each in case.paths if each not in left}
    own = {case.key.path for case in cases}
    for path in sorted({path for case in cases for path in case.paths} - own):
        known = set[bytes]().union(*(case.lines for case in cases if path in case.paths))
        if plain_lines(seen[path] or b"") - known:
            why = f"it was edited by hand, and no record of its name is in it: {BY_HAND}"
            left.setdefault(path, why)
    _leave_what_hangs_together(cases, left)
    done = [outcome for outcome in outcomes if not outcome.paths & left.keys()]
    emptied = {path for outcome in done if outcome.id for path in outcome.paths} - own
    return RepairPlan(done, sorted(emptied), left, seen)


def _leave_what_hangs_together(cases: Sequence[Case], left: dict[str, str]) -> None:
    """Leave the paths that share a record with one that is left, and so on from there."""
    known = -1
    while known != len(left):
        known = len(left)
        for case in cases:
            bad = case.paths & left.keys()
            for path in case.paths - bad if bad else ():
                left[path] = f"it shares record {case.key.id} with {min(bad)}, which is left"


def _outcome(case: Case, here: bytes | None) -> RepairOutcome:
    key = case.key
    try:
        decided = decide(case.versions, key.shape)
        if here is not None and key.path not in case.paths:
            decided = _beside(case, decided, here)
        elif here is not None:
            now = _json_or_none(here)
            if now is None and plain_lines(here) - case.lines:
                decided = _merge_edited_text(case, here)
            elif now is not None and not any(same(now, it) for it in (decided.result, *case.there)):
                _check_record(key, here, "it was resolved by hand, but")
                kept = MergeDecision(now, "kept", "it was resolved by hand and stays as it is")
                return RepairOutcome(key.path, key.id, here, kept, case.files)
    except UNREADABLE as error:
        raise Unfit(f"its versions cannot be merged ({error}): {BY_HAND}") from None
    data = None if decided.result is None else dump(decided.result)
    if data is not None:
        _check_record(key, data, "merged,")
    return RepairOutcome(key.path, key.id, data, decided, case.files)


def _json_or_none(data: bytes) -> Record | None:
    try:
        return load(data)
    except NotJson:
        return None


def _merge_edited_text(case: Case, here: bytes) -> MergeDecision:
    """Settle a record between whose markers somebody has edited."""
    text = apart(here)
    try:
        sides = [] if text is None else [text.ours, text.theirs]
        versions = [read_version(OURS, side, case.key.path) for side in sides]
    except UNREADABLE:
        versions = []
    if not versions or any(it.key != case.key for it in versions):
        raise Unfit(f"it was edited by hand, and holds no two versions of it: {BY_HAND}")
    edited = Versions(case.versions.base, *(it.record for it in versions))
    decided = decide(edited, case.key.shape)
    why = f"{decided.why}; what was edited by hand between the markers is in it"
    return decided._replace(why=why)


def _beside(case: Case, decided: MergeDecision, here: bytes) -> MergeDecision:
    """Settle a record that has a file of its own already, which is not in conflict."""
    key, _, now = read_version(OURS, here, case.key.path)
    if key != case.key:
        raise Unfit(f"{case.key.path}, where a record of it belongs, holds another one")
    if decided.result is None:
        return MergeDecision(now, "kept", "its own file is in no conflict")
    if same(now, decided.result) or any(same(now, side) for side in case.versions):
        return decided
    both = decide(Versions(case.versions.base, now, decided.result), case.key.shape)
    return both._replace(why=f"{both.why}; merged with what its own file held")


def _check_record(key: RecordKey, data: bytes, what: str) -> None:
    try:
        parse(data, RECORD_TYPES[key.store], key.path)
    except PmemError as error:
        raise Unfit(f"{what} it would be no sound record ({error.message}): {BY_HAND}") from None


def _settings_outcome(root: str, file: OpenFile) -> RepairOutcome:
    """Merge the project's settings, unless somebody has resolved them, or the driver."""
    path = os.path.join(root, file.path)
    here = file.here or b""
    if file.here is not None and is_sound(here, path):
        kept = MergeDecision(None, "kept", "it was resolved and stays as it is")
        return RepairOutcome(file.path, "", here, kept, (file,))
    if here and not has_markers(here):
        raise Unfit(f"it was edited by hand, and is no TOML: {BY_HAND}")
    base, ours, theirs = (file.stages.get(number) for number in (BASE, OURS, THEIRS))
    if not file.stages or plain_lines(here) - file.lines:
        text = apart(here)
        if text is None:
            raise Unfit(f"its conflict markers do not belong together: {BY_HAND}")
        base, ours, theirs = text.base, text.ours, text.theirs
    else:
        base = base or b""
    sides = [side for side in (ours, theirs) if side is not None] or [b""]
    try:  # a side that removed it has nothing to say
        done = merge_files(base, sides[0], sides[-1], path)
    except (Damaged, UnicodeDecodeError) as error:
        raise Unfit(f"its versions cannot be merged ({error}): {BY_HAND}") from None
    why = "setting by setting"
    if done.conflicts:
        why += f"; the two sides disagree on {', '.join(done.conflicts)}: see the end of the file"
    decided = MergeDecision(None, "merged", why, done.conflicts)
    return RepairOutcome(file.path, "", done.data, decided, (file,))
