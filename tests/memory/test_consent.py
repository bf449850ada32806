"""Consent: what nobody agreed to is nowhere, what somebody agreed to is a memory like any other."""

import os
import shutil
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from pmem import Project
from pmem.errors import Damaged, InvalidValue, NotFound, Refused
from pmem.memory import consent
from pmem.memory.proposals import Held, Withheld
from pmem.memory.requests import AddRequest
from pmem.project.workspace import Workspace
from pmem.storage.local.proposals import Proposal, Proposals, Queue
from pmem.storage.local.state import FILE, LocalState
from pmem.values.records import Source
from tests.conftest import NOW

DAY = timedelta(days=1)


def opened(root: str, agent: str | None = None, now: object = NOW) -> Project:
    """Open a memory as a person, or as an agent."""
    return Project(root, actor="kim", agent=agent, now=now)  # type: ignore[arg-type]


def propose(root: str, text: str = "The user lives in Quuxville.", **fields: Any) -> Held:
    """Let an agent say something of somebody that waits for consent."""
    added = opened(root, "planner").add(text, **fields)
    assert added.held is not None
    return added.held


def traces(root: str, token: str) -> list[str]:
    """Return the files that hold a token, in any case."""
    wanted = token.lower().encode()
    return [
        path.name
        for path in sorted(Path(root).rglob("*"))
        if path.is_file() and wanted in path.read_bytes().lower()
    ]


def queue(root: str) -> Queue:
    """Return what waits in a folder, and what was decided."""
    return Proposals(LocalState(root)).read()


def answers(project: Project, token: str) -> str:
    """Return everything that a memory answers, also to a question for the token itself."""
    said = (
        project.search(f"where does the user live {token}"),
        project.build_context(f"where does the user live {token}"),
        project.list(),
        project.events(limit=0),
        project.audit(),
        project.operations(limit=0),
        project.block(),
        project.stats(),
        project.facts(),
        project.episodes(),
        sorted(project.export_arrays().values()),
    )
    return repr(said).replace(f"live {token}", "").lower()


def test_what_an_agent_says_of_somebody_waits_and_is_nowhere_else(root: str) -> None:
    added = opened(root).add("The user lives in Quuxville.", agent="planner")
    assert added.action == "queued"
    assert added.held is not None
    assert added.held.field == "city"
    assert traces(root, "quuxville") == [FILE]
    assert "quuxville" not in answers(opened(root), "quuxville")
    assert oct(os.stat(f"{root}/local/{FILE}").st_mode & 0o777) == "0o600"


def test_a_memory_is_valid_from_when_a_person_agreed_unless_it_says_otherwise(root: str) -> None:
    agent = opened(root, "planner")
    agent.add("The user lives in Quuxville.")
    agent.add("The user's pronouns are they/them.", valid_from=NOW - 9 * DAY)
    later = opened(root, now=NOW + DAY)
    ids = [item.id for item in later.waiting().items]
    found = [agreed.memory for agreed in later.approve(*ids)]
    assert [memory.created_at for memory in found] == [NOW + DAY] * 2
    assert [memory.valid_from for memory in found] == [NOW + DAY, NOW - 9 * DAY]


def test_the_latest_decisions_are_kept_and_no_more(root: str) -> None:
    rejected = []
    with mock.patch("pmem.storage.local.proposals.MOST_DECISIONS", 3):
        for town in ("Graz", "Linz", "Wels", "Melk", "Enns"):
            rejected.append(propose(root, f"The user lives in {town}.", force=True).id)
            opened(root).reject(rejected[-1])
    kept = opened(root).waiting(decisions=True).decisions
    assert [item.id for item in kept] == rejected[2:]


def test_the_queue_is_neither_read_nor_written_through_a_link(root: str, tmp_path: Path) -> None:
    opened(root, "planner").add("The user lives in Quuxville.")
    elsewhere = tmp_path / "elsewhere"
    os.rename(f"{root}/local", elsewhere)
    os.symlink(elsewhere, f"{root}/local")
    with pytest.raises(Damaged, match="link"):
        queue(root)
    os.unlink(f"{root}/local")
    os.mkdir(f"{root}/local")
    os.symlink(elsewhere / FILE, f"{root}/local/{FILE}")
    with pytest.raises(Damaged):
        queue(root)


