"""Look for examples that fail: every property test again and again, each time with a new seed."""

import argparse
import random
import shlex
import sys
import time
from typing import Final

import pytest

_RUN: Final = ("-m", "hypothesis", "-n", "auto", "--dist", "worksteal")


class _Failures:
    """A plugin of pytest that takes down which tests failed."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take down a test whose result is bad."""
        if report.failed:
            self.found.append(report.nodeid)


def explore(tests: list[str], minutes: float) -> dict[str, str]:
    """Return the tests that failed, each with the command that repeats it.

    Args:
        tests: Files and folders of the property tests.
        minutes: No round of all properties starts later than this; the first one always does.
    """
    end = time.monotonic() + 60 * minutes
    found: dict[str, str] = {}
    while True:
        seed = random.randrange(2**32)
        print(f"\nseed {seed}", flush=True)
        failures = _Failures()
        code = pytest.main([f"--hypothesis-seed={seed}", *_RUN, *tests], plugins=[failures])
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            sys.exit(code)
        for test in failures.found:
            command = [sys.executable, "-m", "pytest", f"--hypothesis-seed={seed}", test]
            found.setdefault(test, shlex.join(command))
        if time.monotonic() > end:
            return found


def main() -> int:
    """Explore for the time that is asked for; return 1 when there are findings."""
    parser = argparse.ArgumentParser(prog="python -m tests.explore", description=__doc__)
    parser.add_argument("--minutes", type=float, default=0, help="0 is one round")
    parser.add_argument("tests", nargs="*", default=["tests"], help="files or folders")
    asked = parser.parse_args()
    found = explore(asked.tests, asked.minutes)
    print(f"\n{len(found)} findings" + "".join(f"\n{command}" for command in found.values()))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
