"""What must never be merged: another number, a negation, another name, another order of things."""

import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.duplicates import Relation, Verdict, claim_of, compare
from pmem.core.duplicates.tables import SCOPES
from tests.core.duplicates.labelled import SETS, Labelled, is_same

SAME = [each for labelled in SETS.values() for each in labelled if is_same(each.kind)]
COUNTED = [each for each in SAME if re.search(r"\d", each.other)]
pairs_alike = st.sampled_from(SAME)

SWAPS = """
The timeout is * long. | 5 minutes, 5 hours, 5 seconds, 50 minutes, nine hours, an hour
The upload limit is *. | 10 MB, 10 KB, 10 GB, 10, 100 MB, nine GB, 10%
The job runs *. | once, twice, three times, daily, weekly, once a week, at noon, at 9 am, at 9 pm
Retry * when the request fails. | twice, three times, 4 times, forever, never
The review is on *. | Monday, Tuesday, March 3, March 4, 2026-03-03, 2026-03-04, May 3
Python * is needed. | 3.11, 3.12, 3.11.2, 3.1, 3, 2
The server * answer within a second. | must, should, may, might, can, will, must not, could, would
* users can export reports. | All, Some, Only, Most, Few, No, Many, Both
The cache * in use. | is, was, will be, is not, is no longer, is still, used to be, may be
We * the queue. | enable, disable, start, stop, add, remove, lock, unlock, push, pull, keep, drop
The list is sorted * the merge. | before, after, during, without, until, instead of, unless
The latency must be * 200 ms. | above, below, at least, at most, exactly, close to
Deploy the app * the database. | with, without, before, after, instead of, from
The build runs in *. | staging, production, Docker, GitHub, CI, `ci.yml`, "nightly mode"
We use * for sessions. | Redis, Memcached, Postgres, SQLite, redis.conf, get_session, getSession
Call `*` first. | open, close, open(), open_file, Open, open.py, open --force
* owns the parser. | Anna, Tom, Nobody, Everyone, The user, Anna's team, Anna and Tom
The parser is * than the lexer. | faster, slower, bigger, smaller, older, newer, better, worse
Requests are handled *. | synchronously, asynchronously, first, last, automatically, lazily, eagerly
The endpoint is *. | public, private, required, optional, stable, unstable, safe, unsafe, internal
The flag is * by default. | on, off, true, false, set, not set, unset, null
* merge on Fridays. | Always, Never, Sometimes, Often, Rarely
The token is * . | valid, invalid, expired, not valid, known, unknown
Logs move from * disk. | memory to, disk to, tape to
The rate is * the limit. | over, under, at, near, twice, half
Set the * value. | min, max, first, last, left, right, upper, lower, input, output
Pass the option *. | -v, -V, --verbose, --quiet, -x, -1, 1, +1
The * is flaky. | login test, logout test, upload test, download test, test
The backup needs * review. | a, no, another, some, every
The answer is *. | yes, no, maybe, 42, 👍, 👎, x < y, x > y, x = y, a + b, a - b
Ask * for access. | me, you, him, her, them
代码*合并。 | 可以, 不可以, 必须, 不必, 已经, 没有
每天备份*次。 | 一, 两, 三, 1, 10
"""


def swapped() -> list[tuple[str, str]]:
    """Return each sentence with each two of the words that may stand for its star."""
    found = []
    for line in SWAPS.strip().splitlines():
        sentence, _, words = line.partition(" | ")
        texts = [sentence.replace("*", word.strip()) for word in words.split(",")]
        found += [(one, other) for one in texts for other in texts if one < other]
    return found


def verdict(one: str, other: str) -> Verdict:
    """Return how two contents relate."""
    return compare(claim_of(one), claim_of(other))


def test_another_value_in_one_place_is_no_duplicate() -> None:
    merged = [pair for pair in swapped() if verdict(*pair).relation is Relation.DUPLICATE]
    assert merged == []


@pytest.mark.parametrize("labelled", COUNTED, ids=lambda each: each.other)
def test_another_number_in_a_duplicate_makes_it_none(labelled: Labelled) -> None:
    for match in re.finditer(r"\d+", labelled.other):
        number = str(int(match.group()) + 1)
        changed = labelled.other[: match.start()] + number + labelled.other[match.end() :]
        assert verdict(labelled.one, changed).relation is not Relation.DUPLICATE, changed


@given(
    pairs_alike,
    st.integers(0, 30),
    st.sampled_from("not never no without except unless only".split()),
)
def test_a_negation_in_a_duplicate_makes_it_none(labelled: Labelled, place: int, word: str) -> None:
    changed = _with_word(labelled.other, place, word)
    assert verdict(labelled.one, changed).relation is not Relation.DUPLICATE


@given(
    pairs_alike,
    st.integers(0, 30),
    st.sampled_from("Memcached staging seven 12% Tuesday `x` src/a.py getUser yesterday".split()),
)
def test_a_name_in_a_duplicate_makes_it_none(labelled: Labelled, place: int, word: str) -> None:
    changed = _with_word(labelled.other, place, word)
    assert verdict(labelled.one, changed).relation is not Relation.DUPLICATE


@pytest.mark.parametrize("scope", SCOPES, ids=min)
def test_the_same_of_another_place_or_person_is_no_update(scope: frozenset[str]) -> None:
    sentence = "We deploy the billing service to {} on Friday."
    assert verdict(sentence.format("Hetzner"), sentence.format("Oslo")).relation is Relation.UPDATE
    for one, other in combinations(sorted(scope), 2):
        related = verdict(sentence.format(one), sentence.format(other)).relation
        assert related not in (Relation.UPDATE, Relation.DUPLICATE), (one, other)


def _with_word(text: str, place: int, word: str) -> str:
    words = text.split()
    return " ".join([*words[:place], word, *words[place:]])
