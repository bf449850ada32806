"""A command as the model: no shell, an empty folder, few variables, and no process left behind."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from threading import Thread
from typing import IO, Final

from pmem.core.secrets import unsecret
from pmem.model.models import AnswerRefused, Completion, ModelUnreachable
from pmem.model.prompts import ModelPrompt

MOST_BYTES: Final = 1 << 20
"""Of what a program writes; more is none of an answer."""
SCHEMA: Final = "{schema}"
"""In the place of this argument the program gets the path of a file with the JSON Schema."""
OUTPUT: Final = "{output}"
"""In the place of this argument the program gets the path of the file that it answers into."""
_GRACE_SECONDS: Final = 0.3
"""Between the polite end of a program that is late and the other one."""
_SAID: Final = 200
_KEPT: Final = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TZ", "TMPDIR", "TEMP", "TMP"),
    *("SYSTEMROOT", "COMSPEC", "PATHEXT", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "HOMEDRIVE"),
    *("HOMEPATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
)
_BEGINNINGS: Final = (
    *("LC_", "XDG_", "ANTHROPIC_", "CLAUDE_", "OPENAI_", "CODEX_", "OLLAMA_", "LLM_", "GEMINI_"),
    *("GOOGLE_", "AZURE_OPENAI_", "MISTRAL_", "OPENROUTER_", "GROQ_", "AWS_"),
)
"""Variables that programs which answer prompts need; they get no others."""
_PROXIES: Final = frozenset(("http_proxy", "https_proxy", "all_proxy", "no_proxy"))


class CommandModel:
    """A person's own program, started anew for each prompt.

    Args:
        name: What records say of it.
        command: The program and its arguments.
        environment: The environment's variables, of which it gets a few.
        key_variable: One more that it gets.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        key_variable: str = "",
    ) -> None:
        self.name = name
        self._command = tuple(command)
        self._environment = trimmed(environment, key_variable)

    def complete(self, prompt: ModelPrompt, seconds: float) -> Completion:
        """Return what the program writes; see `TextModel`."""
        with tempfile.TemporaryDirectory(prefix="pmem-model-", ignore_cleanup_errors=True) as top:
            paths = _make_places(top, prompt)
            arguments = [paths.get(part, part) for part in self._command]
            written = self._run(arguments, prompt.text.encode(), seconds, paths["cwd"])
            if OUTPUT in self._command:
                written = _read_file(paths[OUTPUT])
        if len(written) > MOST_BYTES:
            raise AnswerRefused(f"the answer has more than {MOST_BYTES} bytes")
        return Completion(text=written.decode(errors="replace"))

    def _run(self, arguments: Sequence[str], asked: bytes, seconds: float, folder: str) -> bytes:
        started = self._start(arguments, folder)
        outputs = (_Output(started.stdout), _Output(started.stderr))
        Thread(target=_feed, args=(started.stdin, asked), daemon=True).start()
        try:
            code = started.wait(seconds)
        except subprocess.TimeoutExpired:
            raise ModelUnreachable(f"{self.name} gave no answer within {seconds:g} s") from None
        finally:
            end_group(started)
            said, complained = (output.read() for output in outputs)
        if code:
            why = unsecret(" ".join(complained.decode(errors="replace").split())[:_SAID])
            raise ModelUnreachable(f"{self.name} ended with {code}{f': {why}' if why else ''}")
        return said

    def _start(self, arguments: Sequence[str], folder: str) -> "subprocess.Popen[bytes]":
        try:
            return subprocess.Popen(  # noqa: S603 - the person's own words, and no shell
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env=self._environment,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise ModelUnreachable(f"{self._command[0]} cannot be run: {why}") from None


def trimmed(environment: Mapping[str, str], more: str = "") -> dict[str, str]:
    """Return the variables that a program gets: those it needs, and that hooks are off.

    Args:
        environment: All of them.
        more: One more that it gets.
    """
    kept = {
        name: value
        for name, value in environment.items()
        if name.upper() in _KEPT
        or name.upper().startswith(_BEGINNINGS)
        or name.lower() in _PROXIES
        or (more and name == more)
    }
    return {**kept, "PMEM_HOOKS": "off"}


def end_group(started: "subprocess.Popen[bytes]") -> None:
    """End a program and all that it has started, if any of it still runs.

    Args:
        started: It leads a group of its own.
    """
    for way in ("SIGTERM", "SIGKILL"):
        if not _signal_group(started, way):
            break
        if started.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                started.wait(_GRACE_SECONDS)
    with suppress(subprocess.TimeoutExpired):
        started.wait(_GRACE_SECONDS)


def _signal_group(started: "subprocess.Popen[bytes]", way: str) -> bool:
    """Send a signal to a program's group; tell whether anybody may be left in it."""
    if sys.platform == "win32":
        started.kill()
        return False
    try:
        os.killpg(started.pid, getattr(signal, way))
    except (ProcessLookupError, PermissionError):
        return False
    return True


class _Output:
    """Reads a pipe to its end in a thread of its own, and keeps no more than anybody reads."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        assert pipe is not None
        self._pipe = pipe
        self._parts: list[bytes] = []
        self._thread = Thread(target=self._drain, daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        size = 0
        with suppress(OSError, ValueError), self._pipe:
            while part := self._pipe.read1(65_536):  # type: ignore[attr-defined]
                if size <= MOST_BYTES:
                    self._parts.append(part)
                size += len(part)

    def read(self) -> bytes:
        """Return what was written; what is held open by a stranger is not waited for."""
        self._thread.join(_GRACE_SECONDS)
        return b"".join(self._parts)


def _feed(pipe: IO[bytes] | None, data: bytes) -> None:
    assert pipe is not None
    with suppress(OSError, ValueError), pipe:  # it may end without reading
        pipe.write(data)


def _make_places(top: str, prompt: ModelPrompt) -> dict[str, str]:
    """Make an empty folder to work in, and beside it what arguments may name."""
    import msgspec

    paths = {"cwd": os.path.join(top, "work"), SCHEMA: os.path.join(top, "schema.json")}
    paths[OUTPUT] = os.path.join(top, "answer.txt")
    os.mkdir(paths["cwd"])
    with open(paths[SCHEMA], "wb") as file:
        file.write(msgspec.json.encode(prompt.schema))
    return paths


def _read_file(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError:
        raise ModelUnreachable("the program wrote no answer") from None
