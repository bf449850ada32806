"""A correction, or what tells of a change, beside what it corrects: each rule by itself."""

import pytest

from pmem.core.duplicates import Relation, claim_of, compare, pairs
from pmem.core.duplicates.tables import CHANGED
from tests.core.duplicates.labelled import CHANGES, RULES, Labelled

UPDATES = [each for each in CHANGES if each.kind == "update"]
OTHERS = [each for each in CHANGES if each.kind != "update"]


def relation(one: str, other: str) -> Relation:
    """Return what two texts are to each other, told either way and among many."""
    there, back = compare(claim_of(one), claim_of(other)), compare(claim_of(other), claim_of(one))
    assert (there.relation, there.score) == (back.relation, back.score)
    found = pairs([claim_of(one), claim_of(other)], [0, 0], link_min=0.8)
    told = [pair.verdict.relation for pair in found]
    assert told == ([] if there.relation in ("neighbour", "distinct") else [there.relation])
    return there.relation


def test_all_updates_are_found_but_one_that_calls_the_matter_something_else() -> None:
    missed = [each.one for each in UPDATES if relation(each.one, each.other) != "update"]
    assert missed == ["The cache lives for 10 minutes."]


@pytest.mark.parametrize("each", OTHERS, ids=lambda each: f"{each.one} {each.other}")
def test_contradictions_are_found_and_near_misses_are_not(each: Labelled) -> None:
    told = relation(each.one, each.other)
    if each.kind == "contradiction":
        assert told == "contradiction"
    else:
        assert told in ("neighbour", "distinct")


@pytest.mark.parametrize("verb", sorted(CHANGED.keys() - {"replace", "move"}))
def test_a_verb_of_change_gives_a_state_its_new_value(verb: str) -> None:
    past = verb.removesuffix("e") + "ed"
    assert relation("The limit is 100.", f"The limit was {past} to 200.") == "update"
    assert relation("The limit is 100.", f"The limit has been {past} from 100 to 200.") == "update"
    assert relation("The limit is 100.", f"We {past} the limit to 200.") == "update"


@pytest.mark.parametrize(("rule", "wanted", "one", "other"), RULES)
def test_each_rule_holds_for_its_pairs(rule: str, wanted: str, one: str, other: str) -> None:
    told = relation(one, other)
    assert told != "duplicate" if wanted == "no duplicate" else told == wanted, rule
