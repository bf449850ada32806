"""`pmem eval`: how well searches find what a golden set names."""

from collections.abc import Iterator
from shlex import quote

import msgspec

from pmem.cli import render
from pmem.cli.asking import asks
from pmem.cli.session import Answer, CommandSession, Line
from pmem.operations import table
from pmem.search import evaluation, golden
from pmem.search.evaluation import Evaluation, EvaluationRequest
from pmem.search.golden import Golden, MissesRequest, QuestionRequest

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
    lines: list[Line] = [[("dropped ", "green"), (f"{done.dropped}", "")]] * bool(done.dropped)
    for miss in done.items:
        command = f"pmem eval add {quote(miss.query)} {miss.short}"
        lines.append([(miss.name, "cyan"), (f" {command}", "")])
        text = " ".join(miss.text.split())
        lines.append([(f"         {miss.score:.2f} ", "green"), (text, "dim")])
    return Answer(data=done, lines=lines, note=note)


def _lines(done: Evaluation) -> Iterator[Line]:
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
