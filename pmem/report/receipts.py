"""What the model seess: what contexts hold for a few tasks, each within a few budgets."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from pmem.core.context.parts import Omitted
from pmem.core.filters import fold
from pmem.project.workspace import Workspace
from pmem.report.document import LeftOut, Receipt, ReceiptItem
from pmem.search.context_reasons import say_why
from pmem.search.context_request import BuiltContext, ContextRequest
from pmem.search.contexts import build_context
from pmem.values.records import Memory, MemoryType, State

DEFAULT_BUDGETS: Final = (200, 400, 800, 1600, 3200, 6400)
"""The places of the slider, in tokens."""
MOST_TASKS: Final = 12
MOST_LEFT_OUT: Final = 60
"""So many of the candidates that are left out are named."""
MOST_NAMED: Final = 1_000
"""Of a larger memory a context tells only what it leaves out of all that came near."""
_OWN_TASKS: Final = 3


def write_receipts(
    workspace: Workspace, memories: Sequence[Memory], tasks: Sequence[str], budgets: Sequence[int]
) -> Iterator[Receipt]:
    """Yield a receipt for each task within each budget.

    Args:
        memories: Those that the report shows; what is named in full elsewhere.
        tasks: What is asked for; a few that the memory suggests when empty.
        budgets: In tokens.

    Raises:
        InvalidValue: A budget is below one token.
    """
    active = [memory for memory in memories if memory.state is State.ACTIVE]
    known = {memory.id for memory in memories}
    names_all = len(active) <= MOST_NAMED
    asked = tuple(tasks[:MOST_TASKS]) or (tuple(suggest_tasks(active)) if active else ())
    for task in asked:
        for budget in sorted(set(budgets)):
            request = ContextRequest(
                query=task or None,
                budget=budget,
                only="memories",
                ids=True,
                counts=False,
                omitted=names_all,
            )
            yield _receipt(task, build_context(workspace, request), known, len(active))


def suggest_tasks(active: Sequence[Memory]) -> Iterator[str]:
    """Yield tasks that a memory knows: a session's start, its latest goals, its main subjects.

    Args:
        active: The active memories, the oldest first.
    """
    yield ""
    goals = [memory.content for memory in active if memory.type is MemoryType.GOAL]
    subjects = Counter(fold(memory.subject) for memory in active if memory.subject)
    named = sorted(subjects, key=lambda name: (-subjects[name], name))
    yield from list(dict.fromkeys([*goals[::-1][:2], *named]))[:_OWN_TASKS]


def _receipt(task: str, built: BuiltContext, known: set[str], many: int) -> Receipt:
    omitted = sorted(built.omitted, key=_rank)
    shown = sum(len(part.items) for part in built.sections)
    reasons = dict(Counter(say_why(left.reason) for left in omitted).most_common())
    further = many - shown - len(omitted)
    if further > 0:
        reasons["further from the task"] = further
    return Receipt(
        task=task,
        budget=built.budget,
        tokens=built.tokens,
        text=built.text,
        spent={part.name: part.tokens for part in built.sections if part.tokens},
        items=tuple(
            ReceiptItem(
                id=item.id,
                section=part.name,
                why=item.reason or say_why(item.why or part.name),
                score=None if item.score is None else round(item.score, 3),
                text="" if item.id in known else item.text,
            )
            for part in built.sections
            for item in part.items
        ),
        left_out=tuple(
            LeftOut(
                id=left.id,
                reason=say_why(left.reason),
                score=None if left.score is None else round(left.score, 3),
            )
            for left in omitted
            if left.id in known
        )[:MOST_LEFT_OUT],
        reasons=reasons,
    )


def _rank(left: Omitted) -> tuple[float, str]:
    return (-(left.score or 0.0), left.id)
