"""A labelled set of secrets and of innocent texts, made anew from seeds whenever it is used.

No secret stands here, nor in `sets`: only what tokens begin with, and how the rest of them is drawn
(see `written`).
"""

import base64
import hashlib
import uuid
from collections.abc import Iterator
from random import Random
from typing import Final

from tests.core.secrets.drawing import (
    BASE64,
    DIGITS,
    HEX,
    LOWER,
    WORD,
    Case,
    Sentence,
    drawn,
    lines_of,
)
from tests.core.secrets.written import filled, rows

SENTENCES: Final[tuple[str, ...]] = (
    "{secret}",
    "We deploy with {secret}, which Kim made in spring.",
    "Kim pasted this into the channel:\n{secret}\nand nobody noticed.",
    'The job runs `deploy --auth "{secret}"` on each tag.',
    "ci.yml has `with: {secret}` on line 12.",
)
OTHER_SENTENCES: Final[tuple[str, ...]] = (
    "Fallback in the notebook ({secret}) until the vault is back.",
    "curl -H 'X-Auth: {secret}' https://api.acme.test/v1/ping answers 200.",
    "os.environ['SERVICE'] = '{secret}'  # removed next week",
    "- staging: {secret}\n- production: ask Kim",
    "第三步：把 {secret} 写进设置。",
)


def _hash(random: Random, name: str = "sha256") -> str:
    return hashlib.new(name, random.randbytes(8)).hexdigest()


def _uuid(random: Random) -> str:
    return str(uuid.UUID(int=random.getrandbits(128), version=4))


INNOCENT: Final[tuple[Sentence, ...]] = (
    lambda r: f"The regression came in with commit {_hash(r, 'sha1')}.",
    lambda r: f"git revert {_hash(r, 'sha1')[:10]} fixed the queue.",
    lambda r: f"sha256:{_hash(r)} is the image that runs in production.",
    lambda r: f"The digest of the archive is {_hash(r)}.",
    lambda r: f"md5 {_hash(r, 'md5')}  release.tar.gz",
    lambda r: f'"integrity": "sha512-{base64.b64encode(r.randbytes(64)).decode()}"',
    lambda r: f"Order {_uuid(r)} was refunded twice.",
    lambda r: f"request id {_uuid(r)} timed out after 30 s",
    lambda r: f"See memory {drawn(r, DIGITS + LOWER, 9)}-{drawn(r, WORD, 8)} for the reasons.",
    lambda r: f"![logo](data:image/png;base64,{base64.b64encode(r.randbytes(120)).decode()})",
    lambda r: f"The brand colours are #{drawn(r, HEX, 6)} and #{drawn(r, HEX, 6)}.",
    lambda r: f"The gateway is 2001:db8:{drawn(r, HEX, 4)}::{drawn(r, HEX, 4)}:8a2e.",
    lambda r: f"We pin httpx=={r.randrange(9)}.{r.randrange(30)}.{r.randrange(9)} until May.",
    lambda _: "AWS documents " + "AKIA" + "IOSFODNN7EXAMPLE as its example.",
    lambda r: f"https://acme.test/search?q=tea&page={r.randrange(90)}&ref={_hash(r)[:12]}",
    lambda r: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{drawn(r, BASE64, 43)} kim@laptop",
    lambda r: (
        "-----BEGIN PUBLIC KEY-----\n"
        + "\n".join(drawn(r, BASE64, 64) for _ in range(4))
        + "\n-----END PUBLIC KEY-----"
    ),
    lambda r: (
        "-----BEGIN CERTIFICATE-----\n"
        + "\n".join(drawn(r, BASE64, 64) for _ in range(9))
        + "\n-----END CERTIFICATE-----"
    ),
    lambda _: "password hash: $2b$12$" + "abcdefghijklmnopqrstuv",
    lambda r: f"cache key: user:{r.randrange(9999)}:profile:v{r.randrange(9)}",
    lambda r: f'etag W/"{_hash(r, "md5")}" did not match',
    lambda r: f"trace 00-{_hash(r, 'md5')}-{drawn(r, HEX, 16)}-01 shows the slow call",
    lambda r: f"GET /v1/items/{drawn(r, WORD, 22)} answers 404 since Tuesday.",
    lambda r: f"The build id is {r.randrange(10**12)} and the node ip-10-0-{r.randrange(99)}-17.",
    lambda r: f"S3 object versions look like {drawn(r, WORD, 32)}; keep five.",
    lambda r: f"yarn.lock resolved ...#{_hash(r, 'sha1')}",
)
"""Texts without a secret, as like one as they come."""

OTHER_INNOCENT: Final[tuple[Sentence, ...]] = (
    lambda r: f"bisect says {_hash(r, 'sha1')} is the first bad commit",
    lambda r: f"FROM python@sha256:{_hash(r)}",
    lambda r: f"Customer {_uuid(r)} has two accounts.",
    lambda r: f"h1:{base64.b64encode(r.randbytes(32)).decode()} in go.sum",
    lambda r: f"background: linear-gradient(#{drawn(r, HEX, 6)}, #{drawn(r, HEX, 8)})",
    lambda r: f"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAB{drawn(r, BASE64, 300)} ci@acme",
    lambda r: f"<img src='data:image/gif;base64,{base64.b64encode(r.randbytes(60)).decode()}'>",
    lambda r: f"fe80::{drawn(r, HEX, 4)}:{drawn(r, HEX, 4)}:fe9a:{drawn(r, HEX, 4)}%eth0",
    lambda _: "stripe.api_key = 'sk_test_" + "your_key_here_1234567890'",
    lambda r: f"X-Request-Id: {_uuid(r)}",
    lambda r: f"ETag: {_hash(r, 'md5')}, Content-Length: {r.randrange(9999)}",
    lambda r: f"The test id tests/api/test_login.py::test_token_{r.randrange(99)}_expires failed.",
    lambda r: f"pip install acme-2.{r.randrange(20)}.1-cp311-cp311-manylinux_2_17_x86_64.whl",
    lambda r: f"session cookie sid was {drawn(r, 'x', 20)} in the screenshot",
)


def secrets(seed: int, *, other: bool = False) -> Iterator[Case]:
    """Yield texts with a secret in each: those known by their shape, and those by their context."""
    random = Random(seed)
    sentences = OTHER_SENTENCES if other else SENTENCES
    for number, (kind, mark) in enumerate(rows("shapes.txt")):
        secret, _ = filled(mark, random)
        text = sentences[(number + seed) % len(sentences)].replace("{secret}", secret)
        yield Case(text, secret, kind)
    for kind, line in rows("contexts-held-out.txt" if other else "contexts-seen.txt"):
        text, (secret,) = filled(line, random)
        yield Case(text, secret, kind)


def innocents(seed: int, *, other: bool = False) -> Iterator[Case]:
    """Yield texts without a secret; see `secrets`."""
    random = Random(seed)
    for make in OTHER_INNOCENT if other else INNOCENT:
        yield Case(make(random))
    yield from map(Case, lines_of("plain-other.txt" if other else "plain.txt"))
