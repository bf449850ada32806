"""Patterns that are compiled when the first text asks: most texts need few of them."""

from typing import TYPE_CHECKING, Any, AnyStr, cast

if TYPE_CHECKING:
    import re


class _LazyPattern:
    """Stands for a pattern until something is asked of it."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        import re

        found = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found


def lazily(pattern: AnyStr, flags: int = 0) -> "re.Pattern[AnyStr]":
    """Return a pattern that is compiled at its first use."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))
