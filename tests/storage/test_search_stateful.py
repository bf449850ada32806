"""Whatever happens to a memory folder, its index ranks as a look at every file does."""

import contextlib
import os
import random
import shutil
import sqlite3
import tempfile
import time
from datetime import timedelta
from typing import Any
from unittest import mock

import msgspec
import orjson
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from pmem.conversation.conversations import SayRequest, StartRequest
from pmem.conversation.exchange import MessagesRequest
from pmem.errors import Damaged, InvalidValue, NotFound
from pmem.memory import conversations
from pmem.memory.changes import RecordsRequest, RestoreRequest
from pmem.memory.lifecycle import PurgeRequest
from pmem.memory.requests import AddRequest, EditRequest, LinkRequest, UnlinkRequest
from pmem.operations import table
from pmem.project.setup import initialise
from pmem.project.workspace import Workspace
from pmem.storage.index import database
from pmem.values.records import (
    STORES,
    Chunk,
    Conversation,
    Episode,
    EpisodeType,
    Memory,
    Record,
    Relationship,
    dump,
)
from tests.asking import ask
from tests.conftest import NOW
from tests.effort import examples
from tests.storage.faults import in_a_child
from tests.storage.folders import contents, fixed_chance, opened, path_of, write
from tests.storage.searches import REQUESTS, TEXTS, check

texts = st.sampled_from(TEXTS)
places = st.integers(0, 30)
types = st.sampled_from(["related_to", "contradicts", "x"])
strengths = st.sampled_from([0.0, 0.3, 0.5, 1.0])
STEP = 4  # requests asked after every change; the next ones follow after the next change
_HOUR = 3_600_000_000_000
_clock = time.time_ns


