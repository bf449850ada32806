"""Codex's sessions ("rollouts"): JSON Lines of `{timestamp, ordinal, type, payload}`.

Form as written by Codex 0.169: what was said are the `response_item`s. Other records say the same
again (`event_msg`), or are the program's own.
"""

from collections.abc import Iterator
from typing import Any, Final

from pmem.interchange.sessions import (
    Line,
    Lines,
    SessionLines,
    SessionNotes,
    objects,
    text_of,
    texts_in,
)
from pmem.values.records import Role

_CALLS: Final = ("function_call", "custom_tool_call", "local_shell_call")
_RESULTS: Final = tuple(f"{call}_output" for call in _CALLS)
_ROLES: Final = {"user": Role.USER, "assistant": Role.ASSISTANT}
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
    told = SessionLines("session", notes)
    for number, value in objects(lines(), notes):
        payload = value.get("payload")
        payload = payload if isinstance(payload, dict) else {}
        if value.get("type") == "session_meta":
            named = text_of(payload.get("id")) or text_of(payload.get("session_id"))
            told.session = named or told.session
            source = payload.get("source")
            is_agents = isinstance(source, dict) and "subagent" in source
            is_agents = is_agents or payload.get("thread_source") == "subagent"
            if is_agents and not sub_agents:
                notes.leave_out("sessions of sub-agents")
                return
        name = text_of(payload.get("id")) or str(value.get("ordinal", number))
        is_said = value.get("type") == "response_item"
        found = _item(told, name, payload, value.get("timestamp")) if is_said else None
        if found is None:
            notes.leave_out()
        yield from found or ()


def _item(told: SessionLines, id_: str, payload: dict[str, Any], at: Any) -> list[Line] | None:
    """Return the line of an item; None for what is the program's own."""
    kind = payload.get("type")
    if kind in _CALLS:
        action = payload.get("action")  # what a shell is to do; else JSON in a text, or a text
        given = payload.get("arguments", payload.get("input"))
        call = {"call_id": None, **payload, "name": text_of(payload.get("name")) or "shell"}
        given = action if isinstance(action, dict) else given
        return told.called(id_, call, given, at, text_of(payload.get("namespace")))
    if kind in _RESULTS:
        output = payload.get("output")
        if isinstance(output, dict):
            output = output.get("content", output.get("output"))
        return told.answered(id_, text_of(payload.get("call_id")), "\n".join(texts_in(output)), at)
    role = _ROLES.get(text_of(payload.get("role"))) if kind == "message" else None
    texts = texts_in(payload.get("content"), "input_text", "output_text", "text")
    if role is Role.USER:
        texts = [text for text in texts if not text.lstrip().startswith(_PROGRAM)]
    return told.said(id_, role, texts, at) if role is not None and texts else None
