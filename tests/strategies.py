"""Records out of thin air: hypothesis strategies for everything that pmem keeps."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from pmem.values import records
from pmem.values.ids import ALPHABET

ids = st.builds(
    "{}-{}".format,
    st.text(ALPHABET, min_size=1, max_size=9),
    st.text(ALPHABET, min_size=8, max_size=8),
)
texts = st.text(st.characters(codec="utf-8"), max_size=40)
filled = texts.filter(str.strip)
words = st.text("abcdefghäßç日-_.", min_size=1, max_size=12)
shares = st.floats(0, 1).map(lambda share: share + 0.0)
counts = st.integers(0, 10**6)


def _to_the_millisecond(at: datetime) -> datetime:
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


times = st.datetimes(timezones=st.just(UTC)).map(_to_the_millisecond)
moments = st.datetimes(datetime(1990, 1, 1), datetime(2059, 1, 1), timezones=st.just(UTC)).map(
    _to_the_millisecond
)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(texts, json_values, max_size=3)
unknown_keys = st.dictionaries(
    st.text("xyz", min_size=1, max_size=4).map("new_{}".format), json_values, max_size=2
)


def _few(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, max_size=3).map(tuple)


def _maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


events = st.builds(
    records.Event,
    event=st.sampled_from(records.EventKind),
    at=times,
    actor=texts,
    source=texts,
    before=objects,
    detail=objects,
)
relationships = st.builds(
    records.Relationship, target=ids, type=words, strength=shares, created_at=_maybe(times)
)
sources = st.builds(
    records.Source,
    kind=words,
    conversation=_maybe(ids),
    message=_maybe(ids),
    file=_maybe(words),
    lines=_maybe(words),
    commit=_maybe(words),
)
lines = st.tuples(st.integers(1, 99), st.integers(1, 99)).map(sorted).map(tuple)
citations = st.builds(
    records.Citation,
    file=st.sampled_from(["a.py", "src/a.py"]) | words,
    lines=_maybe(lines),
    symbol=_maybe(words),
    digest=words,
    folded=_maybe(words),
    blob=_maybe(words),
    commit=_maybe(words),
)
settlements = st.builds(records.Settlement, at=times, by=texts, reason=texts)
outcomes = st.builds(
    records.Consequence,
    at=times,
    by=texts,
    verdict=st.sampled_from(records.OutcomeVerdict),
    text=texts,
)
scopes = st.builds(
    records.Scope, app=_maybe(words), user=_maybe(words), agent=_maybe(words), run=_maybe(words)
)
accesses = st.builds(records.Access, count=counts, last_at=_maybe(times))
memories = st.builds(
    records.Memory,
    id=ids,
    type=st.sampled_from(records.MemoryType),
    content=texts,
    category=words,
    subject=_maybe(texts),
    tags=_few(words),
    scope=scopes,
    importance=shares,
    pinned=st.booleans(),
    state=st.sampled_from(records.State),
    valid_from=times,
    valid_until=_maybe(times),
    purge_at=_maybe(times),
    relationships=_few(relationships),
    source=sources,
    citations=_few(citations),
    places=_few(st.sampled_from(["*.py", "src/**", "!src", "db/"]) | words),
    tried=_maybe(filled),
    because=_maybe(filled),
    evidence=_few(words),
    settled=_maybe(settlements),
    instead_of=_few(texts),
    outcomes=_few(outcomes),
    review_at=_maybe(times),
    review_if=_maybe(filled),
    stops_edits=st.booleans(),
    created_at=times,
    updated_at=times,
    access=accesses,
    tokens=counts,
    history=_few(events),
)
turn_ranges = st.builds(records.TurnRange, start=counts, end=counts)
episodes = st.builds(
    records.Episode,
    id=ids,
    type=st.sampled_from(records.EpisodeType),
    title=texts,
    summary=texts,
    context=texts,
    participants=_few(texts),
    outcome=_maybe(texts),
    valence=st.floats(-1, 1),
    significance=shares,
    linked_memories=_few(ids),
    conversation=_maybe(ids),
    turns=_maybe(turn_ranges),
    tags=_few(words),
    pinned=st.booleans(),
    state=st.sampled_from(records.State),
    purge_at=_maybe(times),
    created_at=times,
    updated_at=times,
    tokens=counts,
    history=_few(events),
)
messages = st.builds(
    records.Message,
    id=ids,
    external_id=_maybe(texts),
    role=st.sampled_from(records.Role),
    speaker=_maybe(texts),
    content=texts,
    created_at=times,
    tokens=counts,
    importance=_maybe(shares),
    tool_call=json_values,
    tool_result=json_values,
)
conversations = st.builds(
    records.Conversation,
    id=ids,
    external_id=_maybe(texts),
    title=_maybe(texts),
    status=st.sampled_from(records.Status),
    started_at=times,
    ended_at=_maybe(times),
    updated_at=times,
    outcome=_maybe(texts),
    turns=counts,
    cleared_turns=counts,
    chunks=_few(ids),
    recent_messages=_few(messages),
    active_facts=_few(ids),
    milestones=_few(texts),
    history=_few(events),
)
chunks = st.builds(
    records.Chunk,
    id=ids,
    conversation=ids,
    number=counts,
    summary=texts,
    key_topics=_few(words),
    tokens=counts,
    created_at=times,
    messages=_few(messages),
)
any_record: st.SearchStrategy[records.Record] = memories | episodes | conversations | chunks
