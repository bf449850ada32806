"""Golden sets: what a query must find, kept as lines in a file of the user's repository."""

import os
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec
from msgspec import Meta

from pmem.core import exactjson
from pmem.core.lines import file_lines
from pmem.core.retention import valid_at
from pmem.core.text.terms import terms
from pmem.errors import FileNotRead, InvalidValue, NotFound, PmemError
from pmem.memory import reading
from pmem.memory.reading import MessageRef
from pmem.project.workspace import Workspace
from pmem.search.hits import SearchKind, SearchRequest, opened
from pmem.search.picking import pick_each
from pmem.storage.files import safe_files
from pmem.storage.files.durable import refusals
from pmem.storage.jsonfiles import write_own
from pmem.values.fields import asked
from pmem.values.ids import moment_of, short
from pmem.values.records import KINDS, Conversation, Memory, Message, Record, State, Time, dump_line

if TYPE_CHECKING:
    from pmem.storage.local.sessions import KeptPrompt

DEFAULT_NAME: Final = "golden.jsonl"
ACCEPTED: Final = ".accepted.json"
"""What follows a golden set's name, without its own ending, where its accepted run is."""
_EXAMPLE: Final = 'each line is one question: {"query": "which database", "must": ["k3v9m2x1"]}'
_DEFAULT_ACCEPTED: Final = DEFAULT_NAME.removesuffix(".jsonl") + ACCEPTED