def test_digests_tell_nothing_without_the_key_of_this_clone(root: str, tmp_path: Path) -> None:
    other = str(tmp_path / "other")
    for folder in (root, other):
        opened(folder, "planner").add("The user lives in Quuxville.")
    queues = [queue(folder) for folder in (root, other)]
    assert queues[0].key != queues[1].key
    assert queues[0].proposals[0].digest != queues[1].proposals[0].digest
    assert len(queues[0].key) == 32


def test_what_was_rejected_for_one_user_is_asked_again_for_another(root: str) -> None:
    opened(root).reject(propose(root, "The user's pronouns are they/them.", user="mira").id)
    again = [
        opened(root, "planner").add("The user's pronouns are they/them.", user=user).action
        for user in ("mira", "ben", None)
    ]
    assert again == ["rejected", "queued", "queued"]


def test_what_people_add_themselves_needs_nobodys_consent(root: str) -> None:
    assert opened(root).add("I live in Quuxville.").action == "added"


def test_a_rejected_value_is_gone_and_leaves_a_digest_in_the_audit(root: str) -> None:
    project = opened(root)
    project.reject(propose(root, user="mira", agent="planner").id)
    (row,) = project.audit("mira")
    assert (row.event, row.actor) == ("CONSENT_REJECTED", "kim")
    assert str(row.new_ref).startswith("blake2b:")
    assert list(project.audit("ben")) == []
    assert traces(root, "quuxville") == []
    again = project.add("The user lives in Quuxville.", agent="planner", user="mira")
    assert again.action == "rejected"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"category": "city"}, "city"),
        ({"tags": ("pronouns",)}, "pronouns"),
        ({"subject": "home address"}, "city"),
        ({"content": "Mail ana@halden.io"}, "contact"),
    ],
)
def test_an_agents_edit_waits_whatever_makes_it_say_something_of_a_person(
    fields: dict[str, Any], field: str, root: str
) -> None:
    memory = opened(root).add("Quuxville it is.").memory
    with pytest.raises(Withheld) as caught:
        opened(root, "planner").edit(memory.id, **fields)
    assert caught.value.held.field == field
    assert opened(root).show(memory.id) == memory
    (agreed,) = opened(root).approve(caught.value.held.id)
    assert {name: getattr(agreed.memory, name) for name in fields} == fields


def test_what_has_expired_can_be_neither_approved_nor_rejected(root: str) -> None:
    held = propose(root)
    late = opened(root, now=NOW + 7 * DAY)
    for decide in (late.approve, late.reject):
        with pytest.raises(NotFound):
            decide(held.id)
    assert late.list().total == 0


def test_an_agent_sees_that_something_waits_and_decides_nothing(root: str) -> None:
    held = propose(root, "It is Quuxville.", subject="home address")
    agent = opened(root, "planner")
    (item,) = agent.waiting().items
    assert (item.content, item.subject, item.field) == (None, None, "city")
    (item,) = opened(root).waiting().items
    assert (item.content, item.subject) == ("It is Quuxville.", "home address")
    for decide in (agent.approve, agent.reject):
        with pytest.raises(Refused, match="may not decide"):
            decide(held.id)


@pytest.mark.row("S1.10.4")
def test_no_other_way_leads_an_agent_around_consent(root: str) -> None:
    memory = opened(root).add("The user lives in Graz.").memory
    agent = Project(root, agent="planner", now=NOW, consent={"changes": False})
    with pytest.raises(Refused, match="consent"):
        agent.add_episode("The user lives in Quuxville now")
    with pytest.raises(Refused, match="consent"):
        agent.supersede(memory.id, "The user lives in Quuxville.")
    assert agent.pin(memory.id).pinned
    assert traces(root, "quuxville") == []


def test_a_statement_that_is_extracted_waits_until_a_person_agrees(root: str) -> None:
    project = opened(root)
    project.start_conversation()
    heard = project.add_message("user", "Remember that I live in Quuxville.")
    assert (heard.promoted, heard.episodes) == ((), ())
    (item,) = project.waiting().items
    assert item.agent is None
    assert project.list().total == 0
    (agreed,) = project.approve(item.id)
    (fact,) = project.facts(standing=None).items
    assert (fact.fact.standing, fact.fact.memory) == ("promoted", agreed.memory.id)


def test_promoting_a_fact_by_hand_asks_as_well_and_rejecting_settles_it(root: str) -> None:
    project = opened(root)
    project.start_conversation()
    project.add_message("user", "Remember that my pronouns are they/them.")
    (fact,) = project.facts().items
    assert list(project.promote_facts(fact.fact.id)) == []
    (item,) = project.waiting().items
    project.reject(item.id)
    (fact,) = project.facts(standing=None).items
    assert fact.fact.standing == "rejected"


