"""What is wrong with one record and its file, whatever others there are."""

import os
import shlex
from collections.abc import Callable, Collection, Iterator
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice
from typing import Final

from pmem.core.findings import Finding, Severity, line_of_field, line_of_value
from pmem.core.places import beginning
from pmem.core.rawjson import NotJson, load
from pmem.core.threeway.history import open_conflicts
from pmem.project.references import leads
from pmem.storage.files.worktree import on_disk
from pmem.values.bounds import LARGE_RECORD_BYTES, SEARCHED_CHARACTERS, SEARCHED_NAMES
from pmem.values.ids import short
from pmem.values.records import SAID, Episode, Memory, Record, State, plain
from pmem.values.times import iso, shifted
from pmem.vcs.doubts import overruled

_MOST_LINKS: Final = 100
"""Links of one record that are told; once they are mended, the next ones are."""
CLOCKS_DIFFER: Final = timedelta(days=1)
"""Clocks that are set by hand, or to another zone, differ by less."""
_SHORT: Final = 4000  # characters of texts that are looked at together
_APART: Final = "\n.\n"

ByteSource = Callable[[str], bytes]
"""Returns what the file of a path holds; nothing where it cannot be read."""


class RecordCheck:
    """Looks at one record, as it was read from its file."""

    def __init__(self, path: str, record: Record, source: ByteSource) -> None:
        self._path = path
        self._record = record
        self._source = source

    def findings(self, now: datetime) -> Iterator[Finding]:
        """Yield all that is wrong with the record by itself."""
        yield from self._conflicts()
        yield from self._repeated_keys()
        yield from self._instructions()
        yield from self._times_ahead(now)
        if len(self._data) > LARGE_RECORD_BYTES:
            sentence = (
                f"has {len(self._data)} bytes: of its texts {SEARCHED_CHARACTERS} characters are"
                f" searched, and of its tags {SEARCHED_NAMES}"
            )
            yield self._found("large", sentence, severity="warning")

    def dangling(self, known: Collection[str]) -> Iterator[Finding]:
        """Yield the links that lead nowhere."""
        return self._links_to(lead.id for lead in leads(self._record) if lead.id not in known)

    def left_by(self, gone: Collection[str]) -> Iterator[Finding]:
        """Yield the links to records that go."""
        return self._links_to(lead.id for lead in leads(self._record) if lead.id in gone)

    def lost_places(self, top: str) -> Iterator[Finding]:
        """Yield, as a warning, the places of an active memory where the project has no file."""
        record = self._record
        if not isinstance(record, Memory) or record.state is not State.ACTIVE:
            return
        for place in record.places:
            begins = "" if place.startswith("!") else beginning(place)
            if begins and not os.path.lexists(on_disk(os.path.join(top, begins))):
                name = short(record.id)
                sentence = (
                    f"applies to {place}, but {begins} is not there: `pmem edit {name} --not-for"
                    f" {shlex.quote(place)} --for PLACE` says where it applies now"
                )
                yield self._found("place", sentence, self._line("places"), severity="warning")

    def _links_to(self, missing: Iterator[str]) -> Iterator[Finding]:
        for target in islice(missing, _MOST_LINKS):
            sentence = f"leads to {target}, which does not exist"
            yield self._found("dangling", sentence, line_of_value(self._data, target))

    @cached_property
    def _data(self) -> bytes:
        return self._source(self._path)

    def _line(self, field: str) -> int | None:
        return line_of_field(self._data, field)

    def _found(
        self, code: str, sentence: str, line: int | None = None, severity: Severity = "error"
    ) -> Finding:
        return Finding(self._path, code, f"{self._path} {sentence}", line, severity)

    @property
    def _kept(self) -> Memory | Episode | None:
        """The record, if it says something and has not been removed."""
        record = self._record
        if isinstance(record, Memory | Episode) and record.state is not State.SOFT_DELETED:
            return record
        return None

    def _conflicts(self) -> Iterator[Finding]:
        record = self._kept
        if record is None:
            return
        fields = open_conflicts(plain(record.history))
        left = fields.pop("state", None)
        if left is not None and record.state is State.ACTIVE:
            yield overruled(self._path, record, left, self._line("state"))
        name = short(record.id)
        for field in fields:
            sentence = (
                f"was changed on two branches: the later {field} holds, `pmem log {name}`"
                f" shows the other; `pmem resolve {name}` or `pmem edit {name}` decides"
            )
            yield self._found("conflict", sentence, self._line(field))

    def _repeated_keys(self) -> Iterator[Finding]:
        """Yield a key that stands there twice, as gluing two sides together leaves it.

        The file can be read, but only one of the two values is.
        """
        try:
            load(self._data or b"{}")
        except NotJson as error:
            yield self._found("damaged", f"cannot be taken at its word: {error}")

    def _instructions(self) -> Iterator[Finding]:
        """Yield, as a warning, what speaks to the model that reads it."""
        if self._kept is None:
            return
        from pmem.core.instructions import instruction_in

        texts = {}
        for name in SAID:
            if value := getattr(self._kept, name, None):
                several = (value,) if isinstance(value, str) else value
                texts[name] = "\n".join(getattr(each, "text", each) for each in several)
        joined = _APART.join(texts.values())
        if len(joined) <= _SHORT and instruction_in(joined) is None:  # as nearly always
            return
        for name, text in texts.items():
            what = instruction_in(text)
            if what is not None:
                sentence = f"{what} in its {name}: see whether it belongs there"
                yield self._found("instructions", sentence, self._line(name), severity="warning")
                return

    def _times_ahead(self, now: datetime) -> Iterator[Finding]:
        """Yield, as a warning, a time well in the future: some clock was wrong."""
        record = self._record
        if getattr(record, "state", None) is State.SOFT_DELETED:
            return
        times = [(name, getattr(record, name, None)) for name in ("created_at", "updated_at")]
        times += [("history", event.at) for event in getattr(record, "history", ())]
        limit = shifted(now, CLOCKS_DIFFER)
        field = next((name for name, at in times if at is not None and at > limit), None)
        if field is not None:
            latest = max(at for _, at in times if at is not None)
            sentence = (
                f"has the time {iso(latest)}, which is still to come: set the wrong clock right,"
                " and if it wrote this record, correct the times in the file"
            )
            yield self._found("ahead", sentence, self._line(field), severity="warning")
