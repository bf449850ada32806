"""The files and the symbols that a text names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.text.paths import LONGEST, named_paths, named_symbols
from tests.work import STALLED, seconds


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("See `src/a/b.py`, then main.go:12 and main.go.", "src/a/b.py main.go"),
        ("It is in a.ts:3-9 (not b.ts:4:5).", "a.ts b.ts"),
        ("Look at .env, .gitignore and ~/notes.txt", ".env .gitignore ~/notes.txt"),
        ("@prompts/do.md is in src/prompts/ or /tmp/x/y", "prompts/do.md src/prompts/ /tmp/x/y"),
        (".npmrc .gitattributes .config", ".npmrc .gitattributes .config"),
        ("**/test_*.py and src/a/b", "/test_*.py src/a/b"),
        ("e.g. a.b, 1.2.3, and/or, 24/7, Node.js", "Node.js"),
        ("https://a.b/c.py and use .map", ""),
        ("config.New and config.user", ""),
    ],
)
def test_files_are_named_in_order_once(text: str, paths: str) -> None:
    assert named_paths(text) == tuple(paths.split())


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("Call run(), a.b() and `run()` again.", "run() a.b()"),
        ("FooBar is no fooBar or foo_bar or FOO_BAR", "FooBar fooBar foo_bar FOO_BAR"),
        ("Use --local-dev, not -x", "--local-dev"),
        ("Foo and foo and FOO are words", ""),
        ("well-known e-mail", ""),
    ],
)
def test_symbols_are_named_in_order_once(text: str, symbols: str) -> None:
    assert named_symbols(text) == tuple(symbols.split())


@given(st.text(alphabet="ab/._-:()A1@~ ", max_size=400))
def test_a_name_is_a_short_part_of_the_text(text: str) -> None:
    for name in (*named_paths(text), *named_symbols(text)):
        assert name in text
        assert len(name) <= LONGEST


@pytest.mark.parametrize("unit", ["a/", "a.", "aB", "a_", "--a", "/", "a", "a.py ", "A1_", "()"])
def test_a_megabyte_of_anything_is_read_quickly(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    assert seconds(lambda: named_paths(text)) < STALLED
    assert seconds(lambda: named_symbols(text)) < STALLED
