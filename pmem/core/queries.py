"""The request and the answer of `query`, the one tool by which agents ask for memories.

Importance has the grades of `values.defaults` here.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal, get_args

import msgspec
from msgspec import Meta

from pmem.core import exactjson
from pmem.core.filters import Filter
from pmem.core.policy import category_of
from pmem.core.retrieval.documents import shown_text
from pmem.core.trust import Trust, label_of, trust_of
from pmem.errors import InvalidValue, PmemError
from pmem.values.defaults import GRADES, grade, lowest
from pmem.values.ids import short
from pmem.values.records import Episode, Message, Part

EXAMPLE: Final = 'such as {"query": "deployment plan"}'
Form = Literal["bullets", "full"]
Level = Literal["low", "medium", "high"]
_Positive = Annotated[int, Meta(ge=1)]
_Grade = Annotated[int, Meta(ge=1, le=GRADES)]
_CHOICES: Final = {"return": get_args(Form), "filters.trust": get_args(Level)}
"""What may stand where only some words may."""


class QueryFilters(Part, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an answer must be; what is left out, or null, lets everything through."""

    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    actor_id: str | None = None
    role: str | None = None
    category: str | None = None
    pinned: bool | None = None
    trust: Level | None = None
    importance_min: _Grade | None = None
    importance_max: _Grade | None = None
    updated_after: str | None = None
    updated_before: str | None = None


