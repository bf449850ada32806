"""Asking a project for something as every front end does: through the pipeline."""

from typing import TypeVar

from pmem.operations.operation import Operation
from pmem.operations.pipeline import run
from pmem.project.caller import NOBODY, Caller
from pmem.project.workspace import Workspace

Q = TypeVar("Q")
A = TypeVar("A")


def ask(workspace: Workspace, operation: Operation[Q, A], request: Q, caller: Caller = NOBODY) -> A:
    """Run an operation, and return its answer."""
    return run(workspace, operation, request, caller).result
