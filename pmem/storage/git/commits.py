"""What commits say, read one after another, as a history may be long; and who wrote a line."""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

import msgspec

from pmem.core.lines import split_lines
from pmem.errors import InvalidValue, NotFound
from pmem.storage.git import git
from pmem.storage.git.repository import INIT, NO_REPOSITORY, UNSHALLOW, oldest_of_shallow

HEAD: Final = "HEAD"
LONGEST: Final = 20_000
"""Of a message so many characters are read."""
_FIELDS: Final = 4
_PIECE: Final = 1 << 16
_LOG: Final = (
    *("-c", "log.showSignature=false", "log", "--no-merges", "--encoding=UTF-8", "-z"),
    "--format=%H%x00%an%x00%at%x00%B",
)
_FILES: Final = (
    *("diff-tree", "--stdin", "-r", "--root", "--name-only", "-z", "--no-renames"),
    *("--no-ext-diff", "--no-textconv"),
)


class CommitText(NamedTuple):
    """What a commit says: its id, its author, when it was written, and its message."""

    id: str
    author: str
    at: datetime
    text: str


def read_commits(
    top: str, environment: Mapping[str, str], revisions: str, most: int | None = None
) -> Iterator[CommitText]:
    """Yield the commits of a range, the newest first and so many at most, merges left out.

    The range is a branch, a commit or such as `v1.0..HEAD`.

    Raises:
        InvalidValue: Git knows no such range.
        NotFound: There is no repository.
        NoGit: There is no git.
    """
    limit = [] if most is None else [f"--max-count={most}"]
    asked = [*_LOG, *limit, "--end-of-options", revisions, "--"]
    pipes = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    running = git.popen(top, asked, environment, **pipes)
    with running:
        assert running.stdout is not None
        assert running.stderr is not None
        fields: list[str] = []
        for field in _fields(iter(lambda: running.stdout.read(_PIECE), b"")):  # type: ignore[union-attr]
            fields.append(field)
            if len(fields) == _FIELDS:
                identifier, author, at, text = fields
                yield CommitText(identifier.strip(), author, _moment(at), text.strip())
                fields = []
        told = running.stderr.read().decode("utf-8", "replace")
        said = told.partition("\n")[0]
    is_unborn = revisions == HEAD and said.endswith("'HEAD'")  # there is no commit yet
    if running.returncode and not is_unborn:
        if git.DISTRUSTS in told:
            raise git.Distrusted(top)
        if "not a git repository" in said:
            raise NotFound(f"{top} {NO_REPOSITORY}", INIT)
        why = said.removeprefix("fatal: ")
        why = "git knows no such commits" if not why or "revision" in why else why
        hint = "write it as main or v1.0..HEAD"
        if oldest_of_shallow(top):
            why, hint = f"{why}, and this clone is shallow", UNSHALLOW
        raise InvalidValue(f"{revisions!r} is no range of commits: {why}", hint)


def files_of(
    top: str, environment: Mapping[str, str], commits: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return the files that commits touched, by commit; none where git does not tell."""
    told = "".join(f"{commit}\n" for commit in commits).encode()
    try:
        done = git.run(top, _FILES, environment, stdin=told)
    except git.UNAVAILABLE:
        return {}
    found: dict[str, list[str]] = {}
    known, current = set(commits), ""
    for name in map(os.fsdecode, done.out.split(b"\0")):
        head = name.partition("\n")[0]
        if head in known:
            current = head
            name = name.partition("\n")[2]  # noqa: PLW2901 - the first file follows its commit
        if name and current:
            found.setdefault(current, []).append(name)
    return {commit: tuple(files) for commit, files in found.items()}


def _fields(pieces: Iterator[bytes]) -> Iterator[str]:
    held = b""
    for piece in pieces:
        *whole, held = (held + piece).split(b"\0")
        yield from (_text(field) for field in whole)
    if held:
        yield _text(held)


def _text(field: bytes) -> str:
    return field[: LONGEST * 4].decode("utf-8", "replace")[:LONGEST]


def _moment(seconds: str) -> datetime:
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


_NOT_YET: Final = "not committed yet"


class LineOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """The commit that a line comes from: its id, author, time and subject."""

    commit: str
    author: str
    at: datetime
    subject: str


def origin_of(
    top: str, environment: Mapping[str, str], file: str, line: int, now: bytes
) -> LineOrigin | str:
    """Return where a line comes from, else why that is not known.

    Filters and text conversions that the repository names are not run.

    Lines are counted from one; `now` is what the file holds.
    """
    asked = ["blame", "--no-textconv", "--porcelain", "-L", f"{line},{line}", "--contents", "-"]
    origin: LineOrigin | None = None
    try:
        plain = git.without_filters(top, environment)
        for text in _with_line_ends(now):
            told = git.run(top, [*asked, "--", file], environment, stdin=text, settings=plain)
            if told.code:
                is_new = "no such path" in told.err or "no such ref" in told.err
                return _NOT_YET if is_new else "git lacks a part of its history in this clone"
            origin = _parse_blame(told.out.decode("utf-8", "replace"))
            if origin.commit.strip("0"):
                break
    except git.UNAVAILABLE:
        return "git cannot be run"
    except git.Distrusted as error:
        return error.message
    if origin is None or not origin.commit.strip("0"):
        return _NOT_YET
    return "older than this shallow clone" if origin.commit in oldest_of_shallow(top) else origin


def _with_line_ends(now: bytes) -> Iterator[bytes]:
    """Yield a file as it is, then with other ends of its lines, which alone make no line new."""
    lines = now.replace(b"\r\n", b"\n").removesuffix(b"\n")
    whole = lines + b"\n"
    yield from dict.fromkeys((now, whole, lines, whole.replace(b"\n", b"\r\n")))


def _parse_blame(porcelain: str) -> LineOrigin:
    """Read what blame tells of one line, in its porcelain form."""
    first, *rest = split_lines(porcelain)
    fields = dict(line.partition(" ")[::2] for line in rest)
    return LineOrigin(
        commit=first.partition(" ")[0],
        author=fields.get("author", ""),
        at=datetime.fromtimestamp(int(fields.get("author-time", 0)), UTC),
        subject=fields.get("summary", ""),
    )
