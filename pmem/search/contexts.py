"""Building the context that a model reads: what it draws on, in which order of priority."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

import msgspec

from pmem.conversation.window import ConversationWindow, talk_of
from pmem.core import checks
from pmem.core.context.allocation import build
from pmem.core.context.modes import Lengths, mode_of
from pmem.core.context.parts import Candidates, Context, Exchange, Item, Omitted
from pmem.core.filters import EVERYTHING, Filter, rejected_by
from pmem.core.lifecycle.differences import SaidOtherwise, differences, newer_first
from pmem.core.lifecycle.fading import fading_rules, half_life_of
from pmem.core.pruning.segments import units
from pmem.core.retention import valid_at
from pmem.core.retrieval.documents import place_of
from pmem.core.retrieval.question import notes_on
from pmem.core.retrieval.ranking import RankedDocument as Ranked
from pmem.core.retrieval.relations import RelatedHit
from pmem.core.trust import shown as trust_label
from pmem.core.trust import trust_of
from pmem.errors import InvalidValue
from pmem.memory.reading import Staleness, disputed, is_merged_by_git
from pmem.project.caller import serving
from pmem.project.workspace import Workspace
from pmem.search.context_request import BuiltContext, ContextRequest
from pmem.search.search import (
    REMEMBERED,
    LoadedHit,
    Scored,
    SearchKind,
    SearchRequest,
    as_scored,
    hits_of,
    most_related,
    opened,
    pick,
    related_to,
)
from pmem.search.threads import Delta, delta, mark_told
from pmem.values.ids import short
from pmem.values.records import Chunk, Conversation, Episode, Memory, Message, Role
from pmem.values.times import day, iso

LEAST_RECALLED = 50
"""How many hits a context of any budget looks at."""
TOKENS_A_HIT = 20
"""It looks at one more for every so many tokens of its budget."""
MOST_RECALLED = 300
"""How many hits it looks at, at the most."""
ASKED_MESSAGES = 3
"""Without a query, so many of the latest messages are taken for one."""
ASKED_CHARACTERS = 2000
FAINT = 0.1
"""A message that scores less than this share of the best one's score is not recalled."""
UPDATE_MARK = "@"  # between a memory's id and the revision, in an update's id
_RECALLED = (SearchKind.MEMORY, SearchKind.EPISODE, SearchKind.MESSAGE)
_TALKING = (Role.USER, Role.ASSISTANT)
_DISPUTED: Final = "(conflict: "  # begins the label of what two branches contradict each other in


def build_context(workspace: Workspace, request: ContextRequest) -> BuiltContext:
    """Write the block that a model reads, within a budget.

    Args:
        request: What it is for; without a query, the end of the conversation is one.

    Raises:
        InvalidValue: The budget is below one token.
        NotFound, Ambiguous: The conversation.
        Refused: Another app asks than the one that it is for.
    """
    settings = workspace.settings
    budget = _budget(workspace, request)
    workspace, talk = _for_its_app(workspace, request)
    known = list(workspace.memories.find(EVERYTHING))
    news = _news(workspace, request, known)
    usable, unshown, early = _usable(workspace, request, known)
    stable = _stable(workspace, usable)
    differing = differences(usable)
    asked, answers = _recall_answers(workspace, request, usable, talk)
    left_out = [
        *answers.below,
        *(Omitted(memory.id, "mode_none") for memory in unshown),
        *(Omitted(memory.id, "not_valid_yet") for memory in early),
        *(Omitted(message, "pruned") for message in sorted(talk.gone)),
    ]

    def written(news: Delta | None) -> Context:
        return build(
            f"Memory of {settings.project_name}",
            msgspec.structs.replace(
                _candidates(workspace, stable, talk, answers.newer_first(differing)),
                mark=_marking(workspace, usable, differing),
                updates=_update_items(news),
                left_out=left_out,
                asked=asked,
            ),
            budget,
            recent_share=settings.recent_share,
            format_=request.format,
            count=workspace.budget_counter.count,
        )

    built = (
        written(news) if news is None else _write_context(workspace, request, known, news, written)
    )
    best = answers.ranked[: settings.retrieval_top_k] if asked and request.hits else []
    return BuiltContext(
        **{
            **msgspec.structs.asdict(built),
            "notes": notes_on(request.query or ""),
            "tokenizer": workspace.budget_counter.name,
        },
        retrieval_results=tuple(hits_of(workspace, opened(workspace, best))),
        thread=request.thread,
        is_answered=bool(asked and answers.ranked),
        kept_in_use=_kept_in_use(workspace, usable, built),
    )


