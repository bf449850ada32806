"""Episodes: noticed as messages make them, added by hand, listed, drawn as an arc."""

from typing import Any

import orjson
import pytest

from pmem import Project
from pmem.core.extraction.episodes import Arc
from pmem.errors import Ambiguous, InvalidValue, NotFound
from pmem.values.records import Episode, EpisodeType, Status, TurnRange
from tests.conftest import NOW
from tests.storage.in_memory import InMemory

TROUBLE = "The build fails with a timeout on main."
CURE = "Fixed: the cache key was wrong, the build works again."
DECISION = "We decided to use PostgreSQL because it is faster."
DONE = "Deployed the new release to production."


def project(**overrides: Any) -> Project:
    made = Project(actor="tester", now=NOW, backend=InMemory(), **overrides)
    made.start_conversation("Release week")
    return made


def noticed(made: Project, content: str, role: str = "user", **fields: Any) -> tuple[Episode, ...]:
    return made.add_message(role, content, **fields).episodes


def chatter(made: Project, count: int) -> None:
    for number in range(count):
        assert noticed(made, f"Line {number} of the log?") == ()


def milestones(made: Project) -> tuple[str, ...]:
    return made.transcript().conversation.milestones


# Noticed


@pytest.mark.row("S2.5.3", "S2.5.4")
@pytest.mark.parametrize(
    ("content", "type_"),
    [
        (DECISION, EpisodeType.DECISION_MADE),
        ("The login page is broken for all customers.", EpisodeType.ISSUE_IDENTIFIED),
        (DONE, EpisodeType.TASK_COMPLETED),
        ("Change of plan: we abandon the rewrite.", EpisodeType.PIVOT),
    ],
)
def test_a_message_makes_an_episode(content: str, type_: EpisodeType) -> None:
    made = project()
    (episode,) = noticed(made, content, speaker="Mira")
    assert (episode.type, episode.conversation) == (type_, made.transcript().conversation.id)
    assert episode.turns == TurnRange(start=1, end=1)
    assert episode.participants == ("Mira",)
    assert (episode.created_at, episode.history[0].actor) == (NOW, "tester")
    assert episode.tokens == made.workspace.count(episode.summary)
    assert milestones(made) == (episode.id,)
    assert made.show(episode.id) == episode
    assert made.check().findings == ()


def test_small_talk_makes_none() -> None:
    made = project()
    for content in ("Hello there!", "Should we use PostgreSQL?", "Thanks", ""):
        if content:
            assert noticed(made, content) == ()
    assert milestones(made) == ()


@pytest.mark.row("S2.5.2")
@pytest.mark.parametrize("before", [0, 3, 17, 18, 19, 20, 35])
def test_the_turns_of_an_episode_are_those_of_the_conversation(before: int) -> None:
    made = project()
    chatter(made, before)
    noticed(made, TROUBLE, speaker="Ada")
    made.add_message("assistant", "Let me look at the log.")
    (cure,) = (item for item in noticed(made, CURE) if item.type is EpisodeType.PROBLEM_SOLVED)
    assert cure.turns == TurnRange(start=before + 1, end=before + 3)
    said = made.transcript().messages
    assert said[cure.turns.start - 1].content == TROUBLE
    assert said[cure.turns.end - 1].content == CURE
    assert "Ada" in cure.participants


@pytest.mark.row("S2.2.5")
def test_milestones_are_in_the_order_in_which_they_happened() -> None:
    made = project()
    ids = [
        item.id for content in (DECISION, TROUBLE, CURE, DONE) for item in noticed(made, content)
    ]
    chatter(made, 30)
    assert len(ids) >= 3
    assert milestones(made) == tuple(ids)
    assert [item.id for item in made.episodes().items] == ids


def test_what_was_told_just_now_is_not_told_again() -> None:
    made = project()
    assert len(noticed(made, DECISION)) == 1
    assert noticed(made, DECISION, "assistant") == ()


def test_episodes_can_be_left_alone() -> None:
    made = project(detect_episodes=False)
    assert noticed(made, DECISION) == ()
    made.import_messages(transcript(("user", DECISION)))
    assert made.episodes().total == 0


def transcript(*said: tuple[str, str], name: str = "talk") -> list[bytes]:
    return [
        orjson.dumps(
            {"conversation": name, "id": str(i), "role": role, "speaker": role, "content": content}
            | {"timestamp": f"2026-01-02T10:{i:02d}:00Z"}
        )
        for i, (role, content) in enumerate(said)
    ]


def told(made: Project) -> list[tuple[str, str, TurnRange | None]]:
    return [(one.id, one.title, one.turns) for one in made.episodes().items]


def test_a_transcript_makes_them_too_and_each_once() -> None:
    said = (("user", "hi"), ("user", TROUBLE), ("assistant", CURE), ("user", DECISION))
    made = project()
    made.import_messages(transcript(*said))
    first = told(made)
    assert [turns for _, _, turns in first] == [
        TurnRange(start=2, end=3), TurnRange(start=4, end=4),
    ]  # fmt: skip
    made.import_messages(transcript(*said))
    assert told(made) == first
    other = project()
    other.import_messages(transcript(*said))
    assert told(other) == first


