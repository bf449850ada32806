"""The hooks of coding assistants, answered before anything else is loaded.

Whatever happens, a hook ends well: an assistant takes anything else for an order to stop. What
goes wrong stands in the memory's log, and the answer is the empty one.
"""

import os
import sys

from pmem.assistants.events import (
    NOTED,
    PROMPT,
    HookInput,
    event_of,
    is_asked,
    parse,
    taken,
    written,
)

TYPE_CHECKING = False  # as checkers know it, without the time that importing typing takes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pmem.assistants.events import Event
    from pmem.cli.session import CommandSession

MOST_BYTES = 16_000_000
"""Of standard input; nobody's prompt is longer."""
_OFF = ("off", "0", "false", "no")
_HARNESS = "--harness"
_FOLDER = "-C"


def quick_answer(arguments: "Sequence[str]", environment: "Mapping[str, str]") -> str | None:
    """Answer `pmem hook`.

    Args:
        arguments: What follows its name.
        environment: The environment's variables.

    Returns:
        What goes to standard output; None where the arguments say something else than an event,
        a harness and a folder.
    """
    words, options = [], {_HARNESS: "", _FOLDER: environment.get("PMEM_DIR", "")}
    left = list(arguments)
    while left:
        word = left.pop(0)
        name, sign, value = word.partition("=")
        if word in options and left:
            options[word] = left.pop(0)
        elif name == _HARNESS and sign:
            options[name] = value
        else:
            words.append(word)
    event = event_of(words[0]) if len(words) == 1 else None
    if event is None:
        return None
    return answer(event, options[_HARNESS], options[_FOLDER], environment)


def answer(event: "Event", harness: str, folder: str, environment: "Mapping[str, str]") -> str:
    """Answer a hook; it is told on standard input what happened.

    Args:
        event: Which one.
        harness: Which assistant calls; empty where it has to be told from what it says.
        folder: Where the memory is; empty where the hook says.
        environment: The environment's variables.
    """
    nothing = written(harness, event, "")
    if environment.get("PMEM_HOOKS", "").lower() in _OFF:
        return nothing
    try:
        given = parse(_read())
        called, harness = harness, given.harness or harness
        nothing = written(harness, event, "")
        place = folder or _place(given, environment)
        if not place or not _is_wanted(event, harness, given):
            return nothing
        if folder and not _may_have_memory(folder, environment):
            return nothing
        if called == "vscode" and _is_told_by_claude(place, environment):
            return nothing
        return written(harness, event, _ask_memory(event, harness, given, place, environment))
    except Exception:  # also what comes before there is a memory to log it in
        return nothing


def _read() -> bytes:
    """Return what a harness wrote; nothing where there is a terminal, or far too much."""
    if sys.stdin.isatty():
        return b""
    data = sys.stdin.buffer.read(MOST_BYTES + 1)
    return data if len(data) <= MOST_BYTES else b""


def _is_wanted(event: "Event", harness: str, given: HookInput) -> bool:
    """Tell whether there can be anything to say or to note."""
    if event in NOTED:
        return bool(given.transcript) and not given.is_of_subagent
    if taken(harness, event) is None:
        return False
    return event != PROMPT or is_asked(given)


def _place(given: HookInput, environment: "Mapping[str, str]") -> str:
    """Return the first place with a memory: where a session is, then where it began."""
    here = given.folder if os.path.isdir(given.folder) else os.getcwd()
    began = environment.get("CLAUDE_PROJECT_DIR", "")
    places = (here, began) if os.path.isdir(began) else (here,)
    return next((place for place in places if _may_have_memory(place, environment)), "")


def _may_have_memory(place: str, environment: "Mapping[str, str]") -> bool:
    """Tell whether a place or a parent may have a memory folder; surely not where this says so."""
    name = environment.get("PMEM_MEMORY_DIR") or ".project-memory"
    if "PMEM_MEMORY_DIR" not in environment and _names_folder(environment):
        return True
    here = os.path.abspath(place)
    if os.path.basename(here) == os.path.basename(name):
        return True
    while not os.path.isdir(os.path.join(here, name)):
        above = os.path.dirname(here)
        if above == here:
            return False
        here = above
    return True


def _is_told_by_claude(place: str, environment: "Mapping[str, str]") -> bool:
    """Tell whether VS Code runs the hooks of Claude Code's files too, which answer then."""
    home = environment.get("HOME") or os.path.expanduser("~")
    for top in (place, home):
        for name in ("settings.json", "settings.local.json"):
            path = os.path.join(top, ".claude", name)
            if os.path.isfile(path) and _holds(path, b"pmem hook "):
                return True
    return False


def _holds(path: str, what: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return what in file.read(MOST_BYTES)
    except OSError:
        return False


def _names_folder(environment: "Mapping[str, str]") -> bool:
    """Tell whether the user's own settings may call memory folders something else."""
    home = environment.get("XDG_CONFIG_HOME") or os.path.join(
        environment.get("HOME") or os.path.expanduser("~"), ".config"
    )
    try:
        with open(os.path.join(home, "pmem", "config.toml"), "rb") as file:
            data = file.read()
    except OSError:
        return False
    return b"memory_dir" in data or b"\\" in data


def _ask_memory(
    event: "Event", harness: str, given: HookInput, place: str, environment: "Mapping[str, str]"
) -> str:
    """Return what the memory says; nothing, and a line in its log, where something goes wrong."""
    from pmem.assistants.hook_answers import HookRequest
    from pmem.cli.session import CommandSession
    from pmem.errors import PmemError
    from pmem.operations import table

    form = taken(harness, event)
    session = CommandSession(environment)
    session.directory = place
    request = HookRequest(
        event=event,
        harness=harness,
        thread=given.session or None,
        source=given.source,
        prompt=given.prompt,
        transcript=given.transcript,
        longest=0 if form is None else form.most,
        in_bytes=form is not None and form.unit == "bytes",
    )
    try:
        return session.run(table.HOOK, request).text
    except PmemError as error:
        _log(session, f"hook {event}: {error.message}")
    except Exception as error:
        import traceback

        _log(session, f"hook {event}: {''.join(traceback.format_exception(error))}")
    finally:
        session.close()
    return ""


def _log(session: "CommandSession", text: str) -> None:
    if session.opened is not None:
        from pmem.project.failures import note_failure

        note_failure(session.opened, text)
