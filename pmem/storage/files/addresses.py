"""How a database's file is named when it is opened in a certain way."""

import os


def address(path: str, mode: str) -> str:
    """Return the address of a database.

    Args:
        path: Its file.
        mode: SQLite's word for what may be done: `ro`, `rw` or `rwc`.
    """
    path = os.path.abspath(path)
    for letter in "%?#":
        path = path.replace(letter, f"%{ord(letter):02x}")
    return f"file://{path if os.name != 'nt' else '/' + path.replace(os.sep, '/')}?mode={mode}"
