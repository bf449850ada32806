"""Changes as server-sent events: one for each record, for as long as the client stays.

A client that comes back says in `Last-Event-ID` what it knows. Where some of what came after is not
known any more, it is sent `reset`: look at everything anew.
"""

from collections.abc import AsyncIterator
from typing import Final
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from pmem.errors import PmemError
from pmem.operations.operation import json_line
from pmem.project.caller import asked_by
from pmem.project.workspace import Workspace
from pmem.server.http.changes import ChangeWatch, StreamedChange
from pmem.server.http.endpoints import AnswerDesk, HttpRefusal, query_of, refused
from pmem.server.http.guard import HOLDER, response_to
from pmem.server.http.tokens import TokenHolder, Tokens
from pmem.values.records import KINDS

PATH: Final = "/api/events"
MOST_STREAMS: Final = 64
SILENCE_SECONDS: Final = 15.0
"""After so long without a change, a comment shows that the server is there."""

_TYPES: Final = {kind: type_ for type_, kind in KINDS.items()}
_HEADERS: Final = {"X-Accel-Buffering": "no"}


class EventStreams:
    """The streams of changes that clients have open."""

    def __init__(self, desk: AnswerDesk, watch: ChangeWatch, tokens: Tokens) -> None:
        self._desk, self._watch, self._tokens = desk, watch, tokens
        self._open = 0
        self._born = uuid4().hex[:8]
        self._is_closing = False

    async def answer(self, request: Request) -> Response:
        """Answer `GET /api/events`."""
        try:
            query_of(request.query_params.multi_items())
            if self._open >= MOST_STREAMS:
                raise HttpRefusal(503, "busy", f"{MOST_STREAMS} clients listen already")
        except PmemError as error:
            return response_to(refused(error))
        holder: TokenHolder = request.scope["state"][HOLDER]
        known = request.headers.get("last-event-id", "")
        return StreamingResponse(
            self._stream(holder, known), media_type="text/event-stream", headers=_HEADERS
        )

    def close(self) -> None:
        """End every stream."""
        self._is_closing = True
        self._watch.wake()

    async def _stream(self, holder: TokenHolder, known: str) -> AsyncIterator[bytes]:
        self._open += 1
        try:
            await self._watch.begin()
            place = self._place_of(known)
            yield _event("hello" if place is not None else "reset", self._name(), b"{}")
            place = self._watch.last_number if place is None else place
            while not self._is_closing and self._tokens.knows(holder):
                found = self._watch.since(place)
                place = self._watch.last_number
                if found is None:
                    yield _event("reset", self._name(), b"{}")
                    continue
                for change in await self._seen(holder, found):
                    name = f"{self._born}-{change.number}"
                    yield _event("change", name, json_line(change).strip())
                if self._watch.last_number == place:
                    before = self._watch.last_number
                    await self._watch.wait(SILENCE_SECONDS)
                    if self._watch.last_number == before:
                        yield b": keep-alive\n\n"
        finally:
            self._open -= 1
            self._watch.end()

    def _name(self) -> str:
        return f"{self._born}-{self._watch.last_number}"

    def _place_of(self, known: str) -> int | None:
        """Return the number of the change that a client knows; None for one that means nothing."""
        if not known:
            return self._watch.last_number
        born, _, number = known.partition("-")
        is_ours = born == self._born and number.isascii() and number.isdigit() and len(number) < 16
        if not is_ours or self._watch.since(int(number)) is None:
            return None
        return int(number)

    async def _seen(self, holder: TokenHolder, found: list[StreamedChange]) -> list[StreamedChange]:
        """Return the changes of records that whoever listens may see."""
        if holder.is_person or not found:
            return found

        def seen_by_them() -> list[StreamedChange]:
            asking = asked_by(self._desk.opened(), holder.caller)
            return found if asking.reach is None else [one for one in found if _has(asking, one)]

        return await self._desk.run(seen_by_them, writes=False)


def _has(asking: Workspace, change: StreamedChange) -> bool:
    """Tell whether somebody may see the record of a change."""
    try:
        asking.store(_TYPES[change.kind]).get(change.id)
    except PmemError:
        return False
    return True


def _event(name: str, identifier: str, data: bytes) -> bytes:
    return b"event: %b\nid: %b\ndata: %b\n\n" % (name.encode(), identifier.encode(), data)
