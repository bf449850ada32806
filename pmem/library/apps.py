"""What a project does for apps, each of which sees its own memories only."""

from collections.abc import Callable
from typing import Any

from pmem.library.calls import call, part
from pmem.operations import table


class Apps:
    """Operations on apps' memories. Threads may share it, as they may the project."""

    def __init__(self, run: Callable[..., Any]) -> None:
        self._run = run

    remember = call(table.REMEMBER, "app", "content")
    all = part(table.APPS, of=lambda found: found.items)
    list = call(table.APP_MEMORIES, "app", "user")
    show = call(table.APP_MEMORY, "app", "reference")
    context = call(table.APP_CONTEXT, "app", "conversation", "user")
    compact = call(table.COMPACT, "app")
    delete = call(table.APP_DELETE, "app", "reference")
    purge = call(table.APP_PURGE, "app")
    uninstall = call(table.UNINSTALL, "app")
    stats = call(table.APP_STATS)
    poll_energy = part(table.POLL_ENERGY, of=lambda found: found.spent)
