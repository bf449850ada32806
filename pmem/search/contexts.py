"""Building the context that a model reads: what it draws on, in which order of priority."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from pmem.conversation.window import (
    ConversationWindow,
    Usage,
    talk_of,
    usage,
    with_chunked_messages,
)
from pmem.core import checks
from pmem.core.context.allocation import build
from pmem.core.context.parts import UPDATE_MARK, Context, Counter, Item, Omitted
from pmem.core.filters import Filter
from pmem.core.followed_rules import repeats_rule
from pmem.core.lifecycle.neighbours import differences
from pmem.core.lifecycle.presence import fading_rules, half_life_of
from pmem.core.retrieval.question import notes_on
from pmem.core.text.terms import terms
from pmem.core.trust import may_be_told
from pmem.errors import InvalidValue
from pmem.memory.conversations import LookRequest
from pmem.project.caller import noted_for, serving
from pmem.project.origins import Doubts
from pmem.project.own_memory import has_own
from pmem.project.workspace import Workspace
from pmem.search.context_answers import ContextSource, rank_answers
from pmem.search.context_candidates import gather_candidates, tokens_of_others
from pmem.search.context_items import marking
from pmem.search.context_request import AT_WORK, BuiltContext, ContextRequest, task_of
from pmem.search.hits import hits_of, opened
from pmem.search.threads import Delta, delta, mark_told
from pmem.values.records import Memory, Role

if TYPE_CHECKING:
    from pmem.search.own_part import OwnPart

ASKED_MESSAGES = 3
"""Without a query, so many of the latest messages are taken for one."""
ASKED_CHARACTERS = 2000
POINTING_TERMS = 2
"""A task of no more words of its own that points back ("what was the reason again?") is joined by
the latest messages."""
OWN_WEIGHT = 4
"""How many times a word of such a task counts beside one of the talk."""
_POINTING = frozenset("again it its that this these those they them one there same else".split())
SMALL_BUDGET: Final = 400
"""A memory that fits into half of its budget, or of this for want of one, is shown whole."""
WHOLE_TALK_SHARE: Final = 0.8
"""Messages of chunks come back while everything takes less of the budget (S3: 80 %)."""
_TALKING = (Role.USER, Role.ASSISTANT)


def build_context(workspace: Workspace, request: ContextRequest) -> BuiltContext:
    """Write the block that a model reads, within a budget.

    Raises:
        InvalidValue: The budget is below one token, or the text may have no character.
        Refused: Another app asks than the one that it is for.
    """
    settings, budget, asker = workspace.settings, _budget(workspace, request), workspace
    app = None if request.app is None else checks.app_name(request.app)
    talk = talk_of(workspace if app is None else serving(workspace, app), request.conversation)
    workspace = serving(workspace, talk.app or app)
    news, visible = None, []
    if request.thread is not None and not workspace.is_past:
        visible = _visible(workspace, request)
        doubts = Doubts(workspace, reviewed=request.reviewed)
        news = delta(workspace, request.thread, visible, doubts=doubts, mark=False)
    source = _read_source(workspace, request, budget, talk)
    own = _own_part(asker, request, talk, source.asked, budget)
    talk = _shown_talk(source, talk)
    left_out, unnamed = _ruled_out(source, talk)
    mark = marking(source)
    own_mark = marking(own.source) if own and own.source else mark

    def written(news: Delta | None) -> Context:
        candidates = gather_candidates(source, talk)
        candidates = candidates if own is None else own.joined_to(candidates)
        return build(
            f"Memory of {workspace.project_name}",
            msgspec.structs.replace(
                candidates,
                mark=lambda item: mark(own_mark(item)) if item.mine else mark(item),
                updates=_update_items(news),
                left_out=[*left_out, *candidates.left_out],
                unnamed={**unnamed, **candidates.unnamed},
            ),
            budget,
            recent_share=settings.recent_share,
            format_=request.format,
            count=_counting(workspace, request, budget),
        )

    built = written(news) if news is None else _write_context(workspace, visible, news, written)
    _note_apps_memories(source, talk, built)
    if request.names_omitted:
        from pmem.search.context_reasons import Reasons  # rarely needed

        built = Reasons(source).told(built, [own.source] if own and own.source else [])
    return _with_what_it_recalled(source, built, own.notes if own else ())


def _with_what_it_recalled(
    source: ContextSource, built: Context, notes: Sequence[str]
) -> BuiltContext:
    """Return a finished context with its thread, its notes, and what counts as recalled."""
    workspace, request, given = source.workspace, source.request, task_of(source.request)
    most = workspace.settings.retrieval_top_k
    best = source.ranked()[:most] if given and request.hits else []
    return BuiltContext(
        **{
            **msgspec.structs.asdict(built),
            "notes": (*notes_on(request.query or ""), *built.notes, *notes),
            "tokenizer": workspace.budget_counter.name,
        },
        retrieval_results=tuple(hits_of(workspace, opened(workspace, best))),
        thread=request.thread,
        is_answered=bool(given and (source.found or source.said)),
        kept_in_use=_kept_in_use(workspace, source.usable, built),
    )


def _ruled_out(
    source: ContextSource, talk: ConversationWindow
) -> tuple[list[Omitted], Mapping[str, int]]:
    """Return what no context shows, and how many others there are that are not named."""
    pruned = [Omitted(message, "pruned") for message in sorted(talk.gone)]
    pruned += [
        Omitted(memory, "unreviewed")
        for memory in (*source.usable.unreviewed, *source.usable.unsaid)
    ]
    if source.request.names_omitted:
        return [*source.below, *source.usable.hidden_ids(), *pruned], {}
    return [*source.below, *pruned], source.usable.hidden()


def _read_source(
    workspace: Workspace, request: ContextRequest, budget: int, talk: ConversationWindow
) -> ContextSource:
    """Rank what answers the task, and read what a context may show beside it.

    Where nobody asked, the end of the conversation does, and it joins a task that only points at
    it; it does not bring itself back, nor what was cleared.
    """
    given = task_of(request)
    asked = _asked(given, talk) if request.recall else ""
    hidden = {message.id for message in talk.system}
    if asked != given:
        hidden |= {message.id for message in talk.recent} | talk.cleared
    source = rank_answers(workspace, request, asked, budget, hidden)
    usable = source.usable
    if request.names_omitted:
        usable.read_all()
    if given:
        usable.read_whole((SMALL_BUDGET if request.budget is None else request.budget) // 2)
        usable.read_standing(source.valuation.subjects)
    else:
        usable.read_important()
        if request.works:
            usable.read_rules(AT_WORK)
    usable.read_judged()
    return msgspec.structs.replace(source, differing=differences(usable, usable.doubts.is_lesser))


def _shown_talk(source: ContextSource, talk: ConversationWindow) -> ConversationWindow:
    """Return a talk with the messages of chunks that no other part of a context has to go for."""
    if source.request.only == "memories":
        return ConversationWindow(id=talk.id, app=talk.app)
    if not talk.chunked:
        return talk
    room = int(source.budget * WHOLE_TALK_SHARE) - tokens_of_others(source)
    most = source.workspace.settings.conversation_tokens
    return with_chunked_messages(talk, min(room, most))


def _budget(workspace: Workspace, request: ContextRequest) -> int:
    budget = workspace.settings.default_budget if request.budget is None else request.budget
    if budget < 1:
        raise InvalidValue(f"a budget must be at least 1 token, not {budget}")
    if request.longest is not None and request.longest < 1:
        raise InvalidValue(f"longest must be at least 1, not {request.longest}")
    return budget


def _counting(workspace: Workspace, request: ContextRequest, budget: int) -> Counter:
    """Return what counts a text's tokens, or its share of the longest text if that is more.

    So a text that keeps the budget keeps to that length as well.
    """
    count, longest = workspace.budget_counter.count, request.longest
    if longest is None:
        return count

    def counted(text: str) -> int:
        size = len(text.encode()) if request.in_bytes else len(text)
        return max(count(text), -(-size * budget // longest))

    return counted


def _write_context(
    workspace: Workspace,
    visible: Sequence[Memory],
    news: Delta,
    written: Callable[[Delta | None], Context],
) -> Context:
    """Write the context, mark the news that it has room for as told, and note the revision.

    Where another read of the thread told some of them meanwhile, the context goes without.
    """
    built = written(news)
    if not built.text and not news.since:
        return msgspec.structs.replace(built, revision=news.revision)
    shown = {item.partition(UPDATE_MARK)[0] for item in _shown_ids(built, "updates")}
    revision = mark_told(workspace, news.thread, visible, shown)
    if revision is None:
        built = written(None)
        revision = mark_told(workspace, news.thread, visible, ())
    return msgspec.structs.replace(built, revision=revision)


def _shown_ids(built: Context, section: str) -> list[str]:
    """Return the ids of the items of a section."""
    return [item.id for part in built.sections if part.name == section for item in part.items]


def _kept_in_use(
    workspace: Workspace, memories: Iterable[Memory], built: Context
) -> tuple[str, ...]:
    """Return the memories that would fade and are shown without being looked for.

    To be shown is a use of them. S2 counts only what was retrieved.
    """
    if workspace.settings.decay == "s2":
        return ()
    rules = fading_rules(workspace.settings)
    shown = {*_shown_ids(built, "memory"), *_shown_ids(built, "further")}
    return tuple(
        memory.id
        for memory in memories
        if memory.id in shown and half_life_of(memory, rules) is not None
    )


def _note_apps_memories(source: ContextSource, talk: ConversationWindow, built: Context) -> None:
    """Count it for an app's conversation where its context shows memories of that app."""
    if talk.app is None or not source.request.counts:
        return
    shown = {item.id for part in built.sections for item in part.items}
    if any(memory.scope.app and memory.id in shown for memory in source.usable):
        from pmem.memory.app_memories import note_context  # slow, and most talks are in no app

        note_context(source.workspace, talk.id, talk.app)


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


