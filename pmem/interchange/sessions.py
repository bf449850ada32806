"""Sessions of coding assistants as lines of a transcript (see `interchange.messages`).

What is no conversation is left out and counted by reason; so is what pmem itself said, or it
would learn from its own words. Its calls are known by their names, or by what they were answered,
as a server may have any name. Which program wrote a file is told by how it begins.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

import msgspec

from pmem.core.own_words import is_own_answer, without_own_words
from pmem.core.text.calls import RecordedCall
from pmem.values.bounds import LINE_BYTES
from pmem.values.patterns import lazily
from pmem.values.programs import SessionProgram
from pmem.values.records import Role, dump_line

MOST_RESULT: Final = 4000
"""Characters that are kept of what a tool answered."""
MOST_ARGUMENT: Final = 2000
"""Characters that are kept of each text that a tool was given."""
RECOGNISED_BY: Final = 20
"""Lines by which a program's session is known."""
_MOST_SHOWN: Final = 300
_TAIL: Final = 4
PROGRAM: Final = "lines of the program itself"
THOUGHTS: Final = "thoughts and calls of tools"
OWN_WORDS: Final = "pmem's own words"
"""Why a call of pmem, and its answer, are left out."""
_SPELLED: Final = lazily(r"mcp_{1,2}(?:[a-z0-9-]{1,40}_){0,4}pmem(?:_|\Z)")
_COMMAND: Final = lazily(
    r"(?:^|[\n;&|(`]|\s-[a-z]{0,2}c[ \t]|\s-m[ \t]|\b(?:run|sudo|uvx|exec|time|env)[ \t])"
    r"[ \t\"']*(?:[A-Z_]{1,40}=[^\s;&|]{0,200}[ \t]+){0,5}"
    r"(?:[^\s;&|(`\"'=]{0,200}/)?pmem(?=[\s\"')]|$)"
)
"""pmem where a shell takes a word for a program: not `cd src/pmem`, nor `grep -rn x pmem`."""
_FOLDER: Final = ".project-memory/"
_COMMANDS: Final = ("command", "cmd", "script")


N = TypeVar("N")
Line = dict[str, Any]
"""A line of a transcript."""
Lines = Callable[[], Iterable[bytes]]
"""Opens the lines of a session's file; a format may need them twice."""


MOST_HELD: Final = 200
"""Lines that wait for a call's result; then the call is taken for somebody else's."""
_OTHERS: Final = frozenset(
    ("command", "cmd", "script", "path", "file_path", "absolute_path", "patch")
)
"""Arguments that no tool of pmem's has: what shows a file, or runs a command, may show its words.
"""
LOOKED_AT: Final = 64 * 1024
"""Bytes of a file by which its program is known."""


class SessionNotes:
    """What is known of a session beside what was said in it.

    `left_out` counts lines by the reason. `titles` are those of sessions, where a file has several.
    `pmem_calls` are the ids of the calls whose results are pmem's own words.
    """

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()
        self.title: str | None = None
        self.titles: dict[str, str] = {}
        self.pmem_calls: set[str] = set()

    def leave_out(self, reason: str = PROGRAM) -> None:
        """Count something that is left out."""
        self.left_out[reason] += 1


