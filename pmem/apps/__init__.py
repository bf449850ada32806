"""What apps remember: a few memories each, seen by that app alone (see docs/apps.md)."""

from pmem.apps.figures import AppFigures, Energy, poll_energy, statistics
from pmem.apps.reading import AppContext, AppListing, AppOverview, apps, context, listing, show
from pmem.apps.remembering import Remembered, RememberRequest, on_end, remember, tidy
from pmem.apps.removal import Purged, Uninstalled, delete, purge, uninstall
from pmem.memory.app_limit import Compacted
from pmem.memory.app_memories import AppMemory, Decided
from pmem.memory.app_models import Decider, Models, Summariser, Talk

__all__ = [
    "AppContext",
    "AppFigures",
    "AppListing",
    "AppMemory",
    "AppOverview",
    "Compacted",
    "Decided",
    "Decider",
    "Energy",
    "Models",
    "Purged",
    "RememberRequest",
    "Remembered",
    "Summariser",
    "Talk",
    "Uninstalled",
    "apps",
    "context",
    "delete",
    "listing",
    "on_end",
    "poll_energy",
    "purge",
    "remember",
    "show",
    "statistics",
    "tidy",
    "uninstall",
]
