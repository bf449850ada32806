"""Random agents, lists, records and requests: no answer holds a text from beyond a list.

Every text has a token of its own. An agent may read a token where a record that it may see holds
it, and no call of an agent changes, adds or removes a record that it may not see.
"""

import json
import os
import re
import tempfile
from collections.abc import Set
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple
from unittest import mock

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from pmem import Project
from pmem.core.policy import ACTIVITY, EVENT
from pmem.errors import PmemError, Refused
from pmem.records import STORES, Episode, Memory, MemoryType
from pmem.setup import initialise, write_setting
from tests.faults.console import pmem
from tests.policy.calls import CALLS, OPENING, WHOLE, Given, public

CATEGORIES: Final = ("activity", "event", "goals", "person", "procedural", "profile", "tasks")
AGENTS: Final = ("critic", "executor", "planner")
START: Final = datetime(2026, 11, 1, tzinfo=UTC)
SHARED: Final = "/dev/shm"
_TOKEN: Final = re.compile("qz[0-9]{4}zq")
some_categories = st.lists(st.sampled_from(CATEGORIES), unique=True, max_size=5)
some_agent = st.sampled_from(AGENTS)
some_category = st.sampled_from(CATEGORIES)
some_filters = st.fixed_dictionaries(
    {},
    optional={
        "user_id": st.sampled_from(["mira", None]),
        "agent_id": st.sampled_from([*AGENTS, None]),
        "run_id": st.none(),
        "actor_id": st.none(),
        "role": st.sampled_from(["user", None]),
        "pinned": st.booleans(),
        "category": some_category,
        "importance_min": st.integers(1, 5),
        "importance_max": st.integers(1, 5),
        "updated_after": st.sampled_from(["2026-11-01", "1d", None]),
        "updated_before": st.sampled_from(["2026-11-03", None]),
    },
)
some_request = st.fixed_dictionaries(
    {"query": st.sampled_from(["gear", "gear wheel", "", "the"])},
    optional={
        "agent": some_agent,
        "categories": some_categories,
        "filters": some_filters,
        "top_k": st.integers(1, 40),
        "return": st.sampled_from(["bullets", "full"]),
        "budget_tokens": st.integers(1, 500),
        "threshold": st.sampled_from([0, 0.3]),
    },
)
Drawn = tuple[int, int, str, bool, dict[str, Any]]
some_arguments = st.tuples(
    st.integers(0, 99), st.integers(0, 99), some_category, st.booleans(), some_request
)
SEEN: Final = (
    "conversations",
    "episodes",
    "facts",
    "list",
    "query",
    "search",
    "show",
    "transcript",
)
"""Calls that are made more often: most leaks would pass through them."""
some_call = st.sampled_from([*CALLS, *SEEN, *SEEN])
COMMANDS: Final = (
    "list --all-states",
    "list --block",
    "search gear -k 50",
    "search gear --kind message",
    "search gear --explain --all-states",
    "context gear --explain",
    "context gear --format messages --conversation talk",
    "context gear --thread t",
    "delta --thread t",
    "events --limit 0",
    "events --operations",
    "export arrays",
    "export audit",
    "stats",
    "facts list",
    "episode list",
    "episode arc",
    "conversation list",
    "conversation show",
    "conversation stats",
    "consent list",
    "app list",
    "app list calendar",
    "app context calendar",
    "changelog",
    "check",
    "doctor",
    "list --at 2026-11-02",
    "search gear --at 2026-11-03",
    "context gear --at 2026-11-02",
)
OF_ONE: Final = ("show", "history", "edit --importance 0.3", "rm", "restore", "pin", "unpin")


class Kept(NamedTuple):
    """A record's file: the category by which it is seen, and what it holds."""

    category: str
    is_memory: bool
    data: bytes

    @property
    def tokens(self) -> set[str]:
        return tokens(self.data.decode())


def tokens(text: str) -> set[str]:
    return set(_TOKEN.findall(text.lower()))


