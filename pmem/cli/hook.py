"""Answers to the hooks of coding assistants, given before anything else is loaded.

Whatever happens, a hook exits normally: an assistant takes anything else for an order to stop.
Errors go to the memory's log, and the answer is empty.
"""

import os
import sys

from pmem.assistants.events import (
    NOTED,
    OF_TOOLS,
    POST_TOOL,
    PROMPT,
    SESSION_START,
    STOP,
    HookInput,
    event_of,
    is_asked,
    may_ask,
    parse,
    stopped,
    stops,
    taken,
    written,
)

TYPE_CHECKING = False  # as checkers know it, without the time that importing typing takes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from pmem.assistants.events import Event
    from pmem.assistants.hook_answers import HookAnswer
    from pmem.assistants.tool_calls import ToolFile
    from pmem.cli.session import CommandSession
MOST_BYTES = 16_000_000  # of standard input; nobody's prompt is longer
_AT_START = 0.5  # seconds for what was said to assistants, before a session goes on
_OFF = ("off", "0", "false", "no")


def quick_answer(arguments: "Sequence[str]", environment: "Mapping[str, str]") -> str | None:
    """Answer `pmem hook EVENT [--harness NAME]`; None where the arguments say something else."""
    name, *options = arguments or [""]
    event = event_of(name)
    if event is None or (options and (len(options) != 2 or options[0] != "--harness")):
        return None
    harness = options[1] if options else ""
    return answer(event, harness, environment.get("PMEM_DIR", ""), environment)


def answer(
    event: "Event",
    harness: str,
    folder: str,
    environment: "Mapping[str, str]",
    session: "CommandSession | None" = None,
) -> str:
    """Answer a hook; it is told on standard input what happened.

    An empty harness or folder is what the hook's own words say. A `session` has the options of the
    command; without one there are none.
    """
    nothing = written(harness, event, "")
    if environment.get("PMEM_HOOKS", "").lower() in _OFF:
        return nothing
    try:
        given = parse(b"" if sys.stdin.isatty() else sys.stdin.buffer.read(MOST_BYTES))
        called, harness = harness, given.harness or harness
        nothing = written(harness, event, "")
        place = folder or _place(given, environment)
        is_elsewhere = folder and not _may_have_memory(folder, environment)
        if not place or is_elsewhere or not _is_wanted(event, harness, given):
            return nothing
        if event in OF_TOOLS:
            return _answer_tool(event, harness, given, place, environment, session) or nothing
        is_told = called == "vscode" and _is_told_by_claude(place, environment)
        if is_told or (event == PROMPT and _has_no_answer(given.prompt, place, environment)):
            return nothing
        asks = event == STOP and may_ask(harness) and not given.is_held_up
        asked = {"thread": given.session or None, "may_ask": asks}
        told = _ask_memory(event, harness, given, place, session or environment, asked)
        return written(harness, event, told.text, told.trouble)
    except Exception:  # also what comes before there is a memory to log it in
        return nothing


def _is_wanted(event: "Event", harness: str, given: HookInput) -> bool:
    if event in NOTED:
        return bool(given.transcript) and not given.subagent
    if event in OF_TOOLS:
        return True
    if taken(harness, event) is None:
        return False
    return event != PROMPT or is_asked(given)


def _answer_tool(
    event: "Event",
    harness: str,
    given: HookInput,
    place: str,
    environment: "Mapping[str, str]",
    session: "CommandSession | None",
) -> str:
    """Answer a hook around a tool's call; mostly that is nothing, and found out at once.

    Who takes no text before the call is told of a file after it.
    """
    from pmem.assistants.tool_calls import failure, touched

    is_late = event == POST_TOOL
    told_before = taken(harness, "pre-tool") is not None
    text = failure(given) if is_late else ""
    files = [] if is_late and told_before else touched(given)
    may_stop = not is_late and stops(harness) and any(each.is_edit for each in files)
    tells = taken(harness, event) is not None
    if not (text or files) or not (tells or may_stop):
        return ""
    asked = _look_first(given, text, files, place, environment, tells=tells, may_stop=may_stop)
    if asked is None:
        return ""
    told = _ask_memory(event, harness, given, place, session or environment, asked)
    return stopped(harness, told.text) if told.stops else written(harness, event, told.text)


def _has_no_answer(prompt: str, place: str, environment: "Mapping[str, str]") -> bool:
    """Tell whether surely no memory answers a prompt; mostly some could."""
    if names_database(environment):
        return False
    folder = memory_folder(place, environment)
    if not folder:
        return False
    from pmem.assistants.first_look import has_no_answer

    return has_no_answer(folder, prompt, environment)


