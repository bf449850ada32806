"""Codex's sessions ("rollouts"): JSON Lines of `{timestamp, ordinal, type, payload}`.

Form as written by Codex 0.169: what was said are the `response_item`s. Other records say the same
again (`event_msg`), or are the program's own.
"""

from collections.abc import Iterator
from typing import Any, Final

from pmem.core.text.calls import RecordedCall
from pmem.interchange.sessions import (
    OWN_WORDS,
    Line,
    Lines,
    SessionNotes,
    answered,
    called,
    objects,
    said,
    text_of,
    texts_in,
)
from pmem.values.records import Role

_CALLS: Final = ("function_call", "custom_tool_call", "local_shell_call")
_RESULTS: Final = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_PROGRAM: Final = (
    "# AGENTS.md instructions",
    "<environment_context>",
    "<hook_prompt",
    "<turn_aborted>",
    "<user_instructions>",
    "<skills_instructions>",
)
"""How texts begin that stand in a person's place and are the program's."""


def read(lines: Lines, notes: SessionNotes, *, sub_agents: bool = False) -> Iterator[Line]:
    """Yield what was said in a session."""
    session = "session"
    for number, value in objects(lines(), notes):
        payload = value.get("payload")
        if not isinstance(payload, dict):
            notes.leave_out("lines of the program itself")
            continue
        if value.get("type") == "session_meta":
            session = text_of(payload.get("id")) or text_of(payload.get("session_id")) or session
            source = payload.get("source")
            is_agents = isinstance(source, dict) and "subagent" in source
            is_agents = is_agents or payload.get("thread_source") == "subagent"
            if is_agents and not sub_agents:
                notes.leave_out("sessions of sub-agents")
                return
        if value.get("type") != "response_item":
            notes.leave_out("lines of the program itself")
            continue
        name = text_of(payload.get("id")) or str(value.get("ordinal", number))
        yield from _item(session, name, payload, value.get("timestamp"), notes)


def _item(
    session: str, name: str, payload: dict[str, Any], at: Any, notes: SessionNotes
) -> Iterator[Line]:
    kind = payload.get("type")
    if kind == "message":
        yield from _message(session, name, payload, at, notes)
    elif kind in _CALLS:
        call = RecordedCall(
            text_of(payload.get("name")) or "shell",
            text_of(payload.get("call_id")) or None,
            _given(payload),
        )
        if notes.says_itself(call, text_of(payload.get("namespace"))):
            notes.leave_out(OWN_WORDS)
        else:
            yield called(session, name, call, at)
    elif kind in _RESULTS:
        call_id = text_of(payload.get("call_id"))
        if call_id in notes.pmem_calls:
            notes.leave_out(OWN_WORDS)
        else:
            output = payload.get("output")
            if isinstance(output, dict):
                output = output.get("content", output.get("output"))
            yield answered(session, name, call_id, "\n".join(texts_in(output)), at)
    else:
        notes.leave_out("lines of the program itself")


def _message(
    session: str, name: str, payload: dict[str, Any], at: Any, notes: SessionNotes
) -> Iterator[Line]:
    roles = {"user": Role.USER, "assistant": Role.ASSISTANT}
    role = roles.get(text_of(payload.get("role")))
    if role is None:
        notes.leave_out("lines of the program itself")
        return
    texts = texts_in(payload.get("content"), "input_text", "output_text", "text")
    if role is Role.USER:
        texts = [text for text in texts if not text.lstrip().startswith(_PROGRAM)]
    if texts:
        yield said(session, name, role, "\n\n".join(texts), at)
    else:
        notes.leave_out("lines of the program itself")


def _given(payload: dict[str, Any]) -> Any:
    """Return what a tool is given: JSON in a text, a text, or what a shell is to do."""
    action = payload.get("action")
    if isinstance(action, dict):
        return action
    return payload.get("arguments", payload.get("input"))
