"""The page of the design names what is there."""

import re
from pathlib import Path
from typing import Final

from tests import source
from tests.test_layers import ARROWS

TEXT: Final = (Path(__file__).parents[2] / "docs/architecture.md").read_text(encoding="utf-8")
FOR_ALL: Final = {"errors", "values", "core"}


def test_every_path_on_the_page_exists() -> None:
    paths = re.findall(r"`((?:pmem|tests|docs)/[\w/.-]*)`", TEXT)
    assert len(paths) > 5
    assert [path for path in paths if not (source.PACKAGE.parent / path).exists()] == []


def test_every_file_and_every_name_in_it_exists() -> None:
    found = re.findall(r"`(?!pmem/|tests/|docs/)([a-z_/]+\.py)(?::(\w+))?`", TEXT)
    assert len(found) > 100
    missing = [path for path, _ in found if not (source.PACKAGE / path).is_file()]
    assert missing == []
    unknown = [
        f"{path}:{name}"
        for path, name in found
        if name
        and not re.search(
            rf"^\s*(?:def|class) {name}\b|^{name}\b.*=",
            (source.PACKAGE / path).read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    ]
    assert unknown == []


def test_the_table_of_rooms_is_the_list_of_arrows() -> None:
    rows = re.findall(r"^\| `([a-z]+)(?:/|\.py)` \| .* \| ?(.*) \|$", TEXT, re.MULTILINE)
    listed: dict[str, set[str]] = {}
    for room, others in ARROWS.items():
        used = {other.partition(".")[0] for other in others.split()}
        here = room.partition(".")[0]
        listed.setdefault(here, set()).update(used - FOR_ALL - {here})
    assert {room: set(re.findall(r"`(\w+)`", cell)) for room, cell in rows} == listed
