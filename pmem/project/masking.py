"""Secrets taken out of what is shown to models and searches.

Nothing passes the gate with a secret, but an older version, an editor or a merge may have brought
one. Only what is about to be shown is looked at, and nothing that is kept changes.
"""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from pmem.errors import PmemError
from pmem.values.bounds import CONTEXT_CHARACTERS
from pmem.values.ids import SHORT_LENGTH, ids_in, is_id, short
from pmem.values.records import STORES
from pmem.values.rules import Secrets

if TYPE_CHECKING:
    from pmem.project.workspace import Workspace

S = TypeVar("S", bound=msgspec.Struct)
NOTE: Final = "what looks like a secret is not shown; `pmem check secrets` tells where it stands"
_LONG: Final = 10_000
"""Characters from which on a text is not looked through twice in a row."""
_CUT: Final = " [the rest is too long: `pmem show` has it]"
_SHOWN: Final = (
    *("label", "text", "subject", "title", "summary", "content", "speaker", "external_id", "tags"),
    *("tool_call", "tool_result"),
)
"""The fields of records, messages, and what is made of them that are shown as they are kept."""


class Mask:
    """Takes secrets out of what is shown, and notes once that there were some."""

    def __init__(self, rules: Callable[[], Secrets], notes: list[str]) -> None:
        self._rules = rules
        self._notes = notes
        self._last = ("", frozenset[str](), "", "")

    def text(self, text: str, name: str = "") -> str:
        """Return a text with `[redacted: kind]` in the place of each secret.

        Of one beyond all reason the beginning is shown. `name` is the key under which the text
        stands in an object, which may say that it is a secret.
        """
        rules = self._rules()
        if not rules.mask:
            return text
        text = _cut(text)
        if len(text) < _LONG:
            return self._clean(text, rules.allow, name)
        allowed = frozenset(rules.allow)
        if self._last[:3] != (text, allowed, name):
            self._last = (text, allowed, name, self._clean(text, rules.allow, name))
        return self._last[3]

    def laid_out(self, text: str, data: Any) -> str:
        """Return an answer as a text without secrets; ids in the `data` it was made of are none."""
        rules = self._rules()
        return self._clean(_cut(text), (*rules.allow, *ids_in(data)), "") if rules.mask else text

    def fields(self, document: S) -> S:
        """Return a record, a message or an item with no secret in what is shown of it."""
        held = {name: getattr(document, name, None) for name in _SHOWN}
        clean = {name: self.value(value) for name, value in held.items() if value}
        changed = {name: text for name, text in clean.items() if text != held[name]}
        return msgspec.structs.replace(document, **changed) if changed else document

    def value(self, value: Any, name: str = "") -> Any:
        """Return a text, or what JSON holds, without secrets; a key may tell that one follows."""
        if isinstance(value, str):
            return self.text(value, name)
        if isinstance(value, list | tuple):
            return type(value)(map(self.value, value))
        if isinstance(value, dict):
            return {self.text(key): self.value(part, key) for key, part in value.items()}
        return value

    def _clean(self, text: str, allowed: Collection[str], name: str) -> str:
        from pmem.core.secrets import find_named, redacted

        found = find_named(name, text, allowed)
        if found and NOTE not in self._notes:
            self._notes.append(NOTE)
        return redacted(text, found) if found else text


def _cut(text: str) -> str:
    return text if len(text) <= CONTEXT_CHARACTERS else text[:CONTEXT_CHARACTERS] + _CUT


def message_of(workspace: "Workspace | None", text: str, data: Any = None) -> str:
    """Return what a person or a model is told, without secrets; ids of records, and those in the
    answer beside it, are none.
    """
    from pmem.core.secrets import find, redacted

    found = find(text)
    if not found:
        return text
    known = {word for each in found if _is_record(workspace, word := text[each.start : each.end])}
    return redacted(text, find(text, known.union(ids_in(data))))


def _is_record(workspace: "Workspace | None", word: str) -> bool:
    """Tell whether a word is the id of a record, or the short part of one."""
    if workspace is None or not (is_id(word) or len(word) == SHORT_LENGTH):
        return False
    try:
        return any(
            word in (id_, short(id_))
            for type_ in STORES
            for id_ in workspace.whole.ids(type_, word)
        )
    except PmemError:
        return False