def test_a_transcript_that_goes_on_adds_what_is_new() -> None:
    said = (("user", TROUBLE), ("assistant", CURE), ("user", DECISION))
    made, other = project(), project()
    for end in (1, 2, 3):
        made.import_messages(transcript(*said[:end]))
    other.import_messages(transcript(*said))
    assert told(made) == told(other)
    (talk,) = (one for one in made.conversations() if one.external_id == "talk")
    ids = [identifier for identifier, _, _ in told(made)]
    assert list(made.transcript(talk.id).conversation.milestones) == ids


@pytest.mark.row("S2.5.5")
def test_a_problem_that_has_moved_into_a_chunk_can_still_be_solved() -> None:
    made = project(max_recent_messages=4, chunk_size=4)
    noticed(made, TROUBLE)
    chatter(made, 6)
    (cure,) = (item for item in noticed(made, CURE) if item.type is EpisodeType.PROBLEM_SOLVED)
    assert cure.turns == TurnRange(start=1, end=8)


def test_a_tool_call_makes_none() -> None:
    made = project()
    assert noticed(made, DECISION, "assistant", tool_call={"name": "sh"}) == ()


@pytest.mark.row("S2.5.2")
def test_an_episode_leads_to_the_memory_that_came_of_its_message() -> None:
    heard = project().add_message("user", DECISION)
    (promoted,), (episode,) = heard.promoted, heard.episodes
    assert episode.linked_memories == (promoted.memory.id,)


@pytest.mark.parametrize("said", [0, 3, 40])
def test_an_outcome_is_an_episode_of_the_whole_conversation(said: int) -> None:
    made = project(detect_episodes=False)
    chatter(made, said)
    ended = made.end_conversation("Shipped on time")
    (episode,) = made.episodes().items
    assert (episode.title, episode.summary) == ("Release week", "Shipped on time")
    assert (episode.type, episode.outcome) == (EpisodeType.TASK_COMPLETED, "Shipped on time")
    assert episode.turns == (TurnRange(start=1, end=said) if said else None)
    assert ended.milestones == (episode.id,)


def test_an_outcome_for_an_ended_conversation_is_not_lost() -> None:
    made = project()
    reference = made.end_conversation().id
    ended = made.end_conversation("Shipped on time", reference)
    assert (ended.status, ended.outcome) == (Status.ENDED, "Shipped on time")
    assert ended.ended_at == NOW
    assert made.episodes().total == 1


@pytest.mark.parametrize("outcome", ["", " ", "x" * 4001])
def test_a_bad_outcome_ends_nothing(outcome: str) -> None:
    made = project()
    with pytest.raises(InvalidValue):
        made.end_conversation(outcome)
    assert made.transcript().conversation.status is Status.ACTIVE
    assert made.episodes().total == 0


# By hand


@pytest.mark.row("S2.5.1")
def test_an_episode_is_added_with_all_its_fields() -> None:
    made = project()
    chatter(made, 4)
    memory = made.add("The office has moved").memory
    episode = made.add_episode(
        "We moved the office to the harbour.",
        title="The move",
        type=EpisodeType.PIVOT,
        context="The lease ended",
        outcome="Shorter ways",
        participants=("Mira", "Bo"),
        valence=-0.5,
        significance=0.9,
        conversation=made.transcript().conversation.id,
        start=2,
        end=3,
        memories=(memory.id[-8:],),
        tags=("office",),
    )
    assert made.show(episode.id) == episode
    assert episode.turns == TurnRange(start=2, end=3)
    assert episode.linked_memories == (memory.id,)
    assert milestones(made) == (episode.id,)
    assert made.check().findings == ()
    assert made.search("harbour office", kinds=("episode",)).hits[0].id == episode.id


def test_the_start_of_the_summary_is_the_title() -> None:
    made = project()
    assert made.add_episode("One line\nand another").title == "One line"
    long = made.add_episode("word " * 100).title
    assert len(long) <= 80
    assert long.endswith("…")


