"""What is a secret in a text, and what only looks like one."""

from pathlib import Path
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core import secrets
from pmem.core.secrets import find, place, redacted
from pmem.core.secrets.rules import COMMANDS, SHAPES, Secret
from pmem.core.secrets.rules import TOKENS as RULES
from pmem.core.secrets.words import PASSWORDS, TOKENS
from tests.core.secrets import drawing, labelled, phrases
from tests.core.secrets.drawing import Case
from tests.work import STALLED, seconds

SEEDS: Final = range(3)
BAR: Final = 0.95
PASSWORD: Final = drawing.mixed(Random(1), 12)
BYTES: Final = 250_000
"""For a quarter of a million hostile characters; alone on its machine that takes 0.25."""


def found(case: Case) -> list[Secret]:
    """Return what is found of the secret in a text."""
    start = case.text.find(case.secret)
    end = start + len(case.secret)
    return [each for each in find(case.text) if each.start < end and each.end > start]


def drawn(*, other: bool) -> tuple[list[Case], list[Case]]:
    """Return the secrets and the innocent texts of all seeds."""
    return (
        [case for seed in SEEDS for case in labelled.secrets(seed, other=other)],
        [case for seed in SEEDS for case in labelled.innocents(seed, other=other)],
    )


@pytest.mark.parametrize("other", [False, True], ids=["seen", "held-out"])
def test_recall_and_precision_are_above_the_bar(other: bool) -> None:
    hidden, innocent = drawn(other=other)
    hits = sum(bool(found(case)) for case in hidden)
    false = sum(bool(find(case.text)) for case in innocent)
    assert hits / len(hidden) >= BAR
    assert hits / (hits + false) >= BAR
    assert false / len(innocent) <= 1 - BAR


@pytest.mark.parametrize("second", [False, True], ids=["first", "second"])
def test_recall_and_precision_are_above_the_bar_in_what_people_write(second: bool) -> None:
    hidden = [case for seed in SEEDS for case in phrases.secrets(seed, second=second)]
    innocent = [case for seed in SEEDS for case in phrases.innocents(seed)]
    missed = [case.text for case in hidden if not found(case)]
    false = [case.text for case in innocent if find(case.text)]
    assert len(missed) / len(hidden) <= 1 - BAR, missed
    assert len(false) / (len(hidden) - len(missed) + len(false)) <= 1 - BAR, false


@pytest.mark.parametrize("word", ["pass", "pw", "token", "密码"])
def test_none_of_many_is_missed(word: str) -> None:
    random = Random(3)
    values = [drawing.drawn(random, drawing.WORD, 17) + "4x9" for _ in range(600)]
    text = "\n".join(f"{word}={value}" for value in values)
    assert [text[hit.start : hit.end] for hit in find(text)] == values
    short = [f"aKq{number}x" for number in range(4000, 4600)]
    text = "\n".join(f"pw={value}" for value in short)
    assert [text[hit.start : hit.end] for hit in find(text)] == short


def test_what_nobody_sees_is_taken_out_with_the_secret() -> None:
    for part in ("\u200b", "\u00ad", "\ufeff", "\u2060", "\\\n", "\\\r\n", "\\\u200b\r\u00ad\n"):
        text = f"token: {PASSWORD}{part}{PASSWORD[:8]}{part}{PASSWORD[2:]}{part} and more"
        (hit,) = find(text)
        assert redacted(text, [hit]) == f"token: [redacted: assigned-secret]{part} and more"


def test_any_number_of_backslashes_and_line_ends_is_looked_through() -> None:
    text = f"token: {PASSWORD}{PASSWORD[:8]} " + "\\" * 5000 + "\n" * 5000
    (hit,) = find(text)
    assert text[hit.start : hit.end] == PASSWORD + PASSWORD[:8]


def test_a_token_that_goes_on_in_the_next_lines_is_found_whole() -> None:
    body = drawing.drawn(Random(4), drawing.WORD, 170)
    text = "\n".join((f"api_token: {body[:76]}", body[76:152], body[152:] + "==", "", "Then more."))
    assert redacted(text, find(text)) == "api_token: [redacted: assigned-secret]\n\nThen more."


@pytest.mark.parametrize("seed", SEEDS)
def test_a_secret_is_found_whole_and_by_its_kind(seed: int) -> None:
    for case in labelled.secrets(seed):
        (hit,) = found(case)
        assert hit.kind == case.kind
        assert case.text[hit.start : hit.end] in case.secret or case.secret in case.text[: hit.end]
        assert case.secret not in redacted(case.text, find(case.text))


