"""Very many small files: what commands cost beside git on the same tree.

python -m tests.benchmarks.limits --records 200000
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from pmem.values.ids import make_id
from tests.benchmarks.measure import ENVIRONMENT

ROOT: Final = Path(__file__).resolve().parents[2]
MEASURED: Final = ROOT / "tests" / "hostile" / "measured.py"
PMEM: Final = str(Path(sys.executable).parent / "pmem")
GIT: Final = "/usr/bin/env"
FIRST: Final = ("add hello-world", "search parser", "check")
LATER: Final = ("add hello-again", "search parser", "list -n 3", "context parser")
_MOMENT: Final = 1_767_614_400_000
_AT: Final = "2026-01-05T12:00:00.000Z"


def make_tree(folder: str, records: int) -> None:
    """Write memories by a script, as no pmem ever has: all at once, and with no index.

    Args:
        folder: A project's folder.
        records: How many.
    """
    chance = random.Random(1)
    words = [
        "".join(chance.choices("abdegilmnoprstu", k=chance.randint(3, 9))) for _ in range(4000)
    ]
    store = os.path.join(folder, ".project-memory", "long-term-memory")
    os.makedirs(store)
    for number in range(records):
        content = " ".join(chance.choices(words, k=chance.randint(8, 16)))
        id_ = make_id(_MOMENT, 36**7 + number * 7919)
        event = {"event": "ADD", "at": _AT, "actor": "ada"}
        record = {"id": id_, "schema": 1, "type": "fact", "content": content}
        record |= {"category": "knowledge", "tags": chance.choices(words, k=1)}
        record |= dict.fromkeys(("valid_from", "created_at", "updated_at"), _AT)
        text = json.dumps(record | {"history": [event]}, indent=2)
        Path(store, f"{id_}.json").write_text(f"{text}\n", encoding="utf-8")


def cost(folder: str, *command: str) -> tuple[float, float]:
    """Return the CPU seconds and the megabytes that a command takes at the most."""
    line = [sys.executable, "-S", str(MEASURED), *command]
    surroundings = {**os.environ, **ENVIRONMENT}
    done = subprocess.run(line, cwd=folder, env=surroundings, capture_output=True, check=True)
    seconds, most, _ = json.loads(done.stdout)
    return seconds, most / 2**20


def table(folder: str, rows: tuple[str, ...], beside: str) -> None:
    """Print what commands cost, and how many times what git does."""
    yardstick, most = cost(folder, GIT, "git", *beside.split())
    print(f"| `git {beside}` | {yardstick:.1f} | 1.0 | {most:.0f} |")
    for row in rows:
        seconds, most = cost(folder, PMEM, *row.split())
        print(f"| `pmem {row}` | {seconds:.1f} | {seconds / yardstick:.1f} | {most:.0f} |")


def main() -> None:
    """Make the tree and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    records = parser.parse_args().records
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        make_tree(folder, records)
        print("| command | CPU s | times git | MB |\n|---|---|---|---|")
        table(folder, FIRST, "add -A")
        table(folder, LATER, "status --short")


if __name__ == "__main__":
    main()
