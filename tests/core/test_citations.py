"""What recognises a cited text, and where a text is found again."""

from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.citations import (
    ENOUGH,
    LEAST,
    Content,
    Effort,
    FileRange,
    Hunt,
    each_once,
    judged,
)
from pmem.values.records import Citation

LONG = ["def wait(attempt):", "    time.sleep(2**attempt)", "    return attempt"]
SHORT = "x = 1"
few_lines = st.lists(st.sampled_from(["", "}", "a", "b = 1", "日本"]), max_size=30)
line_ends = st.sampled_from(["\n", "\r\n", " \n", "\t\r\n"])
any_bytes = st.binary(max_size=200)


def content(lines: list[str], end: str = "\n") -> Content:
    return Content("".join(line + end for line in lines).encode())


def cite(file: str, lines: list[str], first: int, last: int, blob: str | None = None) -> Citation:
    digest = content(lines).digest((first, last))
    return Citation(file=file, lines=(first, last), digest=digest, blob=blob)


def stretch(draw: st.DataObject, lines: list[str]) -> tuple[int, int]:
    first = draw.draw(st.integers(1, len(lines)))
    return first, draw.draw(st.integers(first, len(lines)))


@given(few_lines.filter(bool), st.data())
def test_a_text_is_found_wherever_it_stands_and_nowhere_else(
    lines: list[str], data: st.DataObject
) -> None:
    first, last = stretch(data, lines)
    text = lines[first - 1 : last]
    places = range(1, len(lines) - len(text) + 2)
    wanted = [place for place in places if lines[place - 1 : place - 1 + len(text)] == text]
    here = content(lines)
    near = data.draw(st.integers(1, len(lines)))
    found = list(here.places(here.digest((first, last)), len(text), near))
    assert wanted == sorted(found)
    assert all((abs(a - near), a) < (abs(b - near), b) for a, b in pairwise(found))


@given(few_lines.filter(bool), line_ends, st.booleans(), st.data())
def test_line_ends_count_for_nothing(
    lines: list[str], end: str, marked: bool, data: st.DataObject
) -> None:
    first, last = stretch(data, lines)
    mark = "\ufeff" if marked else ""
    other = Content((mark + "".join(line + end for line in lines)).encode())
    assert content(lines).digest((first, last)) == other.digest((first, last))
    assert content(lines).digest() == other.digest()


@given(few_lines, few_lines)
def test_two_texts_have_one_digest_only_if_they_are_one(one: list[str], other: list[str]) -> None:
    assert (content(one).digest() == content(other).digest()) == (one == other)


@given(any_bytes, st.text(max_size=40), st.integers(-5, 300), st.integers(-5, 300))
def test_no_bytes_and_no_digest_break_anything(
    data: bytes, digest: str, first: int, size: int
) -> None:
    here = Content(data)
    assert list(here.places(digest, size, first)) == []
    assert here.has((first, first + size)) in (True, False)
    assert here.weight() <= len(data)
    assert len(here.digest()) == 42


@given(few_lines.filter(bool), few_lines, few_lines, st.data())
def test_the_text_that_was_cited_is_fresh_and_stays_so_whatever_follows_it(
    lines: list[str], before: list[str], after: list[str], data: st.DataObject
) -> None:
    first, last = stretch(data, lines)
    cited = cite("a.py", lines, first, last)
    assert judged(cited, content([*lines, *after])) == FileRange("a.py", (first, last))
    moved = judged(cited, content([*before, *lines]))
    assert moved is not None
    assert moved.lines is not None
    assert abs(moved.lines[0] - first) <= len(before)


def test_the_nearest_of_two_equal_texts_counts() -> None:
    lines = ["}", "a", "b", "c", "}", "d", "}"]
    cited = cite("a.c", lines, 5, 5)
    assert judged(cited, content(["new", *lines])) == FileRange("a.c", (6, 6))
    assert judged(cited, content(["}", "a", "b", "c", "d", "e", "f", "}"])) == FileRange(
        "a.c", (8, 8)
    )
    assert judged(cited, content(["a", "b", "}", "c", "d", "e", "}"])) == FileRange("a.c", (3, 3))


def test_a_binary_file_is_cited_as_a_whole() -> None:
    data = b"\x89PNG\0\n \n"
    cited = Citation(file="logo.png", digest=Content(data).digest())
    assert judged(cited, Content(data)) == FileRange("logo.png", None)
    assert judged(cited, Content(data + b" ")) is None
    assert not Content(data).has((1, 1))


def test_an_empty_file_has_no_lines() -> None:
    assert (Content(b"").size, Content(b"\n").size, Content(b"a").size) == (0, 1, 1)
    assert judged(Citation(file="a", digest=Content(b"").digest()), Content(b"")) is not None