class Chaos(RuleBasedStateMachine):
    """Commands, editors, merges, crashes and damage, one after the other."""

    ahead = 0
    """By how much the clock of looks is ahead: nothing seems young, and trust is all on stamps."""

    def __init__(self) -> None:
        super().__init__()
        self.base = tempfile.mkdtemp()
        self.root = os.path.join(self.base, "memory")
        self.steps = 0
        self.asked = 0
        self.is_noisy = False

    @initialize()
    def start(self) -> None:
        initialise(self.root)
        self.path = os.path.join(self.root, "local", database.FILE)
        ahead = mock.Mock(side_effect=lambda: _clock() + self.ahead)
        patch = mock.patch("pmem.storage.index.records.time.time_ns", ahead)
        self.patches = contextlib.ExitStack()
        self.patches.enter_context(patch)

    def teardown(self) -> None:
        self.patches.close()
        shutil.rmtree(self.base)

    def command(self, action: Any, *args: Any, **kwargs: Any) -> None:
        self.steps += 1
        workspace = opened(self.root, now=NOW + timedelta(minutes=self.steps))
        with fixed_chance(self.steps), contextlib.suppress(NotFound, InvalidValue, Damaged):
            action(workspace, *args, **kwargs)

    def some(self, type_: type[Any], place: int) -> Any:
        """Return one of the usable records of a type, or None."""
        found = list(opened(self.root).backend.scan(type_))
        return found[place % len(found)] if found else None

    def save(self, record: Record, *, rename: bool) -> None:
        """Write as others do; the time differs from every other, as it does in a real life."""
        self.steps += 1
        path = path_of(self.root, record.id, type(record))
        target = path + ".new" if rename else path
        write(target, dump(record))
        os.utime(target, ns=(1, 1_700_000_000_123_456_789 + self.steps))
        os.replace(target, path)

    @rule(text=texts, tagged=st.booleans(), minutes=st.sampled_from([0, 0, 0, 5, 90_000]))
    def add(self, text: str, tagged: bool, minutes: int) -> None:
        request = AddRequest(
            content=text,
            subject="apple café" if tagged else None,
            tags=("fruit",) if tagged else (),
            importance=0.2 if tagged else None,
            valid_until=NOW + timedelta(minutes=minutes) if minutes else None,
            force=True,
        )
        self.command(ask, table.ADD, request)

    @rule(place=places, text=texts)
    def edit(self, place: int, text: str) -> None:
        if found := self.some(Memory, place):
            self.command(ask, table.EDIT, EditRequest(reference=found.id, content=text))

    @rule(place=places, action=st.sampled_from([table.REMOVE, table.RESTORE]))
    def remove_or_restore(self, place: int, action: Any) -> None:
        if found := self.some(Memory, place):
            kind = RestoreRequest if action is table.RESTORE else RecordsRequest
            self.command(ask, action, kind(references=(found.id,)))

    @rule(place=places, other=places, type_=types, strength=strengths)
    def link(self, place: int, other: int, type_: str, strength: float) -> None:
        one, two = self.some(Memory, place), self.some(Memory, other)
        if one and two:
            asked = LinkRequest(start=one.id, end=two.id, type=type_, strength=strength)
            self.command(ask, table.LINK, asked)

    @rule(place=places, type_=types | st.none())
    def unlink(self, place: int, type_: str | None) -> None:
        if (found := self.some(Memory, place)) and found.relationships:
            end = found.relationships[0].target
            self.command(ask, table.UNLINK, UnlinkRequest(start=found.id, end=end, type=type_))

    @rule(place=places, other=places, type_=types, strength=strengths, times=st.integers(0, 3))
    def link_outside(self, place: int, other: int, type_: str, strength: float, times: int) -> None:
        """An editor may link a memory to itself, to what is no memory, or several times."""
        found = self.some(Memory, place)
        target = self.some(Memory if times % 2 else Conversation, other)
        if found and target:
            link = Relationship(target=target.id, type=type_, strength=strength)
            links = (*found.relationships[1:], *(link,) * times)
            self.save(msgspec.structs.replace(found, relationships=links), rename=True)

    @rule(place=places, type_=st.sampled_from([Memory, Conversation]))
    def purge(self, place: int, type_: type[Record]) -> None:
        if found := self.some(type_, place):
            asked = PurgeRequest(references=(found.id,), force=True)
            self.command(ask, table.PURGE, asked)

    @rule(said=st.lists(texts, min_size=1, max_size=6), speaker=st.sampled_from(["Ann", None]))
    def say(self, said: list[str], speaker: str | None) -> None:
        for text in said:
            self.command(self._say, SayRequest(content=text, speaker=speaker))

    def _say(self, workspace: Workspace, request: SayRequest) -> None:
        if conversations.current(workspace) is None:
            ask(workspace, table.START, StartRequest(title="talk"))
        ask(workspace, table.SAY, request)

    @rule(said=st.lists(texts, max_size=9), name=st.sampled_from("tu"))
    def import_transcript(self, said: list[str], name: str) -> None:
        lines = [
            orjson.dumps(
                {"conversation": name, "id": str(n), "speaker": "Ann Lee", "content": line}
            )
            for n, line in enumerate(said)
        ]
        self.command(ask, table.IMPORT_MESSAGES, MessagesRequest(lines=lines, name=name))

    @rule(text=texts)
    def remember_episode(self, text: str) -> None:
        episode = Episode(
            id=f"mjwaid1q-e{self.steps:07d}",
            type=EpisodeType.TASK_COMPLETED,
            title=text,
            summary="Ann and the river",
            created_at=NOW,
            updated_at=NOW,
        )
        self.save(episode, rename=True)

    @rule(place=places, text=texts, rename=st.booleans())
    def edit_outside(self, place: int, text: str, rename: bool) -> None:
        if found := self.some(Memory, place):
            self.save(msgspec.structs.replace(found, content=text), rename=rename)

    @rule(place=places, text=texts, rename=st.booleans())
    def edit_a_message_outside(self, place: int, text: str, rename: bool) -> None:
        if (found := self.some(Chunk, place)) and found.messages:
            first = msgspec.structs.replace(found.messages[0], content=text)
            messages = (first, *found.messages[1:])
            self.save(msgspec.structs.replace(found, messages=messages), rename=rename)

    @rule(place=places, number=st.integers(0, 3))
    def merge_twice_kept_messages(self, place: int, number: int) -> None:
        """Another clone has put the same messages into a chunk of its own."""
        if found := self.some(Chunk, place) or self.some(Conversation, place):
            held = found.messages if isinstance(found, Chunk) else found.recent_messages
            chunk = Chunk(
                id=f"zjwaid1q-{number:08d}",
                conversation=found.conversation if isinstance(found, Chunk) else found.id,
                number=number,
                summary="river",
                created_at=NOW,
                messages=(*held, *held[:number]),
            )
            self.save(chunk, rename=True)

    @rule(place=places, store=st.sampled_from(list(STORES.values())))
    def delete_outside(self, place: int, store: str) -> None:
        if names := sorted(os.listdir(os.path.join(self.root, store))):
            os.unlink(os.path.join(self.root, store, names[place % len(names)]))

    @rule(place=places, store=st.sampled_from(list(STORES.values())), size=st.integers(0, 200))
    def damage(self, place: int, store: str, size: int) -> None:
        if names := sorted(os.listdir(os.path.join(self.root, store))):
            self.steps += 1
            path = os.path.join(self.root, store, names[place % len(names)])
            write(path, contents(path)[:size])
            os.utime(path, ns=(1, 1_700_000_000_123_456_789 + self.steps))

    @rule(name=st.sampled_from([b"notes", b"\xff", b"a\nb", b"0-ABCDEFGH", b" "]))
    def leave_a_stray_file(self, name: bytes) -> None:
        folder = os.fsencode(os.path.join(self.root, "long-term-memory"))
        with open(os.path.join(folder, name + b".json"), "wb") as file:
            file.write(b"{}")

    @rule(chance=st.integers(0, 2**32), kind=st.sampled_from(["gone", "short", "noise", "foreign"]))
    def damage_the_index(self, chance: int, kind: str) -> None:
        if not os.path.exists(self.path):
            return
        if kind == "gone":
            os.unlink(self.path)
        elif kind == "short":
            os.truncate(self.path, chance % os.path.getsize(self.path))
        elif kind == "foreign":
            with contextlib.closing(sqlite3.connect(self.path)) as connection:
                connection.execute(f"pragma user_version = {chance % 90 + 9}")
        else:
            self.is_noisy = True  # found out when a search comes to that page, and not before
            data = bytearray(contents(self.path))
            start = chance % len(data) // 4096 * 4096
            data[start : start + 4096] = random.Random(chance).randbytes(4096)
            write(self.path, bytes(data))

    @rule(calls=st.integers(1, 40), text=texts)
    def die_while_updating(self, calls: int, text: str) -> None:
        self.add(text, False, 0)
        self.edit_outside(calls, text, True)
        in_a_child(lambda: die_at(self.root, calls))

    @rule(text=texts)
    def update_at_once(self, text: str) -> None:
        self.add(text, True, 0)
        children = [os.fork() for _ in range(1)]
        if 0 in children:
            code = 1
            try:
                check(self.root, REQUESTS[0], index=not self.is_noisy)
                code = 0
            finally:
                os._exit(code)
        check(self.root, REQUESTS[0], index=not self.is_noisy)
        assert [os.waitpid(child, 0)[1] for child in children] == [0]

    @invariant()
    def ranks_as_from_scratch(self) -> None:
        wanted = [REQUESTS[0]]
        wanted += [REQUESTS[(self.asked + n) % len(REQUESTS)] for n in range(STEP)]
        self.asked += STEP
        check(self.root, *wanted, index=not self.is_noisy)


class ChaosWithoutYouth(Chaos):
    """The same where every file seems old, so that nothing is read again for being young."""

    ahead = _HOUR


def die_at(root: str, calls: int) -> None:
    """Search, and die at the n-th statement that the database is told."""
    left = iter(range(calls - 1))
    connect = sqlite3.connect

    class Mortal(sqlite3.Connection):
        def execute(self, *args: Any) -> sqlite3.Cursor:
            if next(left, None) is None:
                os._exit(137)
            return super().execute(*args)

        def executemany(self, *args: Any) -> sqlite3.Cursor:
            if next(left, None) is None:
                os._exit(137)
            return super().executemany(*args)

    def connected(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        return connect(*args, factory=Mortal, **kwargs)

    with mock.patch("sqlite3.connect", connected):
        check(root, REQUESTS[0])


_SETTINGS = settings(
    max_examples=examples(24),
    stateful_step_count=12,
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
)
TestChaos = Chaos.TestCase
TestChaos.settings = _SETTINGS
TestChaosWithoutYouth = ChaosWithoutYouth.TestCase
TestChaosWithoutYouth.settings = _SETTINGS
