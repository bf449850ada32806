"""Run a command, and print what it cost: CPU seconds, the most memory in bytes, the exit code.

A process of its own, for what a child inherits of a large parent would be counted as its own.
"""

import json
import os
import resource
import sys

MOST_SECONDS = 60


def main(command: list[str]) -> None:
    """Run a command without input and without its output, and print its cost as JSON."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nothing, stream)
        os.execv(command[0], command)
    _, status, used = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, code]))


if __name__ == "__main__":
    main(sys.argv[1:])
