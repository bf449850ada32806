"""Whether a cited text still stands after a change: as it was, reformatted, or in another file."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem.core.citations import Content
from pmem.core.cited_sides import FileVersion, stands_after, went_to
from pmem.values.records import Citation
from tests.effort import examples

WORDS = st.lists(st.sampled_from("ab cd ef 1 2 ( ) , = + 'x' \"y\" # ;".split()), max_size=8)
FILES = st.lists(WORDS.map(" ".join), min_size=1, max_size=6)
NAMES = st.sampled_from(["a.py", "a.ts", "a.go", "a.txt", "a.rb"])


def version(name: str, *lines: str) -> FileVersion:
    return FileVersion(name, "".join(f"{line}\n" for line in lines).encode())


def cite(before: FileVersion, first: int, last: int) -> Citation:
    lines = (first, last)
    return Citation(file=before.name, lines=lines, digest=before.content.digest(lines))


@pytest.mark.parametrize(
    ("name", "before", "after", "stands"),
    [
        ("a.py", "x = 'one'", 'x   =   "one"', True),
        ("a.ts", "x('one')", 'x(\n"one",\n)', True),
        ("a.go", "x = 'o'", 'x = "o"', False),
        ("a.py", "x = 'one'", "x = 'on e'", False),
        ("a.py", "f(a, b)", "f(\n    a,\n    b,\n)", True),
        ("a.py", "x = (a)", "x = (a,)", False),
        ("a.py", "x = 3", "x = 30", False),
        ("a.py", "x = 3", "x = 3; y = 4", False),
        ("a.txt", "two words", "two   words", True),
        ("a.txt", "two words", "two\nwords", False),
    ],
)
def test_a_text_stands_whatever_its_format_but_not_another_text(
    name: str, before: str, after: str, stands: bool
) -> None:
    old = version(name, "begin", before, "end")
    assert stands_after(cite(old, 2, 2), old, version(name, "begin", after, "end")) == stands


@settings(max_examples=examples(200))
@given(NAMES, FILES, FILES, FILES, st.data())
def test_a_text_that_is_moved_stands_and_stands_in_its_own_version(
    name: str, above: list[str], below: list[str], more: list[str], data: st.DataObject
) -> None:
    before = version(name, *above, *below)
    first = data.draw(st.integers(1, len(above)))
    cited = cite(before, first, len(above))
    text = above[first - 1 :]
    assert stands_after(cited, before, before)
    assert stands_after(cited, before, version(name, *more, *text))
    whole = Citation(file=name, digest=before.content.digest())
    assert stands_after(whole, before, version(name, *(f"{line}  " for line in (*above, *below))))


def test_what_went_to_another_file_was_not_there_before() -> None:
    home = version("a.py", "RETRIES = 3", "}")
    cited, brace = cite(home, 1, 1), cite(home, 2, 2)
    there, elsewhere = version("b.py", "}", "RETRIES  =  3"), version("b.py", "}", "x = 1")
    assert went_to(cited, home, None, there)
    assert went_to(cited, home, elsewhere, there)
    assert not went_to(cited, home, there, there)
    assert not went_to(cited, home, there, elsewhere)
    assert not went_to(brace, home, None, there)


def test_binary_files_say_the_same_only_byte_for_byte() -> None:
    one, other = FileVersion("a.bin", b"\0a b"), FileVersion("a.bin", b"\0a  b")
    whole = Citation(file="a.bin", digest=Content(b"\0a b").digest())
    assert stands_after(whole, one, FileVersion("b.bin", b"\0a b"))
    assert not stands_after(whole, one, other)
