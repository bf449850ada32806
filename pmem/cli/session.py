"""One run of the command line: the global options, the workspace, and how input is read."""

import os
import sys
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from datetime import UTC, datetime, timedelta
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeVar

import msgspec

from pmem.core.lines import file_lines
from pmem.errors import (
    FileNotRead,
    InvalidValue,
    NoProject,
    NotFound,
    PmemError,
    UsageError,
    not_utf8,
)
from pmem.operations.operation import Operation, Outcome
from pmem.operations.pipeline import run, writes_of
from pmem.project.caller import NOBODY, Caller
from pmem.project.configuration import folder_name
from pmem.project.discovery import check_borders, discover
from pmem.project.workspace import Workspace
from pmem.storage.files.worktree import name_in, top_of
from pmem.values.bounds import LINES_BYTES, TEXT_BYTES
from pmem.values.fields import Progress, ignore_progress
from pmem.values.times import HOW_TO_WRITE_A_TIME, in_utc, is_date, parse_time

if TYPE_CHECKING:
    from pmem.storage.shared import Shared

Q = TypeVar("Q")
A = TypeVar("A")
_LOCK_SECONDS: Final = 0.3
"""So long a writer that nobody asked for waits for another one."""
_AT_TERMINAL: Final = 1.0
"""And may write, before the answer to a command."""
_NO_FILE: Final = "give one that exists, or `-` for standard input"
Span = tuple[str, str]  # text and its style on a terminal; an empty style is plain
Line = list[Span]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """A command's result: what `--json` prints, and what people read.

    `screen` draws lines for a terminal of so many columns instead, and for a pipe where there
    are no lines; `raw` is text that is printed as it stands instead of the lines; `note` goes
    to standard error, and `receipt` draws lines there instead.
    """

    data: Any
    lines: Iterable[Line] = ()
    screen: Callable[[int], Iterable[Line]] | None = None
    raw: str | None = None
    note: str = ""
    receipt: Callable[[int], Iterable[Line]] | None = None
    exit_code: int = 0


def listed(found: Any, nothing: str, **shown: Any) -> Answer:
    """Answer with the items that were found, `shown` so, or with a sentence where there is none."""
    return Answer(data=found, note="" if found.items else nothing, **shown)


def counted(number: int, what: str) -> str:
    """Return a number of things in words."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def _read_at_most(file: BinaryIO, most: int, what: str) -> bytes:
    data = file.read(most + 1).removeprefix(BOM_UTF8)
    if len(data) > most:
        raise InvalidValue(f"{what} has more than {most} bytes", "give it in several parts")
    return data


def utf8(text: str, what: str) -> str:
    """Return a text that came from outside, unless it cannot be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidValue(f"{what} is not UTF-8: {text!r}", "convert it to UTF-8") from None
    return text


