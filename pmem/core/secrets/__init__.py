"""Finding secrets in texts: tokens, keys, passwords.

A text is looked at in three ways: for the shapes that issuers publish (`rules`), for passwords in
addresses (`links`), and for values that the text itself calls a secret and that look random enough
(`named`, `rows`). Entropy alone is never a reason: digests and ids are a project's daily bread.
Each way begins with a search for a few characters, runs in linear time, and is loaded only when
these are there.
"""

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Final

from pmem.core.secrets.rules import (
    BASIC,
    COMMANDS,
    SHAPES,
    TOKENS,
    Secret,
    SecretShape,
    alternatives,
)
from pmem.values.patterns import lazily

DIGEST: Final = "sha256:"
_WITHOUT_OPTIONS: Final = alternatives(
    "sqlplus |expdp |impdp |rabbitmqctl |nmcli |vault login |schtasks |signtool "
)
"""Programs that take a password as a plain word, or after a slash."""
LOGINS: Final = alternatives(
    "login|log in|log-in|sign in|signin|creds|credential|account|user|zugang|anmeld|auth(|"
    "auth =|auth=|authenticate|logon|admin|root|identifiant|usuario|acceso"
)
"""What stands near a name and a password: `the login is kim / ...`."""
_COLUMNS: Final = (",", ";", "\t", "|", "  ")
_GOING_ON: Final = lazily(
    r"(?>(?:\r?\n[ \t]{0,12}(?=[^\n]{0,60}[0-9])[A-Za-z0-9+/_-]{40,}+(?=={0,2}\s*?(?:\n|\Z)))*)"
    r"(?:\r?\n[ \t]{0,12}(?=[^\n]{0,60}[0-9=])[A-Za-z0-9+/_-]{4,}+={0,2}(?=\s*?(?:\n|\Z)))?"
)
_WRAPPED: Final = 56
"""How long a line is that goes on in the next one, at least."""
_LEAST: Final = 20
"""How many characters without a space the shortest token has."""
_SHORTEST: Final = 6
_FILLING: Final = "AAA"
"""What zeros are in armour: whole keys have many of them."""
_BRIEF: Final = 24
"""Characters of a text that may well come again."""
_LONGEST_NAME: Final = 60
_LONGEST_LINE: Final = 1024
_SYMBOLS: Final = frozenset("!@#$%^&*+=~?|")
_PASSWORD: Final = "password"  # noqa: S105 - a kind of secret
_ASSIGNED: Final = "assigned-secret"
_GENERAL: Final = frozenset({_PASSWORD, _ASSIGNED, "authorization-header"})
_PLAIN: Final = str.maketrans({chr(code): chr(code + 32) for code in range(65, 91)})


def find(text: str, allowed: Collection[str] = ()) -> list[Secret]:
    """Return the secrets in a text in their order; none of them overlap.

    What is `allowed` is none: texts, or `sha256:` and the digest of one in hexadecimal digits.
    """
    if len(text) < _SHORTEST:
        return []
    if not text.isascii() or "\\" in text:
        from pmem.core.visible import has_any, joined

        if has_any(text):
            plain = joined(text)
            seen = _find_visible(plain.text, allowed)
            return [Secret(each.kind, *plain.span(each.start, each.end)) for each in seen]
    return _find_visible(text, allowed)


def find_named(name: str, text: str, allowed: Collection[str] = ()) -> list[Secret]:
    """Return the secrets in a value, also those that only its name tells: `{"password": ...}`.

    The name is such as the key of a JSON object; it may be empty.
    """
    found = find(text, allowed)
    line = text.partition("\n")[0][:_LONGEST_LINE]
    if found or not name or len(name) > _LONGEST_NAME or not _has_words(_lower(name)):
        return found
    before = len(f"{name}: ")
    named = find(f"{name}: {line}", allowed)
    return [
        Secret(kind, start - before, end - before) for kind, start, end in named if start >= before
    ]


