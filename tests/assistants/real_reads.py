"""What real programs read by themselves is told them once: a part of `make assistants`.

A project and a folder of it have CLAUDE.md, which includes AGENTS.md, and GEMINI.md, and their
rules were imported. Each program is asked twice about all of them, and reads a file of the folder:
before pmem is set up, which shows what it reads, and after. What it has read at its start stands in
its request as often as before, what it reads with the file is not told with that, and all else is.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Final

from pmem.core.own_words import ABOUT_FILE
from tests.assistants.fake_model import (
    WITH_SESSIONS,
    Call,
    FakeModel,
    SetUp,
    begin,
    call,
    try_each,
)

RULES: Final[Mapping[str, str]] = {
    "CLAUDE.md": "Never log a card number in the billing service.",
    "AGENTS.md": "Never round an invoice amount in the billing service.",
    "GEMINI.md": "Never retry a refund in the billing service.",
    "web/CLAUDE.md": "Always name a button after its verb.",
    "web/AGENTS.md": "Always test a form with the keyboard alone.",
    "web/GEMINI.md": "Always load a font from our own server.",
}
FILE: Final = "web/form.py"
READ: Final[Mapping[str, frozenset[str]]] = {
    "claude-code": frozenset({"CLAUDE.md", "AGENTS.md", "web/CLAUDE.md"}),
    "codex": frozenset({"AGENTS.md"}),
    "gemini": frozenset({"GEMINI.md", "web/GEMINI.md"}),
}
"""What each reads, in `web/` with the first file there."""
ASKED: Final = "May the billing service log a card number, round an amount or retry a refund?"


CODE: Final = "BUTTONS = 3"
_READS: Final[Mapping[str, Call]] = {
    "messages": Call("Read", {"file_path": FILE}),
    "responses": Call("exec_command", {"cmd": f"cat {FILE}"}),
    "generate": Call("read_file", {"file_path": FILE}),
}
"""How each program's model reads a file, by a word in the address that it is asked at."""


class Model(FakeModel):
    """Reads the file, then says hello."""

    asked: ClassVar[list[str]] = []

    def called_for(self, request: str) -> Call | None:
        reads = next((call for word, call in _READS.items() if word in self.path.lower()), None)
        return reads if ASKED in request and CODE not in request else None


def _try(harness: str, folder: Path, set_up: SetUp, words: tuple[str, ...], url: str) -> None:
    project, home, around = begin(folder)
    around |= set_up(project, home, url)
    call(["git", "init", "--quiet"], project, around)
    (project / FILE).parent.mkdir()
    (project / FILE).write_text(f"{CODE}\n")
    for file, rule in RULES.items():
        more = "See @AGENTS.md too.\n" * (file == "CLAUDE.md")
        (project / file).write_text(f"# Shop\n\n## Work\n\n- {rule}\n\n{more}")
    before = _counts(words, project, around)
    assert {file for file, count in before.items() if count} == READ[harness], before
    for command in (["init", "--no-git", "--import"], ["setup", harness]):
        call(["pmem", *command], project, around)
    after = _counts(words, project, around)
    at_file = Model.asked[-1].partition(f"{ABOUT_FILE} {FILE}")[2].split("```")[1]
    for file, rule in RULES.items():
        is_read, count = file in READ[harness], after[file]
        if "/" in file:
            assert (rule in at_file) != is_read, (file, at_file)
        else:
            assert count == before[file] if is_read else count, (file, before, after)


def _counts(words: tuple[str, ...], project: Path, around: Mapping[str, str]) -> dict[str, int]:
    """Return how often the rule of each file stands in the last request of a session."""
    Model.asked.clear()
    call([*words, ASKED], project, around)
    last = [request for request in Model.asked if ASKED in request and CODE in request][-1]
    return {file: last.count(rule.rstrip(".")) for file, rule in RULES.items()}


if __name__ == "__main__":
    try_each(
        WITH_SESSIONS,
        _try,
        Model,
        "tests.assistants.real_reads",
        "told what it has not read, and nothing that it has",
    )