class Question(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """One line of a golden set.

    `must` and `must_not` hold ids, short ids or external ids. All of `must`, and none of
    `must_not`, is to be among the first `max_rank` hits (the setting `retrieval_top_k` when
    None). `kind` limits the search, and `budget` is the context's.
    """

    query: str
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    max_rank: Annotated[int, Meta(ge=1)] | None = None
    kind: tuple[SearchKind, ...] = ()
    budget: Annotated[int, Meta(ge=1)] | None = None


class Golden(msgspec.Struct, frozen=True):
    """A golden set, and its file; None where it came from elsewhere."""

    questions: tuple[Question, ...]
    path: str | None = None


class QuestionRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A reference that a query must find or, when it is `forbidden`, must not find."""

    query: Annotated[
        str, asked("The words searched for.", shown="QUERY|-", reading="text", is_argument=True)
    ]
    reference: Annotated[
        str,
        asked(
            "What it must find: an id or an external id.",
            shown="REF",
            is_argument=True,
            completes="memory",
        ),
    ]
    file: Annotated[
        str | None, asked("The golden set [golden.jsonl in the memory].", shown="FILE")
    ] = None
    max_rank: Annotated[int | None, asked("The worst acceptable rank [retrieval_top_k].")] = None
    forbidden: Annotated[bool, asked("It must not be found.", flag="--not")] = False


class QuestionAdded(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a new question."""

    action: Literal["added", "unchanged"]
    file: str
    question: Question


def default_file(workspace: Workspace) -> str:
    """Return where a project's golden set is when no file is named."""
    return os.path.join(workspace.root, DEFAULT_NAME)


def read(path: str) -> Golden:
    """Read a golden set.

    Raises:
        InvalidValue: There is no such file, or a line is no question.
    """
    data = content(path)
    if data is None:
        hint = "`pmem eval add QUERY REF` starts a golden set"
        raise InvalidValue(f"there is no file {path}", hint)
    return Golden(parse(file_lines(data), path), path)


def parse(lines: Iterable[bytes], name: str) -> tuple[Question, ...]:
    """Read the lines of a golden set; those that ask the same become one question.

    Raises:
        InvalidValue: A line is no question, or forbids what is wanted.
    """
    questions: dict[Question, Question] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith(b"#"):
            question = _parse_question(line, f"{name} line {number}")
            asked = msgspec.structs.replace(question, must=(), must_not=())
            whole = _join_questions(questions.get(asked, asked), question)
            for reference in sorted({*whole.must} & {*whole.must_not}):
                raise InvalidValue(f"{name} line {number} both wants and forbids {reference!r}")
            questions[asked] = whole
    return tuple(questions.values())


def add(workspace: Workspace, request: QuestionRequest) -> QuestionAdded:
    """Add a line to a golden set, which is started if it is missing.

    Raises:
        InvalidValue: A value is not allowed, or the set is none or says the opposite.
    """
    path = request.file or default_file(workspace)
    question = _question(workspace, request)
    data = content(path) or b""
    line = dump_line(question)
    if not _is_news(file_lines(data), line, path):
        return QuestionAdded(action="unchanged", file=path, question=question)
    end = b"\n" if data and not data.endswith(b"\n") else b""
    with refusals(path):
        write_own(workspace.root, os.path.abspath(path), data + end + line + b"\n")
    return QuestionAdded(action="added", file=path, question=question)


class Kept:
    """What there is to find, looked at only where a search has not found it."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def find(self, name: str) -> Record | Message | None:
        """Return the record or message of an id, a short id or an external id."""
        if name in self._records:
            return reading.get(self._workspace, self._records[name])
        return self._messages.get(name)

    def exists(self, name: str) -> bool:
        """Tell whether anything has this name."""
        return name in self._records or name in self._messages

    def why_not_found(self, name: str, kinds: Sequence[SearchKind]) -> str:
        """Say why a search cannot find something; empty when it could have."""
        try:
            found = self.find(name)
        except PmemError as error:
            return f"cannot be used: {error.message}"
        if found is None:
            return "does not exist"
        kind = "message" if isinstance(found, Message) else KINDS[type(found)]
        if isinstance(found, Conversation) or (kinds and kind not in kinds):
            return f"is a record of the kind {kind}, which is not searched"
        state = getattr(found, "state", State.ACTIVE)
        if state is not State.ACTIVE:
            return f"is {state.replace('_', ' ')}"
        if isinstance(found, Memory) and not valid_at(found, self._workspace.now()):
            return "does not hold at this time"
        return ""

    @cached_property
    def _records(self) -> dict[str, str]:
        ids = [identifier for store in self._workspace.stores for identifier in store.ids()]
        return {name: identifier for identifier in ids for name in names(identifier)}

    @cached_property
    def _messages(self) -> dict[str, Message]:
        workspace = self._workspace
        said = [message for part in workspace.chunks.find() for message in part.messages]
        for conversation in workspace.conversations.find():
            said += conversation.recent_messages
        return {name: item for item in said for name in names(item.id, item.external_id)}


def names(identifier: str, external_id: str | None = None) -> tuple[str, ...]:
    """Return everything that references may call a record or a message."""
    both = (identifier, short(identifier))
    return both if external_id is None else (*both, external_id)


def _parse_question(line: bytes, where: str) -> Question:
    try:
        question = msgspec.convert(exactjson.read_given(line, where, _EXAMPLE), Question)
    except msgspec.ValidationError as error:
        raise InvalidValue(
            f"{where} is no question: {exactjson.sentence(error)}", _EXAMPLE
        ) from None
    if not question.query.strip():
        raise InvalidValue(f"{where} is no question: its query is empty", _EXAMPLE)
    if not question.must and not question.must_not:
        raise InvalidValue(
            f"{where} is no question: neither `must` nor `must_not` names anything", _EXAMPLE
        )
    return question


def _join_questions(known: Question, more: Question) -> Question:
    return msgspec.structs.replace(
        known,
        must=tuple(dict.fromkeys((*known.must, *more.must))),
        must_not=tuple(dict.fromkeys((*known.must_not, *more.must_not))),
    )


def _is_news(lines: list[bytes], line: bytes, path: str) -> bool:
    """Tell whether a new line would change what a golden set asks.

    Raises:
        InvalidValue: A line is no question, or the new one says the opposite of another.
    """
    known = parse(lines, path)
    try:
        return parse([*lines, line], path) != known
    except InvalidValue:
        sentence = f"{path} says the opposite already, for the same query and maximum rank"
        raise InvalidValue(sentence, "change that line in the file") from None


def _question(workspace: Workspace, request: QuestionRequest) -> Question:
    """Return the line that a request stands for, its reference made whole."""
    query = request.query.strip()
    if not query:
        raise InvalidValue("the query is empty")
    if request.max_rank is not None and request.max_rank < 1:
        raise InvalidValue(f"a maximum rank must be at least 1, not {request.max_rank}")
    references = (_whole_reference(workspace, request.reference),)
    return Question(
        query=query,
        must=() if request.forbidden else references,
        must_not=references if request.forbidden else (),
        max_rank=request.max_rank,
    )


def _whole_reference(workspace: Workspace, reference: str) -> str:
    """Return a reference as a golden set keeps it: an external id, or the whole id.

    Raises:
        InvalidValue: It means something that no search finds.
    """
    found = Kept(workspace).find(reference) or reading.find(workspace, reference)
    if isinstance(found, MessageRef):
        return found.message.id
    if isinstance(found, Conversation):
        raise InvalidValue(
            f"conversation {found.id} is never found itself", "name one of its messages"
        )
    return reference if getattr(found, "external_id", None) == reference else found.id


def content(path: str) -> bytes | None:
    """Return what a golden set, or its accepted run, holds; the memory folder's own is no link.

    Raises:
        InvalidValue: It is a folder.
    """
    named = os.path.basename(path) in (DEFAULT_NAME, _DEFAULT_ACCEPTED)
    try:
        if named and (os.path.islink(path) or not os.path.isdir(path)):
            return safe_files.read(path)
        with open(path, "rb") as file:
            return file.read().removeprefix(BOM_UTF8)
    except FileNotFoundError:
        return None
    except IsADirectoryError:
        raise InvalidValue(f"{path} is a folder") from None
    except OSError as error:
        raise FileNotRead(f"{path} cannot be read: {error.strerror}") from None


ALL: Final = "all"
"""What is dropped by this word: every prompt that is kept."""
STRONG: Final = 0.4
"""From this score on the best hit answers: nine in ten do (see decision 53)."""
LEAST_TERMS: Final = 2
"""A prompt with fewer words to look for asks for nothing that can be found."""


class MissesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which misses to drop before the others are listed; `all` is every prompt that is kept."""

    drop: Annotated[
        tuple[str, ...], asked("Forget this one, or all that was asked.", shown="NAME|all")
    ] = ()


class Miss(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt, as `query`, that was not shown what answers it; `id` is the best memory's."""

    name: str
    query: str
    at: Time
    id: str
    short: str
    score: float
    text: str


class Misses(msgspec.Struct, frozen=True, kw_only=True):
    """The misses that are left, and how many were dropped."""

    items: tuple[Miss, ...]
    total: int
    dropped: int = 0


def misses(workspace: Workspace, request: MissesRequest) -> Misses:
    """List the prompts that were not shown what answers them; some are dropped first.

    Raises:
        InvalidValue: The golden set is none.
    """
    found = {miss.name: miss for miss in _found(workspace)}
    kept, gone = workspace.own.kept_prompts, set(request.drop)
    if gone == {ALL}:
        gone = {one.name for one in kept.all()}
    elif unknown := gone - found.keys():
        sentence = f"no miss is called {min(unknown)!r}"
        raise NotFound(sentence, "`pmem eval misses` lists them")
    if gone:
        kept.forget(gone)
    left = tuple(miss for name, miss in found.items() if name not in gone)
    return Misses(items=left, total=len(left), dropped=len(gone))


def _found(workspace: Workspace) -> Iterator[Miss]:
    """Yield the misses, the newest first, without those that the golden set asks already."""
    from pmem.core.secrets import find

    known, allowed = _questions(workspace), workspace.settings.secrets.allow
    kept = [
        one
        for one in workspace.own.kept_prompts.all()
        if len(set(terms(one.text))) >= LEAST_TERMS
        and one.text not in known
        and not find(one.text, allowed)
    ]
    requests = [
        SearchRequest(query=one.text, kinds=(SearchKind.MEMORY,), top_k=1, related=0)
        for one in kept
    ]
    counts, shown = workspace.own.use_counts, dict[str, frozenset[str]]()
    for prompt, picked in zip(kept, pick_each(workspace, requests), strict=True):
        strong = [one for one in picked.ranked if one[2].score >= STRONG]
        for best in opened(workspace, strong):
            if prompt.thread not in shown:
                shown[prompt.thread] = counts.shown(prompt.thread)
            if best.record.id not in shown[prompt.thread] and _was_there(best.record.id, prompt):
                yield Miss(
                    name=prompt.name,
                    query=prompt.text,
                    at=prompt.at,
                    id=best.record.id,
                    short=short(best.record.id),
                    score=best.hit.score,
                    text=workspace.mask.text(best.document.content),
                )


def _was_there(identifier: str, prompt: "KeptPrompt") -> bool:
    """Tell whether a record was made before a prompt was asked."""
    made = moment_of(identifier)
    return made is not None and made < prompt.at


def _questions(workspace: Workspace) -> frozenset[str]:
    path = default_file(workspace)
    if not os.path.lexists(path):
        return frozenset()
    return frozenset(question.query for question in read(path).questions)