class QueryRequest(Part, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an agent asks for.

    `categories` are those that it wants, everything that it may see when there are none;
    `top_k` limits the answers (the setting `retrieval_top_k` when None), `threshold` drops lower
    scores, `budget_tokens` limits the answer's length.
    """

    agent: str | None = None
    query: str
    categories: tuple[str, ...] = ()
    filters: QueryFilters = QueryFilters()
    top_k: _Positive | None = None
    threshold: Annotated[float, Meta(ge=0, le=1)] = 0.0
    form: Form = msgspec.field(default="bullets", name="return")
    budget_tokens: _Positive | None = None

    @property
    def named_categories(self) -> tuple[str, ...]:
        """Every category that it names, also as a filter; whoever asks must see it."""
        only = self.filters.category
        return self.categories if only is None else (*self.categories, only)

    @property
    def named_caller(self) -> tuple[str | None, None]:
        """Who asks: the agent, and no app."""
        return self.agent, None

    @property
    def wanted(self) -> frozenset[str] | None:
        """The categories that answers may have; None is any."""
        only = self.filters.category
        if only is not None:
            return frozenset({only} & set(self.categories or (only,)))
        return frozenset(self.categories) or None


class Bullet(msgspec.Struct, frozen=True, kw_only=True):
    """An answer on one line."""

    id: str
    category: str
    text: str


class Via(msgspec.Struct, frozen=True, kw_only=True):
    """Why a memory comes along: the answer that brings it, and the link between the two.

    The link leads from that answer to the memory if it is `forward`, else the other way.
    """

    id: str
    type: str
    forward: bool

    @property
    def phrase(self) -> str:
        """The link in words."""
        name = self.type.replace("_", " ")
        if self.type == "related_to":
            return f"related to {short(self.id)}"
        return f"{short(self.id)} {name} it" if self.forward else f"{name} {short(self.id)}"


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of an answer; `importance` is a grade from 1 to 5, `trust` a memory's.

    `via` is why it comes along, where it does not answer by itself.
    """

    kind: str
    type: str | None
    subject: str | None
    tags: tuple[str, ...]
    importance: int | None
    pinned: bool
    user_id: str | None
    agent_id: str | None
    run_id: str | None
    actor_id: str | None
    role: str | None
    created_at: datetime
    updated_at: datetime
    score: float
    trust: Trust | None
    via: Via | None = None


class Full(msgspec.Struct, frozen=True, kw_only=True):
    """An answer with its whole text and what is known of it."""

    id: str
    category: str
    summary: str
    metadata: Metadata


Item = Bullet | Full


def parse(value: Any) -> QueryRequest:
    """Read a request from what JSON made of it; what is null says nothing.

    Raises:
        InvalidValue: It has a key that requests do not have, or a value that they cannot have.
    """
    if not isinstance(value, Mapping):
        raise InvalidValue("a query is a JSON object", EXAMPLE)
    given = {name: part for name, part in value.items() if part is not None}
    try:
        return msgspec.convert(given, QueryRequest)
    except msgspec.ValidationError as error:
        of = QueryFilters if "$.filters" in str(error) else QueryRequest
        known = f"there are {', '.join(of.__struct_encode_fields__)}"
        raise InvalidValue(
            f"this is no query: {exactjson.sentence(error, _CHOICES)}",
            known if "unknown field" in str(error) else EXAMPLE,
        ) from None


def filter_of(request: QueryRequest, time: Callable[[str], datetime]) -> Filter:
    """Return what the records must be that answer a request; a wrong time is refused."""
    asked = request.filters
    return Filter(
        user=asked.user_id,
        agent=asked.agent_id,
        run=asked.run_id,
        actor=asked.actor_id,
        role=asked.role,
        pinned=asked.pinned,
        trust=asked.trust,
        importance_min=None if asked.importance_min is None else lowest(asked.importance_min),
        importance_max=None if asked.importance_max is None else asked.importance_max / GRADES,
        updated_after=_moment("updated_after", asked.updated_after, time),
        updated_before=_moment("updated_before", asked.updated_before, time),
    )


def item_of(document: Any, kind: str, score: float, form: Form, via: Via | None = None) -> Item:
    """Return a document as an answer."""
    category = category_of(document)
    text = shown_text(document)
    if form == "bullets":
        line = f"[{category}] {label_of(document)}{text}"
        line += f" ({via.phrase})" if via else ""
        return Bullet(id=document.id, category=category, text=" ".join(line.split()))
    return Full(
        id=document.id,
        category=category,
        summary=text,
        metadata=_metadata(document, kind, score, via),
    )


def within_lengths(
    items: Iterable[Item], modes: Mapping[str, str], lengths: Mapping[str, int]
) -> Iterator[Item]:
    """Yield answers, of a category that contexts show by `rag` so many at the most."""
    seen: Counter[str] = Counter()
    for item in items:
        seen[item.category] += 1
        is_bound = modes.get(item.category) == "rag" and item.category in lengths
        if not is_bound or seen[item.category] <= lengths[item.category]:
            yield item


def within_budget(
    items: Iterable[Item], budget: int | None, count: Callable[[str], int]
) -> tuple[list[Item], int]:
    """Return the answers that fit a budget, and how many did not.

    A bullet counts as its line, a full answer as its JSON. None is no budget. One that is too
    long leaves its room to the next.
    """
    if budget is None:
        return list(items), 0
    shown: list[Item] = []
    text, left_out = "", 0
    for item in items:
        longer = f"{text}{line_of(item)}\n"
        if count(longer) <= budget:
            shown.append(item)
            text = longer
        else:
            left_out += 1
    return shown, left_out


def line_of(item: Item) -> str:
    """Return what an answer's tokens are counted of."""
    if isinstance(item, Bullet):
        return item.text
    return msgspec.json.encode(item).decode()


def _metadata(document: Any, kind: str, score: float, via: Via | None) -> Metadata:
    scope = getattr(document, "scope", None)
    weight = document.significance if isinstance(document, Episode) else None
    weight = getattr(document, "importance", weight)
    role = document.role if isinstance(document, Message) else scope and scope.role
    return Metadata(
        kind=kind,
        type=getattr(document, "type", None),
        subject=getattr(document, "subject", None),
        tags=getattr(document, "tags", ()),
        importance=None if weight is None else grade(weight),
        pinned=getattr(document, "pinned", False),
        user_id=scope and scope.user,
        agent_id=scope and scope.agent,
        run_id=scope and scope.run,
        actor_id=scope and scope.actor,
        role=role,
        created_at=document.created_at,
        updated_at=getattr(document, "updated_at", document.created_at),
        score=score,
        trust=trust_of(document),
        via=via,
    )


def _moment(name: str, text: str | None, time: Callable[[str], datetime]) -> datetime | None:
    if text is None:
        return None
    try:
        return time(text)
    except PmemError as error:
        raise InvalidValue(f"{name} is no time: {error.message}", error.hint) from None
