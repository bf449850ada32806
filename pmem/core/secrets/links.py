"""Passwords in addresses: `scheme://user:password@host`."""

import re
from collections.abc import Iterator
from typing import Final

from pmem.core.secrets.false_positives import is_usual
from pmem.core.secrets.lazy import lazily
from pmem.core.secrets.secret import Secret

MARK: Final = "://"
_USER: Final = lazily(r"([^\s/?#@:\"'<>`(){}\[\]$]{0,128}+):([^\s/\"'<>`{}]{1,256})@(?=[\w\[.-])")
_VARIABLE: Final = lazily(r"^\$[A-Za-z_]\w*$|\$[({]")
_SCHEME: Final = lazily(r"[a-z][a-z0-9+.-]{1,20}$", re.IGNORECASE)
_LONGEST_SCHEME: Final = 21
_WEB: Final = ("http", "https", "git", "ftp", "ssh", "svn", "ws", "wss")


def passwords(text: str) -> Iterator[Secret]:
    """Yield the passwords in the addresses of a text."""
    place = text.find(MARK)
    while place >= 0:
        start = place + len(MARK)
        match = _USER.match(text, start)
        scheme = _SCHEME.search(text[max(0, place - _LONGEST_SCHEME) : place])
        if match and scheme and not _is_none(*match.groups()):
            web = scheme[0].lower().partition("+")[0] in _WEB
            yield Secret("url-password" if web else "connection-password", *match.span(2))
        place = text.find(MARK, match.end() if match else start)


def _is_none(user: str, password: str) -> bool:
    """Tell whether a password stands for one: it is the user's name, or everybody's first."""
    is_given = password.startswith("%") or _VARIABLE.search(password) is not None
    return password == user or is_usual(password) or is_given
