"""Models, and the work that there is for them."""

from __future__ import annotations  # a row's type is for readers and checkers: it costs nothing

from typing import TYPE_CHECKING, Final

from pmem.operations.operation import Operation

if TYPE_CHECKING:
    from pmem.upkeep.work.doing import (
        AnsweredAll,
        WorkAnswersRequest,
        WorkHandedOut,
        WorkListing,
        WorkListRequest,
        WorkRequest,
    )
    from pmem.upkeep.work.trying import ModelTested, ModelTestRequest

WORK: Final[Operation[WorkListRequest, WorkListing]] = Operation(
    "work.list", "List the work that waits for a model", "upkeep.work.doing:list_work",
    categories=("activity", "event")
)  # fmt: skip
NEXT_WORK: Final[Operation[WorkRequest, WorkHandedOut]] = Operation(
    "work.next", "Hand out the next work for a model, with its prompt and its answer's schema",
    "upkeep.work.doing:hand_out", categories=("activity", "event")
)  # fmt: skip
APPLY_WORK: Final[Operation[WorkAnswersRequest, AnsweredAll]] = Operation(
    "work.apply", "Apply answers to work, checked, while what they rest on has not moved",
    "upkeep.work.doing:apply_answers", categories=("activity", "event"),
    writes="beside", effect="idempotent"
)  # fmt: skip
TEST_MODEL: Final[Operation[ModelTestRequest, ModelTested]] = Operation(
    "model.test", "Try the chosen model with one made-up example of each task",
    "upkeep.work.trying:test_model", scope="nothing"
)  # fmt: skip
