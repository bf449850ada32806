"""Options that several commands share."""

from typing import Annotated

import msgspec
import typer

from pmem.cli.session import CommandSession
from pmem.core.filters import Filter
from pmem.values.records import MemoryType

Types = Annotated[
    list[MemoryType] | None, typer.Option("--type", help="Only this type; repeatable.")
]
At = Annotated[
    str | None,
    typer.Option(
        "--at", metavar="TIME|REV", help="Show it as it was at this time or git revision."
    ),
]
WithoutOwn = Annotated[bool, typer.Option("--no-mine", help="Leave out your own memory.")]
AllStates = Annotated[
    bool, typer.Option("--all-states", help="In any state.", rich_help_panel="Filters")
]


def scoped(session: CommandSession, wanted: Filter, *, all_states: bool) -> Filter:
    """Return a filter for the agent that a command is about, and for records in any state."""
    states = () if all_states else wanted.states
    agent = session.asker and session.concerned
    return msgspec.structs.replace(wanted, agent=agent, states=states)
