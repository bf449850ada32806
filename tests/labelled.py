"""Labelled lines in files beside the tests, each below a heading."""

from pathlib import Path


def sections(file: str) -> dict[str, list[str]]:
    """Return the lines of a file, named from here, by the heading that they stand below."""
    text = (Path(__file__).parent / file).read_text(encoding="utf-8")
    parts = (part.split("\n") for part in f"\n{text}".rstrip("\n").split("\n# ")[1:])
    return {heading: lines for heading, *lines in parts}
