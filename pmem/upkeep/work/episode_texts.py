"""How key moments are told."""

from collections.abc import Iterator

from msgspec.structs import asdict

from pmem.core.filters import Filter
from pmem.core.retention import changed
from pmem.errors import Damaged, NotFound
from pmem.memory.app_questions import told_messages
from pmem.memory.conversations import unfold
from pmem.memory.proposals import check_leave
from pmem.model.tasks import EpisodeAnswer, EpisodeGiven
from pmem.project.workspace import Workspace
from pmem.upkeep.work.kinds import Changed, is_by_model
from pmem.values.records import Episode, EventKind, Origin, State

MOST_MESSAGES = 30
SOURCE = "model"
"""The source of the events that answers leave."""


def waiting(workspace: Workspace, about: str | None) -> Iterator[str]:
    """Yield the episodes that a conversation made, the latest first."""
    found = [one for one in workspace.episodes.find(Filter()) if one.turns and one.conversation]
    for episode in reversed(found):
        if about in (None, episode.conversation):
            yield episode.id


def given(workspace: Workspace, name: str) -> EpisodeGiven | None:
    """Return the messages of an episode; None where somebody has told it already."""
    try:
        episode = workspace.episodes.get(name)
        if episode.turns is None or episode.conversation is None or not _is_as_noticed(episode):
            return None
        conversation = workspace.conversations.get(episode.conversation)
        said = unfold(workspace, conversation).messages
    except (NotFound, Damaged):
        return None
    stretch = said[max(0, episode.turns.start - 1) : episode.turns.end]
    if not stretch:
        return None
    return EpisodeGiven(type=episode.type, messages=told_messages(stretch, MOST_MESSAGES))


def apply(workspace: Workspace, name: str, answer: EpisodeAnswer, made_by: Origin) -> Changed:
    """Tell an episode in other words; its history keeps the earlier ones."""
    from msgspec.structs import replace

    episode = workspace.episodes.get(name)
    check_leave(workspace, episode, "let a person do this work")
    event = replace(workspace.event(EventKind.UPDATE, **asdict(made_by)), source=SOURCE)
    workspace.episodes.put(
        changed(
            episode,
            event,
            title=answer.title,
            summary=answer.summary,
            tokens=workspace.count(answer.summary),
        )
    )
    return (name,)


def _is_as_noticed(episode: Episode) -> bool:
    told = any({"title", "summary"} & event.before.keys() for event in episode.history)
    return episode.state is State.ACTIVE and not told and not is_by_model(episode)