def _for_its_app(
    workspace: Workspace, request: ContextRequest
) -> tuple[Workspace, ConversationWindow]:
    """Return what there is for the app that a context is for, and the conversation."""
    app = checks.word(request.app, "an app")
    talk = talk_of(workspace if app is None else serving(workspace, app), request.conversation)
    return serving(workspace, talk.app or app), talk


def _budget(workspace: Workspace, request: ContextRequest) -> int:
    budget = workspace.settings.default_budget if request.budget is None else request.budget
    if budget < 1:
        raise InvalidValue(f"a budget must be at least 1 token, not {budget}")
    return budget


def _news(workspace: Workspace, request: ContextRequest, known: list[Memory]) -> Delta | None:
    """Return what is new to the thread; nothing is marked as told yet."""
    if request.thread is None or workspace.is_past:
        return None
    return delta(workspace, request.thread, _visible(request, known), mark=False)


def _write_context(
    workspace: Workspace,
    request: ContextRequest,
    known: list[Memory],
    news: Delta,
    written: Callable[[Delta | None], Context],
) -> Context:
    """Write the context, mark the news that it has room for as told, and note the revision.

    Where another read of the thread told some of them meanwhile, the context goes without.
    """
    memories = _visible(request, known)
    built = written(news)
    if not built.text and not news.since:
        return msgspec.structs.replace(built, revision=news.revision)
    shown = {item.partition(UPDATE_MARK)[0] for item in _shown_ids(built, "updates")}
    revision = mark_told(workspace, news.thread, memories, shown)
    if revision is None:
        built = written(None)
        revision = mark_told(workspace, news.thread, memories, ())
    return msgspec.structs.replace(built, revision=revision)


def _shown_ids(built: Context, section: str) -> list[str]:
    """Return the ids of the items of a section."""
    return [item.id for part in built.sections if part.name == section for item in part.items]


def _kept_in_use(workspace: Workspace, memories: list[Memory], built: Context) -> tuple[str, ...]:
    """Return the memories that would fade and are shown without being looked for.

    To be shown is a use of them. S2 counts only what was retrieved.
    """
    if workspace.settings.decay == "s2":
        return ()
    rules = fading_rules(workspace.settings)
    fading = {memory.id for memory in memories if half_life_of(memory, rules) is not None}
    shown = (*_shown_ids(built, "memory"), *_shown_ids(built, "further"))
    return tuple(identifier for identifier in shown if identifier in fading)


def _update_items(news: Delta | None) -> list[Item]:
    """Describe what is new; an id is the memory's and the revision since which it is new."""
    if news is None or not news.changes:
        return []
    headline, *bullets = news.lines
    return [
        Item(
            id=f"{change.id}{UPDATE_MARK}{news.since}",
            text=bullet.removeprefix("- "),
            heading=headline,
        )
        for change, bullet in zip(news.changes, bullets, strict=False)
    ]


def _visible(request: ContextRequest, known: list[Memory]) -> list[Memory]:
    """Return the memories, whatever their state, that the agent may see."""
    wanted = Filter(agent=request.agent, trust=request.trust, states=())
    return [memory for memory in known if rejected_by(memory, wanted) is None]


def _candidates(
    workspace: Workspace,
    memories: list[Memory],
    talk: ConversationWindow,
    answers: "_Answers",
) -> Candidates:
    """Gather everything that could go in."""
    ranked = list(answers.with_related())
    stable = [_memory_item(memory) for memory in memories]
    retained = workspace.settings.short_term_retention_turns
    near = sum(turns < retained for turns in talk.turns_ago)
    said = map(workspace.mask.fields, talk.recent)
    recent = [_message_item(message, place) for place, message in enumerate(said)]
    return Candidates(
        system=[_message_item(message, place) for place, message in enumerate(talk.system)],
        memory=stable,
        recalled=(
            _recalled_item(found, answers.related.get(found.document.id))
            for found in opened(workspace, ranked)
        ),
        recallable=[(place.id, hit.score) for _, place, hit in ranked],
        summaries=[_summary_item(chunk) for chunk in talk.chunks[:near]],
        older=[_summary_item(chunk) for chunk in talk.chunks[near:]],
        further=[_without_heading(item) for item in stable],
        recent=recent,
        exchanges=_exchanges(talk, recent),
    )


