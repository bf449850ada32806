"""Measuring recall against a golden set, and against the run that was accepted last.

Every question is asked as `pmem search` asks it, judged by itself, and summed up in figures.
The accepted run lies beside the golden set.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from math import log2
from typing import Annotated, Any, Final

import msgspec

from pmem.core import exactjson
from pmem.core.retrieval.question import language_of
from pmem.errors import Damaged, InvalidValue
from pmem.project.workspace import Workspace
from pmem.search.context_request import ContextRequest
from pmem.search.contexts import build_context
from pmem.search.golden import ACCEPTED, Golden, Kept, Question, content, default_file, names, read
from pmem.search.hits import SearchRequest
from pmem.search.search import search
from pmem.storage.files.durable import refusals
from pmem.storage.jsonfiles import write_own
from pmem.values.fields import Progress, asked, ignore_progress
from pmem.values.ids import is_id, short
from pmem.values.records import dump

Ranks = Sequence[int | None]
"""How a question's wanted records ranked, from one; None for what was not found."""
DEFAULT_K: Final = 10
DEFAULT_BUDGET: Final = 1000
DEPTH: Final = 100
"""How far down a ranking wanted references are looked for."""
EPSILON: Final = 1e-5
"""Figures that differ by no more are the same."""
COVERAGE: Final = "budget_coverage"
_LANGUAGE_K: Final = 5
_NAMED: Final = 3


class QuestionResult(Question, frozen=True, kw_only=True):
    """A question and how it came out: the rank of every reference, or None, and why.

    `covered` tells whether the context of its query holds all that it wants.
    """

    passed: bool
    ranks: dict[str, int | None]
    covered: bool
    reason: str

    @property
    def question(self) -> Question:
        """The question alone."""
        return Question(**{name: getattr(self, name) for name in Question.__struct_fields__})

    @property
    def wanted(self) -> Ranks:
        """The ranks of what must be found."""
        return [self.ranks.get(reference) for reference in self.must]


class EvaluationRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to measure.

    The questions are those of `golden`, else of a file, else of the memory's own golden set. `k`
    adds a recall@k to the usual ones, `budget` is the context's of questions that set none,
    `accept` keeps the run as what later ones are compared with, and `progress` is told of the
    questions as they are answered.
    """

    golden: Golden | None = None
    file: Annotated[
        str | None,
        asked("The golden set [golden.jsonl in the memory].", shown="[FILE|-]", is_argument=True),
    ] = None
    k: Annotated[int, asked("Measure recall at this rank too.", flag="-k")] = DEFAULT_K
    budget: Annotated[int, asked("Tokens for contexts whose question sets none.")] = DEFAULT_BUDGET
    accept: Annotated[bool, asked("Keep this run as the baseline for later ones.")] = False
    progress: Progress = ignore_progress


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A finished run, as it is kept when it is accepted."""

    budget: int
    totals: dict[str, float]
    questions: tuple[QuestionResult, ...]


class FigureChange(msgspec.Struct, frozen=True, kw_only=True):
    """A figure that differs from the accepted run's.

    `passed` is a question's own figure, one or zero; it has no `before` where no such
    question was ever accepted.
    """

    figure: str
    query: str | None = None
    before: float | None
    after: float
    reason: str

    @property
    def is_regression(self) -> bool:
        """Tell whether things got worse; what was never accepted is to be right at once."""
        return self.after < (1 if self.before is None else self.before)


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """A run, the accepted run's totals, and what differs between the two.

    `languages` has the recall@5 of questions that surely are English and of the others by their
    script, where a set has both; `path` is the file of the golden set, if it is one.
    """

    questions: tuple[QuestionResult, ...]
    totals: dict[str, float]
    accepted: dict[str, float] | None
    regressions: tuple[FigureChange, ...] = ()
    improvements: tuple[FigureChange, ...] = ()
    languages: dict[str, float] = {}
    path: str | None = None

    def to_plain(self) -> dict[str, Any]:
        """Return all but the path."""
        fields = msgspec.structs.asdict(self)
        del fields["path"]
        return fields


def accepted_file(path: str) -> str:
    """Return where the accepted run of a golden set is."""
    return os.path.splitext(path)[0] + ACCEPTED


