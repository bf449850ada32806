"""How single events read: what changed, what else they hold, who did them."""

from collections.abc import Iterator
from typing import Any, Final

from pmem.core.history_values import is_citation, say_link, say_place, say_value
from pmem.core.journal import one_line
from pmem.values.records import EventKind

COLOURS: Final = {
    EventKind.ADD: "green",
    EventKind.UPDATE: "",
    EventKind.DELETE: "red",
    EventKind.TTL: "red",
    EventKind.MERGE: "magenta",
    EventKind.SUPERSEDE: "magenta",
    EventKind.ARCHIVE: "magenta",
    EventKind.RESTORE: "green",
    EventKind.LINK: "cyan",
    EventKind.UNLINK: "cyan",
}
VALUE: Final = 40
"""Characters of a value in the log."""
_REASONS: Final = ("reason", "failure", "consent")
_SHARED: Final = 20
"""Characters before the first difference of two long values that are shown."""
_UNSAID: Final = ("replaced", "branch")
"""What an event holds for pmem alone, or for another part of the same event."""


def sides(name: str, before: dict[str, Any], after: dict[str, Any], most: int) -> list[str]:
    """Say what a field was and, where that is known, what it became, each in `most` characters."""
    if name not in after:
        return [say_value(name, before[name], most)]
    was, became = before[name], after[name]
    confirmed = _confirmed(was, became) if name == "citations" else []
    if confirmed:
        return [f"confirmed against {one_line(', '.join(confirmed), most)}"]
    if isinstance(was, str) and isinstance(became, str):
        was, became = _excerpt(was, became, most), _excerpt(became, was, most)
    return [say_value(name, was, most), say_value(name, became, most)]


def _confirmed(was: Any, became: Any) -> list[str]:
    """Name the places whose text is cited as it is now, where the same places are cited."""
    if not all(isinstance(side, list) and all(map(is_citation, side)) for side in (was, became)):
        return []
    if list(map(say_place, was)) != list(map(say_place, became)):
        return []
    return [say_place(new) for old, new in zip(was, became, strict=True) if old != new]


def _excerpt(text: str, other: str, most: int) -> str:
    """Return a text from shortly before the place where it begins to differ from another."""
    folded, compared = (" ".join(part.split()) for part in (text, other))
    if max(len(folded), len(compared)) <= most:
        return folded
    pairs = enumerate(zip(folded, compared, strict=False))
    same = next((place for place, (one, two) in pairs if one != two), len(compared))
    start = max(0, min(same, len(folded)) - _SHARED)
    return f"{'…' * bool(start)}{folded[start:]}"


def details_of(detail: dict[str, Any], reason: int = VALUE) -> Iterator[str]:
    """Say what an event holds beside the earlier values; `reason` limits a reason's characters."""
    for name, value in detail.items():
        if name == "link" and isinstance(value, dict):
            yield f"{say_link(value)}{_replaced_ids(detail.get('replaced'))}"
        elif name == "removed" and isinstance(value, list):
            yield from (f"no longer {say_link(link)}" for link in value if isinstance(link, dict))
        elif name not in _UNSAID and value not in (None, "", [], {}):
            most = reason if name in _REASONS else VALUE
            yield f"{name.replace('_', ' ')}: {say_value(name, value, most)}"


def _replaced_ids(links: Any) -> str:
    known = [link for link in links if isinstance(link, dict)] if isinstance(links, list) else []
    return f", was ({known[0].get('strength')})" if known else ""


def who_did(actor: str, agent: str, source: str) -> str:
    """Say who did something: a person, or the agent that did it for them in brackets."""
    who = actor or agent or source or "-"
    return f"{who} ({agent})" if actor and agent else who
