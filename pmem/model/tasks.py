"""What a model may be asked: one row for each task, what it is given, and what it answers.

An answer's fields have the names that models are told in the schema, so some are written as JSON
writes them.
"""

import os
import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from pmem.core.visible import escaped
from pmem.values.fields import asked

TaskKind = Literal[
    "chunk_summary",
    "conversation_summary",
    "compaction",
    "turn_facts",
    "episode",
    "insight",
    "same_fact",
    "procedure",
]
"""The tasks, by their names."""

FoundType = Literal["fact", "decision", "preference", "entity", "constraint", "goal", "procedure"]
"""What a fact that a model finds may be."""
Verdicts = Literal["same", "update", "different"]


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """Base of what a task is given: all that its answer may rest on."""


class SaidMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message, and who said it."""

    who: str
    text: str


class ChunkGiven(Given, frozen=True, kw_only=True):
    """Messages to be summed up in so many characters at the most."""

    messages: tuple[SaidMessage, ...]
    most_characters: int


class ConversationGiven(Given, frozen=True, kw_only=True):
    """A conversation that has ended in an app, to be summed up for it, and what came of it."""

    app: str
    messages: tuple[SaidMessage, ...]
    outcome: str | None = None
    most_characters: int


class SummaryAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A summary."""

    summary: str


class KeptMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that an app has: its short id, what it says, and what it counts by the rules."""

    id: str
    content: str
    created: str
    worth: float
    pinned: bool = False


class CompactionGiven(Given, frozen=True, kw_only=True):
    """An app's memories, the oldest first and the new one last, of which one is to go."""

    app: str
    memories: tuple[KeptMemory, ...]
    limit: int
    most_characters: int


class CompactionAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Which memory goes, or which one takes another one in and what it says from then on."""

    action: Literal["delete", "edit"]
    targetMemoryId: str  # noqa: N815 - the names that models are given
    mergedMemoryId: str | None = None  # noqa: N815
    newContent: str | None = None  # noqa: N815
    reason: str


class TurnGiven(Given, frozen=True, kw_only=True):
    """What a person said, what was said just before, and the facts that are noted of it."""

    who: str
    text: str
    before: str = ""
    known: tuple[str, ...] = ()


class FoundFact(msgspec.Struct, frozen=True, kw_only=True):
    """A statement that is worth keeping; `importance` goes from 1 to 5."""

    content: str
    type: FoundType
    importance: Annotated[int, Meta(ge=1, le=5)]


class FactsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of a turn; none where it states nothing that lasts."""

    facts: Annotated[tuple[FoundFact, ...], Meta(max_length=5)]


class EpisodeGiven(Given, frozen=True, kw_only=True):
    """The messages of a key moment, and what kind of moment it is."""

    type: str
    messages: tuple[SaidMessage, ...]


class EpisodeAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What happened, in the past tense, and a title for it."""

    title: str
    summary: str


class InsightGiven(Given, frozen=True, kw_only=True):
    """What happened lately, what was learned lately, and what was said last."""

    activity: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    said: str = ""


class FoundInsight(msgspec.Struct, frozen=True, kw_only=True):
    """Something that no single memory says; `importance` goes from 1 to 5."""

    summary: str
    tags: Annotated[tuple[str, ...], Meta(max_length=5)]
    importance: Annotated[int, Meta(ge=1, le=5)]


class InsightsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One to three insights; none where there is nothing to notice."""

    insights: Annotated[tuple[FoundInsight, ...], Meta(max_length=3)]


class GivenPair(msgspec.Struct, frozen=True, kw_only=True):
    """Two memories to be compared."""

    id: str
    older: str
    newer: str


class PairsGiven(Given, frozen=True, kw_only=True):
    """Pairs of memories, ten at the most."""

    pairs: tuple[GivenPair, ...]


class PairVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the newer memory of a pair is to the older one."""

    id: str
    verdict: Verdicts


class PairsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict for each pair; one that is left out waits for the next time."""

    pairs: Annotated[tuple[PairVerdict, ...], Meta(max_length=10)]


class ProcedureGiven(Given, frozen=True, kw_only=True):
    """What was said and done while a task was done."""

    task: str
    messages: tuple[SaidMessage, ...]


class ProcedureAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The steps of a workflow, in their order; none where there is none."""

    title: str
    steps: Annotated[tuple[str, ...], Meta(max_length=12)]


class ModelTask(msgspec.Struct, frozen=True):
    """One task: what it is given and answers, and its meaning. Its prompt has its name."""

    given: type[Given]
    answer: type[msgspec.Struct]
    meaning: str
    most_tokens: int = 400


TASKS: Final[Mapping[TaskKind, ModelTask]] = {
    "chunk_summary": ModelTask(ChunkGiven, SummaryAnswer, "sum up older messages"),
    "conversation_summary": ModelTask(
        ConversationGiven, SummaryAnswer, "sum a talk up for its app"
    ),
    "compaction": ModelTask(CompactionGiven, CompactionAnswer, "choose what an app lets go"),
    "turn_facts": ModelTask(TurnGiven, FactsAnswer, "find the facts of a message"),
    "episode": ModelTask(EpisodeGiven, EpisodeAnswer, "tell what happened"),
    "insight": ModelTask(InsightGiven, InsightsAnswer, "notice what no memory says", 220),
    "same_fact": ModelTask(PairsGiven, PairsAnswer, "compare memories that are alike"),
    "procedure": ModelTask(ProcedureGiven, ProcedureAnswer, "write down a workflow", 600),
}


Kinds = Annotated[
    tuple[TaskKind, ...],
    asked(f"Only this kind: {', '.join(TASKS)}.", flag="--kind", shown="KIND"),
]


def task_key(kind: TaskKind, version: str, given: Given) -> str:
    """Return what tells one question from all others: a digest in 32 hexadecimal digits."""
    from hashlib import blake2b

    data = msgspec.json.encode(given, order="sorted")
    asked = b"\0".join((kind.encode(), version.encode(), data))
    return blake2b(asked, digest_size=16).hexdigest()


def answer_schema(kind: TaskKind) -> dict[str, Any]:
    """Return the JSON Schema of a task's answer, as strict as APIs want it: no property may be left
    out, and no other is allowed.
    """
    schema = msgspec.json.schema(TASKS[kind].answer)
    known = schema.pop("$defs")
    strict: dict[str, Any] = _strict_schema(schema, known)
    return strict


def _strict_schema(node: Any, known: Mapping[str, Any]) -> Any:
    """Return a schema with what it refers to in its place."""
    if isinstance(node, list):
        return [_strict_schema(one, known) for one in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _strict_schema(known[node["$ref"].rpartition("/")[2]], known)
    left_out = ("description", "title", "default", "properties")
    made = {name: _strict_schema(one, known) for name, one in node.items() if name not in left_out}
    if node.get("type") == "object" and "properties" in node:
        made["properties"] = {
            name: _strict_schema(one, known) for name, one in node["properties"].items()
        }
        made["required"] = sorted(node["properties"])
        made["additionalProperties"] = False
    return made


_FOLDER: Final = os.path.join(os.path.dirname(__file__), "prompts")
_FRAME: Final = "frame"  # what stands around every task
_VERSION: Final = "version: "
_PLACE: Final = re.compile(r"\{(task|data|schema)\}")
_FEWEST_BACKTICKS: Final = 3


class ModelPrompt(msgspec.Struct, frozen=True, kw_only=True):
    """A question to a model, the schema of its answer, and the tokens of that at the most."""

    kind: TaskKind
    version: str
    text: str
    schema: dict[str, object]
    most_tokens: int = 400


class _PromptFile(msgspec.Struct, frozen=True):
    version: str
    text: str


def prompt_version(kind: TaskKind) -> str:
    """Return the version of a task's prompt: that of its own file, and of the one around it."""
    return f"{_prompt_file(kind).version}.{_prompt_file(_FRAME).version}"


def write_prompt(kind: TaskKind, given: Given, most_tokens: int = 400) -> ModelPrompt:
    """Write a question."""
    schema = answer_schema(kind)
    parts = {
        "task": _prompt_file(kind).text,
        "data": fenced_data(given),
        "schema": msgspec.json.encode(schema).decode(),
    }
    text = _PLACE.sub(lambda place: parts[place[1]], _prompt_file(_FRAME).text)
    return ModelPrompt(
        kind=kind,
        version=prompt_version(kind),
        text=f"{text}\n",
        schema=schema,
        most_tokens=most_tokens,
    )


def fenced_data(given: Given) -> str:
    """Return what a task is given as JSON in a fence that nothing in it can close."""
    made = msgspec.json.encode(given, order="sorted")
    data = escaped(msgspec.json.format(made, indent=2).decode())
    longest = max(map(len, re.findall("`+", data)), default=0)
    fence = "`" * max(_FEWEST_BACKTICKS, longest + 1)
    return f"{fence}json\n{data}\n{fence}"


@cache
def _prompt_file(name: str) -> _PromptFile:
    with open(os.path.join(_FOLDER, f"{name}.md"), encoding="utf-8") as file:
        first, _, rest = file.read().partition("\n")
    return _PromptFile(first.removeprefix(_VERSION), rest.strip())
