"""What a command needs beside pmem itself, and how to get it."""

from collections.abc import Iterator
from contextlib import contextmanager

from pmem.errors import InvalidValue


@contextmanager
def needing(extra: str, command: str) -> Iterator[None]:
    """Import in its body what an extra brings."""
    try:
        yield
    except ImportError as error:
        raise InvalidValue(
            f"`{command}` needs the extra `{extra}`: {error}", f"pip install 'pmem-cli[{extra}]'"
        ) from None
