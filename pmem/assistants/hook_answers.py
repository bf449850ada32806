"""What a hook is answered: a session's context, what answers a prompt, or that a talk is noted.

A session is a thread, so it is told what is new once, and a prompt is given only what the session
has not been shown.
"""

import os
from collections.abc import Iterable
from typing import Final

import msgspec

from pmem.assistants.events import NOTED, SESSION_START
from pmem.project.workspace import Workspace

PATIENCE: Final = 0.5
"""Seconds that a hook waits for others who hold this clone's state: somebody waits for it."""
_AFRESH: Final = ("startup", "new", "clear", "compact")
"""Sources of a session that has nothing before its eyes of what it was shown earlier."""


class HookRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a hook is called with.

    Attributes:
        event: what happened.
        harness: which assistant calls.
        thread: the session's id.
        source: why a session starts.
        prompt: what a person asks.
        transcript: the file that the assistant writes the session to.
        longest: how many characters the answer may have, or bytes if `in_bytes`; 0 for none.
        in_bytes: whether bytes are counted.
    """

    event: str
    harness: str = ""
    thread: str | None = None
    source: str = ""
    prompt: str = ""
    transcript: str = ""
    longest: int = 0
    in_bytes: bool = False


class HookAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What the model is to read, which ids it recalls, and for which thread."""

    text: str = ""
    recalled: tuple[str, ...] = ()
    thread: str | None = None

    @property
    def noted(self) -> dict[str, str | None] | None:
        """What the log of operations says of it; silence is not logged."""
        return {"thread": self.thread} if self.text else None


def answer_hook(workspace: Workspace, request: HookRequest) -> HookAnswer:
    """Answer a hook.

    Raises:
        InvalidValue: The session's id cannot be a thread's name.
        Damaged, Locked, StorageRefused: The clone's state.
    """
    workspace.own.patience = PATIENCE
    if not workspace.settings.hooks.enabled:
        return HookAnswer()
    if request.event in NOTED:
        note_transcript(workspace, request)
        return HookAnswer(thread=request.thread)
    if not request.longest:
        return HookAnswer()
    if request.event == SESSION_START:
        return start_session(workspace, request)
    from pmem.assistants.prompt_answers import answer_prompt

    shown, text = answer_prompt(
        workspace, request.prompt, request.thread, request.longest, in_bytes=request.in_bytes
    )
    if not shown:
        return HookAnswer(thread=request.thread)
    _note_shown(workspace, request, shown)
    recalled = tuple(identifier for identifier, _ in shown)
    return HookAnswer(text=text, recalled=recalled, thread=request.thread)


def note_transcript(workspace: Workspace, request: HookRequest) -> None:
    """Note where a session's transcript is and how long, for whatever imports it."""
    path = request.transcript
    if not os.path.isabs(path) or not os.path.isfile(path) or workspace.read_only:
        return
    from pmem.storage.local.inbox import NotedTranscript

    entry = NotedTranscript(
        harness=request.harness,
        path=path,
        offset=os.path.getsize(path),
        session=request.thread or "",
        noted_at=workspace.now(),
    )
    workspace.own.inbox.note(entry)


def start_session(workspace: Workspace, request: HookRequest) -> HookAnswer:
    """Write the context that a session starts or goes on with, with what is new to it.

    Where hooks stand in the project's files and in the user's, one of them tells it.
    """
    from pmem.search.context_request import ContextRequest
    from pmem.search.contexts import build_context

    if _is_told_already(workspace, request):
        return HookAnswer(thread=request.thread)
    built = build_context(
        workspace,
        ContextRequest(
            budget=workspace.settings.hooks.session_tokens,
            thread=request.thread,
            only="memories",
            omitted=False,
            longest=request.longest,
            in_bytes=request.in_bytes,
        ),
    )
    if not built.sections:
        return HookAnswer(thread=request.thread)
    shown = [(item.id, item.text) for part in built.sections for item in part.items]
    _note_shown(workspace, request, shown, afresh=request.source in _AFRESH)
    return HookAnswer(
        text=built.text.rstrip("\n"), recalled=tuple(built.recalled), thread=request.thread
    )


def _is_told_already(workspace: Workspace, request: HookRequest) -> bool:
    """Tell whether another hook tells this start of the session."""
    if request.thread is None or workspace.read_only:
        return False
    return not workspace.own.shown.begin(request.thread, request.source, workspace.now())


def _note_shown(
    workspace: Workspace,
    request: HookRequest,
    shown: Iterable[tuple[str, str]],
    *,
    afresh: bool = False,
) -> None:
    """Note what a session has before its eyes now; where nothing may be written, nothing is."""
    if request.thread is None or workspace.read_only:
        return
    from pmem.storage.local.shown import key_of

    keys = [key_of(identifier, text) for identifier, text in shown]
    workspace.own.shown.note(request.thread, keys, workspace.now(), afresh=afresh)
