"""Sentences about secrets, and sentences that only look so, as people write them.

In a phrase, `{p}` stands for a password of letters and digits, `{s}` for one with signs, `{u}`
for one that a person made up, `{h}` for hexadecimal digits, `{b}` for a token, `{b1}` and `{b2}`
for its halves, `{z}` for one with invisible characters inside; `~` is such a character, and
`\\n` begins a new line.
"""

import hashlib
import uuid
from collections.abc import Iterator
from random import Random
from typing import Final

from tests.core.secrets.drawing import HEX, UPPER, WORD, Case, drawn

FIRST: Final = r"""
docker login -u deploy -p {p} registry.acme.test
echo {b} | docker login --username ci --password-stdin
mysql -u root -p{p} shop < dump.sql
mysqldump -uroot -p{p} --all-databases > all.sql
redis-cli -h cache.acme.test -a {p} ping
sshpass -p {p} ssh deploy@10.0.0.4
sshpass -p '{s}' rsync -a ./ host:/srv
PGPASSWORD={p} psql -h db -U app shop
MYSQL_PWD={p} mysqladmin status
curl -H "Authorization: Bearer {b}" https://api.acme.test/v1
curl -H 'Authorization: Token {h}' https://api.acme.test
curl -H "X-Api-Key: {b}" https://api.acme.test/items
curl --header "PRIVATE-TOKEN: {b}" https://git.acme.test/api
http POST api.acme.test Authorization:"ApiKey {b}"
Our Datadog key is {h}
the sentry key for staging: {h}
Mailjet key = {h}
For Algolia the admin key is {h}.
encryption key: {b}
The signing key is {b}
cookie signing key = {h}
master key for the rails credentials is {h}
The license key we got: {b}
| db password | {p} |
| service | user | password |\n|---|---|---|\n| shop | root | {p} |
| API token | {b} |
<password>{p}</password>
<add key="SmtpPassword" value="{p}" />
<apiKey>{b}</apiKey>
password: '{s}'
  "clientSecret": "{b}",
client_secret = "{b}"
db.password={p}
spring.datasource.password={p}
[mail]\nuser = x\npassword = {p}
https://api.acme.test/items?api_key={b}&page=2
GET /v1/items?access_token={b} HTTP/1.1
https://hooks.acme.test/in?sig={b}
jdbc:postgresql://db/shop?user=app&password={p}
jdbc:mysql://db:3306/shop?user=root&password={p}&useSSL=false
jdbc:oracle:thin:app/{p}@//db:1521/XE
Driver={{ODBC Driver 17}};Server=db;Uid=sa;Pwd={p};
Server=db;Database=shop;User Id=sa;Password={s};Encrypt=yes
amqp://shop:{p}@mq.acme.test:5672/prod
mongodb+srv://admin:{p}@cluster0.acme.test/shop
redis://:{p}@cache.acme.test:6379/0
DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={b}{b}==;EndpointSuffix=core
export STRIPE_WEBHOOK_SECRET={h}
ENV JWT_SECRET {b}
kubectl create secret generic db --from-literal=password={p}
ansible-vault password for prod is {p}
the wifi password in the office is {u}
root pw on the build box: {u}
login: admin / {u}
user admin, pass {u}
creds for staging are admin:{u}
sign in with admin and {u} as password
Set the secret to {b} in the dashboard
Der API-Schlüssel lautet {b}
Das Passwort für den Server ist {p}
le mot de passe est {p}
la clave de la base es {p}
git clone https://oauth2:{b}@git.acme.test/x.git
machine api.acme.test login me password {p}
smbclient //srv/share -U 'acme\\joe%{p}'
openssl enc -aes-256-cbc -k {p} -in a -out b
ldapsearch -D cn=admin -w {p} -b dc=acme
restic -r s3:x --password-command 'echo {p}'
my pass~word is {p}
token: {b1}\\\n{b2}
zero-width: token={z}
The bot token {b} belongs to the release bot
PASSPHRASE="{s}"
helm install x --set auth.password={p}
az login --service-principal -u app -p {s} --tenant x
vault login {b}
gpg --passphrase {p} -d file.gpg
htpasswd -b .htpasswd joe {p}
"""
"""Phrases with a secret: the first set, written before the rules knew any."""