class SessionLines:
    """Writes the lines of a session; what is pmem's own, and what is empty, makes none."""

    def __init__(self, session: str, notes: SessionNotes) -> None:
        self.session, self.notes = session, notes

    def said(self, id_: str, role: Role, texts: Iterable[str], at: Any) -> list[Line]:
        """Return the line of what a person or a model said."""
        text = "\n\n".join(filter(str.strip, texts)).strip()
        return [self._line(id_, role, text, at)] if text else []

    def called(
        self, id_: str, item: Mapping[str, Any], given: Any, at: Any, server: str = ""
    ) -> list[Line]:
        """Return the line of a call; `server` is the tool's, where a program keeps it apart."""
        key = "call_id" if "call_id" in item else "id"
        call = RecordedCall(text_of(item.get("name")), text_of(item.get(key)) or None, given)
        if _is_own(call, server):
            self.notes.pmem_calls.update(filter(None, [call.id]))
            self.notes.leave_out(OWN_WORDS)
            return []
        arguments = _trimmed(call.arguments or call.given)
        shown = dump_line(arguments).decode("utf-8", "replace")[:_MOST_SHOWN] if arguments else ""
        line = self._line(id_, Role.ASSISTANT, f"{call.name or 'tool'} {shown}".strip(), at)
        told = {"id": call.id, "name": call.name, "arguments": arguments}
        return [{**line, "tool_call": told}]

    def answered(
        self, id_: str, call: str | None, text: str, at: Any, tool: str = ""
    ) -> list[Line]:
        """Return the line of what a tool answered; of a long answer its beginning and its end."""
        if call in self.notes.pmem_calls or _SPELLED.match(tool):
            self.notes.leave_out(OWN_WORDS)
            return []
        content = shortened_answer(without_own_words(text)) or "(nothing)"
        return [{**self._line(id_, Role.TOOL, content, at), "tool_result": {"id": call}}]

    def _line(self, id_: str, role: Role, content: str, at: Any) -> Line:
        return {
            "conversation": self.session,
            "id": id_,
            "role": str(role),
            "content": content,
            "timestamp": at,
        }


def _is_own(call: RecordedCall, server: str) -> bool:
    """Tell whether pmem answers a call."""
    given = call.arguments
    return (
        any(_SPELLED.match(name) for name in (call.name, server))
        or any(_COMMAND.search(_joined(given.get(name))) for name in _COMMANDS)
        or any(_FOLDER in text for text in _texts(given))
    )


def shortened_answer(text: str) -> str:
    """Return a tool's answer, of a long one the beginning and the end with a mark between them."""
    text = text.strip()
    if len(text) <= MOST_RESULT:
        return text
    tail = MOST_RESULT // _TAIL
    head = MOST_RESULT - tail
    return f"{text[:head]}\n[{len(text) - MOST_RESULT} characters left out]\n{text[-tail:]}"


def texts_in(content: Any, *kinds: str) -> list[str]:
    """Return the texts of a message's content: a text, or a list of items of some kinds.

    No kinds stand for any.
    """
    if isinstance(content, str):
        return [content] if content.strip() else []
    texts = [text_of(item.get("text")) for item in objects_in(content, *kinds)]
    return [text for text in texts if text.strip()]


def objects_in(content: Any, *kinds: str) -> list[dict[str, Any]]:
    """Return the objects of a list, of some kinds or of any; none where it is no list."""
    items = content if isinstance(content, list) else []
    return [
        item
        for item in items
        if isinstance(item, dict) and (not kinds or item.get("type") in kinds)
    ]


def objects(lines: Iterable[bytes], notes: SessionNotes) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of JSON Lines with their line numbers; what is none is left out.

    A last line without its end is one that is still being written.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if len(line) > LINE_BYTES:
            notes.leave_out("lines that are too long")
            continue
        try:
            value = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            is_whole = line.endswith(b"\n")
            notes.leave_out("lines that are no JSON" if is_whole else "a line that is not finished")
            continue
        if isinstance(value, dict):
            yield number, value
        else:
            notes.leave_out("lines that are no JSON object")


def recognise(lines: Iterable[bytes]) -> SessionProgram | None:
    """Tell which program wrote a session by its first lines; None for none of these."""
    for _, value in objects(
        (line for line, _ in zip(lines, range(RECOGNISED_BY), strict=False)), _NOBODY
    ):
        if "projectHash" in value and "sessionId" in value:
            return SessionProgram.GEMINI
        if isinstance(value.get("payload"), dict) and isinstance(value.get("type"), str):
            return SessionProgram.CODEX
        if isinstance(value.get("sessionId"), str) and isinstance(value.get("type"), str):
            return SessionProgram.CLAUDE_CODE
    return None


def text_of(value: Any) -> str:
    """Return a text of a source; nothing for what is none."""
    return value if isinstance(value, str) else ""


_NOBODY: Final = SessionNotes()


def _joined(value: Any) -> str:
    return " ".join(map(text_of, value)) if isinstance(value, list) else text_of(value)


def _texts(value: Any) -> Iterator[str]:
    left = [value]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            left += part.values()
        elif isinstance(part, list):
            left += part
        elif isinstance(part, str):
            yield part


