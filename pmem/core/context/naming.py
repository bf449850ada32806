"""How a record that a model may name stands before its text: `[id place]`, in every answer."""

from collections.abc import Iterable
from typing import Final

from pmem.core.lines import shortened
from pmem.values.ids import short

_PLACES: Final = 60
"""Characters of the places that are shown."""


def naming(identifier: str, places: Iterable[str] = ()) -> str:
    """Return what stands before a text."""
    where = shortened(", ".join(places), _PLACES)
    return f"[{f'{short(identifier)} {where}'.rstrip()}] "
