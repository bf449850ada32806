"""The tutorial shows what its commands print, for two people, from Monday to Friday.

`UPDATE_TRANSCRIPTS=1 pytest tests/docs/test_tutorial.py` writes down what they print now.
"""

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.cli.shell import Shell
from tests.cli.story import known_ids

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
UPDATE = bool(os.environ.get("UPDATE_TRANSCRIPTS"))
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
MONDAY = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)
EXIT = re.compile(r"\s+# exit (\d+)$")
FENCE = re.compile(r"[^`].*")
ID = re.compile(r"\b(?=[a-z]*[0-9])[0-9a-z]{8}\b")


class Week:
    """Runs the commands of the tutorial and writes the page anew, with what they print.

    Ids differ from run to run: those of the page stand for those that are printed now, in the
    order of their appearance.
    """

    def __init__(self, folder: str) -> None:
        self.shell = Shell(folder, actor=None, start=MONDAY)
        self.top = folder
        self.wrong: list[str] = []
        self._now: dict[str, str] = {}

    def replay(self, text: str) -> Iterator[str]:
        lines = text.splitlines()
        place, fence = 0, ""
        while place < len(lines):
            line = lines[place]
            place += 1
            self._turn_to(line)
            fence = FENCE.sub("", line) if line.startswith("```") else fence
            yield self._said(line, line)
            if not line.startswith("$ "):
                continue
            ends = (i for i in range(place, len(lines)) if lines[i].startswith("$ "))
            end = next(ends, len(lines))
            end = lines.index(fence, place, end) if fence in lines[place:end] else end
            yield from self._run(line.removeprefix("$ "), "\n".join(lines[place:end]))
            place = end

    def _turn_to(self, line: str) -> None:
        day = line.removeprefix("## ").partition(":")[0]
        if day in DAYS:
            self.shell.start = MONDAY + timedelta(days=DAYS.index(day))

    def _run(self, line: str, shown: str) -> list[str]:
        code = EXIT.search(line)
        command = ID.sub(lambda found: self._now.get(found[0], found[0]), EXIT.sub("", line))
        done = self.shell.run(command)
        if done.code != (int(code[1]) if code else 0):
            self.wrong.append(f"{command}: exit {done.code}\n{done.said}")
        printed = (done.text + done.said).replace(f"{self.top}/", "~/")
        for old, new in zip(ID.findall(shown), ID.findall(printed), strict=False):
            self._now.setdefault(old, new)
        return [self._said(one, one) for one in printed.splitlines()]

    def _said(self, line: str, otherwise: str) -> str:
        """Return a line with the page's own ids, or with today's where the page is written."""
        if UPDATE:
            return ID.sub(lambda found: self._now.get(found[0], found[0]), line)
        known = {new: old for old, new in self._now.items()}
        return ID.sub(lambda found: known.get(found[0], found[0]), otherwise)


def test_the_tutorial_comes_out_as_it_is_written(tmp_path: Path) -> None:
    week = Week(os.path.realpath(tmp_path))  # nothing is there but what the page types
    written = PAGE.read_text(encoding="utf-8")
    with known_ids():
        replayed = "\n".join(week.replay(written)) + "\n"
    if UPDATE:
        PAGE.write_text(replayed, encoding="utf-8")
    assert week.wrong == []
    assert UPDATE or replayed == written
