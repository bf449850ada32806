"""What apps remember of conversations that have ended."""

from collections.abc import Iterator

from msgspec.structs import asdict

from pmem.apps.remembering import KIND, left_before, put_app_memory
from pmem.errors import Damaged, NotFound
from pmem.memory.app_questions import talk_given
from pmem.memory.conversations import unfold
from pmem.memory.requests import AddRequest
from pmem.model.tasks import ConversationGiven, SummaryAnswer
from pmem.project.workspace import Workspace
from pmem.upkeep.work.kinds import Changed, is_by_model
from pmem.values.records import Conversation, Origin, Source, Status


def waiting(workspace: Workspace, about: str | None) -> Iterator[str]:
    """Yield the conversations that have ended in an app, the latest first."""
    for identifier in reversed([about] if about else workspace.conversations.ids()):
        if _is_over(workspace.conversations.get(identifier)):
            yield identifier


def given(workspace: Workspace, name: str) -> ConversationGiven | None:
    """Return what there is to sum up; None where nothing of it is as the rules left it."""
    try:
        conversation = workspace.conversations.get(name)
        if not _is_over(conversation):
            return None
        left = left_before(workspace, _app_memory(conversation))
        if left is None or is_by_model(left):
            return None
        return talk_given(workspace, conversation.app or "", unfold(workspace, conversation))
    except (NotFound, Damaged):
        return None


def apply(workspace: Workspace, name: str, answer: SummaryAnswer, made_by: Origin) -> Changed:
    """Renew what the app remembers; an empty summary leaves the rules' one."""
    if not answer.summary:
        return ()
    wanted = _app_memory(workspace.conversations.get(name), answer.summary)
    done = put_app_memory(workspace, wanted, asdict(made_by))
    return () if done.memory is None or done.action == "known" else (done.memory.id,)


def _is_over(conversation: Conversation) -> bool:
    return conversation.app is not None and conversation.status is Status.ENDED


def _app_memory(conversation: Conversation, content: str = "") -> AddRequest:
    source = Source(kind=KIND, conversation=conversation.id)
    return AddRequest(content=content, app=conversation.app, source=source)
