"""Talks about technical matters, each with the words that are asked for later."""

from pathlib import Path
from typing import Final

import msgspec


class Talk(msgspec.Struct, frozen=True):
    """What was said, as pairs of speaker and text, and the words that a summary should keep."""

    name: str
    said: tuple[tuple[str, str], ...]
    asked: str


TALKS: Final = msgspec.json.decode(
    b"[%b]" % b",".join((Path(__file__).parent / "technical.jsonl").read_bytes().splitlines()),
    type=tuple[Talk, ...],
)
