"""How a project's settings merge: one by one, and never to less protection than both sides have."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from pmem.values.rules import Consent

Values = Mapping[str, Any]
"""Settings by dotted name; one that is missing is not set."""
_GATES: Final = ("off", "redact", "refuse")
_ASKED_FOR: Final = {
    "consent.fields": Consent().fields,
    "consent.two_signals": Consent().two_signals,
}
_ALLOWED: Final = "secrets.allow"
_GATE: Final = "secrets.gate"
_LEAVE: Final = "consent.changes"
_LISTS: Final = "allowlists."


class SettingsMerge(NamedTuple):
    """Settings of two branches in one, and what each of them says where they differ for good."""

    values: dict[str, Any]
    conflicts: dict[str, tuple[Any, Any]]


def merge_settings(base: Values | None, ours: Values, theirs: Values) -> SettingsMerge:
    """Merge two branches' settings, each by its name.

    What one side changed is taken. Lists merge by their entries. Where both sides changed one
    setting to different values, the stricter holds if it guards something, else ours. Where the
    base is not known, what guards is not taken from one side alone.
    """
    values: dict[str, Any] = {}
    conflicts = {}
    for name in dict.fromkeys((*ours, *theirs)):
        one, other = ours.get(name), theirs.get(name)
        before = None if base is None else base.get(name)
        is_doubtful = base is None and is_guard(name)
        if one == other or (other == before and not is_doubtful):
            value = one
        elif one == before and not is_doubtful:
            value = other
        elif isinstance(one, list) and isinstance(other, list) and not is_doubtful:
            value = _entries(before, one, other)
        else:
            conflicts[name] = (one, other)
            value = _stricter(name, ours, theirs) if is_guard(name) else one
        if value is not None:
            values[name] = value
    return SettingsMerge(values, {name: conflicts[name] for name in sorted(conflicts)})


def good_settings(ours: Values, theirs: Values) -> dict[str, Any]:
    """Return what to go on with while a merge is open: ours, but no guard lower than theirs."""
    found = dict(ours)
    for name in {*ours, *theirs}:
        if is_guard(name) and ours.get(name) != theirs.get(name):
            found[name] = _stricter(name, ours, theirs)
    return {name: value for name, value in found.items() if value is not None}


def is_guard(name: str) -> bool:
    """Tell whether a setting keeps something from somebody."""
    return name in (_GATE, _ALLOWED, _LEAVE, *_ASKED_FOR) or name.startswith(_LISTS)


def _entries(before: Any, ours: list[Any], theirs: list[Any]) -> list[Any]:
    """Merge lists by their entries: what one side added is there, what one removed is not."""
    known = before if isinstance(before, list) else []
    kept = [entry for entry in ours if entry in theirs or entry not in known]
    return kept + [entry for entry in theirs if entry not in ours and entry not in known]


def _stricter(name: str, ours: Values, theirs: Values) -> Any:
    """Return the value of a guard that lets through no more than either side's."""
    one, other = ours.get(name), theirs.get(name)
    if name == _GATE:
        return max(one, other, key=lambda gate: _GATES.index(gate) if gate in _GATES else 9)
    if name == _LEAVE:
        return one is not False or other is not False
    if name in _ASKED_FOR:
        asked = [list(_ASKED_FOR[name]) if side is None else side for side in (one, other)]
        return _both(asked[0], asked[1], keep_all=True)
    if name.startswith(_LISTS) and not (_has_lists(ours) and _has_lists(theirs)):
        return one if other is None else other  # without any, everybody sees everything
    return _both(one or [], other or [], keep_all=False)


def _both(one: Any, other: Any, *, keep_all: bool) -> Any:
    """Return what two lists have in common, or all that is in either."""
    if not isinstance(one, list) or not isinstance(other, list):
        return one if isinstance(other, list) else other  # what is wrong is told, not hidden
    common = [entry for entry in one if keep_all or entry in other]
    return common + [entry for entry in other if keep_all and entry not in one]


def _has_lists(side: Values) -> bool:
    return any(name.startswith(_LISTS) for name in side)
