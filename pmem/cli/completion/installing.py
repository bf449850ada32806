"""Completion in a person's own shell: one marked block in one file, which has the script."""

import os
from collections.abc import Mapping
from typing import Literal

import msgspec

from pmem.cli.completion import shells
from pmem.core import managed_block
from pmem.errors import Refused, UsageError
from pmem.storage.files.durable import refusals, write_file


class CompletionSetup(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the file that a shell reads has pmem's script."""

    shell: str
    path: str
    state: Literal["set", "missing", "differs"]

    @property
    def ok(self) -> bool:
        """Whether it has."""
        return self.state == "set"


def shell_of(environment: Mapping[str, str]) -> str:
    """Return the shell that a person uses."""
    name = os.path.basename(environment.get("SHELL", "powershell" if os.name == "nt" else ""))
    if name not in (*shells.SHELLS, "pwsh"):
        wrong = f"there is no completion for {name}" if name else "which shell is yours is not said"
        raise UsageError(wrong, f"give one of {', '.join(shells.SHELLS)}")
    return name


def look(shell: str, environment: Mapping[str, str]) -> CompletionSetup:
    """Tell whether a shell completes pmem's commands."""
    path = file_of(shell, environment)
    _, found = _parts(path)
    is_set = found == _block(shell)
    return CompletionSetup(
        shell=shell, path=path, state="set" if is_set else "differs" if found else "missing"
    )


def change(shell: str, environment: Mapping[str, str], *, remove: bool) -> None:
    """Have a shell complete pmem's commands, or no more."""
    path = file_of(shell, environment)
    text, found = _parts(path)
    block = None if remove else _block(shell)
    if found != block:
        end = "" if not text or text.endswith("\n") else "\n"
        _write(path, text if block is None else text + end + block)


def file_of(shell: str, environment: Mapping[str, str]) -> str:
    """Return the file that a shell reads when it starts, or when it first completes pmem."""
    home = environment.get("HOME") or os.path.expanduser("~")
    config = environment.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    if shell == "bash":
        return os.path.join(home, ".bashrc")
    if shell == "zsh":
        return os.path.join(environment.get("ZDOTDIR") or home, ".zshrc")
    if shell == "fish":
        return os.path.join(config, "fish", "completions", "pmem.fish")
    if os.name == "nt":
        kind = "PowerShell" if shell == "pwsh" else "WindowsPowerShell"
        return os.path.join(home, "Documents", kind, "profile.ps1")
    return os.path.join(config, "powershell", "profile.ps1")


def _block(shell: str) -> str:
    return f"{managed_block.BEGIN}\n{shells.script(shell)}{managed_block.END}\n"


def _parts(path: str) -> tuple[str, str | None]:
    """Return what a file has beside pmem's block, every byte of it kept, and the block."""
    text = ""
    if os.path.exists(path):
        with refusals(path), open(path, "rb") as file:
            text = file.read().decode("utf-8", "surrogateescape")
    try:
        return managed_block.without(text), managed_block.found(text)
    except managed_block.Unclear:
        raise Refused(f"{path} has half a block of pmem's", "fix it by hand") from None


def _write(path: str, text: str) -> None:
    """Replace a file; a link stays one, as people keep such files elsewhere; an empty one goes."""
    with refusals(path):
        if not text and not os.path.islink(path):
            os.unlink(path)
            return
        write_file(os.path.realpath(path), text.encode("utf-8", "surrogateescape"))
