"""Which candidates fill a budget.

Sections have their shares; what one leaves flows on to the next. Within a section candidates
are taken in the order of their priority, and one that is too big is passed over.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from pmem.core.context.conversing import ConversationFilling
from pmem.core.context.filling import PINNED, Filling
from pmem.core.context.parts import Candidates, Context, Counter, Format, Section
from pmem.values.ids import short

STABLE_SHARE: Final = 0.5
"""Share of recall's part of the budget that the stable memory block may take."""
SUMMARY_SHARE: Final = 0.25
"""Share of recall's part that is the summaries' before anything recalled takes it."""


def build(
    title: str,
    candidates: Candidates,
    budget: int,
    *,
    recent_share: float,
    format_: Format,
    count: Counter,
) -> Context:
    """Fill a budget and write the context.

    The system prompt comes first. The stable block takes at most half of recall's share, the
    owner's own memory at most its own, recent messages at most theirs; pinned messages come next,
    and summaries with a quarter of recall's if there are so many. What answers the query takes what
    is left, and what that leaves goes to older recent messages, to older summaries, and to further
    memories. Where nobody asked, recent messages and summaries come before what was recalled.

    Returns:
        A context whose text is never over the budget; empty when nothing fits.
    """
    filling = ConversationFilling(title, candidates, budget, format_, count)
    room = filling.left()
    recall_share = 1 - recent_share
    filling.add_system()
    share = candidates.memory_share
    share = recall_share * STABLE_SHARE if share is None else share
    certain = 0 if "system" in filling.cut else filling.left_for_certain()  # cut, it takes all
    most = min(int(budget * share), certain)
    memory = Candidates(memory=candidates.memory, mark=candidates.mark)
    alone = Filling(title, memory, budget, format_, count)
    filling.add("memory", alone.block("memory", candidates.memory, most))
    filling.add_yours(int(budget * candidates.yours_share))
    filling.add("updates", candidates.updates)
    filling.converse(int(room * recent_share))
    filling.recall(candidates.pinned)
    filling.add("summaries", candidates.summaries, int(room * recall_share * SUMMARY_SHARE))
    if candidates.asked:
        filling.recall(candidates.recalled, int(room * candidates.recalled_share))
        filling.recall(candidates.said, int(room * candidates.said_share))
    filling.converse()
    filling.add("summaries", (*candidates.summaries, *candidates.older))
    if not candidates.asked:
        filling.recall(candidates.recalled)
        filling.recall(candidates.said)
    filling.add("further", candidates.further)
    return _finished(filling, candidates, budget, count)


def _finished(filling: Filling, candidates: Candidates, budget: int, count: Counter) -> Context:
    """Write the context; where a counter finds more in the whole than in its parts, cut it."""
    text = filling.text()
    tokens = count(text)
    several = 1
    while tokens > budget and filling.drop(several):
        text = filling.text()
        tokens = count(text)
        several *= 2
    if tokens > budget:
        text, tokens = "", 0
    sections = filling.bill()
    return Context(
        text=text,
        tokens=tokens,
        budget=budget,
        sections=sections,
        omitted=tuple(filling.omitted()),
        revision=None,
        notes=tuple(_notes(candidates, sections, filling.cut)),
    )


def _notes(
    candidates: Candidates, sections: Sequence[Section], cut: Collection[str]
) -> Iterator[str]:
    """Yield what could not be shown, or not whole, though it has a right to be."""
    shown = {part.name: {item.id for item in part.items} for part in sections}
    for name, what, offered in (
        ("system", "the system prompt", candidates.system),
        ("recent", "the last exchange", candidates.exchanges),
    ):
        if offered and name not in shown:
            yield f"{what} does not fit the budget"
        elif name in cut:
            yield f"{what} is shortened: it does not fit the budget"
    known = set().union(*shown.values())
    for item in candidates.memory:
        if item.why == PINNED and item.id not in known:
            yield f"a pinned memory does not fit the budget: {short(item.id)}"
    for name, item in candidates.pinned:
        if name != "recalled" and item.id not in known:
            yield f"a pinned message does not fit the budget: {short(item.id)}"
