"""Starting a project's memory, and changing its settings."""

import os
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from functools import reduce
from itertools import chain
from operator import getitem
from typing import Annotated, Any, Final

import msgspec

from pmem.core.filters import EVERYTHING
from pmem.core.secrets import unsecret
from pmem.errors import Damaged, InvalidValue, PmemError
from pmem.project.configuration import CONFIG_FILE, is_liberty, parse_config
from pmem.project.discovery import check_borders
from pmem.project.secret_gate import SecretGate, allowable
from pmem.project.workspace import Workspace
from pmem.storage.files import safe_files
from pmem.storage.files.durable import make_folder, refusals, write_file
from pmem.storage.jsonfiles import JsonFiles, scratch
from pmem.values.config import Resolved, Settings, checked, known
from pmem.values.config import table as settings_table
from pmem.values.fields import NoArguments, asked
from pmem.values.records import STORES, plain
from pmem.values.rules import TABLE, Secrets
from pmem.values.setting_groups import check_together

IGNORE_FILE: Final = ".gitignore"
IGNORE_HEAD: Final = """\
# What concerns this clone alone.
/local/
.tmp-*
"""
IGNORE_CONVERSATIONS: Final = """\
# Transcripts are private; `pmem init --track-conversations` shares them.
/conversations/
/conversation-chunks/
"""
SHARE_CONVERSATIONS: Final = "# Transcripts are shared: `pmem init --track-conversations`.\n"
MERGE_ATTRIBUTES: Final = "\n".join(
    [f"/{folder}/*.json merge=pmem diff=pmem" for folder in STORES.values()]
    + [f"/{CONFIG_FILE} merge=pmem"]
)
_ATTRIBUTES: Final = f"""\
# One record a file: the same bytes on every system, and readable differences.
*.json text eol=lf
config.toml text eol=lf
# Records merge field by field, where `pmem setup git` was run; elsewhere as any text does.
{MERGE_ATTRIBUTES}
# A golden set's lines may stand in any order: keep both sides'.
golden.jsonl text eol=lf merge=union
"""
_READ_ME: Final = "README.md"
_README: Final = """\
# Project memory

This folder is the memory of the project around it, kept by pmem: decisions, constraints,
preferences, how-to and what happened, one JSON file each. It is meant to be committed.

- `long-term-memory/` and `episodic-memory/`: what is remembered.
- `conversations/` and `conversation-chunks/`: transcripts; private unless they are tracked.
- `config.toml`: the project's settings.
- `local/`: what concerns this clone alone; never committed. Deleting it while no pmem is
  running loses checkpoints, what each thread has seen and counts of recalls, nothing else.

Look around with `pmem list` and `pmem search`, check with `pmem check`. Files may be edited
by hand: pmem notices.
"""
_CONFIG: Final = """\
# Settings of this project; `pmem config list` shows them.
"""
HIDDEN: Final = "(set, and not shown)"
"""What stands for an address: a password may be in it."""


class Initialised(msgspec.Struct, frozen=True):
    """A memory folder that is ready."""

    path: str
    created: bool


def initialise(
    folder: str,
    *,
    name: str | None = None,
    track_conversations: bool = False,
    environment: Mapping[str, str] | None = None,
    safe_folders: Any = None,
    readme: str = "",
) -> Initialised:
    """Make a memory folder, or complete the one that is there, while no other process writes.

    `safe_folders` is the setting of that name where the caller gives it; `readme` tells people
    about the folder, in the place of a project's.
    """
    check_borders(os.path.abspath(folder), environment or {}, allowed=safe_folders)
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise InvalidValue(
            f"{folder} exists and is no folder", "move it away, or start elsewhere with -C"
        )
    SecretGate(Secrets).admit(name, "the name")
    created = not os.path.isdir(folder)
    with locked(Workspace(os.path.abspath(folder), environment=environment)), refusals(folder):
        for part in STORES.values():
            if not os.path.islink(path := os.path.join(os.path.abspath(folder), part)):
                make_folder(path)
        files = _files(track_conversations=track_conversations)
        for file, text in (files | ({_READ_ME: readme} if readme else {})).items():
            if not os.path.lexists(path := os.path.join(folder, file)):
                write_file(path, text.encode(), scratch(folder))
        if track_conversations:
            _track_conversations(folder)
        if name is not None:
            path = os.path.join(folder, CONFIG_FILE)
            write_setting(path, "project_name", name, scratch=scratch(folder))
    return Initialised(path=os.path.abspath(folder), created=created)


