"""The moments of labelled dialogues are found, and hardly any others: precision and recall."""

from itertools import chain

import pytest

from pmem.core.extraction import turns as signs
from pmem.core.extraction.episodes import moments
from pmem.values.records import Message
from tests.core.extraction.scores import (
    DIALOGUES,
    labelled_dialogues,
    message,
    score_dialogues,
)

BAR = 0.8


@pytest.mark.parametrize("name", ["tuning", "held_out"])
def test_moments_are_found_where_they_are_and_begin_where_they_began(name: str) -> None:
    score = score_dialogues(labelled_dialogues(name))
    assert score.precision() >= BAR, "\n".join(score.failures)
    assert score.recall() >= BAR, "\n".join(score.failures)
    assert [failure for failure in score.failures if failure.startswith("begins")] == []


def test_moments_are_found_in_all_dialogues_together() -> None:
    score = score_dialogues(chain.from_iterable(map(labelled_dialogues, DIALOGUES)))
    assert score.precision() >= 0.9, "\n".join(score.failures)
    assert score.recall() >= 0.85, "\n".join(score.failures)
    for kind in score.types():
        assert min(score.precision(kind), score.recall(kind)) >= BAR, "\n".join(score.failures)


def test_moments_are_of_the_messages_that_were_said() -> None:
    for dialogue in chain.from_iterable(map(labelled_dialogues, DIALOGUES)):
        for end in range(1, len(dialogue.said) + 1):
            said = dialogue.said[:end]
            for moment in moments(said):
                text = "\n".join(message.content for message in said).casefold()
                assert moment.title.rstrip("…").casefold() in text
                assert 0 <= moment.first < end


def test_no_line_of_the_table_of_signs_can_go(monkeypatch: pytest.MonkeyPatch) -> None:
    dialogues = chain.from_iterable(map(labelled_dialogues, DIALOGUES))
    said = [one for dialogue in dialogues for one in dialogue.said]
    said += [message(text) for text in EXAMPLES]
    before = [(one, found) for one in said if (found := signs_of(one))]
    lines = signs.TABLE.strip().splitlines()
    unheld = []
    for line in lines:
        monkeypatch.setattr(signs, "TABLE", "\n".join(one for one in lines if one != line))
        forget()
        if all(signs_of(one) == found for one, found in before):
            unheld.append(line)
    monkeypatch.undo()
    forget()
    assert unheld == []


def signs_of(said: Message) -> tuple[signs.Sign, ...]:
    return signs.reading(said, 1000).signs


def forget() -> None:
    """Have the table read again, and every message."""
    signs._cues.cache_clear()
    signs._read_text.cache_clear()


EXAMPLES = ("That solved it.", "I fixed the pump.", "We abandoned the second office.")
"""What holds the lines that no labelled dialogue holds."""
