"""What a hook is answered: a session's context, what answers a prompt or is about a file.

A session is a thread, so it is told what is new once; a prompt is given what answers it best, and
more only if the session has not been shown it.
"""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec

from pmem.assistants.events import NOTED, OF_TOOLS, SESSION_START, TOOL_CHARACTERS
from pmem.assistants.tool_calls import ToolFile
from pmem.core.lines import shortened
from pmem.errors import Locked, PmemError, StorageRefused
from pmem.project.own_memory import own_beside
from pmem.project.workspace import Workspace
from pmem.storage.local.shown_keys import AGAIN, STARTED, key_of, stop_key_of
from pmem.values.records import Memory

PATIENCE: Final = 0.5
"""Seconds that a hook waits for others who hold this clone's state: somebody waits for it."""
_APART: Final = "\n\n"
_LONGEST_NAME: Final = 100
_AFRESH: Final = ("startup", "new", "clear", "compact")
"""Sources of a session that has nothing before its eyes of what it was shown earlier."""


class HookRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a hook is called with.

    The answer may have `longest` characters, or bytes if `in_bytes`; 0 for none. `files` are what a
    tool's call touches, by names in the project; `evidence` is the error of a command that failed,
    as `error_fingerprint.evidence_of` has it; `ids` are the memories that the index has found to
    apply already, None where nobody asked it. An assistant lets a hook stop a call (`may_stop`), or
    ask something before its turn ends (`may_ask`).
    """

    event: str
    harness: str = ""
    thread: str | None = None
    source: str = ""
    prompt: str = ""
    transcript: str = ""
    folder: str = ""
    longest: int = 0
    in_bytes: bool = False
    files: tuple[ToolFile, ...] = ()
    evidence: tuple[str, ...] = ()
    ids: tuple[str, ...] | None = None
    may_stop: bool = False
    may_ask: bool = False


class HookAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What the model is to read, which ids it recalls, and for which thread.

    One that `stops` a tool's call says why; `trouble` is what a person is to know of the memory.
    At a session's start it also shows what is no recall:
    then `shown` has all ids.
    """

    text: str = ""
    trouble: str = ""
    stops: bool = False
    recalled: tuple[str, ...] = ()
    kept_in_use: tuple[str, ...] = ()
    thread: str | None = None
    shown: tuple[str, ...] = ()

    @property
    def noted(self) -> dict[str, Any] | None:
        """What the log of operations says of it; silence is not logged."""
        return {"thread": self.thread, "shown": self.shown or self.recalled} if self.text else None


def answer_hook(workspace: Workspace, request: HookRequest) -> HookAnswer:
    """Answer a hook."""
    workspace.own.patience = PATIENCE
    if not workspace.settings.hooks.enabled:
        return HookAnswer()
    if request.event in NOTED:
        note_transcript(workspace, request)
        if not request.may_ask:
            return HookAnswer(thread=request.thread)
        from pmem.assistants.capture import ask_at_stop

        asked = ask_at_stop(workspace, request.transcript)
        return HookAnswer(text=asked, thread=request.thread)
    if request.event in OF_TOOLS:
        return answer_tool(workspace, request)
    answer = start_session if request.event == SESSION_START else _answer_prompt
    return answer(workspace, request) if request.longest else HookAnswer()


def _answer_prompt(workspace: Workspace, request: HookRequest) -> HookAnswer:
    from pmem.assistants.prompt_answers import answer_prompt

    told = answer_prompt(
        workspace,
        request.prompt,
        request.thread,
        request.longest,
        in_bytes=request.in_bytes,
        already_read=_files_read(workspace, request),
    )
    if not told.text or _is_told_already(workspace, request, key_of("prompt", request.prompt)):
        return HookAnswer(thread=request.thread)
    if told.shown or told.again:
        pointed = (f"{AGAIN}{told.again}",) * bool(told.again)
        _note_shown(workspace, request, told.shown, keys=pointed)
    if told.own is not None:
        _note_shown_of_own(told.own, request, told.yours)
    ids = (told.again, *(identifier for identifier, _ in told.shown))
    recalled = tuple(filter(None, ids))
    return HookAnswer(text=told.text, recalled=recalled, thread=request.thread)


