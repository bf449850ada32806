"""What tools did, a line for each run of their messages: written files, the command, its error."""

from collections.abc import Sequence
from typing import Final

from pmem.core.lines import shortened
from pmem.core.text.commands import edited_files, ran_commands, tool_outcome
from pmem.core.text.speech import TOOLS, Speech, speech_of
from pmem.values.records import Message

LONGEST: Final = 80
"""Characters shown of a command, and of why it failed."""
MOST_FILES: Final = 4
"""Files named of those that were written."""


def tool_lines(said: Sequence[Message]) -> dict[int, str]:
    """Return for each run of tools' messages what came of it, by the place of its last message.

    Of several commands the last counts. What was only read or searched is not told.
    """
    lines: dict[int, str] = {}
    run: list[Message] = []
    for place, message in enumerate(said):
        if speech_of(message) in TOOLS:
            run.append(message)
            following = said[place + 1 : place + 2]
            if not following or speech_of(following[0]) not in TOOLS:
                lines[place] = _line_of_run(run)
                run = []
    return lines


def _line_of_run(run: Sequence[Message]) -> str:
    written: dict[str, None] = {}
    command = ran = ""
    for message in run:
        if speech_of(message) is Speech.CALL:
            written |= {name.rpartition("/")[2]: None for name in edited_files(message)}
            command = shortened(next(iter(ran_commands(message)), ""), LONGEST)
            ran = f"ran {command}" if command else ran
        elif errors := tool_outcome(message).errors:
            ran = f"{command or 'a tool'} failed: {shortened(errors[0], LONGEST)}"
    parts = [f"wrote {', '.join(list(written)[:MOST_FILES])}"] * bool(written)
    return "; ".join([*parts, *[ran] * bool(ran)]).rstrip(".")
