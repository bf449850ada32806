"""Labelled texts in a file beside a test: a JSON array a line."""

from pathlib import Path
from typing import Any

import orjson


def read_rows(test: str, name: str) -> list[list[Any]]:
    """Return the rows of a file in the folder of a test."""
    return [orjson.loads(row) for row in Path(test).with_name(name).read_bytes().splitlines()]
