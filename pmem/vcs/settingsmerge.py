"""Merging two versions of a project's `config.toml`, its comments kept."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from pmem.core.lines import split_lines
from pmem.core.settings import SettingsMerge, merge_settings
from pmem.errors import Damaged, PmemError
from pmem.project.configuration import parse_config
from pmem.project.setup import with_setting

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
    known = {line.strip() for line in split_lines((base + b"\n" + ours).decode())}
    for line in split_lines(theirs.decode()):
        if line.strip().startswith(_COMMENT) and line.strip() not in known:
            yield f"{line.strip()}\n"


def _conflict_comments(merged: SettingsMerge) -> Iterator[str]:
    import tomlkit

    for name, sides in merged.conflicts.items():
        value = merged.values.get(name)
        others = [
            "not set" if side is None else f"{name} = {tomlkit.item(side).as_string()}"
            for side in sides
            if side != value
        ]
        said = " and ".join(others).replace("\n", " ")
        yield f"# Two branches disagreed on {name}; what gave way: {said}\n"
