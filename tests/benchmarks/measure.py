"""Measuring whole processes: CPU time in turn, and instructions where valgrind is there."""

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

BARE: Final = (sys.executable, "-c", "pass")
"""The yardstick: an interpreter that does nothing."""

ENVIRONMENT: Final = {
    **{key: value for key, value in os.environ.items() if not key.startswith("PMEM_")},
    "PYTHONHASHSEED": "0",
    "PMEM_ACTOR": "bench",
}
ENVIRONMENT.pop("PYTHONDONTWRITEBYTECODE", None)

Command = Sequence[str]


def pmem(*arguments: str) -> tuple[str, ...]:
    """Return the command line of the installed pmem, run by this interpreter."""
    script = Path(sys.executable).parent / "pmem"
    return (sys.executable, str(script), *arguments)


def cpu_seconds(command: Command, folder: Path) -> float:
    """Run a command and return the CPU seconds that it took, system time included."""
    process = subprocess.Popen(
        command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    said = process.stderr.read()
    process.stderr.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: {said.decode()}")
    return usage.ru_utime + usage.ru_stime


def side_by_side(
    commands: dict[str, tuple[Callable[[], Command], Path]], runs: int
) -> dict[str, float]:
    """Run commands in turn and return each one's median CPU time in seconds.

    Args:
        commands: By name, what makes the command line and where it runs.
        runs: How often each is run after one warm-up.
    """
    times: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, (make, folder) in commands.items():
            seconds = cpu_seconds(make(), folder)
            if turn:
                times[name].append(seconds)
    return {name: statistics.median(values) for name, values in times.items()}


def instructions(command: Command, folder: Path) -> int | None:
    """Return the instructions that a command takes, or None without valgrind."""
    if shutil.which("valgrind") is None:
        return None
    with tempfile.NamedTemporaryFile() as out:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}", *command],
            cwd=folder,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            check=True,
        )
    found = re.search(r"Collected : (\d+)", done.stderr)
    return int(found[1]) if found else None
