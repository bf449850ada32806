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

from tests.core.secrets.drawing import BASE64, DIGITS, HEX, LOWER, WORD, Case, Sentence, drawn
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
    lambda _: "The password policy requires 12 characters, a digit and a symbol.",
    lambda _: "Password: required, at least 12 characters.",
    lambda _: "The token expires after 3600 seconds and the refresh token after 30d.",
    lambda _: "tokenizer: o200k_base, and max_tokens: 128_000",
    lambda _: "The API key is kept in the vault under kv/prod/payments-2026.",
    lambda _: "Set password=${DB_PASSWORD} in compose.yml, never the value.",
    lambda _: 'api_key = os.environ["ACME_API_KEY_2"]',
    lambda _: "export GITHUB_TOKEN=<your-token>",
    lambda _: "token: ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    lambda _: "AWS documents " + "AKIA" + "IOSFODNN7EXAMPLE as its example.",
    lambda _: "password: changeme, as the README says",
    lambda _: "password: ********",
    lambda _: "postgres://user:password@localhost:5432/db is what the docs show.",
    lambda _: "postgres://localhost:5432/app has no password in tests.",
    lambda _: "Clone it from ssh://git@git.acme.test:2222/team/app.git.",
    lambda _: "https://acme.test:8443/path@2x.png is the icon.",
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
    lambda _: "Files that begin with -----BEGIN PRIVATE KEY----- are refused by the hook.",
    lambda _: "AbstractSingletonProxyFactoryBeanInitializerAdapter2Impl is too long a name.",
    lambda _: "The primary key is customer_2_order_19, the sort key is ORDER#2026-01-02.",
    lambda _: "Keyboard shortcut: ctrl+shift+F12 opens the palette.",
    lambda _: (
        "We keep secrets in AWS Secrets Manager, arn:aws:secretsmanager:eu-west-1:1234:secret:db"
    ),
    lambda _: "secretName: shop-tls-2026 in the ingress",
    lambda _: "The secret to fast builds is a warm cache of 20 GB.",
    lambda _: "token = get_token(user_id=42, scope='read')",
    lambda _: "def check(password: str, token: Optional[str] = None) -> bool:",
    lambda _: "Passwords are hashed with argon2id, sessions signed with HS256.",
    lambda _: "password hash: $2b$12$" + "abcdefghijklmnopqrstuv",
    lambda _: "The access token is a JWT signed with RS256.",
    lambda _: "The private key stays on the laptop; the public key is in the repo.",
    lambda r: f"cache key: user:{r.randrange(9999)}:profile:v{r.randrange(9)}",
    lambda r: f'etag W/"{_hash(r, "md5")}" did not match',
    lambda r: f"trace 00-{_hash(r, 'md5')}-{drawn(r, HEX, 16)}-01 shows the slow call",
    lambda _: "Authorization: Bearer <token> goes into every request.",
    lambda _: "curl -u user:password https://api.acme.test is only an example.",
    lambda r: f"GET /v1/items/{drawn(r, WORD, 22)} answers 404 since Tuesday.",
    lambda r: f"The build id is {r.randrange(10**12)} and the node ip-10-0-{r.randrange(99)}-17.",
    lambda _: "The key insight: sk-learn pipelines cache 3 times better.",
    lambda _: "hf_transfer speeds up the download; npm_config_cache moves the cache.",
    lambda _: "The rate limit is 5000 per token per hour (see docs/limits.md).",
    lambda r: f"S3 object versions look like {drawn(r, WORD, 32)}; keep five.",
    lambda r: f"yarn.lock resolved ...#{_hash(r, 'sha1')}",
    lambda _: "PASSWORD_RESET_URL=https://acme.test/reset?step=2",
    lambda _: "密码策略：至少 12 个字符。",
    lambda _: "Kim's e-mail is kim.lee+ops2@acme.test, the password is in 1Password.",
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
    lambda _: "Passwords must not be reused within 24 months; tokens rotate every 90 days.",
    lambda _: "The reset token is single-use and is sent by mail.",
    lambda _: "password: '{{ vault_db_password }}'",
    lambda _: "api_key: !secret acme_api_key_v2",
    lambda _: "PGPASSWORD=$(cat /run/secrets/pg) psql",
    lambda _: "token: ${{ secrets.GITHUB_TOKEN }}",
    lambda _: "const token = await fetchToken('eu-west-1');",
    lambda _: "The API key for tests is 'dummy-key-for-tests-123'.",
    lambda _: "stripe.api_key = 'sk_test_" + "your_key_here_1234567890'",
    lambda _: "amqp://guest:guest@localhost:5672/ works out of the box.",
    lambda _: "redis://cache:6379/0 needs no login.",
    lambda _: "The token bucket refills 100 per second; burst is 2000.",
    lambda _: "secret scanning: enabled since v2.41.0-rc1",
    lambda _: "Use keyed-hash HMAC-SHA256 with a 32-byte key, rotated in Q3-2026.",
    lambda _: "We renamed access_key_id to credential_id in migration_0042_rename.",
    lambda _: "The token count of prompt_v3_final_2026 is 1843.",
    lambda r: f"X-Request-Id: {_uuid(r)}",
    lambda r: f"ETag: {_hash(r, 'md5')}, Content-Length: {r.randrange(9999)}",
    lambda r: f"The test id tests/api/test_login.py::test_token_{r.randrange(99)}_expires failed.",
    lambda _: "XMLHttpRequestUploadProgressEventListenerRegistration is deprecated.",
    lambda _: "Das Passwort muss mindestens 12 Zeichen haben.",
    lambda _: "The password field is input#login-pw-2 in the page.",
    lambda r: f"pip install acme-2.{r.randrange(20)}.1-cp311-cp311-manylinux_2_17_x86_64.whl",
    lambda _: "-----BEGIN PGP PUBLIC KEY BLOCK----- opens Kim's key file.",
    lambda _: "password is stored as sha256$salt$digest by the legacy app",
    lambda _: "Kubernetes secret: registry-pull-secret-eu2",
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
