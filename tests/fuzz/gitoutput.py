"""What git prints, with names, authors and subjects that anybody may have chosen."""

import io
from collections.abc import Callable, Mapping
from typing import Any, Final

from pmem.storage.git import git
from pmem.storage.git.merge_stages import MergeState
from pmem.storage.git.objects import _content
from pmem.storage.git.project_files import _parse_tracked as tracked
from pmem.storage.git.repository import Repository
from tests.fuzz.judging import Entry

_BLOB: Final = b"8ab686eafeb1f44702738c8b0f24f2567c36da6d"
_NONE: Final = b"0" * 40


def _says(type_: type[Repository], data: bytes) -> Any:
    """Return a repository whose git says this, whatever it is asked."""

    class Told(type_):  # type: ignore[misc,valid-type]
        def _run(self, *_arguments: str, stdin: bytes = b"", index: str = "") -> git.GitResult:
            return git.GitResult(0, data, "")

        def _head_or_nothing(self) -> str:
            return "HEAD"

    made: Mapping[type[Repository], Callable[[], Repository]] = {
        Repository: lambda: Told("/memory", {}),
        MergeState: lambda: Told("/memory", {}, ".project-memory/", "/repository/.git"),
    }
    return made[type_]()


def _listed(line: bytes, names: bytes) -> bytes:
    """Return a line for every name; git ends each with a zero byte, so no name has one."""
    return b"".join(line % name + b"\0" for name in names.split(b"\0") if name)


def _tree(data: bytes) -> Any:
    listed = _listed(b"100644 blob %s\t%%s" % _BLOB, data)
    return _says(Repository, listed).files("HEAD")


def _differing(data: bytes) -> Any:
    listed = _listed(b":100644 000000 %s %s D\0%%s" % (_BLOB, _NONE), data)
    return _says(Repository, b"%s\0%s" % (_BLOB, listed)).differing([("HEAD", "HEAD~1")], ["x"])


def _index(data: bytes) -> Any:
    """Read the listing of an index in which every stage comes up."""
    names = [name for name in data.split(b"\0") if name]
    listed = b"".join(
        b"100644 %s %d\t%s\0" % (_BLOB, place % 4, name) for place, name in enumerate(names)
    )
    state = _says(MergeState, listed)
    merged = state.unmerged(), state.tracked(["a"]), state.staging("")
    return merged, list(tracked(listed.split(b"\0")[:-1]))


def _log(data: bytes) -> Any:
    parts = (data.split(b"\0") + [b""] * 4)[:4]
    author, at, subject = (part.replace(b"\n", b" ") for part in parts[:3])
    head = b"\x01%s\0%s\0%s\0%s\0\n" % (_BLOB, author, at, subject)
    raw = b":100644 100644 %s %s M\0%s\0" % (_BLOB, _NONE, parts[3])
    (commit,) = _says(Repository, head + raw).log("HEAD", "a", whole=True)
    return commit


def _touched(data: bytes) -> Any:
    return _says(Repository, _listed(b"%s", data)).touched("HEAD", ["conversations"])


def _changes(data: bytes) -> Any:
    about = b":100644 000000 %s %s D\0%%s" % (_BLOB, _NONE)
    return _says(Repository, _listed(about, data)).changes("")


def _paths(data: bytes) -> Any:
    repository = _says(Repository, data.replace(b"\0", b"") + b"\n")
    return repository.top(), repository.place(), repository.own_folder()


def _object(data: bytes) -> Any:
    stream = io.BytesIO(b"%s blob %d\n%s\n" % (_BLOB, len(data), data))
    assert _content(stream, stream.readline().split()) == data
    torn = io.BytesIO(b"%s blob %d\n%s" % (_BLOB, len(data) + 9, data))
    assert _content(torn, torn.readline().split()) is None


_NAMES: Final = b"conversations/0a0a0a0a-k3v9m2x1.json\0a b\xff.json\0tab\there\n.json\0../x\0a/b/c"
_WRITTEN: Final = b"Ada \xff\x002026-11-21T14:30:00+01:00\0Subject \x1b[2J\0conversations/a.json"

ENTRIES: Final = (
    Entry("git ls-tree", _tree, (_NAMES,)),
    Entry("git diff-tree", _differing, (_NAMES,)),
    Entry("git ls-files", _index, (_NAMES,)),
    Entry("git log", _log, (_WRITTEN,)),
    Entry("git log --name-only", _touched, (_NAMES,)),
    Entry("git diff-index", _changes, (_NAMES,)),
    Entry("git rev-parse", _paths, (b"/home/ada/\xffproject",)),
    Entry("git cat-file", _object, (b"hello", b"{}")),
)
