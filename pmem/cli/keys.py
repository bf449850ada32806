"""Keys that people press at a terminal, one by one."""

import os

_END = (b"", b"\x04", b"\0")
"""What Ctrl-D sends; a zero if it was pressed before anybody asked."""
_LONGEST = 32


def next_key(terminal: int) -> str:
    """Return the key that is pressed next; nothing where there are none any more.

    A key that was pressed before it was asked for counts, and one that sends several characters,
    as an arrow does, is one key.
    """
    try:
        import termios
        import tty
    except ImportError:  # Windows
        from typer import getchar

        return getchar()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSADRAIN)
    try:
        return _pressed_at(terminal)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _pressed_at(terminal: int) -> str:
    from select import select

    data = os.read(terminal, 1)
    if data in _END:
        return ""
    if data.isascii() and data != b"\x1b":
        return data.decode()
    while len(data) < _LONGEST and select([terminal], [], [], 0)[0]:
        data += os.read(terminal, 1)
    return data.decode("utf-8", "replace")
