"""The writing rules: labelled texts, the measures they reach, and what no text can do to them."""

import pytest

from pmem.core.style_rules import lints
from tests.labelled import sections
from tests.work import STALLED, WITHIN, calls, seconds

SETS = sections("core/sets/writing.txt")
LONG = {
    "LONG": "The contract says that " + "the vendor delivers, " * 14 + "and the customer pays.",
    "LONGER": "The vendor delivers the first part of the work in the spring of the year. " * 5,
}


def labelled(name: str) -> list[tuple[str, frozenset[str]]]:
    """Return texts, and the rules that each breaks."""
    pairs = (line.partition("|") for line in SETS[name])
    return [(LONG.get(text, text), frozenset(rules.split())) for text, _, rules in pairs]


TEXTS = [(text, want, False) for text, want in labelled("sound") + labelled("broken")]
TEXTS += [(text, want, True) for text, want in labelled("episodes")]


def broken(text: str, episodic: bool = False) -> set[str]:
    """Return the names of the rules that a text breaks."""
    return {lint.rule for lint in lints(text, episodic=episodic)}


@pytest.mark.row("S1.9.1", "S1.9.4")
def test_the_labelled_texts_are_judged_with_few_mistakes() -> None:
    found = [(broken(text, episodic), want) for text, want, episodic in TEXTS]
    right = sum(len(got & want) for got, want in found)
    precision = right / sum(len(got) for got, _ in found)
    recall = right / sum(len(want) for _, want in found)
    assert len(TEXTS) >= 120
    assert precision >= 0.95, precision
    assert recall >= 0.95, recall


@pytest.mark.row("S1.9.1")
@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("We use PostgreSQL for orders.", "third_person"),
        ("She leads the platform team.", "pronouns"),
        ("dark mode", "complete"),
        ("The build is broken!", "tone"),
        ("One is here. Two is there. Three is gone.", "sentences"),
        (f"The {'very ' * 60}long plan was written.", "length"),
    ],
)
def test_a_broken_rule_is_named_with_what_to_do(text: str, rule: str) -> None:
    (lint,) = lints(text)
    assert lint.rule == rule
    assert lint.sentence


def test_words_in_quotation_marks_are_not_the_writers() -> None:
    assert broken('The button says "Give me my data".') == set()
    assert broken("The flag `--my-data` prints everything.") == set()


def test_abbreviations_end_no_sentence() -> None:
    assert broken("Dr. Okafor reviews texts, e.g. labels. Mr. Lind signs the texts.") == set()


@pytest.mark.parametrize(
    "text", ["请记住数据库使用 PostgreSQL。", "データベースはオスロにあります。", "🙂🙂🙂"]
)
def test_other_scripts_are_held_to_their_size_only(text: str) -> None:
    assert broken(text) <= {"length", "sentences", "complete"}
    assert broken("规则。" * 3) == {"sentences"}


@pytest.mark.parametrize("piece", ["a", "a. ", '"', "`", "I ", "A.", "'/-", "é", "。"])
def test_a_long_text_is_judged_quickly(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    assert calls(lambda: lints(text, episodic=True)) < WITHIN * 500
    assert seconds(lambda: lints(text, episodic=True)) < STALLED
