"""Random agents, apps, lists, records and requests: no answer holds what may not be seen.

Every text has a token of its own. Whoever asks may read a token where a record that they may see
holds it: of a category in the agent's list, and of no other app. What waits for consent is in no
record. No call changes, adds or removes a record that may not be seen.
"""

import json
import os
import re
import tempfile
from collections.abc import Iterable, Set
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
from pmem.project.setup import initialise, write_setting
from pmem.values.records import STORES, Episode, Memory, MemoryType
from tests.effort import examples
from tests.faults.console import pmem
from tests.labelled import sections
from tests.policy.calls import BLOCKS, CALLS, OPENING, WHOLE, Given, public

CATEGORIES: Final = ("activity", "event", "goals", "person", "procedural", "profile", "tasks")
AGENTS: Final = ("critic", "executor", "planner")
APPS: Final = ("calendar", "mail")
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
Drawn = tuple[int, int, bool, str, bool, dict[str, Any], str]
some_arguments = st.tuples(
    st.integers(0, 99),
    st.integers(0, 99),
    st.booleans(),
    some_category,
    st.booleans(),
    some_request,
    st.sampled_from(APPS),
)


class Who(NamedTuple):
    """Who asks: an agent, an app, both, or a person."""

    agent: str | None
    app: str | None = None