class Policy(RuleBasedStateMachine):
    """A project that people write to, and agents with changing allowlists ask and write to."""

    def __init__(self) -> None:
        super().__init__()
        place = SHARED if os.path.isdir(SHARED) else None
        self._folder = tempfile.TemporaryDirectory(prefix="pmem-policy-", dir=place)
        self.root = os.path.join(self._folder.name, ".project-memory")
        initialise(self.root)
        self.hours = 0
        self.texts = 0
        self.lists: dict[str, list[str]] = {}
        self._patch = mock.patch("os.fsync")
        self._patch.start()

    def teardown(self) -> None:
        self._patch.stop()
        self._folder.cleanup()

    def project(self, agent: str | None = None) -> Project:
        self.hours += 1
        now = START + timedelta(hours=self.hours)
        return Project(self.root, actor="ada", now=now, agent=agent)

    def text(self) -> str:
        self.texts += 1
        return f"The gear qz{self.texts:04}zq turns wheel {self.texts}"

    @initialize(planner=some_categories, critic=some_categories)
    def begin(self, planner: list[str], critic: list[str]) -> None:
        self.allow("planner", planner)
        self.allow("critic", critic)
        self.project().start_conversation(self.text())

    @rule(agent=some_agent, names=some_categories)
    def allow(self, agent: str, names: list[str]) -> None:
        self.lists[agent] = names
        write_setting(os.path.join(self.root, "config.toml"), f"allowlists.{agent}", names)

    @rule(
        category=some_category,
        type_=st.sampled_from(list(MemoryType)),
        pinned=st.booleans(),
        user=st.sampled_from([None, "mira"]),
    )
    def add(self, category: str, type_: MemoryType, pinned: bool, user: str | None) -> None:
        text, subject = self.text(), self.text()
        fields = {"subject": subject, "pinned": pinned, "user": user}
        self.project().add(text, type_, category=category, force=True, **fields)

    @rule(name=some_call, drawn=some_arguments)
    def a_person_calls(self, name: str, drawn: Drawn) -> None:
        refused = ""
        try:
            plain(CALLS[name](self.project(), self.given(drawn)))
        except PmemError as error:
            refused = error.message
        assert "may not" not in refused or name == "query"  # which may name an agent that asks

    @rule(agent=some_agent, name=some_call, drawn=some_arguments)
    def an_agent_calls(self, agent: str, name: str, drawn: Drawn) -> None:
        self.call(agent, self.project(agent), name, drawn)

    @rule(agent=some_agent, name=some_call, drawn=some_arguments, back=st.integers(0, 30))
    def an_agent_asks_the_past(self, agent: str, name: str, drawn: Drawn, back: int) -> None:
        moment = START + timedelta(hours=max(1, self.hours - back))
        if agent in self.lists:
            self.call(agent, self.project(agent).at(moment), name, drawn)

    @rule(agent=some_agent, request=some_request, back=st.integers(0, 30))
    def a_view_is_asked_for_an_agent(self, agent: str, request: Any, back: int) -> None:
        moment = START + timedelta(hours=max(1, self.hours - back))
        try:
            answer = plain(self.project().at(moment).query({**request, "agent": agent}))
        except PmemError as error:
            answer = said(error)
        self.check(agent, self.kept(), answer)

    @rule(agent=some_agent, line=st.sampled_from(COMMANDS), as_json=st.booleans())
    def ask(self, agent: str, line: str, as_json: bool) -> None:
        self.run(agent, line.split(), as_json=as_json)

    @rule(agent=some_agent, category=some_category, as_json=st.booleans())
    def ask_for_a_category(self, agent: str, category: str, as_json: bool) -> None:
        for command in (["list"], ["search", "gear"]):
            code = self.run(agent, [*command, "--category", category], as_json=as_json)
            assert (code == 7) == (category not in self.lists.get(agent, ()))

    @rule(
        agent=some_agent, line=st.sampled_from(OF_ONE), drawn=some_arguments, as_json=st.booleans()
    )
    def ask_for_one(self, agent: str, line: str, drawn: Drawn, as_json: bool) -> None:
        reference = self.given(drawn).ref
        command, *options = line.split()
        before = self.kept()
        code = self.run(agent, [command, reference, *options], as_json=as_json)
        kept = before.get(reference)
        if kept and kept.is_memory and not self.sees(agent, kept):
            assert code == 7

    @rule(agent=some_agent, request=some_request, as_json=st.booleans())
    def query(self, agent: str, request: dict[str, Any], as_json: bool) -> None:
        asked = json.dumps({**request, "agent": agent}).encode()
        self.run(agent, ["query"], as_json=as_json, stdin=asked, pinned=not as_json)

    @invariant()
    def people_see_everything(self) -> None:
        stored = sum(len(self.project().workspace.whole.ids(type_)) for type_ in STORES)
        assert len(self.kept()) == stored

    def given(self, drawn: Drawn) -> Given:
        known = sorted(self.kept()) or ["mvx00000-aaaaaaaa"]
        one, other, category, flag, request = drawn
        ref, far = known[one % len(known)], known[other % len(known)]
        return Given(ref, far, self.text(), category, flag, request)

    def call(self, agent: str, project: Project, name: str, drawn: Drawn) -> None:
        given = self.given(drawn)
        before = self.kept()
        if name == "query":
            given = given._replace(request={**given.request, "agent": agent})
        try:
            answer = plain(CALLS[name](project, given))
        except PmemError as error:
            answer = said(error)
        else:
            assert agent in self.lists or not tokens(answer)
        self.check(agent, before, answer, own=tokens(given.text))

    def run(
        self, agent: str, line: list[str], *, as_json: bool, stdin: bytes = b"", pinned: bool = True
    ) -> int:
        self.hours += 1
        now = (START + timedelta(hours=self.hours)).isoformat()
        environment = {"PMEM_DIR": self.root, "PMEM_NOW": now}
        who = {"PMEM_AGENT": agent} if pinned else {}
        words = [*line, *(["--json"] if as_json else [])]
        before = self.kept()
        done = pmem(*words, stdin=stdin, environment=environment | who)
        assert done.code in (0, 1, 3, 4, 7, 9), (line, done)
        if agent not in self.lists and line not in (["doctor"], ["consent", "list"]):
            assert done.code in (3, 7), (line, done)
        self.check(agent, before, done.out.decode() + done.err)
        return done.code

    def check(
        self, agent: str, before: dict[str, Kept], answer: str, own: Set[str] = frozenset()
    ) -> None:
        """See that an answer holds, and what was written changed, nothing beyond the list."""
        after = self.kept()
        for id_ in before.keys() | after.keys():
            versions = [kept[id_] for kept in (before, after) if id_ in kept]
            if len(versions) < 2 or versions[0] != versions[1]:
                assert all(self.sees(agent, kept) for kept in versions), (agent, id_, versions)
        beyond = tokens(answer) - own
        for kept in (*before.values(), *after.values()):
            if beyond and self.sees(agent, kept):
                beyond -= kept.tokens
        assert not beyond, (agent, self.lists.get(agent), beyond, answer)

    def sees(self, agent: str, kept: Kept) -> bool:
        return kept.category in self.lists.get(agent, ())

    def kept(self) -> dict[str, Kept]:
        """Return what every record's file holds, by its id."""
        found = {}
        for type_, store in STORES.items():
            for entry in os.scandir(os.path.join(self.root, store)):
                if entry.name.endswith(".json"):
                    with open(entry.path, "rb") as file:
                        data = file.read()
                    category = EVENT if type_ is Episode else ACTIVITY
                    if type_ is Memory:
                        category = json.loads(data)["category"]
                    found[entry.name.removesuffix(".json")] = Kept(category, type_ is Memory, data)
        return found


def plain(answer: Any) -> str:
    """Return everything that an answer says."""
    is_many = hasattr(answer, "__next__")
    return repr(list(answer) if is_many else answer)


def said(error: PmemError) -> str:
    return f"{error.message} {error.hint}"


TestPolicy = Policy.TestCase
TestPolicy.settings = settings(
    max_examples=int(os.environ.get("POLICY_EXAMPLES", "18")),
    stateful_step_count=int(os.environ.get("POLICY_STEPS", "30")),
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
)


def test_every_public_call_is_tried() -> None:
    assert public() == set(CALLS) | OPENING


@pytest.mark.parametrize("name", WHOLE)
def test_what_takes_in_every_category_is_refused_in_python_too(name: str, root: str) -> None:
    reference = Project(root).add("The gear turns", category="goals").memory.id
    write_setting(f"{root}/config.toml", "allowlists.planner", ["goals"])
    given = Given(reference, reference, "The wheel turns", "goals", False, {})
    with pytest.raises(Refused, match="planner may not "):
        plain(CALLS[name](Project(root, agent="planner"), given))
