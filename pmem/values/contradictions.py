"""Settings that are allowed one by one, and contradict each other or mean little together."""

from typing import Any, Final

import msgspec

from pmem.errors import InvalidValue
from pmem.values.config import Settings

_WINDOW: Final = ("max_context_tokens", "working_memory_tokens", "system_prompt_tokens")


def check_together(settings: Settings, name: str, value: Any) -> str:
    """See that a new value makes sense beside the other settings.

    Returns:
        What the value does that may be unexpected; else an empty text.

    Raises:
        InvalidValue: It contradicts another one.
    """
    if name not in Settings.__struct_fields__:
        return ""
    then = msgspec.structs.replace(settings, **{name: value})
    reserved = then.working_memory_tokens + then.system_prompt_tokens
    if name in _WINDOW and reserved >= then.max_context_tokens:
        raise InvalidValue(
            f"working_memory_tokens and system_prompt_tokens ({reserved:,} together) leave nothing "
            f"of max_context_tokens ({then.max_context_tokens:,})",
            "keep less free, or make the window larger first",
        )
    if name in ("chunk_size", "max_recent_messages") and then.chunk_size > then.max_recent_messages:
        return (
            f"chunk_size ({then.chunk_size}) is more than max_recent_messages "
            f"({then.max_recent_messages}): a chunk takes half of these"
        )
    if name in ("min_recent_messages", "max_messages") and (
        then.min_recent_messages > then.max_messages
    ):
        return (
            f"min_recent_messages ({then.min_recent_messages}) is more than max_messages "
            f"({then.max_messages}): so many of the latest messages stay"
        )
    return ""
