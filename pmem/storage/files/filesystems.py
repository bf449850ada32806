"""What file system a folder is on, where the system tells, and what that means for locks."""

import os
from typing import Final

_MOUNTS: Final = "/proc/self/mountinfo"
_SHARED: Final = frozenset(
    "9p afs ceph cifs coda davfs glusterfs lustre ncpfs nfs nfs4 smb2 smb3 smbfs vboxsf"
    " vmhgfs".split()
)
"""Kinds that several computers may have mounted at once."""
_USER: Final = "fuse"


def kind_of(folder: str, mounts: str = _MOUNTS) -> str | None:
    """Return the kind of file system that a folder is on, such as `ext4`; None where nobody tells.

    Args:
        folder: The folder.
        mounts: The system's table of mounts, as Linux has it in proc(5).
    """
    try:
        with open(mounts, encoding="utf-8", errors="surrogateescape") as file:
            lines = [line.split(" ") for line in file]
    except OSError:
        return None
    place = os.path.realpath(folder)
    found: tuple[int, str] | None = None
    for words in lines:
        if "-" in words[6:] and _is_below(place, point := _unescaped(words[4])):
            kind = words[words.index("-", 6) + 1]
            if found is None or len(point) >= found[0]:  # the latest mount hides earlier ones
                found = (len(point), kind)
    return found and found[1]


def is_shared(kind: str) -> bool:
    """Tell whether a lock on such a file system may not exclude other computers.

    Args:
        kind: See `kind_of`.
    """
    return kind in _SHARED or kind == _USER or kind.startswith(f"{_USER}.")


def _is_below(place: str, point: str) -> bool:
    return point in ("/", place) or place.startswith(f"{point}/")


def _unescaped(text: str) -> str:
    """Read a path of the table, in which blanks and backslashes are octal escapes."""
    for octal, letter in (("040", " "), ("011", "\t"), ("012", "\n"), ("134", "\\")):
        text = text.replace(f"\\{octal}", letter)
    return text
