"""Wrong inputs made of right ones: damage to bytes, to lines, and to the values of JSON."""

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final

MOST_BYTES: Final = 100_000
"""Inputs grow no longer than this."""
_TIMES: Final = (
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999999-14:00", "9999-12-31T23:59:59Z",
    "2026-02-30", "2026-11-21", "2026-11-21T14:30:00", "1969-12-31T23:59:59Z", "2026-W01-1",
    "20261121T143000,5Z", "3d", "9999999w",
)  # fmt: skip
_NUMBERS: Final = (
    0, -1, 1, 2**31, 2**53, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 2**70, 10**400,
    0.5, 1.5, -0.0, 1e308, 5e-324, float("nan"), float("inf"), float("-inf"),
)  # fmt: skip
_WORDS: Final = (
    "", " ", "\0", "\ud800", "\udfff", "\ufeff", "\u202e", "\u2028", "\x1b[2J", "\U000e0041",
    "İ", "ß", "ﬃ", "e\u0301", "日本語", "👩‍👩‍👧", "../../etc/passwd", "a/b", "k3v9", "-", "--",
    "x" * 300, "0a0a0a0a-k3v9m2x1", "a" * 12 + "-00000001", "null", "true", "1", "NaN",
    "a,b=c d", "${HOME}",
)  # fmt: skip
_ODD: Final[tuple[Any, ...]] = (None, True, False, [], {}, [[]], [None], {"": None}, {"id": 1})
_TOKENS: Final = (
    *(b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf", b"\r\n"),
    *(b"\n", b"\r", b"\x0b", b"\x1c", b"\xc2\x85", b'"', b"\\", b"\\u", b"\\ud83d", b"{", b"}"),
    *(b"[", b"]", b",", b":", b"=", b"<<<<<<< ours\n", b"=======\n", b">>>>>>> theirs\n"),
    *(b"||||||| base\n", b"```", b"'''", b'"""', b"#", b"\t", b" ", b"-", b"--", b"*", b"1e999"),
    *(b"9" * 30, b"9" * 5000, b"NaN", b"Infinity", b"-", b"null", b"\x1b[31m", b"\x1e"),
)


def mutated(data: bytes, random: Random, others: Sequence[bytes] = ()) -> bytes:
    """Return an input with some damage.

    Args:
        data: A valid input, or one that is damaged already.
        random: Decides.
        others: What parts may be taken from.
    """
    changes = (_in_json,) if random.random() < 0.4 else _CHANGES
    for _ in range(random.choice((1, 1, 1, 2, 3, 6))):
        change = random.choice(changes)
        data = change(data, random)[:MOST_BYTES]
    if others and random.random() < 0.1:
        other = random.choice(others)
        data = data[: _place(data, random)] + other[_place(other, random) :]
    return data


def _place(data: bytes, random: Random) -> int:
    return random.randint(0, len(data))


def _stretch(data: bytes, random: Random, most: int = 40) -> tuple[int, int]:
    start = _place(data, random)
    return start, min(len(data), start + random.randint(1, most))


def _flip(data: bytes, random: Random) -> bytes:
    if not data:
        return b"\0"
    place = random.randrange(len(data))
    return data[:place] + bytes([data[place] ^ (1 << random.randrange(8))]) + data[place + 1 :]


def _cut(data: bytes, random: Random) -> bytes:
    start, end = _stretch(data, random)
    return data[:start] + data[end:]


def _truncate(data: bytes, random: Random) -> bytes:
    return data[: _place(data, random)]


def _insert(data: bytes, random: Random) -> bytes:
    place = _place(data, random)
    return data[:place] + random.choice(_TOKENS) + data[place:]


def _insert_word(data: bytes, random: Random) -> bytes:
    place = _place(data, random)
    word = str(random.choice((*_WORDS, *_TIMES, *_NUMBERS)))
    return data[:place] + word.encode("utf-8", "surrogatepass") + data[place:]


def _double(data: bytes, random: Random) -> bytes:
    start, end = _stretch(data, random)
    return data[:end] + data[start:]


def _grow(data: bytes, random: Random) -> bytes:
    """Repeat a few bytes very often: what takes quadratic time shows here."""
    start, end = _stretch(data, random, 12)
    times = random.choice((5, 70, 1000, 5000))
    return data[:start] + data[start:end] * times + data[end:]


def _nest(data: bytes, random: Random) -> bytes:
    opening, closing = random.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"(", b")")))
    depth = random.choice((10, 60, 65, 200, 2000, 20_000))
    start, end = _stretch(data, random)
    inner = data[start:end] if random.random() < 0.5 else b"1"
    return data[:start] + opening * depth + inner + closing * depth + data[end:]


def _lines(data: bytes, random: Random) -> bytes:
    lines = data.split(b"\n")
    random.shuffle(lines)
    return b"\n".join(lines[: random.randint(1, len(lines))])


def _encode(data: bytes, random: Random) -> bytes:
    if random.random() < 0.5:
        return data.replace(b"\n", random.choice((b"\r\n", b"\r", b"\n\n", b"\xe2\x80\xa8")))
    text = data.decode("utf-8", "replace")
    encoding = random.choice(("utf-16", "utf-8-sig", "latin-1", "utf-32", "cp1252"))
    return text.encode(encoding, "replace")


def _in_json(data: bytes, random: Random) -> bytes:
    """Change a value within JSON, or within one line of JSON Lines."""
    lines = data.split(b"\n") if b"\n{" in data and not data.startswith(b"{\n") else [data]
    place = random.randrange(len(lines))
    try:
        value = json.loads(lines[place])
        changed = _changed(value, random)
        lines[place] = json.dumps(changed, ensure_ascii=random.random() < 0.5).encode(
            "utf-8", "surrogatepass"
        )
    except (ValueError, RecursionError):
        return _insert(data, random)
    return b"\n".join(lines)


def _twice(data: bytes, random: Random) -> bytes:
    """Repeat a key of an object with another value."""
    places = [place for place, byte in enumerate(data[:5000]) if byte == ord("{")]
    if not places:
        return _double(data, random)
    place = random.choice(places) + 1
    keys = (b"id", b"schema", b"content", b"history", b"tags", b"query", b"must", b"type", b"x")
    value = json.dumps(_odd(random)).encode()
    return data[:place] + b'"%s":%s,' % (random.choice(keys), value) + data[place:]


def _changed(value: Any, random: Random) -> Any:
    """Return JSON in which one value somewhere is another one, or gone, or has a new neighbour."""
    if isinstance(value, dict) and value and random.random() < 0.85:
        key = random.choice(list(value))
        deed = random.random()
        if deed < 0.15:
            return {name: item for name, item in value.items() if name != key}
        if deed < 0.25:
            return {**value, random.choice(_WORDS): _odd(random)}
        return {**value, key: _changed(value[key], random)}
    if isinstance(value, list) and value and random.random() < 0.8:
        place = random.randrange(len(value))
        if random.random() < 0.2:
            return [*value, *value]
        return [*value[:place], _changed(value[place], random), *value[place + 1 :]]
    return _odd(random)


def _odd(random: Random) -> Any:
    return random.choice(random.choice((_ODD, _NUMBERS, _WORDS, _TIMES)))


_CHANGES: Final[tuple[Callable[[bytes, Random], bytes], ...]] = (
    *(_flip, _cut, _truncate, _insert, _insert, _insert_word, _insert_word, _double, _grow),
    *(_nest, _lines, _encode, _in_json, _in_json, _in_json, _in_json, _in_json, _twice),
)
