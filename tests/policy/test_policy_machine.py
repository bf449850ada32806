"""Random agents, lists, records and requests: no answer holds a text from beyond a list."""

import json
import os
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from unittest import mock

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pmem import Project
from pmem.core.policy import ACTIVITY, EVENT
from pmem.errors import PmemError
from pmem.records import Memory, MemoryType, State
from pmem.setup import initialise, write_setting
from tests.faults.console import pmem

CATEGORIES: Final = ("activity", "event", "goals", "person", "procedural", "profile", "tasks")
AGENTS: Final = ("critic", "executor", "planner")
START: Final = datetime(2026, 11, 1, tzinfo=UTC)
some_categories = st.lists(st.sampled_from(CATEGORIES), unique=True, max_size=4)
some_agent = st.sampled_from(AGENTS)
some_category = st.sampled_from(CATEGORIES)
some_filters = st.fixed_dictionaries(
    {},
    optional={
        "user_id": st.sampled_from(["mira", None]),
        "pinned": st.booleans(),
        "category": some_category,
        "importance_min": st.integers(1, 5),
        "importance_max": st.integers(1, 5),
        "updated_after": st.sampled_from(["2026-11-01", "1d", None]),
    },
)
some_request = st.fixed_dictionaries(
    {"query": st.sampled_from(["gear", "gear wheel", "", "the"])},
    optional={
        "categories": some_categories,
        "filters": some_filters,
        "top_k": st.integers(1, 40),
        "return": st.sampled_from(["bullets", "full"]),
        "budget_tokens": st.integers(1, 500),
        "threshold": st.sampled_from([0, 0.3]),
    },
)
COMMANDS: Final = (
    "list --all-states",
    "search gear -k 50",
    "search gear --kind message",
    "search gear --explain --all-states",
    "context gear",
    "context gear --explain --format messages --conversation talk",
    "context gear --thread t",
    "delta --thread t",
    "events --limit 0",
    "export arrays",
    "export audit",
    "stats",
    "facts list",
    "episode list",
    "episode arc",
    "conversation list",
    "conversation show",
    "conversation stats",
    "changelog",
    "check",
    "doctor",
    "consolidate --dry-run",
    "sweep --dry-run",
    "verify",
    "list --at 2026-11-02",
    "search gear --at 2026-11-03",
    "context gear --at 2026-11-02",
)
OF_ONE: Final = (
    "show",
    "history",
    "edit --importance 0.3",
    "rm",
    "restore",
    "pin",
    "unpin",
)