def said(conversation: str | None, message: str | None = None) -> AddRequest:
    """Return a goal that an agent heard somewhere."""
    source = Source(kind="conversation", conversation=conversation, message=message)
    return AddRequest(content="The user wants short answers.", tags=("tone",), source=source)


@pytest.mark.parametrize(
    ("second", "later", "action"),
    [
        (said("a", "1"), timedelta(), "waiting"),
        (said("a", "1"), timedelta(hours=2), "waiting"),
        (said("a", "2"), timedelta(), "waiting"),
        (said("a", "2"), timedelta(minutes=1), "added"),
        (said("b", "3"), timedelta(), "added"),
    ],
)
def test_what_is_benign_is_kept_after_two_independent_signals(
    root: str, second: AddRequest, later: timedelta, action: str
) -> None:
    (first,) = opened(root, "planner").add_all([said("a", "1")])
    assert first.action == "waiting"
    (again,) = opened(root, "planner", NOW + later).add_all([second])
    assert again.action == action
    assert opened(root).list().total == (action == "added")
    assert opened(root).waiting().total == (action != "added")


def test_without_a_source_signals_are_an_hour_apart(root: str) -> None:
    def add(minutes: int) -> str:
        agent = opened(root, "planner", NOW + timedelta(minutes=minutes))
        return agent.add("The user wants short answers.", category="tone").action

    assert [add(0), add(59), add(60)] == ["waiting", "waiting", "added"]


def test_what_waits_too_long_is_dropped_and_a_sweep_removes_it_from_the_disk(root: str) -> None:
    opened(root, "planner").add("The user lives in Quuxville.")
    later = opened(root, now=NOW + 7 * DAY)
    assert later.waiting().total == 0
    later.sweep()
    assert traces(root, "quuxville") == []
    assert [row.event for row in later.audit()] == ["CONSENT_EXPIRED"]


def test_a_proposal_that_is_applied_twice_is_one_memory(root: str) -> None:
    """A process may die between adding the memory and forgetting the proposal."""
    held = propose(root)
    before = Path(root, "local", FILE).read_bytes()
    (first,) = opened(root).approve(held.id)
    Path(root, "local", FILE).write_bytes(before)
    (second,) = opened(root).approve(held.id)
    assert first.memory.id == second.memory.id


@pytest.mark.parametrize("other", ["approve", "reject"])
def test_of_two_people_who_decide_at_once_the_first_one_counts(root: str, other: str) -> None:
    held = propose(root)
    decided, named = [], consent._find_proposals

    def quicker(workspace: Workspace, references: Sequence[str]) -> list[Proposal]:
        found = named(workspace, references)
        with mock.patch.object(consent, "_find_proposals", named):
            opened(root).reject(held.id)
        decided.append(found)
        return found

    with (
        mock.patch.object(consent, "_find_proposals", quicker),
        pytest.raises(NotFound, match="meanwhile"),
    ):
        getattr(opened(root), other)(held.id)
    assert decided
    assert opened(root).list().total == 0
    assert [item.decision for item in opened(root).waiting(decisions=True).decisions] == [
        "rejected"
    ]


def test_a_change_that_was_rejected_meanwhile_is_not_made(root: str) -> None:
    memory = opened(root).add("The user lives in Graz.").memory
    with pytest.raises(Withheld) as caught:
        opened(root, "planner").edit(memory.id, "The user lives in Quuxville.")
    (proposal,) = queue(root).proposals
    opened(root).reject(caught.value.held.id)
    late = mock.patch.object(consent, "_find_proposals", return_value=[proposal])
    with late, pytest.raises(NotFound, match="meanwhile"):
        opened(root).approve(caught.value.held.id)
    assert opened(root).show(memory.id) == memory


def test_what_is_proposed_again_keeps_its_place_and_counts_once_more(root: str) -> None:
    def propose(town: str, hours: float) -> None:
        agent = opened(root, "planner", NOW + timedelta(hours=hours))
        agent.add(f"The user lives in {town}.", force=True)

    for town, hours in (("Graz", 0), ("Linz", 1), ("Graz", 1.5), ("Graz", 1.6)):
        propose(town, hours)
    told = opened(root, now=NOW + timedelta(hours=2)).waiting().items
    assert [(item.content, item.signals) for item in told] == [
        ("The user lives in Graz.", 2),
        ("The user lives in Linz.", 1),
    ]