def test_an_episode_needs_no_conversation() -> None:
    made = project()
    episode = made.add_episode("The roof leaks")
    assert (episode.conversation, episode.turns) == (None, None)
    assert milestones(made) == ()


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"summary": ""}, "must not be empty"),
        ({"summary": "x" * 4001}, "limit is 4000"),
        ({"outcome": "x" * 4001}, "limit is 4000"),
        ({"context": "x" * 4001}, "limit is 4000"),
        ({"title": " "}, "must not be empty"),
        ({"valence": 1.1}, "between -1 and 1"),
        ({"valence": float("nan")}, "between -1 and 1"),
        ({"significance": -0.1}, "between 0 and 1"),
        ({"start": 1}, "give --conversation"),
        ({"conversation": "it", "start": 0}, "do not lie within"),
        ({"conversation": "it", "start": 3, "end": 2}, "do not lie within"),
        ({"conversation": "it", "end": 5}, "do not lie within"),
        ({"tags": ("",)}, "must not be empty"),
        ({"participants": ("",)}, "must not be empty"),
        ({"participants": ("x" * 300,)}, "limit is 200"),
    ],
)
def test_what_is_not_allowed_is_refused(fields: dict[str, Any], sentence: str) -> None:
    made = project()
    chatter(made, 4)
    if "conversation" in fields:
        fields = {**fields, "conversation": made.transcript().conversation.id}
    with pytest.raises(InvalidValue) as caught:
        made.add_episode(**{"summary": "The roof leaks", **fields})
    assert sentence in f"{caught.value.message} {caught.value.hint}"
    assert made.episodes().total == 0
    assert milestones(made) == ()


def test_what_an_episode_leads_to_must_exist() -> None:
    made = project()
    with pytest.raises(NotFound):
        made.add_episode("The roof leaks", conversation="nowhere")
    with pytest.raises(NotFound):
        made.add_episode("The roof leaks", memories=("nowhere",))
    made.add("One")
    made.add("Two")
    with pytest.raises(Ambiguous):
        made.add_episode("The roof leaks", memories=(made.list().items[0].id[:6],))
    assert made.episodes().total == 0


# Looking


def test_a_listing_can_be_narrowed_and_shows_the_latest() -> None:
    made = project()
    reference = made.transcript().conversation.id
    one = made.add_episode("One", significance=0.2, conversation=reference)
    two = made.add_episode("Two", significance=0.7, type=EpisodeType.PIVOT)
    three = made.add_episode("Three", significance=0.9)
    assert ids(made) == [one.id, two.id, three.id]
    assert ids(made, limit=2) == [two.id, three.id]
    assert made.episodes(limit=2).total == 3
    assert ids(made, limit=0) == []
    assert ids(made, above=0.7) == [two.id, three.id]
    assert ids(made, types=(EpisodeType.PIVOT,)) == [two.id]
    assert ids(made, conversation=reference) == [one.id]
    with pytest.raises(NotFound):
        made.episodes(conversation="nowhere")


def ids(made: Project, **wanted: Any) -> list[str]:
    return [episode.id for episode in made.episodes(**wanted).items]


@pytest.mark.row("S2.5.6")
def test_the_arc_of_a_conversation() -> None:
    made = project(detect_episodes=False)
    chatter(made, 30)
    reference = made.transcript().conversation.id
    places = {2: 0.5, 15: 0.9, 29: 0.7}
    first, second, third = [
        made.add_episode(
            f"Just {turn}", conversation=reference, start=turn, end=turn, significance=worth
        )
        for turn, worth in places.items()
    ]
    found = made.narrative_arc()
    assert found == Arc((first,), (second,), (third,), (second, third))
    assert made.narrative_arc(reference) == found


def test_removed_episodes_are_left_out_until_they_are_restored() -> None:
    made = project()
    (episode,) = noticed(made, DECISION)
    made.remove(episode.id)
    assert ids(made) == []
    assert made.narrative_arc() == Arc((), (), (), ())
    assert made.search("PostgreSQL", kinds=("episode",)).hits == ()
    made.restore(episode.id)
    assert ids(made) == [episode.id]


def test_a_purged_episode_leaves_no_loose_end() -> None:
    made = project()
    (episode,) = noticed(made, DECISION)
    by_hand = made.add_episode("By hand", conversation=made.transcript().conversation.id)
    made.purge(episode.id, force=True)
    assert milestones(made) == (by_hand.id,)
    assert made.check().findings == ()


def test_a_purged_memory_leaves_no_loose_end() -> None:
    made = project()
    memory = made.add("The office has moved").memory
    episode = made.add_episode("The move", memories=(memory.id,))
    made.purge(memory.id, force=True)
    assert made.check().findings == ()
    shown = made.show(episode.id)
    assert isinstance(shown, Episode)
    assert shown.linked_memories == ()


def test_an_arc_of_nothing_is_empty() -> None:
    assert project().narrative_arc() == Arc((), (), (), ())
    made = Project(backend=InMemory())
    with pytest.raises(NotFound):
        made.narrative_arc()


def test_an_episode_takes_no_room_from_the_words_that_it_repeats() -> None:
    said = (("user", "The login page is broken for all customers."), ("assistant", CURE))
    texts = []
    for is_noticed in (True, False):
        made = project(detect_episodes=is_noticed)
        made.import_messages(transcript(*said, ("user", DECISION)))
        assert bool(made.episodes().items) is is_noticed
        asked = made.build_context("which database did we decide to use?", budget=300)
        texts.append(asked.text.rpartition("(pmem:")[0])
    assert texts[0] == texts[1]
    assert DECISION in texts[0]
