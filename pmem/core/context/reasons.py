"""Why something is in a context, or is not, in plain words."""

from typing import Final

REASONS: Final = {
    "pinned": "it is pinned",
    "importance": "it is among the most important",
    "rule": "it is a rule of the whole project",
    "lifted": "it is among the most important",
    "whole": "contexts show all of its category",
    "answers": "it answers the task",
    "place": "it applies to a file or a name that the task is about",
    "kin": "it has the same subject as an answer",
    "related": "an answer is linked to it",
    "few": "all memories fit into half of the budget",
    "system": "it is the system prompt",
    "memory": "it stands in every context",
    "updates": "it is new to the thread",
    "recalled": "it answers the task",
    "yours": "it is a rule of your own",
    "further": "there is room left",
    "summaries": "it sums up earlier messages",
    "earlier": "it answers the task",
    "recent": "it is recent",
    "over_budget": "its share of the budget is spent",
    "pinned_over_budget": "it is pinned, but the budget is too small for it",
    "no_match": "nothing connects it with the task",
    "below_threshold": "it has too little to do with the task",
    "unasked": "it is shown where it answers a task",
    "over_length": "there are enough of its category",
    "repeated": "something shown says the same",
    "mode_none": "contexts leave its category out",
    "not_valid_yet": "it is not valid yet",
    "expired": "it has expired",
    "pruned": "pruning hides it",
    "settled": "it is a dead end that was settled",
}
"""The reasons that contexts give, and the names of their sections, as a reader takes them."""


def say_why(reason: str) -> str:
    """Return a reason in plain words; one that nobody wrote down stays as it is, in words."""
    return REASONS.get(reason, reason.replace("_", " "))
