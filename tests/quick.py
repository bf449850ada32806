"""Run the tests that a change most likely breaks, nearest first, for a minute at the most.

The change is what differs from the last commit; with nothing changed since, it is that commit. A
module's tests are those of its name, those that import it, and those of the folder that mirrors
its own. Some tests of the whole are run whatever changed.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

SECONDS: Final = 45
_WHOLE: Final = (
    "tests/test_style.py",
    "tests/test_layers.py",
    "tests/test_names.py",
    "tests/test_library.py",
    "tests/spec/test_first_week.py",
    "tests/storage/test_contract.py",
    "tests/cli/test_transcripts.py",
)
_FOLDERS: Final = {
    "library": "tests",
    "server": "tests/http",
    "vcs": "tests/git",
    "docs": "tests/docs",
}
"""The folders of tests that have another name than their room."""
_RUN: Final = ("-n", "auto", "--dist", "load", "--maxschedchunk", "8")


class _Clock:
    """A plugin of pytest that stops a run when its time is over."""

    def __init__(self) -> None:
        self._end = time.monotonic() + SECONDS
        self._failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Stop when it is late; what failed before counts."""
        self._failed = self._failed or report.failed
        if time.monotonic() > self._end:
            late = f"{SECONDS} s are over; `make test` runs the rest"
            pytest.exit(late, returncode=int(self._failed))


def changed() -> list[str]:
    """Return the files that differ from the last commit, or those of that commit."""
    since = _git("diff", "--name-only", "HEAD") + _git("ls-files", "--others", "--exclude-standard")
    return since or _git("diff", "--name-only", "HEAD~1", "HEAD")


def nearest(files: list[str]) -> list[str]:
    """Return test files and folders, those that a change most likely breaks first.

    Args:
        files: What changed, as paths from the top of the project.
    """
    tests = [name for name in files if re.search(r"(^|/)test_\w+\.py$", name)]
    modules = [name for name in files if name.startswith("pmem/") and name.endswith(".py")]
    rooms = {_mirror(os.path.dirname(name)) for name in files if name not in tests}
    named = [f"{_mirror(os.path.dirname(m))}/test_{os.path.basename(m)}" for m in modules]
    found = [*tests, *named, *_importing(modules), *_WHOLE, *sorted(rooms - {"tests"})]
    return [name for name in dict.fromkeys(found) if os.path.exists(name)]


def _mirror(folder: str) -> str:
    """Return the folder of tests that mirrors a folder; `tests` where there is none."""
    room, _, rest = folder.removeprefix("pmem/").partition("/")
    here = folder if folder.startswith("tests") else f"{_FOLDERS.get(room, f'tests/{room}')}/{rest}"
    while not os.path.isdir(here):
        here = os.path.dirname(here)
    return here.rstrip("/") or "tests"


def _importing(modules: list[str]) -> Iterator[str]:
    """Yield the test files that name a module in an import."""
    names = [re.escape(m.removesuffix(".py").replace("/", ".")) for m in modules]
    if names:
        wanted = re.compile(rf"^\s*(?:from|import) (?:{'|'.join(names)})\b", re.MULTILINE)
        for path in sorted(Path("tests").rglob("test_*.py")):
            if wanted.search(path.read_text(encoding="utf-8")):
                yield str(path)


def _git(*arguments: str) -> list[str]:
    command = ("git", "-c", "core.quotePath=false", *arguments)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


if __name__ == "__main__":
    sys.exit(pytest.main([*_RUN, *nearest(changed())], plugins=[_Clock()]))
