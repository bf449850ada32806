"""`pmem work` and `pmem model`: work for models; `pmem eval`: how well searches find."""

from collections.abc import Iterator
from shlex import quote
from typing import Any

import msgspec

from pmem.cli import render
from pmem.cli.asking import asks, own
from pmem.cli.session import Answer, CommandSession, Line, listed
from pmem.errors import InvalidValue
from pmem.operations import table
from pmem.search import evaluation, golden
from pmem.search.evaluation import Evaluation, EvaluationRequest
from pmem.search.golden import Golden, MissesRequest, QuestionRequest
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


_STDIN = "-"


@asks(EvaluationRequest)
def evaluate(session: CommandSession, request: EvaluationRequest) -> Answer:
    """Measure recall on a golden set; exits with 1 when it got worse."""
    given = None
    if request.file == _STDIN:
        given = Golden(golden.parse(session.read_lines(_STDIN), "standard input"))
    told = render.progress(session, "questions")
    done = session.run(
        table.EVALUATE, msgspec.structs.replace(request, golden=given, progress=told)
    )
    return Answer(
        data=done,
        lines=_evaluation_lines(done),
        note=_evaluation_note(done, accepting=request.accept),
        exit_code=1 if done.regressions else 0,
    )


@asks(QuestionRequest)
def add_question(session: CommandSession, request: QuestionRequest) -> Answer:
    """Record that QUERY must find REF."""
    done = session.run(table.ADD_QUESTION, request)
    word = "added to " if done.action == "added" else "stands already in "
    return Answer(data=done, lines=[[(word, "green"), (done.file, "")]])


@asks(MissesRequest)
def misses(session: CommandSession, request: MissesRequest) -> Answer:
    """List prompts that missed their answer; the command shown adds one."""
    done = session.run(table.MISSES, request)
    none = "" if done.items or done.dropped else "no session has missed a memory that answers it"
    note = "`pmem eval misses --drop NAME` forgets one" if done.items else none
    lines: list[Line] = [[("dropped ", "green"), (f"{done.dropped}", "")]] * bool(done.dropped)
    for miss in done.items:
        command = f"pmem eval add {quote(miss.query)} {miss.short}"
        lines.append([(miss.name, "cyan"), (f" {command}", "")])
        text = " ".join(miss.text.split())
        lines.append([(f"         {miss.score:.2f} ", "green"), (text, "dim")])
    return Answer(data=done, lines=lines, note=note)


def _evaluation_lines(done: Evaluation) -> Iterator[Line]:
    for judged in done.questions:
        word: Line = [("ok    ", "green")] if judged.passed else [("miss  ", "red")]
        labels = ((evaluation.label(name), rank) for name, rank in judged.ranks.items())
        found = ", ".join(f"no {it}" if rank is None else f"{it} at {rank}" for it, rank in labels)
        yield [*word, (judged.query, "bold"), (f": {found}", "")]
        if judged.reason:
            yield [(f"      {judged.reason}", "dim")]
    yield [("", "")]
    for name, value in done.totals.items():
        yield [(f"{name:<16}", "bold"), (f"{value:.3f}", "")]
    if done.languages:
        told = ", ".join(f"{name} {value:.3f}" for name, value in done.languages.items())
        yield [(f"{'recall@5 of':<16}", "bold"), (told, "")]
    passed = sum(judged.passed for judged in done.questions)
    yield [(f"{'passed':<16}", "bold"), (f"{passed} of {len(done.questions)}", "")]
    for change in (*done.regressions, *done.improvements) if done.accepted is not None else ():
        verdict = ("regressed: ", "red") if change.is_regression else ("improved: ", "green")
        verdict = ("never accepted: ", "red") if change.before is None else verdict
        about = "" if change.query is None else f"{change.query!r}: "
        yield [verdict, (f"{about}{change.reason}", "")]


def _evaluation_note(done: Evaluation, *, accepting: bool) -> str:
    if accepting and done.path is not None:
        return f"accepted: {evaluation.accepted_file(done.path)}"
    if done.accepted is None:
        return "no run is accepted yet: `pmem eval --accept` keeps one to compare with"
    if done.regressions:
        return "worse than the accepted run; `pmem eval --accept` takes it as it is"
    if done.improvements:
        return "better than the accepted run: `pmem eval --accept` keeps it so"
    return "as good as the accepted run"
