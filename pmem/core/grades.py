"""Importance in five grades, as agents ask for it and are told.

Importance lies between 0 and 1 in a record: grade n is everything above (n - 1) / 5, up to n / 5.
"""

from math import inf, nextafter
from typing import Final

GRADES: Final = 5


def lowest(grade: int) -> float:
    """Return the least importance of a grade."""
    return 0.0 if grade == 1 else nextafter((grade - 1) / GRADES, inf)


def grade(importance: float) -> int:
    """Return the grade of an importance between 0 and 1."""
    return next(n for n in range(1, GRADES + 1) if importance <= n / GRADES or n == GRADES)
