"""What every part of the library stands on: typed calls that run one operation each."""

from abc import abstractmethod
from typing import TypeVar

from pmem.library.typed import Typed
from pmem.operations.operation import Operation

Q = TypeVar("Q")
A = TypeVar("A")


class Asking(Typed):
    """A class whose methods ask for operations."""

    @abstractmethod
    def _run(self, operation: Operation[Q, A], request: Q) -> A:
        """Run an operation, and return its answer."""
