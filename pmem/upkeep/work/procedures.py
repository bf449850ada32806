"""Workflows that led to finished tasks, as steps."""

from collections.abc import Iterator

from msgspec.structs import asdict

from pmem.core.filters import Filter
from pmem.errors import Damaged, NotFound
from pmem.memory.app_questions import told_messages
from pmem.memory.conversations import unfold
from pmem.memory.memories import put_new
from pmem.memory.requests import AddRequest
from pmem.model.models import AnswerRefused
from pmem.model.tasks import ProcedureAnswer, ProcedureGiven
from pmem.project.workspace import Workspace
from pmem.upkeep.work.kinds import Changed
from pmem.values.records import EpisodeType, MemoryType, Origin, Source

MOST_MESSAGES = 40
FEWEST_TURNS = 6
LEAST_SIGNIFICANCE = 0.5
_KIND = "conversation"


def waiting(workspace: Workspace, about: str | None) -> Iterator[str]:
    """Yield the finished tasks that took some turns, the latest first."""
    found = [
        one
        for one in workspace.episodes.find(Filter())
        if one.type is EpisodeType.TASK_COMPLETED
        and one.significance >= LEAST_SIGNIFICANCE
        and about in (None, one.conversation)
    ]
    yield from (one.id for one in reversed(found))


def given(workspace: Workspace, name: str) -> ProcedureGiven | None:
    """Return how a task was done; None where that took too few turns, or it is written down."""
    try:
        episode = workspace.episodes.get(name)
        if episode.turns is None or episode.conversation is None:
            return None
        conversation = workspace.conversations.get(episode.conversation)
        said = unfold(workspace, conversation).messages
    except (NotFound, Damaged):
        return None
    stretch = said[max(0, episode.turns.start - 1) : episode.turns.end]
    if len(stretch) < FEWEST_TURNS or _is_written(workspace, episode.conversation):
        return None
    return ProcedureGiven(task=episode.title, messages=told_messages(stretch, MOST_MESSAGES))


def apply(workspace: Workspace, name: str, answer: ProcedureAnswer, made_by: Origin) -> Changed:
    """Add the steps as a memory, unless one says so.

    Raises:
        AnswerRefused: They are longer than a memory may be.
    """
    if not answer.steps:
        return ()
    episode = workspace.episodes.get(name)
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate(answer.steps, 1))
    content = f"{answer.title}:\n{steps}"
    if len(content) > workspace.settings.limits.memory:
        raise AnswerRefused("the steps are longer than a memory may be")
    request = AddRequest(
        content=content,
        type=MemoryType.PROCEDURE,
        app=episode.app,
        source=Source(kind=_KIND, conversation=episode.conversation),
    )
    added = put_new(workspace, request, **asdict(made_by))
    return (added.record.id,) if added.action == "added" and added.record is not None else ()


def _is_written(workspace: Workspace, conversation: str) -> bool:
    return any(
        memory.type is MemoryType.PROCEDURE and memory.source.conversation == conversation
        for memory in workspace.memories.find(Filter())
    )
