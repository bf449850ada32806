"""The commands that add memories and show records: `add`, `list`, `show`."""

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Final

import msgspec

from pmem.cli.asking import asks, own, scoped
from pmem.cli.render import can_ask, drawn, draws
from pmem.cli.session import Answer, CommandSession, Line, listed, start_of
from pmem.core import exactjson
from pmem.core.lifecycle.neighbours import advice
from pmem.core.lifecycle.presence import state_mark, validity_mark
from pmem.core.lines import split_lines
from pmem.core.trust import RecordOrigin, Trust, label_of, origin_mark, trust_of
from pmem.core.visible import subject_before
from pmem.errors import InvalidValue, PmemError, StorageRefused, UsageError
from pmem.memory.reading import ListRequest, MessageRef, NamesRequest, ShowRequest
from pmem.memory.requests import AddAllRequest, Added, AddRequest
from pmem.operations import table
from pmem.values import records
from pmem.values.bounds import LINE_BYTES, TEXT_BYTES
from pmem.values.ids import short

if TYPE_CHECKING:
    from pmem.core.lifecycle.neighbours import Neighbour

SUGGESTED = 9  # the exit code of `add` when a memory should be updated instead
EXIT_CODES = {"added": 0, "suggested": SUGGESTED, "queued": 7, "waiting": 7, "rejected": 7}
"""What `add` exits with: 7 where it waits for somebody's consent, or for a second signal."""

_NOT_ADDED = "nothing was added; fix that line and run it again"
_WHOLE = 4000  # characters of a field
_NO_TAGS = "no memory has a tag: `pmem edit REF --add-tag TAG`"
_NO_SUBJECTS = "no memory has a subject: `--subject` gives one"
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


@asks(AddRequest, content="")
def add(
    session: CommandSession,
    request: AddRequest,
    text: str | None = own("What to remember.", shown="TEXT|-", is_argument=True),
    each_line: bool = own("Add each line of the text as a memory."),
    batch: str | None = own("Add many memories, as JSON Lines.", shown="FILE|-"),
    verbose: bool = own("Of many, show each that was added."),
) -> Answer:
    """Add a memory, or name the one to update instead.

    Without a text, your editor opens. A line of --batch is one memory, such as

    {"content": "We use PostgreSQL", "type": "decision", "subject": "database", "tags": ["storage"]}

    Only the content is needed. Further keys: category, importance, pinned, valid_from, valid_until,
    cite, places (--for), instead_of, review_at, review_if, force, app, user, agent, run, actor,
    role, source, and of a dead_end tried, because and evidence.
    """
    if batch is not None:
        if text is not None or each_line:
            raise UsageError("a text and --batch exclude each other", "give one of them")
        lines = enumerate(session.read_lines(batch), start=1)
        requests = (batch_request(session, line, at, request) for at, line in lines if line.strip())
        return _add_requests(session, requests, verbose=verbose)
    if text is not None or session.json or not can_ask():
        draft = WrittenText(session.input(text, "the text"))
    else:
        draft = write_draft(session, "")
    start = start_of(session.present, request.valid_from, request.valid_until)
    request = msgspec.structs.replace(request, content=draft.text, valid_from=start)
    with kept_draft(draft):
        if each_line:
            texts = filter(None, map(str.strip, split_lines(request.content)))
            each = [msgspec.structs.replace(request, content=one) for one in texts]
            return _add_requests(session, each, verbose=verbose)
        return _add_draft(session, request, draft)


@asks(ShowRequest)
def show(session: CommandSession, request: ShowRequest) -> Answer:
    """Show a record, or a message, whole."""
    request = msgspec.structs.replace(request, details=not session.json)
    found = session.run(table.SHOW, request)
    if isinstance(found.record, MessageRef):
        message = found.record.message
        said = message.content if message.removed is None else "(its text was removed)"
        lines: list[Line] = [
            [(message.id, "bold cyan"), ("  message", "dim")],
            [("", "")],
            [(said, "" if message.removed is None else "dim")],
            [("", "")],
        ]
        for name, text in (("conversation", found.record.conversation), *fields_of(message)):
            lines.append([(f"{name.replace('_', ' ') + ':':<14}", "dim"), (text, "")])
        return Answer(data=found, lines=lines)
    return Answer(data=found, screen=drawn(session, "lists.record_screen", found))


