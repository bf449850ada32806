"""Every secret of a sentence is found, also the second one, and no look-alike is."""

from random import Random

import pytest

from pmem.core.secrets import digest, find, redacted
from tests.core.secrets import drawing, trials
from tests.work import STALLED, seconds

SEEDS = range(5)
MILLION = 1_000_000
"""For a million characters; alone on its machine that takes below 1."""


def test_every_secret_of_a_sentence_is_taken_out_whole() -> None:
    left = [
        (case.text, secret)
        for seed in SEEDS
        for case in trials.trials(seed)
        for secret in case.secrets
        if secret in redacted(case.text, find(case.text))
    ]
    assert left == []


def test_no_look_alike_is_taken_for_a_secret() -> None:
    assert [text for text in trials.innocents() if find(text)] == []


def test_what_stands_beside_a_secret_and_is_none_stays() -> None:
    value = next(trials.trials(0)).secrets[0]
    for beside in (
        "PostgreSQL15 runs Python3.11",
        "commit 9f2c1b7e4d5a6f8091a2b3c4d5e6f708192a3b4c",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "see src/app2/login_v2.py and OAuth2",
        "kim@acme2.test at 10:15",
        "https://Ab3x.acme.test/a/B7c/9d",
    ):
        text = f"{beside}: the token is {value}, and {beside} too"
        assert redacted(text, find(text)).count(beside) == 2, beside


def test_what_is_allowed_beside_a_secret_stays() -> None:
    case = next(trials.trials(0))
    first, second = case.secrets
    (hit,) = find(case.text, {digest(first)})
    assert case.text[hit.start : hit.end] == second
    (hit,) = find(case.text, {second})
    assert case.text[hit.start : hit.end] == first
    assert find(case.text, {first, digest(second)}) == []


def test_a_sentence_makes_no_secret_of_what_stands_in_another() -> None:
    one, other = next(trials.trials(0)).secrets
    text = f"The token is {one}. The build {other} is green.\nSo is {other}."
    assert [text[hit.start : hit.end] for hit in find(text)] == [one]


@pytest.mark.some(5)
@pytest.mark.parametrize(
    "shape",
    [
        "the password for prod ",
        "changed the token from a to ",
        "user,password\n",
        "a,password;b\tpass|",
        "login kim / ",
        "log in to a as b with ",
        "totp seed ",
        "--password-file=<(echo ",
        "sudo -S <<< ",
        "net use \\\\a /user:",
        "passwords: prod a, ",
        "-----BEGIN PRIVATE KEY-----\nAAA1",
    ],
)
def test_a_million_hostile_characters_take_no_time(shape: str) -> None:
    text = (shape * (MILLION // len(shape) + 1))[:MILLION]
    assert seconds(lambda: find(text)) < STALLED


@pytest.mark.long
def test_a_million_characters_with_many_secrets_in_one_line_take_no_time() -> None:
    random = Random(5)
    words = (drawing.drawn(random, drawing.WORD, 12) + "4x9" for _ in range(4_000))
    text = " and ".join(f"the token of the service is now {word * 2}" for word in words)
    text = f"{text} {'x ' * (MILLION // 2)}"[:MILLION]
    assert seconds(lambda: find(text)) < STALLED