def evaluate(workspace: Workspace, request: EvaluationRequest) -> Evaluation:
    """Ask every question of a golden set and compare with the accepted run.

    Raises:
        InvalidValue: The set is empty, a number is too small, or there is no file beside
            which a run could be accepted.
    """
    golden = request.golden or read(request.file or default_file(workspace))
    _check(golden, request)
    run = _run(workspace, golden, request)
    path = golden.path
    changes: list[FigureChange] = []
    before = run if request.accept else None
    if request.accept and path is not None:
        accepted = os.path.abspath(accepted_file(path))
        with workspace.transaction(), refusals(accepted):
            write_own(workspace.root, accepted, dump(run))
    else:
        before = None if path is None else _accepted(accepted_file(path))
        changes += _changes(before, run, request.k)
    return Evaluation(
        questions=run.questions,
        totals=run.totals,
        accepted=before.totals if before else None,
        regressions=tuple(change for change in changes if change.is_regression),
        improvements=tuple(change for change in changes if not change.is_regression),
        languages=_by_language(run.questions),
        path=path,
    )


def label(reference: str) -> str:
    """Return a reference as people see it: ids in their short form."""
    return short(reference) if is_id(reference) else reference


def _check(golden: Golden, request: EvaluationRequest) -> None:
    if request.accept and golden.path is None:
        raise InvalidValue("a run is accepted beside its golden set, which must be a file")
    if request.k < 1:
        raise InvalidValue(f"the number of hits must be at least 1, not {request.k}")
    if request.budget < 1:
        raise InvalidValue(f"a budget must be at least 1 token, not {request.budget}")
    if not golden.questions:
        where = golden.path or "standard input"
        raise InvalidValue(f"{where} holds no question", "`pmem eval add QUERY REF` adds one")


def _run(workspace: Workspace, golden: Golden, request: EvaluationRequest) -> Run:
    kept, judged = Kept(workspace), []
    for number, question in enumerate(golden.questions, start=1):
        judged.append(_judge(workspace, request, question, kept))
        request.progress(number, len(golden.questions))
    totals = _means([_figures(one, request.k) for one in judged])
    return Run(budget=request.budget, totals=totals, questions=tuple(judged))


def _judge(
    workspace: Workspace, request: EvaluationRequest, question: Question, kept: Kept
) -> QuestionResult:
    """Return a question with its outcome."""
    most = question.max_rank or workspace.settings.retrieval_top_k
    depth = max(DEPTH, request.k, workspace.settings.retrieval_top_k, most)
    places = _places(workspace, question, depth)
    ranks = {name: places.get(name) for name in (*question.must, *question.must_not)}
    wrong = list(_wrong(question, ranks, most, max(places.values(), default=0), kept))
    lost = [name for name in question.must_not if ranks[name] is None and not kept.exists(name)]
    return QuestionResult(
        **msgspec.structs.asdict(question),
        passed=not wrong,
        ranks=ranks,
        covered=_is_covered(workspace, question, question.budget or request.budget),
        reason="; ".join([*wrong, *(f"{label(name)} does not exist" for name in lost)]),
    )


def _places(workspace: Workspace, question: Question, depth: int) -> dict[str, int]:
    """Return the best rank of every name that a hit has."""
    asked = SearchRequest(
        query=question.query, kinds=question.kind, top_k=depth, related=0, counts=False
    )
    found: dict[str, int] = {}
    for rank, hit in enumerate(search(workspace, asked).hits, start=1):
        for name in names(hit.id, hit.external_id):
            found.setdefault(name, rank)
    return found


def _wrong(
    question: Question, ranks: dict[str, int | None], most: int, hits: int, kept: Kept
) -> Iterator[str]:
    """Say what is not where it must be, and what is where it must not be."""
    elsewhere = f"is not among {hits} hit{'s' * (hits != 1)}"
    for name in question.must:
        rank = ranks[name]
        if rank is None:
            yield f"{label(name)} {kept.why_not_found(name, question.kind) or elsewhere}"
        elif rank > most:
            yield f"{label(name)} is at rank {rank}, beyond {most}"
    for name in question.must_not:
        rank = ranks[name]
        if rank is not None and rank <= most:
            yield f"{label(name)} is at rank {rank} and must not be among the first {most}"


def _is_covered(workspace: Workspace, question: Question, budget: int) -> bool:
    """Tell whether a context within a budget holds all that is wanted."""
    asked = ContextRequest(query=question.query, budget=budget, related=0, counts=False)
    shown: set[str] = set()
    for section in build_context(workspace, asked).sections if question.must else ():
        for item in section.items:
            shown.update(names(item.id, item.external_id))
    return shown.issuperset(question.must)


