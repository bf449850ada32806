"""The commands that decide what waits: facts of conversations, and proposals of agents."""

from collections.abc import Sequence
from itertools import chain
from typing import Annotated, Final

import typer

from pmem.cli.asking import completing
from pmem.cli.session import Answer, CommandSession
from pmem.errors import Ambiguous, UsageError
from pmem.operations import table
from pmem.operations.outcome import plain_form
from pmem.values.ids import matches, short

_MOST: Final = 10
"""Of the ids that a reference fits, so many are named."""


def accept(
    ctx: typer.Context,
    references: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[REF]...", help="Ids, or their starts.", autocompletion=completing("decision")
        ),
    ] = None,
    above: Annotated[
        float | None,
        typer.Option(metavar="N", help="Also all pending facts at least this certain."),
    ] = None,
    edit: Annotated[
        bool, typer.Option("--edit", help="First change what each says in your editor.")
    ] = False,
    message: Annotated[
        str | None,
        typer.Option(metavar="REF", help="The message by which a person agreed to a proposal."),
    ] = None,
) -> Answer:
    """Accept facts and proposals: they become memories."""
    from pmem.cli import consent, facts

    session: CommandSession = ctx.obj
    if not references and above is None:
        raise UsageError("nothing to accept is named", "give a reference, or --above for facts")
    proposed, others = _sorted(session, references or ())
    answers: dict[str, Answer] = {}
    if others or above is not None:  # first, as one of them may be unknown
        answers["facts"] = facts.promoted(session, others, above, edit=edit)
    if proposed:
        answers["proposals"] = consent.approved(session, proposed, message, edit=edit)
    return _together(answers)


def reject(
    ctx: typer.Context,
    references: Annotated[
        list[str],
        typer.Argument(
            metavar="REF...",
            help="Ids, or their starts.",
            autocompletion=completing("decision"),
        ),
    ],
) -> Answer:
    """Reject facts and proposals: they are not asked about again."""
    from pmem.cli import consent, facts

    session: CommandSession = ctx.obj
    proposed, others = _sorted(session, references)
    answers: dict[str, Answer] = {}
    if others:
        answers["facts"] = facts.rejected(session, others)
    if proposed:
        answers["proposals"] = consent.rejected(session, proposed)
    return _together(answers)


def _sorted(
    session: CommandSession, references: Sequence[str]
) -> tuple[Sequence[str], Sequence[str]]:
    """Return the references of proposals, and the others, which name facts.

    Raises:
        Ambiguous: One fits several of what waits.
    """
    from pmem.memory.consent import WaitingRequest
    from pmem.memory.facts import FactsRequest

    waiting = [item.id for item in session.run(table.WAITING, WaitingRequest()).items]
    proposed = [name for name in references if any(matches(name, each) for each in waiting)]
    if proposed:
        found = session.run(table.FACTS, FactsRequest()).items
        waiting += (item.fact.id for item in found)
    for name in proposed:
        fitting = [short(each) for each in waiting if matches(name, each)]
        if len(fitting) > 1:
            raise Ambiguous(f"{name!r} fits {', '.join(fitting[:_MOST])}", "give more of the id")
    return proposed, [name for name in references if name not in proposed]


def _together(answers: dict[str, Answer]) -> Answer:
    """Return the answers about proposals and about facts as one."""
    if len(answers) == 1:
        return next(iter(answers.values()))
    return Answer(
        data={kind: plain_form(answer.data) for kind, answer in answers.items()},
        lines=chain.from_iterable(answer.lines for answer in answers.values()),
        note="\n".join(answer.note for answer in answers.values() if answer.note),
        exit_code=max(answer.exit_code for answer in answers.values()),
    )