def _marking(
    workspace: Workspace, memories: list[Memory], differing: Mapping[str, SaidOtherwise]
) -> Callable[[Item], Item]:
    """Return what takes secrets out of items, and labels those that something speaks against.

    Their citations do not hold any more, or another branch, or a newer memory, contradicts them.
    """
    mask = workspace.mask.fields
    citing = {memory.id: memory for memory in memories if memory.citations}
    merged = {memory.id: memory for memory in memories if is_merged_by_git(memory)}
    if not citing and not merged and not differing:
        return mask
    staleness = Staleness(workspace)
    stale_by_id = cache(lambda identifier: staleness(citing.get(identifier)))
    disputed_by_id = cache(lambda identifier: tuple(disputed(merged.get(identifier))))

    def mark(item: Item) -> Item:
        item = mask(item)
        if item.id in differing:
            item = msgspec.structs.replace(item, difference=differing[item.id])
        fields, stale = disputed_by_id(item.id), () if item.stale else stale_by_id(item.id)
        label = item.label
        if fields and _DISPUTED not in label:
            label += f"{_DISPUTED}{', '.join(fields)}) "
        if stale:
            label += f"(stale: {', '.join(stale)}) "
        if label == item.label:
            return item
        return msgspec.structs.replace(item, label=label, stale=stale or item.stale)

    return mark


def _recall_answers(
    workspace: Workspace, request: ContextRequest, memories: list[Memory], talk: ConversationWindow
) -> tuple[bool, "_Answers"]:
    """Return whether somebody asked, and what answers.

    Where nobody asked, the end of the conversation does; it does not bring itself back, nor
    what was cleared.
    """
    given = (request.query or "").strip()
    asked = (given or _implied_query(talk)) if request.recall else ""
    hidden = {message.id for message in talk.system}
    hidden |= set() if given else {message.id for message in talk.recent} | talk.cleared
    allowed = {memory.id: memory for memory in memories}
    return bool(given), _rank_answers(workspace, request, asked, allowed, hidden)


def _usable(
    workspace: Workspace, request: ContextRequest, known: list[Memory]
) -> tuple[list[Memory], list[Memory], list[Memory]]:
    """Return the memories that contexts show, those of the mode `none`, and those that begin later.

    What does not hold any more is none of them.
    """
    now = workspace.now()
    wanted = Filter(agent=request.agent, trust=request.trust)
    modes = workspace.settings.categories.context
    fitting = [memory for memory in known if rejected_by(memory, wanted) is None]
    holding = [memory for memory in fitting if valid_at(memory, now)]
    early = [memory for memory in fitting if memory.valid_from > now]
    unshown = [memory for memory in holding if mode_of(memory, modes) == "none"]
    gone = {memory.id for memory in unshown}
    return [memory for memory in holding if memory.id not in gone], unshown, early


def _stable(workspace: Workspace, usable: list[Memory]) -> list[Memory]:
    """Return the memories for the stable block, the first that there must be room for first."""
    modes = workspace.settings.categories.context
    shown = [(mode_of(memory, modes), memory) for memory in usable]
    shown = [(mode, memory) for mode, memory in shown if mode != "rag"]
    shown.sort(key=lambda one: (not one[1].pinned, one[0] != "all", -one[1].importance, one[1].id))
    return [memory for _, memory in shown]


def _implied_query(talk: ConversationWindow) -> str:
    """Return the end of the conversation: what a context is for when nobody says."""
    said = [message.content for message in talk.recent if message.role in _TALKING]
    return "\n".join(said[-ASKED_MESSAGES:])[-ASKED_CHARACTERS:]