def _look_first(
    given: HookInput,
    text: str,
    files: "Sequence[ToolFile]",
    place: str,
    environment: "Mapping[str, str]",
    *,
    tells: bool,
    may_stop: bool,
) -> "dict[str, Any] | None":
    """Return more fields of the memory's request; None where it surely has nothing to say."""
    evidence: tuple[str, ...] = ()
    if text:
        from pmem.core.error_fingerprint import evidence_of

        evidence = evidence_of(text)
        if not evidence:
            return None
    from pmem.assistants import first_look

    folder, thread = memory_folder(place, environment), given.thread
    if names_database(environment) or (folder and not first_look.is_own(folder, environment)):
        folder = ""
    if evidence:
        ids = first_look.ids_of_error(folder, evidence) if folder else None
        return None if ids == () else {"thread": thread or None, "evidence": evidence}
    here = given.folder if os.path.isdir(given.folder) else os.getcwd()
    files = first_look.named(folder or os.path.join(place, "memory"), here, files)
    if not files:
        return None
    names = [each.path for each in files]
    ids = None
    if folder:
        ids = first_look.ids_to_tell(folder, thread, names, tells=tells, may_stop=may_stop)
    if ids == ():
        return None
    return {"thread": thread or None, "files": tuple(files), "ids": ids, "may_stop": may_stop}


def _place(given: HookInput, environment: "Mapping[str, str]") -> str:
    """Return the first place with a memory: where a session is, then where it began."""
    here = given.folder if os.path.isdir(given.folder) else os.getcwd()
    began = environment.get("CLAUDE_PROJECT_DIR", "")
    places = (here, began) if os.path.isdir(began) else (here,)
    return next((place for place in places if _may_have_memory(place, environment)), "")


def _may_have_memory(place: str, environment: "Mapping[str, str]") -> bool:
    """Tell whether a place or a parent may have a memory folder; surely not where this says so."""
    name = environment.get("PMEM_MEMORY_DIR") or ".project-memory"
    if "PMEM_MEMORY_DIR" not in environment and names_folder(environment):
        return True
    return bool(folder_near(place, name))


def _is_told_by_claude(place: str, environment: "Mapping[str, str]") -> bool:
    """Tell whether VS Code runs the hooks of Claude Code's files too, which answer then."""
    home = environment.get("HOME") or os.path.expanduser("~")
    for top in (place, home):
        for name in ("settings.json", "settings.local.json"):
            try:
                with open(os.path.join(top, ".claude", name), "rb") as file:
                    if b"pmem hook " in file.read(MOST_BYTES):
                        return True
            except OSError:
                continue
    return False


def _ask_memory(
    event: "Event",
    harness: str,
    given: HookInput,
    place: str,
    options: "CommandSession | Mapping[str, str]",
    asked: "Mapping[str, Any]",
) -> "HookAnswer":
    """Return what the memory says; nothing, and a line in its log, where something goes wrong."""
    from pmem.assistants.hook_answers import HookAnswer, HookRequest
    from pmem.cli.session import CommandSession
    from pmem.errors import PmemError
    from pmem.operations import table

    form = taken(harness, event)
    session = options if isinstance(options, CommandSession) else CommandSession(options)
    session.directory = place
    request = HookRequest(
        event=event,
        harness=harness,
        source=given.source,
        prompt=given.prompt,
        transcript=given.transcript,
        folder=given.folder,
        longest=0 if form is None else form.most,
        in_bytes=form is not None and form.unit == "bytes",
        **asked,
    )
    try:
        told = session.run(table.HOOK, request)
        if event == SESSION_START:
            session.take_in(_AT_START, given.session)
        return told
    except Exception as error:
        if session.opened is not None:
            import traceback

            from pmem.project.failures import note_failure

            trace = "".join(traceback.format_exception(error))
            said = error.message if isinstance(error, PmemError) else trace
            note_failure(session.opened, f"hook {event}: {said}")
        from pmem.project.failures import of_error

        return HookAnswer(trouble=of_error(error) if event == SESSION_START else "")
    finally:
        session.close()


def memory_folder(place: str, environment: "Mapping[str, str]") -> str:
    """Return the memory folder of a place; empty where only the long way can tell."""
    if "PMEM_MEMORY_DIR" in environment or names_folder(environment):
        return ""
    return folder_near(place, ".project-memory")


def folder_near(place: str, name: str) -> str:
    """Return the folder of a name at a place or in a parent; empty where there is none."""
    here = os.path.abspath(place)
    if os.path.basename(here) == os.path.basename(name):
        return here
    while not os.path.isdir(os.path.join(here, name)):
        above = os.path.dirname(here)
        if above == here:
            return ""
        here = above
    return os.path.join(here, name)


def names_folder(environment: "Mapping[str, str]") -> bool:
    """Tell whether the user's own settings may call memory folders something else."""
    return _may_set(b"memory_dir", environment)


def names_database(environment: "Mapping[str, str]") -> bool:
    """Tell whether records may live on a server, so that no file here tells what they say."""
    return "PMEM_DATABASE" in environment or _may_set(b"database", environment)


def _may_set(name: bytes, environment: "Mapping[str, str]") -> bool:
    home = environment.get("XDG_CONFIG_HOME") or os.path.join(
        environment.get("HOME") or os.path.expanduser("~"), ".config"
    )
    try:
        with open(os.path.join(home, "pmem", "config.toml"), "rb") as file:
            data = file.read()
    except OSError:
        return False
    return name in data or b"\\" in data
