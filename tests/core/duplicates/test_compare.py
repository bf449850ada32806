"""What two memories are to each other: on labelled pairs, and on any text."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.duplicates import Relation, claim_of, compare
from tests.core.duplicates.labelled import LOOKALIKES, SETS, Labelled, is_same

ALL = [each for labelled in SETS.values() for each in labelled]
TEXTS = sorted({text for each in ALL for text in (each.one, each.other)})
written = (
    st.sampled_from(TEXTS) | st.text(max_size=60) | st.text("aBs1-'’`\"./,:@_ ?不三nt", max_size=20)
)
by_set = pytest.mark.parametrize("labelled", SETS.values(), ids=SETS)


def relation(each: Labelled) -> Relation:
    """Return what a labelled pair is found to be."""
    return compare(claim_of(each.one), claim_of(each.other)).relation


@by_set
def test_nothing_else_is_taken_for_a_duplicate(labelled: list[Labelled]) -> None:
    merged = [each for each in labelled if relation(each) is Relation.DUPLICATE]
    assert [each for each in merged if not is_same(each.kind)] == []


@pytest.mark.parametrize("lookalike", LOOKALIKES, ids=lambda each: each.one)
def test_lookalikes_are_told_apart(lookalike: Labelled) -> None:
    assert relation(lookalike) is not Relation.DUPLICATE


@by_set
def test_most_of_what_says_the_same_is_a_duplicate(labelled: list[Labelled]) -> None:
    same = [each for each in labelled if is_same(each.kind)]
    found = sum(relation(each) is Relation.DUPLICATE for each in same)
    assert found / len(same) >= 0.7


@pytest.mark.parametrize(
    ("kind", "expected", "least"),
    [
        ("update", Relation.UPDATE, 0.95),
        ("contradiction", Relation.CONTRADICTION, 0.9),
        ("neighbour", Relation.NEIGHBOUR, 0.95),
        ("unrelated", Relation.DISTINCT, 1.0),
    ],
)
def test_most_of_each_kind_is_recognised(kind: str, expected: Relation, least: float) -> None:
    found = Counter(relation(each) for each in ALL if each.kind == kind)
    assert found[expected] / found.total() >= least


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("We use Redis.", "we use redis", "the same words"),
        (
            "For sessions we use Redis.",
            "We use Redis for sessions.",
            "the same words in another order",
        ),
        ("Docs are kept in Git.", "We store the documentation in Git.", "the same in other words"),
        ("The limit is 10.", "The limit is 20.", "10 became 20"),
        ("We use Redis for sessions.", "We use Memcached for sessions.", "redis became memcached"),
        ("Guests can vote.", "Guests cannot vote.", "one says not"),
        ("Dogs may travel on deck", "Dogs must not travel on deck", "one says not"),
        ("Bicycles board first", "Bicycles board last", "first became last"),
        ("We print boards with cairo", "We print boards with skia", "cairo became skia"),
        ("The API is public.", "The API is private.", "public against private"),
        ("Kafka topics have owners.", "Kafka topics are named by team.", "both on kafka and topic"),
        ("We use Redis.", "Lunch is late.", "nothing in common"),
    ],
)
def test_a_reason_is_given_in_plain_words(one: str, other: str, reason: str) -> None:
    assert compare(claim_of(one), claim_of(other)).reason == reason


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Decision: we use Redis for sessions.", "We use Redis for sessions."),
        ("Note, we use Redis for sessions.", "We use Redis for sessions."),
        ("Over 5mb is refused.", "More than 5mb is refused."),
        ("The limit is above 12.", "The limit is over 12."),
        ("The worker copies the report.", "The report is copied by the worker."),
        ("The worker stores the report.", "The report is stored by the worker."),
        ("The worker drops the report.", "The report is dropped by the worker."),
        ("You should use tabs for indentation.", "Use tabs for indentation."),
        ("Run the tests before a release.", "You must run the tests before a release."),
        ("Every release is signed.", "Each release is signed."),
        ("On Friday at noon the deploy happens.", "The deploy happens on Friday at noon."),
        ("In the shop, reports are kept by Anna.", "Reports in the shop are by Anna."),
        ("Ben is gluten intolerant.", "Ben has a gluten intolerance."),
        ("Ship the mobile app by May.", "The mobile app ships by May."),
        ("Launch v3 on Friday.", "v3 launches on Friday."),
        ("Borg is the name of the mail server.", "The mail server is called Borg."),
        ("The name of the mail server is Borg.", "The mail server is named Borg."),
        ("The sync runs at 18:00.", "The sync runs at 6 pm."),
        ("The sync runs at 09:30.", "The sync runs at 9:30am."),
    ],
)
def test_what_only_sounds_different_is_a_duplicate(one: str, other: str) -> None:
    assert compare(claim_of(one), claim_of(other)).relation is Relation.DUPLICATE
    assert compare(claim_of(other), claim_of(one)).relation is Relation.DUPLICATE


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("The pool has 10 workers.", "The pool has 20 workers.", "update"),
        ("Set x to 1 and y to 2.", "Set x to 2 and y to 1.", "neighbour"),
        ("Rate limit: 100 requests.", "The rate limit is 250 requests.", "update"),
        ("Anna owns the billing service.", "Marco owns the billing service.", "update"),
        ("Send it to finance.", "Send it to legal.", "neighbour"),
    ],
)
def test_an_update_gives_one_value_for_another(one: str, other: str, expected: str) -> None:
    assert compare(claim_of(one), claim_of(other)).relation == expected
    assert compare(claim_of(other), claim_of(one)).relation == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Service A is slow.", "Service is slow."),
        ("We should use tabs.", "We use tabs."),
        ("Every release is signed.", "The release is signed."),
        ("All releases are signed.", "Some releases are signed."),
        ("Tests run before a release.", "You must run the tests before a release."),
        ("Run `pmem list` for #001.", "Run `pmem list` for #001 done."),
        ("Ben is gluten intolerant.", "Ben is gluten tolerant."),
        ("Ship the mobile app by May.", "The mobile app shipped by May."),
        ("Ship the app to Ana.", "Ana ships the app."),
        ("Ship v3 by May.", "v3 ships to May."),
        ("Mail the report by May.", "The report mails by May."),
        ("Borg is the name of the mail server.", "Borg is the owner of the mail server."),
        ("The mail server is called Old.", "The mail server is old."),
        ("The sync runs at 18:00.", "The sync runs at 6 am."),
        ("The sync runs at 18:00.", "The sync runs at 6."),
    ],
)
def test_what_only_sounds_the_same_is_no_duplicate(one: str, other: str) -> None:
    assert compare(claim_of(one), claim_of(other)).relation is not Relation.DUPLICATE


@pytest.mark.row("S1.4.5")
@given(st.integers(0, 23), st.integers(0, 59), st.integers(0, 23), st.integers(0, 59))
def test_f68_a_time_of_day_is_one_whether_it_counts_to_12_or_to_24(
    hour: int, minute: int, other: int, later: int
) -> None:
    half, short = ("am", "pm")[hour >= 12], hour % 12 or 12
    told = claim_of(f"The sync runs at {short}:{minute:02d} {half}.")
    wanted = Relation.DUPLICATE if (hour, minute) == (other, later) else Relation.UPDATE
    assert compare(told, claim_of(f"The sync runs at {hour:02d}:{minute:02d}.")).relation == (
        Relation.DUPLICATE
    )
    assert compare(told, claim_of(f"The sync runs at {other}:{later:02d}.")).relation == wanted


def test_scores_fall_from_duplicates_to_strangers() -> None:
    first = claim_of("The cache of the login service keeps tokens for 10 minutes.")
    others = (
        "The cache of the login service keeps tokens for 10 minutes!",
        "The cache of the login service never keeps tokens for 10 minutes.",
        "The cache of the login service keeps tokens for 20 minutes.",
        "The login service keeps a cache of sessions.",
        "Login is slow.",
        "The office is in Vienna.",
    )
    scores = [compare(first, claim_of(other)).score for other in others]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 1.0
    assert scores[-1] == 0.0


@given(written)
def test_a_text_is_a_duplicate_of_itself(text: str) -> None:
    verdict = compare(claim_of(text), claim_of(text))
    assert (verdict.relation, verdict.score) == (Relation.DUPLICATE, 1.0)


@given(written, written)
def test_the_order_of_two_does_not_matter(one: str, other: str) -> None:
    there, back = compare(claim_of(one), claim_of(other)), compare(claim_of(other), claim_of(one))
    assert (there.relation, there.score) == (back.relation, back.score)
    assert 0 <= there.score <= 1


@given(written)
def test_case_space_and_a_full_stop_do_not_matter(text: str) -> None:
    plain = " ".join(text.split()).rstrip(".!")
    if plain and "`" not in plain and plain.isascii() and plain.islower():
        assert compare(claim_of(plain), claim_of(f"  {plain}.")).relation is Relation.DUPLICATE


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("Mira and others decided to use Kafka.", "We decided to use Kafka.", True),
        (
            "Mira and others decided to use Kafka.",
            "Ben Weber and others decided to use Kafka.",
            True,
        ),
        ("Mira and others use PostgreSQL.", "Mira and others use MySQL.", False),
        ("Mira uses PostgreSQL.", "We use PostgreSQL.", False),
        ("Mira uses vim and others use emacs.", "We use emacs.", False),
        ("Zsofi and others decided to use Kafka.", "We decided to use Kafka.", True),
        ("Redis and others use port 6379.", "PostgreSQL and others use port 6379.", False),
        ("Linux and others are supported.", "Windows and others are supported.", False),
    ],
)
def test_who_speaks_for_others_says_we(one: str, other: str, is_same: bool) -> None:
    found = compare(claim_of(one), claim_of(other)).relation
    assert (found is Relation.DUPLICATE) is is_same


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("The server is called Atlas.", "The name of the server is Atlas.", True),
        ("The server is called by Atlas.", "The server is called Atlas.", False),
        ("The server is named by Ben.", "The server is named Ben.", False),
        ("The API is called by the worker.", "The worker calls the API.", True),
    ],
)
def test_who_calls_a_thing_gives_it_no_name(one: str, other: str, is_same: bool) -> None:
    found = compare(claim_of(one), claim_of(other)).relation
    assert (found is Relation.DUPLICATE) is is_same
