"""What a memory is worth, and which category it has, when nobody says."""

from math import inf, nextafter
from typing import Final

from pmem.values.records import MemoryType

LINK_AT: Final = 0.6
"""Similarity from which two memories are linked, and a person is asked whether both are needed."""

_DEFAULTS: Final = {
    MemoryType.FACT: (0.5, "knowledge"),
    MemoryType.DECISION: (0.7, "project"),
    MemoryType.PREFERENCE: (0.6, "preference"),
    MemoryType.ENTITY: (0.5, "context"),
    MemoryType.PROCEDURE: (0.5, "procedural"),
    MemoryType.CONSTRAINT: (0.6, "constraints"),
    MemoryType.GOAL: (0.8, "goals"),
    MemoryType.INSIGHT: (0.4, "knowledge"),
    MemoryType.DEAD_END: (0.8, "project"),
}
DEFAULT_IMPORTANCE: Final = {type_: importance for type_, (importance, _) in _DEFAULTS.items()}
DEFAULT_CATEGORY: Final = {type_: category for type_, (_, category) in _DEFAULTS.items()}
GRADES: Final = 5


def lowest(grade: int) -> float:
    """Return the least importance of a grade."""
    return 0.0 if grade == 1 else nextafter((grade - 1) / GRADES, inf)


def grade(importance: float) -> int:
    """Return the grade of an importance between 0 and 1."""
    return next(n for n in range(1, GRADES + 1) if importance <= n / GRADES or n == GRADES)
