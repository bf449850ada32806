"""Making memories for apps, from texts and from conversations."""

from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem import Project
from pmem.apps.remembering import on_end
from pmem.core.apps.digest import digest
from pmem.errors import InvalidValue, NotFound, StorageRefused, UsageError
from pmem.memory.proposals import Withheld
from pmem.model.tasks import ConversationGiven
from pmem.storage.jsonfiles import JsonFiles
from pmem.values.records import Message, Role
from tests.apps import fakes
from tests.cli.shell import pmem
from tests.conftest import NOW
from tests.strategies import texts


@pytest.fixture
def project(root: str) -> Project:
    return Project(root, now=NOW, actor="ada")


def ended(project: Project, *said: str, app: str | None = "calendar") -> str:
    conversation = project.start_conversation(app=app)
    for text in said:
        project.add_message("user", text)
    return project.end_conversation(conversation=conversation.id).id


def contents(project: Project, app: str = "calendar") -> list[str]:
    return [memory.content for memory in project.apps.list(app).items]


@pytest.mark.row("S0.1.4")
def test_importance_goes_from_0_to_10_and_is_kept_from_0_to_1(project: Project) -> None:
    done = project.apps.remember("calendar", "The lift is broken.", importance=8)
    assert done.memory
    assert done.memory.importance == 8
    assert project.show(done.memory.id).importance == 0.8  # type: ignore[union-attr]
    for wrong in (-1, 10.5, float("nan")):
        with pytest.raises(InvalidValue):
            project.apps.remember("calendar", "The stairs are steep.", importance=wrong)


@pytest.mark.row("S0.4.6")
def test_a_text_over_the_limit_is_refused_on_every_way_in(project: Project) -> None:
    long = "word " * 41
    with pytest.raises(InvalidValue, match="204 characters, and the limit is 200"):
        project.apps.remember("calendar", long)
    with pytest.raises(InvalidValue, match="limit is 200"):
        project.add(long, app="calendar")
    known = project.add("short", app="calendar").memory.id
    with pytest.raises(InvalidValue, match="limit is 200"):
        project.edit(known, long)
    assert project.add(long).action == "added"


def test_a_text_or_a_conversation_is_needed_and_not_both(project: Project) -> None:
    for request in ({}, {"content": "x", "conversation": "y"}):
        with pytest.raises(UsageError):
            project.apps.remember("calendar", **request)


def test_the_same_text_is_kept_once(project: Project) -> None:
    first = project.apps.remember("calendar", "The lift is broken.")
    again = project.apps.remember("calendar", "the lift  is broken.")
    other = project.apps.remember("mail", "The lift is broken.")
    assert (first.action, again.action, other.action) == ("created", "known", "created")
    assert again.memory == first.memory


def told(root: str, app: str, **caller: Any) -> str:
    done = pmem("-C", root, "app", "remember", app, f"The lift of {app} is slow.", **caller)
    assert done.code == 0
    return done.said


def test_the_first_memory_of_an_app_tells_which_other_one_may_be_meant(root: str) -> None:
    slip = "app calendr is new here; if you meant calendar, `pmem undo` takes this back\n"
    assert told(root, "calendar") == ""
    assert told(root, "mail") == ""
    assert told(root, "calendr") == slip
    assert told(root, "calendar") == ""
    assert pmem("-C", root, "undo").code == 0
    assert told(root, "calendr") == slip
    assert told(root, "calendr") == ""


def test_an_app_is_told_of_no_other_one(root: str) -> None:
    assert told(root, "calendar") == ""
    assert told(root, "calendr", environment={"PMEM_APP": "calendr"}) == ""
    assert pmem("-C", root, "conversation", "start", "--app", "kalendar").code == 0
    assert told(root, "kalendar") == ""


@pytest.mark.row("S0.5.2")
def test_a_conversation_must_have_ended_and_be_no_other_apps(project: Project) -> None:
    open_ = project.start_conversation().id
    with pytest.raises(InvalidValue, match="has not ended"):
        project.apps.remember("calendar", conversation=open_)
    theirs = ended(project, "We decided to use PostgreSQL.", app="mail")
    with pytest.raises(InvalidValue, match="another app"):
        project.apps.remember("calendar", conversation=theirs)
    with pytest.raises(NotFound):
        project.apps.remember("calendar", conversation="none")


