"""Taking in the sessions of coding assistants: each message once, whenever a session has grown."""

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from importlib import import_module
from itertools import islice
from time import monotonic
from typing import Annotated, Any, Final

import msgspec

from pmem.conversation.episodes import last_said, noticed_at_import
from pmem.conversation.exchange import tell_part, with_token_count
from pmem.conversation.session_files import (
    FoundSessions,
    documents_of,
    harness_of,
    lines_of,
    sessions_in,
    sessions_of,
)
from pmem.conversation.transcripts import (
    append,
    conversation_of,
    from_unread,
    read_unread,
    replace_messages,
    with_unread,
)
from pmem.core.visible import visible
from pmem.errors import FileNotRead, InvalidValue, NotFound
from pmem.interchange import Skipped
from pmem.interchange.messages import MessageReader
from pmem.interchange.sessions import Line, Lines, SessionNotes, without_own_calls
from pmem.memory.noted_facts import first_words, new_facts, noted, states_anything
from pmem.project.secret_gate import SecretFound
from pmem.project.workspace import Workspace
from pmem.storage.local.sessions import NotedTranscript
from pmem.values.bounds import MESSAGE_CHARACTERS
from pmem.values.fields import Admit, DryRun, Progress, as_it_is, asked, ignore_progress
from pmem.values.programs import FORMS, TITLES, SessionProgram
from pmem.values.records import Chunk, Conversation, Message, Role

BATCH: Final = 500
"""Messages that are taken in by one commit."""
SMALL_BATCH: Final = 20
"""And of one where time is short."""
_LARGEST: Final = 20 << 20
"""A file of more bytes is taken in by a person's command alone: it is read from its beginning."""
_HASTE: Final = 0.5
"""In so many seconds at the most, files of half as many bytes are."""
_LONGEST_TITLE: Final = 120
"""Characters of a title that a program gave."""
_COMPRESSED: Final = "compressed sessions, as there is no zstd"
_Known = dict[str, dict[str, int | None]]
"""By conversation, the ids of its messages and what tells whether a text is another one.

None is of a message whose text was removed, which no other text replaces."""


class SessionsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Sessions of one program; of the one that wrote the file, where none is named.

    Without a path they are this project's, where their program keeps them. With `learn`, facts and
    key moments are noted as they are of what is said; of what is `pending` they are, unless it is
    false. `admit` lets in what holds no secret. With `seconds` nobody waits for it: what is pending
    comes in as far as there is time, without the session that runs, `not_of`.
    """

    harness: SessionProgram | None = None
    path: Annotated[
        str | None,
        asked(
            "A session file, or a folder of them [this project's].",
            shown="[PATH]",
            is_argument=True,
        ),
    ] = None
    pending: Annotated[bool, asked("The sessions that hooks noted, instead.")] = False
    since: Annotated[
        datetime | None, asked("Only what was said at this time or later.", reading="time")
    ] = None
    learn: Annotated[
        bool | None,
        asked("Propose memories from it, also from what was imported before [with --pending]."),
    ] = None
    sub_agents: Annotated[bool, asked("Import what sub-agents said too.")] = False
    dry_run: DryRun = False
    progress: Progress = ignore_progress
    admit: Admit = as_it_is
    seconds: float | None = None
    not_of: str = ""

    @property
    def learns(self) -> bool:
        """Whether facts and key moments are noted."""
        return self.pending if self.learn is None else self.learn

    @property
    def asks_models(self) -> bool:
        """Whether models may be asked of it."""
        return self.learns and self.seconds is None


class SessionsImported(msgspec.Struct, frozen=True, kw_only=True):
    """What an import of sessions led to.

    `left_out` counts by reason what is no conversation, and pmem's own words; `skipped` is what
    was said and could not be taken in. `facts` counts those that were noted, and where it
    `states_more`, a message that was not read for them states one.
    """

    sessions: int
    added: int
    updated: int
    unchanged: int
    skipped: tuple[Skipped, ...]
    left_out: dict[str, int]
    dry_run: bool
    facts: int = 0
    states_more: bool = False


def import_sessions(workspace: Workspace, request: SessionsRequest) -> SessionsImported:
    """Take in sessions, each in commits of some hundred messages; what is there stays as it is.

    A run that was killed is finished by the next one, and ends as one run would.
    """
    waiting = _waiting(workspace, request) if request.pending else []
    left_out: Counter[str] = Counter()
    meant = _pending(waiting) if request.pending else _meant(workspace, request, left_out)
    sizes = {path: _size(path) for _, path in meant}
    counts: Counter[str] = Counter()
    skipped: list[Skipped] = []
    done = 0
    until = math.inf if request.seconds is None else monotonic() + request.seconds
    for number, (program, path) in enumerate(meant):
        told = partial(tell_part, request.progress, done, sum(sizes.values()))
        session = _SessionImport(workspace, request, program, path)
        is_late = number > 0 and monotonic() >= until
        if is_late or not session.take_all(told, until):
            waiting = [one for one in waiting if one.path != path]
        done += sizes[path]
        counts.update(session.counts)
        left_out.update(session.notes.left_out)
        skipped += session.reader.skipped
    if request.pending and request.asks_models and not request.dry_run:
        with workspace.transaction():  # what earlier imports took in and did not read
            for one in [*workspace.conversations.find()]:
                counts["facts"] += read_unread(workspace, one, request.since)[1]
    request.progress(done, done)
    if waiting and not request.dry_run:
        workspace.own.noted_transcripts.note_taken(waiting, workspace.now())
    if request.seconds is not None:
        workspace.written.clear()  # nobody's command, so that `undo` takes back an earlier one
    return SessionsImported(
        sessions=len(meant),
        added=counts["added"],
        updated=counts["updated"],
        unchanged=counts["unchanged"],
        skipped=tuple(skipped),
        left_out=dict(sorted(left_out.items())),
        dry_run=request.dry_run,
        facts=counts["facts"],
        states_more=counts["states_more"] > 0,
    )


class _SessionImport:
    """One session's file on its way into its conversation."""

    def __init__(
        self, workspace: Workspace, request: SessionsRequest, program: SessionProgram, path: str
    ) -> None:
        name = os.path.basename(path)
        self.counts: Counter[str] = Counter()
        self.notes = SessionNotes()
        self.reader = MessageReader(name, MESSAGE_CHARACTERS, self._admit)
        self._workspace = workspace
        self._request = request
        self._program = program
        self._path = path
        self._name = name
        self._known: _Known = {}
        self._conversations: dict[str, Conversation] = {}
        self._read: set[str] = set()

    def take_all(self, told: Callable[[int], None], until: float) -> bool:
        """Take in the session's messages; tell whether that was done by a time.

        Something is taken in before anybody looks at the clock, so that it ends some day.
        """
        messages, most = self.messages(told), BATCH
        if until < math.inf:
            messages, most = filter(self._is_new, messages), SMALL_BATCH
        while batch := list(islice(messages, most)):
            self.take(batch)
            is_late = monotonic() >= until and (self.counts["added"] or self.counts["updated"])
            if is_late and len(batch) == most:
                return False
        return True

    def _is_new(self, said: tuple[str, Message]) -> bool:
        session, message = said
        known = self._known.get(session, {})
        return message.id not in known or known[message.id] not in (None, hash(message.content))

    def messages(self, told: Callable[[int], None]) -> Iterator[tuple[str, Message]]:
        """Yield what was said with the session's id."""
        for number, line in enumerate(self._lines(told), start=1):
            taken = self.reader.read(f"{self._name}, message {number}", partial(dict, line))
            if taken is None:
                continue
            if self._request.since is not None and taken[1].created_at < self._request.since:
                self.notes.leave_out("messages before --since")
            else:
                yield taken

    def _lines(self, told: Callable[[int], None]) -> Iterator[Line]:
        """Yield the lines of a transcript that the program's form gives."""
        module, _, function = FORMS[self._program].reader.partition(":")
        read: Callable[..., Iterable[Line]] = getattr(
            import_module(f"pmem.interchange.{module}"), function
        )
        if FORMS[self._program].whole:
            name = _name_of_chat(self._path)
            for data in documents_of(self._path):
                yield from without_own_calls(read(name, data, self.notes), self.notes)
            return
        lines: Lines = partial(lines_of, self._path, told)
        found = read(lines, self.notes, sub_agents=self._request.sub_agents)
        yield from without_own_calls(found, self.notes)

    def take(self, batch: list[tuple[str, Message]]) -> None:
        """Take in messages by one commit."""
        if self._request.dry_run:
            self._take(batch)
            return
        with self._workspace.transaction():
            self._take(batch)
        self._workspace.gate.forget()

    def _take(self, batch: list[tuple[str, Message]]) -> None:
        for session in dict.fromkeys(session for session, _ in batch):
            self._extend(session, [message for of, message in batch if of == session])

    def _extend(self, session: str, messages: list[Message]) -> None:
        workspace = self._workspace
        conversation = self._conversation(session, messages)
        if self._request.learns and not self._request.dry_run and session not in self._read:
            self._read.add(session)
            conversation, facts = read_unread(workspace, conversation, self._request.since)
            self.counts["facts"] += facts
        known = self._known[session]
        fresh = [message for message in messages if message.id not in known]
        edited = {
            message.id: message
            for message in messages
            if known.get(message.id) not in (None, hash(message.content))
        }
        self.counts["added"] += len(fresh)
        self.counts["updated"] += len(edited)
        self.counts["unchanged"] += len(messages) - len(fresh) - len(edited)
        known.update((message.id, hash(message.content)) for message in (*fresh, *edited.values()))
        if self._request.dry_run:
            return
        if edited:
            counted = {name: with_token_count(workspace, one) for name, one in edited.items()}
            conversation = replace_messages(workspace, conversation, counted)
        if fresh:
            title = conversation.title or self._title(session, fresh)
            conversation = msgspec.structs.replace(conversation, title=title)
            by_id = {one.id: one for one in fresh}
            new = [with_token_count(workspace, one) for one in by_id.values()]
            if not self._request.learns:
                conversation = with_unread(conversation, new)
                self._look_for_facts(new)
            else:
                before = last_said(workspace, conversation)
                read = noted(workspace, conversation, new)
                self.counts["facts"] += len(new_facts(read, conversation))
                conversation = read
                conversation = noticed_at_import(workspace, conversation, before, new)
            append(workspace, conversation, new)

    def _title(self, session: str, messages: Iterable[Message]) -> str | None:
        """Return what the program calls a session, else its first words, in quotes."""
        title = self.notes.titles.get(session, self.notes.title)
        if title is not None:
            return visible(title)[:_LONGEST_TITLE]
        return first_words(messages)

    def _conversation(self, session: str, messages: list[Message]) -> Conversation:
        """Return the conversation of a session, made before or now, and learn what it holds."""
        conversations = self._workspace.conversations
        if session in self._conversations:
            known = self._conversations[session]
            return known if self._request.dry_run else conversations.get(known.id)
        source = f"import {self._program}"
        made = conversation_of(self._workspace, session, messages, source)
        named = (one.id for one in conversations.find() if one.external_id == session)
        kept = next(named, None)
        conversation = made if kept is None else conversations.get(kept)
        ids: dict[str, int | None] = {}
        for held in self._held(conversation):
            ids.update((one.id, None if one.removed else hash(one.content)) for one in held)
        self._known[session] = ids
        self._conversations[session] = conversation
        return conversation

    def _held(self, conversation: Conversation) -> Iterator[Sequence[Message]]:
        """Yield the messages that are kept, a chunk at a time: none is held for longer."""
        is_unread = False
        for chunk in (*conversation.chunks, None):
            held = (
                conversation.recent_messages
                if chunk is None
                else self._workspace.backend.read(Chunk, chunk).messages
            )
            unread = held if is_unread else tuple(from_unread(conversation, held))
            is_unread = bool(unread)
            if not self._request.learns:
                self._look_for_facts(unread)
            yield held

    def _look_for_facts(self, unread: Sequence[Message]) -> None:
        """Note whether what is not read states a fact."""
        if not self.counts["states_more"] and states_anything(self._workspace, unread):
            self.counts["states_more"] = 1

    def _admit(self, line: Any, where: str) -> Any:
        """Let a line in without secrets of tools; what people say with one is skipped."""
        is_of_a_tool = line.get("role") == Role.TOOL or "tool_call" in line
        try:
            return self._request.admit(line, where, redacting=is_of_a_tool)
        except SecretFound as found:
            why = f"holds a secret ({found.kind}); --redact keeps the rest of it"
            raise InvalidValue(why) from None


