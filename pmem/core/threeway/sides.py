"""Whether a side is a record as pmem writes it, as far as merging depends on that."""

from typing import Any, Final

from pmem.core.threeway.shapes import RecordShape, Rule
from pmem.core.threeway.values import Doubt, moment, moment_in

SCHEMA: Final = 1


def checked(side: dict[str, Any], shape: RecordShape) -> None:
    """See that merging can rely on what it is going to look at.

    Raises:
        Doubt: It cannot; the sentence says why.
    """
    schema = side.get("schema", SCHEMA)
    if isinstance(schema, bool) or schema != SCHEMA:
        raise Doubt(f"schema {schema!r} is not {SCHEMA}")
    missing = [field for field in shape.required if field not in side]
    if missing:
        raise Doubt(f"{missing[0]} is missing")
    if not isinstance(side["id"], str):
        raise Doubt("the id is no text")
    moment(side[shape.time])
    for field, rule in {**shape.rules, "history": Rule.EVENTS}.items():
        if field in side:
            _field(field, rule, side[field], shape)


def _field(field: str, rule: Rule, value: Any, shape: RecordShape) -> None:
    if rule is Rule.SET:
        _all(field, value, str)
    elif rule is Rule.ITEMS:
        _items(field, value, shape.inside[field])
    elif rule is Rule.EVENTS:
        _all(field, value, dict)
        for event in value:
            if not isinstance(event.get("before", {}), dict):
                raise Doubt(f"an event of {field} has no fields in its before")
            moment(event.get("at"))
    elif rule is Rule.PART:
        _part(field, value, shape.inside[field])
    elif rule is Rule.SUM and not _is_whole(value):
        raise Doubt(f"{field} is no count")
    elif rule is Rule.GREATEST and not (value is None or _is_whole(value)):
        moment(value)


def _part(field: str, value: Any, inside: RecordShape) -> None:
    if value is None:
        return
    if not isinstance(value, dict):
        raise Doubt(f"{field} is no object")
    for name, rule in inside.rules.items():
        if name in value:
            _field(name, rule, value[name], inside)


def _items(field: str, value: Any, inside: RecordShape) -> None:
    _all(field, value, dict)
    found = set()
    for item in value:
        identity = inside.identity_of(item)
        if not all(isinstance(part, str) for part in identity) or identity in found:
            raise Doubt(f"{field} has items that cannot be told apart")
        found.add(identity)
        moment_in(item, inside.time)


def _all(field: str, value: Any, type_: type) -> None:
    if not isinstance(value, list) or not all(isinstance(item, type_) for item in value):
        raise Doubt(f"{field} is no list of {type_.__name__}")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
