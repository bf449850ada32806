"""`pmem eval`: how well searches find what a golden set names."""

from collections.abc import Iterator
from shlex import quote

import msgspec

from pmem.cli import render
from pmem.cli.asking import asks
from pmem.cli.session import Answer, CommandSession, Line
from pmem.operations import table
from pmem.search import evaluation, golden
from pmem.search.evaluation import Evaluation, EvaluationRequest, FigureChange, QuestionResult
from pmem.search.golden import Golden, Misses, MissesRequest, QuestionRequest

_STDIN = "-"


@asks(EvaluationRequest)
def run(session: CommandSession, request: EvaluationRequest) -> Answer:
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
        lines=_lines(done),
        note=_evaluation_note(done, accepting=request.accept),
        exit_code=1 if done.regressions else 0,
    )


@asks(QuestionRequest)
def add(session: CommandSession, request: QuestionRequest) -> Answer:
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
    return Answer(data=done, lines=_miss_lines(done), note=note)


def _miss_lines(done: Misses) -> Iterator[Line]:
    if done.dropped:
        yield [("dropped ", "green"), (f"{done.dropped}", "")]
    for miss in done.items:
        command = f"pmem eval add {quote(miss.query)} {miss.short}"
        yield [(miss.name, "cyan"), (f" {command}", "")]
        yield [(f"         {miss.score:.2f} ", "green"), (" ".join(miss.text.split()), "dim")]


def _lines(done: Evaluation) -> Iterator[Line]:
    for judged in done.questions:
        yield from _question_lines(judged)
    yield [("", "")]
    for name, value in done.totals.items():
        yield [(f"{name:<16}", "bold"), (f"{value:.3f}", "")]
    if done.languages:
        told = ", ".join(f"{name} {value:.3f}" for name, value in done.languages.items())
        yield [(f"{'recall@5 of':<16}", "bold"), (told, "")]
    passed = sum(judged.passed for judged in done.questions)
    yield [(f"{'passed':<16}", "bold"), (f"{passed} of {len(done.questions)}", "")]
    if done.accepted is not None:
        yield from map(_change_line, (*done.regressions, *done.improvements))


def _question_lines(judged: QuestionResult) -> Iterator[Line]:
    word: Line = [("ok    ", "green")] if judged.passed else [("miss  ", "red")]
    labels = ((evaluation.label(name), rank) for name, rank in judged.ranks.items())
    found = ", ".join(f"no {it}" if rank is None else f"{it} at {rank}" for it, rank in labels)
    yield [*word, (judged.query, "bold"), (f": {found}", "")]
    if judged.reason:
        yield [(f"      {judged.reason}", "dim")]


def _change_line(change: FigureChange) -> Line:
    word = ("regressed: ", "red") if change.is_regression else ("improved: ", "green")
    if change.before is None:
        word = ("never accepted: ", "red")
    about = "" if change.query is None else f"{change.query!r}: "
    return [word, (f"{about}{change.reason}", "")]


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
