"""A name and its value are found in every form, and no form makes a secret of a placeholder."""

from random import Random
from typing import Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pmem.core.secrets import find, find_named
from tests.core.secrets.drawing import LOWER, UPPER, WORD, drawn

FORMS: Final = {
    "prose": "the {n} is {v}",
    "prose, ahead": "use {v} as the {n} from now on",
    "prose, behind": "{v} is the {n} of the build box",
    "prose, for": "The {n} for the staging box is {v}.",
    "prose, changed": "Kim changed the {n} to {v} today",
    "aside": "log in with the {n} ({v}) first",
    "dash": "{n} - {v}",
    "long dash": "{n} — {v}",
    "arrow": "{n} -> {v}",
    "strong": "**{n}:** {v}",
    "strong name": "**{n}**: {v}",
    "strong value": "{n}: **{v}**",
    "emphasis": "_{n}_: {v}",
    "code": "{n}: `{v}`",
    "both in code": "`{n}` = `{v}`",
    "item": "- {n}: {v}",
    "heading": "## {n}\n\n{v}\n",
    "fence": "{n}:\n```\n{v}\n```",
    "label": "{n} for kim: {v}",
    "for now": "{n}: {v} for now",
    "JSON": '{{"{i}": "{v}"}}',
    "JSON, for now": '{{"{i}": "{v} for now"}}',
    "JSON in a string": '"{{\\"{i}\\": \\"{v}\\"}}"',
    "JSON list": '{{"{i}s": ["{v}"]}}',
    "name and value": '{{"name": "{i}", "value": "{v}"}}',
    "YAML": "{i}: {v}",
    "YAML, quoted": "db:\n  {i}: '{v}'\n",
    "YAML block": "{i}: >-\n  {v}\n",
    "YAML variable": "- name: {I}\n  value: {v}\n",
    "env": "{I}={v}",
    "export": 'export {I}="{v}"',
    "Docker": "ENV {I} {v}",
    "PowerShell": '$env:{I} = "{v}"',
    "cmd": "set {I}={v}",
    "ini": "[db]\n{i} = {v}\n",
    "properties": "spring.datasource.{i}={v}",
    "Terraform": 'variable "{i}" {{\n  type = string\n  default = "{v}"\n}}',
    "option": "deploy --{o} {v} --yes",
    "option with a sign": "deploy --{o}={v}",
    "SQL": "UPDATE users SET {i} = '{v}' WHERE id = 7",
    "SQL insert": "INSERT INTO users (name, {i}) VALUES ('kim', '{v}');",
    "call": 'connect(host="db", {i}="{v}")',
    "setter": 'config.set{C}("{v}");',
    "with": 'client.With{C}("{v}")',
    "property": 'props.setProperty("db.{i}", "{v}")',
    "item of a map": "os.environ['{I}'] = '{v}'",
    "default": 'os.getenv("{I}", "{v}")',
    "typed": '{i}: str = "{v}"',
    "Go": '{i} := "{v}"',
    "Java": 'private static final String {I} = "{v}";',
    "C": '#define {I} "{v}"',
    "Ruby": ":{i} => '{v}',",
    "PHP": "define('{I}', '{v}');",
    "header": "curl -H 'X-{o}: {v}' acme.test",
    "Markdown table": "| user | {n} |\n|---|---|\n| kim | {v} |",
    "table beside": "| {n} | {v} |",
    "CSV": "user,{i}\nkim,{v}\n",
    "tabs": "user\t{i}\nkim\t{v}",
    "aligned": "USER      {I}\nkim       {v}",
    "HTML": "<tr><td>{n}</td><td>{v}</td></tr>",
    "XML": "<{i}>{v}</{i}>",
    "attribute": '<add key="{i}" value="{v}" />',
    "plist": "<key>{i}</key>\n<string>{v}</string>",
    "URL query": "https://acme.test/login?{i}={v}&page=2",
    "connection string": "Server=db;{i}={v};Encrypt=yes",
}
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
@given(name=st.sampled_from(NAMES), value=st.sampled_from(PLACEHOLDERS))
@settings(max_examples=60)
def test_no_form_makes_a_secret_of_a_placeholder(form: str, name: str, value: str) -> None:
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
