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
    from select import select

    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSADRAIN)
    try:
        data = os.read(terminal, 1)
        is_sequence = not data.isascii() or data == b"\x1b"
        while is_sequence and len(data) < _LONGEST and select([terminal], [], [], 0)[0]:
            data += os.read(terminal, 1)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
    return "" if data in _END else data.decode("utf-8", "replace")
