"""What `import git` takes on a long history, as multiples of `git log` on the same commits.

    python -m tests.benchmarks.git_history [--commits 20000] [FOLDER]...

Without a folder a repository of so many commits is made: one in a hundred reverts another, one in
ten gives a reason, and the others say what they do.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_AREAS = ("billing", "cart", "queue", "search", "login", "reports")


class Taken(NamedTuple):
    """What a run took: seconds of CPU, and megabytes at the most."""

    seconds: float
    megabytes: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commits", type=int, default=20_000)
    parser.add_argument("folders", nargs="*")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folders = asked.folders or [made(Path(scratch, "made"), asked.commits)]
        for folder in folders:
            print(row(folder, scratch))


def row(folder: str, scratch: str) -> str:
    """Return a line on one repository."""
    clone = os.path.join(scratch, "clone")
    subprocess.run(["git", "clone", "-q", folder, clone], check=True)
    pmem = [sys.executable, "-m", "pmem", "-C", clone]
    if not os.path.isdir(os.path.join(clone, ".project-memory")):
        subprocess.run([*pmem, "init", "-q"], check=True, cwd=clone)
    log = taken(["git", "log", "--no-merges", "--format=%H%x00%an%x00%at%x00%B"], clone)
    first = taken([*pmem, "import", "git"], clone)
    again = taken([*pmem, "import", "git"], clone)
    counted = ["git", "rev-list", "--count", "--no-merges", "HEAD"]
    many = subprocess.run(counted, cwd=clone, capture_output=True, text=True, check=True).stdout
    listed = [*pmem, "inbox", "facts", "--json"]
    told = subprocess.run(listed, cwd=clone, capture_output=True, text=True, check=True).stdout
    subprocess.run(["rm", "-r", clone], check=True)
    return (
        f"{os.path.basename(folder)}: {many.strip()} commits, {told.count('extracted_at')} facts;"
        f" first {first.seconds:.2f} s = {first.seconds / log.seconds:.1f} times git log,"
        f" {first.megabytes:.0f} MB; again {again.seconds / log.seconds:.1f} times"
    )


def taken(command: list[str], folder: str) -> Taken:
    """Run a command and return what it took."""
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL) as running:
        _, _, used = os.wait4(running.pid, 0)
        running.returncode = 0
    return Taken(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def made(folder: Path, many: int) -> str:
    """Make a repository of so many commits; return its folder."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    stream = "".join(_commits(many)).encode()
    subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input=stream, check=True)
    subprocess.run(["git", "reset", "-q", "--hard"], cwd=folder, check=True)
    return str(folder)


def _commits(many: int) -> Iterator[str]:
    for number in range(many):
        text = _message(number)
        body = f"version {number}\n"
        area = _AREAS[number % len(_AREAS)]
        yield (
            "commit refs/heads/main\n"
            f"committer Kim <kim@example.org> {1_500_000_000 + 3600 * number} +0000\n"
            f"data {len(text)}\n{text}\n"
            f"M 100644 inline src/{area}.py\ndata {len(body)}\n{body}\n"
        )


def _message(number: int) -> str:
    area = _AREAS[number % len(_AREAS)]
    if number % 100 == 99:
        return (
            f'Revert "Cache the {area} for {number - 1} seconds"\n\n'
            f"Customers of {area} saw what was wrong for {number} minutes."
        )
    if number % 10 == 5:
        return (
            f"Use a table for the {area} of step {number}\n\n"
            f"A list was read {number} times a minute because nobody knew what had changed."
        )
    return f"Cache the {area} for {number} seconds\n\nIt is asked for often."


if __name__ == "__main__":
    main()