@pytest.mark.parametrize(
    ("text", "places", "everywhere", "wanted"),
    [
        (LONG, {"b.py": [0]}, True, "b.py:1-3"),
        (LONG, {"b.py": [0]}, False, "b.py:1-3"),
        (LONG, {"b.py": [5], "c.py": [5]}, True, "b.py:6-8"),
        (LONG, {"b.md": [0], "z.py": [0]}, True, "z.py:1-3"),
        (LONG, {"b.py": [0], "lib/a.py": [0]}, True, "lib/a.py:1-3"),
        (LONG, {"lib/b.py": [0], "z.py": [0]}, True, "z.py:1-3"),
        (LONG, {"b.py": [9], "c.py": [5]}, True, "c.py:6-8"),
        (LONG, {"b.py": [9, 2]}, True, "b.py:3-5"),
        ([SHORT + "00"], {"b.py": [0]}, True, "b.py:1"),
        ([SHORT + "00"], {"b.py": [0]}, False, None),
        ([SHORT + "00"], {"b.py": [0, 5]}, True, None),
        ([SHORT + "00"], {"b.py": [0], "c.py": [0]}, True, None),
        (["}"], {"b.py": [0]}, True, None),
        (LONG, {}, True, None),
    ],
)
def test_a_lost_text_is_found_where_it_is_beyond_doubt(
    text: list[str], places: dict[str, list[int]], everywhere: bool, wanted: str | None
) -> None:
    lost = cite("a.py", text, 1, len(text))
    hunt = Hunt([lost])
    for file, starts in places.items():
        lines = [f"line {number} of {file}" for number in range(20)]
        for start in starts:
            lines[start : start + len(text)] = text
        hunt.look(file, content(lines), "")
    found = hunt.found(lost, everywhere=everywhere)
    told = found and Citation(file=found.file, lines=found.lines, digest="").place
    assert told == wanted


def test_the_file_with_the_cited_blob_comes_first() -> None:
    lost = cite("a.py", LONG, 1, 3, blob="f00")
    hunt = Hunt([lost])
    hunt.look("lib/a.py", content(LONG), "ba4")
    hunt.look("z.txt", content(["new", *LONG]), "f00")
    assert hunt.found(lost, everywhere=True) == FileRange("z.txt", (2, 4))


def test_whole_files_and_stretches_are_hunted_together() -> None:
    whole = Citation(file="a.py", digest=content(LONG).digest())
    part, other = cite("a.py", LONG, 2, 3), cite("a.py", LONG, 1, 2)
    hunt = Hunt([whole, part, other])
    hunt.look("b.py", content(LONG), "")
    hunt.look("a.py", content(LONG), "")
    places = [hunt.found(one, everywhere=True) for one in (whole, part, other)]
    assert places == [FileRange("b.py", None), FileRange("b.py", (2, 3)), FileRange("b.py", (1, 2))]


def test_an_empty_file_has_not_moved_to_another_empty_file() -> None:
    lost = Citation(file="pkg/__init__.py", digest=Content(b"").digest())
    hunt = Hunt([lost])
    hunt.look("other/__init__.py", Content(b""), "")
    assert hunt.found(lost, everywhere=True) is None


def test_what_text_weighs() -> None:
    assert content(["}", " ", ""]).weight() == 0 < LEAST
    assert content(["x = 1", "y2"]).weight((2, 2)) == 2
    assert content(LONG).weight() >= ENOUGH
    assert content(["日本語"]).weight() == 9


def test_equal_lines_without_end_are_searched_in_one_pass() -> None:
    many = Content(b"}\n" * 300_000)
    missing = f"{content(['}'] * 1000).digest()[:16]}{'0' * 24}"
    assert list(many.places(missing, 1000, 1)) == []


def test_a_text_in_another_layout_is_the_same_text() -> None:
    cited = fold_cited("a.py", ["x = f(a, b)", "y = 1"], 1, 2)
    assert judged(cited, content(["x = f(", "    a,", "    b,", ")", "", "y  =  1"])) == FileRange(
        "a.py", (1, 6)
    )
    above = content(["import f", "", "x = f(a,", "  b)", "y = 1"])
    assert judged(cited, above) == FileRange("a.py", (3, 5))
    assert judged(cited, content(["x = f(a, b)", "    y = 1"])) is None
    old = msgspec.structs.replace(cited, folded=None)
    assert judged(old, above) is None


def test_a_whole_file_in_another_layout_is_the_same_file() -> None:
    cited = fold_cited("a.ts", ["f({ a: 1 });"], 1, 1)
    whole = msgspec.structs.replace(cited, lines=None)
    assert judged(whole, content(["", "f({", "\ta: 1,", "});"])) == FileRange("a.ts", None)
    assert judged(whole, content(["f({ a: 2 });"])) is None


def fold_cited(file: str, lines: list[str], first: int, last: int) -> Citation:
    folded = content(lines).folded((first, last), file)
    return msgspec.structs.replace(cite(file, lines, first, last), folded=folded)


def test_a_file_that_looks_alike_everywhere_is_folded_a_few_times_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cited = fold_cited("a.rs", ['x = "a b";'] * 100, 1, 100)
    alike = ['x = "ab";', 'x = "a  b";'] * 5000
    folded = []
    real = Content.folded

    def noting(self: Content, *arguments: Any) -> str | None:
        folded.append(arguments)
        return real(self, *arguments)

    monkeypatch.setattr(Content, "folded", noting)
    assert judged(cited, content(alike)) is None
    assert 0 < len(folded) <= 9
    folded.clear()
    spent = Content("\n".join(alike).encode(), Effort(len(alike)))
    assert judged(cited, spent) is None
    assert folded == []


@pytest.mark.parametrize(
    ("places", "kept"),
    [
        (["a.py::x=1", "a.py::x=2"], ["a.py::x=2"]),
        (["a.py::x", "a.py::y", "a.py::x"], ["a.py::x", "a.py::y"]),
        (["a.py:1", "a.py:2", "a.py", "a.py:1"], ["a.py:1", "a.py:2", "a.py"]),
    ],
)
def test_a_place_is_cited_once(places: list[str], kept: list[str]) -> None:
    def read(place: str) -> Citation:
        file, _, symbol = place.partition("::")
        name, _, line = file.partition(":")
        lines = (int(line), int(line)) if line else None
        return Citation(file=name, lines=lines, symbol=symbol or None, digest="")

    assert [one.place for one in each_once(map(read, places))] == kept