def _visible(workspace: Workspace, request: ContextRequest) -> list[Memory]:
    """Return the memories, whatever their state, that the agent may see."""
    wanted = Filter(agent=request.agent, trust=request.trust, states=())
    found = workspace.memories.find(wanted)
    shown_to = noted_for(workspace)
    return [
        memory
        for memory in found
        if not repeats_rule(memory, request.already_read) and may_be_told(memory, shown_to)
    ]


def _own_part(
    asker: Workspace, request: ContextRequest, talk: ConversationWindow, asked: str, budget: int
) -> "OwnPart | None":
    """Return what there is in the memory of whoever asks, if it is for this context."""
    is_for_owner = request.mine and not (request.app or talk.app)
    if not is_for_owner or request.only == "conversation" or not has_own(asker.environment):
        return None
    from pmem.search.own_part import own_part

    return own_part(asker, request, asked, budget)


def _asked(given: str, talk: ConversationWindow) -> str:
    """Return what to look for: the task, joined by the end of the talk where it points there.

    The task's own words weigh several times as much. Where nobody says, it is that end.
    """
    messages = [message.content for message in talk.recent if message.role in _TALKING]
    said = "\n".join(messages[-ASKED_MESSAGES:])[-ASKED_CHARACTERS:]
    points = not _POINTING.isdisjoint(given.casefold().strip(" ?!.").split())
    if given and said and points and len(set(terms(given))) <= POINTING_TERMS:
        return "\n".join((*(given,) * OWN_WEIGHT, said))
    return given or said


class ContextUsage(msgspec.Struct, frozen=True, kw_only=True):
    """How a conversation stands, and what its next context of the default budget holds.

    `parts` are the tokens of each section, without what a query would recall.
    """

    usage: Usage
    budget: int
    used: int
    parts: dict[str, int]


def overlay(workspace: Workspace, request: LookRequest) -> ContextUsage:
    """Count what a conversation holds and what a context shows of it, part by part."""
    figures = usage(workspace, request.conversation)
    asked = ContextRequest(conversation=figures.conversation, recall=False, counts=False)
    built = build_context(workspace, asked)
    return ContextUsage(
        usage=figures,
        budget=built.budget,
        used=built.tokens,
        parts=built.allocation.by_section,
    )
