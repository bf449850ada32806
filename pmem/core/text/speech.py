"""Who speaks in a message, and whether it is speech at all."""

from enum import StrEnum

from pmem.values.records import Message, Role


class Speech(StrEnum):
    """Who a message's words are from: people, a model, or the tools that it uses."""

    PERSON = "person"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    CALL = "call"
    RESULT = "result"


TOOLS: frozenset[Speech] = frozenset((Speech.CALL, Speech.RESULT))
TALK: frozenset[Speech] = frozenset((Speech.PERSON, Speech.ASSISTANT))

_ROLES = {
    Role.USER: Speech.PERSON,
    Role.ASSISTANT: Speech.ASSISTANT,
    Role.SYSTEM: Speech.SYSTEM,
    Role.TOOL: Speech.RESULT,
}


def is_talk(message: Message) -> bool:
    """Tell whether a message is what a person or a model says, and no tool's."""
    return speech_of(message) in TALK


def speech_of(message: Message) -> Speech:
    """Tell who speaks in a message; one that has a tool's result or a call is the tool's."""
    if message.tool_result:
        return Speech.RESULT
    return Speech.CALL if message.tool_call else _ROLES[message.role]
