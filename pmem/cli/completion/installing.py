"""Putting completion into a person's own shell, looking whether it is there, taking it away."""

import os
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

import msgspec

from pmem.cli.completion import shells
from pmem.core import managed_block
from pmem.errors import InvalidValue, Refused, UsageError
from pmem.storage.files.durable import refusals, write_file

State = Literal["set", "missing", "differs"]
_OURS: Final = ("completion of pmem", "#compdef pmem")
"""What the first line of a script of pmem's has, of any version."""
_BY_HAND: Final = "use `pmem setup completion --print`"
_SOURCING: Final = {
    "bash": '[ -r "{path}" ] && . "{path}"',
    "zsh": '[ -r "{path}" ] && . "{path}"',
    "powershell": 'if (Test-Path "{path}") {{ . "{path}" }}',
}
"""The line of a shell's own start-up file that loads the script."""


class CompletionPart(msgspec.Struct, frozen=True, kw_only=True):
    """A file that completion needs, and whether it has what it needs."""

    path: str
    state: State


class CompletionSetup(msgspec.Struct, frozen=True, kw_only=True):
    """What a shell knows of completing pmem; `ok` is whether that is all."""

    shell: str
    ok: bool
    parts: tuple[CompletionPart, ...]


class _ShellFiles(NamedTuple):
    """The script's file, and the start-up file that loads it where the shell does not by itself."""

    script: str
    start: str | None


def shell_of(environment: Mapping[str, str]) -> str:
    """Return the shell that a person uses."""
    name = os.path.basename(environment.get("SHELL", "powershell" if os.name == "nt" else ""))
    if name not in (*shells.SHELLS, "pwsh"):
        wrong = f"there is no completion for {name}" if name else "which shell is yours is not said"
        raise UsageError(wrong, f"give one of {', '.join(shells.SHELLS)}")
    return name


def look(shell: str, environment: Mapping[str, str]) -> CompletionSetup:
    """Tell whether a shell completes pmem's commands."""
    files = _files(shell, environment)
    text = _text(files.script)
    wanted = shells.script(shell)
    parts = [_part(files.script, None if text == "" else text, wanted)]
    if files.start is not None:
        block = _block_in(files.start)
        parts.append(_part(files.start, block, _block(shell, files.script)))
    ok = all(part.state == "set" for part in parts)
    return CompletionSetup(shell=shell, ok=ok, parts=tuple(parts))


def install(shell: str, environment: Mapping[str, str]) -> CompletionSetup:
    """Have a shell complete pmem's commands; only what is missing is written."""
    found = look(shell, environment)
    files = _files(shell, environment)
    states = [part.state for part in found.parts]
    if states[0] != "set":
        _check_ours(files.script)
        _write(files.script, shells.script(shell))
    if files.start is not None and states[1] != "set":
        text = managed_block.without(_text(files.start))
        end = "" if not text or text.endswith("\n") else "\n"
        _write(files.start, text + end + _block(shell, files.script))
    return look(shell, environment)


def uninstall(shell: str, environment: Mapping[str, str]) -> CompletionSetup:
    """Take completion out of a shell again."""
    files = _files(shell, environment)
    if files.start is not None and _block_in(files.start) is not None:
        _write(files.start, managed_block.without(_text(files.start)))
    if os.path.lexists(files.script):
        _check_ours(files.script)
        with refusals(files.script):
            os.unlink(files.script)
    return look(shell, environment)


def _files(shell: str, environment: Mapping[str, str]) -> _ShellFiles:
    home = environment.get("HOME") or os.path.expanduser("~")
    data = environment.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    config = environment.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    if shell == "bash":
        path = os.path.join(data, "bash-completion", "completions", "pmem")
        return _ShellFiles(path, os.path.join(home, ".bashrc"))
    if shell == "zsh":
        start = os.path.join(environment.get("ZDOTDIR") or home, ".zshrc")
        return _ShellFiles(os.path.join(data, "pmem", "completion.zsh"), start)
    if shell == "fish":
        return _ShellFiles(os.path.join(config, "fish", "completions", "pmem.fish"), None)
    folder = os.path.join(config, "powershell")
    if os.name == "nt":
        kind = "PowerShell" if shell == "pwsh" else "WindowsPowerShell"
        folder = os.path.join(home, "Documents", kind)
    return _ShellFiles(
        os.path.join(folder, "pmem-completion.ps1"), os.path.join(folder, "profile.ps1")
    )


def _block(shell: str, path: str) -> str:
    if any(sign in path for sign in '"$`\\\n') and os.name != "nt":
        raise InvalidValue(f"{path} has signs that shells read", _BY_HAND)
    line = _SOURCING["powershell" if shell == "pwsh" else shell].format(path=path)
    return f"{managed_block.BEGIN}\n{line}\n{managed_block.END}\n"


def _part(path: str, found: str | None, wanted: str) -> CompletionPart:
    state: State = "missing" if found is None else "set" if found == wanted else "differs"
    return CompletionPart(path=path, state=state)


def _block_in(path: str) -> str | None:
    try:
        return managed_block.found(_text(path))
    except managed_block.Unclear as error:
        raise Refused(f"{path} has half a block of pmem's: {error}", "fix it by hand") from None


def _check_ours(path: str) -> None:
    text = _text(path)
    if text and not any(word in text.partition("\n")[0] for word in _OURS):
        raise Refused(f"{path} is not pmem's", f"move it away, or {_BY_HAND}")


def _text(path: str) -> str:
    """Return what a file holds, every byte of it kept; nothing where there is none."""
    try:
        with refusals(path), open(path, "rb") as file:
            return file.read().decode("utf-8", "surrogateescape")
    except Exception as error:
        if isinstance(error.__cause__, FileNotFoundError | NotADirectoryError):
            return ""
        raise


def _write(path: str, text: str) -> None:
    """Replace a file; a link stays one, as people keep such files elsewhere; an empty one goes."""
    with refusals(path):
        if not text and not os.path.islink(path):
            os.unlink(path)
            return
        write_file(os.path.realpath(path), text.encode("utf-8", "surrogateescape"))