def _rank_answers(
    workspace: Workspace,
    request: ContextRequest,
    asked: str,
    allowed: Mapping[str, Memory],
    hidden: set[str],
) -> "_Answers":
    """Return what answers a query, what answers it too badly, and what is brought along.

    Of the memories only those that are `allowed` count; `hidden` are messages and chunks that
    are shown elsewhere or not wanted.
    """
    if not asked:
        return _Answers([], [], {})
    most = min(MOST_RECALLED, LEAST_RECALLED + _budget(workspace, request) // TOKENS_A_HIT)
    picked = pick(
        workspace,
        SearchRequest(
            query=asked,
            kinds=_RECALLED if request.trust is None else REMEMBERED,
            wanted=Filter(trust=request.trust),
            top_k=most,
            related=request.related,
        ),
    )
    relevance = [_relevance(hit) for kind, _, hit in picked.ranked if kind is SearchKind.MESSAGE]
    faint = FAINT * max(relevance, default=0)
    categories = workspace.settings.categories
    lengths = Lengths(categories.context, categories.rag_length)
    keep: list[Scored] = []
    below: list[Omitted] = []
    for kind, place, hit in picked.ranked:
        if place.id in hidden or place.record in hidden:
            continue
        if kind is SearchKind.MEMORY and place.id not in allowed:
            continue
        threshold = faint if kind is SearchKind.MESSAGE else workspace.settings.relevance_threshold
        if _relevance(hit) < threshold:
            below.append(Omitted(place.id, "below_threshold", hit.score))
        elif kind is SearchKind.MEMORY and not lengths.take(allowed[place.id]):
            below.append(Omitted(place.id, "over_length", hit.score))
        else:
            keep.append((kind, place, hit))
    visible = [tie for tie in picked.ties if tie.id in allowed]
    along = related_to(keep, visible, most_related(workspace, request.related))
    along = {id_: brought for id_, brought in along.items() if lengths.take(allowed[id_])}
    return _Answers(keep, below, along)


class _Answers(NamedTuple):
    """What answers a query, what answers it too badly, and what the former brings along, by id."""

    ranked: list[Scored]
    below: list[Omitted]
    related: dict[str, RelatedHit]

    def newer_first(self, differing: Mapping[str, SaidOtherwise]) -> "_Answers":
        """Return the same with a newer memory before those that it updates or contradicts."""
        if not differing:
            return self
        places = newer_first([place.id for _, place, _ in self.ranked], differing)
        return self._replace(ranked=[self.ranked[place] for place in places])

    def with_related(self) -> Iterator[Scored]:
        """Yield what answers, each followed by what it brings along."""
        for found in self.ranked:
            yield found
            yield from (
                as_scored(brought)
                for brought in self.related.values()
                if brought.tie.via == found[1].id
            )


def _relevance(hit: Ranked) -> float:
    """Return how well a hit answers: its score without what only ranks it below others.

    That is how many better hits of its conversation there are, and that an insight counts less.
    """
    return hit.score / (hit.signals.get("repeat", 1.0) * hit.signals.get("insight", 1.0))


def _exchanges(talk: ConversationWindow, items: Sequence[Item]) -> list[Exchange]:
    """Group the messages that may be shown, the latest group first.

    Args:
        talk: The conversation.
        items: One for each of its recent messages.
    """
    known = {item.id: item for item in items}
    live = [message for message in talk.recent if message.id not in talk.gone]
    return [
        [[known[message.id] for message in bond] for bond in _bonds(live, unit)]
        for unit in sorted(units(live), key=max, reverse=True)
    ]


def _bonds(live: Sequence[Message], unit: Sequence[int]) -> list[list[Message]]:
    """Divide what belongs together into what must never be apart: the question, calls, ..."""
    first, *rest = (live[place] for place in unit)
    if len(rest) < 2:
        return [[message] for message in (first, *rest)]
    return [[first], *([rest[place] for place in bond] for bond in units(rest))]


def _memory_item(memory: Memory, score: float | None = None, via: str | None = None) -> Item:
    why = f"(related to {short(via)}) " if via else ""
    subject = f"[{memory.subject}] " if memory.subject else ""
    return Item(
        id=memory.id,
        text=memory.content,
        label=f"[id:{short(memory.id)}] {trust_label(trust_of(memory))}{why}{subject}",
        heading=memory.category,
        order=(memory.id, 0),
        score=score,
        tokens=memory.tokens,
        via=via,
    )


def _recalled_item(found: LoadedHit, brought: RelatedHit | None) -> tuple[str, Item]:
    """Describe what answers the query: the section that it belongs to, and the item."""
    document, score = found.document, found.hit.score
    if isinstance(document, Memory):
        via = None if brought is None else brought.tie.via
        return "recalled", _without_heading(_memory_item(document, score, via))
    if isinstance(document, Episode):
        return "recalled", _episode_item(document, score)
    assert isinstance(found.record, Chunk | Conversation)
    item = _message_item(document, place_of(document, found.record))
    return "earlier", msgspec.structs.replace(
        item,
        heading=day(document.created_at).strip(),
        order=(f"{item.order[0]} {found.conversation}", item.order[1]),
        score=score,
    )


def _without_heading(item: Item) -> Item:
    return msgspec.structs.replace(item, heading="")


def _episode_item(episode: Episode, score: float) -> Item:
    text = (
        episode.summary
        if episode.summary.startswith(episode.title)
        else (f"{episode.title}: {episode.summary}")
    )
    return Item(
        id=episode.id,
        text=text,
        label=f"[{day(episode.created_at).strip()}] {trust_label(trust_of(episode))}",
        score=score,
        tokens=episode.tokens,
    )


def _summary_item(chunk: Chunk) -> Item:
    return Item(id=chunk.id, text=chunk.summary, order=("", chunk.number), tokens=chunk.tokens)


def _message_item(message: Message, place: int) -> Item:
    return Item(
        id=message.id,
        external_id=message.external_id,
        text=message.content,
        label=f"{message.speaker or message.role}: ",
        order=(iso(message.created_at), place),
        role=message.role,
        speaker=message.speaker,
        tokens=message.tokens,
    )
