"""The only module that prints. Data goes to standard output, talk to standard error."""

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, NoReturn, TextIO

    from pmem.cli.session import Answer, Line, Session
    from pmem.errors import PmemError

SCHEMA = "pmem/1"
_HIDDEN = (
    (0x00, 0x08),
    (0x0B, 0x1F),
    (0x7F, 0x9F),
    (0x061C, 0x061C),
    (0x200B, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x2069),
    (0xD800, 0xDFFF),
    (0xFEFF, 0xFEFF),
    (0xE0000, 0xE007F),
)
"""Ranges of characters that a terminal acts on, or that people do not see."""
_PROGRESS_STEPS = 200


def show(session: "Session", answer: "Answer") -> None:
    """Print a command's answer, and say what could not be read on the way.

    Args:
        session: How to print.
        answer: What to print.
    """
    from pmem.records import dump_line

    if session.json:
        _write_bytes(dump_line({"schema": SCHEMA, "data": answer.data}) + b"\n")
    elif answer.raw is not None:
        _write(sys.stdout, clean(answer.raw) if sys.stdout.isatty() else answer.raw)
    else:
        _show_lines(session, answer.lines)
    sys.stdout.flush()
    if not session.quiet:
        _show_notes(session, answer.note)


def fail(session: "Session", error: "PmemError") -> None:
    """Print an error: one sentence, and what to do next.

    Args:
        session: How to print.
        error: What went wrong.
    """
    from pmem.records import dump_line

    if session.json:
        value = {"code": error.code, "message": error.message, "hint": error.hint}
        line = dump_line({"schema": SCHEMA, "error": value}).decode()
        _write(sys.stderr, f"{line}\n")
        return
    _write(sys.stderr, f"pmem: {clean(error.message)}\n")
    if error.hint:
        _write(sys.stderr, f"hint: {clean(error.hint)}\n")


def progress(session: "Session", what: str) -> "Callable[[int, int], None]":
    """Return what reports progress: a line on a terminal, nothing elsewhere.

    Args:
        session: How to print.
        what: What is counted.
    """
    if session.quiet or session.json or not sys.stderr.isatty():
        return lambda done, total: None

    def report(done: int, total: int) -> None:
        if done == total or done % max(1, total // _PROGRESS_STEPS) == 0:
            end = "\n" if done == total else ""
            _write(sys.stderr, f"\r{what}: {done} of {total}{end}")
            sys.stderr.flush()

    return report


def confirmed(question: str) -> bool:
    """Ask on a terminal; without one, nobody can be asked and the answer is yes."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    _write(sys.stderr, f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def leave(code: int, text: str = "") -> "NoReturn":
    """Leave the process at once, with everything written.

    Args:
        code: The exit code.
        text: A last word for standard output.
    """
    try:
        if text:
            _write(sys.stdout, text)
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        pass
    except OSError as error:
        code = 74
        os.write(2, f"pmem: standard output cannot be written: {error.strerror}\n".encode())
    os._exit(code)


def clean(text: str) -> str:
    """Make control, bidirectional, zero-width and tag characters visible.

    A terminal would act on them, and people would not see them. Line breaks and tabs stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    code = ord(character)
    hidden = any(first <= code <= last for first, last in _HIDDEN)
    return f"\\u{{{code:x}}}" if hidden else character


def _show_lines(session: "Session", lines: "Iterable[Line]") -> None:
    if session.no_color or not sys.stdout.isatty():
        for line in lines:
            _write(sys.stdout, clean("".join(text for text, _ in line)) + "\n")
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for line in lines:
        console.print(Text.assemble(*[(clean(text), style) for text, style in line]))


def _show_notes(session: "Session", note: str) -> None:
    if note:
        _write(sys.stderr, f"{clean(note)}\n")
    workspace = session.opened
    for problem in workspace.problems if workspace else ():
        _write(sys.stderr, f"pmem: left out: {clean(problem.message)}\n")


def _write(stream: "TextIO", text: str) -> None:
    try:
        stream.write(text)
    except UnicodeEncodeError:
        encoding: Any = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def _write_bytes(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
