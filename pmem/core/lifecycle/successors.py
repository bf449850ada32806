"""Whether a record was removed by somebody who knew for which others it stood."""

from pmem.core.lifecycle.states import takes_in
from pmem.values.records import Episode, Memory, State


def was_unseen(heir: Memory | Episode | None, identifier: str) -> bool:
    """Tell whether a record left recall before it took another one's place, on another branch.

    Of an heir that cannot be read (None) nothing is known.
    """
    if heir is None or heir.state not in (State.SOFT_DELETED, State.ARCHIVED):
        return False
    places = {"state": -1, "taken": -1}
    for place, event in enumerate(heir.history):
        if "state" in event.before:
            places["state"] = place
        if takes_in(event, identifier):
            places["taken"] = place
    return places["taken"] > places["state"]
