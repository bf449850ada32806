"""A record as text that people read, one thing a line, for comparing versions line by line."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pmem.core.rawjson import dump
from pmem.core.visible import visible

_TEXTS: Final = ("title", "content", "summary", "context", "outcome")
_INDENT: Final = "  "


def readable(record: Mapping[str, Any]) -> str:
    """Return a record as text: what it says first, then its fields, then what happened to it."""
    return "".join(f"{visible(line)}\n".replace("\r", "\\r") for line in _lines(record))


def _lines(record: Mapping[str, Any]) -> Iterator[str]:
    texts = [name for name in _TEXTS if isinstance(record.get(name), str) and record[name]]
    for name in texts:
        yield from (record[name] if name == "content" else f"{name}: {record[name]}").split("\n")
        yield ""
    events: list[Any] = []
    for name, value in record.items():
        if name == "history" and isinstance(value, list):
            events = value
        elif name not in texts:
            yield from _field(name, value)
    for event in events:
        yield from _event(event)


def _field(name: str, value: Any) -> Iterator[str]:
    if value is None or value in ([], {}, ""):
        return
    if not isinstance(value, list):
        yield f"{_short(name)}: {_short(value)}"
        return
    if all(isinstance(item, str) for item in value):
        yield f"{_short(name)}: {', '.join(map(_short, value))}"
        return
    yield f"{_short(name)}:"
    for item in value:
        yield from (f"{_INDENT}{line}" for line in _item(item))


def _item(item: Any) -> Iterator[str]:
    """Tell a message by who said what, and anything else by its fields."""
    if isinstance(item, dict) and isinstance(item.get("lines"), list):
        item = {**item, "lines": "-".join(map(_short, item["lines"]))}
    if not isinstance(item, dict) or not isinstance(item.get("content"), str):
        yield _short(item)
        return
    head = [_short(item[key]) for key in ("created_at", "speaker", "role", "type") if item.get(key)]
    yield f"{' '.join(head)}:"
    yield from (f"{_INDENT}{line}" for line in item["content"].split("\n"))
    told = ("created_at", "speaker", "role", "type", "content")
    yield from (
        f"{_INDENT}{_short(name)}: {_short(value)}"
        for name, value in item.items()
        if name not in told
    )


def _event(event: Any) -> Iterator[str]:
    if not isinstance(event, dict):
        yield _short(event)
        return
    words = [_short(event.get(key, "")) for key in ("at", "event", "actor", "source")]
    yield " ".join(word for word in words if word)
    for name in ("before", "detail"):
        if isinstance(event.get(name), dict):
            for key, value in event[name].items():
                was = "was " if name == "before" else ""
                yield f"{_INDENT}{was}{_short(key)}: {_short(value)}"


def _short(value: Any) -> str:
    """Write a value on one line: texts as they are, an object by its fields."""
    if isinstance(value, str):
        return value.replace("\n", "\\n")
    if isinstance(value, dict):
        return ", ".join(f"{_short(key)} {_short(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return "; ".join(map(_short, value))
    return dump(value).decode().strip()
