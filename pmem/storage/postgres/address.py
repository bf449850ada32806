"""The address of a server, and how it is shown: never with a password."""

from functools import cache
from typing import Any, Final

from pmem.errors import InvalidValue

INSTALL: Final = "pip install 'pmem-cli[postgres]'"
_UNREADABLE: Final = "the address of the database cannot be read"
_ESCAPE: Final = "write / ? # @ in a name or a password as %2F %3F %23 %40"
_HINT: Final = "write it like postgresql://me@db.example.org/team"
_PLAIN: Final = frozenset({"host", "hostaddr", "port", "dbname"})


def parts_of(address: str) -> dict[str, Any]:
    """Take an address apart.

    Args:
        address: A URL or a connection string, as PostgreSQL's own programs take it.

    Raises:
        InvalidValue: It is neither, or the extra is not installed. The sentence does not quote
            it: a password may be in it.
    """
    psycopg = driver()
    user, at, _ = address.partition("://")[2].rpartition("@")
    if at and any(sign in user for sign in "/?#"):
        raise InvalidValue(_UNREADABLE, _ESCAPE)  # a part of a password would be taken for a host
    try:
        return dict(psycopg.conninfo.conninfo_to_dict(address))
    except (psycopg.Error, UnicodeError, ValueError):
        raise InvalidValue(_UNREADABLE, _HINT) from None


def shown_address(address: str) -> str:
    """Return an address as people may see it: where it is, and nothing of who connects.

    Args:
        address: See `parts_of`.
    """
    parts = {key: str(value) for key, value in parts_of(address).items() if key in _PLAIN}
    host = parts.get("host") or parts.get("hostaddr") or "this machine"
    port = f":{parts['port']}" if "port" in parts else ""
    return f"{parts.get('dbname', 'the default database')} on {host}{port}"


def driver() -> Any:
    """Load psycopg.

    Raises:
        InvalidValue: It is not installed.
    """
    try:
        import psycopg
        import psycopg.conninfo
        import psycopg.errors
    except ImportError as error:
        raise InvalidValue(f"a database needs the extra `postgres`: {error}", INSTALL) from None
    _silence()
    return psycopg


@cache
def _silence() -> None:
    """Keep the driver from writing to standard error: what goes wrong is said in one sentence."""
    import logging

    logging.getLogger("psycopg").addHandler(logging.NullHandler())
