"""What merging must know of each kind of record: its fields, and the rule of each.

The names are written out, because importing the record classes would take longer than merging;
a test holds the two together.
"""

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from pmem.core.threeway.values import Doubt, moment, moment_in


class Rule(Enum):
    """How a field merges that both sides changed."""

    VALUE = 1
    """The later side's value; the other one goes into the history."""
    STATEMENT = 2
    """Likewise, but two different values are a conflict, unless one grew out of the other."""
    SET = 3
    """Texts of which each side may have added and removed some."""
    ITEMS = 4
    """Objects with an identity, each merged for itself."""
    EVENTS = 5
    """The history: everything that happened, by time."""
    PART = 6
    """An object of its own shape."""
    SUM = 7
    """A count: what both sides added."""
    GREATEST = 8
    """A number or a time that only grows."""
    LATEST = 9
    """When the record changed: never earlier than on either side."""


_NOTHING: Final[Mapping[str, "RecordShape"]] = MappingProxyType({})


class RecordShape(NamedTuple):
    """The fields of an object.

    `rules` names those that are not plain values, `inside` the shapes of parts and items.
    A field in `follows` comes from the side that another field comes from. The fields of an
    `atomic` part only mean something together. A field in `counts` says how many items there ever
    were in the list that it names. `identity` is what tells items apart, `time` when one came to
    be, or for a record, when it changed; of what tells items apart one may lack those in
    `nameless`. `texts` are what an edit changes.
    """

    fields: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    rules: Mapping[str, Rule] = MappingProxyType({})
    inside: Mapping[str, "RecordShape"] = _NOTHING
    follows: Mapping[str, str] = MappingProxyType({})
    derived: tuple[str, ...] = ()
    counts: Mapping[str, str] = MappingProxyType({})
    atomic: bool = False
    identity: tuple[str, ...] = ()
    nameless: tuple[str, ...] = ()
    time: str = ""
    texts: tuple[str, ...] = ()

    def identity_of(self, item: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return what tells an item apart from the others of its list."""
        wanted = (field for field in self.identity if field in item or field not in self.nameless)
        return tuple(map(item.get, wanted))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


UNKNOWN: Final = RecordShape()
_LINK: Final = RecordShape(
    fields=_words("target type strength created_at"),
    rules={"created_at": Rule.GREATEST},
    follows={"strength": "created_at"},
    identity=("target", "type"),
    time="created_at",
)
_SCOPE: Final = RecordShape(fields=_words("app user agent run actor role"), atomic=True)
_SOURCE: Final = RecordShape(
    fields=_words("kind conversation message file lines commit memory"),
    atomic=True,
)
_CITATION: Final = RecordShape(
    fields=_words("file lines symbol digest folded blob commit"),
    follows={"folded": "lines", "blob": "lines", "commit": "lines"},
    identity=("file", "digest", "symbol"),
    nameless=("symbol",),
)
_SETTLED: Final = RecordShape(fields=_words("at by reason"), atomic=True)
_OUTCOME: Final = RecordShape(
    fields=_words("at by verdict text"), identity=("at", "verdict", "text"), time="at"
)
_ACCESS: Final = RecordShape(
    fields=_words("count last_at"), rules={"count": Rule.SUM, "last_at": Rule.GREATEST}
)
_TURNS: Final = RecordShape(fields=_words("start end"), atomic=True)
_REMOVAL: Final = RecordShape(fields=_words("at by reason"), atomic=True)
_MESSAGE: Final = RecordShape(
    fields=_words(
        "id external_id role speaker content created_at tokens importance pinned tool_call"
        " tool_result removed"
    ),
    rules={"removed": Rule.PART},
    inside={"removed": _REMOVAL},
    follows={"tokens": "content"},
    derived=("tokens",),
    identity=("id",),
    time="created_at",
)
_ORIGIN: Final = RecordShape(fields=_words("model prompt digest"), atomic=True)
_FACT: Final = RecordShape(
    fields=_words(
        "id content type confidence subject user message extracted_at standing memory settled_at"
        " places tried because evidence made_by"
    ),
    rules={"places": Rule.SET, "evidence": Rule.SET, "made_by": Rule.PART},
    inside={"made_by": _ORIGIN},
    follows={"memory": "standing", "settled_at": "standing"},
    identity=("id",),
    time="extracted_at",
)
MEMORY: Final = RecordShape(
    fields=_words(
        "id schema type content category subject tags scope importance pinned state valid_from"
        " valid_until purge_at relationships source citations places tried because evidence settled"
        " instead_of outcomes review_at review_if stops_edits created_at updated_at access tokens"
        " history"
    ),
    required=_words("id content category valid_from created_at updated_at"),
    rules={
        "type": Rule.STATEMENT,
        "content": Rule.STATEMENT,
        "tags": Rule.SET,
        "scope": Rule.PART,
        "relationships": Rule.ITEMS,
        "source": Rule.PART,
        "citations": Rule.ITEMS,
        "places": Rule.SET,
        "evidence": Rule.SET,
        "settled": Rule.PART,
        "instead_of": Rule.SET,
        "outcomes": Rule.ITEMS,
        "updated_at": Rule.LATEST,
        "access": Rule.PART,
        "history": Rule.EVENTS,
    },
    inside={
        "scope": _SCOPE,
        "relationships": _LINK,
        "source": _SOURCE,
        "citations": _CITATION,
        "settled": _SETTLED,
        "outcomes": _OUTCOME,
        "access": _ACCESS,
    },
    follows={"tokens": "content", "purge_at": "state"},
    derived=("tokens",),
    time="updated_at",
    texts=("content",),
)
EPISODE: Final = RecordShape(
    fields=_words(
        "id schema type title summary context participants outcome valence significance"
        " linked_memories conversation app turns tags pinned state purge_at created_at updated_at"
        " access tokens history"
    ),
    required=_words("id type title summary created_at updated_at"),
    rules={
        "type": Rule.STATEMENT,
        "summary": Rule.STATEMENT,
        "participants": Rule.SET,
        "linked_memories": Rule.SET,
        "turns": Rule.PART,
        "tags": Rule.SET,
        "updated_at": Rule.LATEST,
        "access": Rule.PART,
        "history": Rule.EVENTS,
    },
    inside={"turns": _TURNS, "access": _ACCESS},
    follows={"tokens": "summary", "purge_at": "state"},
    derived=("tokens",),
    time="updated_at",
    texts=("title", "summary", "context", "outcome"),
)
CONVERSATION: Final = RecordShape(
    fields=_words(
        "id schema external_id title app status started_at ended_at updated_at outcome turns"
        " cleared_turns chunks merged_chunks recent_messages pruned pruned_at facts active_facts"
        " unread_from milestones history"
    ),
    required=_words("id started_at updated_at"),
    rules={
        "updated_at": Rule.LATEST,
        "turns": Rule.SUM,
        "cleared_turns": Rule.GREATEST,
        "chunks": Rule.SET,
        "merged_chunks": Rule.GREATEST,
        "recent_messages": Rule.ITEMS,
        "pruned": Rule.SET,
        "pruned_at": Rule.GREATEST,
        "facts": Rule.ITEMS,
        "active_facts": Rule.SET,
        "milestones": Rule.SET,
        "history": Rule.EVENTS,
    },
    inside={"recent_messages": _MESSAGE, "facts": _FACT},
    follows={"ended_at": "status"},
    counts={"turns": "recent_messages"},
    time="updated_at",
)
CHUNK: Final = RecordShape(
    fields=_words(
        "id schema conversation app number merged_into summary key_topics tokens created_at"
        " messages facts made_by"
    ),
    required=_words("id conversation number summary created_at messages"),
    rules={
        "key_topics": Rule.SET,
        "messages": Rule.ITEMS,
        "facts": Rule.ITEMS,
        "history": Rule.EVENTS,
    },
    inside={"messages": _MESSAGE, "facts": _FACT, "made_by": _ORIGIN},
    follows={"tokens": "summary", "made_by": "summary"},
    derived=("tokens",),
    time="created_at",
)
SHAPES: Final[dict[str, RecordShape]] = {
    "long-term-memory": MEMORY,
    "episodic-memory": EPISODE,
    "conversations": CONVERSATION,
    "conversation-chunks": CHUNK,
}
"""The shape of the records in each store's folder."""
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
