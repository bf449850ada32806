"""Whether apps ask a model at all, and may."""

from typing import TYPE_CHECKING

from pmem.errors import InvalidValue
from pmem.project.workspace import Workspace

if TYPE_CHECKING:
    from pmem.model.tasks import TaskKind


class WorkWaits(Exception):
    """A model may not be asked now, and its work is put off.

    Args:
        reason: Why.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def asks(workspace: Workspace, kind: "TaskKind") -> bool:
    """Tell whether a model is to do a task, and not the rules; without one nothing is imported.

    Args:
        kind: The task.
    """
    if workspace.given_models is None and not workspace.settings.model.is_chosen:
        return False
    from pmem.model.asking import models_of

    try:
        models = models_of(workspace)
    except InvalidValue:  # asking says what is wrong
        return True
    return models is not None and models.does(kind)
