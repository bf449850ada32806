"""What S1 asks for between its acceptance lines: one story for each detail."""

import json
import os
import tomllib
from collections.abc import Callable

import msgspec
import pytest

from pmem.core.extraction.facts import extract
from pmem.core.extraction.third_person import leaves_open
from pmem.core.style_rules import lints, lints_of_steps
from pmem.errors import InvalidValue, NotFound, PmemError
from pmem.memory.proposals import says_the_same
from pmem.memory.reading import ShowRequest
from pmem.memory.requests import Added
from pmem.operations import table
from pmem.operations.pipeline import run
from pmem.values.records import Memory
from tests.cli.shell import pmem
from tests.conformance.table import TESTS
from tests.core.extraction.scores import DIALOGUES, MESSAGES, labelled_dialogues, labelled_messages
from tests.docs.examples import blocks
from tests.spec.test_s1_memory import WISHES, opened

REVIEWS = (
    "Ana reviews the plan of the billing service before the release.",
    "Ana reviews the scope of the billing service before the release.",
)


def memory_of(added: Added) -> Memory:
    """Return the memory that adding made."""
    assert added.action == "added"
    return added.memory


@pytest.mark.row("S1.1.6")
def test_1_what_was_created_is_told_with_the_grade_of_its_importance(root: str) -> None:
    project = opened(root)
    project.delta("review")
    memory = project.add("Ana likes tea.", category="person", importance=0.4).memory
    assert project.delta("review").lines[1] == "- +created: [person] Ana likes tea. (imp=2)"
    project.edit(memory.id, "Ana likes black tea.")
    assert project.delta("review").lines[1] == "- ↑updated: [person] Ana likes black tea."


@pytest.mark.row("S1.2.4")
def test_2_what_an_edit_makes_alike_is_linked_as_well(root: str) -> None:
    project = opened(root)
    near = project.add(REVIEWS[0]).memory
    memory = project.add("The printer stands in room nine.").memory
    assert memory.relationships == ()
    edited = project.edit(memory.id, REVIEWS[1])
    assert [link.target for link in edited.relationships] == [near.id]
    other = project.add("The lift is out of order.").memory
    alike = "The printer on floor 3 jams when it is humid"
    printer = project.add(alike).memory
    told = pmem("-C", root, "edit", other.id, f"{alike} and the paper is old").text
    assert f"related to {printer.id[9:]}" in told
    (link,) = opened(root).workspace.memories.get(other.id).relationships
    assert (link.target, link.type, link.strength >= 0.6) == (printer.id, "related_to", True)


@pytest.mark.row("S1.2.8")
def test_2_a_query_brings_along_what_its_answers_are_linked_to(root: str) -> None:
    project = opened(root)
    tea, kettle, milk = (
        project.add(text).memory for text in ("Tea is green.", "Kettles whistle.", "Milk is white.")
    )
    project.link(tea.id, kettle.id, type="depends_on")
    project.link(milk.id, tea.id, type="supports")
    found = project.query({"query": "tea", "top_k": 1})
    assert [item.text for item in found if hasattr(item, "text")] == [
        "[knowledge] Tea is green.",
        f"[knowledge] Kettles whistle. ({tea.id[9:]} depends on it)",
        f"[knowledge] Milk is white. (supports {tea.id[9:]})",
    ]
    (_, full, _) = project.query({"query": "tea", "return": "full"})
    assert full.metadata.via.id == tea.id  # type: ignore[union-attr]


@pytest.mark.row("S1.2.8")
def test_2_an_agent_is_not_brought_what_it_may_not_see(root: str) -> None:
    project = opened(root, allowlists={"planner": ("knowledge",)})
    tea = project.add("Tea is green.").memory
    secret = project.add("Kettles whistle.", category="profile").memory
    project.link(tea.id, secret.id)
    found = project.query({"query": "tea", "agent": "planner"})
    assert [item.id for item in found] == [tea.id]


