"""A labelled set of secrets and of innocent texts, made anew from seeds whenever it is used.

No secret stands in this file: only what tokens begin with, and how the rest of them is drawn.
"""

import base64
import hashlib
import uuid
from collections.abc import Iterator
from random import Random
from typing import Final

from tests.core.secrets import issuers
from tests.core.secrets.drawing import (
    BASE64,
    DIGITS,
    HEX,
    LETTERS,
    LOWER,
    UPPER,
    WIDE,
    WORD,
    Case,
    Maker,
    Sentence,
    armoured,
    drawn,
    mixed,
    parts,
    token,
    web_token,
)

TOKENS: Final[tuple[tuple[str, Maker], ...]] = (
    ("aws-access-key", token("AKIA", UPPER + "234567", 16)),
    ("aws-access-key", token("ASIA", UPPER + "234567", 16)),
    ("aws-access-key", token("ABIA", UPPER + "234567", 16)),
    ("aws-access-key", token("ACCA", UPPER + "234567", 16)),
    ("aws-bedrock-key", token("ABSK", BASE64, 128)),
    *(("github-token", token(f"gh{letter}_", WORD, 36)) for letter in "pousr"),
    ("github-fine-grained-token", parts("github_pat_", (WORD, 22), "_", (WORD, 59))),
    *(
        ("gitlab-token", token(f"{name}-", WIDE, 20))
        for name in ("glpat", "gldt", "glrt", "glsoat", "gloas", "glptt", "glagent", "glft")
    ),
    *(
        ("slack-token", parts(f"xox{letter}-", (DIGITS, 12), "-", (DIGITS, 12), "-", (WORD, 24)))
        for letter in "bpars"
    ),
    ("slack-app-token", parts("xapp-1-A", (UPPER + DIGITS, 10), "-", (DIGITS, 13), "-", (HEX, 64))),
    (
        "slack-webhook",
        parts("https://hooks.slack.com/services/T", (UPPER, 8), "/B", (UPPER, 8), "/", (WORD, 24)),
    ),
    ("discord-webhook", parts("https://discord.com/api/webhooks/", (DIGITS, 18), "/", (WIDE, 68))),
    (
        "discord-webhook",
        parts("https://discordapp.com/api/webhooks/", (DIGITS, 18), "/", (WIDE, 68)),
    ),
    *(
        ("stripe-key", token(f"{kind}_{mode}_", WORD, 24))
        for kind in ("sk", "rk")
        for mode in ("live", "test")
    ),
    ("webhook-signing-secret", token("whsec_", BASE64, 32)),
    ("google-api-key", token("AIza", WIDE, 35)),
    ("google-client-secret", token("GOCSPX-", WIDE, 28)),
    ("google-access-token", token("ya29.", WIDE, 120)),
    ("anthropic-key", parts("sk-ant-api03-", (WIDE, 93), "AA")),
    ("openrouter-key", token("sk-or-v1-", HEX, 64)),
    *(("openai-key", token(f"sk-{name}-", WIDE, 120)) for name in ("proj", "svcacct", "admin")),
    ("model-provider-key", token("sk-", WORD, 48)),
    ("groq-key", token("gsk_", WORD, 52)),
    ("xai-key", token("xai-", WORD, 80)),
    ("perplexity-key", token("pplx-", WORD, 48)),
    ("replicate-token", token("r8_", WORD, 37)),
    *(
        ("langsmith-key", parts(f"lsv2_{name}_", (HEX, 32), "_", (HEX, 10)))
        for name in ("pt", "sk")
    ),
    ("huggingface-token", token("hf_", LETTERS, 34)),
    ("huggingface-token", token("api_org_", LETTERS, 34)),
    ("npm-token", token("npm_", WORD, 36)),
    ("pypi-token", token("pypi-AgEIcHlwaS5vcmc", WIDE, 150)),
    ("rubygems-key", token("rubygems_", HEX, 48)),
    ("crates-token", token("cio", WORD, 32)),
    ("docker-token", token("dckr_pat_", WIDE, 27)),
    ("docker-token", token("dckr_oat_", WIDE, 32)),
    ("sendgrid-key", parts("SG.", (WIDE, 22), ".", (WIDE, 43))),
    ("twilio-key", token("SK", HEX, 32)),
    ("mailgun-key", token("key-", HEX, 32)),
    ("brevo-key", parts("xkeysib-", (HEX, 64), "-", (WORD, 16))),
    ("brevo-key", parts("xsmtpsib-", (HEX, 64), "-", (WORD, 16))),
    ("json-web-token", web_token),
    ("databricks-token", token("dapi", HEX, 32)),
    *(("digitalocean-token", token(f"do{letter}_v1_", HEX, 64)) for letter in "por"),
    *(("shopify-token", token(f"shp{name}_", HEX, 32)) for name in ("at", "ss", "ca", "pa")),
    ("heroku-key", token("HRKU-", WIDE, 60)),
    ("linear-key", token("lin_api_", WORD, 40)),
    ("linear-key", token("lin_oauth_", WORD, 64)),
    ("notion-token", token("ntn_", WORD, 46)),
    ("notion-token", token("secret_", WORD, 43)),
    ("atlassian-token", parts("ATATT3xFfGF0", (WIDE, 170), "=", (UPPER + DIGITS, 8))),
    ("atlassian-token", parts("ATCTT3", "xFfGN0", (WIDE, 170), "=", (UPPER + DIGITS, 8))),
    ("airtable-token", parts("pat", (WORD, 14), ".", (HEX, 64))),
    ("figma-token", token("figd_", WIDE, 40)),
    ("grafana-token", parts("glsa_", (WORD, 32), "_", (HEX, 8))),
    ("grafana-cloud-token", token("glc_", BASE64, 80)),
    *(("vault-token", token(f"hv{letter}.", WIDE, 90)) for letter in "sbr"),
    ("new-relic-key", token("NRAK-", UPPER + DIGITS, 27)),
    ("new-relic-key", token("NRJS-", HEX, 19)),
    ("new-relic-key", token("NRII-", WIDE, 32)),
    ("pulumi-token", token("pul-", HEX, 40)),
    ("postman-key", parts("PMAK-", (HEX, 24), "-", (HEX, 34))),
    ("planetscale-secret", token("pscale_tkn_", WIDE, 43)),
    ("planetscale-secret", token("pscale_pw_", WIDE, 43)),
    ("sentry-token", token("sntrys_", BASE64, 120)),
    ("sentry-token", token("sntryu_", HEX, 64)),
    *(("doppler-token", parts(f"dp.{name}.", (WORD, 43))) for name in ("pt", "ct", "sa")),
    ("doppler-token", parts("dp.st.", "prd.", (WORD, 43))),
    ("netlify-token", token("nfp_", WORD, 36)),
    ("netlify-token", token("nfc_", WORD, 36)),
    ("supabase-key", token("sbp_", HEX, 40)),
    ("supabase-key", token("sb_secret_", WORD, 31)),
    ("square-token", token("sq0atp-", WIDE, 22)),
    ("square-token", token("sq0csp-", WIDE, 43)),
    ("square-token", token("EAAA", WIDE, 60)),
    ("dynatrace-token", parts("dt0c01.", (UPPER + DIGITS, 24), ".", (UPPER + DIGITS, 64))),
    ("tailscale-key", parts("tskey-auth-", (WORD, 12), "CNTRL-", (WORD, 32))),
    ("alibaba-access-key", token("LTAI", WORD, 20)),
    ("flyio-token", token("FlyV1 fm2_", BASE64, 100)),
    ("flyio-token", token("fo1_", WIDE, 43)),
    ("age-secret-key", token("AGE-SECRET-KEY-1", UPPER + DIGITS, 58)),
    ("onepassword-token", token("ops_eyJ", WORD, 200)),
    *(
        ("private-key", armoured(f"{name}PRIVATE KEY"))
        for name in ("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA ")
    ),
    ("private-key", armoured("PGP PRIVATE KEY BLOCK", 9)),
    (
        "putty-private-key",
        parts(
            "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: laptop\n"
            "Public-Lines: 1\n",
            (BASE64, 64),
            "\nPrivate-Lines: 1\n",
            (BASE64, 48),
        ),
    ),
    ("telegram-token", parts((DIGITS, 10), ":AA", (WIDE, 33))),
    ("azure-client-secret", parts((WORD, 3), "8Q~", (WORD + "_~.-", 33), "a")),
    ("terraform-token", parts((WORD, 14), ".atlasv1.", (WIDE, 67))),
    ("mailchimp-key", parts((HEX, 32), "-us14")),
    (
        "teams-webhook",
        parts((HEX, 36), "@", (HEX, 36), "/IncomingWebhook/", (HEX, 32), "/", (HEX, 36)),
    ),
)
"""Kinds of secrets that are known by their shape, and how one of each is made."""

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

