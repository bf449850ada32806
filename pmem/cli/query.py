"""The command by which agents ask for memories."""

from collections.abc import Iterator
from typing import Annotated

import msgspec
import typer

from pmem import queries
from pmem.cli.session import Answer, Line, Session
from pmem.core.queries import Bullet, Item, QueryRequest, parse
from pmem.errors import InvalidValue
from pmem.ids import short


def query(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="The request, one object.")] = "-",
) -> Answer:
    """Answer an agent's request, read as JSON, within its allowlist and its budget.

    {"agent": "planner", "query": "deployment plan", "categories": ["tasks"], "filters":
    {"user_id", "agent_id", "run_id", "actor_id", "role", "category", "pinned", "importance_min",
    "importance_max", "updated_after", "updated_before"}, "top_k": 3, "threshold": 0.2, "return":
    "bullets" or "full", "budget_tokens": 512}. Only the query is needed; importance has grades
    from 1 to 5.
    """
    session: Session = ctx.obj
    found = queries.query(session.workspace, _request(session, file))
    return Answer(data=found.items, lines=_lines(found.items), note=found.reason)


def _request(session: Session, path: str) -> QueryRequest:
    data = b"\n".join(session.read_lines(path))
    try:
        value = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidValue(f"the query is not valid JSON: {error}") from None
    return parse(value)


def _lines(items: tuple[Item, ...]) -> Iterator[Line]:
    for item in items:
        text = item.text if isinstance(item, Bullet) else f"[{item.category}] {item.summary}"
        yield [(short(item.id), "cyan"), (f" {' '.join(text.split())}", "")]
