"""The gate that no secret passes: what comes in is refused, or kept with the secret taken out.

What a request brings goes through `SecretGate.admit`, which the pipeline calls. What a transaction
is about to write is looked at once more (`SecretGate.refuse_new_secrets`), so that a forgotten way
in is closed as well. What models and searches are shown is looked at on the way out (`masking`).
No sentence of the gate, and nothing that it keeps, holds a secret.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar, cast

import msgspec

from pmem.core import secrets
from pmem.core.secrets.rules import Secret
from pmem.core.secrets.texts import inside, texts
from pmem.errors import InvalidValue, Refused
from pmem.storage.backend import Change
from pmem.values.records import Memory, Record
from pmem.values.rules import Secrets

T = TypeVar("T")
_DIGITS: Final = 64
_HEXADECIMAL: Final = frozenset("0123456789abcdefABCDEF")
_HINT: Final = (
    "leave it out, or keep the rest with --redact; "
    "if it is no secret, `pmem config set secrets.allow VALUE` allows it"
)


_GIVERS: Final = {
    "agent": "the agent's name (--agent or PMEM_AGENT)",
    "actor": "the actor's name (--actor)",
}
"""Who gives the fields of a history's events that no text of a request does."""


class SecretFound(Refused):
    """Something holds a secret."""

    code = "secret"

    def __init__(self, where: str, kind: str, place: str) -> None:
        super().__init__(f"{where} holds a secret ({kind}) at {place}; nothing was kept", _HINT)
        self.where = where
        self.kind = kind
        self.place = place


class RawSecret(Refused):
    """The list of what is no secret was to hold one itself."""

    code = "secret"

    def __init__(self, found: Sequence[str]) -> None:
        super().__init__(
            "secrets.allow would hold a secret itself; nothing was kept",
            f"if it is an example, write its digest: {','.join(found)}",
        )


class SecretGate:
    """Lets in what holds no secret, and notes what was found and not refused."""

    def __init__(self, rules: Callable[[], Secrets], notes: list[str] | None = None) -> None:
        self._rules = rules
        self._notes = [] if notes is None else notes
        self._passed: set[str] = set()

    def admit(self, value: T, where: str = "", *, redacting: bool = False) -> T:
        """Return what comes in, or the same with every secret in it taken out; if off, with a note.

        `where` says what it is, for the error's sentence; nothing for a value with named fields.
        With `redacting`, a secret is taken out where the settings would refuse it.

        Raises:
            SecretFound: It holds one, and the setting `secrets.gate` says that it is refused.
            InvalidValue: It is nested too deep for anything to be kept of it.
        """
        rules = self._rules()
        if redacting and rules.gate == "refuse":
            rules = msgspec.structs.replace(rules, gate="redact")
        return self._admit_by(rules, value, where)

    def _admit_by(self, rules: Secrets, value: T, where: str) -> T:
        try:
            return cast(T, self._admitted(value, where, rules))
        except RecursionError:
            raise InvalidValue(f"{where or 'what is given'} is nested too deep") from None

    def refuse_secrets_in(self, text: str, where: str) -> None:
        """See that a name holds no secret, which cannot be kept without it; off is off."""
        rules = self._rules()
        for found in () if rules.gate == "off" else secrets.find(text, rules.allow):
            raise _refusal(where, text, found)

    def refuse_new_secrets(
        self, changes: Sequence[Change], before: Callable[[Change], Record | None]
    ) -> None:
        """See that a transaction brings no secret that was not there before it.

        A secret that a record held already does not keep it from being changed, moved or removed.
        A memory may have it from memories alone: a fact of an old conversation is no excuse.
        """
        rules = self._rules()
        if rules.gate == "off":
            return
        for change in changes:
            old = before(change)
            kept = set() if old is None else {text for _, text, _ in texts(old)}
            for where, text, name in () if change.record is None else texts(change.record):
                if text not in self._passed and text not in kept:
                    for found in secrets.find_named(name, text, rules.allow):
                        value = text[found.start : found.end]
                        if not self._is_known(value, change, changes, before):
                            raise _refusal(where, text, found)

    def forget(self) -> None:
        """Let go of the texts that were let in: they are kept now, or never will be."""
        self._passed.clear()

    def _admitted(self, value: Any, where: str, rules: Secrets, name: str = "") -> Any:
        if type(value) is str:
            return self._text(value, where, rules, name)
        if isinstance(value, list | tuple):
            named = (f"{where}[{number}]" for number in range(1, len(value) + 1))
            return type(value)(map(self._admitted, value, named, [rules] * len(value)))
        if isinstance(value, dict):
            return {
                self._admitted(key, f"{where}'s key", rules): self._admitted(
                    item, inside(where, key), rules, str(key)
                )
                for key, item in value.items()
            }
        if isinstance(value, msgspec.Struct):
            fields = {name: getattr(value, name) for name in value.__struct_fields__}
            clean = {
                name: self._admit_by(rules, held, inside(where, name))
                for name, held in fields.items()
            }
            new = {name: held for name, held in clean.items() if held != fields[name]}
            return msgspec.structs.replace(value, **new) if new else value
        return value

    def _text(self, text: str, where: str, rules: Secrets, name: str) -> str:
        found = secrets.find_named(name, text, rules.allow)
        if found and rules.gate == "refuse":
            raise _refusal(where, text, found[0])
        done = "left out" if rules.gate == "redact" else "kept, as secrets.gate is off"
        for each in found:
            at = secrets.place(text, each)
            self._notes.append(f"{where or 'this'}: a secret ({each.kind}) at {at} was {done}")
        clean = secrets.redacted(text, found) if rules.gate == "redact" else text
        self._passed.add(clean)
        return clean

    def _is_known(
        self,
        value: str,
        change: Change,
        changes: Sequence[Change],
        before: Callable[[Change], Record | None],
    ) -> bool:
        """Tell whether a secret was let in, or was there before the transaction."""
        memory = change.type is Memory
        old = (before(other) for other in changes if (other.type is Memory) == memory)
        held = (text for record in old if record is not None for _, text, _ in texts(record))
        return any(value in text for text in (*self._passed, *held))


def allowable(entries: Sequence[str]) -> tuple[str, ...]:
    """Return a list of what is no secret as it can be shared: examples, and digests."""
    for entry in entries:
        digits = entry.removeprefix(secrets.DIGEST)
        if digits != entry and (len(digits) != _DIGITS or not _HEXADECIMAL.issuperset(digits)):
            raise InvalidValue(
                f"secrets.allow: `{secrets.DIGEST}` goes on with {_DIGITS} hexadecimal digits",
                "`printf %s 'the example' | sha256sum` tells them",
            )
    raw = [
        secrets.digest(entry[at.start : at.end])
        for entry in entries
        if not entry.startswith(secrets.DIGEST)
        for at in secrets.find(entry)
    ]
    if raw:
        raise RawSecret(raw)
    return tuple(each.lower() if each.startswith(secrets.DIGEST) else each for each in entries)


def _refusal(where: str, text: str, found: Secret) -> SecretFound:
    outer, _, field = where.removeprefix("the ").rpartition(".")
    if not outer or outer.startswith("history["):  # a history keeps what somebody gave
        where = _GIVERS.get(field, where)
    return SecretFound(where or "this", found.kind, secrets.place(text, found))