CONTEXTS: Final[tuple[tuple[str, str, Maker], ...]] = (
    ("password", "password: {}", lambda random: mixed(random, 12)),
    ("password", "The password for the staging database is {}.", lambda random: mixed(random, 14)),
    ("password", "export PGPASSWORD={}", lambda random: mixed(random, 16)),
    ("password", 'db_password = "{}"', lambda random: mixed(random, 18)),
    ("password", "log in as kim, pwd={}; then open the report", lambda random: mixed(random, 10)),
    ("password", '{{"user": "kim", "password": "{}"}}', lambda random: mixed(random, 11)),
    ("password", "Use {} as the password for the demo account.", lambda random: mixed(random, 12)),
    ("password", "The passphrase of the backup key is `{}`.", lambda random: mixed(random, 20)),
    ("password", "Das Passwort lautet {}", lambda random: mixed(random, 12)),
    ("password", "数据库密码是{}", lambda random: mixed(random, 12)),
    ("password", "docker run -e MYSQL_ROOT_PASSWORD={} mysql", lambda random: mixed(random, 13)),
    ("password", "Server=db;User Id=sa;Password={};Encrypt=true", lambda random: mixed(random, 15)),
    ("password", "psql --password {} -h db", lambda random: mixed(random, 12)),
    ("command-password", "restic --password-file=<(echo {}) check", token("7x", WORD, 12)),
    ("command-password", "sudo -S apt update <<< {}", token("7x", WORD, 12)),
    ("command-password", "net use Z: \\\\files\\share {} /user:kim", token("7x", WORD, 12)),
    ("one-time-password-seed", "the TOTP seed of root is {}", token("J4", UPPER + "234567", 30)),
    ("assigned-secret", "export ACME_TOKEN={}", token("", WORD, 32)),
    ("assigned-secret", "The API key is {}, valid until May.", token("", HEX, 32)),
    ("assigned-secret", "aws_secret_access_key = {}", token("", BASE64, 40)),
    ("assigned-secret", '"client_secret": "{}",', token("", WORD, 40)),
    ("assigned-secret", "DJANGO SECRET_KEY='{}'", token("", WORD + "!@#$%^&*", 50)),
    ("assigned-secret", "X-Api-Key: {}", token("", WORD, 24)),
    ("assigned-secret", "https://api.acme.test/v1?access_token={}&page=2", token("", WORD, 28)),
    ("heroku-legacy-key", "HEROKU_API_KEY={}", lambda r: str(uuid.UUID(int=r.getrandbits(128)))),
    ("assigned-secret", "the signing key of the webhook: {}", token("", HEX, 64)),
    ("connection-password", "postgres://app:{}@db.acme.test:5432/app", token("", WORD, 14)),
    ("connection-password", "mongodb+srv://root:{}@c0.mongodb.net/prod", token("", WORD, 16)),
    ("connection-password", "amqp://worker:{}@mq:5672/%2F", token("", WORD, 12)),
    ("connection-password", "redis://:{}@cache:6379/0", token("", WORD, 20)),
    ("connection-password", "mysql+pymysql://app:{}@10.0.0.5/shop", token("", WORD, 12)),
    ("connection-password", "jdbc:oracle:thin:app/{}@//db:1521/XE", token("", WORD, 14)),
    ("url-password", "git clone https://kim:{}@git.acme.test/app.git", token("", WORD, 18)),
    ("url-password", "the feed is at http://feed:{}@10.1.2.3/rss", token("", WORD, 10)),
    ("authorization-header", "curl -H 'Authorization: Bearer {}' api.test", token("", WORD, 40)),
    (
        "basic-authorization",
        "Authorization: Basic {}",
        lambda r: base64.b64encode(f"kim:{drawn(r, WORD, 12)}".encode()).decode(),
    ),
    ("command-password", "curl -u kim:{} https://api.acme.test", token("", WORD, 12)),
    ("command-password", "sshpass -p {} ssh deploy@acme.test", token("", WORD, 12)),
    ("netrc-password", "machine api.test login kim password {}", token("", WORD, 14)),
    (
        "azure-storage-key",
        "AccountName=acme;AccountKey={};EndpointSuffix=core.windows.net",
        parts((BASE64, 86), "=="),
    ),
    (
        "azure-signed-url",
        "https://acme.blob.core.windows.net/b/a.zip?sv=2022-11-02&sig={}",
        parts((WORD, 43), "%3D"),
    ),
    ("session-cookie", "curl -b 'sessionid={}' acme.test", token("8f", LOWER + DIGITS, 30)),
    ("session-cookie", "Cookie: theme=dark; app_auth={}; lang=en", token("8f", WORD, 30)),
    ("json-web-key", '{{"kty": "oct", "k": "{}"}}', token("8f", WIDE, 60)),
    ("command-password", "net user kiosk {} /add", token("7x", WORD, 12)),
    ("connection-password", 'sql.Open("mysql", "app:{}@tcp(db:3306)/shop")', token("7x", WORD, 12)),
    (
        "recovery-key",
        "the BitLocker recovery key of the laptop is {}",
        parts((DIGITS, 6), *("-", (DIGITS, 6)) * 7),
    ),
    ("pgpass-password", "db.acme.test:5432:shop:app:{}", token("7x", WORD, 12)),
    (
        "basic-authorization",
        '{{"auths": {{"r.acme.test": {{"auth": "{}"}}}}}}',
        lambda r: base64.b64encode(f"kim:{drawn(r, WORD, 12)}".encode()).decode(),
    ),
    (
        "heroku-legacy-key",
        "heroku auth: the key {} is Kim's",
        lambda random: str(uuid.UUID(int=random.getrandbits(128))),
    ),
)
"""Secrets that are known by what stands around them: kind, sentence, how one is made."""

