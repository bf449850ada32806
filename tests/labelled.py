"""Labelled texts in files: below headings, or as rows beside a test."""

from pathlib import Path
from typing import Any

import orjson


def sections(file: str) -> dict[str, list[str]]:
    """Return the lines of a file, named from here, by the heading that they stand below."""
    text = (Path(__file__).parent / file).read_text(encoding="utf-8")
    parts = (part.split("\n") for part in f"\n{text}".rstrip("\n").split("\n# ")[1:])
    return {heading: lines for heading, *lines in parts}


def read_rows(test: str, name: str) -> list[list[Any]]:
    """Return the JSON arrays of a file in the folder of a test, one a line."""
    return [orjson.loads(row) for row in Path(test).with_name(name).read_bytes().splitlines()]