@pytest.mark.row("S1.2.2")
def test_2_a_memory_is_shown_with_what_its_links_lead_to(root: str) -> None:
    project = opened(root)
    tea, kettle = (project.add(text).memory for text in ("Tea is green.", "Kettles whistle."))
    project.link(tea.id, kettle.id, type="depends_on")
    request = ShowRequest(reference=tea.id, details=True)
    (link,) = run(project.workspace, table.SHOW, request).result.links
    assert (link.id, link.type, link.text) == (kettle.id, "depends_on", "Kettles whistle.")
    told = pmem("-C", root, "edit", tea.id, "--link", f"{kettle.id}:helps").text
    assert told.endswith(f"\n  helps {kettle.id[9:]} (0.50)\n")
    shown = pmem("-C", root, "show", tea.id).text
    for type_ in ("depends on", "helps"):
        assert f"\n{type_:<12}{kettle.id[9:]}  Kettles whistle.\n" in shown


@pytest.mark.row("S1.4.1")
def test_4_the_doctor_says_when_upkeep_ran_last(root: str) -> None:
    def told() -> str:
        items = {item.name: item.detail for item in opened(root, 2).doctor()}
        return items["upkeep"]

    project = opened(root)
    project.add("Tea is green.")
    assert "consolidate never ran, sweep never ran" in told()
    project.consolidate(dry_run=True)
    assert "consolidate never ran" in told()
    project.consolidate()
    opened(root, 1).sweep()
    assert "consolidate ran 2026-11-21, sweep ran 2026-11-22" in told()


@pytest.mark.row("S1.5.5")
def test_5_a_mistyped_category_is_told_where_nothing_has_it(root: str) -> None:
    opened(root).add("Ana likes tea.", category="person")
    done = pmem("-C", root, "list", "--category", "persn")
    assert (done.text, "did you mean `--category person`?" in done.said) == ("", True)
    other = pmem("-C", root, "list", "--category", "zzzz")
    assert "did you mean" not in other.said


@pytest.mark.row("S1.6.4")
def test_6_every_part_of_a_scope_can_be_given(root: str) -> None:
    project = opened(root)
    given = {"user": "mira", "agent": "planner", "run": "r1", "actor": "ada", "role": "assistant"}
    memory = memory_of(project.add("The wheel turns", **given))
    line = {"content": "The lever holds", "run": "r2", "actor": "bob", "role": "user"}
    done = pmem("-C", root, "add", "--batch", "-", stdin=json.dumps(line).encode())
    assert done.code == 0
    for key, value in (("run_id", "r1"), ("actor_id", "ada"), ("role", "assistant")):
        found = project.query({"query": "wheel lever", "filters": {key: value}})
        assert [item.id for item in found] == [memory.id]


@pytest.mark.row("S1.9.4")
def test_9_a_quotation_is_nobodys_own_word_and_an_open_end_is_told() -> None:
    assert lints("The button says 'I love it!' to the user.") == []
    assert lints("The user's button isn't red.") == []
    assert [lint.rule for lint in lints("The service reads the file, and")] == ["complete"]


@pytest.mark.row("S1.9.2")
def test_9_an_episode_of_an_agent_is_held_to_the_past_tense(root: str) -> None:
    noted = pmem("-C", root, "--agent", "a", "episode", "add", "The team decides to go on Monday.")
    assert "better: say in the past tense what happened" in noted.said.splitlines()
    silent = pmem("-C", root, "episode", "add", "The team decides to go on Monday.")
    assert silent.said == ""
    environment = {"PMEM_WRITING_LINT": "refuse"}
    told = ("The team decides to go.", "The team decided to go. " * 5)
    for text in told:
        refused = pmem("-C", root, "--agent", "a", "episode", "add", text, environment=environment)
        assert (refused.code, "writing rules" in refused.said) == (3, True)
    assert opened(root).episodes().total == 2