def missing_files(folder: str) -> list[str]:
    """Return the names of the files of a memory folder that are not there."""
    return [
        name
        for name in _files(track_conversations=False)
        if not os.path.exists(os.path.join(folder, name))
    ]


SettingName = Annotated[
    str, asked("A setting's name.", shown="NAME", is_argument=True, completes="setting")
]


class SettingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which setting is meant, by its dotted name."""

    name: SettingName


class SettingChangeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A setting's dotted name, and its new value as text; for `secrets.allow`, what is added."""

    name: SettingName
    value: Annotated[
        str, asked("Its new value; lists take commas.", shown="VALUE", is_argument=True)
    ]


class SettingsListing(msgspec.Struct, frozen=True, kw_only=True):
    """Every setting, and a sentence on each that is not known."""

    items: tuple[Resolved, ...]
    unknown: tuple[str, ...]

    def to_plain(self) -> dict[str, Any]:
        """Return the settings."""
        return {"items": self.items}


class SettingChanged(msgspec.Struct, frozen=True, kw_only=True):
    """A setting of the project's as it is kept, and what may be a slip in it."""

    name: str
    value: Any
    doubt: str = ""

    def to_plain(self) -> dict[str, Any]:
        """Return the setting as it is told by itself."""
        return {"name": self.name, "value": self.value, "origin": "project"}


class SettingReset(msgspec.Struct, frozen=True, kw_only=True):
    """A setting, and the value that holds without one of the project's."""

    name: str
    value: Any


def list_settings(workspace: Workspace, _: NoArguments) -> SettingsListing:
    """Return every setting, its value and where that came from."""
    items = tuple(map(_without_password, workspace.configuration.provenance))
    try:
        configuration = workspace.configuration
        unknown = tuple(map(unsecret, [*configuration.unknown(), *configuration.unknown_of_user()]))
    except PmemError:  # reported as settings that are wrong
        unknown = ()
    return SettingsListing(items=items, unknown=unknown)


def show_setting(workspace: Workspace, request: SettingRequest) -> Resolved:
    """Return one setting, also while another one is wrong."""
    return _without_password(workspace.configuration.setting(request.name))


def _without_password(setting: Resolved) -> Resolved:
    """Return a setting as it may be shown: an address can have a password in it."""
    if setting.name != "database" or not setting.value:
        return setting
    return msgspec.structs.replace(setting, value=HIDDEN)


def change_setting(workspace: Workspace, request: SettingChangeRequest) -> SettingChanged:
    """Set one of the project's settings."""
    name, value = request.name, request.value
    gate = _gate(workspace)
    gate.refuse_secrets_in(name, "the setting's name")
    is_list = name == "secrets.allow"
    names_categories = name.partition(".")[0] == "allowlists"
    if names_categories:  # its names are kept as they are, or not at all
        gate.refuse_secrets_in(value, name)
    kept = checked(name, value if is_list else gate.admit(value, name))
    if name == "memory_dir":
        raise InvalidValue(
            "memory_dir cannot be set inside the very folder that it names",
            "set PMEM_MEMORY_DIR, or rename the folder",
        )
    if is_liberty(name, kept):
        what = "set" if name == "database" else repr(kept)
        raise InvalidValue(
            f"{name} cannot be {what} for everyone who has this project",
            f"set it in your own configuration, or {known(name).variable} for one run",
        )
    settings = None
    with suppress(PmemError):  # another one is wrong, and it may be this value that mends it
        settings = workspace.settings
    doubts = [check_together(settings, name, kept)] if settings else []
    with locked(workspace):
        if is_list:
            path = os.path.join(workspace.root, CONFIG_FILE)
            own = parse_config(safe_files.text(path).encode(), path).get(name, ())
            kept = tuple(dict.fromkeys((*checked(name, own), *allowable(kept))))
        _write_own_setting(workspace, name, kept)
    if names_categories:
        lists = kept.values() if isinstance(kept, dict) else [kept]
        doubts = [unknown_categories(workspace, chain.from_iterable(lists))]
    else:
        with suppress(PmemError):
            weaker = workspace.configuration.weaknesses()
            doubts += [said for said in weaker if said.split()[0] == name]
    return SettingChanged(name=name, value=kept, doubt="\n".join(filter(None, doubts)))


