"""The command by which agents ask for memories."""

from collections.abc import Iterator

import msgspec

from pmem.cli.asking import asks, own
from pmem.cli.session import Answer, CommandSession, Line
from pmem.core import exactjson
from pmem.core.history_values import tell_value
from pmem.core.queries import EXAMPLE, Bullet, Full, Item, parse
from pmem.operations import table
from pmem.values.bounds import TEXT_BYTES
from pmem.values.fields import NoArguments
from pmem.values.ids import short


@asks(NoArguments)
def query(
    session: CommandSession,
    _: NoArguments,
    file: str = own("The request, a JSON object.", "-", shown="FILE|-", is_argument=True),
) -> Answer:
    """Answer an agent's request in JSON, within its allowlist.

    The answer keeps to the budget that the request names, such as

    {"agent": "planner", "query": "deployment plan", "categories": ["tasks"], "filters":
    {"user_id", "agent_id", "run_id", "actor_id", "role", "category", "pinned", "importance_min",
    "importance_max", "updated_after", "updated_before"}, "top_k": 3, "threshold": 0.2, "return":
    "bullets" or "full", "budget_tokens": 512}. Only the query is needed; importance has grades
    from 1 to 5.
    """
    data = b"\n".join(session.read_lines(file, TEXT_BYTES))
    request = parse(exactjson.read_given(data, "the query", EXAMPLE))
    found = session.run(table.QUERY, request)
    return Answer(data=found, lines=_lines(found.items), note=found.reason)


def _lines(items: tuple[Item, ...]) -> Iterator[Line]:
    for number, item in enumerate(items):
        if isinstance(item, Bullet):
            yield [(short(item.id), "cyan"), (f" {' '.join(item.text.split())}", "")]
            continue
        if number:
            yield [("", "")]
        yield from _full_lines(item)


def _full_lines(item: Full) -> Iterator[Line]:
    """Yield an answer's whole text, and a line for all that is known of it."""
    yield [(item.id, "bold cyan"), (f"  [{item.category}]", "dim")]
    yield [(item.summary, "")]
    known = msgspec.to_builtins(item.metadata) | {"score": f"{item.metadata.score:.2f}"}
    if item.metadata.via is not None:
        known["via"] = item.metadata.via.phrase
    for name, value in known.items():
        if value:
            text = " ".join(tell_value(name, value).split())
            yield [(f"{name + ':':<15}", "dim"), (text, "")]
