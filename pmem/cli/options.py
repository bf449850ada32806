"""Options that several commands share, and how they become filters."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Annotated, Any, Final

import typer

from pmem.cli.session import Answer, CommandSession
from pmem.core.checks import share
from pmem.core.filters import Filter
from pmem.core.trust import Trust
from pmem.values.records import MemoryType, State

Reference = Annotated[str, typer.Argument(metavar="REF", help="An id, or the start of one.")]
References = Annotated[list[str], typer.Argument(metavar="REF...", help="Ids, or their starts.")]

Types = Annotated[
    list[MemoryType] | None, typer.Option("--type", help="Only this type; repeatable.")
]
_DESCRIBED: Final[dict[str, Any]] = {
    field: Annotated[str | None, typer.Option(help=kind.__metadata__[0].description)]
    for field, kind in Filter.__annotations__.items()
    if hasattr(kind, "__metadata__")
}
"""An option for each field of a filter that says of itself what it is."""
App, User = _DESCRIBED["app"], _DESCRIBED["user"]
Trusted = Annotated[
    Trust | None, typer.Option("--trust", help="Only what is trusted at least this much.")
]
At = Annotated[
    str | None,
    typer.Option(
        "--at", metavar="TIME|REV", help="Show it as it was at this time or git revision."
    ),
]
WithoutOwn = Annotated[bool, typer.Option("--no-mine", help="Leave out your own memory.")]
_FILTERS: Final[dict[str, Any]] = {
    "types": Types,
    "category": Annotated[list[str] | None, typer.Option(help="Only this category; repeatable.")],
    "tag": Annotated[list[str] | None, typer.Option(help="Only with this tag; repeatable.")],
    **_DESCRIBED,
    "min_importance": Annotated[
        float | None, typer.Option(help="At least this important, from 0 to 1.")
    ],
    "max_importance": Annotated[
        float | None, typer.Option(help="At most this important, from 0 to 1.")
    ],
    "pinned": Annotated[
        bool | None, typer.Option("--pinned/--not-pinned", help="Only (un)pinned.")
    ],
    "trust": Trusted,
    "state": Annotated[
        list[State] | None, typer.Option(help="In this state [active]; repeatable.")
    ],
    "all_states": Annotated[bool, typer.Option("--all-states", help="In any state.")],
    "after": Annotated[
        str | None, typer.Option(metavar="TIME", help="Created at this time or later.")
    ],
    "before": Annotated[str | None, typer.Option(metavar="TIME", help="Created before this time.")],
}
"""The options that make a filter, by the names of their values."""


def filtered(*, without: str = "") -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Give a command the options that make a filter, in the place of its parameter `wanted`.

    Args:
        without: One of the options that it does not have.
    """

    def decorate(command: Callable[..., Answer]) -> Callable[..., Answer]:
        signature = inspect.signature(command)
        parameters: list[inspect.Parameter] = []
        for each in signature.parameters.values():
            parameters += _options(without) if each.name == "wanted" else [each]

        @wraps(command)
        def run(ctx: typer.Context, **given: Any) -> Answer:
            asked = {name: given.pop(name, None) for name in _FILTERS}
            return command(ctx, wanted=_filter(ctx.obj, asked), **given)

        run.__dict__["__signature__"] = signature.replace(parameters=parameters)
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorate


def _options(without: str) -> list[inspect.Parameter]:
    kind = inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter(
            name, kind, default=False if name == "all_states" else None, annotation=annotation
        )
        for name, annotation in _FILTERS.items()
        if name != without
    ]


def _filter(session: CommandSession, given: Mapping[str, Any]) -> Filter:
    """Turn the options of a filter into the filter that they describe.

    Raises:
        InvalidValue: A time is none, or an importance lies outside 0 to 1.
    """
    for bound in (given["min_importance"], given["max_importance"]):
        if bound is not None:
            share("importance", bound)
    same = {name: given[name] for name in (*_DESCRIBED, "pinned", "trust")}
    same["path"] = session.file(given["path"])
    return Filter(
        **same,
        types=tuple(given["types"] or ()),
        categories=tuple(given["category"] or ()),
        tags=tuple(given["tag"] or ()),
        agent=session.asker and session.concerned,
        importance_min=given["min_importance"],
        importance_max=given["max_importance"],
        states=() if given["all_states"] else tuple(given["state"] or (State.ACTIVE,)),
        created_after=session.time(given["after"]),
        created_before=session.time(given["before"]),
    )
