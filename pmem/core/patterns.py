"""Patterns that are compiled when the first text asks: most texts need few of them."""

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import re


class _LazyPattern:
    """Stands for a pattern until something is asked of it."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        import re

        found = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found


def lazily(pattern: str, flags: int = 0) -> "re.Pattern[str]":
    """Return a pattern that is compiled at its first use."""
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))
