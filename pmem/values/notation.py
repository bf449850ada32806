"""How settings are written: as nested tables, as text, and as the words that name their types."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, get_args, get_origin

import msgspec

LIST: Final = "list of texts"
TABLE: Final = "table"
"""The type of a setting whose entries have names."""


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Turn nested tables into dotted names: `{"limits": {"memory": 1}}` -> `limits.memory`."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value
    return flat


def as_text(value: Any) -> str:
    """Write a setting's value as the command line and the environment take it."""
    if isinstance(value, dict):
        return ",".join(
            f"{key}={' '.join(part) if isinstance(part, tuple | list) else part}"
            for key, part in value.items()
        )
    if isinstance(value, tuple | list):
        return ",".join(value)
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def read_list(text: str) -> Any:
    """Read a list, with commas, or in brackets as TOML and JSON have it; else leave the text."""
    if not text.lstrip().startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    import tomllib

    try:
        found = tomllib.loads(f"list = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):  # too many brackets
        return text
    return found["list"] if len(found) == 1 else text


def is_struct(base: Any) -> bool:
    """Tell whether a type is a class of settings."""
    return isinstance(base, type) and issubclass(base, msgspec.Struct)


def type_name(base: Any) -> str:
    """Say what a setting may be, from its type."""
    if get_origin(base) is Literal:
        return " | ".join(filter(None, get_args(base)))
    if get_origin(base) is dict or is_struct(base):
        return TABLE
    if get_origin(base) is Annotated:
        base = get_args(base)[0]
    names = {str: "text", int: "whole number", float: "number", bool: "true | false"}
    return names.get(base, LIST)


def rule(error: str, type_: str) -> str:
    """Say what a value must be."""
    if "length" in error:
        return "it must not be empty"
    for mark, words in ((">= ", "at least "), ("<= ", "at most ")):
        if mark in error:
            return f"it must be {words}{error.split(mark)[1].split(' - ', maxsplit=1)[0]}"
    if type_ == LIST:
        return f'it must be a {LIST}, such as a,b or ["a", "b"]'
    return f"it must be a {type_}" if " | " not in type_ else f"it must be {type_}"
