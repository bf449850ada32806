"""The root of the command line: it runs the command, and turns every error into an exit code.

Any function of this package may raise a `PmemError`: a command ends with its sentence.
"""

import os
import sys
from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from typing import Any, Final

from pmem.cli import render
from pmem.cli.parsing import parse
from pmem.cli.session import Answer, CommandSession, utf8
from pmem.errors import InvalidValue, PmemError, StorageRefused, Unfinished

_HOOK: Final = "hook"
"""The command that never fails: assistants take any other exit code for an order to stop."""


def run(arguments: Sequence[str], session: CommandSession | None = None) -> int:
    """Run one command line, print its answer and return the exit code."""
    session = session or CommandSession(os.environ)
    session.arguments = arguments
    session.telling = partial(render.progress, session, "records read")
    try:
        answer = _computed(session, arguments)
        if not isinstance(answer, Answer):
            return int(answer or 0)
        render.show(session, answer)
        return answer.exit_code
    except PmemError as error:
        wrote = any(done.has_written for done in session.outcomes) or (
            session.opened is not None and session.opened.has_written
        )
        if wrote and isinstance(error, StorageRefused):  # something did happen
            error = Unfinished(error.message)
        render.fail(session, error)
        return 0 if arguments[:1] == [_HOOK] else error.exit_code
    except (KeyboardInterrupt, EOFError):
        return 130
    except BrokenPipeError:
        # nobody reads on: stop without a word, and keep the interpreter from flushing
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        return _tell_bug(session, error)
    finally:
        session.close()


def _computed(session: CommandSession, arguments: Sequence[str]) -> Any:
    options = takewhile("--".__ne__, arguments)
    session.json = "--json" in options  # also when things go wrong before options are read
    for argument in arguments:
        if "\0" in utf8(argument, "an argument"):
            raise InvalidValue(f"an argument has a zero byte: {argument!r}", "leave it out")
    parsed = parse(arguments)
    if parsed is not None:
        return parsed.run(session)
    from pmem.cli.tree import run_line

    return run_line(session, arguments)


def _tell_bug(session: CommandSession, error: Exception) -> int:
    """Say one sentence about what should never happen, and keep the rest for a report."""
    import traceback

    from pmem.core.secrets import unsecret
    from pmem.project.failures import note_failure

    trace = unsecret("".join(traceback.format_exception(error)))
    where = None if session.opened is None else note_failure(session.opened, trace)
    sentence = f"this is a bug in pmem: {type(error).__name__}: {error}"
    if where is None:
        render.fail(session, PmemError(f"{sentence}\n{trace}"))
    else:
        render.fail(session, PmemError(sentence, f"please report it with {where}"))
    return PmemError.exit_code
