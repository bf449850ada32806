"""Reading what a model wrote: the first JSON object in it, as the task's answer."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from pmem.model.models import AnswerRefused
from pmem.model.tasks import TASKS, TaskKind

MOST_CHARACTERS: Final = 65_536
"""Of an answer: no task needs more than a few thousand."""
_MOST_TRIED: Final = 20
"""Opening brackets from which an object is tried to be read."""
_SAID: Final = 200


def read_model_answer(kind: TaskKind, said: Any) -> msgspec.Struct:
    """Return what a model answered.

    Args:
        kind: The task.
        said: The answer itself, a mapping, or text in which JSON stands.

    Raises:
        AnswerRefused: It is too long, holds no whole JSON object, or does not fit the schema.
    """
    wanted = TASKS[kind].answer
    if isinstance(said, bytes):
        said = said.decode(errors="replace")
    if isinstance(said, str):
        said = _first_object(said)
    try:
        if isinstance(said, msgspec.Struct):
            said = msgspec.to_builtins(said)
        answer: msgspec.Struct = msgspec.convert(said, wanted)
        _check_unicode(answer)
    except (msgspec.ValidationError, RecursionError, TypeError) as error:
        raise AnswerRefused(f"the answer has another form: {str(error)[:_SAID]}") from None
    return answer


def _check_unicode(answer: msgspec.Struct) -> None:
    try:
        msgspec.json.encode(answer)
    except UnicodeEncodeError:
        raise AnswerRefused("the answer is not valid UTF-8") from None


def _first_object(text: str) -> Any:
    """Return the first whole JSON object of a text, whatever stands around it."""
    if len(text) > MOST_CHARACTERS:
        raise AnswerRefused(
            f"the answer has {len(text)} characters, and at most {MOST_CHARACTERS} are read"
        )
    from json import JSONDecoder

    decoder = JSONDecoder()
    for start in _brackets(text):
        try:
            return decoder.raw_decode(text, start)[0]
        except (ValueError, RecursionError):
            continue
    raise AnswerRefused("the answer holds no whole JSON object")


def _brackets(text: str) -> Iterator[int]:
    start = -1
    for _ in range(_MOST_TRIED):
        start = text.find("{", start + 1)
        if start < 0:
            return
        yield start
