"""The only module that prints. Data goes to standard output, talk to standard error."""

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, NoReturn, TextIO, TypeVar

    from msgspec import Struct

    from pmem.cli.session import Answer, CommandSession, Line
    from pmem.errors import PmemError

    T = TypeVar("T", bound=Struct)

_PROGRESS_STEPS = 200
_COUNTED = 500  # from one count to the next, where nobody knows how many there are


def show(session: "CommandSession", answer: "Answer") -> None:
    """Print a command's answer, and say what could not be read on the way."""
    try:
        _show(session, answer)
    except BrokenPipeError:
        raise
    except OSError as error:
        from pmem.errors import StorageRefused

        raise StorageRefused(f"standard output cannot be written: {error.strerror}") from None


def _show(session: "CommandSession", answer: "Answer") -> None:
    if session.json:
        from pmem.operations.operation import data_line, plain_form

        _write_bytes(data_line(plain_form(answer.data)))
    elif session.quiet and session.changes and not answer.exit_code:
        pass
    elif answer.raw is not None:
        _write(sys.stdout, clean(answer.raw) if sys.stdout.isatty() else answer.raw)
    elif answer.screen is not None and (sys.stdout.isatty() or not answer.lines):
        _show_lines(session, answer.screen(_columns(sys.stdout)))
    else:
        _show_lines(session, answer.lines)
    sys.stdout.flush()
    if not session.quiet and not session.is_telling:
        _show_notes(session, answer)
        if not answer.exit_code and session.broken_settings:
            print_note(f"pmem: {session.broken_settings}")


def _columns(stream: "TextIO") -> int:
    """Return how wide a terminal is; elsewhere a line is as long as what it says."""
    from shutil import get_terminal_size

    return get_terminal_size().columns if stream.isatty() else sys.maxsize


def fail(session: "CommandSession", error: "PmemError") -> None:
    """Print an error: one sentence, and what to do next."""
    if session.json:
        from pmem.operations.operation import error_line

        _write(sys.stderr, error_line(error).decode())
        return
    from pmem.project.masking import message_of

    message, hint = (message_of(session.opened, text) for text in (error.message, error.hint))
    _write(sys.stderr, f"pmem: {clean(message)}\n")
    if hint:
        _write(sys.stderr, f"hint: {clean(hint)}\n")


def masked(data: "T", *fields: str) -> "T":
    """Return an answer's data without the secrets in what it repeats of the command line."""
    from msgspec.structs import replace

    from pmem.core.secrets import unsecret

    return replace(data, **{name: unsecret(getattr(data, name)) for name in fields})


def progress(session: "CommandSession", what: str) -> "Callable[[int, int], None]":
    """Return what reports progress: a line on a terminal, nothing elsewhere."""
    if session.quiet or session.json or not sys.stderr.isatty():
        return lambda done, total: None

    def report(done: int, total: int) -> None:
        step = max(1, total // _PROGRESS_STEPS) if total else _COUNTED
        if done and (done == total or done % step == 0):
            of = f" of {total}" if total else ""
            _write(sys.stderr, f"\r{what}: {done}{of}" + "\n" * (done == total))
            sys.stderr.flush()

    return report


def confirmed(question: str) -> bool:
    """Ask somebody at a terminal."""
    _write(sys.stderr, f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def draws(session: "CommandSession") -> bool:
    """Tell whether the answer is drawn on a terminal, and not written for programs."""
    return not session.json and sys.stdout.isatty()


def drawn(
    session: "CommandSession", screen: str, *given: "Any", **named: "Any"
) -> "Callable[[int], Iterable[Line]]":
    """Return what draws a screen, such as `lists.memory_screen`, on a terminal of so many cells."""

    def draw(width: int) -> "Iterable[Line]":
        from importlib import import_module

        from pmem.cli.screens.drawing import view_of

        module, _, name = screen.partition(".")
        function = getattr(import_module(f"pmem.cli.screens.{module}"), name)
        lines: Iterable[Line] = function(*given, view_of(session, width), **named)
        return lines

    return draw


def can_ask() -> bool:
    """Tell whether there is a terminal with somebody to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def tell(session: "CommandSession", lines: "Iterable[Line]") -> None:
    """Print lines at once, on a terminal, before the command's answer."""
    _show_lines(session, lines)
    sys.stdout.flush()


def read_key(prompt: str) -> str:
    """Ask for one key on a terminal; return nothing where there are no keys any more."""
    _write(sys.stdout, prompt)
    sys.stdout.flush()
    key = next_key(sys.stdin.fileno())
    _write(sys.stdout, f"{clean(key)}\n")
    return key


def leave(code: int, last: "str | bytes" = "") -> "NoReturn":
    """Leave the process at once, with a last word written; bytes are written as they are."""
    try:
        if isinstance(last, bytes):
            _write_bytes(last)
        elif last:
            _write(sys.stdout, last)
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        pass
    except OSError as error:
        code = 74
        os.write(2, f"pmem: standard output cannot be written: {error.strerror}\n".encode())
    os._exit(code)


def clean(text: str) -> str:
    """Make visible what a terminal would act on and people would not see."""
    if text.isascii() and text.isprintable():
        return text
    from pmem.core.visible import visible

    return visible(text)


def _show_lines(
    session: "CommandSession", lines: "Iterable[Line]", *, on_error: bool = False
) -> None:
    stream = sys.stderr if on_error else sys.stdout
    if stream.isatty():
        from pmem.cli.screens.drawing import all_hung

        lines = all_hung(lines, _columns(stream))
    if session.no_color or not stream.isatty():
        for line in lines:
            _write(stream, clean("".join(text for text, _ in line)) + "\n")
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True, stderr=on_error)
    for line in lines:
        console.print(Text.assemble(*[(clean(text), style) for text, style in line]))


def _show_notes(session: "CommandSession", answer: "Answer") -> None:
    if answer.receipt is not None:
        _show_lines(session, answer.receipt(_columns(sys.stderr)), on_error=True)
    elif answer.note:
        print_note(answer.note, session, answer)
    for done in session.outcomes:
        for line in done.notes:
            print_note(line, session, answer)
    from pmem.cli.session import note_on_place

    if place := note_on_place(session):
        print_note(f"pmem: {place}")
    for problem in dict.fromkeys(each for done in session.outcomes for each in done.problems):
        print_note(f"pmem: left out: {problem.message}")


def print_note(
    text: str, session: "CommandSession | None" = None, answer: "Answer | None" = None
) -> None:
    """Print a line on standard error, without secrets; the ids in an answer are none."""
    from pmem.core.secrets import find

    if find(text):
        from msgspec import to_builtins

        from pmem.operations.operation import plain_form
        from pmem.project.masking import message_of

        data = None if answer is None else to_builtins(plain_form(answer.data))
        text = message_of(None if session is None else session.opened, text, data)
    _write(sys.stderr, f"{clean(text)}\n")


def _write(stream: "TextIO", text: str) -> None:
    try:
        stream.write(text)
    except UnicodeEncodeError:
        encoding: Any = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def _write_bytes(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)


_CTRL_D = (b"", b"\x04", b"\0")  # what Ctrl-D sends; a zero if it was pressed before anybody asked
_LONGEST_KEY = 32


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
        while is_sequence and len(data) < _LONGEST_KEY and select([terminal], [], [], 0)[0]:
            data += os.read(terminal, 1)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
    return "" if data in _CTRL_D else data.decode("utf-8", "replace")
