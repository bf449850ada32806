"""The rules find what people would call a fact, and little else: precision and recall."""

import re
from itertools import chain

import pytest

from pmem.core.extraction.facts import extract
from pmem.values.records import MemoryType
from tests.core.extraction.scores import MESSAGES, labelled_messages, score_messages

UNSAID = (MemoryType.INSIGHT, MemoryType.DEAD_END)
TYPES = [kind.value for kind in MemoryType if kind not in UNSAID]
BAR = 0.8


@pytest.mark.parametrize("name", ["tuning", "held_out"])
@pytest.mark.parametrize("kind", [*TYPES, None])
def test_each_type_is_found_and_found_rightly(name: str, kind: str | None) -> None:
    score = score_messages(labelled_messages(name))
    assert score.precision(kind) >= BAR, "\n".join(score.failures)
    assert score.recall(kind) >= BAR, "\n".join(score.failures)


@pytest.mark.parametrize("kind", [*TYPES, None])
def test_each_type_is_found_in_all_messages_together(kind: str | None) -> None:
    score = score_messages(chain.from_iterable(map(labelled_messages, MESSAGES)))
    assert score.precision(kind) >= 0.9, "\n".join(score.failures)
    assert score.recall(kind) >= 0.85, "\n".join(score.failures)


def test_messages_to_which_the_rules_are_hardly_fitted_are_read_with_care() -> None:
    score = score_messages(labelled_messages("last"))
    assert score.precision() >= 0.9, "\n".join(score.failures)
    assert score.recall() >= 0.75, "\n".join(score.failures)


def test_only_wishes_and_plain_decisions_are_nearly_sure() -> None:
    plain = re.compile(
        r"remember|mind|note|later|record|from now on|going forward|from today|decision|decided"
        r"|记住|agreed|settled|went with|gone with|ended up|opted|ruled out",
        re.IGNORECASE,
    )
    for labelled in chain.from_iterable(map(labelled_messages, MESSAGES)):
        for fact in extract(labelled.message):
            sure = fact.confidence >= 0.9
            assert not sure or plain.search(labelled.message.content), fact