@pytest.mark.row("S0.1.5")
def test_a_conversation_of_no_app_can_be_given_to_one(project: Project) -> None:
    talk = ended(project, "We decided to use PostgreSQL.", app=None)
    done = project.apps.remember("calendar", conversation=talk, importance=7, tags=("db",))
    assert done.memory
    assert (done.memory.importance, done.memory.tags) == (7, ("db",))
    assert done.memory.content == "user: We decided to use PostgreSQL."


@pytest.mark.row("S0.2.2")
def test_a_conversation_leaves_one_memory_that_grows_with_it(project: Project) -> None:
    talk = ended(project, "We decided to use PostgreSQL.")
    assert project.apps.remember("calendar", conversation=talk).action == "known"
    project.resume_conversation(talk)
    project.add_message("user", "The archive moves in March.")
    project.end_conversation()
    (content,) = contents(project)
    assert content == "user: We decided to use PostgreSQL. The archive moves in March."


def test_a_memory_that_somebody_rewrote_is_left_alone(project: Project) -> None:
    talk = ended(project, "We decided to use PostgreSQL.")
    (memory,) = project.apps.list("calendar").items
    project.edit(memory.id, "PostgreSQL 17 it is.")
    project.apps.remember("calendar", conversation=talk)
    assert "PostgreSQL 17 it is." in contents(project)


def test_a_memory_that_took_another_one_in_is_left_alone(root: str) -> None:
    project = fakes.limited(root, limit=1)
    talk = ended(project, "We decided to use PostgreSQL.")
    (first,) = project.apps.list("calendar").items
    text = "Note that the user: We decided to use PostgreSQL"
    theirs = fakes.limited(root, 1, limit=2, of="planner")
    theirs.add(text, app="calendar", force=True)
    (decided,) = project.apps.compact("calendar").decisions
    assert (decided.action, decided.target) == ("edit", first.id)
    later = fakes.limited(root, limit=2)
    later.resume_conversation(talk)
    later.add_message("user", "The archive moves in March.")
    later.end_conversation(conversation=talk)
    assert later.apps.show("calendar", first.id).content == first.content
    assert len(contents(later)) == 2


@pytest.mark.row("S0.2.7")
@pytest.mark.parametrize(
    "said",
    [
        (),
        ("Hello!", "Thanks"),
        ("Can you move it?",),
        ("x" * 300,),
        ("In Graz.", "PostgreSQL."),
        ("Let me check.", "One moment please."),
        ("Sounds good to me.", "That makes sense."),
        ("I will look into it tomorrow.", "Let's talk again next week."),
        ("This is nothing.", "I will do that for you."),
        ("Let me check the logs.",),
        ("So let me read the contract.", "Let me also have a quick look at the router."),
    ],
)
def test_a_conversation_that_says_nothing_leaves_nothing(
    project: Project, said: tuple[str, ...]
) -> None:
    ended(project, *said)
    assert contents(project) == []


@pytest.mark.row("S0.2.7")
@pytest.mark.parametrize(
    "said",
    [
        "Let me open the settings file.",
        "I'll check the logs of the server.",
        "I need to see the schema first.",
    ],
)
def test_what_an_assistant_does_next_leaves_nothing(project: Project, said: str) -> None:
    talk = project.start_conversation(app="calendar").id
    project.add_message("assistant", said)
    project.end_conversation(conversation=talk)
    assert contents(project) == []


@pytest.mark.row("S0.2.4")
@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (("I like tea.",), "The user likes tea."),
        (("I work from home.", "The launch moves to May."), "The user works from home. user: "
                                                            "The launch moves to May."),
        (("Sounds good to me.", "We meet on Friday."), "user: We meet on Friday."),
        (("Let me pay by card.",), "The user wants to pay by card."),
        (("I need to see a doctor.",), "The user needs to see a doctor."),
    ],
)  # fmt: skip
def test_what_a_sentence_states_is_kept_however_plain_its_words(
    project: Project, said: tuple[str, ...], kept: str
) -> None:
    ended(project, *said)
    assert contents(project) == [kept]


SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def spilling(_given: ConversationGiven) -> Any:
    """Fail, and quote a secret."""
    raise ValueError(f"refused: {SECRET}")


