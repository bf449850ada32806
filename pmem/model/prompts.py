"""Prompts: files with a version, filled with recorded data that cannot leave its fence."""

import os
import re
from functools import cache
from typing import Final

import msgspec

from pmem.core.visible import escaped
from pmem.model.tasks import Given, TaskKind, answer_schema, canonical

_FOLDER: Final = os.path.join(os.path.dirname(__file__), "prompts")
_FRAME: Final = "frame"
"""What stands around every task."""
_VERSION: Final = "version: "
_PLACE: Final = re.compile(r"\{(task|data|schema)\}")
_FEWEST_BACKTICKS: Final = 3


class ModelPrompt(msgspec.Struct, frozen=True, kw_only=True):
    """A question to a model.

    Attributes:
        kind: The task.
        version: That of its prompt.
        text: All that the model reads.
        schema: The JSON Schema of its answer.
        most_tokens: Tokens of the answer at the most.
    """

    kind: TaskKind
    version: str
    text: str
    schema: dict[str, object]
    most_tokens: int = 400


class _PromptFile(msgspec.Struct, frozen=True):
    version: str
    text: str


def prompt_version(kind: TaskKind) -> str:
    """Return the version of a task's prompt: that of its own file, and of the one around it.

    Args:
        kind: The task.
    """
    return f"{_prompt_file(kind).version}.{_prompt_file(_FRAME).version}"


def write_prompt(kind: TaskKind, given: Given, most_tokens: int = 400) -> ModelPrompt:
    """Write a question.

    Args:
        kind: The task.
        given: What it is given.
        most_tokens: Tokens of the answer at the most.
    """
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
    """Return what a task is given as JSON in a fence that nothing in it can close.

    A text in JSON is one line, and hidden characters are written out.

    Args:
        given: What it is given.
    """
    data = escaped(msgspec.json.format(canonical(given), indent=2).decode())
    run = longest = 0
    for letter in data:
        run = run + 1 if letter == "`" else 0
        longest = max(longest, run)
    fence = "`" * max(_FEWEST_BACKTICKS, longest + 1)
    return f"{fence}json\n{data}\n{fence}"


@cache
def _prompt_file(name: str) -> _PromptFile:
    with open(os.path.join(_FOLDER, f"{name}.md"), encoding="utf-8") as file:
        first, _, rest = file.read().partition("\n")
    return _PromptFile(first.removeprefix(_VERSION), rest.strip())
