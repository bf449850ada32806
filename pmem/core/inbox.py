"""What needs attention: the kinds of items, and the commands that settle each."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

import msgspec

from pmem.values.ids import short


class InboxKind(StrEnum):
    """Why something needs attention, what matters most first."""

    CONTRADICTION = "contradiction"
    PROPOSAL = "proposal"
    FACT = "fact"
    NOTED = "noted"
    SUBJECT = "subject"
    DUPLICATE = "duplicate"
    CITATION = "citation"
    DUE = "due"
    EXPIRED = "expired"
    TRUST = "trust"
    FADING = "fading"


class InboxChoice(msgspec.Struct, frozen=True):
    """One way to settle an item: the key for it, what that does, and the command that it runs."""

    key: str
    does: str
    command: str


class InboxItem(msgspec.Struct, frozen=True, kw_only=True):
    """A record, a fact or a proposal that needs attention.

    `text` says on one line what it says, `why` in one sentence what is the matter with it. Of a
    citation and of trust, `since` is when the memory last changed.
    """

    kind: InboxKind
    id: str
    short: str
    text: str
    why: str
    since: datetime
    commands: tuple[InboxChoice, ...]


_EDIT: Final = InboxChoice("e", "edit it", "edit {id}")
_REMOVE: Final = InboxChoice("r", "remove it", "rm {id}")
_SHOW: Final = InboxChoice("v", "view it", "show {id}")
_PAIR: Final = (
    InboxChoice("k", "keep both", "edit {id} --link {other}"),
    InboxChoice("n", "keep only the newer one", "edit {other} --superseded-by {id}"),
    InboxChoice("o", "keep only the older one", "edit {id} --superseded-by {other}"),
    _EDIT, InboxChoice("r", "remove the newer one", "rm {id}"), _SHOW,
)  # fmt: skip
_CHOICES: Final[dict[InboxKind, tuple[InboxChoice, ...]]] = {
    InboxKind.CONTRADICTION: (
        InboxChoice("k", "keep what it says now", "resolve {id}"),
        InboxChoice("o", "take what the other side says", "resolve {id} --other"),
        _EDIT, _REMOVE, _SHOW,
    ),
    InboxKind.PROPOSAL: (
        InboxChoice("k", "agree", "inbox accept {id}"),
        InboxChoice("e", "agree, and edit it", "inbox accept {id} --edit"),
        InboxChoice("r", "reject it for good", "inbox reject {id}"),
    ),
    InboxKind.FACT: (
        InboxChoice("k", "promote it to a memory", "inbox accept {id}"),
        InboxChoice("e", "promote and edit it", "inbox accept {id} --edit"),
        InboxChoice("r", "reject it", "inbox reject {id}"),
        InboxChoice("v", "view the message", "show {other}"),
    ),
    InboxKind.NOTED: (
        InboxChoice("k", "keep it: it is right", "edit {id} --reviewed"),
        InboxChoice("a", "keep all that {other} noted", "inbox accept --noted-by {other}"),
        _EDIT, _REMOVE, _SHOW,
    ),
    InboxKind.SUBJECT: _PAIR,
    InboxKind.DUPLICATE: _PAIR,
    InboxKind.CITATION: (
        _EDIT,
        InboxChoice("k", "it is still right: cite the text as it is now", "check --accept {id}"),
        InboxChoice("c", "stop citing that", "edit {id} {other}"),
        _REMOVE, _SHOW,
    ),
    InboxKind.DUE: (
        InboxChoice("k", "it is still right", "edit {id} --reviewed"),
        InboxChoice("l", "look again in four weeks", "edit {id} --review 4w"),
        InboxChoice("g", "it turned out well", "outcome {id} good"),
        InboxChoice("b", "it turned out badly", "outcome {id} bad"),
        _EDIT, _REMOVE, _SHOW,
    ),
    InboxKind.EXPIRED: (
        InboxChoice("k", "it is still valid: no end", "edit {id} --no-end"), _EDIT, _REMOVE, _SHOW,
    ),
    InboxKind.TRUST: (
        InboxChoice("k", "it is right: trust it", "edit {id} --reviewed"), _EDIT, _REMOVE, _SHOW,
    ),
    InboxKind.FADING: (
        InboxChoice("k", "pin it, so that it never fades", "edit {id} --pin"), _EDIT, _REMOVE,
    ),
}  # fmt: skip


def inbox_item(
    kind: InboxKind,
    identifier: str,
    text: str,
    why: str,
    since: datetime,
    other: str = "",
    without: Sequence[str] = (),
) -> InboxItem:
    """Make an item, with the commands that settle it.

    Commands that name `other` are left out where there is none, and those with a key of
    `without`.
    """
    name = short(identifier)
    known = (
        InboxChoice(
            one.key,
            one.does.format(other=other),
            "pmem " + one.command.format(id=name, other=other),
        )
        for one in _CHOICES[kind]
        if one.key not in without and (other or "{other}" not in one.command)
    )
    return InboxItem(
        kind=kind,
        id=identifier,
        short=name,
        text=" ".join(text.split()),
        why=why,
        since=since,
        commands=tuple(known),
    )
