"""The command line: it builds requests and prints answers, and decides nothing."""

import gc
import os
import signal
import sys

_COLLECTED_AFTER = 500_000
"""New objects after which Python looks for circles of them: a command soon leaves them all."""


def main() -> None:
    """Run pmem on the process's arguments and leave with its exit code.

    An interrupt ends the process at once and without a word, wherever it is: what holds when it
    is killed holds then, too, and no code of ours could swallow it or answer with a traceback.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # nobody asked to ignore it
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(_COLLECTED_AFTER)
    _fill_closed_streams()
    from pmem.cli.render import leave

    if "_PMEM_COMPLETE" in os.environ:
        from pmem.cli.completion import answer as completed

        leave(0, completed(os.environ))
    if sys.argv[1:] == ["--version"]:
        from pmem import __version__

        leave(0, f"pmem {__version__}\n")
    if sys.argv[1:2] in (["merge-driver"], ["textconv"]):
        from pmem.vcs.gitmerge import run as run_for_git

        leave(*run_for_git(sys.argv[1], sys.argv[2:]))
    if sys.argv[1:2] == ["hook"]:
        from pmem.cli.hook import quick_answer

        answer = quick_answer(sys.argv[2:], os.environ)
        if answer is not None:
            leave(0, answer.encode())
    from pmem.cli.app import run

    leave(run(sys.argv[1:]))


def _fill_closed_streams() -> None:
    """Give closed streams a place to go, so that no file of ours gets their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
