"""What fades when nobody uses it, how fast, and what never does.

A project does not forget by the calendar. Decisions, constraints, procedures, preferences and
goals, what is pinned, and what apps remember are kept however old they are. S2's manner, in which
everything but what is pinned fades alike, is there for those who set it.
"""

from collections.abc import Mapping

import msgspec

from pmem.values.config import Settings
from pmem.values.defaults import HALF_LIFE_DAYS
from pmem.values.records import Memory, MemoryType


class FadingRules(msgspec.Struct, frozen=True, kw_only=True):
    """What fades.

    Attributes:
        half_lives: Days without use that halve what fades, by a memory's type; a type that is not
            named never fades.
        episodes: The same for episodes.
        keeps_apps: Whether what apps remember never fades.
        least: How many active memories stay whatever fades.
    """

    half_lives: Mapping[MemoryType, float]
    episodes: float
    keeps_apps: bool
    least: int


def fading_by_type(facts: float, entities: float, insights: float, least: int) -> FadingRules:
    """Return the rules by which only what is bound to its time fades.

    The first three are days without use that halve one; episodes fade as facts do. `least` active
    memories stay whatever fades.
    """
    half_lives = {
        MemoryType.FACT: facts,
        MemoryType.ENTITY: entities,
        MemoryType.INSIGHT: insights,
    }
    return FadingRules(half_lives=half_lives, episodes=facts, keeps_apps=True, least=least)


def fading_of_s2(half_life_days: float) -> FadingRules:
    """Return the rules of S2, by which everything that is not pinned fades alike."""
    half_lives = dict.fromkeys(MemoryType, half_life_days)
    return FadingRules(half_lives=half_lives, episodes=half_life_days, keeps_apps=False, least=0)


def fading_rules(settings: Settings) -> FadingRules:
    """Return what fades, as the settings say."""
    if settings.decay == "s2":
        return fading_of_s2(HALF_LIFE_DAYS)
    return fading_by_type(**msgspec.structs.asdict(settings.fading))


def half_life_of(memory: Memory, rules: FadingRules) -> float | None:
    """Return the days without use that halve a memory; None for one that never fades."""
    if memory.pinned or (rules.keeps_apps and memory.scope.app is not None):
        return None
    return rules.half_lives.get(memory.type)
