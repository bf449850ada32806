"""`pmem work`, which hands out work for models, and `pmem model`, which tries one."""

from collections.abc import Iterator
from typing import Any

import msgspec

from pmem.cli.asking import asks, own
from pmem.cli.session import Answer, CommandSession, Line, listed
from pmem.errors import InvalidValue
from pmem.operations import table
from pmem.upkeep.work import doing
from pmem.upkeep.work.trying import ModelTestRequest, ModelTrial
from pmem.values.fields import NoArguments
from pmem.values.records import dump_line

MOVED, REFUSED = 9, 3
"""Exit codes: something has to be looked at first; an answer is not allowed."""


@asks(doing.WorkListRequest)
def list_(session: CommandSession, request: doing.WorkListRequest) -> Answer:
    """List the work that waits for a model."""
    found = session.run(table.WORK, request)
    lines = ([(it.id, "cyan"), (f"  {it.meaning}", "")] for it in found.items)
    return listed(found, "no work waits", lines=lines)


@asks(doing.WorkRequest)
def next_(session: CommandSession, request: doing.WorkRequest) -> Answer:
    """Hand out the next work, with its prompt and its digest.

    With --json also the schema of the answer. Give the answer to `pmem work apply -`, with the id
    and the digest.
    """
    found = session.run(table.NEXT_WORK, request)
    raw = "\n".join(f"id: {it.id}\ndigest: {it.digest}\n\n{it.prompt}" for it in found.items)
    return listed(found, "no work waits", raw=raw)


@asks(NoArguments)
def apply(
    session: CommandSession,
    _: NoArguments,
    answers: str | None = own("Answers, one or several.", shown="[JSON|-]", is_argument=True),
) -> Answer:
    """Apply answers, each to the work whose id and digest it has.

    They are JSON objects {"id", "digest", "answer"}: one, a list, or one a line. Each is checked,
    and applied only while what it rests on has not moved. Exit code 9 says that something has, and
    shows the work as it is now; 3 says that a check refused an answer.
    """
    text = session.input(answers, "the JSON of answers")
    done = session.run(table.APPLY_WORK, doing.WorkAnswersRequest(answers=_read_answers(text)))
    code = MOVED if done.has("moved") else REFUSED if done.has("refused") else 0
    colours = dict.fromkeys(("applied", "known", "nothing"), "green")
    lines: list[Line] = [
        [
            (f"{item.status} ", colours.get(item.status, "yellow")),
            (item.id, "cyan"),
            (f": {item.reason}" if item.reason else "", ""),
        ]
        for item in done.items
    ]
    return Answer(data=done, lines=lines, exit_code=code)


@asks(ModelTestRequest)
def try_(session: CommandSession, request: ModelTestRequest) -> Answer:
    """Try the chosen model with one made-up example of each task.

    Nothing of the memory is sent. Exit code 1 says that an answer was refused.
    """
    done = session.run(table.TEST_MODEL, request)
    lines: Iterator[Line] = (line for trial in done.items for line in _trial_lines(trial))
    passed = sum(trial.passed for trial in done.items)
    said = f"{done.model}: {passed} of {len(done.items)} answers would be used"
    return Answer(data=done, lines=lines, note=said, exit_code=int(passed < len(done.items)))


def _read_answers(text: str) -> tuple[doing.WorkAnswer, ...]:
    try:
        try:
            found: Any = msgspec.json.decode(text)
        except msgspec.DecodeError:
            found = msgspec.json.Decoder().decode_lines(text)
        found = found if isinstance(found, list) else [found]
        return msgspec.convert(found, tuple[doing.WorkAnswer, ...])
    except msgspec.DecodeError as error:
        raise InvalidValue(
            f"an answer to work has another form: {error}",
            'it is {"id": "...", "digest": "...", "answer": {...}}',
        ) from None


def _trial_lines(trial: ModelTrial) -> Iterator[Line]:
    used = f", {trial.tokens} tokens" if trial.tokens is not None else ""
    word, colour = ("used", "green") if trial.passed else ("refused", "yellow")
    yield [
        (f"{trial.kind:<21}", "cyan"),
        (f"{word:<8}", colour),
        (f"{trial.seconds:g} s{used}", "dim"),
        (f"  {trial.reason}" if trial.reason else "", ""),
    ]
    if trial.answer is not None:
        yield [("  ", ""), (dump_line(trial.answer).decode(), "dim")]