@pytest.mark.row("S1.9.3")
def test_9_a_batch_of_an_agent_is_told_what_to_write_better(root: str) -> None:
    lines = b'{"content":"I like tabs!"}\n{"content":"I like spaces a lot"}\n'
    done = pmem("-C", root, "add", "--batch", "-", "--agent", "a", stdin=lines)
    assert done.said.count("better: say who it is instead of I, we or you") == 1
    assert "better: leave out capitals and exclamation marks that shout" in done.said
    assert {memory.scope.agent for memory in opened(root).list().items} == {"a"}
    silent = pmem("-C", root, "add", "--batch", "-", stdin=b'{"content":"I like gaps!"}\n')
    assert "better" not in silent.said


@pytest.mark.row("S1.10.1")
def test_10_what_is_said_of_somebody_by_name_waits_in_any_category(root: str) -> None:
    project = opened(root)
    assert project.add("Ana lives in Porto", agent="planner").action == "queued"
    assert project.add("Staging lives in Frankfurt", agent="planner").action == "added"


AIMS = (
    ("The user's goal is to learn Rust", "The user wants to learn Rust"),
    ("Our goal is to ship by May", "We plan to ship by May"),
    ("The user hopes to retire early", "The user is planning to retire early."),
)


@pytest.mark.row("S1.10.5")
@pytest.mark.parametrize(("one", "other"), AIMS)
def test_10_a_second_signal_may_use_other_words(one: str, other: str, root: str) -> None:
    actions = [
        opened(root, day).add(text, category="goals", agent="planner").action
        for day, text in enumerate((one, other))
    ]
    assert actions == ["waiting", "added"]
    assert opened(root, 1).waiting().total == 0


def test_10_other_aims_are_no_second_signal() -> None:
    assert not says_the_same("The user wants to learn Rust", "The user wants to learn Go")
    assert not says_the_same("The user wants to learn Rust", "The user wants not to learn Rust")
    assert not says_the_same("The goal is", "The user wants to")


@pytest.mark.row("S1.10.3", "S1.10.8")
def test_10_a_person_may_agree_by_a_message_which_the_trail_names(root: str) -> None:
    project = opened(root)
    project.start_conversation()
    before = project.add_message("user", "Good morning.").message
    held = opened(root, 0.01).add("The user lives in Quuxville.", agent="planner").held
    assert held is not None
    later = opened(root, 0.02)
    answer = later.add_message("assistant", "May I remember where you live?").message
    said = later.add_message("user", "Yes, remember it.").message
    for wrong in (before, answer):
        with pytest.raises(InvalidValue):
            later.approve(held.id, message=wrong.id)
    with pytest.raises(NotFound):
        later.approve(held.id, message="nothing")
    assert later.waiting().total == 1
    (agreed,) = later.approve(held.id, message=said.id)
    consent = agreed.memory.history[0].detail["consent"]
    assert (consent["message"], consent["field"]) == (said.id, "city")


@pytest.mark.row("S1.10.9")
def test_10_a_proposal_is_pointed_to_and_its_story_is_whole(root: str) -> None:
    project = opened(root)
    held = project.add("The user lives in Quuxville.", agent="assistant-of-mira").held
    assert held is not None
    done = pmem("-C", root, "--now", "2026-11-22", "show", held.id)
    assert (done.code, "pmem inbox proposals" in done.said) == (3, True)
    assert "Quuxville" not in done.said
    (agreed,) = project.approve(held.id)
    assert "proposed by assistant-of-mira" in pmem("-C", root, "log", agreed.memory.id).text


@pytest.mark.row("S1.12.3")
def test_12_no_block_of_a_prompt_has_a_procedure_that_it_does_not_name(root: str) -> None:
    project = opened(root)
    project.add("To roll back, pull the red lever.", "procedure")
    project.add("Tea is green.")
    assert "lever" not in project.block()
    assert "Tea is green." in project.block()
    assert "lever" in pmem("-C", root, "list", "--block", "--category", "procedural").text