SECOND: Final = r"""
mariadb -h 10.1.1.4 -u shop -p{p} shop
podman login quay.acme.test -u bot --password {p}
helm registry login r.acme.test -u bot -p {p}
valkey-cli -a {p} info
mongodump --host db -u backup -p {p} --out /b
curl --proxy-user joe:{p} https://acme.test
curl -H "Authorization: ApiKey {b}" https://search.acme.test
the Mapbox key we use is {b}
Amplitude key: {h}
PagerDuty integration key = {h}
| Grafana admin password | {p} |
| host | token |\n| --- | --- |\n| ci | {b} |
<entry key="password">{p}</entry>
<db:password>{p}</db:password>
"smtp_pass": "{p}"
smtp-password = {p}
REDIS_URL=redis://default:{p}@r.acme.test:6380
postgresql+asyncpg://app:{p}@db/x
Data Source=db;Initial Catalog=x;User ID=sa;Password={p}
wss://feed.acme.test/ws?token={b}
my credentials are joe / {u}
the account is joe with {u}
username: joe, password: {u}
El token de acceso es {b}
Le mot de passe du serveur est {p}
La password di root è {p}
our webhook signing secret: {h}
backup encryption key is {b}
private_token={b}
set GITLAB_PASSWORD {p}
zip -P {p} -r x.zip dir
rabbitmqctl add_user shop {p}
echo {p} | sudo -S apt update
plink -ssh joe@h -pw {p}
pass~word = {p}
"""
"""The second set, written when the rules were made for the first."""

