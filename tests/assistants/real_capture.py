"""Claude Code, Codex and Gemini CLI asked what to keep, offline: a part of `make assistants`.

A person rules something. The model, which is none, says hello; asked by the hook what is worth
keeping, it calls `remember`; and the next session reads what it noted, marked as unconfirmed.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from pmem.core.own_words import ASKS
from tests.assistants.fake_model import (
    WITH_SESSIONS,
    Call,
    FakeModel,
    SetUp,
    begin,
    call,
    try_each,
)

RULE: Final = (
    "No, that table is not ours: never write to seen_parcels, because only the warehouse does."
)
KEPT: Final = "Never write to the table seen_parcels: only the warehouse does"
AGAIN: Final = "Say hello once more, please"
_KEEPS: Final = Call("remember", {"content": KEPT, "type": "constraint"}, is_ours=True)


class Model(FakeModel):
    """Says hello, and keeps the rule where it is asked to."""

    asked: ClassVar[list[str]] = []

    def called_for(self, request: str) -> Call | None:
        return _KEEPS if ASKS in request and KEPT not in request else None


def _try(
    harness: str,
    folder: Path,
    set_up: SetUp,
    words: tuple[str, ...],
    url: str,
) -> None:
    project, home, around = begin(folder)
    around |= set_up(project, home, url)
    call(["git", "init", "--quiet"], project, around)
    for command in (["init", "--no-git"], ["setup", harness]):
        call(["pmem", *command], project, around)
    Model.asked.clear()
    call([*words, RULE], project, around)
    questions = [request for request in Model.asked if ASKS in request]
    assert questions, "the hook asked nothing"
    assert questions[-1].count(ASKS) == 1
    _see_what_was_noted(project, around)
    Model.asked.clear()
    call([*words, AGAIN], project, around)
    assert "not confirmed) " + KEPT in Model.asked[0], Model.asked[0]
    assert ASKS not in Model.asked[-1]
    call(["pmem", "import", "--pending"], project, around)
    found = _data(["search", "worth keeping"], project, around)
    assert ASKS not in json.dumps(found)


def _data(words: list[str], project: Path, around: Mapping[str, str]) -> Any:
    """Return what a command of pmem answers in JSON, its first line."""
    return json.loads(call(["pmem", *words, "--json"], project, around).partition("\n")[0])["data"]


def _see_what_was_noted(project: Path, around: Mapping[str, str]) -> None:
    (memory,) = _data(["list"], project, around)["items"]
    assert memory["content"] == KEPT
    (item,) = _data(["inbox"], project, around)["items"]
    assert item["kind"] == "noted"
    assert item["id"] == memory["id"]


if __name__ == "__main__":
    try_each(
        WITH_SESSIONS,
        _try,
        Model,
        "tests.assistants.real_capture",
        "asked, noted, in the inbox, told as unconfirmed, no talk of it",
    )
