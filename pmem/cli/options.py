"""Options that several commands share, and how they become filters."""

from typing import Annotated

import typer

from pmem.cli.session import Session
from pmem.core.checks import share
from pmem.core.filters import Filter
from pmem.core.trust import Trust
from pmem.values.records import MemoryType, State

Reference = Annotated[str, typer.Argument(metavar="REF", help="An id, or the start of one.")]
References = Annotated[list[str], typer.Argument(metavar="REF...", help="Ids, or their starts.")]

Types = Annotated[list[MemoryType] | None, typer.Option("--type", help="Only this type.")]
Categories = Annotated[list[str] | None, typer.Option("--category", help="Only this category.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="Only with this tag.")]
Subject = Annotated[str | None, typer.Option(help="Only on this subject.")]
App = Annotated[str | None, typer.Option(help="Only of this app.")]
User = Annotated[str | None, typer.Option(help="Only of this user.")]
ByRole = Annotated[str | None, typer.Option("--role", help="Only of this role.")]
BySpeaker = Annotated[str | None, typer.Option("--speaker", help="Only by this speaker.")]
AtLeast = Annotated[
    float | None, typer.Option("--min-importance", help="At least so important, 0 to 1.")
]
AtMost = Annotated[
    float | None, typer.Option("--max-importance", help="At most so important, 0 to 1.")
]
Pinned = Annotated[bool | None, typer.Option("--pinned/--not-pinned", help="Only (un)pinned.")]
Trusted = Annotated[
    Trust | None, typer.Option("--trust", help="Only what is trusted at least so far.")
]
States = Annotated[list[State] | None, typer.Option("--state", help="In this state [active].")]
AllStates = Annotated[bool, typer.Option("--all-states", help="In any state.")]
After = Annotated[str | None, typer.Option("--after", metavar="TIME", help="Made from then on.")]
Before = Annotated[str | None, typer.Option("--before", metavar="TIME", help="Made before then.")]
At = Annotated[
    str | None,
    typer.Option(
        "--at", metavar="TIME|REV", help="As it was, and what held, at that time or git revision."
    ),
]


def filters(
    session: Session,
    *,
    types: list[MemoryType] | None,
    categories: list[str] | None,
    tags: list[str] | None,
    subject: str | None,
    app: str | None,
    user: str | None,
    role: str | None,
    speaker: str | None,
    at_least: float | None,
    at_most: float | None,
    pinned: bool | None,
    trust: Trust | None,
    states: list[State] | None,
    all_states: bool,
    after: str | None,
    before: str | None,
) -> Filter:
    """Turn the shared options into the filter that they describe.

    Raises:
        InvalidValue: A time is none, or an importance lies outside 0 to 1.
    """
    for bound in (at_least, at_most):
        if bound is not None:
            share("importance", bound)
    return Filter(
        types=tuple(types or ()),
        categories=tuple(categories or ()),
        tags=tuple(tags or ()),
        subject=subject,
        app=app,
        user=user,
        agent=session.asker and session.concerned,
        role=role,
        speaker=speaker,
        importance_min=at_least,
        importance_max=at_most,
        pinned=pinned,
        trust=trust,
        states=() if all_states else tuple(states or (State.ACTIVE,)),
        created_after=session.time(after),
        created_before=session.time(before),
    )
