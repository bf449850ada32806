"""How HTTP says no: which status an error has, and the errors that only HTTP knows.

A command's exit codes become statuses here and nowhere else.
"""

from collections.abc import Mapping
from typing import Any, Final

from pmem.errors import PmemError, UsageError

STATUSES: Final[Mapping[int, int]] = {
    2: 400,
    3: 422,
    4: 404,
    5: 500,
    6: 409,
    7: 403,
    8: 502,
    9: 409,
    70: 500,
    74: 507,
}
"""The status of an error, by the exit code that a command would have."""

STATUSES_BY_CODE: Final[Mapping[str, int]] = {"not_found": 404, "ambiguous": 409}
"""The status of errors of which the exit code says too little, by their code."""

STATUSES_BY_ACTION: Final[Mapping[str, int]] = {
    "added": 200,
    "suggested": 409,
    "queued": 202,
    "waiting": 202,
    "rejected": 403,
}
"""The status of what became of a memory that was to be added, by its action."""

RETRY_SECONDS: Final = "1"
"""When what failed for want of room or of the lock may be tried again."""

_TRY_AGAIN: Final = frozenset({"locked", "busy"})


class HttpRefusal(UsageError):
    """A request that is refused for what it is in HTTP, whatever it asks for."""

    def __init__(self, status: int, code: str, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.status = status
        self.code = code


def status_of(error: PmemError) -> int:
    """Return the status of an error."""
    if isinstance(error, HttpRefusal):
        return error.status
    return STATUSES_BY_CODE.get(error.code, STATUSES[error.exit_code])


def status_of_answer(answer: Any) -> int:
    """Return the status of an operation's answer: 200, unless it added a memory otherwise."""
    return STATUSES_BY_ACTION.get(getattr(answer, "action", ""), 200)


def headers_of(error: PmemError) -> dict[str, str]:
    """Return the headers that belong to an error."""
    if error.code in _TRY_AGAIN:
        return {"Retry-After": RETRY_SECONDS}
    return {"WWW-Authenticate": "Bearer"} if error.code == "token" else {}