class CommandSession:
    """One run of the command line."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = environment
        self.directory: str | None = environment.get("PMEM_DIR") or None
        self.no_color = bool(environment.get("NO_COLOR"))
        self.actor: str | None = environment.get("PMEM_ACTOR") or None
        self.asker: str | None = None
        self.now: str | None = environment.get("PMEM_NOW") or None
        self.json = self.quiet = self.read_only = self.redact = self.mine = False
        self.exact_times = self.strict_model = self.explains_all = False
        self.has_read = self.changes = self.is_telling = False
        self.outcomes: list[Outcome[Any]] = []
        self.arguments: Sequence[str] = ()
        self.telling: Callable[[], Progress] = lambda: ignore_progress  # of records being read

    @cached_property
    def workspace(self) -> Workspace:
        """The memory folder of this place."""
        found = self.opened_anew(self.found_root)
        found.shared.indexes.tell = self.telling()
        return found

    @property
    def found_root(self) -> str:
        """The memory folder's path; that of one's own memory may be to be made."""
        if self.mine:
            from pmem.storage.files.worktree import own_folder

            if self.directory != (self.environment.get("PMEM_DIR") or None):
                raise UsageError("--mine and -C name two memories", "leave out one of them")
            folder = own_folder(self.environment)
            check_borders(folder, self.environment)
            return folder
        return discover(self.directory or os.getcwd(), self.folder_name, self.environment)

    def opened_anew(self, root: str, shared: "Shared | None" = None, **given: Any) -> Workspace:
        """Open a memory folder as the options say, with some settings that are given."""
        overrides = dict(given)
        overrides |= {"secrets.gate": "redact"} if self.redact else {}
        overrides |= {"model.strict": True} if self.strict_model else {}
        return Workspace(
            root,
            shared=shared,
            actor=self.actor and utf8(self.actor, "the actor's name"),
            now=self.fixed_now,
            read_only=self.read_only,
            overrides=overrides,
            environment=self.environment,
            caller=self.caller,
        )

    def close(self) -> None:
        """Let go of the files that are open."""
        if "workspace" in self.__dict__:
            self.workspace.shared.close()

    @property
    def caller(self) -> Caller:
        """Who asks, as the options say."""
        return Caller(None if self.asker is None else utf8(self.asker, "the agent's name"))

    def run(self, operation: Operation[Q, A], request: Q, workspace: Workspace | None = None) -> A:
        """Run an operation on this place's memory; keep what is to be told beside its answer."""
        if self.mine and workspace is None:
            _see_to_own(self.workspace, operation)
        place = workspace or self.workspace
        try:
            outcome = run(place, operation, request, self.caller)
        except InvalidValue as error:
            raise _explain_moment(request, error) from None
        except NotFound as error:
            reference = getattr(request, "reference", None)
            if reference and not self.mine and place.caller == NOBODY:
                _look_in_own(error, reference, place)
            raise
        self.outcomes.append(outcome)
        self.changes = self.changes or writes_of(operation, request) != ""
        return outcome.result

    def take_in(self, seconds: float, not_of: str = "") -> str:
        """Take in, as far as there is time, what was said to assistants; see `hooks.take_in`.

        Whatever keeps it from that, the command goes on: the next one takes it in.

        Returns:
            What came of it, in words; nothing where nothing came in.
        """
        place, until = self.workspace, monotonic() + seconds
        try:
            if not place.settings.hooks.take_in or place.read_only or self.mine:
                return ""
            if not place.own.noted_transcripts.waiting():
                return ""
            from pmem.conversation.sessions import SessionsRequest
            from pmem.operations import table

            soon = {"lock_timeout": _LOCK_SECONDS}
            other = self.opened_anew(place.root, place.shared, **soon)
            left = max(0.0, until - monotonic())
            wanted = SessionsRequest(pending=True, seconds=left, not_of=not_of)
            done = run(other, table.IMPORT_SESSIONS, wanted, self.caller).result
        except PmemError:
            return ""
        facts = f", {counted(done.facts, 'fact')} to review: `pmem inbox`" * (done.facts > 0)
        added = f"{counted(done.added, 'message')} of assistants' sessions"
        return f"took in {added}{facts}" if done.added else ""

    def take_in_at_terminal(self) -> None:
        """Do so, and say it, where a person waits for the answer at a terminal."""
        is_person = sys.stdin.isatty() and sys.stdout.isatty() and not self.json
        if is_person and self.workspace.caller == NOBODY and not self.environment.get("CI"):
            told = self.take_in(_AT_TERMINAL)
            self.outcomes.append(Outcome(result=None, notes=(told,) * bool(told)))

    @property
    def concerned(self) -> str | None:
        """The agent whose memories a command is about; with allowlists, all that it may see."""
        return None if self.workspace.settings.allowlists else self.asker

    def when(self, text: str | None) -> dict[str, Any]:
        """Say as a request does which moment an option means, else which git revision."""
        try:
            return {"at": self.time(text)}
        except InvalidValue:
            return {"revision": text}

    @property
    def broken_settings(self) -> str:
        """What is wrong with the settings, where the command needed none; else nothing."""
        if self.opened is None:
            return ""
        try:
            self.opened.settings  # noqa: B018 - reading them is what may fail
        except PmemError as error:
            return error.message
        conflict = self.opened.configuration.conflict
        return "" if conflict is None else conflict.message

    @property
    def opened(self) -> Workspace | None:
        """The workspace, if the command opened it."""
        return self.__dict__.get("workspace")

    @property
    def folder_name(self) -> str:
        """What memory folders are called."""
        return folder_name(self.environment)

    @cached_property
    def fixed_now(self) -> datetime | None:
        """The present that the options fix, if they do."""
        return None if self.now is None else parse_time(self.now, datetime.now(UTC))

    @property
    def present(self) -> datetime:
        """The present: as the options say, else as the clock does."""
        return in_utc(self.fixed_now or datetime.now(UTC))

    def file(self, path: str | None) -> str | None:
        """Return a file as the project names it, seen from its top; None stays None.

        A folder gets a slash at its end.
        """
        if path is None:
            return None
        return self.workspace.sources.named(path) + "/" * os.path.isdir(path)

    def places(self, patterns: Iterable[str] | None) -> tuple[str, ...]:
        """Return places as they are seen from the project's top."""
        return tuple(_place(self.workspace, pattern) for pattern in patterns or ())

    def time(self, text: str | None) -> datetime | None:
        """Read a time from an option; None stays None."""
        return None if text is None else parse_time(text, self.present)

    def ahead(self, text: str | None) -> datetime | None:
        """Read a time from an option, an age or a weekday as one to come; None stays None."""
        return None if text is None else parse_time(text, self.present, ahead=True)

    def input(self, text: str | None, what: str, most: int = 0, errors: str = "strict") -> str:
        """Return an argument, or standard input of at most so many bytes where it is `-`."""
        if text is None:
            hint = "give it as an argument, or `-` to read it from standard input"
            raise UsageError(f"{what} is missing", hint)
        if text != "-":
            return text
        try:
            return self._standard_input(most or TEXT_BYTES).decode("utf-8", errors)
        except UnicodeDecodeError as error:
            wrong = not_utf8("standard input", error.object, error.start)
            raise InvalidValue(wrong, "convert it to UTF-8") from None

    def read_lines(self, path: str, most: int = LINES_BYTES) -> list[bytes]:
        """Return the lines of a file of at most so many bytes, or of standard input for `-`."""
        if path == "-":
            return file_lines(self._standard_input(most))
        try:
            with open(path, "rb") as file:
                return file_lines(_read_at_most(file, most, path))
        except FileNotFoundError:
            raise InvalidValue(f"there is no file {path}", _NO_FILE) from None
        except IsADirectoryError:
            raise InvalidValue(f"{path} is a folder, not a file", "name a file in it") from None
        except OSError as error:
            raise FileNotRead(f"{path} cannot be read: {error.strerror}") from None

    def _standard_input(self, most: int) -> bytes:
        if self.has_read:
            raise UsageError("standard input can be read once", "write one of the texts out")
        self.has_read = True
        return _read_at_most(sys.stdin.buffer, most, "standard input")


