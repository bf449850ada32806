"""The packages of Claude Code, Codex and Gemini CLI, by themselves: a part of `make assistants`.

Each is validated by its program where this can, installed by the commands of its own page, asked
once, and removed by them. OpenCode's is the file that `pmem setup` writes, which is tried there.
"""

import re
from pathlib import Path
from typing import ClassVar, Final

from pmem.core.own_words import RECORDED
from tests.assistants.fake_model import (
    ROOT,
    WITH_SESSIONS,
    Call,
    FakeModel,
    SetUp,
    begin,
    call,
    try_each,
)

_ASKED: Final = "Which database do we use for orders?"
_ANSWER: Final = "Orders are kept in PostgreSQL 16"
_VALIDATED: Final = {
    "claude-code": ("claude", "plugin", "validate", "packages/claude-code"),
    "gemini": ("gemini", "extensions", "validate", "packages/gemini"),
}
_CONSENTS: Final = {"gemini": ("--consent",)}
"""What answers the question that installing asks at a terminal."""
_TOOL: Final = re.compile(r'"name": "((?:mcp_[^"]*pmem_+)?search)"')


_LOOK: Final = Call("exec_command", {"cmd": "ls"})
"""What Codex's model does first, as it is offered no server's tools at its first request."""


class Model(FakeModel):
    """Searches by the first tool of pmem that it is offered, then says hello."""

    asked: ClassVar[list[str]] = []

    def called_for(self, request: str) -> Call | None:
        if RECORDED in request:
            return None
        if (tool := _TOOL.search(request)) is not None:
            return Call(tool[1], {"query": "orders database"}, is_ours=tool[1] == "search")
        is_first = _LOOK.name in request and '"function_call_output"' not in request
        return _LOOK if is_first else None


def _try(name: str, folder: Path, set_up: SetUp, words: tuple[str, ...], url: str) -> None:
    project, home, around = begin(folder)
    around |= set_up(project, home, url)
    for command in (["init", "--no-git"], ["add", _ANSWER]):
        call(["pmem", *command], project, around)
    page = (ROOT / "packages" / name / "README.md").read_text(encoding="utf-8")
    *installing, removing = re.findall(r"^(?:claude|codex|gemini) .*?(?=  |$)", page, re.MULTILINE)
    if name in _VALIDATED:
        call(_VALIDATED[name], ROOT, around)
    for line in installing:
        call([*line.split(), *_CONSENTS.get(name, ())], ROOT, around)
    assert _told(words, project, around) == (1, 1)
    call(removing.split(), ROOT, around)
    assert _told(words, project, around) == (0, 0)


def _told(words: tuple[str, ...], project: Path, around: dict[str, str]) -> tuple[int, int]:
    """Ask, and return how often the model was told the answer at the start, and by the tool."""
    Model.asked.clear()
    call([*words, _ASKED], project, around)
    told = [request for request in Model.asked if _ASKED in request and '"tools": [' in request]
    assert told, "no request reached the model"
    at_start = told[0].count(_ANSWER)
    return at_start, told[-1].count(_ANSWER) - at_start


if __name__ == "__main__":
    module = "tests.assistants.real_packages"
    try_each(WITH_SESSIONS, _try, Model, module, "valid, installed, told, searched, removed")
