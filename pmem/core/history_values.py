"""The values in a history in words for people, without keys and digests."""

from collections.abc import Iterator
from typing import Any, Final, Literal, NamedTuple

from pmem.core.journal import one_line
from pmem.values.ids import is_id, short

PROSE: Final = ("content", "subject", "title", "summary", "context", "outcome")
"""Fields whose values are texts."""
_CODED: Final = ("state", "type", "trigger", "conflict", "settled")
"""Fields whose values are names that pmem gave; elsewhere an underscore is somebody's own."""
_LONGEST: Final = 300
"""Characters of a value on a page."""
_DAY: Final = len("2026-11-21")


def say_value(name: str, value: Any, most: int) -> str:
    """Return a value from a history, as JSON holds it, in words."""
    if isinstance(value, dict):
        return one_line(_said_of(value, most), most) or "none"
    if isinstance(value, list | tuple):
        return one_line(", ".join(say_value(name, part, most) for part in value), most) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, str):
        return "not set" if value is None else str(value)
    if name in PROSE:
        return f'"{one_line(value, most)}"'
    shown = short(value) if is_id(value) else value
    return one_line(shown.replace("_", " ") if name in _CODED else shown, most)


def tell_value(name: str, value: Any, most: int = _LONGEST) -> str:
    """Return a value for a page, where a text stands as it is."""
    if value in (None, "", [], {}):
        return "nothing"
    return value if isinstance(value, str) else say_value(name, value, most)


def say_link(link: dict[str, Any]) -> str:
    """Return a link by what it means, with its strength: `updates qq0v96w1 (0.8)`."""
    strength = link.get("strength")
    shown = "" if strength is None else f" ({strength})"
    word = str(link.get("type")).replace("_", " ")
    return f"{word} {short(str(link.get('target')))}{shown}"


def is_citation(value: Any) -> bool:
    """Tell whether a value is a citation."""
    return isinstance(value, dict) and value.keys() >= {"file", "digest"}


def say_place(cited: dict[str, Any]) -> str:
    """Return what is cited, whatever else a history may hold there."""
    if isinstance(cited.get("symbol"), str):
        return f"{cited['file']}::{cited['symbol']}"
    lines = cited.get("lines")
    numbers = dict.fromkeys(map(str, lines)) if isinstance(lines, list | tuple) else ()
    return f"{cited['file']}{':' * bool(numbers)}{'-'.join(numbers)}"


def _said_of(value: dict[str, Any], most: int) -> str:
    if value.keys() >= {"type", "target"}:
        return say_link(value)
    if value.keys() >= {"verdict", "at"}:
        text = f": {value['text']}" if value.get("text") else ""
        return f"{value['verdict']} {str(value['at'])[:_DAY]}{text}"
    if is_citation(value):
        return say_place(value)
    parts = (f"{key.replace('_', ' ')} {say_value(key, part, most)}" for key, part in value.items())
    return ", ".join(parts)


WordFate = Literal["same", "removed", "added"]
MOST_WORDS: Final = 2_000
"""Of longer texts all words count as changed: comparing them takes too long."""


class WordChange(NamedTuple):
    """Words in a row that share a fate, joined by spaces."""

    fate: WordFate
    text: str


def word_changes(before: str, after: str) -> Iterator[WordChange]:
    """Yield the words of both texts, in an order in which either can be read."""
    from difflib import SequenceMatcher

    old, new = before.split(" "), after.split(" ")
    if max(len(old), len(new)) > MOST_WORDS:
        yield WordChange("removed", before)
        yield WordChange("added", after)
        return
    for tag, start, end, from_, to in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield WordChange("same", " ".join(old[start:end]))
            continue
        if end > start:
            yield WordChange("removed", " ".join(old[start:end]))
        if to > from_:
            yield WordChange("added", " ".join(new[from_:to]))