@pytest.mark.parametrize(
    ("table", "number"),
    [("TOKENS", number) for number in range(len(RULES))]
    + [("SHAPES", number) for number in range(len(SHAPES))]
    + [("COMMANDS", number) for number in range(len(COMMANDS))],
)
def test_without_any_one_rule_something_is_missed(
    monkeypatch: pytest.MonkeyPatch, table: str, number: int
) -> None:
    rules = getattr(secrets, table)
    monkeypatch.setattr(secrets, table, rules[:number] + rules[number + 1 :])
    kind = rules[number].kind
    cases = [case for case in labelled.secrets(0) if case.kind == kind]
    assert not all(any(hit.kind == kind for hit in found(case)) for case in cases)


@pytest.mark.parametrize("word", PASSWORDS)
def test_every_word_for_a_password_is_known(word: str) -> None:
    assert [hit.kind for hit in find(f"X_{word}: {PASSWORD}")] == ["password"]


@pytest.mark.parametrize("word", TOKENS)
def test_every_word_for_a_token_is_known(word: str) -> None:
    hits = find(f"the api {word}: {drawing.drawn(Random(2), drawing.WORD, 24)}")
    assert [hit.kind for hit in hits] == ["assigned-secret"]


def test_what_is_allowed_is_none() -> None:
    text = f"password: {PASSWORD}"
    assert find(text, {_digest("another")})
    assert find(text, {PASSWORD}) == []
    assert find(text, {_digest(PASSWORD)}) == []
    assert find(text, {PASSWORD[:4]})  # no part of it


def _digest(text: str) -> str:
    from hashlib import sha256

    return f"sha256:{sha256(text.encode()).hexdigest()}"


@pytest.mark.parametrize("length", [40, 200, 256, 257, 300, 5000])
def test_a_token_of_no_known_shape_is_found_whole(length: int) -> None:
    secret = drawing.drawn(Random(length), drawing.WORD, length)
    for text in (f"API_TOKEN={secret} here", f'"api_token": "{secret}"'):
        (hit,) = find(text)
        assert text[hit.start : hit.end] == secret


def test_places_are_counted_from_one() -> None:
    text = f"first line\n  pwd: {PASSWORD}"
    (hit,) = find(text)
    assert place(text, hit) == "line 2, character 8"
    assert redacted(text, [hit]) == "first line\n  pwd: [redacted: password]"


def test_letters_that_grow_in_lower_case_do_not_shift_places() -> None:
    text = f"İİİİ password: {PASSWORD}"
    (hit,) = find(text)
    assert text[hit.start : hit.end] == PASSWORD


@given(
    st.lists(
        st.one_of(
            st.text(max_size=12),
            st.sampled_from([case.secret for case in labelled.secrets(1)]),
            st.sampled_from(
                ["password: ", "token=", "://u:", "@h ", " is the password", "\n", '"']
            ),
        ),
        max_size=8,
    )
)
def test_findings_are_in_order_apart_and_gone_once_redacted(pieces: list[str]) -> None:
    text = "".join(pieces)
    hits = find(text)
    ends = [0, *(hit.end for hit in hits)]
    assert all(
        hit.start >= end and hit.end > hit.start for hit, end in zip(hits, ends, strict=False)
    )
    clean = redacted(text, hits)
    assert clean.count("[redacted: ") >= len(hits)


HOSTILE: Final = (
    *("a", "A0", " ", "\n", "://", "://a:", "x://a:b@", "://" + "a" * 50),
    *("-----BEGIN PRIVATE KEY-----\n", "-----BEGIN RSA PRIVATE KEY-----\nA: b\n"),
    *("eyJ.", "eyJaaaaaaaaa.eyJ", "sk-", "xoxb-", "ghp_", " sk-a ", "cio", "SK", "pat", "hvs."),
    *("password ", "password: ", "password is ", "token for a b c ", "api key = ", "x as token "),
    *("_pass: aB3", "secret_", "密码", "--token ", "bearer ", "login a password ", "curl -u a:"),
    *("heroku key ", "heroku", "discord M.", "sig=", "AccountKey=", ":AA", "a.atlasv1.", "8Q~"),
    *(
        "PuTTY-User-Key-File-3: a\n",
        "密码是",
        "pass=",
        "pass=pwd=token=",
        "| password | x1" + "y2z3 |\n",
    ),
    *("mysql -px1 ", "docker login -p ", "login: a/b1 ", "user a, pass x1 ", "mysql \"'"),
    *("a\u200b", "password: \\\n", "<password>x<", "Datadog key ", "jdbc:oracle:thin:a/"),
)


@pytest.mark.long
@pytest.mark.parametrize("shape", HOSTILE)
def test_hostile_characters_take_no_time(shape: str) -> None:
    text = (shape * (BYTES // len(shape) + 1))[:BYTES]
    assert seconds(lambda: find(text)) < STALLED


@pytest.mark.long
def test_this_project_holds_none() -> None:
    top = Path(__file__).parents[3]
    files = [path for name in ("pmem", "docs", "tests") for path in (top / name).rglob("*.*")]
    texts = (path.read_text(encoding="utf-8") for path in files if path.suffix in (".py", ".md"))
    assert [hit for text in texts for hit in find(text)] == []