@asks(ListRequest, without=("speaker",))
def list_(
    session: CommandSession,
    request: ListRequest,
    all_states: bool = own("In any state.", group="Filters"),
    block: bool = own("Print a block for a system prompt, by category."),
    of_tags: bool = own("List the tags instead.", flag="--tags"),
    of_subjects: bool = own("List the subjects instead.", flag="--subjects"),
) -> Answer:
    """List memories, the oldest first."""
    if of_tags or of_subjects:
        names = session.run(table.NAMES, NamesRequest(of="tags" if of_tags else "subjects"))
        what, nothing = ("tag", _NO_TAGS) if of_tags else ("subject", _NO_SUBJECTS)
        return listed(names, nothing, screen=drawn(session, "lists.name_screen", names, what))
    wanted = scoped(session, request.wanted, all_states=all_states)
    doubts = draws(session) and not block
    request = msgspec.structs.replace(request, wanted=wanted, doubts=doubts)
    if block:
        written = session.run(table.BLOCK, request)
        return Answer(data=written, raw=written.text, note=written.reason)
    found = session.run(table.LIST, request)
    return Answer(
        data=found,
        lines=(
            memory_line(memory, found.moment, found.origins.get(memory.id))
            for memory in found.items
        ),
        screen=drawn(session, "lists.memory_screen", found),
        note=found.reason,
    )


def memory_line(
    memory: records.Memory, at: datetime | None = None, origin: RecordOrigin | None = None
) -> Line:
    """Say on one line what a memory is, and, given a moment, whether it does not hold then."""
    marks = "*" if memory.pinned else " "
    return [
        (short(memory.id), "cyan"),
        (f" {marks}{memory.type:<10} ", "dim"),
        (origin_mark(origin) + label_of(memory), "yellow"),
        (subject_before(memory.subject, memory.content), "bold"),
        (" ".join(memory.content.split()), ""),
        (state_mark(memory.state) or validity_mark(memory, at), "yellow"),
    ]


def _add_draft(session: CommandSession, request: AddRequest, draft: WrittenText) -> Answer:
    """Add a memory; what was written in an editor is dropped only once it is one."""
    added = session.run(table.ADD, request)
    notes = [added_note(added)]
    if added.action == "suggested":
        notes.append(draft.place)
    else:
        draft.drop()
    lines = len(split_lines(request.content))
    is_list = draft.path is None and request.type is not records.MemoryType.PROCEDURE
    if is_list and lines > 1 and added.action == "added":
        notes.append(f"{lines} lines are one memory; `pmem add - --each-line` makes one of each")
    return Answer(
        data=added,
        lines=added_lines(added),
        note="\n".join(filter(None, notes)),
        exit_code=EXIT_CODES[added.action],
    )


def batch_request(
    session: CommandSession, line: bytes, number: int, asked: AddRequest
) -> AddRequest:
    """Read a memory that a line of JSON asks for; the command names the agent where it does not."""
    from pmem.core import checks

    if len(line) > LINE_BYTES:
        raise InvalidValue(
            f"line {number} has {len(line)} bytes, and the limit is {LINE_BYTES}", _NOT_ADDED
        )
    try:
        value = exactjson.read_given(line, f"line {number}", _NOT_ADDED)
        for field in ("valid_from", "valid_until", "review_at"):
            if isinstance(value, dict) and isinstance(value.get(field), str):
                with checks.named(f"line {number}, {field}"):
                    value[field] = session.ahead(value[field])
        request = msgspec.convert(value, AddRequest)
    except msgspec.ValidationError as error:
        why = exactjson.sentence(error)
        raise InvalidValue(f"line {number} is no memory: {why}", _NOT_ADDED) from None
    agent, force = request.agent or asked.agent, request.force or asked.force
    return msgspec.structs.replace(request, agent=agent, force=force)


