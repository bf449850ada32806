"""What models give a tool: names as they guess them, values as they write them, and the schema.

A tool's schema comes from the request that it makes. Models write `q` for a query, a number as a
text, and one value, or `a,b`, for a list: all of that is understood, and everything else is
answered with a sentence that says what there is.
"""

from collections.abc import Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

import msgspec

from pmem.errors import InvalidValue

ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "query": ("q", "question", "search", "search_query", "text", "task", "prompt"),
    "limit": ("k", "top_k", "n", "count", "max_results", "page_size", "per_page"),
    "top_k": ("k", "n", "limit", "count", "max_results", "page_size"),
    "kinds": ("kind", "types", "type"),
    "budget": ("budget_tokens", "token_budget", "max_tokens", "tokens"),
    "budget_tokens": ("budget", "token_budget", "max_tokens", "tokens"),
    "id": ("ids", "memory_id", "memory_ids", "record_id", "reference", "ref", "memory", "uri"),
    "content": ("text", "memory", "new_content", "fact", "note", "value", "data", "body"),
    "type": ("kind", "memory_type"),
    "subject": ("about", "entity", "title", "topic", "name", "key"),
    "tags": ("tag", "labels", "label", "keywords"),
    "for": ("places", "paths", "files", "file", "path", "where"),
    "why": ("because", "reason"),
    "instead_of": ("instead", "alternatives", "rejected"),
    "tried": ("attempt", "what", "content", "text"),
    "failed": ("because", "why", "reason"),
    "worked": ("fix", "solution", "instead"),
    "error": ("error_message", "message", "log"),
    "place": ("file", "path", "file_path"),
    "cite": ("citations", "files", "file", "cites"),
    "categories": ("category",),
    "force": ("overwrite", "always"),
    "thread": ("thread_id", "session", "session_id", "conversation_id"),
}
"""Names that models guess for an argument; only where a tool has none of that very name."""


class Argument(msgspec.Struct, frozen=True):
    """One argument of a tool.

    Without a `field` of the request it is the tool's own. `says` is what it means, where the field
    does not say it in words for a model; `hint` the type of the tool's own, or the one to show in
    the field's place. One that is not shown is understood, too.
    """

    name: str
    field: str = ""
    says: str = ""
    is_needed: bool = False
    hint: Any = None
    is_shown: bool = True


def schema_of(arguments: tuple[Argument, ...], request: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments."""
    properties = {one.name: property_of(one, request) for one in arguments if one.is_shown}
    needed = [one.name for one in arguments if one.is_needed]
    required = {"required": needed} if needed else {}
    return {"type": "object", "properties": properties, **required}


def schema_of_request(request: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON Schema of a whole request."""
    schema = msgspec.json.schema(request)
    parts = schema.get("$defs", {})
    root = parts.pop(request.__name__)
    root = {"type": "object", **{key: root[key] for key in ("properties", "required") if root[key]}}
    return {**root, "$defs": parts} if parts else root


def fields_of(
    given: Mapping[str, Any], arguments: tuple[Argument, ...], request: type[msgspec.Struct]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a model gave: the request's fields, and the tool's own arguments by name."""
    known = {one.name: one for one in arguments}
    fields: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for written, value in given.items():
        name = _meant(written, known)
        if name is None:
            raise InvalidValue(f"there is no argument {written!r}", f"there are {', '.join(known)}")
        one = known[name]
        place, key = (fields, one.field) if one.field else (own, name)
        if value is None:
            continue
        if key in place:
            raise InvalidValue(f"{name} is given twice, also as {written!r}", "give it once")
        meant = lenient(value, _hint(one, request, is_shown=False))
        if not (one.is_needed and meant == []):
            place[key] = meant
    missing = [one.name for one in arguments if one.is_needed and one.field not in fields]
    if missing:
        raise InvalidValue(f"{missing[0]} is missing", f"the tool takes {', '.join(known)}")
    return fields, own


def lenient(value: Any, hint: Any) -> Any:
    """Return a value of a type where what a model wrote means one; else the value itself."""
    hint = bare_type(hint)
    if get_origin(hint) in (tuple, list, frozenset):
        if isinstance(value, str):
            value = _parts(value)
        return [lenient(one, get_args(hint)[0]) for one in value] if _is_list(value) else value
    if isinstance(value, dict) and isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return {key: lenient(part, _inner(key, hint)) for key, part in value.items()}
    if isinstance(value, str) and hint in (int, float, bool):
        try:
            return msgspec.convert(value.strip(), hint, strict=False)
        except msgspec.ValidationError:
            return value
    if hint is int and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _inner(key: str, struct: type[msgspec.Struct]) -> Any:
    """Return the type of what an object has under a key."""
    known = dict(zip(struct.__struct_encode_fields__, struct.__struct_fields__, strict=True))
    if key not in known:
        raise InvalidValue(f"there is no key {key!r}", f"there are {', '.join(known)}")
    return _hints(struct)[known[key]]


def _meant(written: str, known: Mapping[str, Argument]) -> str | None:
    """Return the argument that a name means."""
    plain = written.strip().lower().replace("-", "_")
    if plain in known:
        return plain
    return next((name for name in known if plain in ALIASES.get(name, ())), None)


def _parts(text: str) -> list[Any]:
    """Return the values that a text holds for a list."""
    if text.lstrip().startswith("["):
        try:
            found = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            found = None
        if _is_list(found):
            return list(found)
    return [part for part in map(str.strip, text.split(",")) if part]


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def property_of(one: Argument, request: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON Schema of an argument."""
    schema = _type_schema(_hint(one, request, is_shown=True))
    hint = get_type_hints(request, include_extras=True).get(one.field)
    described = (getattr(meta, "description", "") for meta in getattr(hint, "__metadata__", ()))
    meaning = one.says or next(filter(None, described), "").removesuffix(".")
    return {**schema, "description": meaning} if meaning else schema


def _hint(one: Argument, request: type[msgspec.Struct], *, is_shown: bool) -> Any:
    if one.hint is not None and (is_shown or not one.field):
        return one.hint
    return _hints(request)[one.field]


@cache
def _hints(request: type[msgspec.Struct]) -> dict[str, Any]:
    return get_type_hints(request)


def _type_schema(hint: Any) -> dict[str, Any]:
    """Return the schema of a type, in one piece."""
    bare = bare_type(hint)
    if get_origin(bare) in (tuple, list):
        return {"type": "array", "items": _type_schema(get_args(bare)[0])}
    if isinstance(bare, type) and issubclass(bare, msgspec.Struct):
        names = zip(bare.__struct_fields__, bare.__struct_encode_fields__, strict=True)
        inner = {shown: _type_schema(_hints(bare)[name]) for name, shown in names}
        return {"type": "object", "properties": inner}
    schema = msgspec.json.schema(bare)
    named = schema.get("$ref", "").rpartition("/")[2]
    found = schema["$defs"][named] if named else schema
    return {"type": "string", "enum": found["enum"]} if "enum" in found else found


def bare_type(hint: Any) -> Any:
    """Return a type without what says that there may be none."""
    if get_origin(hint) not in (Union, UnionType):
        return hint
    return next(one for one in get_args(hint) if one is not NoneType)
