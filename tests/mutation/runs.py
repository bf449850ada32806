"""Runs of tests in a copy of the project: once to note who runs what, then for each mutant."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from resource import RLIMIT_CPU, setrlimit
from typing import Final

from tests.mutation.choosing import CHOSEN
from tests.mutation.mutants import Mutant
from tests.mutation.noting import NOTES, tell_runs

_COPIED: Final = ("pmem", "tests", "docs", "pyproject.toml", "README.md", "Makefile")
_MOST_SECONDS: Final = 30.0
"""For a mutant, so many seconds of tests are tried: those that run the fewest functions first."""
_PATIENCE, _LEAST_SECONDS = 4.0, 30.0
"""They may take so many times as long as without the mutant, and at least so long."""
_WAITING: Final = 20
"""They may wait so many times as long, which is long on a busy machine, too."""
_FAILED, _BROKEN = 1, 3
_SURVIVED: Final = (0, 5)
"""How pytest ends where all tests pass, or where none of that name is left."""


class Copy:
    """A copy of the project where code can be changed, and which tests run which functions."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._tests: dict[str, set[str]] = {}
        self._breadth: dict[str, int] = {}
        self._seconds: dict[str, float] = {}
        for name in _COPIED:
            copy = shutil.copytree if os.path.isdir(name) else shutil.copy
            copy(name, os.path.join(folder, name))

    def note_tests(self, modules: Sequence[str], tests: Sequence[str], notes: str) -> None:
        """Run tests once, and note which of them pass and what each runs of the modules."""
        for module in modules:
            tell_runs(Path(self.folder, module), module)
        run = ["-n", "auto", "--dist", "worksteal", "-p", "tests.mutation.noting", *tests]
        self._run(run, {NOTES: notes})
        for module in modules:
            shutil.copy(module, os.path.join(self.folder, module))

    def read_notes(self, notes: str) -> None:
        """Read what a run of the tests has noted."""
        for path in Path(notes).glob("*.json"):
            for test, (seconds, ran) in json.loads(path.read_text(encoding="utf-8")).items():
                self._seconds[test], self._breadth[test] = seconds, len(ran)
                for function in ran:
                    self._tests.setdefault(function, set()).add(test)

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests that run a function, those that run the fewest in all first.

        A line outside of functions is held by the tests of all functions of its module.
        """
        name = f"{mutant.module}:{mutant.function}"
        parts = [name] if mutant.function else [each for each in self._tests if name[:-1] in each]
        found = set[str]().union(*(self._tests.get(each, ()) for each in parts))
        return sorted(found, key=lambda test: (self._breadth[test], test))

    def is_killed(self, tests: Sequence[str]) -> bool:
        """Return whether one of the tests fails, or they take too long."""
        spent, chosen = 0.0, []
        for test in tests:
            spent += self._seconds[test]
            chosen.append(test)
            if spent > _MOST_SECONDS:
                break
        Path(self.folder, CHOSEN).write_text("\0".join(chosen), encoding="utf-8")
        files = dict.fromkeys(test.partition("::")[0] for test in chosen)
        most = max(_LEAST_SECONDS, _PATIENCE * spent)
        ended = self._run(["-x", "-p", "tests.mutation.choosing", *files], {}, int(most))
        return ended not in _SURVIVED

    def _run(self, arguments: Sequence[str], added: dict[str, str], most: int | None = None) -> int:
        """Return how a run of pytest ends that has so many seconds of a processor at the most."""
        command = [sys.executable, "-m", "pytest", "-q", *arguments]
        environment = os.environ | {"PYTHONPATH": self.folder, "PYTHONDONTWRITEBYTECODE": "1"}
        limited = None if most is None else partial(setrlimit, RLIMIT_CPU, (most, most))
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                env=environment | added,
                capture_output=True,
                preexec_fn=limited,
                timeout=most and _WAITING * most,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return _FAILED
        if done.returncode == _BROKEN:
            raise RuntimeError(done.stdout.decode() + done.stderr.decode())
        return done.returncode
