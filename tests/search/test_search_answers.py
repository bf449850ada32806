"""What a search says of hits that hold no word, of what has expired, and of common words."""

from datetime import timedelta

from pmem.core.filters import Filter
from pmem.core.text.terms import terms
from pmem.values.records import Episode, EpisodeType, MemoryType
from tests.conftest import NOW
from tests.search.test_search import find, in_memory, keep, texts


def test_a_hit_by_related_words_alone_does_not_answer() -> None:
    workspace = in_memory()
    keep(workspace, "The build hangs in the evening")
    found = find(workspace, "freeze")
    assert texts(found) == ["The build hangs in the evening"]
    assert found.associated == (found.hits[0].id,)
    assert not found.is_answered
    assert find(workspace, "hanging").is_answered


def test_a_subject_a_tag_or_a_speaker_holds_a_word_as_well() -> None:
    workspace = in_memory()
    keep(workspace, "It stops in the evening", subject="freeze")
    keep(workspace, "It stops at noon", tags=("thaw",))
    for query in ("freeze", "thaw"):
        found = find(workspace, query)
        assert found.is_answered
        assert found.hits[0].id not in found.associated


def test_an_episode_says_its_sentence_once() -> None:
    workspace = in_memory()
    for number, (title, summary) in enumerate(
        (
            (
                "We decided to use Kafka because of its log",
                "We decided to use Kafka because of its log.",
            ),
            ("Kafka came up", "The log decided it."),
        )
    ):
        with workspace.transaction():
            workspace.episodes.put(
                Episode(
                    id=f"e-0000000{number}",
                    type=EpisodeType.DECISION_MADE,
                    title=title,
                    summary=summary,
                    created_at=NOW,
                    updated_at=NOW,
                )
            )
    assert texts(find(workspace, "Kafka")) == [
        "We decided to use Kafka because of its log.",
        "Kafka came up: The log decided it.",
    ]


def test_what_has_expired_is_counted_where_it_holds_every_word() -> None:
    workspace = in_memory()
    month, day = timedelta(days=30), timedelta(days=1)
    keep(workspace, "The code freeze is on", valid_from=NOW - month, valid_until=NOW - day)
    keep(workspace, "The next code freeze", valid_from=NOW + day)
    keep(workspace, "We review code")
    found = find(workspace, "code freeze")
    assert (texts(found), found.expired) == (["We review code"], 1)
    assert find(workspace, "code review").expired == 0
    assert find(workspace, "freeze", wanted=found_type()).expired == 0


def found_type() -> Filter:
    return Filter(types=(MemoryType.DECISION,))


def test_words_that_are_too_common_to_be_ranked_are_found_all_the_same() -> None:
    workspace = in_memory()
    keep(workspace, "hello world")
    keep(workspace, "We say hello to you")
    keep(workspace, "Othello is a play")
    assert not terms("hello you")
    assert sorted(texts(find(workspace, "Hello"))) == ["We say hello to you", "hello world"]
    assert texts(find(workspace, "hello, you!")) == ["We say hello to you"]
    assert find(workspace, "hello", top_k=1).total == 2
    assert not texts(find(workspace, "?!"))