def digest(value: str) -> str:
    """Return how a value is named among what is allowed, without saying it."""
    from hashlib import sha256

    return DIGEST + sha256(value.encode("utf-8", "surrogatepass")).hexdigest()


def without_raw(allowed: Iterable[str]) -> tuple[str, ...]:
    """Return what is allowed less what is a secret itself: that is no example."""
    return tuple(each for each in allowed if each.startswith(DIGEST) or not find(each))


def redacted(text: str, found: Iterable[Secret]) -> str:
    """Return a text with `[redacted: kind]` in the place of secrets."""
    parts, end = [], 0
    for each in found:
        parts += [text[end : each.start], f"[redacted: {each.kind}]"]
        end = each.end
    return "".join(parts) + text[end:]


def unsecret(text: str) -> str:
    """Return a text about what went wrong without the secrets that it may repeat."""
    return redacted(text, find(text))


def place(text: str, secret: Secret) -> str:
    """Say where a secret stands in a text, both counted from one."""
    line = text.count("\n", 0, secret.start) + 1
    column = secret.start - text.rfind("\n", 0, secret.start)
    return f"line {line}, character {column}"


def _find_visible(text: str, allowed: Collection[str]) -> list[Secret]:
    """Return the secrets in a text as it stands."""
    kept = list(_known_of(text) if len(text) <= _BRIEF else _apart(text))
    if allowed:
        values = [text[each.start : each.end] for each in kept]
        kept = [
            each
            for each, value in zip(kept, values, strict=True)
            if value not in allowed and digest(value) not in allowed
        ]
    return list(_wholes(text, kept)) if "\n" in text else kept


@lru_cache(maxsize=1024)
def _known_of(text: str) -> tuple[Secret, ...]:
    """Return what `_apart` does of the names and the words that a file says again and again."""
    return tuple(_apart(text))


def _apart(text: str) -> list[Secret]:
    """Return the findings in a text in their order, those that overlap as one."""
    kept: list[Secret] = []
    for each in sorted(_candidates(text), key=lambda each: (each.start, -each.end)):
        if kept and each.start < kept[-1].end:
            kept[-1] = _join_findings(kept[-1], each)
        else:
            kept.append(each)
    return kept


def _join_findings(one: Secret, other: Secret) -> Secret:
    """Return two findings that overlap as one, by the name that says more."""
    kind = other.kind if one.kind in _GENERAL else one.kind
    if {one.kind, other.kind} == {_PASSWORD, _ASSIGNED}:
        kind = _PASSWORD
    return Secret(kind, one.start, max(one.end, other.end))


def _wholes(text: str, found: Iterable[Secret]) -> Iterator[Secret]:
    """Yield findings with the lines in which long ones go on, and none within another."""
    end = 0
    for each in found:
        if each.start >= end:
            goes_on = each.end - each.start >= _WRAPPED and text[each.end : each.end + 1] == "\n"
            match = _GOING_ON.match(text, each.end) if goes_on else None
            end = each.end if match is None else match.end()
            yield each._replace(end=end)


def _candidates(text: str) -> Iterator[Secret]:
    lowered = _lower(text)
    if max(map(len, text.split()), default=0) >= _LEAST or "-----" in text:
        yield from _tokens(text)
        yield from _shapes(text, lowered, SHAPES)
    yield from _shapes(text, lowered, COMMANDS)
    if "://" in text:
        from pmem.core.secrets import commands

        yield from commands.in_addresses(text)
    if " -" in lowered or any(map(lowered.__contains__, _WITHOUT_OPTIONS)):
        from pmem.core.secrets import commands

        yield from commands.in_commands(text)
    if any(map(_may_be_drawn, text.split())):
        is_login = any(map(lowered.__contains__, LOGINS))
        if is_login or _has_words(lowered):
            yield from _find_labelled(text, lowered)
        if is_login:
            from pmem.core.secrets import rows

            yield from rows.beside_users(text, lowered)


