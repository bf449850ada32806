"""The command that notes what a decision led to."""

from pmem.cli.asking import asks, own
from pmem.cli.memory import memory_line
from pmem.cli.session import Answer, CommandSession, Line
from pmem.errors import UsageError
from pmem.memory.outcomes import OutcomeRequest
from pmem.operations import table
from pmem.values.ids import short


@asks(OutcomeRequest)
def outcome(
    session: CommandSession,
    request: OutcomeRequest,
    retract: bool = own("Remove its latest outcome."),
) -> Answer:
    """Note how a decision turned out.

    Contexts show a decision that went badly as a dead end. Constraints, entities and dead ends have
    no outcome.
    """
    if retract is (request.verdict is not None):
        raise UsageError("give either a verdict or --retract", "a verdict is good, bad or mixed")
    done = session.run(table.OUTCOME, request)
    step = done.next_step.format(short(done.memory.id))
    word = "removed an outcome of " if retract else "noted "
    line: Line = [(word, "green"), *memory_line(done.memory)]
    return Answer(data=done, lines=[line], note=f"next: {step}" if step else "")
