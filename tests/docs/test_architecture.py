"""The page of the design names what is there."""

import re
from pathlib import Path

from tests import source

PAGE = Path(__file__).parents[2] / "docs/architecture.md"


def test_every_path_on_the_page_exists() -> None:
    paths = re.findall(r"`((?:pmem|tests|docs)/[\w/.-]*)`", PAGE.read_text(encoding="utf-8"))
    assert len(paths) > 20
    assert [path for path in paths if not (source.PACKAGE.parent / path).exists()] == []