def note_transcript(workspace: Workspace, request: HookRequest) -> None:
    """Note where a session's transcript is and how long, for whatever imports it.

    What of the memory was of use to the session is counted; it need not be over.
    """
    path = request.transcript
    if not os.path.isabs(path) or not os.path.isfile(path) or workspace.read_only:
        return
    from pmem.storage.local.sessions import NotedTranscript

    entry = NotedTranscript(
        harness=request.harness,
        path=path,
        offset=os.path.getsize(path),
        session=request.thread or "",
        noted_at=workspace.now(),
    )
    workspace.own.noted_transcripts.note(entry)
    if workspace.settings.capture == "off":  # nobody is asked about it later, either
        workspace.own.noted_transcripts.note_asked(path, entry.offset, entry.noted_at)
    if request.thread is not None:
        from pmem.assistants.session_work import count_session

        count_session(workspace, request.thread, path, request.folder)


def start_session(workspace: Workspace, request: HookRequest) -> HookAnswer:
    """Write the context that a session starts or goes on with, with what is new to it.

    Where hooks stand in the project's files and in the user's, one of them tells it.
    """
    from pmem.assistants.capture import ask_at_start
    from pmem.assistants.start_text import FRAME_CHARACTERS, FRAME_TOKENS, start_text
    from pmem.assistants.trial import missing_tools
    from pmem.project.failures import of_files
    from pmem.search.context_request import ContextRequest
    from pmem.search.contexts import build_context

    is_held = _still_holds_start(workspace, request)
    if _is_told_already(workspace, request, f"{request.source} {_length(request.transcript)}"):
        return HookAnswer(thread=request.thread)
    asked = ask_at_start(workspace, request.thread, request.source)
    room = len(asked.encode() if request.in_bytes else asked)
    built = build_context(
        workspace,
        ContextRequest(
            budget=max(1, workspace.settings.hooks.session_tokens - FRAME_TOKENS),
            thread=request.thread,
            only="memories",
            ids=True,
            works=True,
            omitted=False,
            longest=max(1, request.longest - room - len(_APART) - FRAME_CHARACTERS),
            in_bytes=request.in_bytes,
            mine=True,
            already_read=_files_read(workspace, request),
        ),
    )
    if is_held:
        news = tuple(part for part in built.sections if part.name == "updates")
        built = msgspec.structs.replace(built, sections=news)
    top = os.path.dirname(workspace.root)
    lacks = missing_tools(request.harness, top, workspace.environment)
    trouble = "; ".join(filter(None, (of_files(workspace.problems), lacks)))
    if not built.sections:
        return HookAnswer(text=asked, thread=request.thread, trouble=trouble)
    items = [item for part in built.sections for item in part.items]
    afresh = request.source in _AFRESH
    shown = [(item.id, item.text) for item in items if not item.mine]
    _note_shown(workspace, request, shown, afresh=afresh)
    yours = [(item.id, item.text) for item in items if item.mine]
    if yours:
        _note_shown_of_own(own_beside(workspace), request, yours, afresh=afresh)
    return HookAnswer(
        text=_APART.join(filter(None, (start_text(workspace, built), asked))),
        trouble=trouble,
        recalled=tuple(built.recalled),
        kept_in_use=built.kept_in_use,
        thread=request.thread,
        shown=tuple(dict.fromkeys(identifier.partition("@")[0] for identifier, _ in shown)),
    )


def _files_read(workspace: Workspace, request: HookRequest) -> frozenset[str]:
    """Return the instruction files that the assistant has read by itself."""
    from pmem.assistants.read_files import files_read

    return files_read(request.harness, os.path.dirname(workspace.root), request.folder)


def answer_tool(workspace: Workspace, request: HookRequest) -> HookAnswer:
    """Tell what is known of the files that a tool's call touches, or of how a command failed."""
    from pmem.assistants import touch_answers
    from pmem.assistants.touch_answers import touch_text
    from pmem.core.own_words import ABOUT_ERROR, ABOUT_FILE

    if request.evidence:
        title, memories = ABOUT_ERROR, touch_answers.about_error(workspace, request.evidence)
    else:
        title = f"{ABOUT_FILE} {_files_told(workspace, request.files)}"
        memories = touch_answers.about_files(workspace, request.files, request.ids)
        stopped = _stopped(workspace, request, memories)
        if stopped is not None:
            return stopped
        memories = _not_read(workspace, request, memories)
    if not request.longest:
        return HookAnswer(thread=request.thread)
    fresh = touch_answers.untold(workspace, request.thread, memories)
    told = _claimed(workspace, request, fresh, touch_answers.touch_keys(workspace, fresh))
    told = fresh if told is None else told
    if not told:
        return HookAnswer(thread=request.thread)
    text = touch_text(workspace, title, told, request.longest)
    recalled = tuple(memory.id for memory in told)
    return HookAnswer(text=text, recalled=recalled, thread=request.thread)


