"""Asking git, without letting the project around us run anything."""

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pmem.errors import NotFound, StorageRefused
from pmem.storage.files.worktree import top_of

if TYPE_CHECKING:
    import subprocess

_SAFE: Final = ("-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=false")
_NO_HOOKS: Final = ("-c", "core.hooksPath=/dev/null")
_KEPT: Final = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
_SET: Final = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # older versions of git fetch what a partial clone lacks
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}
_INDEX: Final = "GIT_INDEX_FILE"
SECONDS: Final = 10


DISTRUSTS: Final = "safe.directory"
"""What git names when a repository belongs to another user than who runs it."""


class Distrusted(NotFound):
    """Git does nothing in a repository that belongs to another user."""

    def __init__(self, folder: str) -> None:
        place = top_of(os.path.abspath(folder)) or folder
        super().__init__(
            f"git does not trust the repository {place}, since it belongs to another user",
            f"if you trust it: git config --global --add {DISTRUSTS} {shlex.quote(place)}",
        )


class NoGit(NotFound):
    """Git cannot be run."""

    def __init__(self, error: OSError) -> None:
        super().__init__(
            f"git cannot be run ({error.strerror})", "install git to look at revisions"
        )


class TookTooLong(StorageRefused):
    """A git command was ended before it was done."""

    def __init__(self, folder: str) -> None:
        super().__init__(f"git took longer than {SECONDS} seconds in {folder}")


UNAVAILABLE: Final = (NoGit, TookTooLong)
"""What `run` raises where git does not answer at all."""


class GitResult(NamedTuple):
    """What a git command did."""

    code: int
    out: bytes
    err: str


def command(arguments: Sequence[str]) -> list[str]:
    """Return the command line of a git command that only reads."""
    return ["git", *_SAFE, *_NO_HOOKS, *arguments]


def surroundings(environment: Mapping[str, str], index: str = "") -> dict[str, str]:
    """Return the environment that git runs in: without its own variables, and without a network.

    `index` is the file of the index that git looks at; the repository's own when empty.
    """
    clean = {
        name: value
        for name, value in environment.items()
        if name in _KEPT or not name.startswith("GIT_")
    }
    return {**clean, **_SET, **({_INDEX: index} if index else {})}


def run(
    folder: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    *,
    stdin: bytes = b"",
    index: str = "",
    settings: Mapping[str, str] | None = None,
) -> GitResult:
    """Run a git command that only reads, or changes what is git's own.

    Args:
        folder: Where to run it.
        arguments: The command, without `git`.
        environment: The environment's variables; git's own are left out.
        stdin: What it reads.
        index: See `surroundings`.
        settings: Further variables of git, such as those of `without_filters`.

    Raises:
        Distrusted: The repository belongs to another user.
        NoGit, TookTooLong: Git does not answer.
    """
    done = _run(folder, command(arguments), environment, stdin, index, settings)
    if done.code and DISTRUSTS in done.err:
        raise Distrusted(folder)
    return done


def run_apart(folder: str, arguments: Sequence[str], environment: Mapping[str, str]) -> GitResult:
    """Run a git command outside of any repository, with nobody's configuration or attributes.

    The folder is one of our own.

    Raises:
        NoGit, TookTooLong: Git does not answer.
    """
    alone = {
        **dict.fromkeys(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"), os.devnull),
        **dict.fromkeys(("GIT_CONFIG_NOSYSTEM", "GIT_ATTR_NOSYSTEM"), "1"),
        **dict.fromkeys(("HOME", "XDG_CONFIG_HOME"), folder),
        "GIT_CEILING_DIRECTORIES": os.path.dirname(os.path.realpath(folder)),
    }
    return _run(folder, command(arguments), environment, more=alone)


def hook_path(folder: str, name: str, environment: Mapping[str, str]) -> str | None:
    """Return where git looks for a hook, as this clone and its user have set that; run nothing.

    It is None where there is no git, or no repository.
    """
    asked = ["git", *_SAFE, "rev-parse", "--git-path", f"hooks/{name}"]
    try:
        done = _run(folder, asked, environment)
    except UNAVAILABLE:
        return None
    return None if done.code else os.path.join(folder, os.fsdecode(done.out.removesuffix(b"\n")))


def popen(
    folder: str, arguments: Sequence[str], environment: Mapping[str, str], **pipes: int
) -> "subprocess.Popen[bytes]":
    """Start a git command that only reads, and whose answer is read bit by bit."""
    import subprocess

    how: dict[str, Any] = {"cwd": folder, "env": surroundings(environment), **pipes}
    try:
        return subprocess.Popen(command(arguments), stdout=subprocess.PIPE, **how)  # noqa: S603
    except OSError as error:
        raise NoGit(error) from None


def _run(
    folder: str,
    words: Sequence[str],
    environment: Mapping[str, str],
    stdin: bytes = b"",
    index: str = "",
    more: Mapping[str, str] | None = None,
) -> GitResult:
    import subprocess  # most commands need no git

    try:
        done = subprocess.run(  # noqa: S603 - no shell, and every argument is ours
            words,
            cwd=folder,
            env={**surroundings(environment, index), **(more or {})},
            input=stdin,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except OSError as error:
        raise NoGit(error) from None
    except subprocess.TimeoutExpired:
        raise TookTooLong(folder) from None
    return GitResult(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))


def ask(folder: str, arguments: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """Run a git command that only reads, or changes this clone's configuration.

    What it printed is returned; None where there is no git, or git says no.
    """
    try:
        done = run(folder, arguments, environment)
    except (*UNAVAILABLE, Distrusted):
        return None
    return None if done.code else done.out.decode("utf-8", "replace")


def without_filters(folder: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return variables by which git runs no filter where it reads the work tree.

    Where the times of a file leave git in doubt, git compares its content, through the filters
    that are configured.
    """
    named = ask(folder, ["config", "-z", "--name-only", "--get-regexp", r"^filter\."], environment)
    drivers = {name.rpartition(".")[0] for name in (named or "").split("\0") if name}
    settings = [
        (f"{driver}.{name}", value)
        for driver in sorted(drivers)
        for name, value in (("clean", ""), ("process", ""), ("required", "false"))
    ]
    pairs = {
        f"GIT_CONFIG_{part}_{number}": text
        for number, setting in enumerate(settings)
        for part, text in zip(("KEY", "VALUE"), setting, strict=True)
    }
    return {"GIT_CONFIG_COUNT": str(len(settings)), **pairs}


def user_name(folder: str, environment: Mapping[str, str]) -> str:
    """Return who works here: git's user.name, else the login, else nothing."""
    name = ask(folder, ["config", "--get", "user.name"], environment)
    if name and name.strip():
        return name.strip()
    return environment.get("LOGNAME") or environment.get("USER") or _login()


def _login() -> str:
    """Return the login of the process's user, where containers and cron set no variable."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return ""