def _meant(
    workspace: Workspace, request: SessionsRequest, left_out: Counter[str]
) -> list[tuple[SessionProgram, str]]:
    """Return the sessions' programs and files; what cannot be looked into is counted."""
    program = request.harness or harness_of(request.path or os.curdir)
    project, environment = os.path.dirname(workspace.root), workspace.environment
    if request.path is None:
        agents = request.sub_agents
        found: FoundSessions = sessions_of(program, project, environment, sub_agents=agents)
    else:
        found = sessions_in(program, request.path, project, environment)
    if found.compressed:
        left_out[_COMPRESSED] += found.compressed
    if not found.files and not found.compressed:
        raise NotFound(
            f"there is no session of {TITLES[program]} for {project}",
            "name a session's file, or the folder that holds them",
        )
    return [(program, path) for path in found.files]


def _waiting(workspace: Workspace, request: SessionsRequest) -> list[NotedTranscript]:
    """Return what waits to be taken in; by itself, no session that runs, and no file too large."""
    waiting = workspace.own.noted_transcripts.waiting()
    if request.seconds is None:
        return waiting
    largest = _LARGEST if request.seconds > _HASTE else _LARGEST // 2
    return [
        one
        for one in waiting
        if not (one.session and one.session == request.not_of)
        and not (os.path.isfile(one.path) and os.path.getsize(one.path) > largest)
    ]


def _pending(waiting: Iterable[NotedTranscript]) -> list[tuple[SessionProgram, str]]:
    """Return the sessions that hooks noted and that are still there, of programs that are known."""
    known = {str(program): program for program in SessionProgram}
    return [
        (known[one.harness], one.path)
        for one in waiting
        if one.harness in known and os.path.isfile(one.path)
    ]


def _name_of_chat(path: str) -> str:
    """Return what a chat is called whose file does not say; of a fixed name that is its folder."""
    folder, name = os.path.split(os.path.abspath(path))
    stem = name.partition(".json")[0]
    is_fixed = stem in ("api_conversation_history", "ui_messages", "conversations")
    return os.path.basename(folder) if is_fixed else stem


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError as error:
        raise FileNotRead(f"{path} cannot be read: {error.strerror}") from None
