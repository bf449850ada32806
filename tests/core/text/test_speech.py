"""Who speaks in a message: people, a model, or its tools."""

from typing import Any

import pytest

from pmem.core.text.speech import Speech, speech_of
from pmem.values.records import Message, Role
from tests.core.extraction.scores import message


def tool_message(role: Role, content: str = "x", **tool: Any) -> Message:
    said = message(content, role)
    return Message(id=said.id, role=role, content=content, created_at=said.created_at, **tool)


@pytest.mark.parametrize(
    ("said", "speech"),
    [
        (tool_message(Role.USER), Speech.PERSON),
        (tool_message(Role.ASSISTANT), Speech.ASSISTANT),
        (tool_message(Role.SYSTEM), Speech.SYSTEM),
        (tool_message(Role.TOOL), Speech.RESULT),
        (tool_message(Role.ASSISTANT, tool_call={"name": "run"}), Speech.CALL),
        (tool_message(Role.USER, tool_result={"id": "1"}), Speech.RESULT),
        (tool_message(Role.ASSISTANT, tool_call={}), Speech.ASSISTANT),
        (tool_message(Role.ASSISTANT, tool_call=[]), Speech.ASSISTANT),
    ],
)
def test_a_message_is_its_roles_unless_a_tool_speaks(said: Message, speech: Speech) -> None:
    assert speech_of(said) is speech
