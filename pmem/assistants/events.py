"""What the hooks of coding assistants say, and what each of them takes for an answer.

Every harness spells the same few events in its own way, in snake or camel case, and leaves fields
out. One parser reads them all, and one table says who takes a text at which event, in which form,
and how much of it. Only the standard library is loaded: most calls end here.
"""

TYPE_CHECKING = False  # as checkers know it, without the time that importing typing takes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal

    Event = Literal[
        "session-start", "prompt", "pre-tool", "post-tool", "pre-compact", "stop", "session-end"
    ]
    Unit = Literal["characters", "bytes"]

SESSION_START: "Event" = "session-start"
PROMPT: "Event" = "prompt"
PRE_TOOL: "Event" = "pre-tool"
POST_TOOL: "Event" = "post-tool"
PRE_COMPACT: "Event" = "pre-compact"
STOP: "Event" = "stop"
SESSION_END: "Event" = "session-end"
EVENTS: "tuple[Event, ...]" = (
    SESSION_START, PROMPT, PRE_TOOL, POST_TOOL, PRE_COMPACT, STOP, SESSION_END
)  # fmt: skip
OF_TOOLS: "tuple[Event, ...]" = (PRE_TOOL, POST_TOOL)
"""Events around a tool's call: a file is read or edited, a command has failed."""
NOTED: "tuple[Event, ...]" = (PRE_COMPACT, STOP, SESSION_END)
"""Events at which the transcript is noted; where a turn ends, something may be asked."""

PROMPT_CHARACTERS = 1500
"""What a prompt is given at the most."""
TOOL_CHARACTERS = 600
"""What a tool's call is given at the most."""
LEAST_WORDS = 3
"""A prompt of fewer words asks for nothing that a memory could know, where words have spaces."""
_NAMED = {
    "claude-code": "SessionStart UserPromptSubmit PreToolUse PostToolUseFailure PreCompact Stop"
    " SessionEnd",
    "codex": "SessionStart UserPromptSubmit PreToolUse PostToolUse PreCompact Stop SessionEnd",
    "gemini": "SessionStart BeforeAgent BeforeTool AfterTool PreCompress AfterAgent SessionEnd",
    "cursor": "sessionStart - - - preCompact stop sessionEnd",
    "vscode": "SessionStart - - - PreCompact Stop -",
    "opencode": "session.created chat.message tool.execute.before tool.execute.after - - -",
}
NAMES: "Mapping[str, Mapping[Event, str]]" = {
    harness: {event: name for event, name in zip(EVENTS, names.split()) if name != "-"}  # noqa: B905
    for harness, names in _NAMED.items()
}
"""What each harness calls the events at which it can run a hook."""
_SPELLINGS: "Mapping[str, Event]" = {
    "userpromptsubmitted": PROMPT,
    "beforesubmitprompt": PROMPT,
    "agentstop": STOP,
    **{event.replace("-", ""): event for event in EVENTS},
    **{name.lower(): event for names in NAMES.values() for event, name in names.items()},
}
_PEOPLE = ("", "user", "sdk")
"""Sources of prompts that a person, or a person's program, wrote; others are machines'."""
_BLOCKS = ("hook_context", "session_context", "system-reminder")
"""What harnesses put into a prompt around what somebody said, by its tag."""
_MOST: "Mapping[Event, int]" = {
    SESSION_START: 9500,
    PROMPT: PROMPT_CHARACTERS,
    PRE_TOOL: TOOL_CHARACTERS,
    POST_TOOL: TOOL_CHARACTERS,
}


class Taken:
    """What a harness takes at an event.

    It calls the event `name`, and takes `most` characters or bytes of a text, `nested` in
    `hookSpecificOutput` or flat in its answer.
    """

    def __init__(self, harness: str, event: "Event") -> None:
        self.name, self.most, self.nested = NAMES[harness][event], _MOST[event], harness != "cursor"
        is_bytes = harness == "codex" and event == SESSION_START
        self.unit: Unit = "bytes" if is_bytes else "characters"