def reset_setting(workspace: Workspace, request: SettingRequest) -> SettingReset:
    """Take one of the project's settings back to what holds without it."""
    known(request.name)
    with locked(workspace):
        _write_own_setting(workspace, request.name, None)
    value = workspace.configuration.setting(request.name).value
    return SettingReset(name=request.name, value=value)


def unknown_categories(workspace: Workspace, named: Iterable[str]) -> str:
    """Say which categories allowlists name that no setting and no memory does: often a slip."""
    settings = workspace.settings.categories
    unknown = set(named) - {*settings.names, *settings.context}
    if unknown:
        unknown -= {memory.category for memory in workspace.memories.find(EVERYTHING)}
    if not unknown:
        return ""
    return f"allowlists name what no memory has and no setting knows: {', '.join(sorted(unknown))}"


def _write_own_setting(workspace: Workspace, name: str, value: Any) -> None:
    path = os.path.join(workspace.root, CONFIG_FILE)
    write_setting(path, name, value, scratch(workspace.root))


def _gate(workspace: Workspace) -> SecretGate:
    """Return the gate, also while a setting is wrong."""
    try:
        assert workspace.settings
    except PmemError:
        return SecretGate(Secrets)
    return workspace.gate


def locked(workspace: Workspace) -> AbstractContextManager[None]:
    """Hold the writers' lock, also while a setting is wrong: how else could it be mended?"""
    try:
        timeout = workspace.settings.lock_timeout
    except PmemError:
        timeout = Settings().lock_timeout
    own = workspace.own.root
    return JsonFiles(own, lock_timeout=lambda: timeout).lock()


def write_setting(path: str, name: str, value: Any, scratch: str | None = None) -> None:
    """Write one setting into a TOML file, or take it out if None; everything else stays."""
    text = with_setting(safe_files.text(path), name, value, path)
    with refusals(path):
        write_file(path, text.encode(), scratch)


def with_setting(text: str, name: str, value: Any, path: str) -> str:
    """Return a TOML file's text with one setting changed, or without it if None."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    parse_config(text.encode(), path)
    try:
        document = tomlkit.parse(text)
    except (TOMLKitError, ValueError, RecursionError) as error:
        raise Damaged(f"{path} is not valid TOML: {error}") from None
    table: Any = document
    *parents, key = name.split(".")
    *outer, last = parents or [""]
    for parent in parents:
        table = table.setdefault(parent, tomlkit.table())
        if not isinstance(table, Mapping):
            raise Damaged(f"{path} has a {parent!r} that is no table", "take it out of the file")
    if value is not None:
        table[key] = plain(value)
    else:
        table.pop(key, None)
        rows = (row for row in settings_table() if row.type == TABLE)
        if not table and ".".join(parents) in {row.name for row in rows}:  # it may not be empty
            reduce(getitem, outer, document).pop(last)
    return tomlkit.dumps(document)


def _files(*, track_conversations: bool) -> dict[str, str]:
    ignore = IGNORE_HEAD + (SHARE_CONVERSATIONS if track_conversations else IGNORE_CONVERSATIONS)
    return {
        IGNORE_FILE: ignore,
        ".gitattributes": _ATTRIBUTES,
        _READ_ME: _README,
        CONFIG_FILE: _CONFIG,
    }


def _track_conversations(folder: str) -> None:
    """Let the ignore file hide no conversations, and say that it was decided."""
    path = os.path.join(folder, IGNORE_FILE)
    text = safe_files.text(path)
    shared = text.replace(IGNORE_CONVERSATIONS, SHARE_CONVERSATIONS)
    if SHARE_CONVERSATIONS not in shared:
        shared += SHARE_CONVERSATIONS if shared.endswith("\n") else f"\n{SHARE_CONVERSATIONS}"
    if shared != text:
        write_file(path, shared.encode(), scratch(folder))
