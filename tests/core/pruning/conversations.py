"""Short conversations with the places where a new task opens, told by a person.

One message a line: `u` user, `a` assistant, `s` system, `t` tool. `>` before it says that a
new task opens there; `~` that seven hours pass before it. The letters before the conversation
say which of its tasks are finished, in their order: `f` finished, `o` open.
"""

from datetime import timedelta
from pathlib import Path
from typing import Final, NamedTuple

from pmem.values.records import Message, Role
from tests.conftest import NOW

ROLES: Final = {"u": Role.USER, "a": Role.ASSISTANT, "s": Role.SYSTEM, "t": Role.TOOL}


class Labelled(NamedTuple):
    """A conversation, where its tasks open, and which of them are finished."""

    messages: list[Message]
    opens: list[int]
    finished: list[bool]


def labelled(text: str) -> Labelled:
    """Read a conversation as it is written in a file."""
    letters, *lines = [line.strip() for line in text.strip().splitlines()]
    at, messages, opens = NOW, [], [0]
    for i, line in enumerate(lines):
        marks, _, content = line.partition(" ")
        at += timedelta(hours=7) if "~" in marks else timedelta(minutes=1)
        role = ROLES[marks[-1]]
        messages.append(Message(id=f"m-{i:08d}", role=role, content=content, created_at=at))
        if ">" in marks:
            opens.append(i)
    return Labelled(messages, opens, [letter == "f" for letter in letters])


def read(name: str) -> list[Labelled]:
    """Read the conversations of a file, separated by blank lines."""
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    return [labelled(part) for part in text.split("\n\n") if part.strip()]


OPENINGS: Final = read("openings.txt")

TRAPS: Final = read("traps.txt")

MISSED: Final = read("missed.txt")
"""What the rules get wrong: too little said, or a phrase that reads like another."""
