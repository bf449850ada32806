"""Trying a model with made-up examples: what it answers, what is refused and why."""

import time
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from pmem.errors import InvalidValue
from pmem.model import tasks
from pmem.model.asking import ask_once, check_rules, models_of
from pmem.model.checks import checked_answer, read_model_answer
from pmem.model.models import AnswerRefused, Models, ModelUnreachable
from pmem.project.workspace import Workspace

_TALK: Final = tuple(
    tasks.SaidMessage(who=who, text=text)
    for who, text in (
        ("Ada", "Orders go to PostgreSQL from now on: SQLite locked up twice last week."),
        ("Ben", "Agreed. I moved the tables with `make migrate` and set the pool to 20."),
        ("Ada", "Please never run the migration on Fridays."),
        ("Ben", "Noted. First I ran `make backup`, then `make migrate`, then `make check`."),
        ("Ada", "Did the check pass?"),
        ("Ben", "Yes, all 42 tests passed and the new pool is deployed."),
    )
)
EXAMPLES: Final[Mapping[tasks.TaskKind, tasks.Given]] = {
    "chunk_summary": tasks.ChunkGiven(messages=_TALK, most_characters=400),
    "conversation_summary": tasks.ConversationGiven(
        app="orders", messages=_TALK, outcome="Orders are in PostgreSQL.", most_characters=200
    ),
    "compaction": tasks.CompactionGiven(
        app="calendar",
        memories=(
            tasks.KeptMemory(id="aaaaaaaa", content="Ada prefers meetings after 14:00.",
                       created="2026-01-05", worth=0.6),
            tasks.KeptMemory(id="bbbbbbbb", content="The office was closed on 2026-01-06.",
                       created="2026-01-06", worth=0.1),
            tasks.KeptMemory(id="cccccccc", content="Ben shares the calendar of the team.",
                       created="2026-02-01", worth=0.5),
        ),
        limit=2,
        most_characters=200,
    ),
    "turn_facts": tasks.TurnGiven(who="Ada", text=f"{_TALK[0].text} {_TALK[2].text}"),
    "episode": tasks.EpisodeGiven(type="task_completed", messages=_TALK),
    "insight": tasks.InsightGiven(
        activity=(
            "Locked tables: SQLite locked up while orders were written.",
            "Slow report: SQLite was slow while the report read the orders.",
        ),
        memories=("Orders are in PostgreSQL.",),
    ),
    "same_fact": tasks.PairsGiven(
        pairs=(
            tasks.GivenPair(id="aaaaaaaa-bbbbbbbb", older="The pool has 10 connections.",
                      newer="The pool has 20 connections."),
            tasks.GivenPair(id="cccccccc-dddddddd", older="Orders are in PostgreSQL.",
                      newer="Reports are sent on Mondays."),
        )
    ),
    "procedure": tasks.ProcedureGiven(task="Move the orders to PostgreSQL", messages=_TALK),
}  # fmt: skip
"""Nothing of a memory is in them."""


class ModelTestRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which tasks to try; all when empty."""

    kinds: tasks.Kinds = ()


class ModelTrial(msgspec.Struct, frozen=True, kw_only=True):
    """What a model made of one example, whether that would be used, and what it took, if known."""

    kind: tasks.TaskKind
    passed: bool
    reason: str = ""
    answer: Any = None
    seconds: float = 0.0
    tokens: int | None = None


class ModelTested(msgspec.Struct, frozen=True, kw_only=True):
    """What a model made of the examples."""

    model: str
    items: tuple[ModelTrial, ...]


def test_model(workspace: Workspace, request: ModelTestRequest) -> ModelTested:
    """Ask a model each example once, without looking at what it answered before."""
    models = models_of(workspace)
    if models is None:
        raise InvalidValue(
            "no model is chosen: pmem works by its rules",
            "set model.use, model.command or model.url in your own config.toml;"
            " `pmem help models` explains it",
        )
    kinds = [kind for kind in tasks.TASKS if kind in (request.kinds or tasks.TASKS)]
    trials = tuple(_try(workspace, models, kind) for kind in kinds)
    return ModelTested(model=models.name, items=trials)


def _try(workspace: Workspace, models: Models, kind: tasks.TaskKind) -> ModelTrial:
    started = time.monotonic()
    answer: Any = None
    tokens: int | None = None
    reason = ""
    try:
        limit = workspace.settings.model.timeout
        said, tokens = ask_once(models, kind, EXAMPLES[kind], limit)
        answer = read_model_answer(kind, said)
        answer = checked_answer(kind, EXAMPLES[kind], answer, check_rules(workspace))
    except (AnswerRefused, ModelUnreachable) as error:
        reason = str(error)
    return ModelTrial(
        kind=kind,
        passed=not reason,
        reason=reason,
        answer=answer,
        seconds=round(time.monotonic() - started, 2),
        tokens=tokens,
    )