OTHER_CONTEXTS: Final[tuple[tuple[str, str, Maker], ...]] = (
    ("password", "The admin password on the router was changed to {}", lambda r: mixed(r, 12)),
    ("password", "spring.datasource.password={}", lambda random: mixed(random, 14)),
    ("password", "  passwd: '{}'  # staging", lambda random: mixed(random, 12)),
    ("password", "Kim's wifi passcode is {} (guest net).", lambda random: mixed(random, 10)),
    ("password", "ADMIN_PASS={}", lambda random: mixed(random, 12)),
    ("password", "el contraseña es {}", lambda random: mixed(random, 12)),
    ("assigned-secret", "token: {}", token("", WIDE, 36)),
    ("assigned-secret", "const apiKey = '{}';", token("", WORD, 32)),
    ("assigned-secret", "set the service key to `{}`", token("", WORD, 32)),
    ("assigned-secret", "--token {} --region eu", token("", WORD, 30)),
    ("assigned-secret", "JWT_SECRET: {}", token("", HEX, 48)),
    ("assigned-secret", "The access key for the sandbox is {}", token("", WORD, 24)),
    ("connection-password", "jdbc:postgresql://app:{}@db/shop", token("", WORD, 14)),
    ("connection-password", "DATABASE_URL=postgresql://app:{}@h:5432/x", token("", WORD, 16)),
    ("url-password", "proxy = https://proxy:{}@10.0.0.1:3128", token("", WORD, 12)),
    ("authorization-header", '"authorization": "Bearer {}"', token("", WORD, 36)),
    ("command-password", "wget --user kim:{} https://files.acme.test", token("", WORD, 12)),
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
    """Yield texts with a secret in each."""
    random = Random(seed)
    sentences = OTHER_SENTENCES if other else SENTENCES
    for number, (kind, make) in enumerate((*TOKENS, *issuers.TOKENS)):
        secret = make(random)
        if kind == "teams-webhook":
            secret = f"acme.webhook.office.com/webhookb2/{secret}"
        text = sentences[(number + seed) % len(sentences)].replace("{secret}", secret)
        yield Case(text, secret, kind)
    for kind, sentence, make in OTHER_CONTEXTS if other else CONTEXTS:
        secret = make(random)
        yield Case(sentence.format(secret), secret, kind)


def innocents(seed: int, *, other: bool = False) -> Iterator[Case]:
    """Yield texts without a secret; see `secrets`."""
    random = Random(seed)
    for make in OTHER_INNOCENT if other else INNOCENT:
        yield Case(make(random))
