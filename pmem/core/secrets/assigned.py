"""Secrets that a text says are some: `password: ...`, `X_TOKEN=...`, "the API key is ..."."""

import re
from collections.abc import Iterator
from string import ascii_letters, digits
from typing import Final, NamedTuple

from pmem.core.secrets.innocent import is_password, is_token

PASSWORDS: Final = (
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "passwort",
    "kennwort",
    "contraseña",
    "mot de passe",
    "пароль",
    "密码",
    "密碼",
    "パスワード",
    "pwd",
    "pass",
)
TOKENS: Final = ("secret", "token", "key", "credential", "密钥", "секрет")
_KINDS_OF_KEYS: Final = (
    "api",
    "access",
    "secret",
    "private",
    "auth",
    "authentication",
    "signing",
    "encryption",
    "master",
    "account",
    "client",
    "deploy",
    "license",
    "storage",
    "service",
    "session",
    "subscription",
    "integration",
    "admin",
)
"""What stands before `key` where a key is a secret: a primary key or a cache key is none."""
_BEFORE_KEY: Final = 16
_VARIABLE: Final = "KEY="
_HELD: Final = re.compile(
    r"""
    (?P<rest>[A-Za-z0-9_-]{0,60}+)(?:[ ](?:key|token|value)(?![\w-]))?+
    ["'`*\])]{0,3}+
    (?:\s?\([^()\n]{0,40}+\))?+
    (?:
      ["']?\s{1,3}value=(?=["'])
      | \s{0,4}+(?::=|=>|->|={1,3}|:{1,2}|：)\s{0,8}+(?:=\s?)?+
      | (?:\s(?:for|of|to|on|in|at|from|used|we|i|you)(?:\s[\w'./-]{1,24}+){1,5}?)?
        (?:
          \s{1,3}+(?:is|was|are|ist|lautet|es|est|equals|became|to|это)
          (?:\s(?:now|currently|still|set|changed|reset|to))*+ (?:\s?:)?+
          | \s?[:=]
        )
        \s{1,3}+
      | \s?(?:是|は|为|為)[：:]?\s?
      | (?P<flag>[ ]{1,3}(?=[^\s=:-]))
    )
    (?:
      (?P<quote>["'`])(?P<quoted>[^"'`\n]{4,256})(?P=quote)
      | ["'`*]{0,3}(?P<bare>[^\s"'`<>]{4,256})
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NOT_SECRET: Final = re.compile(
    r"""(?:[_-]?(?:ids?|names?|files?|paths?|dir|urls?|uris?|counts?|limits?|budgets?|types?|hash|hashes
    |digests?|lengths?|sizes?|polic(?:y|ies)|expiry|expires|expiration|ttl|reset|fields?|managers?
    |endpoints?|formats?|rules?|hints?|prefix|version|algorithm|ref|refs|arn|vault|store|usage|total
    |words?|code|codes|board|map|pair|pairs|est|estimate|fingerprint|label|header|param|alias))(?![a-z])""",
    re.VERBOSE | re.IGNORECASE,
)
_GLUED: Final = re.compile(r"s?(?:[_-]|[0-9]|[A-Z]|$|s$)")
_IN_FLAG: Final = re.compile(r"(?:^|\s)--[A-Za-z-]*[A-Za-z]$")
_GOING_ON: Final = frozenset(f"{ascii_letters}{digits} \n\t\"'`*)](_-:=：是は为為")
"""What follows a word that a value is given for."""
_PARAMETER: Final = re.compile(r"[;&,|](?=[\w .-]{1,30}=)|\\n|\\r")
_QUOTES: Final = "\"'`<>(["
_TRAILING: Final = ".,;:)]}»”’*"
_CALLING: Final = frozenset({"as", "is", "="})
_WORDS_BACK: Final = 5
_LONGEST_WORD: Final = 12
_LOOK_BACK: Final = 240
_NEAR: Final = 48
_LONG: Final = 32
_MOST: Final = 256
"""How much of a value is judged; what is longer is found whole all the same."""
_UNBROKEN: Final = re.compile(r"[^\s\"'`<>]*")


class Held(NamedTuple):
    """A value that a text says is a secret, and where it stands."""

    kind: str
    start: int
    end: int


def held(text: str, lowered: str, word: str) -> Iterator[Held]:
    """Yield what a text calls by one of the words in `PASSWORDS` or `TOKENS`.

    Args:
        text: Any text.
        lowered: The same in lower case, as long.
        word: The word.
    """
    place = lowered.find(word)
    while place >= 0:
        end = place + len(word)
        if _names_a_secret(text, lowered, word, place):
            found = _after(text, word, end) if text[end : end + 1] in _GOING_ON else None
            if found is None and _may_be_called(lowered[max(0, place - _NEAR) : place]):
                found = _before(text, word, place)
            if found is not None:
                yield found
                end = max(end, found.end)
        place = lowered.find(word, end)


def _names_a_secret(text: str, lowered: str, word: str, place: int) -> bool:
    """Tell whether a word is one for secrets here: an API key and `X_KEY=`, but no primary key."""
    if word == "pass":  # no compass, and no password either
        around = lowered[place - 1 : place] + lowered[place + len(word) : place + len(word) + 1]
        return not any(map(str.isalpha, around))
    if word != "key":
        return True
    if text.startswith(_VARIABLE, place):
        return text[place - 1 : place] == "_"
    before = lowered[max(0, place - _BEFORE_KEY) : place].rstrip(" _-")
    return before.endswith(_KINDS_OF_KEYS)


def _after(text: str, word: str, end: int) -> Held | None:
    """Return what is given after a word that ends at a place: `password: ...`."""
    match = _HELD.match(text, end)
    if match is None or not _is_holder(text, match):
        return None
    group = "bare" if match["quoted"] is None else "quoted"
    start, value = match.start(group), match[group]
    if group == "bare":
        value = _PARAMETER.split(value)[0].rstrip(_TRAILING)
    found = _judged(word, value, start)
    if found is not None and len(value) == _MOST:  # it goes on
        return found._replace(end=_UNBROKEN.match(text, found.end).end())  # type: ignore[union-attr]
    return found


def _is_holder(text: str, match: re.Match[str]) -> bool:
    """Tell whether the name in which the word stands holds a secret, not something about one."""
    if match["flag"] is not None:
        before = text[max(0, match.start() - _NEAR) : match.start()]
        if "--" not in before or _IN_FLAG.search(before) is None:
            return False
    rest = match["rest"]
    if not rest:
        return True
    ending = max(0, len(rest) - _BEFORE_KEY)
    about = _NOT_SECRET.match(rest) or _NOT_SECRET.search(rest, ending)
    return about is None and _GLUED.match(rest) is not None


def _may_be_called(near: str) -> bool:
    return " as " in near or " is " in near or " = " in near


def _before(text: str, word: str, place: int) -> Held | None:
    """Return what is called by the word after it: `use ... as the password`."""
    words = text[max(0, place - _LOOK_BACK) : place].rsplit(" ", _WORDS_BACK)
    for number in range(len(words) - 2, 0, -1):
        if words[number] in _CALLING:
            return _called(text, word, place - len(" ".join(words[number:])) - 1)
        if len(words[number]) > _LONGEST_WORD:
            return None
    return None


def _called(text: str, word: str, end: int) -> Held | None:
    """Return the value that ends at a place, without the signs around it."""
    words = text[max(0, end - _LOOK_BACK) : end].split()
    value = words[-1].rstrip(_TRAILING + _QUOTES) if words else ""
    start = end - len(words[-1]) if words else end
    bare = value.lstrip(_QUOTES)
    return _judged(word, bare, start + len(value) - len(bare))


def _judged(word: str, value: str, start: int) -> Held | None:
    """Return a value if it can be a secret of its kind."""
    if len(value) > _LONG and word in value.lower():  # one value after the other, and no secret
        return None
    kind = "password" if word in PASSWORDS else "assigned-secret"
    fits = is_password(value) if word in PASSWORDS else is_token(value)
    return Held(kind, start, start + len(value)) if value and fits else None