@pytest.mark.row("S0.7.1", "S0.7.2", "S0.11.9")
@pytest.mark.parametrize(
    "summarise",
    [
        spilling,
        lambda given: {"summary": f"The key is {SECRET}."},
        fakes.raising,
        fakes.stammering,
        lambda given: "",
        lambda given: {"summary": "word " * 41},
        lambda given: {"summary": 7},
        lambda given: {"summary": "\ud800"},
        lambda given: {"summary": "The user lives in Quuxville."},
    ],
)
def test_f33_a_summariser_that_fails_or_lies_is_done_without_and_spills_no_secret(
    root: str, summarise: fakes.Summarise
) -> None:
    project = fakes.limited(root, models=fakes.model(summarise=summarise))
    talk = ended(project, "We decided to use PostgreSQL.", app=None)
    done = project.apps.remember("calendar", conversation=talk)
    assert (done.action, contents(project)) == ("created", ["user: We decided to use PostgreSQL."])
    assert done.reason
    assert done.memory
    (added,) = project.history(done.memory.id)
    assert added.detail["failure"] == done.reason
    assert traces(root, SECRET) == []


@pytest.mark.row("S0.7.5")
def test_a_summariser_that_hangs_is_left_alone(root: str) -> None:
    models = fakes.model(summarise=fakes.hanging)
    project = fakes.limited(root, timeout=0.05, models=models)
    talk = ended(project, "We decided to use PostgreSQL.", app=None)
    done = project.apps.remember("calendar", conversation=talk)
    assert done.action == "created"
    assert "no answer within 0.05 s" in done.reason


def leaking(given: ConversationGiven) -> Any:
    """Fail, and say what of."""
    raise ValueError(f"no JSON: {given.messages[0].text}")


def repeating(given: ConversationGiven) -> Any:
    """Repeat what was said."""
    return {"summary": given.messages[0].text}


def traces(root: str, token: str) -> list[str]:
    """Return the folders of the files of a memory that hold a token."""
    files = [path for path in Path(root).rglob("*") if path.is_file()]
    return sorted(
        {
            path.relative_to(root).parts[0]
            for path in files
            if token.encode() in path.read_bytes() and path.suffix == ".json"
        }
    )


@pytest.mark.parametrize("summarise", [None, leaking, repeating])
@pytest.mark.parametrize("agent", [None, "bot"])
def test_what_is_said_of_people_is_in_no_apps_memory(
    root: str, summarise: fakes.Summarise | None, agent: str | None
) -> None:
    models = None if summarise is None else fakes.model(summarise=summarise)
    project = Project(root, now=NOW, actor="ada", agent=agent, models=models)
    ended(project, "I live in Quuxville. We decided to use PostgreSQL.")
    assert contents(project) == ["user: We decided to use PostgreSQL."]
    assert "long-term-memory" not in traces(root, "Quuxville")
    assert "Quuxville" not in project.apps.context("calendar").text


def test_an_outcome_that_tells_of_people_is_left_out(project: Project) -> None:
    talk = project.start_conversation(app="calendar").id
    project.add_message("user", "We decided to use PostgreSQL.")
    project.end_conversation(conversation=talk, outcome="The user's pronouns are they/them.")
    assert contents(project) == ["user: We decided to use PostgreSQL."]


def test_an_agent_is_told_that_its_text_waits_for_consent(root: str) -> None:
    agent = Project(root, now=NOW, agent="bot")
    with pytest.raises(Withheld) as caught:
        agent.apps.remember("calendar", "The user lives in Quuxville.")
    assert caught.value.held.field == "city"
    assert contents(agent) == []


@pytest.mark.row("S0.7.9")
@pytest.mark.parametrize("error", [StorageRefused("full"), ZeroDivisionError("oh")])
def test_a_conversation_ends_whatever_its_memory_meets(project: Project, error: Exception) -> None:
    project.start_conversation(app="calendar")
    project.add_message("user", "We decided to use PostgreSQL.")
    with mock.patch("pmem.apps.remembering._commit", side_effect=error):
        assert project.end_conversation().status == "ended"
    assert contents(project) == []


@pytest.mark.row("S0.7.4")
def test_a_storage_error_is_tried_once_more(project: Project) -> None:
    commit, failed = JsonFiles.commit, list[object]()

    def fail_once(files: JsonFiles, changes: object) -> None:
        if not failed:
            failed.append(changes)
            raise StorageRefused("the disk hiccups")
        commit(files, changes)  # type: ignore[arg-type]

    with mock.patch.object(JsonFiles, "commit", fail_once):
        assert project.apps.remember("calendar", "The lift is broken.").action == "created"
    with (
        mock.patch.object(JsonFiles, "commit", side_effect=StorageRefused("full")),
        pytest.raises(StorageRefused),
    ):
        project.apps.remember("calendar", "The stairs are steep.")
    assert contents(project) == ["The lift is broken."]