PERSON: Final = Who(None)
some_asker = st.one_of(
    some_agent.map(Who),
    st.builds(Who, st.sampled_from([*AGENTS, None]), st.sampled_from(APPS)),
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
TELLING: Final = ("add", "add_all", "add_episode", "apps.remember", "edit", "supersede")
"""Calls by which an agent can say something of a person."""
some_call = st.sampled_from([*CALLS, *SEEN, *SEEN])
COMMANDS: Final = sections("policy/lines.txt")["somebody asks"]
OF_ONE: Final = (
    "show",
    "log",
    "edit --importance 0.3",
    "rm",
    "restore",
    "edit --pin",
    "edit --no-pin",
)


class Kept(NamedTuple):
    """A record's file: the category and the app by which it is seen, and what it holds."""

    category: str
    app: str | None
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

    def project(self, who: Who = PERSON) -> Project:
        self.hours += 1
        now = START + timedelta(hours=self.hours)
        return Project(self.root, actor="ada", now=now, agent=who.agent, app=who.app)

    def text(self, of_person: bool = False) -> str:
        self.texts += 1
        if of_person:
            return f"The user lives in qz{self.texts:04}zq and has gear wheel {self.texts}"
        return f"The gear qz{self.texts:04}zq turns wheel {self.texts}"

    @initialize(planner=some_categories, critic=some_categories)
    def begin(self, planner: list[str], critic: list[str]) -> None:
        self.allow("planner", planner)
        self.allow("critic", critic)
        self.project().start_conversation(self.text(), "mail")
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
        app=st.sampled_from([*APPS, None]),
    )
    def add(
        self, category: str, type_: MemoryType, pinned: bool, user: str | None, app: str | None
    ) -> None:
        text, subject = self.text(), self.text()
        fields = {"subject": subject, "pinned": pinned, "user": user, "app": app}
        self.project().add(text, type_, category=category, force=True, **fields)

    @rule(name=some_call, drawn=some_arguments)
    def a_person_calls(self, name: str, drawn: Drawn) -> None:
        refused = ""
        try:
            plain(CALLS[name](self.project(), self.given(drawn)))
        except PmemError as error:
            refused = error.message
        assert "may not" not in refused or name == "query"  # which may name an agent that asks

    @rule(name=st.sampled_from(BLOCKS), drawn=some_arguments)
    def a_person_has_a_block_written(self, name: str, drawn: Drawn) -> None:
        given = self.given(drawn)
        request = {key: value for key, value in given.request.items() if key != "agent"}
        try:
            answer = plain(CALLS[name](self.project(), given._replace(request=request)))
        except PmemError as error:
            answer = said(error)
        of_one = [Who(None, "")] if name in ("block", "query", "delta") else [Who(None, given.app)]
        if name == "build_context":  # goes on with the current conversation, in whatever app
            of_one = [Who(None, app) for app in ("", *APPS)]
        kept = self.kept()
        assert any(not self.beyond(who, kept.values(), answer) for who in of_one), answer

    @rule(who=some_asker, name=some_call, drawn=some_arguments)
    def somebody_calls(self, who: Who, name: str, drawn: Drawn) -> None:
        self.call(who, self.project(who), name, drawn)

    @rule(agent=st.sampled_from(AGENTS), name=st.sampled_from(TELLING), drawn=some_arguments)
    def an_agent_says_something_of_a_person(self, agent: str, name: str, drawn: Drawn) -> None:
        allowed = self.lists.get(agent) or [drawn[3]]
        category = allowed[drawn[0] % len(allowed)]
        self.call(
            Who(agent), self.project(Who(agent)), name, (*drawn[:2], True, category, *drawn[4:])
        )

    @rule(who=some_asker, name=some_call, drawn=some_arguments, back=st.integers(0, 30))
    def somebody_asks_the_past(self, who: Who, name: str, drawn: Drawn, back: int) -> None:
        moment = START + timedelta(hours=max(1, self.hours - back))
        if who.agent is None or who.agent in self.lists:
            self.call(who, self.project(who).at(moment), name, drawn)

    @rule(agent=some_agent, request=some_request, back=st.integers(0, 30))
    def a_view_is_asked_for_an_agent(self, agent: str, request: Any, back: int) -> None:
        moment = START + timedelta(hours=max(1, self.hours - back))
        try:
            answer = plain(self.project().at(moment).query({**request, "agent": agent}))
        except PmemError as error:
            answer = said(error)
        self.check(Who(agent), self.kept(), answer)

    @rule(who=some_asker, line=st.sampled_from(COMMANDS), as_json=st.booleans())
    def ask(self, who: Who, line: str, as_json: bool) -> None:
        self.run(who, line.split(), as_json=as_json)

    @rule(agent=some_agent, category=some_category, as_json=st.booleans())
    def ask_for_a_category(self, agent: str, category: str, as_json: bool) -> None:
        for command in (["list"], ["search", "gear"]):
            code = self.run(Who(agent), [*command, "--category", category], as_json=as_json)
            assert (code == 7) == (category not in self.lists.get(agent, ()))

    @rule(who=some_asker, line=st.sampled_from(OF_ONE), drawn=some_arguments, as_json=st.booleans())
    def ask_for_one(self, who: Who, line: str, drawn: Drawn, as_json: bool) -> None:
        reference = self.given(drawn).ref
        command, *options = line.split()
        before = self.kept()
        code = self.run(who, [command, reference, *options], as_json=as_json)
        kept = before.get(reference)
        if kept and kept.is_memory and not self.sees(who, kept):
            assert code == 7

    @rule(agent=some_agent, request=some_request, as_json=st.booleans())
    def query(self, agent: str, request: dict[str, Any], as_json: bool) -> None:
        asked = json.dumps({**request, "agent": agent}).encode()
        self.run(Who(agent), ["query"], as_json=as_json, stdin=asked, pinned=not as_json)

    @invariant()
    def people_see_everything(self) -> None:
        stored = sum(len(self.project().workspace.whole.ids(type_)) for type_ in STORES)
        assert len(self.kept()) == stored

    def given(self, drawn: Drawn) -> Given:
        known = sorted(self.kept()) or ["mvx00000-aaaaaaaa"]
        one, other, of_person, category, flag, request, app = drawn
        ref, far = known[one % len(known)], known[other % len(known)]
        return Given(ref, far, self.text(of_person), category, flag, request, app)

    def call(self, who: Who, project: Project, name: str, drawn: Drawn) -> None:
        given = self.given(drawn)
        before = self.kept()
        if name == "query":
            given = given._replace(request={**given.request, "agent": who.agent})
        try:
            answer = plain(CALLS[name](project, given))
        except PmemError as error:
            answer = said(error)
        else:
            assert who.agent in (None, *self.lists) or not tokens(answer)
        self.check(who, before, answer, own=tokens(given.text))
        if who.agent and drawn[2]:
            assert not self.remembered() & tokens(given.text), (name, given.text)

    def remembered(self) -> set[str]:
        """Return the tokens of memories and episodes; what was said apart."""
        kept = self.kept().values()
        return {token for record in kept if record.category != ACTIVITY for token in record.tokens}

    def run(
        self, who: Who, line: list[str], *, as_json: bool, stdin: bytes = b"", pinned: bool = True
    ) -> int:
        self.hours += 1
        now = (START + timedelta(hours=self.hours)).isoformat()
        environment = {"PMEM_DIR": self.root, "PMEM_NOW": now}
        if pinned and who.agent:
            environment["PMEM_AGENT"] = who.agent
        if who.app:
            environment["PMEM_APP"] = who.app
        words = [*line, *(["--json"] if as_json else [])]
        before = self.kept()
        done = pmem(*words, stdin=stdin, environment=environment)
        assert done.code in (0, 1, 3, 4, 7, 9), (line, done)
        is_told = who.agent in (None, *self.lists) or line in (
            ["check", "setup"],
            ["inbox", "proposals"],
        )
        assert is_told or done.code in (3, 7), (line, done)
        self.check(who, before, done.out.decode() + done.err)
        return done.code

    def check(
        self, who: Who, before: dict[str, Kept], answer: str, own: Set[str] = frozenset()
    ) -> None:
        """See that an answer holds, and what was written changed, nothing beyond the reach."""
        after = self.kept()
        for id_ in before.keys() | after.keys():
            versions = [kept[id_] for kept in (before, after) if id_ in kept]
            if len(versions) < 2 or versions[0] != versions[1]:
                assert all(self.sees(who, kept) for kept in versions), (who, id_, versions)
        beyond = self.beyond(who, (*before.values(), *after.values()), answer) - own
        assert not beyond, (who, self.lists.get(who.agent or ""), beyond, answer)

    def beyond(self, who: Who, kept: Iterable[Kept], answer: str) -> set[str]:
        """Return the tokens of an answer that no record holds which may be seen."""
        found = tokens(answer)
        for record in kept:
            if found and self.sees(who, record):
                found -= record.tokens
        return found

    def sees(self, who: Who, kept: Kept) -> bool:
        serves = who.app is None or kept.app in (None, who.app)
        return serves and (who.agent is None or kept.category in self.lists.get(who.agent, ()))

    def kept(self) -> dict[str, Kept]:
        """Return what every record's file holds, by its id."""
        found = {}
        for type_, store in STORES.items():
            for entry in os.scandir(os.path.join(self.root, store)):
                if entry.name.endswith(".json"):
                    with open(entry.path, "rb") as file:
                        data = file.read()
                    value = json.loads(data)
                    category = value.get("category", EVENT if type_ is Episode else ACTIVITY)
                    app = value.get("app") or value.get("scope", {}).get("app")
                    is_memory = type_ is Memory
                    found[entry.name.removesuffix(".json")] = Kept(category, app, is_memory, data)
        return found


def plain(answer: Any) -> str:
    """Return everything that an answer says."""
    is_many = hasattr(answer, "__next__")
    return repr(list(answer) if is_many else answer)


def said(error: PmemError) -> str:
    return f"{error.message} {error.hint}"


TestPolicy = Policy.TestCase
TestPolicy.settings = settings(
    max_examples=examples(40),
    stateful_step_count=30,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
)


def test_every_public_call_is_tried() -> None:
    assert public() == {name.split()[0] for name in CALLS} | OPENING


@pytest.mark.parametrize("name", WHOLE)
def test_what_takes_in_every_category_is_refused_in_python_too(name: str, root: str) -> None:
    reference = Project(root).add("The gear turns", category="goals").memory.id
    write_setting(f"{root}/config.toml", "allowlists.planner", ["goals"])
    given = Given(reference, reference, "The wheel turns", "goals", False, {})
    with pytest.raises(Refused, match="planner may not "):
        plain(CALLS[name](Project(root, agent="planner"), given))
