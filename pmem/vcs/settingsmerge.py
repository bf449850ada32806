"""Merging two versions of a project's `config.toml`, its comments kept, also after the fact."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from pmem.core.lines import split_lines
from pmem.core.settings import SettingsMerge, merge_settings
from pmem.core.threeway.markers import apart, has_markers, plain_lines
from pmem.errors import Damaged, PmemError
from pmem.project.configuration import CONFIG_FILE, parse_config
from pmem.project.setup import with_setting
from pmem.storage.files.durable import refusals, write_file
from pmem.storage.git.merge_stages import BASE, OURS, THEIRS, MergeState, Placed
from pmem.storage.git.repository import TreeEntry
from pmem.storage.jsonfiles import scratch
from pmem.vcs.repair.cases import Unfit, check_unchanged, in_tree

_COMMENT: Final = "#"


class SettingsFile(NamedTuple):
    """What a merged file holds, and the settings that the two sides contradict each other in."""

    data: bytes
    conflicts: tuple[str, ...]


def merge_files(base: bytes | None, ours: bytes, theirs: bytes, path: str) -> SettingsFile:
    """Merge two versions of a configuration file, setting by setting.

    The file stays ours as far as it can; comments that only the other side has, and values that
    gave way, stand at its end.

    The base is None where it is not known.

    Raises:
        Damaged: A version is not TOML, or the two cannot be put together.
    """
    known = None if base is None else parse_config(base, path)
    own = parse_config(ours, path)
    merged = merge_settings(known, own, parse_config(theirs, path))
    text = ours.decode()
    for name in sorted({*own, *merged.values}):
        if own.get(name) != merged.values.get(name):
            text = with_setting(text, name, merged.values.get(name), path)
    added = [*_new_comments(base or b"", ours, theirs), *_conflict_comments(merged)]
    if added:
        text = "".join((text, "" if text.endswith("\n") or not text else "\n", *added))
    data = text.encode()
    if parse_config(data, path) != merged.values:
        raise Damaged(f"{path} cannot be merged setting by setting", "merge it by hand")
    return SettingsFile(data, tuple(merged.conflicts))


def is_sound(data: bytes, path: str) -> bool:
    """Tell whether a configuration file can be read."""
    try:
        return parse_config(data, path) is not None
    except PmemError:
        return False


def _new_comments(base: bytes, ours: bytes, theirs: bytes) -> Iterator[str]:
    """Yield the comment lines that only the other side has."""
    known = {line.strip() for line in split_lines((base + b"\n" + ours).decode())}
    for line in split_lines(theirs.decode()):
        if line.strip().startswith(_COMMENT) and line.strip() not in known:
            yield f"{line.strip()}\n"


def _conflict_comments(merged: SettingsMerge) -> Iterator[str]:
    """Yield a comment for each contradiction: what gave way."""
    for name, sides in merged.conflicts.items():
        value = merged.values.get(name)
        others = [side for side in sides if side != value]
        said = " and ".join(_as_toml(name, side) for side in others)
        yield f"# Two branches disagreed on {name}; what gave way: {said}\n"


def _as_toml(name: str, value: Any) -> str:
    if value is None:
        return "not set"
    import tomlkit

    return f"{name} = {tomlkit.item(value).as_string()}".replace("\n", " ")


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
