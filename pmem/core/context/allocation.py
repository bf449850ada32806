"""Which candidates fill a budget.

Sections have their shares; what one leaves flows on to the next. Within a section candidates
are taken in the order of their priority, and one that is too big is passed over.
"""

from typing import Final

from pmem.core.context.filling import Filling
from pmem.core.context.parts import Candidates, Context, Counter, Format

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

    The system prompt comes first. The stable block takes at most half of recall's share,
    recent messages at most theirs, summaries a quarter of recall's if there are so many. What
    answers the query takes what is left, and what that leaves goes to older recent messages,
    to older summaries, and to further memories. Where nobody asked, recent messages and
    summaries come before what was recalled.

    Args:
        title: The first line.
        candidates: What could go in.
        budget: Tokens for the whole text, as `count` counts them.
        recent_share: The recent messages' share of the budget, from 0 to 1.
        format_: How the context is written.
        count: Counts a text's tokens.

    Returns:
        A context whose text is never over the budget; empty when nothing fits.
    """
    filling = Filling(title, candidates, budget, format_, count)
    room = filling.left()
    recall_share = 1 - recent_share
    filling.add("system", candidates.system)
    share = candidates.memory_share
    share = recall_share * STABLE_SHARE if share is None else share
    most = min(int(budget * share), filling.left_for_certain())
    memory = Candidates(memory=candidates.memory, mark=candidates.mark)
    alone = Filling(title, memory, budget, format_, count)
    filling.add("memory", alone.block("memory", candidates.memory, most))
    filling.add("updates", candidates.updates)
    filling.converse(int(room * recent_share))
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
    return _finished(filling, budget, count)


def _finished(filling: Filling, budget: int, count: Counter) -> Context:
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
    return Context(
        text=text,
        tokens=tokens,
        budget=budget,
        sections=filling.bill(),
        omitted=tuple(filling.omitted()),
        revision=None,
    )