def _trimmed(value: Any) -> Any:
    """Return a value with its long texts cut."""
    if isinstance(value, str) and len(value) > MOST_ARGUMENT:
        return f"{value[:MOST_ARGUMENT]} [{len(value) - MOST_ARGUMENT} characters left out]"
    if isinstance(value, dict):
        return {name: _trimmed(part) for name, part in value.items()}
    return [_trimmed(part) for part in value] if isinstance(value, list) else value


def without_own_calls(lines: Iterable[Line], notes: SessionNotes) -> Iterator[Line]:
    """Yield lines without the calls that pmem answered, and without these answers."""
    held: list[Line] = []
    servers: set[str] = set()
    waiting: set[str] = set()
    own: set[str] = set()
    for line in lines:
        name, call, is_result = _call_of(line)
        if call in own or (name and _server(name) in servers):
            own.add(call)
            notes.leave_out(OWN_WORDS)
            continue
        if is_result and call in waiting and is_own_answer(line["content"]):
            asked = next(one for one in held if _call_of(one)[1] == call)
            held.remove(asked)
            servers.update(filter(None, [_server(_call_of(asked)[0])]))
            own.add(call)
            notes.left_out[OWN_WORDS] += 2
        else:
            held.append(line)
        waiting.discard(call) if is_result else waiting.update([call] if name and call else [])
        while held and (len(held) > MOST_HELD or _call_of(held[0])[1] not in waiting):
            waiting.discard(_call_of(held[0])[1])
            yield held.pop(0)
    yield from held


def _call_of(line: Line) -> tuple[str, str, bool]:
    """Return the tool and the id of a call that may be pmem's, or the id of what is a result."""
    result, call = line.get("tool_result"), line.get("tool_call")
    if result is not None:
        return "", str(result.get("id") or ""), True
    given = call.get("arguments") if call is not None else None
    if call is None or (isinstance(given, dict) and not _OTHERS.isdisjoint(given)):
        return "", "", False
    return str(call.get("name") or ""), str(call.get("id") or ""), False


def _server(name: str) -> str:
    """Return the server of a tool, where its name has it."""
    return name.rpartition("__")[0] if name.startswith("mcp__") else ""


_Form = tuple[tuple[bytes, ...], tuple[bytes, ...]]
"""How a file begins, without the space between, and names of which it holds one at least."""
_ANY: Final = (b"",)
_FORMS: Final[tuple[tuple[SessionProgram, _Form], ...]] = (
    (SessionProgram.AIDER, ((b"#aiderchatstartedat",), _ANY)),
    (SessionProgram.SPECSTORY, ((b"<!--GeneratedbySpecStory",), _ANY)),
    (SessionProgram.CLINE, ((b'[{"role":"user"', b'[{"role":"assistant"'), _ANY)),
    (SessionProgram.CLINE, ((b'[{"ts":',), (b'"type":"say"', b'"type":"ask"'))),
    (SessionProgram.CLAUDE_AI, ((b"[", b"{"), (b'"chat_messages":[',))),
    (SessionProgram.CHATGPT, ((b"[", b"{"), (b'"mapping":{',))),
    (
        SessionProgram.COPILOT_CHAT,
        ((b"{",), (b'"requesterUsername":', b'"responderUsername":')),
    ),
)
_UNREAD: Final[tuple[tuple[str, _Form], ...]] = (
    ("Cursor, or another program with a SQLite database", ((b"SQLiteformat3\0",), _ANY)),
    ("Continue", ((b"{",), (b'"contextItems":',))),
    ("LibreChat", ((b"{",), (b'"conversationId":',))),
)
"""Programs whose chats are known, and not read yet."""


def program_of_chat(start: bytes) -> SessionProgram | None:
    """Return the program whose chat a file is; None for none of those that are read at once."""
    return _first_that_fits(_FORMS, start)


def unread_program(start: bytes) -> str:
    """Return the name of a program whose chats are not read yet; empty for none that is known."""
    return _first_that_fits(_UNREAD, start) or ""


def _first_that_fits(forms: Iterable[tuple[N, _Form]], start: bytes) -> N | None:
    bare = b"".join(start.removeprefix(b"\xef\xbb\xbf").split())
    return next(
        (
            name
            for name, (begins, parts) in forms
            if bare.startswith(begins) and any(part in bare for part in parts)
        ),
        None,
    )
