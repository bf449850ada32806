"""How an index says no."""


class BrokenIndex(Exception):
    """An index turned out to hold nonsense: it is thrown away, and made again."""
