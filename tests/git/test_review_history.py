"""What a review says of forty edits in three languages is what a reader of the history says."""

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.benchmarks.review import counted
from tests.histories.replay import Cite, Replayed, citation, replay, symbol_citation
from tests.histories.shop import FILES, MEMORIES, STEPS
from tests.histories.steps import Change, place_of, played


def test_the_history_has_forty_edits_of_each_kind_in_three_languages() -> None:
    assert len(STEPS) == len({step.title for step in STEPS}) == 40
    kinds = Counter(step.change for step in STEPS)
    assert min(kinds[kind] for kind in Change) >= 6
    names = {name for state in played(FILES, STEPS) for name in state.after}
    for suffix in (".py", ".ts", ".go"):
        assert sum(name.endswith(suffix) for name in names) > 2


def test_a_reader_only_has_to_look_where_the_meaning_changed() -> None:
    for step in STEPS:
        assert bool(step.hits) == (step.change is Change.MEANING), step.title


def test_what_is_remembered_is_found_by_a_reader_after_every_edit() -> None:
    for state in played(FILES, STEPS):
        for name, memory in MEMORIES.items():
            assert (place_of(state.after, memory) is None) == bool(memory.places), name


def as_a_reader_says(cite: Cite) -> Iterator[Replayed]:
    for done in replay(FILES, MEMORIES, STEPS, cite):
        step = done.state.step
        assert (done.hits, done.rules) == (step.hits, step.rules), step.title
        yield done


@pytest.mark.long
@pytest.mark.parametrize("cite", [citation, symbol_citation])
def test_a_review_says_what_a_reader_says_where_files_and_folders_alarm_many_times_as_often(
    cite: Cite,
) -> None:
    counts = counted(as_a_reader_says(cite))
    assert counts.review == counts.hits > 10
    assert counts.by_file > 3 * counts.hits
    assert counts.by_folder > counts.by_file
