"""What a project offers to whoever does a model's work."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import ValidationError, convert

from pmem.errors import InvalidValue
from pmem.library.asking import Asking
from pmem.library.typed import made
from pmem.operations import table
from pmem.upkeep.work.applying import AnsweredAll, WorkAnswer, WorkAnswersRequest
from pmem.upkeep.work.handing_out import (
    WorkHandedOut,
    WorkListing,
    WorkListRequest,
    WorkRequest,
)
from pmem.upkeep.work.trying import ModelTested, ModelTestRequest


class ModelWork(Asking):
    """The work that waits for a model, and trying the one that is chosen."""

    def work(self, kinds: Iterable[str] = ()) -> WorkListing:
        """List the work that waits.

        Args:
            kinds: Only these (see `pmem.model.tasks`).
        """
        return self._run(table.WORK, made(WorkListRequest, kinds=tuple(kinds)))

    def next_work(self, limit: int = 1, **request: Any) -> WorkHandedOut:
        """Return the next pieces of work, each with its prompt.

        Args:
            limit: How many at the most.
            request: The other fields of `WorkRequest`.
        """
        return self._run(table.NEXT_WORK, made(WorkRequest, limit=limit, **request))

    def apply_work(self, answers: Iterable[Mapping[str, Any]]) -> AnsweredAll:
        """Apply answers to work, while what they rest on has not moved.

        Args:
            answers: Each with the `id` and `digest` of the work, and the `answer`.

        Raises:
            InvalidValue: One has another form.
        """
        try:
            given = convert(list(answers), tuple[WorkAnswer, ...])
        except ValidationError as error:
            raise InvalidValue(f"an answer to work has another form: {error}") from None
        return self._run(table.APPLY_WORK, WorkAnswersRequest(answers=given))

    def test_model(self, kinds: Iterable[str] = ()) -> ModelTested:
        """Try the project's models with one made-up example of each task.

        Args:
            kinds: Only these.
        """
        return self._run(table.TEST_MODEL, made(ModelTestRequest, kinds=tuple(kinds)))