def _find_labelled(text: str, lowered: str) -> Iterator[Secret]:
    """Yield what the text itself calls a secret."""
    from pmem.core.secrets import named

    yield from named.held(text, lowered)
    if "|" in text or ("\n" in text and any(map(text.__contains__, _COLUMNS))):
        from pmem.core.secrets import rows

        yield from rows.in_rows(text, lowered)
    if "values" in lowered:
        from pmem.core.secrets import rows

        yield from rows.in_inserts(text)


def _has_words(lowered: str) -> bool:
    """Tell whether a text speaks of secrets in one of the languages known."""
    from pmem.core.secrets import words

    stems = words.ASCII_STEMS if lowered.isascii() else words.STEMS
    return any(map(lowered.__contains__, stems))


def _may_be_drawn(word: str) -> bool:
    """Tell whether a word can be a password or a token: most words of a sentence cannot."""
    if len(word) < _SHORTEST or _is_address(word):
        return False
    if len(word) >= _LEAST:
        return True
    if word.isalpha() or word.replace(",", "").isdigit():
        return False
    return any(map(str.isdigit, word)) or not _SYMBOLS.isdisjoint(word[:-1])


def _is_address(word: str) -> bool:
    """Tell whether a word names a host, with or without a port: `auth2.acme.test:8443`."""
    host, _, port = word.partition(":")
    parts = host.split(".")
    is_host = len(parts) > 2 and word.islower() and (not port or port.isdigit())
    return is_host and all(part.rstrip("0123456789").isalpha() for part in parts)


def _tokens(text: str) -> Iterator[Secret]:
    """Yield what begins as the tokens of some issuer do, and goes on as they do."""
    letters = frozenset(text)  # most prefixes need one that a text has not: it is read once
    for token in TOKENS:
        for prefix in filter(letters.issuperset, token.prefixes):
            place = text.find(prefix)
            while place >= 0:
                end = place + len(prefix)
                match = None if _is_inside(text, place) else token.rest.match(text, end)
                if match is not None:
                    from pmem.core.secrets.false_positives import is_example

                    end = match.end()
                    if not is_example(_telling(token.kind, match[0])):
                        yield Secret(token.kind, place, end)
                place = text.find(prefix, end)


def _is_inside(text: str, place: int) -> bool:
    """Tell whether a prefix stands within a longer word, which is another one then."""
    before = text[place - 1 : place]
    return text[place].isalnum() and (before.isalnum() or before == "_") and before.isascii()


def _telling(kind: str, rest: str) -> str:
    """Return what of a token an example would show: none of the zeros that long ones have."""
    if kind == "private-key":
        body = rest.partition("-----")[2].partition("-----")[0]
        return body.replace(_FILLING, "") or _FILLING
    return rest.replace(_FILLING, "") if len(rest) > _WRAPPED else rest


def _shapes(text: str, lowered: str, shapes: Iterable[SecretShape]) -> Iterator[Secret]:
    """Yield what has the shape of a secret, where something else in the text says which."""
    for shape in shapes:
        for mark in shape.marks:
            if mark in lowered:
                for match in shape.pattern.finditer(text):
                    from pmem.core.secrets.false_positives import is_usual

                    if not is_usual(match[1]) and (shape.kind != BASIC or _is_pair(match[1])):
                        yield Secret(shape.kind, *match.span(1))
                break


def _is_pair(encoded: str) -> bool:
    """Tell whether base64 holds a user and a password, and not `user:password` itself."""
    from binascii import Error, a2b_base64

    from pmem.core.secrets.false_positives import is_usual

    try:
        plain = a2b_base64(encoded[: len(encoded) // 4 * 4] or b"").decode()
    except (Error, ValueError):
        return False
    user, sign, password = plain.partition(":")
    return (
        bool(sign and password)
        and plain.isprintable()
        and password != user
        and not is_usual(password)
    )


def _lower(text: str) -> str:
    """Return a text in lower case, every character at its place."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.translate(_PLAIN)