def _not_read(workspace: Workspace, request: HookRequest, memories: list[Memory]) -> list[Memory]:
    """Leave out the rules of files that the assistant reads together with what it touches."""
    if not any(memory.source.file for memory in memories):
        return memories
    from pmem.assistants.read_files import files_read_with
    from pmem.core.followed_rules import repeats_rule

    top, project = workspace.sources.top, os.path.dirname(workspace.root)
    touched = [os.path.join(top, *file.path.split("/")) for file in request.files]
    read = files_read_with(request.harness, project, request.folder, touched)
    return [memory for memory in memories if not repeats_rule(memory, read)]


def _files_told(workspace: Workspace, files: Sequence[ToolFile]) -> str:
    """Return what is touched, in a few words."""
    from pmem.core.visible import one_visible_line

    first, *more = dict.fromkeys(each.path for each in files)
    name = shortened(one_visible_line(workspace.mask.text(first)), _LONGEST_NAME)
    return f"{name} and {len(more)} more" if more else name


def _stopped(
    workspace: Workspace, request: HookRequest, memories: Iterable[Memory]
) -> HookAnswer | None:
    """Return what stops an edit, where a person and the user want it and it was not said before.

    What cannot be noted would be said again, and nothing could go on: then nothing is stopped.
    """
    if not request.may_stop or request.thread is None or workspace.read_only:
        return None
    if not workspace.settings.hooks.deny:
        return None
    from pmem.assistants import touch_answers
    from pmem.assistants.touch_answers import touch_text
    from pmem.core.own_words import STOPS

    wanted = touch_answers.stoppers(workspace, memories)
    found = _claimed(workspace, request, wanted, [stop_key_of(one.id) for one in wanted])
    if not found:
        return None
    _claimed(workspace, request, found, touch_answers.touch_keys(workspace, found))
    text = touch_text(workspace, STOPS, found[: touch_answers.MOST_LINES], TOOL_CHARACTERS)
    recalled = tuple(memory.id for memory in found)
    return HookAnswer(text=text, stops=True, recalled=recalled, thread=request.thread)


def _claimed(
    workspace: Workspace, request: HookRequest, memories: list[Memory], keys: list[str]
) -> list[Memory] | None:
    """Return the memories that nobody else shows the thread, and that are shown from now on.

    Prompts need not repeat them. None where nothing can be noted.
    """
    if request.thread is None or workspace.read_only:
        return None
    if not memories:
        return []
    try:
        new = workspace.own.shown.claim(request.thread, keys, workspace.now())
    except (StorageRefused, Locked):
        return None
    found = [memory for memory, key in zip(memories, keys, strict=True) if key in new]
    _note_shown(workspace, request, [(one.id, workspace.mask.text(one.content)) for one in found])
    return found


def _is_told_already(workspace: Workspace, request: HookRequest, what: str) -> bool:
    """Return whether another hook shows this start or prompt; not where nothing is noted."""
    if request.thread is None or workspace.read_only:
        return False
    try:
        return not workspace.own.shown.begin(request.thread, what, workspace.now())
    except (StorageRefused, Locked):
        return False


def _still_holds_start(workspace: Workspace, request: HookRequest) -> bool:
    """Tell whether a session that goes on has what it was told at its start: then only news is new.

    Claude Code drops the repetition itself, and Gemini CLI the first one.
    """
    if request.harness != "codex" or request.source != "resume" or request.thread is None:
        return False
    known = workspace.own.shown.known(request.thread)
    return any(key.startswith(STARTED) for key in known)


def _length(path: str) -> int:
    """Return how long a transcript is: one that has grown is of another start, however soon."""
    return os.path.getsize(path) if os.path.isabs(path) and os.path.isfile(path) else 0


def _note_shown_of_own(
    own: Workspace | None,
    request: HookRequest,
    shown: Sequence[tuple[str, str]],
    *,
    afresh: bool = False,
) -> None:
    """Note the same of the memory of whoever asks, there: nothing of it stands in the project.

    What cannot be noted is told again, and keeps nobody from what is told.
    """
    if own is None or not shown:
        return
    own.own.patience = PATIENCE
    with suppress(PmemError):
        _note_shown(own, request, shown, afresh=afresh)


def _note_shown(
    workspace: Workspace,
    request: HookRequest,
    shown: Iterable[tuple[str, str]],
    *,
    afresh: bool = False,
    keys: Iterable[str] = (),
) -> None:
    """Note what a session was shown, and further keys; where that cannot be, nothing is noted."""
    if request.thread is None or workspace.read_only:
        return
    keys = [*keys, *(key_of(identifier, text) for identifier, text in shown)]
    with suppress(StorageRefused):
        workspace.own.shown.note(request.thread, keys, workspace.now(), afresh=afresh)
