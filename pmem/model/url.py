"""A URL as the model: chat completions as OpenAI's API has them, over https or to this machine."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from pmem.core.secrets import unsecret
from pmem.model.models import AnswerRefused, Completion, ModelUnreachable, in_time
from pmem.model.tasks import ModelPrompt

if TYPE_CHECKING:
    import httpx

INSTALL: Final = "pip install 'pmem-cli[model]'"
MOST_BYTES: Final = 1 << 20  # of a server's answer
TEMPERATURE: Final = 0
_PAUSE_SECONDS: Final = 1.0
_BUSY: Final = frozenset((408, 409, 429, 500, 502, 503, 504, 529))
_NOT_UNDERSTOOD: Final = frozenset((400, 404, 415, 422, 501))
"""What servers answer to a form of answer that they do not know."""
_LOOPBACK: Final = frozenset(("localhost", "127.0.0.1", "::1"))
_SAID: Final = 200


class _ChatMessage(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _ChatMessage


class _Usage(msgspec.Struct):
    total_tokens: int | None = None


class _ChatAnswer(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None


class _Failed(Exception):
    """A server answered with a status that is none of success; `pause` is how long it wants to be
    left alone, in seconds.
    """

    def __init__(self, status: int, said: str, after: str) -> None:
        super().__init__(f"answered {status}{f': {said}' if said else ''}")
        self.status = status
        self.pause = float(after) if after.isdecimal() else _PAUSE_SECONDS


class UrlModel:
    """A server's model.

    It is asked for an answer that fits the schema; where the server does not know that, for any
    JSON object, and else for text. What it understood is asked for from then on.
    """

    def __init__(self, name: str, url: str, key: str = "") -> None:
        self.name = name
        self._url = chat_address(url)
        self._key = key
        self._forms: tuple[str, ...] = ("json_schema", "json_object", "")

    def complete(self, prompt: ModelPrompt, seconds: float) -> Completion:
        """Return what the server's model writes; see `TextModel`."""
        return in_time(lambda: self._complete(prompt, seconds), seconds, self.name)

    def _complete(self, prompt: ModelPrompt, seconds: float) -> Completion:
        end = time.monotonic() + seconds
        while True:
            try:
                return self._tried(prompt, self._forms[0], end)
            except _Failed as failed:
                if failed.status not in _NOT_UNDERSTOOD or len(self._forms) == 1:
                    raise ModelUnreachable(f"{self.name} {failed}") from None
                self._forms = self._forms[1:]

    def _tried(self, prompt: ModelPrompt, form: str, end: float) -> Completion:
        """Ask, and once more where the server is busy and there is time to wait as it wants."""
        try:
            return self._asked(prompt, form, end)
        except _Failed as failed:
            pause = failed.pause
            if failed.status not in _BUSY or time.monotonic() + pause >= end:
                raise
        time.sleep(pause)
        return self._asked(prompt, form, end)

    def _asked(self, prompt: ModelPrompt, form: str, end: float) -> Completion:
        try:
            import httpx
        except ImportError:
            raise ModelUnreachable(f"a URL as the model needs httpx: run `{INSTALL}`") from None
        left = max(0.1, end - time.monotonic())
        headers = {"Content-Type": "application/json", "User-Agent": "pmem"}
        headers |= {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            with (
                httpx.Client(timeout=left, follow_redirects=False) as client,
                client.stream(
                    "POST",
                    self._url,
                    content=msgspec.json.encode(self._body(prompt, form)),
                    headers=headers,
                ) as response,
            ):
                return _completion(_read_response(response, end))
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            why = unsecret(str(error))[:_SAID] or type(error).__name__
            raise ModelUnreachable(f"{self.name} cannot be reached: {why}") from None

    def _body(self, prompt: ModelPrompt, form: str) -> Mapping[str, Any]:
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [{"role": "user", "content": prompt.text}],
            "temperature": TEMPERATURE,
            "max_tokens": prompt.most_tokens,
        }
        if form == "json_schema":
            wanted = {"name": prompt.kind, "strict": True, "schema": prompt.schema}
            body["response_format"] = {"type": form, "json_schema": wanted}
        elif form:
            body["response_format"] = {"type": form}
        return body


def chat_address(url: str) -> str:
    """Return the address of a server's chat completions, of that or of what stands before it.

    It must be https or on this machine, without a password in it.
    """
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        is_here = parts.scheme == "http" and parts.hostname in _LOOPBACK
        named = bool(parts.username or parts.password)
    except ValueError:
        raise ModelUnreachable("model.url is no address") from None
    if named:
        raise ModelUnreachable("model.url has a name in it: put the key into a variable")
    if not parts.hostname or not (parts.scheme == "https" or is_here):
        raise ModelUnreachable("model.url must begin with https://, or be on this machine")
    end = "/chat/completions"
    path = parts.path.rstrip("/")
    return parts._replace(path=path if path.endswith(end) else path + end).geturl()


def _read_response(response: "httpx.Response", end: float) -> bytes:
    """Return what a server sends, as far as anybody reads it and there is time."""
    parts: list[bytes] = []
    size = 0
    for part in response.iter_bytes():
        parts.append(part)
        size += len(part)
        if size > MOST_BYTES:
            raise AnswerRefused(f"the answer has more than {MOST_BYTES} bytes")
        if time.monotonic() > end:
            raise ModelUnreachable("the server's answer took too long")
    data = b"".join(parts)
    if not response.is_success:
        said = unsecret(" ".join(data.decode(errors="replace").split())[:_SAID])
        raise _Failed(response.status_code, said, response.headers.get("retry-after", ""))
    return data


def _completion(data: bytes) -> Completion:
    try:
        answer = msgspec.json.decode(data, type=_ChatAnswer)
        text = answer.choices[0].message.content or ""
    except (msgspec.MsgspecError, RecursionError, IndexError, UnicodeDecodeError):
        raise AnswerRefused("the server did not answer as OpenAI's API does") from None
    usage = answer.usage
    return Completion(text=text, tokens=None if usage is None else usage.total_tokens)