class Policy(RuleBasedStateMachine):
    """A project that people write to, and agents with changing allowlists ask."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory(prefix="pmem-policy-")
        self.root = os.path.join(self._folder.name, ".project-memory")
        initialise(self.root)
        self.hours = 0
        self.tokens: dict[str, tuple[str, str | None]] = {}
        """For each token of a text the category that holds it, or the memory's id that does."""
        self.lists: dict[str, list[str]] = {}
        self._patch = mock.patch("os.fsync")
        self._patch.start()

    def teardown(self) -> None:
        self._patch.stop()
        self._folder.cleanup()

    @property
    def now(self) -> datetime:
        return START + timedelta(hours=self.hours)

    def project(self, agent: str | None = None) -> Project:
        self.hours += 1
        return Project(self.root, actor="ada", now=self.now, agent=agent)

    def token(self, category: str, memory: str | None = None) -> str:
        name = f"qz{len(self.tokens):04}zq"
        self.tokens[name] = (category, memory)
        return name

    @initialize(planner=some_categories, critic=some_categories)
    def begin(self, planner: list[str], critic: list[str]) -> None:
        for agent, names in (("planner", planner), ("critic", critic)):
            self.allow(agent, names)
        project = self.project()
        project.start_conversation(f"talk {self.token(ACTIVITY)}")

    @rule(agent=some_agent, names=some_categories)
    def allow(self, agent: str, names: list[str]) -> None:
        self.lists[agent] = names
        write_setting(os.path.join(self.root, "config.toml"), f"allowlists.{agent}", names)

    @rule(category=some_category, type_=st.sampled_from(list(MemoryType)), pinned=st.booleans())
    def add(self, category: str, type_: MemoryType, pinned: bool) -> None:
        token = self.token(category)
        text = f"The gear {token} turns the wheel {len(self.tokens)}"
        added = self.project().add(
            text, type_, category=category, subject=f"gear {token}", pinned=pinned, force=True
        )
        self.tokens[token] = (category, added.memory.id)

    @rule(seconds=st.integers(0, 3))
    def talk(self, seconds: int) -> None:
        token = self.token(ACTIVITY)
        with mock.patch.dict(os.environ, {"PMEM_PROMOTION_THRESHOLD": "1"}):
            project = self.project()
            project.add_message("user", f"The gear {token} is loud, we decided {seconds}.")
        self.tokens[token] = ("said", None)  # an episode may quote it

    @rule(data=st.data(), category=some_category)
    def move(self, data: Any, category: str) -> None:
        found = self.project().list().items
        if found:
            memory = data.draw(st.sampled_from(found))
            self.project().edit(memory.id, category=category)

    @rule(data=st.data())
    def link(self, data: Any) -> None:
        found = self.project().list().items
        if len(found) > 1:
            one, other = data.draw(st.permutations(found))[:2]
            self.project().link(one.id, other.id)

    @rule(data=st.data())
    def remove(self, data: Any) -> None:
        found = self.project().list().items
        if found:
            self.project().remove(data.draw(st.sampled_from(found)).id)

    @rule(agent=some_agent, line=st.sampled_from(COMMANDS), as_json=st.booleans())
    def ask(self, agent: str, line: str, as_json: bool) -> None:
        self.run(agent, line.split(), as_json=as_json)

    @rule(agent=some_agent, category=some_category, as_json=st.booleans())
    def ask_for_a_category(self, agent: str, category: str, as_json: bool) -> None:
        for command in (["list"], ["search", "gear"]):
            code = self.run(agent, [*command, "--category", category], as_json=as_json)
            assert (code == 7) == (category not in self.lists.get(agent, ()))

    @rule(agent=some_agent, line=st.sampled_from(OF_ONE), data=st.data(), as_json=st.booleans())
    def ask_for_one(self, agent: str, line: str, data: Any, as_json: bool) -> None:
        known = [record for record in self.everything() if record.state is State.ACTIVE]
        if known:
            memory = data.draw(st.sampled_from(known))
            command, *options = line.split()
            code = self.run(agent, [command, memory.id, *options], as_json=as_json)
            if memory.category not in self.lists.get(agent, ()):
                assert code == 7

    @rule(agent=some_agent, request=some_request, as_json=st.booleans(), named=st.booleans())
    def query(self, agent: str, request: dict[str, Any], as_json: bool, named: bool) -> None:
        asked = {**request, "agent": agent} if named else request
        stdin = json.dumps(asked).encode()
        self.run(agent, ["query"], as_json=as_json, stdin=stdin, pinned=not named)

    @precondition(lambda self: self.lists)
    @rule(agent=some_agent, request=some_request)
    def query_in_python(self, agent: str, request: dict[str, Any]) -> None:
        try:
            found = self.project(agent).query(request)
        except PmemError as error:
            self.check(agent, str(error))
        else:
            self.check(agent, repr(found))

    def run(
        self,
        agent: str,
        line: list[str],
        *,
        as_json: bool,
        stdin: bytes = b"",
        pinned: bool = True,
    ) -> int:
        self.hours += 1
        environment = {"PMEM_DIR": self.root, "PMEM_NOW": self.now.isoformat()}
        who = {"PMEM_AGENT": agent} if pinned else {}
        words = [*line, *(["--json"] if as_json else [])]
        done = pmem(*words, stdin=stdin, environment=environment | who)
        assert done.code in (0, 1, 3, 4, 7, 9), (line, done)
        if agent not in self.lists and line[0] != "doctor":
            assert done.code in (3, 7), (line, done)
        self.check(agent, done.out.decode() + done.err)
        return done.code

    def check(self, agent: str, answer: str) -> None:
        """See that an answer holds nothing from beyond the agent's list."""
        allowed = set(self.lists.get(agent, ()))
        categories = {memory.id: memory.category for memory in self.everything()}
        for token, (category, memory) in self.tokens.items():
            if token in answer:
                now = categories.get(memory, category) if memory else category
                seen = {ACTIVITY, EVENT} & allowed if now == "said" else {now} & allowed
                assert seen, (agent, allowed, token, now, answer)

    def everything(self) -> list[Memory]:
        found: list[Memory] = []
        for name in sorted(os.listdir(f"{self.root}/long-term-memory")):
            with open(f"{self.root}/long-term-memory/{name}", "rb") as file:
                value = json.load(file)
            found.append(_READ(value))
        return found

    @invariant()
    def people_see_everything(self) -> None:
        with mock.patch.dict(os.environ):
            assert len(self.everything()) == len(Project(self.root).workspace.memories.ids())


def _memory(value: dict[str, Any]) -> Memory:
    import msgspec

    return msgspec.convert(value, Memory)


_READ: Final[Callable[[dict[str, Any]], Memory]] = _memory

TestPolicy = Policy.TestCase
TestPolicy.settings = settings(
    max_examples=8, stateful_step_count=20, deadline=None, phases=(Phase.explicit, Phase.generate)
)