def _place(workspace: Workspace, pattern: str) -> str:
    if os.sep == "\\":  # as a shell of Windows completes a path
        pattern = pattern.replace(os.sep, "/")
    bare = pattern.removeprefix("!")
    if not bare.startswith(("./", "../", "/")):
        return pattern
    from pmem.core.places import seen_from

    top = os.path.realpath(workspace.sources.top)
    here = os.getcwd()
    inside = name_in(top, here)
    if bare.startswith(".") and not inside and os.path.realpath(here) != top:
        raise InvalidValue(f"{pattern!r} is not in the project {top}", "see it from its top")
    return seen_from(pattern, inside, top.replace(os.sep, "/"))


def once_more(session: CommandSession) -> CommandSession:
    """Return the same options for one more command."""
    other = copy(session)
    other.__dict__.pop("workspace", None)
    other.outcomes = []
    return other


def start_of(present: datetime, start: datetime | None, end: datetime | None) -> datetime | None:
    """Return when a memory begins to be valid; None for the present.

    West of UTC a day may have begun, where it ends, that is still to come here.
    """
    if start is not None or end is None or end > present or not is_date(end):
        return start
    is_to_come = end.date() > present.astimezone().date()
    return end - timedelta(days=1) if is_to_come else None


def note_on_place(session: CommandSession) -> str:
    """Return where a command wrote, if that is outside the repository around its folder."""
    if session.opened is None or session.mine:
        return ""
    if not any(outcome.has_written for outcome in session.outcomes):
        return ""

    top = top_of(os.path.abspath(session.directory or os.getcwd()))
    holder = os.path.dirname(session.opened.root)
    if top is None or top == top_of(holder):
        return ""
    return f"written to the memory of {holder}, outside the repository {top}"


def _explain_moment(request: object, error: InvalidValue) -> InvalidValue:
    """Say of what was read as a git revision, and is none, that it is no time either."""
    text = getattr(request, "revision", None)
    if text is None:
        return error
    from pmem.storage.git.repository import UNSHALLOW, NoRevision

    if not isinstance(error, NoRevision):
        return error
    hint = f"{HOW_TO_WRITE_A_TIME}; or name a branch, a tag or a commit"
    return InvalidValue(
        f"{text!r} is neither a time nor a git revision: {error.reason}",
        UNSHALLOW if error.hint == UNSHALLOW else hint,
    )


def _see_to_own(workspace: Workspace, operation: Operation[Any, Any]) -> None:
    """Make the memory of one's own where there is none and something is to be kept in it."""
    from pmem.project.own_memory import START, check_owner, start_own

    if not os.path.isdir(workspace.root):
        check_owner(workspace)
        if workspace.read_only or not (operation.writes and operation.gate):
            raise NoProject(f"there is no memory of your own at {workspace.root}", START)
        start_own(workspace.environment)


def _look_in_own(error: NotFound, reference: str, workspace: Workspace) -> None:
    """Let an error say that a reference means something of one's own, where it does."""
    from pmem.storage.files.worktree import own_folder

    folder = own_folder(workspace.environment)
    if os.path.isdir(folder):
        with suppress(PmemError):
            Workspace(folder, environment=workspace.environment, read_only=True).resolve(reference)
            error.hint = f"your own memory has {reference}: add --mine"


@contextmanager
def needing(extra: str, command: str) -> Iterator[None]:
    """Import in its body what an extra brings."""
    try:
        yield
    except ImportError as error:
        raise InvalidValue(
            f"`{command}` needs the extra `{extra}`: {error}", f"pip install 'pmem-cli[{extra}]'"
        ) from None