def _figures(judged: QuestionResult, k: int) -> dict[str, float]:
    """Return what is measured of a question; nothing of one that wants nothing."""
    if not judged.must:
        return {}
    return {
        **{f"recall@{n}": recall_at(judged.wanted, n) for n in sorted({1, 5, 10, k})},
        "mrr": reciprocal_rank(judged.wanted),
        "ndcg@10": ndcg_at(judged.wanted, 10),
        COVERAGE: float(judged.covered),
    }


def _means(measured: Iterable[dict[str, float]]) -> dict[str, float]:
    """Return the mean of every figure; none where no question wants anything."""
    rows = [row for row in measured if row]
    return {name: mean([row[name] for row in rows]) for name in rows[0]} if rows else {}


def _by_language(judged: Sequence[QuestionResult]) -> dict[str, float]:
    """Return the recall@5 by how questions are written; nothing where all are written alike."""
    groups: dict[str, list[float]] = {}
    for item in judged:
        if item.must:
            recall = recall_at(item.wanted, _LANGUAGE_K)
            groups.setdefault(language_of(item.query), []).append(recall)
    named = {name: mean(recalls) for name, recalls in sorted(groups.items())}
    return named if len(named) > 1 else {}


def _accepted(path: str) -> Run | None:
    """Return the run that was accepted last."""
    data = content(path)
    if data is None:
        return None
    try:
        return msgspec.convert(exactjson.read(data), Run)
    except (exactjson.InexactJson, msgspec.ValidationError) as error:
        why = exactjson.sentence(error) if isinstance(error, msgspec.ValidationError) else error
        hint = "take it from git, or write it again with `pmem eval --accept`"
        raise Damaged(f"{path} is no accepted run: {why}", hint) from None


def _changes(before: Run | None, run: Run, k: int) -> Iterator[FigureChange]:
    """Yield what differs between a run and the accepted one, on the questions of both.

    A question that is new is to pass.
    """
    known = {item.question: item for item in before.questions} if before else {}
    for item in run.questions:
        earlier = known.get(item.question)
        if item.passed != (earlier is None or earlier.passed):
            yield FigureChange(
                figure="passed",
                query=item.query,
                before=None if earlier is None else float(earlier.passed),
                after=float(item.passed),
                reason="passes now" if item.passed else item.reason,
            )
    both = [item for item in run.questions if item.must and item.question in known]
    old = [_figures(known[item.question], k) for item in both]
    new = [_figures(item, k) for item in both]
    after = _means(new)
    for name, value in _means(old).items():
        is_comparable = name != COVERAGE or (before and before.budget == run.budget)
        if is_comparable and abs(after[name] - value) > EPSILON:
            moved = [
                item.query
                for item, was, now in zip(both, old, new, strict=True)
                if was[name] != now[name] and (now[name] < was[name]) == (after[name] < value)
            ]
            yield _shift(name, value, after[name], moved)


def _shift(name: str, before: float, after: float, moved: Sequence[str]) -> FigureChange:
    """Describe a total that fell or rose, with the first few queries that moved it."""
    more = [f"{len(moved) - _NAMED} more"] if len(moved) > _NAMED else []
    queries = ", ".join([*map(repr, moved[:_NAMED]), *more])
    said = f"{name} {'fell' if after < before else 'rose'} from {before:.3f} to {after:.3f}"
    return FigureChange(figure=name, before=before, after=after, reason=f"{said}: {queries}")


def recall_at(ranks: Ranks, k: int) -> float:
    """Return the share of what was wanted that is among the first `k`.

    Manning, Raghavan and Schütze, Introduction to Information Retrieval (2008), chapter 8.
    """
    return sum(rank is not None and rank <= k for rank in ranks) / len(ranks)


def reciprocal_rank(ranks: Ranks) -> float:
    """Return one divided by the best rank, and zero where nothing was found.

    Its mean over questions is MRR: Voorhees, The TREC-8 Question Answering Track Report (1999).
    """
    return max((1 / rank for rank in ranks if rank is not None), default=0.0)


def ndcg_at(ranks: Ranks, k: int) -> float:
    """Return the discounted gain of the first `k` hits as a share of the best possible one.

    Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques (2002), with
    gains of zero and one, and the discount of `log2(rank + 1)` that Burges et al., Learning to
    rank using gradient descent (2005) made usual. A rank counts once.
    """
    found = sorted({rank for rank in ranks if rank is not None and rank <= k})
    return _discounted(found) / _discounted(range(1, min(k, len(ranks)) + 1))


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean, to six decimals: the same on every machine."""
    return round(sum(values) / len(values), 6)


def _discounted(ranks: Sequence[int]) -> float:
    """Return the cumulated gain of hits of gain one at these ranks."""
    return sum(1 / log2(rank + 1) for rank in ranks)
