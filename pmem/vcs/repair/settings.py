"""The project's settings in a merge that git left open: from its stages, else from the markers."""

import os
from collections.abc import Mapping
from typing import Final, NamedTuple

from pmem.core.threeway.markers import apart, has_markers, plain_lines
from pmem.errors import Damaged
from pmem.project.configuration import CONFIG_FILE
from pmem.storage.files.durable import refusals, write_file
from pmem.storage.git.merge_stages import BASE, OURS, THEIRS, MergeState, Placed
from pmem.storage.git.repository import TreeEntry
from pmem.storage.jsonfiles import scratch
from pmem.vcs.repair.cases import Unfit, check_unchanged, in_tree
from pmem.vcs.settingsmerge import SettingsFile, is_sound, merge_files

_BY_HAND: Final = "finish it by hand, then `git add` it"


class SettingsRepair(NamedTuple):
    """What the file is to hold, what was decided and why, and what the two sides disagree on.

    `placed` is what git's index is to hold for it; nothing where git does not track it.
    """

    data: bytes
    decision: str
    why: str
    conflicts: tuple[str, ...]
    seen: bytes | None
    placed: Mapping[str, Placed]


def settings_case(
    root: str, state: MergeState | None, stages: Mapping[int, TreeEntry]
) -> SettingsRepair | None:
    """Finish the merge of the project's settings, if one is open."""
    path = os.path.join(root, CONFIG_FILE)
    here = in_tree(root, CONFIG_FILE)
    is_open = here is not None and not is_sound(here, path) and has_markers(here)
    if not stages and not is_open:
        return None
    if here is not None and not is_open:  # somebody has resolved it, or the merge driver
        if not is_sound(here, path):
            raise Unfit(f"it was edited by hand, and is no TOML: {_BY_HAND}")
        placed = _index_files(state, stages, here)
        return SettingsRepair(here, "kept", "it was resolved and stays as it is", (), here, placed)
    try:
        done, why = _merge_settings(path, here or b"", state, stages)
    except (Damaged, UnicodeDecodeError) as error:
        raise Unfit(f"its versions cannot be merged ({error}): {_BY_HAND}") from None
    if done.conflicts:
        why += f"; the two sides disagree on {', '.join(done.conflicts)}: see the end of the file"
    placed = _index_files(state, stages, done.data)
    return SettingsRepair(done.data, "merged", why, done.conflicts, here, placed)


def carry_out(root: str, state: MergeState | None, merged: SettingsRepair) -> None:
    """Write the file and tell git. Hold the writers' lock."""
    path = os.path.join(root, CONFIG_FILE)
    if merged.data != merged.seen:
        check_unchanged(root, CONFIG_FILE, merged.seen)
        with refusals(path):
            write_file(path, merged.data, scratch(root))
    if state is not None:
        state.place_all(merged.placed)


def _merge_settings(
    path: str, here: bytes, state: MergeState | None, stages: Mapping[int, TreeEntry]
) -> tuple[SettingsFile, str]:
    """Merge from the stages if the file holds nothing else, else from the text between markers."""
    if state is not None and {OURS, THEIRS} & stages.keys():
        contents = state.blobs([entry.object for entry in stages.values()])
        versions = dict(zip(stages, contents, strict=True))
        base, ours, theirs = (versions.get(number) or b"" for number in (BASE, OURS, THEIRS))
        if not plain_lines(here) - plain_lines(base) - plain_lines(ours) - plain_lines(theirs):
            if not {OURS, THEIRS} <= stages.keys():  # removed on one side, changed on another
                ours = theirs = ours or theirs
            return merge_files(base, ours, theirs, path), "setting by setting (from git's stages)"
    text = apart(here)
    if text is None:
        raise Unfit(f"its conflict markers do not belong together: {_BY_HAND}")
    done = merge_files(text.base, text.ours, text.theirs, path)
    return done, "setting by setting (from the text between the markers)"


def _index_files(
    state: MergeState | None, stages: Mapping[int, TreeEntry], data: bytes
) -> Mapping[str, Placed]:
    """Return what git's index is to hold, its lines ending as they do in commits."""
    if state is None:
        return {}
    known = stages.get(OURS) or stages.get(THEIRS) or state.tracked([CONFIG_FILE]).get(CONFIG_FILE)
    if known is None:
        return {}
    return {CONFIG_FILE: Placed(known.mode, data.replace(b"\r\n", b"\n"))}
