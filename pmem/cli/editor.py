"""A text that somebody at a terminal writes in an editor."""

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final

import msgspec

from pmem.cli.session import CommandSession
from pmem.errors import InvalidValue, PmemError, StorageRefused, UsageError
from pmem.values.bounds import TEXT_BYTES

_EDITORS: Final = ("editor", "nano", "vim", "vi", "notepad")
"""Tried in this order where neither VISUAL nor EDITOR names one."""
_CUT: Final = "# ------------------------ >8 ------------------------"
_BELOW: Final = f"""
{_CUT}
# Write the memory above: one statement, in one or two sentences. What stands below is left out.
# An empty text changes nothing.
"""


class WrittenText(msgspec.Struct, frozen=True):
    """A text, and the file that it was written in, if that was done in an editor."""

    text: str
    path: str | None = None

    @property
    def place(self) -> str:
        """Where it is kept, as a sentence; nothing where no editor wrote it."""
        return "" if self.path is None else f"your text is in {self.path}"

    def drop(self) -> None:
        """Remove its file."""
        if self.path is not None:
            with suppress(OSError):
                os.unlink(self.path)


def write_draft(session: CommandSession, known: str) -> WrittenText:
    """Return what somebody at a terminal writes in an editor."""
    path = _ask_editor(known, session.environment)
    with open(path, "rb") as file:
        data = file.read(TEXT_BYTES + 1)
    if len(data) > TEXT_BYTES:
        raise InvalidValue(f"the text has more than {TEXT_BYTES} bytes", f"it is in {path}")
    try:
        text = data.decode().partition(_CUT)[0].strip()
    except UnicodeDecodeError as error:
        raise InvalidValue(f"{path} is not UTF-8 at byte {error.start}", "convert it") from None
    draft = WrittenText(text, path)
    if not text:
        draft.drop()
        raise InvalidValue("the text is empty, so nothing was changed")
    return draft


@contextmanager
def kept_draft(draft: WrittenText) -> Iterator[None]:
    """Say where a text stands that could not be used; it is dropped only once it is kept."""
    try:
        yield
    except PmemError as error:
        error.hint = "; ".join(filter(None, (error.hint, draft.place)))
        raise


def _ask_editor(known: str, environment: Mapping[str, str]) -> str:
    """Let a person write in an editor; return the file, which only they can read."""
    import subprocess
    from tempfile import mkstemp

    handle, path = mkstemp(prefix="pmem-", suffix=".md")
    with open(handle, "w", encoding="utf-8") as file:
        file.write(f"{known}\n{_BELOW}")
    command = [*_editor(environment), path]
    try:
        done = subprocess.run(command, check=False)  # noqa: S603 - the person's own editor
    except OSError as error:
        raise StorageRefused(f"the editor {command[0]} cannot be run: {error.strerror}") from None
    if done.returncode:
        raise StorageRefused(f"the editor {command[0]} failed", f"your text is in {path}")
    return path


def _editor(environment: Mapping[str, str]) -> list[str]:
    for name in ("VISUAL", "EDITOR"):
        with suppress(ValueError):
            if words := shlex.split(environment.get(name, "")):
                return words
    if found := next(filter(shutil.which, _EDITORS), None):
        return [found]
    raise UsageError("there is no editor", "set EDITOR, or give the text as an argument")