def _add_requests(
    session: CommandSession, requests: Iterable[AddRequest], *, verbose: bool
) -> Answer:
    done = session.run(table.ADD_ALL, AddAllRequest(memories=tuple(requests)))
    is_suggested = done.items != () and done.count("suggested") == len(done.items)
    said = f"{done.count('added')} added, {done.count('suggested')} not added"
    said += f", {done.held} held back" if done.held else ""
    shown = (item for item in done.items if verbose or item.action != "added")
    return Answer(
        data=done,
        lines=chain.from_iterable(map(added_lines, shown)),
        note="\n".join((*_better(done.items), said)),
        exit_code=EXIT_CODES["queued"] if done.held else SUGGESTED * is_suggested,
    )


def _better(done: Sequence[Added]) -> Iterator[str]:
    """Yield what could be written better, each rule once, with the memories that break it."""
    broken: dict[str, list[str]] = {}
    for item in done:
        for lint in item.lints:
            broken.setdefault(lint, []).append(short(item.memory.id))
    for lint, names in broken.items():
        shown = ", ".join(names[:3])
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        yield f"better: {lint} ({shown}{more})"


def added_lines(added: Added) -> Iterator[Line]:
    """Yield what became of a memory that was to be added."""
    if added.held is not None:
        yield [(f"{added.action} ", "yellow"), (short(added.held.id), "cyan")]
        return
    word = "added" if added.action == "added" else "exists"
    yield [(f"{word} ", "green" if word == "added" else "yellow"), *memory_line(added.memory)]
    yield from neighbour_lines(added.memory, added.neighbours)


def neighbour_lines(memory: records.Memory, neighbours: "Sequence[Neighbour]") -> Iterator[Line]:
    """Say what a memory has to do with others, and how one may take another's place."""
    for neighbour in neighbours:
        link = neighbour.link
        yield [(f"  {link_words(link)}: ", "dim"), (" ".join(neighbour.content.split()), "")]
        what_next = advice(link.type, link.target, memory.id)
        if what_next:
            yield [(f"    {what_next}", "dim")]


def added_note(added: Added) -> str:
    """Say what to do about what was not added, or what could be written better."""
    if added.held is not None:
        return added.held.told
    if added.action == "added":
        return "\n".join(
            filter(None, [added.shares_subject, *(f"better: {lint}" for lint in added.lints)])
        )
    return f"{added.reason}; {added.next_step}, or add yours beside it with --force"


def title_of(record: records.Record) -> str:
    """Say what kind of record it is, and what it is called."""
    title = getattr(record, "title", None) or getattr(record, "external_id", None) or ""
    return f"{records.KINDS[type(record)]} {title}".rstrip()


def fields_of(record: records.Record | records.Message) -> Iterator[tuple[str, str]]:
    """Yield what is worth a line: no empty fields, no histories, no long lists."""
    from pmem.core.history_values import tell_value

    hidden = ("id", "schema", "content", "history", "messages", "recent_messages", "chunks")
    for name, value in msgspec.to_builtins(record).items():
        if name not in hidden and (value or isinstance(value, float)):
            yield name, tell_value(name, value, _WHOLE)
    if trust_of(record) not in (None, Trust.HIGH):
        yield "trust", str(trust_of(record))
    if isinstance(record, records.Conversation):
        yield "messages", f"{len(record.recent_messages)} recent, {len(record.chunks)} chunks"
    if isinstance(record, records.Chunk):
        yield "messages", str(len(record.messages))
    if isinstance(record, records.Memory | records.Episode | records.Conversation):
        yield "events", str(len(record.history))
    if (
        isinstance(record, records.Memory | records.Episode)
        and record.state is not records.State.ACTIVE
    ):
        from pmem.core.lifecycle.states import successor_of

        successor = successor_of(record)
        if successor:
            yield "see instead", short(successor)


def link_words(link: records.Relationship) -> str:
    """Say in words what a link means, where it leads, and how close that is."""
    return f"{link.type.replace('_', ' ')} {short(link.target)} ({link.strength:.2f})"


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
    from shutil import which

    if found := next(filter(which, _EDITORS), None):
        return [found]
    raise UsageError("there is no editor", "set EDITOR, or give the text as an argument")
