"""Names in one form: what two people type as the same name is compared as the same.

macOS and some editors write `é` as a letter and an accent (NFD), others as one character (NFC).
Texts stay as they came in.
"""

from typing import Any, Final, TypeVar

import msgspec

Q = TypeVar("Q")
_NAMES: Final = frozenset(
    "subject subjects tags add_tags remove_tags category categories places not_places app user"
    " agent run role actor by speaker participants thread".split()
)
"""The fields of requests and filters that hold names; a file's is found on the disk in any form."""


def composed(name: str) -> str:
    """Return a name in Unicode's composed form, NFC."""
    if name.isascii():
        return name
    from unicodedata import normalize

    return normalize("NFC", name)


def with_composed_names(request: Q) -> Q:
    """Return a request whose names, also those of its filter, are composed."""
    if not isinstance(request, msgspec.Struct):
        return request
    changed = {}
    for field in request.__struct_fields__:
        value = getattr(request, field)
        new = _composed_field(field, value)
        if new is not value and new != value:
            changed[field] = new
    return msgspec.structs.replace(request, **changed) if changed else request


def _composed_field(field: str, value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return with_composed_names(value)
    if isinstance(value, tuple):
        return tuple(_composed_field(field, one) for one in value)
    return composed(value) if field in _NAMES and isinstance(value, str) else value
