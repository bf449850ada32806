"""The page of the design names the files of the rooms in which strangers look for behaviour."""

import re
from pathlib import Path

from tests import source

PAGE = Path(__file__).parents[2] / "docs/architecture.md"
ROOMS = ("core", "cli")


def named(text: str) -> list[str]:
    """Return the files that the tables of a page name, from the top of the package."""
    return re.findall(r"^\| `((?:core|cli)/[\w/]+\.py)` \| \S", text, re.M)


def modules() -> set[str]:
    """Return the files of the rooms; one that only says what its folder is for is left out."""
    return {
        path.relative_to(source.PACKAGE).as_posix()
        for path in source.FILES
        if path.relative_to(source.PACKAGE).parts[0] in ROOMS and len(source.tree(path).body) > 1
    }


def test_every_file_of_these_rooms_has_its_row() -> None:
    assert modules() - set(named(PAGE.read_text(encoding="utf-8"))) == set()


def test_no_row_names_what_is_not_there_or_twice() -> None:
    found = named(PAGE.read_text(encoding="utf-8"))
    assert set(found) <= modules()
    assert len(found) == len(set(found))


def test_every_path_on_the_page_exists() -> None:
    paths = re.findall(r"`((?:pmem|tests|docs)/[\w/.-]*)`", PAGE.read_text(encoding="utf-8"))
    assert len(paths) > 20
    assert [path for path in paths if not (source.PACKAGE.parent / path).exists()] == []
