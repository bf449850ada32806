"""What the table says of one use case."""

from enum import Enum, auto
from typing import Generic, NamedTuple, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")


class Writes(Enum):
    """What an operation writes."""

    NOTHING = auto()
    RECORDS = auto()
    """Records, in one transaction that the pipeline holds around it."""
    BESIDE = auto()
    """Settings, local state or files, or records in transactions of its own."""


class Scope(Enum):
    """How much of the memory an operation needs to see."""

    NOTHING = auto()
    """None of it: nobody is kept from it."""
    CONTENT = auto()
    """What whoever asks may see; what the request names must lie within."""
    WHOLE = auto()
    """All of it: whoever may not see everything is refused."""


class Gate(Enum):
    """What the gate looks at, so that no secret is kept."""

    NOTHING = auto()
    REQUEST = auto()
    """The whole request, before the operation sees it."""
    THREAD = auto()
    """The name of a thread alone, which is kept where the rest is not."""
    ITEMS = auto()
    """A stream of items: the request's `admit` is set, and lets them in one by one."""


class Effect(Enum):
    """What a second run would do, and whether there is a way back."""

    SAFE = auto()
    """It takes nothing away."""
    IDEMPOTENT = auto()
    """A second run changes nothing more, and there is a way back."""
    DESTRUCTIVE = auto()
    """What it takes away does not come back."""


class Operation(NamedTuple, Generic[Q, A]):
    """One use case.

    Attributes:
        name: How it is called, in words that dots join.
        meaning: What it does, in one line.
        function: Where it is: a module below `pmem`, a colon, and the function's name. It takes
            the workspace and the request, and returns the answer.
        scope: How much of the memory it needs to see.
        categories: What whoever asks must be allowed to see.
        doing: What it does, as in "may not ...", where it needs everything.
        writes: What it writes.
        only_if: A field of the request without which it writes nothing.
        unless: A field of the request with which it writes nothing.
        gate: What of the request is kept, and so must hold no secret.
        recalls: Whether what its answer shows counts as recalled: its `recalled` says what.
        logged: What the log of operations calls it: a part of pmem, a colon, and what it did. The
            answer's `noted` says how it went.
        effect: What a second run would do.
        by_person: Whether no agent may do it.
    """

    name: str
    meaning: str
    function: str
    scope: Scope = Scope.CONTENT
    categories: tuple[str, ...] = ()
    doing: str = ""
    writes: Writes = Writes.NOTHING
    only_if: str = ""
    unless: str = ""
    gate: Gate = Gate.NOTHING
    recalls: bool = False
    logged: str = ""
    effect: Effect = Effect.SAFE
    by_person: bool = False
