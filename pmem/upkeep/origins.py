"""`check origin`: which records something else than pmem changed, and taking them as one's own."""

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec
import orjson

from pmem.core.findings import Finding
from pmem.core.lines import shortened
from pmem.core.secrets import unsecret
from pmem.core.trust import RecordOrigin
from pmem.errors import Ambiguous
from pmem.memory.changes import RecordsRequest
from pmem.project.origins import GitHolds, Origins, origins_of
from pmem.project.workspace import Workspace
from pmem.storage.files.listing import SUFFIX
from pmem.storage.git.repository import short as short_commit
from pmem.values.ids import matches, short

if TYPE_CHECKING:
    from pmem.storage.postgres.records import ServerOrigins

NOTHING_REVIEWED: Final = "reviewed"
"""The code of the finding that nothing counts as reviewed."""
_LONGEST_VALUE: Final = 200
"""Characters of a text that is told."""
_MOST: Final = 5
"""So many fields are told of a record."""
_TEXTS: Final = ("content", "summary", "title", "messages")
_SINCE: Final = " since the last commit"
_WORDS: Final = {
    RecordOrigin.OUTSIDE: f"changed outside pmem{_SINCE}",
    RecordOrigin.MISSING: f"removed outside pmem{_SINCE}",
    RecordOrigin.BROUGHT: "brought by commits that nobody has reviewed",
    RecordOrigin.WRITTEN: "not committed",
}


class OriginRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the commits that brought what was reviewed must be `signed`.

    `named` names what is not committed, too.
    """

    signed: bool = False
    named: bool = False


class OriginsChecked(msgspec.Struct, frozen=True, kw_only=True):
    """How many records have which origin, what holds the reviewed ones, and what is in doubt.

    On a server, `writers` says how many each role wrote last.
    """

    records: int
    origins: dict[RecordOrigin, int]
    reviewed: str
    findings: tuple[Finding, ...]
    writers: dict[str, int] = {}


class TakenRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A record that counts as written here from now on, and whether it is gone."""

    id: str
    short: str
    text: str
    gone: bool


class TakenRecords(msgspec.Struct, frozen=True, kw_only=True):
    """The records that were taken as one's own."""

    items: tuple[TakenRecord, ...]


def check_origins(workspace: Workspace, request: OriginRequest) -> OriginsChecked:
    """Say where all records come from, and which were changed behind pmem's back."""
    origins = origins_of(workspace)
    if origins is None:
        return OriginsChecked(records=0, origins={}, reviewed="", findings=())
    found = origins.everywhere()
    named = request.named and origins.is_in_git
    findings = [
        _finding(origins, path, origin)
        for path, origin in sorted(found.items())
        if origin in _WORDS and (named or origin is not RecordOrigin.WRITTEN)
    ]
    if why := origins.why_nothing:
        said = f"nothing counts as reviewed: {why}"
        findings.append(Finding(workspace.root, NOTHING_REVIEWED, said, severity="warning"))
    if request.signed:
        findings += _unsigned(workspace)
    counts, writers = origins.counts(found)
    return OriginsChecked(
        records=counts.total() - counts[RecordOrigin.MISSING],
        origins={origin: counts[origin] for origin in RecordOrigin if counts[origin]},
        reviewed=origins.reviewed,
        findings=tuple(findings),
        writers=dict(writers.most_common()),
    )


def take(workspace: Workspace, request: RecordsRequest) -> TakenRecords:
    """Take what was changed outside pmem as if pmem had written it just so."""
    origins = origins_of(workspace)
    if origins is None:
        return TakenRecords(items=())
    doubted = [
        (path, os.path.basename(path).removesuffix(SUFFIX), origin)
        for path, origin in origins.everywhere().items()
        if origin in (RecordOrigin.OUTSIDE, RecordOrigin.MISSING)
    ]
    files: dict[str, bytes | None] = {}
    taken = []
    for reference in request.references:
        fitting = [one for one in doubted if matches(reference, one[1])]
        if not fitting:
            workspace.resolve(reference)
            continue
        if len(fitting) > 1:
            named = " and ".join(short(it[1]) for it in fitting[:2])
            raise Ambiguous(f"{reference!r} means {named}", "give more of the id")
        path, identifier, origin = fitting[0]
        files[path] = None if origin is RecordOrigin.MISSING else origins.text(path)
        said = _text(_fields(files[path] or origins.text_before(path)))
        taken.append(
            TakenRecord(id=identifier, short=short(identifier), text=said, gone=files[path] is None)
        )
    origins.accept(files)
    return TakenRecords(items=tuple(taken))


def _finding(origins: "Origins | ServerOrigins", path: str, origin: RecordOrigin) -> Finding:
    whole, now = origins.place(path), _fields(origins.text(path))
    said = _WORDS[origin]
    if origin in (RecordOrigin.BROUGHT, RecordOrigin.WRITTEN):
        return Finding(whole, origin, f"{said}: {_text(now)}", severity="notice")
    before = _fields(origins.text_before(path))
    if not origins.is_in_git:
        writer = origins.writer(path)
        said = said.removesuffix(_SINCE) + f" by {writer}" * bool(writer)
    elif origin is RecordOrigin.OUTSIDE and before is None:
        said = "not committed, and pmem has not noted that it wrote it"
    what = "; ".join(_differences(before, now))
    return Finding(whole, origin, f"{said}: {what}" if what else said, severity="warning")


def _unsigned(workspace: Workspace) -> Iterator[Finding]:
    for one in GitHolds(workspace).unsigned():
        why = "has no signature" if one.state == "N" else f"has no good signature ({one.state})"
        said = f"commit {short_commit(one.commit)} of {one.author} {why}: {one.subject}"
        yield Finding(workspace.root, "unsigned", unsecret(said), severity="warning")


def _differences(before: dict[str, Any] | None, now: dict[str, Any] | None) -> Iterator[str]:
    """Yield what differs between what a record was and is, its words first."""
    if before is None or now is None:
        yield from (
            f"it {verb} {_text(it)}" for verb, it in (("says", now), ("said", before)) if it
        )
        return
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    names.sort(key=lambda name: name not in _TEXTS)
    for name in names[:_MOST]:
        yield f"{name} was {_value_in_words(before.get(name))}, is {_value_in_words(now.get(name))}"
    if len(names) > _MOST:
        yield f"and {len(names) - _MOST} more fields differ"


def _text(fields: dict[str, Any] | None) -> str:
    found = (fields.get(name) for name in _TEXTS) if fields else ()
    return next((_value_in_words(value) for value in found if value), "nothing that can be read")


def _value_in_words(value: Any) -> str:
    with suppress(TypeError):
        text = orjson.dumps(value).decode()
        return shortened(unsecret(text), _LONGEST_VALUE)
    return "something else"


def _fields(data: bytes | None) -> dict[str, Any] | None:
    try:
        fields = orjson.loads(data or b"")
    except orjson.JSONDecodeError:
        return None
    return fields if isinstance(fields, dict) else None
