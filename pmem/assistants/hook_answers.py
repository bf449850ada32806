"""What a hook is answered: a session's context, what answers a prompt, or that a talk is noted.

A session is a thread, so it is told what is new once, and a prompt is given only what the session
has not been shown.
"""

import os
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from pmem.assistants.events import NOTED, SESSION_START
from pmem.core.text.terms import terms
from pmem.project.workspace import Workspace
from pmem.search.hits import REMEMBERED, LoadedHit, SearchKind, opened
from pmem.search.search import SearchRequest, pick

PATIENCE: Final = 0.5
"""Seconds that a hook waits for others who hold this clone's state: somebody waits for it."""
LEAST_TERMS: Final = 2
"""A prompt with fewer words to look for asks for nothing that can be found."""
LEAST_SCORE: Final = 0.3
"""What scores less is not told: it has a word of the prompt, and hardly answers it."""
LOOKED_AT: Final = 10
"""How many of the best hits are looked at."""
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
    def noted(self) -> dict[str, str | None]:
        """What the log of operations says of it."""
        return {"status": "ok" if self.text else "skipped", "thread": self.thread}


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
    return answer_prompt(workspace, request)


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
    """Write the context that a session starts or goes on with, with what is new to it."""
    from pmem.search.context_request import ContextRequest
    from pmem.search.contexts import build_context

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


def answer_prompt(workspace: Workspace, request: HookRequest) -> HookAnswer:
    """Write what answers a prompt and its session has not been shown; nothing where nothing does.

    A memory is shown whole, or where it alone is too long, as far as there is room.
    """
    if len(set(terms(request.prompt))) < LEAST_TERMS:
        return HookAnswer(thread=request.thread)
    wanted = SearchRequest(query=request.prompt, kinds=REMEMBERED, top_k=LOOKED_AT, related=0)
    ranked = pick(workspace, wanted).ranked
    good = [found for found in ranked if found[2].score >= LEAST_SCORE]
    if not good:
        return HookAnswer(thread=request.thread)
    from pmem.assistants.prompt_text import PromptText

    text = PromptText(workspace, request.longest, in_bytes=request.in_bytes)
    shown = list(text.add(_unseen(workspace, request.thread, opened(workspace, good))))
    if not shown:
        return HookAnswer(thread=request.thread)
    _note_shown(workspace, request, shown)
    return HookAnswer(
        text=text.written(), recalled=tuple(id_ for id_, _ in shown), thread=request.thread
    )


def _unseen(
    workspace: Workspace, thread: str | None, found: Iterable[LoadedHit]
) -> Iterator[LoadedHit]:
    """Yield what a thread has not been shown, or not as it is now."""
    from pmem.storage.local.shown import key_of

    known = workspace.own.shown.known(thread) if thread else ()
    for one in found:
        said = one.document.content if one.kind is SearchKind.MEMORY else one.document.summary
        if key_of(one.document.id, workspace.mask.text(said)) not in known:
            yield one


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
