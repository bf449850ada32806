"""What apps remember: a few memories each, seen by that app alone (see docs/apps.md)."""

from pmem.apps.figures import AppFigures, Energy, Polled
from pmem.apps.reading import (
    AppContext,
    AppContextRequest,
    AppListing,
    AppLookRequest,
    AppOverview,
    AppOverviews,
    AppShowRequest,
)
from pmem.apps.remembering import CompactRequest, Remembered, RememberRequest, on_end
from pmem.apps.removal import AppDeleteRequest, Purged, Uninstalled, UninstallRequest
from pmem.memory.app_limit import Compacted
from pmem.memory.app_memories import AppMemory, AppRequest, Decided
from pmem.memory.app_models import Decider, Models, Summariser, Talk

__all__ = [
    "AppContext",
    "AppContextRequest",
    "AppDeleteRequest",
    "AppFigures",
    "AppListing",
    "AppLookRequest",
    "AppMemory",
    "AppOverview",
    "AppOverviews",
    "AppRequest",
    "AppShowRequest",
    "CompactRequest",
    "Compacted",
    "Decided",
    "Decider",
    "Energy",
    "Models",
    "Polled",
    "Purged",
    "RememberRequest",
    "Remembered",
    "Summariser",
    "Talk",
    "UninstallRequest",
    "Uninstalled",
    "on_end",
]
