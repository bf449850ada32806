"""A correction, or what tells of a change, beside what it corrects: each rule by itself."""

import pytest

from pmem.core.duplicates import Relation, claim_of, compare, pairs
from pmem.core.duplicates.tables import CHANGED
from tests.core.duplicates.labelled import CHANGES, Labelled

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


@pytest.mark.parametrize(
    "told", ["We move from Redis to Valkey.", "We moved from Redis.", "Redis was slow."]
)
def test_what_did_not_come_out_of_use_is_not_changed(told: str) -> None:
    assert relation("Sessions run on Redis.", told) == "neighbour"


@pytest.mark.parametrize("each", OTHERS, ids=lambda each: f"{each.one} {each.other}")
def test_contradictions_are_found_and_near_misses_are_not(each: Labelled) -> None:
    told = relation(each.one, each.other)
    if each.kind == "contradiction":
        assert told == "contradiction"
    else:
        assert told in ("neighbour", "distinct")


@pytest.mark.parametrize("lead", ["Actually", "Actually,", "Correction:", "Update:", "Correction,"])
def test_what_announces_a_correction_is_no_part_of_it(lead: str) -> None:
    assert (
        relation("We use Redis for sessions.", f"{lead} we use Redis for sessions.") == "duplicate"
    )
    assert relation("The limit is 100.", f"{lead} the limit is 200.") == "update"


def test_a_decision_may_follow_what_announces_a_correction() -> None:
    assert relation("We use Redis.", "Actually we decided to use Redis.") == "duplicate"


@pytest.mark.parametrize(
    "denied", ["decided not to use", "agreed not to use", "stopped using", "no longer use"]
)
def test_a_decision_against_what_is_done_contradicts_it(denied: str) -> None:
    assert relation("We use Kafka for events.", f"We {denied} Kafka for events.") == "contradiction"


@pytest.mark.parametrize("verb", sorted(CHANGED.keys() - {"replace", "move"}))
def test_a_verb_of_change_gives_a_state_its_new_value(verb: str) -> None:
    past = verb.removesuffix("e") + "ed"
    assert relation("The limit is 100.", f"The limit was {past} to 200.") == "update"
    assert relation("The limit is 100.", f"The limit has been {past} from 100 to 200.") == "update"
    assert relation("The limit is 100.", f"We {past} the limit to 200.") == "update"


@pytest.mark.parametrize("wish", ["We raise", "We want to raise", "We must raise", "Raise"])
def test_what_has_not_happened_is_no_change(wish: str) -> None:
    assert relation("The limit is 100.", f"{wish} the limit to 200.") == "neighbour"


def test_what_tells_of_a_change_is_no_duplicate_of_its_result() -> None:
    assert relation("The limit is 200.", "The limit was raised to 200.") == "neighbour"


@pytest.mark.parametrize("moved", ["moved", "has moved", "was moved"])
def test_who_moved_is_in_another_place(moved: str) -> None:
    assert (
        relation("Ann works in the Vienna office.", f"Ann {moved} to the Oslo office.") == "update"
    )
    assert relation("Ann works with the Vienna office.", f"Ann {moved} to the Oslo office.") == (
        "neighbour"
    )
    assert relation("Ann works in the Oslo office.", f"Ann {moved} from Oslo to Bonn.") == "update"
    assert relation("The API is hosted on AWS.", f"The API {moved} to Hetzner.") == "update"
    assert relation("Ann is tall.", f"Ann {moved} to Oslo.") == "neighbour"


@pytest.mark.parametrize("day", ["Monday", "Tuesday", "Wednesday", "Thursday", "Saturday"])
def test_what_is_on_a_day_is_not_switched_on(day: str) -> None:
    assert relation(f"The demo is on {day}.", "The demo was moved to Friday.") == "update"
    assert relation(f"The demo is on {day}.", "The demo is enabled.") == "neighbour"


@pytest.mark.parametrize(
    "changed",
    [
        "We use Linear instead of Jira.",
        "We switched from Jira to Linear.",
        "We have switched from Jira to Linear.",
        "We replaced Jira with Linear.",
        "Jira was replaced by Linear.",
    ],
)
def test_what_names_the_old_value_changes_every_state_that_begins_with_it(changed: str) -> None:
    assert relation("We use Jira.", changed) == "update"
    assert relation("We use Jira for tickets.", changed) == "update"
    assert relation("We use Jira in the legal team.", changed) == "neighbour"
    assert relation("We use Jira only for tickets.", changed) == "neighbour"
    assert relation("We never use Jira.", changed) == "neighbour"
    assert relation("Jira is slow.", changed) == "neighbour"


def test_an_old_value_has_up_to_three_words() -> None:
    one = "The report is sent to the head of sales."
    assert relation(one, "The report is sent to the new board instead of the head of sales.") == (
        "update"
    )


def test_a_change_of_what_an_earlier_change_led_to_is_an_update() -> None:
    assert relation("We switched from Jira to Linear.", "We switched from Linear to Asana.") == (
        "update"
    )
    assert relation("Use tabs instead of spaces.", "Use spaces instead of tabs.") == "update"
    assert relation("Jira was moved from Oslo to Bonn.", "We moved Linear from Oslo to Bonn.") == (
        "neighbour"
    )
