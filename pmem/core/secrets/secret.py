"""What the gate finds, whichever rule finds it."""

from typing import NamedTuple


class Secret(NamedTuple):
    """A secret in a text: its kind, such as `github-token`, and where it starts and ends."""

    kind: str
    start: int
    end: int
