"""Sentences about secrets, and sentences that only look so, as people write them.

`sets/phrases-first.txt` was written before the rules knew any, the second when they were made for
the first. In a phrase, `{p}` stands for a password of letters and digits, `{s}` for one with signs,
`{u}` for one that a person made up, `{h}` for hexadecimal digits, `{b}` for a token, `{b1}` and
`{b2}` for its halves, `{z}` for one with invisible characters inside; `~` is such a character, and
`\\n` begins a new line.
"""

import hashlib
import uuid
from collections.abc import Iterator
from random import Random
from typing import Final

from tests.core.secrets.drawing import HEX, UPPER, WORD, Case, drawn, lines_of

FRAMES: Final = (
    "commit {} broke the token refresh",
    "cache key: {}",
    "token_id: {}",
    "secret_name = {}",
    "password hash: {}",
    "The primary key is {}.",
    "see {} about the password rules",
    "key fingerprint {}",
    "the build of the login page was {}",
    "public key: {}",
    "{} is the object key of the report",
    "api_key_id={}",
    "the secret store answered with {}",
)
"""Sentences that make no secret of what stands in them."""
_UNSEEN: Final = "\u200b"


def _ordinary(random: Random) -> tuple[str, ...]:
    """Return digests, ids, versions, paths, colours, dates, numbers and references."""
    data = random.randbytes(8)
    number = random.randrange(10, 99)
    return (
        hashlib.sha1(data).hexdigest(),
        hashlib.sha1(data).hexdigest()[:10],
        hashlib.sha256(data).hexdigest(),
        f"sha256:{hashlib.sha256(data).hexdigest()}",
        hashlib.md5(data).hexdigest(),
        str(uuid.UUID(int=random.getrandbits(128), version=4)),
        f"v{number}.4.1-rc{number}",
        f"src/app{number}/login_v2.py",
        f"/etc/app/keys-{number}.pem",
        f"#{drawn(random, HEX, 6)}",
        f"2026-05-{number % 28 + 1:02}T10:15:00Z",
        f"{number},500 ms",
        "${ACME_VALUE_2}",
        "<your-value-1>",
        "{{ vault.entry2 }}",
        f"orders:{number}:profile:v2",
        f"projects/acme/items/{number}/versions/latest",
    )


def _made(phrase: str, random: Random) -> Case:
    """Return a phrase with a secret drawn for it."""
    token = drawn(random, WORD, 38) + "7k"
    signs = drawn(random, WORD, 5) + random.choice("!@#^*") + drawn(random, WORD, 5) + "9z"
    made = {
        "p": drawn(random, UPPER, 1) + drawn(random, WORD, 8) + "4x9",
        "s": signs,
        "u": random.choice(("Sommer", "Falcon", "Kraken")) + random.choice("!#_") + "4711x",
        "h": drawn(random, HEX, 30) + "a7",
        "b": token,
        "b1": token[:20],
        "b2": token[20:],
        "z": _UNSEEN.join((token[:6], token[6:])),
    }
    name = next(name for name in ("b1", *made) if "{" + name + "}" in phrase)
    text = phrase.replace("\\\\", "\\").replace("\\n", "\n").replace("~", _UNSEEN)
    return Case(text.format(**made), made[name])


def secrets(seed: int, *, second: bool = False) -> Iterator[Case]:
    """Yield phrases with a secret in each."""
    random = Random(seed)
    for phrase in lines_of("phrases-second.txt" if second else "phrases-first.txt"):
        yield _made(phrase, random)


def innocents(seed: int) -> Iterator[Case]:
    """Yield phrases without a secret; see `secrets`."""
    for phrase in lines_of("phrases-innocent.txt"):
        yield Case(phrase.replace("\\n", "\n").replace("{{", "{").replace("}}", "}"))
    random = Random(seed)
    for frame in FRAMES:
        yield from (Case(frame.format(value)) for value in _ordinary(random))