@pytest.mark.parametrize("damage", [b"{", b"{" * 600])
def test_a_damaged_queue_is_named_and_kept(root: str, damage: bytes) -> None:
    opened(root, "planner").add("The user lives in Quuxville.")
    Path(f"{root}/local/{FILE}").write_bytes(damage)
    with pytest.raises(Damaged, match=FILE):
        opened(root, "planner").add("The user lives in Graz.")
    assert opened(root).add("I live in Graz.").action == "added"
    assert Path(f"{root}/local/{FILE}").read_bytes() == damage


def test_a_database_that_others_could_read_is_private_before_something_waits_in_it(
    root: str,
) -> None:
    with LocalState(root).writing():
        pass
    os.chmod(f"{root}/local/{FILE}", 0o644)
    opened(root, "planner").add("The user lives in Quuxville.")
    assert oct(os.stat(f"{root}/local/{FILE}").st_mode & 0o777) == "0o600"


@pytest.mark.parametrize("text", ["tiny", "x" * 501])
def test_what_an_agent_writes_has_5_to_500_characters(text: str, root: str) -> None:
    with pytest.raises(InvalidValue, match="5 to 500"):
        opened(root, "planner").add(text)
    assert opened(root).add(text).action == "added"


class Agents(RuleBasedStateMachine):
    """Agents propose tokens; people agree, reject, or let time pass."""

    def __init__(self) -> None:
        super().__init__()
        self.base = tempfile.mkdtemp()
        self.root = os.path.join(self.base, "memory")
        self.now = NOW
        self.count = 0
        self.waits: dict[str, tuple[str, object]] = {}
        self.agreed: set[str] = set()
        self.gone: set[str] = set()
        self.memories: list[str] = []
        self.person().add("The kettle is on the shelf.")

    def teardown(self) -> None:
        shutil.rmtree(self.base)

    def person(self) -> Project:
        return opened(self.root, now=self.now)

    def token(self) -> str:
        self.count += 1
        return f"qx{self.count:03}zz"

    @rule(form=st.sampled_from(["The user lives in {}.", "My name is {}.", "Mail {}@halden.io"]))
    def propose(self, form: str) -> None:
        token = self.token()
        added = opened(self.root, "planner", self.now).add(form.format(token.title()), force=True)
        assert added.action == "queued"
        assert added.held is not None
        assert token not in repr(added).lower()
        self.waits[token] = (added.held.id, self.now)

    @rule()
    def propose_a_change(self) -> None:
        if self.memories:
            token = self.token()
            text = f"The user lives in {token.title()}."
            with pytest.raises(Withheld) as caught:
                opened(self.root, "planner", self.now).edit(self.memories[-1], text)
            self.waits[token] = (caught.value.held.id, self.now)

    @rule(place=st.integers(0, 9), agree=st.booleans())
    def decide(self, place: int, agree: bool) -> None:
        if not self.waits:
            return
        token = sorted(self.waits)[place % len(self.waits)]
        id_, _ = self.waits.pop(token)
        if agree:
            (done,) = self.person().approve(str(id_))
            self.agreed.add(token)
            self.memories.append(done.memory.id)
        else:
            self.person().reject(str(id_))
            self.gone.add(token)

    @rule(days=st.integers(1, 8))
    def wait(self, days: int) -> None:
        self.now += days * DAY
        old = [token for token, (_, at) in self.waits.items() if self.now - at >= 7 * DAY]  # type: ignore[operator]
        for token in old:
            with pytest.raises(NotFound):
                self.person().approve(str(self.waits[token][0]))
            self.gone.add(token)
            del self.waits[token]

    @rule()
    def keep_house(self) -> None:
        self.person().sweep()
        for token in self.gone:
            assert traces(self.root, token) == []

    @invariant()
    def nothing_that_waits_is_told(self) -> None:
        project = self.person()
        told = answers(project, "qx")
        for token in (*self.waits, *self.gone):
            assert token not in told
            assert set(traces(self.root, token)) <= {FILE}
        for token in self.agreed:
            assert token in told
        assert project.waiting().total == len(self.waits)


Agents.TestCase.settings = settings(max_examples=4, stateful_step_count=8, deadline=None)
TestAgents = Agents.TestCase
