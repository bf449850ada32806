"""What an operation led to, and its one plain form for every front end."""

from typing import Any, Generic, TypeVar

import msgspec

from pmem.storage.backend import Problem

A = TypeVar("A")


class Outcome(msgspec.Struct, Generic[A], frozen=True):
    """What an operation led to.

    Attributes:
        result: Its answer.
        notes: What whoever asked should be told beside it, such as secrets that were taken out.
        problems: Files that could not be used and were left out.
        has_written: Whether any record was changed.
    """

    result: A
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    has_written: bool = False

    @property
    def plain(self) -> Any:
        """The answer as every front end gives it in JSON."""
        return plain_form(self.result)


def plain_form(answer: Any) -> Any:
    """Return an answer as it is written in JSON.

    Args:
        answer: An operation's answer; one whose fields are not its plain form says what is, in
            a method `to_plain`.
    """
    to_plain = getattr(answer, "to_plain", None)
    return answer if to_plain is None else to_plain()