@pytest.mark.row("S0.5.1")
def test_a_conversation_that_goes_on_is_no_end(project: Project) -> None:
    assert on_end(project.workspace, project.start_conversation(app="calendar")) is None


def message(content: str, role: Role = Role.USER) -> Message:
    return Message(id="m", role=role, content=content, created_at=NOW)


@pytest.mark.row("S0.2.3")
@given(
    st.lists(texts | st.sampled_from(["We use Rust.", "日本語の文です。", "a, b; c"]), max_size=6)
)
def test_a_digest_fits_and_cuts_no_sentence(said: list[str]) -> None:
    for most in (1, 20, 200):
        found = digest(map(message, said), None, most)
        assert len(found) <= most
        assert "\n" not in found
        assert not found.endswith("…") or any("…" in text for text in said)


@pytest.mark.row("S0.2.3")
def test_a_digest_has_four_sentences_at_the_most_and_no_questions() -> None:
    said = [f"We chose part {number} for the engine." for number in range(9)]
    found = digest(map(message, [*said, "Which part is next?"]), "It runs", 1000)
    assert found.count(".") == 4
    assert found.endswith("It runs.")
    assert "Which" not in found


def kept_of(project: Project, *said: tuple[str, str, str], outcome: str | None = None) -> str:
    """Return what an app remembers of a conversation: role, speaker and words of each message."""
    talk = project.start_conversation(app="calendar").id
    for role, speaker, words in said:
        project.add_message(role, words, speaker=speaker or None)
    project.end_conversation(conversation=talk, outcome=outcome)
    (memory,) = contents(project)
    return memory


@pytest.mark.row("S0.2.4")
def test_f13_a_conversations_memory_names_the_problem_and_says_a_thing_once(
    project: Project,
) -> None:
    kept = kept_of(
        project,
        ("user", "Mira", "The nightly sync fails with database time-outs since Monday."),
        ("assistant", "", "I raised the timeout to 90 seconds."),
        ("user", "Mira", "we decided to keep the 90 second timeout."),
        outcome="Timeout raised to 90 s",
    )
    assert kept == (
        "Mira: The nightly sync fails with database time-outs since Monday. "
        "Outcome: Timeout raised to 90 s."
    )


@pytest.mark.row("S0.2.4")
def test_f13_a_conversations_memory_speaks_of_people_in_the_third_person(project: Project) -> None:
    kept = kept_of(
        project,
        ("user", "Ana", "My manager is Alec. I work at TechCorp."),
        ("user", "Ben", "I prefer meetings after 2pm."),
    )
    assert "Ana's manager is Alec." in kept
    assert "Ben prefers meetings after 2pm." in kept
    assert not {"I", "My", "my"} & set(kept.split())


@pytest.mark.row("S0.2.5")
@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        (
            "Our budget for the fair is 12,000 euros.",
            "We changed the budget: it is 15,000 euros now.",
            "user: We changed the budget: it is 15,000 euros now.",
        ),
        (
            "The port of the search service is 8081.",
            "No, use 8082 instead.",
            "user: No, use 8082 instead (before: The port of the search service is 8081).",
        ),
    ],
)
def test_f14_a_later_correction_wins_when_a_conversation_is_resumed_and_ended_again(
    project: Project, before: str, after: str, kept: str
) -> None:
    talk = ended(project, before)
    project.resume_conversation(talk)
    project.add_message("user", after)
    project.end_conversation(conversation=talk)
    assert contents(project) == [kept]


@pytest.mark.row("S0.12.1")
def test_f45_a_conversations_memory_counts_by_what_it_states(project: Project) -> None:
    cases = {
        "a": ("The archive is on floor 4.", 5),
        "b": ("We decided to use PostgreSQL.", 7),
        "c": ("Our goal is to open the archive in May.", 8),
    }
    for app, (said, importance) in cases.items():
        ended(project, said, app=app)
        (memory,) = project.apps.list(app).items
        assert memory.importance == importance
    given = ended(project, "We decided to paint the hall.", app=None)
    done = project.apps.remember("d", conversation=given, importance=2)
    assert done.memory
    assert done.memory.importance == 2


@pytest.mark.row("S0.2.7")
def test_a_model_may_find_nothing_to_keep(root: str) -> None:
    models = fakes.model(summarise=lambda given: {"summary": ""})
    project = fakes.limited(root, models=models)
    talk = ended(project, "We decided to use PostgreSQL.", app=None)
    done = project.apps.remember("calendar", conversation=talk)
    assert (done.action, done.reason) == ("skipped", "fake found nothing to keep")
