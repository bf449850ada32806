"""The model that a person has chosen in their own settings."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from shutil import which
from threading import Thread
from typing import IO, Final

from pmem.core.secrets import unsecret
from pmem.errors import InvalidValue
from pmem.model.models import AnswerRefused, Completion, Models, ModelUnreachable, TextModel
from pmem.model.tasks import ModelPrompt
from pmem.values.rules import ModelRules


def chosen_models(rules: ModelRules, environment: Mapping[str, str]) -> Models | None:
    """Return what the settings choose; None where that is nothing."""
    if not rules.is_chosen:
        return None
    model = _text_model(rules, environment)
    return Models(model.name, model)


def _text_model(rules: ModelRules, environment: Mapping[str, str]) -> TextModel:
    if rules.command:
        name = rules.name or os.path.basename(rules.command[0])
        return _program(name, rules.command, rules, environment)
    if rules.url:
        return _server(rules, environment)
    if rules.use == "ollama" and not rules.name:
        raise InvalidValue("model.use is ollama, and model.name says no model", _NAME_IT)
    command = preset_command(rules.use, rules.name)
    if rules.use == "llm" and find_spec("llm") is not None:  # the package that came with pmem
        command = (sys.executable, "-m", *command)
    elif rules.use == "llm" and not which("llm", path=environment.get("PATH")):
        raise InvalidValue("model.use is llm, which is not installed", f"run `{INSTALL}`")
    return _program(rules.name or rules.use, command, rules, environment)


def _program(
    name: str, command: Sequence[str], rules: ModelRules, environment: Mapping[str, str]
) -> TextModel:
    program = command[0]
    if os.path.dirname(program) and not os.path.isabs(program):  # it runs in an empty folder
        raise InvalidValue(
            f"model.command begins with {program!r}", "give the program's whole path"
        )
    if not which(program, path=environment.get("PATH")):
        setting = "model.command" if rules.command else "model.use"
        hint = f"install it, or change {setting} in your own config.toml"
        raise InvalidValue(f"there is no program {program!r}", hint)
    return CommandModel(name, command, environment, rules.key_variable)


INSTALL: Final = "pip install 'pmem-cli[llm]'"
_NAME_IT: Final = "name it as its program or server does, such as llama3.2"


def _server(rules: ModelRules, environment: Mapping[str, str]) -> TextModel:
    from pmem.model.url import UrlModel

    if not rules.name:
        raise InvalidValue("model.url is set, and model.name says no model", _NAME_IT)
    key = environment.get(rules.key_variable, "") if rules.key_variable else ""
    if rules.key_variable and not key:
        raise InvalidValue(
            f"model.key_variable names {rules.key_variable}, which is not set",
            "export it, or unset model.key_variable where the server wants no key",
        )
    try:
        return UrlModel(rules.name, rules.url, key)
    except ModelUnreachable as error:
        raise InvalidValue(str(error), "`pmem config list` says where it was set") from None


MOST_BYTES: Final = 1 << 20  # of what a program writes; more is none of an answer
SCHEMA: Final = "{schema}"
"""In the place of this argument the program gets the path of a file with the JSON Schema."""
OUTPUT: Final = "{output}"
"""In the place of this argument the program gets the path of the file that it answers into."""
_GRACE_SECONDS: Final = 0.3  # between the polite end of a program that is late and the other one
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
    """A person's own program, started anew for each prompt."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        key_variable: str = "",
    ) -> None:
        self.name = name
        self.command = tuple(command)
        self._environment = trimmed(environment, key_variable)

    def complete(self, prompt: ModelPrompt, seconds: float) -> Completion:
        """Return what the program writes; see `TextModel`."""
        with tempfile.TemporaryDirectory(prefix="pmem-model-", ignore_cleanup_errors=True) as top:
            paths = _make_places(top, prompt)
            arguments = [paths.get(part, part) for part in self.command]
            with open(paths["prompt"], "rb") as prompt_file:
                written = self._run(arguments, prompt_file, seconds, paths["cwd"])
            if OUTPUT in self.command:
                try:
                    with open(paths[OUTPUT], "rb") as file:
                        written = file.read(MOST_BYTES + 1)
                except OSError:
                    raise ModelUnreachable("the program wrote no answer") from None
        if len(written) > MOST_BYTES:
            raise AnswerRefused(f"the answer has more than {MOST_BYTES} bytes")
        return Completion(text=written.decode(errors="replace"))

    def _run(
        self, arguments: Sequence[str], asked: IO[bytes], seconds: float, folder: str
    ) -> bytes:
        try:
            started = subprocess.Popen(  # noqa: S603 - the person's own words, and no shell
                arguments,
                stdin=asked,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env=self._environment,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise ModelUnreachable(f"{self.command[0]} cannot be run: {why}") from None
        outputs = (_Output(started.stdout), _Output(started.stderr))
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


def trimmed(environment: Mapping[str, str], more: str = "") -> dict[str, str]:
    """Return the variables that a program gets: those it needs, and that hooks are off."""
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
    """End a program and all that it has started, if any of it still runs."""
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


def _make_places(top: str, prompt: ModelPrompt) -> dict[str, str]:
    import msgspec

    paths = {"cwd": os.path.join(top, "work"), SCHEMA: os.path.join(top, "schema.json")}
    paths |= {OUTPUT: os.path.join(top, "answer.txt"), "prompt": os.path.join(top, "prompt.txt")}
    os.mkdir(paths["cwd"])
    contents = {SCHEMA: msgspec.json.encode(prompt.schema), "prompt": prompt.text.encode()}
    for name, data in contents.items():
        with open(paths[name], "wb") as file:
            file.write(data)
    return paths


_PRESETS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]]] = {
    "claude": (
        ("claude", "-p"),
        ("--model",),
        ("--safe-mode", "--strict-mcp-config", "--tools", "", "--no-session-persistence",
         "--settings", '{"disableAllHooks":true}'),
    ),
    "codex": (
        ("codex", "exec"),
        ("--model",),
        ("--ephemeral", "--ignore-user-config", "--skip-git-repo-check", "-s", "read-only",
         "--output-schema", SCHEMA, "-o", OUTPUT, "-"),
    ),
    "ollama": (("ollama", "run"), (), ("--format", "json")),
    "llm": (("llm",), ("-m",), ("--no-log", "--no-stream")),
}  # fmt: skip
"""How each preset is called: what stands before the flag of the model's name, it, and the rest."""


def preset_command(preset: str, name: str) -> tuple[str, ...]:
    """Return the command of a preset."""
    before, flag, behind = _PRESETS[preset]
    return (*before, *flag, name, *behind) if name else (*before, *behind)
