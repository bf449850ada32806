"""Which files a memory applies to: patterns in gitignore's manner, matched in linear time."""

import subprocess
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem.core.places import applies, applies_within, changed_places, check_places, seen_from
from pmem.errors import InvalidValue, NotFound
from tests.effort import examples
from tests.work import STALLED, seconds

_PARTS: Final = ("a", "b", "ab", "*", "**", "?", "a*", "*b", "[ab]", "[!a]", "a?b", "\\*a", "**a")
_NAMES: Final = ("a", "b", "ab", "ba", "aab", "axb", "*a", "c")


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("src/billing/**", "src/billing/tax/rates.py", True),
        ("src/billing/**", "src/billing.py", False),
        ("src/billing", "src/billing/retry.py", True),
        ("*.sql", "db/migrations/001.sql", True),
        ("*.sql", "db/001.sql.py", False),
        ("vendor/", "third/vendor/x.c", True),
        ("vendor/", "src/vendor", False),
        ("/setup.py", "setup.py", True),
        ("/setup.py", "src/setup.py", False),
        ("src/**/test_*.py", "src/a/b/test_x.py", True),
        ("src/**/test_*.py", "src/test_x.py", True),
        ("src/*.py", "src/a/b.py", False),
        ("docs/[a-c]?.md", "docs/b1.md", True),
        ("billing", "src/billings/a.py", False),
        ("A.py", "a.py", False),
        ("src/billing/**", "src/billing/", True),
        ("src/*/", "src/billing/", True),
        ("/src/billing/tax/rates.py", "src/billing/", True),
        ("src/billing/retry.py", "src/", True),
        ("billing", "src/billing/", True),
        ("*.sql", "src/billing/", False),
        ("src/bill", "src/billing/", False),
        ("src/billing/**", "src/bill/", False),
    ],
)
def test_a_place_covers_the_files_that_gitignore_would_name_and_folders_of_such(
    pattern: str, path: str, fits: bool
) -> None:
    assert applies_within([pattern], path) is fits


def test_the_last_place_that_fits_decides_and_an_exclamation_mark_takes_files_out() -> None:
    places = ["src/**", "!src/generated/**", "src/generated/keep.py"]
    assert applies(places, "src/a.py")
    assert not applies(places, "src/generated/a.py")
    assert applies(places, "src/generated/keep.py")


@pytest.mark.parametrize(
    ("given", "kept"),
    [("./queue.py", "/queue.py"), ("!./a/b.py", "!/a/b.py"), ("docs/\\*.md", "docs/\\*.md")],
)
def test_what_is_plainly_meant_is_made_a_pattern(given: str, kept: str) -> None:
    assert check_places(["src/", given]) == ("src/", kept)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("src/{a,b}.py", "has braces"),
        ("src\\billing\\retry.py", "has a backslash"),
        ("!src/a.py", "takes files out of no place"),
        ("", "must not be empty"),
        ("a" * 201, "has 201 characters"),
        *((one, "is no place") for one in ("src/./a.py", "../x", "a/../b", "/", "!", "a\nb")),
    ],
)
def test_a_pattern_that_can_fit_no_file_is_refused(given: str, why: str) -> None:
    with pytest.raises(InvalidValue, match=why):
        check_places([given])


def test_the_last_place_that_takes_files_in_cannot_go_alone() -> None:
    with pytest.raises(InvalidValue):
        changed_places(("src/", "!src/a.py"), (), ("src/",))


@pytest.mark.parametrize(
    ("pattern", "here", "seen"),
    [
        ("*.py", "src/billing", "*.py"),
        ("./retry.py", "src/billing", "/src/billing/retry.py"),
        ("./**", "src", "/src/**"),
        ("../a.py", "src/billing", "/src/a.py"),
        ("!../a.py", "src/billing", "!/src/a.py"),
        ("./a.py", "", "/a.py"),
        ("/w/shop/src/a.py", "", "/src/a.py"),
        ("/src/a.py", "src", "/src/a.py"),
    ],
)
def test_a_pattern_with_a_dot_is_seen_from_the_current_folder(
    pattern: str, here: str, seen: str
) -> None:
    assert seen_from(pattern, here, "/w/shop") == seen


def test_no_pattern_leads_out_of_the_project() -> None:
    with pytest.raises(InvalidValue):
        seen_from("../../a.py", "src", "/w/shop")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("places")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@settings(max_examples=examples(40), deadline=None)
@given(
    parts=st.lists(st.sampled_from(_PARTS), min_size=1, max_size=3),
    before=st.sampled_from(["", "/"]),
    after=st.sampled_from(["", "/"]),
    paths=st.lists(
        st.lists(st.sampled_from(_NAMES), min_size=1, max_size=4).map("/".join),
        min_size=1,
        max_size=30,
        unique=True,
    ),
)
def test_one_place_means_what_git_makes_of_it(
    repository: Path, parts: list[str], before: str, after: str, paths: list[str]
) -> None:
    pattern = before + "/".join(parts) + after
    (repository / ".gitignore").write_text(pattern + "\n")
    asked = "\0".join(paths).encode()
    command = ["git", "-C", str(repository), "check-ignore", "--no-index", "-z", "--stdin"]
    found = subprocess.run(command, input=asked, capture_output=True, check=False).stdout
    ignored = set(found.decode().split("\0"))
    assert [path in ignored for path in paths] == [applies([pattern], path) for path in paths]


def test_a_pattern_full_of_stars_takes_no_longer_than_its_length_times_the_paths() -> None:
    assert seconds(lambda: applies(["a*" * 90 + "b"], "a" * 1000)) < STALLED
    deep = "/".join(["**", "a"] * 40) + "/b"
    assert seconds(lambda: applies([deep], "/".join("a" * 500))) < STALLED


def test_a_memory_has_each_place_once_and_not_too_many() -> None:
    assert check_places([" src/** ", "*.sql", "src/**"]) == ("src/**", "*.sql")
    with pytest.raises(InvalidValue):
        check_places(map(str, range(51)))


def test_places_are_added_and_taken_away() -> None:
    assert changed_places(("a", "b"), ["c"], ["a"]) == ("b", "c")
    with pytest.raises(NotFound):
        changed_places(("a",), [], ["z"])