_TAKE: "Mapping[str, tuple[Event, ...]]" = {
    "claude-code": (SESSION_START, PROMPT, PRE_TOOL, POST_TOOL),
    "codex": (SESSION_START, PROMPT, PRE_TOOL, POST_TOOL),
    "gemini": (SESSION_START, PROMPT, POST_TOOL),
    "cursor": (SESSION_START,),
    "vscode": (SESSION_START,),
    "opencode": (SESSION_START, PROMPT, POST_TOOL),
}
TAKEN: "Mapping[str, Mapping[Event, Taken]]" = {
    harness: {event: Taken(harness, event) for event in events} for harness, events in _TAKE.items()
}
"""Who takes a text at which event. Codex counts bytes, and refuses a key that it does not know.

Gemini and OpenCode take none before a tool's call, so they are told of a file once that was read
or edited. OpenCode's plugin asks as the others' hooks do (see `texts.opencode_plugin`).
"""
_MAY_BE_EMPTY = ("claude-code", "codex")
"""Who takes no answer for none, and may show an empty object; at a start `setup --check` reads it.
"""
_STOPPED = ("claude-code", "codex", "gemini", "opencode")
"""Who lets a hook stop a tool's call; Gemini in a form of its own."""
_ASKED: "Mapping[str, str]" = {"claude-code": "", "codex": "block", "gemini": "deny"}
"""Who lets a hook ask something before a turn ends, and what has to be decided for it."""
_SILENT: "Mapping[tuple[str, Event], dict[str, Any]]" = {("cursor", PROMPT): {"continue": True}}
"""What is said instead of nothing where an empty object will not do."""


class HookInput:
    """What a hook was told; a text that is missing is empty."""

    def __init__(self, told: "Any") -> None:
        self._told: dict[str, Any] = told if isinstance(told, dict) else {}
        self.session = self._text("session_id", "sessionId", "conversation_id")
        self.transcript = self._text("transcript_path", "transcriptPath")
        roots = self._told.get("workspace_roots")
        roots = [one for one in roots if isinstance(one, str)] if isinstance(roots, list) else []
        self.folder = self._text("cwd") or next(iter(roots), "")
        self.prompt = spoken(self._text("prompt", "user_prompt"))
        self.source = self._text("source")
        self.subagent = self._text("agent_id", "agentId")
        self.tool = self._text("tool_name", "toolName")
        self.is_held_up = self._told.get("stop_hook_active") is True
        asked = (self._told.get(name) for name in ("tool_input", "toolInput"))
        self.asked_of_tool: dict[str, Any] = next(
            (value for value in asked if isinstance(value, dict)), {}
        )

    @property
    def harness(self) -> str:
        """Which harness writes like this; empty where several do."""
        if "sessionId" in self._told or "hookEventName" in self._told:
            return "vscode"
        if "cursor_version" in self._told or "workspace_roots" in self._told:
            return "cursor"
        return ""

    @property
    def event(self) -> "Event | None":
        """The event that it says itself; None where it is missing or not known."""
        return event_of(self._text("hook_event_name", "hookEventName"))

    @property
    def thread(self) -> str:
        """What sees what is said here: the session, or what it has sent out; empty if unknown."""
        if not self.subagent:
            return self.session
        return f"{self.session} {self.subagent}" if self.session else ""

    @property
    def tool_answer(self) -> "Any":
        """What a tool answered: a text, or an object; None where it is not said."""
        return self._told.get("tool_response", self._told.get("toolResponse"))

    @property
    def tool_error(self) -> str:
        """How a tool failed, where the harness says so in words; empty otherwise."""
        return "" if self._told.get("is_interrupt") else self._text("error")

    def _text(self, *names: str) -> str:
        """Return the first of some fields that is a text; JSON can spell half a character."""
        found = (self._told.get(name) for name in names)
        texts = (value for value in found if isinstance(value, str))
        return next(
            (text for text in texts if text.encode("utf-8", "replace").decode() == text), ""
        )


