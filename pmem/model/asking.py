"""Asking the project's models: never twice the same, never more than is allowed, always checked.

Nothing here takes the writers' lock, and nobody calls it who holds it.
"""

import re
from functools import partial
from typing import Any, Final, NamedTuple, cast

import msgspec

from pmem.core import secrets
from pmem.core.operations import operation
from pmem.core.visible import visible
from pmem.errors import InvalidValue, PmemError
from pmem.model.checks import CheckRules, checked_answer, with_texts
from pmem.model.models import AnswerRefused, Models, ModelUnreachable, in_time
from pmem.model.tasks import TASKS, Given, TaskKind, prompt_version, task_key, write_prompt
from pmem.project.workspace import Workspace
from pmem.storage.local.appstate import COMPACTION, CREATION
from pmem.storage.local.model_answers import KeptAnswer

_MOST_NAME: Final = 80
COSTS: Final[dict[str, float]] = {"conversation_summary": CREATION, "compaction": COMPACTION}
"""Units that work for an app costs."""
_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"|: .*", re.DOTALL)


class NoAnswer(Exception):
    """No answer can be used, and the rules' answer stands in its place.

    `is_down` says that there is no use in asking anything else now, and `waits` that the work is to
    be done later: nobody was asked.
    """

    def __init__(self, reason: str, *, is_down: bool = False, waits: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_down = is_down
        self.waits = waits


class ModelAnswered(NamedTuple):
    """An answer that may be used, and what a record that is made of it says of its origin."""

    answer: Any
    made_by: dict[str, str]


def models_of(workspace: Workspace) -> Models | None:
    """Return who does tasks in a project: those that were given, or that the settings choose."""
    if workspace.given_models is not None:
        return cast(Models, workspace.given_models)
    if not workspace.settings.model.is_chosen:
        return None
    from pmem.model.chosen import chosen_models

    workspace.given_models = chosen_models(workspace.settings.model, workspace.environment)
    return workspace.given_models


def clean_given(workspace: Workspace, given: Given) -> Given:
    """Return what a task is given as it may leave this machine: no secret, nothing hidden."""
    allowed = workspace.settings.secrets.allow
    made: Given = with_texts(
        given, lambda text: visible(secrets.redacted(text, secrets.find(text, allowed)))
    )
    return made


def key_of(kind: TaskKind, given: Given) -> str:
    """Return what tells one question from all others."""
    return task_key(kind, prompt_version(kind), given)


def origin(kind: TaskKind, key: str, model: str) -> dict[str, str]:
    """Return what a record says of where an answer comes from."""
    name = secrets.unsecret(visible(" ".join(model.split())))[:_MOST_NAME]
    return {"model": name, "prompt": f"{kind}/{prompt_version(kind)}", "digest": key}


def check_rules(workspace: Workspace) -> CheckRules:
    """Return what the settings say about answers."""
    settings = workspace.settings
    return CheckRules(private=settings.consent.fields, allowed=settings.secrets.allow)


def ask(workspace: Workspace, kind: TaskKind, given: Given) -> ModelAnswered:
    """Return a checked answer: the one that is known, or one that a model gives now.

    Where there is none that can be used, why is noted, and raised as NoAnswer.
    """
    key = key_of(kind, given)
    known = _known_answer(workspace, kind, given, key)
    if known is not None:
        return known
    try:
        models = models_of(workspace)
    except InvalidValue as error:  # settings that do not fit together
        note_failure(workspace, kind, f"{error.message}; {error.hint}")
        raise NoAnswer(error.message, is_down=True) from None
    if models is None or not models.does(kind):
        raise NoAnswer("no model does this", waits=True)
    _count_call(workspace, kind)
    try:
        said, tokens = ask_once(models, kind, given, workspace.settings.model.timeout)
        answer = checked_answer(kind, given, said, check_rules(workspace))
    except (AnswerRefused, ModelUnreachable) as error:
        is_down = isinstance(error, ModelUnreachable)
        note_failure(workspace, kind, str(error))
        raise NoAnswer(str(error), is_down=is_down) from None
    kept = KeptAnswer(models.name, msgspec.json.encode(answer), tokens)
    try:
        workspace.own.model_answers.keep(key, kind, kept, workspace.now())
    except PmemError as error:
        workspace.notes.append(f"model: an answer is not kept: {error.message}")
    return ModelAnswered(answer, origin(kind, key, models.name))


def ask_once(
    models: Models, kind: TaskKind, given: Given, seconds: float
) -> tuple[Any, int | None]:
    """Return what models say to a task, as it comes, and the tokens that it took."""
    function = models.function_for(kind)
    if function is not None:
        return in_time(partial(function, given), seconds, models.name), None
    if models.text is None:
        raise ModelUnreachable(f"{models.name} does not do this")
    prompt = write_prompt(kind, given, TASKS[kind].most_tokens)
    text = models.text
    done = in_time(lambda: text.complete(prompt, seconds), seconds + _OWN_SECONDS, models.name)
    return done.text, done.tokens


_OWN_SECONDS: Final = 0.9  # what a way to ask may take beyond its time to end what it has started


def note_failure(workspace: Workspace, kind: TaskKind, reason: str) -> None:
    """Note that a model did not do a task: for the log, for whoever asked, and for `strict`."""
    workspace.model_failures.append(f"{kind}: {reason}")
    workspace.notes.append(f"model: {kind} went by the rules: {reason}")
    if not workspace.read_only:
        log_failure(workspace, kind, reason)


def unquoted(reason: str) -> str:
    """Return why there is no answer, without what it quotes of one, of an error or a question."""
    return _QUOTED.sub("", reason).strip()


def log_failure(workspace: Workspace, kind: TaskKind, reason: str) -> None:
    """Log why no answer is used."""
    if workspace.settings.record_operations:
        told = {"status": "error", "reason": unquoted(reason)}
        workspace.own.operations.note([operation(workspace.now(), "model", kind, told)])


def _known_answer(
    workspace: Workspace, kind: TaskKind, given: Given, key: str
) -> ModelAnswered | None:
    """Return the answer that is kept; it is checked again, as settings may have changed."""
    try:
        kept = workspace.own.model_answers.find(key)
        if kept is None:
            return None
        answer = checked_answer(kind, given, bytes(kept.answer), check_rules(workspace))
    except (AnswerRefused, PmemError):
        return None
    return ModelAnswered(answer, origin(kind, key, kept.model))


def _count_call(workspace: Workspace, kind: TaskKind) -> None:
    """Take one of the day's calls, and the energy that it costs where it is for an app."""
    settings, now = workspace.settings, workspace.now()
    most, cost = settings.model.calls_per_day, COSTS.get(kind)
    try:
        answers = workspace.own.model_answers
        if answers.calls(now) >= most:
            raise NoAnswer(f"the day's {most} calls are used up", is_down=True, waits=True)
        if cost is not None and not workspace.own.apps.spend(cost, now, settings.apps):
            raise NoAnswer("too little energy", waits=True)
        answers.count_call(now)
    except PmemError as error:
        raise NoAnswer(error.message, is_down=True, waits=True) from None