@pytest.mark.row("S1.13.4")
def test_13_what_a_cap_leaves_out_is_told(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pmem("-C", root, "conversation", "start")
    told = pmem("-C", root, "conversation", "say", WISHES).said
    assert told.count("remembered as") == 3
    assert told.count("one message makes at most 3 memories;") == 2
    assert "3 more facts left out" in told
    monkeypatch.setattr("pmem.memory.facts.MOST_PROMOTIONS_A_DAY", 3)
    wish = "Remember that the loft has a green door."
    told = pmem("-C", root, "conversation", "say", wish).said
    assert "a day makes at most 3;" in told


@pytest.mark.row("S1.15.2")
def test_15_a_checkpoint_of_somebody_else_is_pointed_to(root: str) -> None:
    project = opened(root)
    project.save_checkpoint("t1", {"step": 1}, "mira")
    with pytest.raises(NotFound) as caught:
        project.load_checkpoint("t1")
    assert "this thread has one of the user 'mira'" in caught.value.hint


S1_ALLOWLISTS = {
    "supervisor": "profile goals preferences event activity relationships tasks",
    "planner": "goals tasks projects",
    "stylist": "preferences tone style",
    "researcher": "knowledge interests history",
    "executor": "tasks recent_activity constraints",
}


@pytest.mark.row("S1.5.6")
def test_5_the_documents_have_the_lists_of_five_agents_ready(root: str) -> None:
    path = os.path.join(os.path.dirname(TESTS), "docs", "agents.md")
    with open(path, encoding="utf-8") as file:
        (first, *_) = [block for block in blocks(file.read()) if block.language == "toml"]
    lists = tomllib.loads("\n".join(first.lines))["allowlists"]
    assert all(set(S1_ALLOWLISTS[agent].split()) <= set(lists[agent]) for agent in S1_ALLOWLISTS)
    project = opened(root, allowlists={name: tuple(named) for name, named in lists.items()})
    for agent, named in lists.items():
        assert list(project.query({"query": "tea", "agent": agent, "categories": named})) == []


@pytest.mark.row("S1.8.6", "S1.14.4")
def test_8_a_purge_leaves_who_did_it_and_nothing_that_was_said(root: str) -> None:
    project = opened(root)
    memory = project.add("Zebras graze here.", subject="zebras").memory
    project.remove(memory.id)
    opened(root, 40).sweep()
    told = [item for item in opened(root, 40).operations(limit=0).items if item.op == "purge"]
    assert [(item.node, item.memory, item.actor) for item in told] == [("worker", memory.id, "kim")]
    listed = pmem("-C", root, "log", "--operations").text
    assert f"{memory.id[9:]}  kim" in listed
    assert "ebras" not in listed
    assert memory.id not in repr(list(project.audit()))


@pytest.mark.row("S1.9.6")
def test_9_what_conversations_state_passes_the_checks_of_form_at_once() -> None:
    said = [one.message for name in MESSAGES for one in labelled_messages(name)]
    facts = [fact.content for message in said for fact in extract(message)]
    form = {"length", "sentences", "complete", "tone"}
    passed = sum(not form & {lint.rule for lint in lints(content)} for content in facts)
    assert len(facts) > 200
    assert passed / len(facts) >= 0.95


@pytest.mark.row("S1.9.6", "S1.9.7")
def test_9_f105_what_named_people_decide_and_wish_names_them_and_no_pronoun() -> None:
    said = [one.message for name in MESSAGES for one in labelled_messages(name)]
    said += [one for name in DIALOGUES for each in labelled_dialogues(name) for one in each.said]
    named = [msgspec.structs.replace(one, speaker="Mira") for one in said if one.role == "user"]
    sure = [fact.content for one in named for fact in extract(one) if fact.confidence >= 0.9]
    kept = [content for content in sure if not leaves_open(content, "Mira")]
    unnamed = {"third_person", "pronouns"}
    passed = sum(not unnamed & {lint.rule for lint in lints(content)} for content in kept)
    assert len(kept) > 40
    assert passed / len(kept) >= 0.95


STEPS = "1. Open the valve.\n2. Press the start button.\n3. Close the lid."


@pytest.mark.row("S1.10.1")
def test_10_to_turn_consent_off_is_told(root: str) -> None:
    off = pmem("-C", root, "config", "set", "consent.fields", "city")
    assert off.code == 0
    assert off.said.startswith("consent.fields leaves out preferred_name, pronouns, language")
    assert pmem("-C", root, "config", "set", "consent.two_signals", "tone,goals").said == ""
    assert "agents change what people wrote" in (
        pmem("-C", root, "config", "set", "consent.changes", "false").said
    )


@pytest.mark.row("S1.12.1", "S1.6.4")
def test_12_a_procedure_of_a_run_is_added_and_found_by_it(root: str) -> None:
    scope = ("--user", "mira", "--agent", "executor", "--run", "r7", "--tag", "ops")
    assert pmem("-C", root, "add", STEPS, "--type", "procedure", *scope).code == 0
    (kept,) = opened(root).list().items
    assert (kept.scope.user, kept.scope.agent, kept.scope.run) == ("mira", "executor", "r7")
    for name, many in (("r7", 1), ("r8", 0)):
        asked = {"query": "open valve", "categories": ["procedural"], "filters": {"run_id": name}}
        assert len(opened(root).query(asked)) == many


@pytest.mark.row("S1.12.2", "S1.12.7")
def test_12_numbered_steps_that_are_said_wait_as_one_procedure(root: str) -> None:
    project = opened(root)
    project.start_conversation("Deploys")
    steps = "To roll back:\n1. Stop the worker.\n2. Restore the dump.\n3. Start it"
    said = f"We decided to use Redis.\n{steps}.\nRemember that Friday is release day."
    kinds = [(fact.type, fact.content) for fact in project.add_message("user", said).facts]
    assert kinds == [
        ("procedure", steps),
        ("decision", "We decided to use Redis"),
        ("fact", "Friday is release day"),
    ]
    assert all(memory.type != "procedure" for memory in project.list().items)
    (name,) = [one.fact.id for one in project.facts().items if one.fact.type == "procedure"]
    project.promote_facts(name)
    assert steps in [memory.content for memory in opened(root).list().items]


@pytest.mark.row("S1.12.2")
@pytest.mark.parametrize(
    "task",
    [
        "Please do this today:\n1. Fix the bug\n2. Add a test",
        "To me: 1. Run it 2. Stop it",
        "To release:\n1. The engineer tags.\n2. Push.",
        "To release: 1. Push.",
        "To support both names, we need to:\n1. Add an option.\n2. Update the docs.",
        "To use it:\n1. Add to your profile:\n```\nx=1\n```\n2. Restart your shell.",
        "To use it:\n1. Change your profile\n```\nx=1\n```\n2. Restart your shell.",
        "To be clear: 1. Never push to main. 2. Never skip tests.",
        "To sum up:\n1. Use Go.\n2. Use Kafka.",
        "To Ben: 1. Review the change. 2. Merge it.",
        "To the team: 1. Rebase. 2. Push.",
    ],
)
def test_12_a_list_of_tasks_is_no_procedure(task: str, root: str) -> None:
    project = opened(root)
    project.start_conversation("Deploys")
    assert [
        fact for fact in project.add_message("user", task).facts if fact.type == "procedure"
    ] == []


@pytest.mark.row("S1.12.7")
@pytest.mark.parametrize(
    "sound",
    [
        STEPS,
        "Rolling back:\n1. Stop the app.\n2. Run `pg_restore`.\n3. When it is up, start the app.",
        "1) Read the log 2) Set the limit to 5 3) Always restart it",
        "1. Process the queue.",
        "To release:\n1. `make dist`\n2. Push the tag.",
    ],
)
def test_12_numbered_steps_in_the_imperative_are_what_an_agent_is_held_to(sound: str) -> None:
    assert lints_of_steps(sound) == []


@pytest.mark.row("S1.12.7")
@pytest.mark.parametrize(
    "loose",
    [
        "The rollback is hard and nobody likes it",
        "1. The engineer stops the app.\n2. Run it again.",
        "1. Mira must stop the app.",
        "1. Stopping the app\n2. Started it again",
        "2. Stop the app\n3. Start it",
        "Version 1.2 stops the app",
    ],
)
def test_12_what_is_no_list_of_steps_is_told(loose: str) -> None:
    assert [lint.rule for lint in lints_of_steps(loose)] == ["steps"]


@pytest.mark.row("S1.12.7")
def test_12_an_agent_is_told_where_a_procedure_has_no_steps(root: str) -> None:
    bot = ("-C", root, "--agent", "bot")
    told = pmem(*bot, "add", "The rollback is hard.", "--type", "procedure").said
    assert told == "better: number the steps from 1, and begin each with what to do\n"
    assert pmem("-C", root, "add", STEPS, "--type", "procedure").said == ""
    assert pmem("-C", root, "config", "set", "writing.lint", "refuse").code == 0
    refused = pmem(*bot, "add", "The release is hard.", "--type", "procedure")
    assert (refused.code, "number the steps from 1" in refused.said) == (3, True)
    made = pmem(*bot, "add", "1. Pull. 2. Push.", "--type", "procedure").text.split()[1]
    assert pmem(*bot, "edit", made, "1. Pull. 2. Test. 3. Push.").code == 0
    assert pmem(*bot, "edit", made, "The team pulls.").code == 3
    assert (
        pmem(*bot, "edit", made, "The team pulls.", "--type", "fact", "--category", "tasks").code
        == 0
    )


@pytest.mark.row("S1.12.5")
def test_12_steps_stay_as_they_were_written(root: str) -> None:
    project = opened(root)
    made = project.add(STEPS, "procedure", run="r1", user="mira")
    assert made.memory.content == STEPS
    assert made.memory.scope.run == "r1"
    (full,) = project.query(
        {"query": "start button", "categories": ["procedural"], "return": "full"}
    )
    assert full.summary == STEPS  # type: ignore[union-attr]
    lines = [line.strip() for line in project.build_context("start button").text.splitlines()]
    assert [line.removeprefix("- ") for line in lines if "." in line][:3] == STEPS.split("\n")


@pytest.mark.row("S1.14.2")
def test_14_what_failed_is_noted_as_an_error(root: str) -> None:
    project = opened(root)
    project.add("Tea is green.")
    project.search("nothing here")
    with pytest.raises(InvalidValue):
        project.add("Tea is black.", importance=2)
    items = json.loads(pmem("-C", root, "log", "--operations", "--json").text)["data"]["items"]
    found = [(item["op"], item["status"]) for item in reversed(items)]
    assert found == [("create", "ok"), ("search", "skipped"), ("create", "error")]


@pytest.mark.row("S1.14.2")
def test_14_every_write_that_is_refused_or_fails_is_noted(root: str) -> None:
    """A refused command leaves an error under the name that a success would have had."""
    project = opened(root)
    memory = project.add("Tea is green.")
    conversation = project.start_conversation("Tea")
    fails: list[tuple[str, Callable[[], object]]] = [
        ("update", lambda: project.edit(memory.memory.id, content=" ")),
        ("update", lambda: project.pin("zzzz")),
        ("delete", lambda: project.remove("zzzz")),
        ("purge", lambda: project.purge(memory.memory.id)),
        ("link", lambda: project.link(memory.memory.id, memory.memory.id)),
        ("create", lambda: project.add_episode(" ")),
        ("conversation.resume", lambda: project.resume_conversation("zzzz")),
    ]
    for _, fail in fails:
        with pytest.raises(PmemError):
            fail()
    assert conversation.status == "active"
    failed = [item for item in project.operations(limit=0).items if item.status == "error"]
    assert [item.op for item in failed] == [op for op, _ in fails]


@pytest.mark.row("S1.14.2", "S1.5.4")
def test_14_what_an_agent_may_not_write_is_noted(root: str) -> None:
    assert pmem("-C", root, "config", "set", "allowlists.planner", "goals").code == 0
    assert pmem("-C", root, "--agent", "planner", "consolidate").code == 7
    assert (
        pmem("-C", root, "--agent", "planner", "add", "Tea is green.", "--category", "tasks").code
        == 7
    )
    failed = [item for item in opened(root).operations(limit=0).items if item.status == "error"]
    assert [(item.node, item.op) for item in failed] == [
        ("worker", "consolidate"),
        ("hotpath", "create"),
    ]