def parse(data: bytes) -> HookInput:
    """Read what a harness wrote to a hook; nonsense reads as nothing."""
    import json

    try:
        return HookInput(json.loads(data.decode("utf-8-sig")))
    except (ValueError, RecursionError):
        return HookInput(None)


def event_of(name: str) -> "Event | None":
    """Return the event that a name means, in anybody's spelling; None where there is none."""
    return _SPELLINGS.get(name.replace("-", "").replace("_", "").lower())


def taken(harness: str, event: "Event") -> Taken | None:
    """Return what a harness takes at an event; None where it takes no text.

    A harness that is not known is given what every strict one takes.
    """
    return TAKEN.get(harness, TAKEN["codex"]).get(event)


def written(harness: str, event: "Event", text: str, trouble: str = "") -> str:
    """Write an answer as a harness takes it: one line of JSON, or nothing.

    `trouble` is what the person is to read as well, where the harness shows it.
    """
    form = taken(harness, event)
    if text and event == STOP and may_ask(harness):
        if _ASKED[harness]:
            return _line({"decision": _ASKED[harness], "reason": text})
        inner = {"hookEventName": "Stop", "additionalContext": text}
        return _line({"hookSpecificOutput": inner})
    text = "\n".join(filter(None, (text, trouble and f"pmem: {trouble}. Tell the person.")))
    if not text or form is None:
        if harness in _MAY_BE_EMPTY and event != SESSION_START:
            return ""
        silent = _SILENT.get((harness, event), {})
        return "{}\n" if not silent else _line(silent)
    if not form.nested:
        return _line({"additional_context": text})
    inner = {"hookEventName": form.name, "additionalContext": text}
    shown = {"systemMessage": f"pmem: {trouble}"} if trouble else {}
    return _line({**shown, "hookSpecificOutput": inner})


def may_ask(harness: str) -> bool:
    """Tell whether a harness lets a hook ask something before a turn ends."""
    return harness in _ASKED


def stops(harness: str) -> bool:
    """Tell whether a harness lets a hook stop a tool's call."""
    return harness in _STOPPED


def stopped(harness: str, reason: str) -> str:
    """Write the answer that stops a tool's call, as a harness takes it."""
    if harness == "gemini":
        return _line({"decision": "deny", "reason": reason})
    decision = {"permissionDecision": "deny", "permissionDecisionReason": reason}
    return _line({"hookSpecificOutput": {"hookEventName": NAMES[harness][PRE_TOOL], **decision}})


def is_asked(given: HookInput) -> bool:
    """Tell whether a prompt may have an answer: a person's words, and no command."""
    return given.source in _PEOPLE and is_question(given.prompt)


def is_question(prompt: str) -> bool:
    """Tell whether a prompt has words that a memory could answer, and is no command."""
    has_words = len(prompt.split()) >= LEAST_WORDS or not prompt.isascii()
    return bool(prompt.strip()) and has_words and not _is_command(prompt)


def spoken(prompt: str) -> str:
    """Return a prompt without what a harness, or another hook, put into it."""
    for tag in _BLOCKS:
        start = prompt.find(f"<{tag}>")
        while start >= 0:
            end = prompt.find(f"</{tag}>", start)
            after = len(prompt) if end < 0 else end + len(tag) + 3
            prompt = prompt[:start] + prompt[after:]
            start = prompt.find(f"<{tag}>")
    return prompt.strip()


def _is_command(prompt: str) -> bool:
    """Tell a command of the harness from a prompt that begins with a path."""
    word = prompt.split(maxsplit=1)[0]
    return word.startswith("/") and "/" not in word[1:]


def _line(value: "dict[str, Any]") -> str:
    import json

    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
