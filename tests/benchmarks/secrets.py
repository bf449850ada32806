"""What the secret gate costs: run it with `python -m tests.benchmarks.secrets`."""

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Final

from pmem.core.secrets import find
from pmem.core.secrets.texts import in_file
from tests.benchmarks.measure import Command, instructions, pmem, side_by_side
from tests.benchmarks.stores import make
from tests.core.secrets import labelled, written
from tests.core.secrets.test_written import missed

TEXTS: Final = {
    "plain": "We use PostgreSQL {} for the shop, since the team knows it and it is boring.",
    "about keys": "The API key of service {} is kept in the vault; tokens expire after 3600 s.",
    "with an address": "The token for service {} is issued by auth2.acme.test:8443 for 3600 s.",
    "with a version": "The token for service {} came with release v1.2.3-rc4 and lives for 3600 s.",
}
WITHOUT: Final = """
import sys, types
class Gate:
    notes = ()
    def __init__(self, rules, notes=None): pass
    def admit(self, value, where=""): return value
    def refuse_new_secrets(self, changes, before): pass
sys.modules["pmem.project.secret_gate"] = types.ModuleType("pmem.project.secret_gate")
sys.modules["pmem.project.secret_gate"].Gate = Gate
"""
_NUMBERS = count()


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=25, help="runs of each command")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as place:
        folder = make(Path(place) / "store", 1000)
        _adding(folder, runs)
    _quality(range(20))
    _speed()


def _adding(folder: Path, runs: int) -> None:
    print("| `pmem add`, 1,000 memories | with, CPU ms | without | cost | instructions |")
    print("|---|---|---|---|---|")
    for name, text in TEXTS.items():
        with_gate, without = _command(text, gate=True), _command(text, gate=False)
        times = side_by_side(
            {"with": (with_gate.__next__, folder), "without": (without.__next__, folder)},
            runs,
        )
        counts = [instructions(next(each), folder) for each in (with_gate, without)]
        one, other = times["with"], times["without"]
        more = f"{counts[0] / counts[1] - 1:+.1%}" if counts[0] and counts[1] else "-"
        print(f"| {name} | {one * 1e3:.1f} | {other * 1e3:.1f} | {one / other - 1:+.1%} | {more} |")
    print()


def _command(text: str, *, gate: bool) -> Iterator[Command]:
    """Yield command lines that add a memory; without a gate, its two methods do nothing."""
    python, script, *_ = pmem()
    program = Path(script).read_text(encoding="utf-8")
    while True:
        arguments = ("add", text.format(next(_NUMBERS)), "--force")
        if gate:
            yield (python, "-c", program, *arguments)
        else:
            yield (python, "-c", WITHOUT + program, *arguments)


def _quality(seeds: range) -> None:
    print("| sentences | secrets | found | innocent | false | recall | precision |")
    print("|---|---|---|---|---|---|---|")
    for name, other in (("seen", False), ("held out", True)):
        hidden = [case for seed in seeds for case in labelled.secrets(seed, other=other)]
        innocent = [case for seed in seeds for case in labelled.innocents(seed, other=other)]
        hits = sum(bool(find(case.text)) for case in hidden)
        false = sum(bool(find(case.text)) for case in innocent)
        print(
            f"| {name} | {len(hidden)} | {hits} | {len(innocent)} | {false} |"
            f" {hits / len(hidden):.3f} | {hits / (hits + false):.3f} |"
        )
    for name in written.SETS:
        found = [(len(case.secrets), len(missed(case))) for case in written.secrets(name, 0)]
        others = list(written.innocents(name))
        count, hits = sum(all_ for all_, _ in found), sum(all_ - left for all_, left in found)
        false = sum(bool(find(case.text)) for case in others)
        print(
            f"| {name} of others | {count} | {hits} | {len(others)} | {false} |"
            f" {hits / count:.3f} | {hits / (hits + false):.3f} |"
        )
    print()
    for form, (count, hits) in sorted(_by_form().items()):
        print(f"{form}: {hits} of {count}")
    print()


def _by_form() -> dict[str, tuple[int, int]]:
    """Return how many secrets each form of the sets of others has, and how many are found."""
    counts: dict[str, tuple[int, int]] = {}
    for name in written.SETS:
        for case in written.secrets(name, 0):
            count, hits = counts.get(case.form, (0, 0))
            left = len(missed(case))
            counts[case.form] = count + len(case.secrets), hits + len(case.secrets) - left
    return counts


def _speed() -> None:
    record = b'{"id": "x", "content": "%s"}' % TEXTS["about keys"].encode()
    for name, work in (
        ("a text", lambda: find(TEXTS["plain"])),
        ("a text about keys", lambda: find(TEXTS["about keys"])),
        ("a small record", lambda: in_file(record)),
    ):
        print(f"{name}: {_median(work) * 1e6:.0f} µs")


def _median(work: object) -> float:
    times = []
    for _ in range(200):
        start = time.process_time()
        work()  # type: ignore[operator]
        times.append(time.process_time() - start)
    return statistics.median(times)


if __name__ == "__main__":
    main()
