"""Which program wrote a chat, told by how its file begins."""

from typing import Final, NamedTuple

from pmem.values.programs import SessionProgram

LOOKED_AT: Final = 64 * 1024
"""Bytes of a file by which its program is known."""


class _Form(NamedTuple):
    """How a file begins, without the space between, and names of which it holds one at least."""

    begins: tuple[bytes, ...]
    names: tuple[bytes, ...] = (b"",)


_FORMS: Final = (
    (SessionProgram.AIDER, _Form((b"#aiderchatstartedat",))),
    (SessionProgram.SPECSTORY, _Form((b"<!--GeneratedbySpecStory",))),
    (
        SessionProgram.CLINE,
        _Form((b'[{"role":"user"', b'[{"role":"assistant"')),
    ),
    (SessionProgram.CLINE, _Form((b'[{"ts":',), (b'"type":"say"', b'"type":"ask"'))),
    (SessionProgram.CLAUDE_AI, _Form((b"[", b"{"), (b'"chat_messages":[',))),
    (SessionProgram.CHATGPT, _Form((b"[", b"{"), (b'"mapping":{',))),
    (
        SessionProgram.COPILOT_CHAT,
        _Form((b"{",), (b'"requesterUsername":', b'"responderUsername":')),
    ),
)
_UNREAD: Final = (
    ("Cursor, or another program with a SQLite database", _Form((b"SQLiteformat3\0",))),
    ("Continue", _Form((b"{",), (b'"contextItems":',))),
    ("LibreChat", _Form((b"{",), (b'"conversationId":',))),
)
"""Programs whose chats are known, and not read yet."""


def program_of_chat(start: bytes) -> SessionProgram | None:
    """Return the program whose chat a file is; None for none of those that are read at once."""
    bare = _bare(start)
    return next((program for program, form in _FORMS if _fits(form, bare)), None)


def unread_program(start: bytes) -> str:
    """Return the name of a program whose chats are not read yet; empty for none that is known."""
    bare = _bare(start)
    return next((name for name, form in _UNREAD if _fits(form, bare)), "")


def _bare(start: bytes) -> bytes:
    return b"".join(start.removeprefix(b"\xef\xbb\xbf").split())


def _fits(form: _Form, bare: bytes) -> bool:
    return bare.startswith(form.begins) and any(name in bare for name in form.names)