LOOK_ALIKES: Final = r"""
first pass = tokenize2
second pass: resolve_names3
the pass rate is 98.7%
admin123 is what the tutorial uses as password
password = "test1234" in the fixture
password: changeme123
PASSWORD=your_password_here
api_key = "YOUR_API_KEY_1234"
token: xxxxxxxx-xxxx-xxxx
the key is user_id2 in the join
primary key = (order_id, line_no2)
the cache key is user:42:profile
foreign key: orders.customer_id -> customers.id
sort key = created_at_2024
the partition key is tenant#region1
commit 9f2c1b7e4d5a6f8091a2b3c4d5e6f708192a3b4c fixes the token refresh
key commit: 9f2c1b7e4d5a6f8091a2b3c4d5e6f708192a3b4c
token bucket id 550e8400-e29b-41d4-a716-446655440000
request key = 550e8400-e29b-41d4-a716-446655440000
image pinned to sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
the key fingerprint is SHA256:uNiVztksCsDhcc0u9e8BgrJXVGDwzT9qVkZQm3dHX1o
pip install keyring==24.3.1 secretstorage==3.3.3
token limit: 128000
max_tokens=4096
pass the --key-file=/etc/ssl/private/key1.pem option
secret is at /run/secrets/db_password1
password_file: /var/lib/pass/db2.txt
key color is #ff8800 in the token palette
design token: rgba(12,34,56,0.8)
--token-color-2: #1a2b3c4d
aGVsbG8gd29ybGQ= is base64 of hello world
the base64 of "hello world" is aGVsbG8gd29ybGQhIGhlbGxvIHdvcmxk
mysql -p asks for the password
mysql -u root -p shop
mkdir -p src/app2/models
docker run -p 8080:80 nginx
docker login -u ci --password-stdin < token.txt
redis-cli -a "$REDIS_PASSWORD" ping
PGPASSWORD=$DB_PASS psql
PGPASSWORD="$(cat /run/secrets/pg)" psql
curl -H "Authorization: Bearer $TOKEN" https://x
curl -H "Authorization: Bearer <token>" https://x
sshpass -e ssh host
sshpass -p "$PASS" ssh host
| db password | in the vault |
| key | value1 |\n|---|---|\n| page_size | 20 |
| token | meaning |\n|---|---|\n| NUMBER2 | digits |
<password>${{db.password}}</password>
<key>CFBundleVersion2</key>
https://acme.test/search?key=name&sort=asc2
https://acme.test/p?token=<your-token>
postgres://user:password@localhost/db
redis://localhost:6379/0
jdbc:postgresql://localhost:5432/shop
Password=;Integrated Security=SSPI
encryption key rotation every 90days
the signing key is ed25519, made by ssh-keygen
encryption key: AES-256-GCM, kept in KMS
signing key id: 3AA5C34371567BD2
the Datadog key is in 1Password
the Stripe key lives in STRIPE_KEY2
Our Sentry key is rotated on 2024-05-01
password must be >= 12 chars, 1 digit
passwords are hashed with argon2id m=65536,t=3
password_hash = bcrypt(rounds=12)
the secret of v2.3.1-rc1 is caching
use secrets.token_hex(16) for the key
key=lambda x: x.name2
token = next(tokens2)
token=self._read_token2()
passwd = getpass.getpass("Password1: ")
pass1 = compile_pass(ast)
PASSED=132 FAILED=0
the passport field has 9digits
keyboard shortcut key: Ctrl+Shift+F5
the press key is F12!
lock key: orders/2024-05/lock1
S3 key: exports/2024/05/report-final2.csv
object key = data/v3/train-00001.parquet
redis key pattern "sess:{{id}}:v2"
the access token expires after 3600s
refresh token lifetime=30d, access=15m
auth: bearer tokens (RFC6750)
basic auth is used by v1.2.3-beta4
login: admin / see vault
user root, pass on port 2222
node-v20.11.1-linux-x64.tar.gz is the key artefact
the second pass = collect_refs2
render pass: shadow_map2
boarding pass: gate B12
mariadb -p prompts for it, as of v11.4
docker login is broken since 27.1.2
helm login -p is deprecated
mongodump -p option, see docs/backup2.md
the Mapbox key is in vault/maps/key2
Grafana key: see grafana.ini line42
Kafka key: order-2024-05-01-eu1
Message key = 9f86d081884c7d659a2feaa0c55ad015
Redis key is sess:4f2a9c1e:cart
| password | bcrypt, cost 12 |
| token | 3600s |\n| key | user_id_2 |
| key | digest |\n|---|---|\n| a.zip | 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b |
<token>${{TOKEN_V2}}</token>
<key>UILaunchStoryboardName~ipad2</key>
<password>changeme</password>
REDIS_URL=redis://default:password@localhost:6379
login: see docs/login-v2.md
the login is joe / see 1Password
credentials are in vault:kv2/prod
the account is joe with 2FA
user joe, pass rate 98%
set PASSWORD_MIN_LENGTH 12
secret: projects/acme/secrets/db2/versions/latest
token_url = https://auth2.acme.test/oauth2/token
signing key: RS256, kid 2024-05
webhook secret rotation: every 30d
encryption key length: 256bits
password = "password123"
pw = test_pw_1
api_key = api_key_12345
use admin123 as the password of the fixture
the secret is out: v2.0.0-rc1 is here
token = tokens[i2]
pass --max-old-space-size=4096 to node
the pass/fail ratio is 12:1
sqlplus / as sysdba
openssl dgst -sha256 -k2 file
echo done2 | tee log
"""
"""Phrases without a secret, as like one as they come."""

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
    for phrase in (SECOND if second else FIRST).strip().splitlines():
        yield _made(phrase, random)


def innocents(seed: int) -> Iterator[Case]:
    """Yield phrases without a secret; see `secrets`."""
    for phrase in LOOK_ALIKES.strip().splitlines():
        yield Case(phrase.replace("\\n", "\n").replace("{{", "{").replace("}}", "}"))
    random = Random(seed)
    for frame in FRAMES:
        yield from (Case(frame.format(value)) for value in _ordinary(random))
