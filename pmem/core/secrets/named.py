"""Secrets by name, in any notation: a name, a sign such as `=`, and a value.

The name is a word for secrets (`words`) with what is glued to it. The bond is what stands between
the two: signs, quotes, brackets, tags, a few words. How well the value must look like a secret
depends on it: after a sign (`password: ...`) it must be able to be one, after other words it must
look drawn. So prose, Markdown, JSON, YAML, shells, SQL, calls and headers are one case.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from pmem.core.secrets import words
from pmem.core.secrets.false_positives import is_chosen, is_drawn, is_password, is_strong, is_token
from pmem.core.secrets.rules import Secret
from pmem.values.patterns import lazily

FIRM, NEAR, LOOSE, HINT = 3, 2, 1, 0
"""How a value is bound to its name: by a sign, as the next word, as a word of the sentence,
as one of the next sentence, which must look made up."""
_TAIL: Final = lazily(r"[\w-]{0,60}+")
_CLOSERS: Final = lazily(r"""(?>(?:\\?["'`*_\])}»”’]){0,4})""")
_GLUE: Final = lazily(
    r"""(?>(?:[\s=:,()\]}>→–—：，。「」『』（）«»”]|(?<!\*)\*{1,3}(?!\*)|-(?=[\s>])|[\[{](?=["'\s])|\\+["'nrt]?
    |</?[A-Za-z][\w:.-]{0,20}/?>
    |(?:\|{1,2}|\?{1,2}|/)(?=\s)|!(?==)|~~|<!\[CDATA\[|<-
    |!!?[a-z]{3,6}[ ]|```\w{0,10}\s|`(?=\s)){0,60})""",
    re.VERBOSE,
)
_OTHER: Final = r"\u0590-\u1DFF\u2E80-\uFFFF"
_IN_ONE_SCRIPT: Final = lazily(rf"""[^\s"'`<>{_OTHER}]{{1,96}}+|[{_OTHER}]{{1,96}}+""")
"""A word of Latin letters, or of another script."""
_LATIN: Final = "\u2e80"
"""From here on scripts put no space between words."""
_BARE: Final = lazily(r"""(?>(?:[^\s"'`<>]|(?<=[a-z])'(?=[a-z]{1,2}\b)){1,96})""")
_UNBROKEN: Final = lazily(r"[^\s\"'`<>]*")
_PREFIX: Final = lazily(r"[bBrRuUNLfF@&$]{1,2}(?=[\"'])")
_QUOTED: Final = {
    "“": "”",
    "„": "“”",
    "‘": "’",
    **{sign: sign for sign in "\"'`"},
}
_KEY: Final = lazily(r"\s{0,3}:")
_LABEL: Final = lazily(r"[A-Za-z_][\w.-]{0,30}[:=]+(?=.)")
_CUT: Final = lazily(r"[;&,|](?=[\w .-]{1,30}=)|\\[nrt\"']|\]\]|\)[;{]")
_IN_FLAG: Final = lazily(
    r"(?:(?:^|\s)--?[A-Za-z][A-Za-z-]{0,40}|(?:^|\s)(?:ENV|ARG|set|setx|setenv|-x)\s+\w{1,40})$"
)
_LATER: Final = lazily(
    r"""[^\n]{0,80}\n(?:[^\n]{0,80}\n){0,3}?[ \t]*["'-]{0,2}[ ]?["']?(?:value|default)["']?"""
    r"\s{0,3}[:=]\s{0,3}"
)
_UNFIT: Final = frozenset("$<{%")
_NO_STARTS: Final = frozenset("-]})>;:,|&=@")
_TRAILING: Final = ".,;:)]}»”’\\"
_SIGNS: Final = frozenset(":=>|→：?")
_STOPS: Final = frozenset(".!?")
_MOST_WORDS: Final = 14
_LOOK_BACK: Final = 120
_WORDS_BACK: Final = 5
_LEAST_ROOM: Final = 7
"""How much room a sign and a value need; where a word comes again and again, there is none."""
_LONGEST_HEAD: Final = 60
_GLUED: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.$"
_LOOK_AHEAD: Final = 2400
_LONGEST_QUOTED: Final = 256
_MOST: Final = 96
"""How much of a value is judged; what is longer is found whole all the same."""


class Name(NamedTuple):
    """A name of a secret in a text: where it begins and ends, the word that makes it
    one, and whether it only hints at one.
    """

    start: int
    end: int
    word: str
    is_hint: bool = False


class _Value(NamedTuple):
    """What may be a value: its text, where it begins, where reading goes on, whether it stands
    in quotes, how it is bound, and the word before it.
    """

    text: str
    start: int
    end: int
    quoted: bool = False
    bond: int = FIRM
    after: str = ""


def held(text: str, lowered: str) -> Iterator[Secret]:
    """Yield what a text calls a password, secret, token or key.

    `lowered` is the same in lower case, as long.
    """
    for word in (*words.PASSWORDS, *words.TOKENS, *words.HINTS):
        if word in lowered:
            yield from _find_secrets_named(text, lowered, word)


def judged(word: str, value: str, start: int, bond: int = FIRM) -> Secret | None:
    """Return a value if it can be a secret of its kind.

    The word is one of `words.PASSWORDS` or `words.TOKENS`.
    """
    if len(value) > 32 and word in value.lower():  # one value after the other, and no secret
        return None
    is_short = word not in words.TOKENS
    kind = "password" if is_short else "assigned-secret"
    fits = bool(value) and _fits(value[:_MOST], is_short, bond)
    return Secret(kind, start, start + len(value)) if fits else None


@lru_cache(maxsize=256)
def word_of(name: str) -> str | None:
    """Return the word by which a name, a key or a column's head names a secret, if it does."""
    lowered = name.lower()
    for word in (*words.PASSWORDS, *words.TOKENS):
        place = lowered.rfind(word)
        if place >= 0 and words.names_a_secret(name, lowered, word, place):
            return word if words.is_end(name[place + len(word) :], word) else None
    return None


@lru_cache(maxsize=256)
def _fits(value: str, is_short: bool, bond: int) -> bool:
    if bond == FIRM:
        return is_password(value) if is_short else is_token(value) or is_strong(value)
    if bond == HINT:
        return is_chosen(value)
    return is_drawn(value, is_short=is_short, is_near=bond == NEAR)


def _find_secrets_named(text: str, lowered: str, word: str) -> Iterator[Secret]:
    """Yield what a text calls by one word."""
    place = lowered.find(word)
    following = _next(lowered, word, place)
    while place >= 0:
        after = _next(lowered, word, following)
        if after < 0 or max(following - place, after - following) >= len(word) + _LEAST_ROOM:
            first = max(0, place - _LOOK_BACK - _LONGEST_HEAD - 1)
            last = place + _LOOK_AHEAD
            part = text[first:last]
            found = _around(part, lowered[first:last], word, place - first)
            if last < len(text) and any(each.end >= len(part) for each in found):
                found, first = _around.__wrapped__(text, lowered, word, place), 0
            for kind, start, end in found:
                yield Secret(kind, first + start, first + end)
            if found and following < first + found[-1].end:
                following = lowered.find(word, max(place + len(word), first + found[-1].end))
        place, following = following, _next(lowered, word, following)


def _next(lowered: str, word: str, place: int) -> int:
    """Return where a word stands after the one at a place; less than 0 if nowhere."""
    return place if place < 0 else lowered.find(word, place + len(word))


@lru_cache(maxsize=256)
def _around(text: str, lowered: str, word: str, place: int) -> list[Secret]:
    """Return the values that belong to a word at a place: after it, else before it."""
    end = place + len(word)
    if word in words.HINTS:
        is_word = not _is_inside(lowered, place, end)
        return _after(text, Name(place, end, word, is_hint=True)) if is_word else []
    if not words.names_a_secret(text, lowered, word, place):
        is_key = word in words.KEYS and not _is_inside(lowered, place, end)
        return _after(text, Name(place, end, word, is_hint=True)) if is_key else []
    tail = "" if word[-1] > _LATIN else _TAIL.match(text, end)[0]  # type: ignore[index]
    if not words.is_end(tail, word):
        return []
    head = text[max(0, place - _LONGEST_HEAD) : place]
    name = Name(place - len(head) + len(head.rstrip(_GLUED)), end + len(tail), word)
    return _after(text, name) or _before(text, name)


def _is_inside(lowered: str, place: int, end: int) -> bool:
    return lowered[place - 1 : place].isalpha() or lowered[end : end + 1].isalpha()


def _after(text: str, name: Name) -> list[Secret]:
    """Return the values after a name that can be its secrets: `prod ..., staging ...`."""
    found = (_secret_in_value(text, name, value) for value in _values(text, name))
    return [each for each in found if each is not None]


def _values(text: str, name: Name) -> Iterator[_Value]:
    """Yield the words after a name, each with its bond."""
    place = _CLOSERS.match(text, name.end).end()  # type: ignore[union-attr]
    if text.startswith("}}", name.end) or text.startswith("</", name.start - 2):
        return
    last, most = _Value("", name.start, place), FIRM
    for number in range(_MOST_WORDS):
        glue = _GLUE.match(text, place)[0]  # type: ignore[index]
        if not number and _is_none(text, name, place, glue):
            return
        is_led = number == 0 or text[place - 1] == ":"
        if "\n" in glue and not (is_led and _goes_on(text, name, place, glue)):
            yield from _later(text, name) if number == 0 else ()
            return
        value = _read_value(text, place + len(glue), "*" in glue)
        if not value.text or value.text[0] in _UNFIT:
            return
        value = value._replace(
            bond=min(most, _bond(text, name, glue, value, last)), after=_lower(last)
        )
        yield value
        if _ends(text, glue, value, number):
            return
        if not value.quoted and text[value.end - 1] in _STOPS:
            most = HINT
        last, place = value, value.end


def _is_none(text: str, name: Name, place: int, glue: str) -> bool:
    """Tell whether a name is glued to what follows it, which is no value then."""
    is_glued = not glue and place == name.end and text[place - 1] < _LATIN
    is_end = text[place : place + 1] in _STOPS and text[place + 1 : place + 2].isspace()
    return is_glued and not is_end


def _bond(text: str, name: Name, glue: str, value: _Value, last: _Value) -> int:
    """Return how a value is bound to a name by what stands between them."""
    if name.is_hint:
        return HINT
    is_next = not last.text
    if not _SIGNS.isdisjoint(glue) or " (" in glue or (last.text and text[last.end - 1] in ":="):
        return FIRM
    is_dressed = value.quoted or "**" in glue or "~~" in glue
    if is_next and (_is_flag(text, name) or (is_dressed and _is_given(text, name, glue))):
        return FIRM
    if value.quoted and last.text.endswith("("):
        return min(last.bond, FIRM)
    if text[name.start : name.end].lower() in words.SHORT:
        return NEAR if is_next else HINT
    return FIRM if _lower(last) in words.COPULAS else NEAR if is_next else LOOSE


def _lower(value: _Value) -> str:
    return value.text.rstrip(_TRAILING).lower().removesuffix("'s")


def _ends(text: str, glue: str, value: _Value, number: int) -> bool:
    """Tell whether no value of a name follows what was read."""
    lower = _lower(value)
    if number == 0 and lower in words.ABOUT:
        return True
    is_key = _KEY.match(text, value.end) is not None or lower in words.VALUES
    return value.quoted and not is_key and not _SIGNS.isdisjoint(glue)


def _goes_on(text: str, name: Name, place: int, glue: str) -> bool:
    """Tell whether what is said of a name follows on the next line, alone on it."""
    before = text[place - 1] + glue.partition("\n")[0]
    line = text.rfind("\n", max(0, name.start - _LOOK_BACK), name.start) + 1
    if "</" in glue and "<string>" not in glue:
        return False
    if (
        _SIGNS.isdisjoint(before.replace(">", ""))
        and "<string>" not in glue
        and text[line : line + 1] != "#"
    ):
        return False
    start = place + len(glue)
    rest = text[start : start + _LONGEST_QUOTED].partition("\n")[0].split()
    return len(rest) == 1


def _is_given(text: str, name: Name, glue: str) -> bool:
    """Tell whether what stands in quotes after a name is its value, not the next of a list."""
    return "," not in glue or text[name.start - 2 : name.start - 1] == "("


def _later(text: str, name: Name) -> Iterator[_Value]:
    """Yield what one of the next lines gives as a name's value: `name: X` and `value: ...`."""
    match = _LATER.match(text, name.end)
    if match is not None:
        yield _read_value(text, match.end())


def _is_flag(text: str, name: Name) -> bool:
    """Tell whether a name takes a value after it: `--token x`, `ENV TOKEN x`."""
    before = text[max(0, name.start - 48) : name.end]
    return ("-" in before or "_" in before) and _IN_FLAG.search(before) is not None


def _read_value(text: str, start: int, is_dressed: bool = False) -> _Value:
    """Return the word, or what stands in quotes, at a place; dress is `**` around it."""
    prefix = _PREFIX.match(text, start)
    start = prefix.end() if prefix else start
    closing = _QUOTED.get(text[start : start + 1], "")
    for sign in closing:
        end = text.find(sign, start + 1, start + 1 + _LONGEST_QUOTED)
        if end > start + 1 and "\n" not in text[start:end]:
            return _Value(text[start + 1 : end], start + 1, end + 1, quoted=True)
    start += bool(closing)
    match = _BARE.match(text, start)
    if match is not None and not match[0].isascii():
        match = _IN_ONE_SCRIPT.match(text, start)
    if match is None:
        return _Value("", start, start)
    bare = match[0].rstrip(_TRAILING + "*") if is_dressed else match[0]
    is_long = match.end() - start >= _MOST
    return _Value(bare, start, _UNBROKEN.match(text, start).end() if is_long else match.end())  # type: ignore[union-attr]


def _secret_in_value(text: str, name: Name, value: _Value) -> Secret | None:
    """Return what was read, or the part of it that is a secret."""
    if value.after in words.OTHER_THINGS:
        return None
    if value.quoted:
        return _in_quotes(name, value)
    if value.text[0] in _NO_STARTS:
        return None
    cut = _CUT.search(value.text)
    whole = value.text[: cut.start()] if cut else value.text
    label = _LABEL.match(whole)
    if label and label[0].rstrip(":=").lower().rpartition("_")[2] in words.OTHER_THINGS:
        return None
    found = judged(name.word, whole.rstrip(_TRAILING), value.start, value.bond)
    if found is None and label:
        rest = whole[label.end() :].rstrip(_TRAILING)
        found = judged(name.word, rest, value.start + label.end(), min(value.bond, NEAR))
    return _with_rest_of_word(text, found, value)


def _in_quotes(name: Name, value: _Value) -> Secret | None:
    """Return what is a secret in quotes: all, else the first word, else one that looks drawn."""
    bond = value.bond
    for match in _INNER.finditer(value.text):
        word = match[0] if match[0] == value.text else match[0].rstrip(_TRAILING)
        found = judged(name.word, word, value.start + match.start(), bond)
        if found is not None:
            return found
        bond = min(bond, LOOSE)
    return None


def _with_rest_of_word(text: str, found: Secret | None, value: _Value) -> Secret | None:
    """Return a finding with what follows it unbroken, if only its beginning was read."""
    if found is not None and not value.quoted and found.end - value.start >= _MOST:
        return found._replace(end=_UNBROKEN.match(text, found.end).end())  # type: ignore[union-attr]
    return found


_INNER: Final = lazily(r"\S+")
_BEFORE: Final = lazily(r"""[^\s"'`<>()«»“”]+""")


def _before(text: str, name: Name) -> list[Secret]:
    """Return what is called by the name after it: `use ... as the password`."""
    first = max(0, name.start - _LOOK_BACK)
    part = text[first : name.start]
    begin = max(part.rfind("\n"), part.rfind(". ")) + 1
    found = list(_BEFORE.finditer(part, begin))[-_WORDS_BACK - 1 :]
    is_called = False
    for number, match in enumerate(reversed(found)):
        value = match[0].rstrip(_TRAILING)
        is_whole = match.start() > 0 or first == 0
        if is_whole and (number or match[0][-1] not in "_-."):
            previous = (
                found[-number - 2][0].lower().rstrip(":=") if number + 2 <= len(found) else ""
            )
            if previous not in words.OTHER_THINGS:
                bond = FIRM if is_called else LOOSE
                secret = judged(name.word, value, first + match.start(), bond)
                if secret is not None:
                    return [secret]
        is_called = value.lower() in words.CALLING
    return []
