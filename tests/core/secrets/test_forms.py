"""A name and its value are found in every form, and no form makes a secret of a placeholder."""

import json
from itertools import product
from random import Random
from typing import Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pmem.core.secrets import find, find_named
from tests.core.secrets.drawing import LOWER, UPPER, WORD, drawn, lines_of

FORMS: Final[dict[str, str]] = {
    name: json.loads(f'"{form}"')
    for name, _, form in (line.partition(" | ") for line in lines_of("forms.txt"))
}
"""Each form with `{n}` for the name, `{v}` for the value, and the name as `{i}`, `{I}`, ..."""
NAMES: Final = ("password", "passphrase", "db password", "API key", "access token", "client secret")
PLACEHOLDERS: Final = (
    *("changeme", "<password>", "${VALUE}", "{{ value }}", "your-password-here", "********"),
    *("xxxxxxxxxxxxxxxx", "[redacted: password]", "REDACTED", "todo", "required", "none"),
    *("see-the-vault", "$VALUE", "%(value)s", "example-password-1", "test1234", "admin123"),
)


def said(form: str, name: str, value: str) -> str:
    """Return a form with a name, in the spelling that the form wants, and a value."""
    plain = name.replace(" ", "_").lower()
    return FORMS[form].format(
        n=name,
        i=plain,
        I=plain.upper(),
        C=name.title().replace(" ", ""),
        o=plain.replace("_", "-"),
        v=value,
    )


def password(random: Random) -> str:
    """Return a password of letters and digits, with a sign in every other one."""
    middle = drawn(random, LOWER, 3) + "4" + drawn(random, UPPER, 2) + drawn(random, "356789", 2)
    return (
        drawn(random, UPPER, 1)
        + middle
        + random.choice(("", "!", "#"))
        + "kX"
        + drawn(random, LOWER, 2)
    )


def token(random: Random) -> str:
    """Return a token of letters and digits."""
    return "8f3K" + drawn(random, WORD, 24) + "Zm9a"


def value_for(name: str, random: Random) -> str:
    """Return what a name may have as its value."""
    return password(random) if "pass" in name else token(random)


@pytest.mark.some(20)
@pytest.mark.parametrize("form", FORMS)
@given(name=st.sampled_from(NAMES), seed=st.integers(0, 10_000))
@settings(max_examples=25)
def test_a_value_is_found_whole_in_every_form(form: str, name: str, seed: int) -> None:
    value = value_for(name, Random(seed))
    text = said(form, name, value)
    start = text.rindex(value)
    assert any(hit.start <= start and start + len(value) <= hit.end for hit in find(text)), text


@pytest.mark.some(8)
@pytest.mark.parametrize("form", FORMS)
def test_no_form_makes_a_secret_of_a_placeholder(form: str) -> None:
    for name, value in product(NAMES, PLACEHOLDERS):
        text = said(form, name, value)
        assert find(text) == [], text


@given(
    st.sampled_from(NAMES),
    st.integers(0, 10_000),
    st.sampled_from(("", " for now", ", see below", "\nand more", " until Kim makes another one")),
)
@example("password", 1, " for now")
@example("password", 1, " until Kim makes another one")
def test_an_object_hides_nothing_that_a_line_would_show(name: str, seed: int, rest: str) -> None:
    value = value_for(name, Random(seed))
    (hit,) = find_named(name, value + rest)
    assert (hit.start, hit.end) == (0, len(value))


@pytest.mark.parametrize(
    "text",
    [
        "ok  \tacme/vault\t0.3s\nPASS: TestQ7w8e9/rotates_12\n",
        "[pass] TestQ7w8e9/rotates_12",
        "**PASS**: TestQ7w8e9",
        "\tPASS: TestQ7w8e9",
        'sent "apiKey={{.Env.ACME_KEY_V2}} -X main.rev=9a8b7c6d5e4f" to the linker',
        'the template: "-X main.apiKey={{.Env.ACME_KEY}}": no entry for key "ACME_KEY"',
        "makeClient({ apiKey: 'nmb_live_secret999' })",
        "apiKey: 'nmb_live_secret12345'",
        '"apiKey": "mock-api-key-0123456"',
    ],
)
def test_names_of_tests_templates_and_mocks_are_no_secrets(text: str) -> None:
    assert find(text) == []


@pytest.mark.parametrize("form", ["\nPASS: {v}", "PASS={v}", "test_pass: '{v}'", "pass: Test!{v}"])
def test_a_password_called_pass_is_found_beside_them(form: str) -> None:
    text = form.format(v=drawn(Random(5), WORD, 12))
    assert [each.kind for each in find(text)] == ["password"]
