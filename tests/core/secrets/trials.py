"""Sentences with one secret or two as a first day of use brought them, and what only looks so.

In a phrase, `{p}`, `{q}` stand for passwords of letters and digits, `{u}`, `{v}` for ones that a
person made up, `{b}`, `{c}` for tokens, `{k}` for one of 40 characters, `{a}` for an access key's
id, `{o}` for a seed of one-time passwords; `\\n` begins a new line and `\\t` is a tabulator.
"""

from collections.abc import Iterator
from random import Random
from typing import Final, NamedTuple

from tests.core.secrets.drawing import BASE64, UPPER, WORD, drawn

SECRETS: Final = r"""
We changed the token from {b} to {c}
The password for prod is {p} and for staging {q}
AWS key {a} and {k}
The api key is {b}, before that it was {c}.
password: {p} (the old one was {q})
Use the password {p}
the password {p} is for staging
Kim said the password {u} works again
passwords: prod {p}, staging {q}
passwords: prod {p}; staging {q}
Passwords: prod: {p}, staging: {q}
We rotated the API key from {b} to {c}
changed the root password from {u} to {v}
The root password was changed to {u}
reset the admin password to {p}
rotated the deploy token to {b}
Das Passwort wurde von {u} auf {v} geändert
user,password\nkim,{p}\nlee,{q}
name;host;passwd\nkim;db1;{p}
user\tpassword\nkim\t{p}\nlee\t{u}
"user","password"\n"kim","{p}"
login,secret\nci,{b}
user | pass\nkim | {p}
user | pass\n--- | ---\nkim | {p}\nlee | {q}
login kim / {p}
login: kim / {p}
log in to Grafana as admin with {p}
Sign in as kim with {p}
Log in as admin using {p}
The TOTP seed is {o}
2FA secret for root: {o}
-----BEGIN PRIVATE KEY-----\n{p}{q}\n-----END PRIVATE KEY-----
-----BEGIN RSA PRIVATE KEY-----\n{b}\n-----END RSA PRIVATE KEY-----
-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlAAAAAAAAAAAAAAAA{k}\n{k}\n-----END OPENSSH PRIVATE KEY-----
restic backup --password-file=<(echo {p})
restic --password-file <(printf '{p}') check
sudo -S <<< {p}
sudo -S apt update <<< "{p}"
docker login --password-stdin <<< '{p}' registry.acme.test
net use Z: \\files\share {p} /user:kim
net use \\files\share /user:acme\kim {p}
"""
"""Phrases in which every secret must be found, whole."""

INNOCENT: Final = r"""
We changed the token from JWT to PASETO in v2.1.0
The password for prod is in 1Password and for staging in Vault2
AWS key rotation runs at 03:00 and takes 15min
The api key is optional, before v1.24.0 it was required.
password: see wiki/Access2 (the old one was wiki/Access1)
Use the password field2 of the form
the password policy2026 holds for staging
the password input2 holds for staging
Kim said the password prompt works again since v3.2.1
passwords: prod 1Password, staging Vault2
passwords: prod argon2id, staging bcrypt
Passwords: min 12 characters, 1 digit, no MD5
We rotated the API key from ed25519 to RSA4096
changed the root password from 12 characters to 16
The root password was changed to follow RFC6238
reset the admin password to the default of v2.4.1
rotated the deploy token to shard-7 and region eu-west-1
Das Passwort wurde von Kim am 12.05.2026 geändert
user,password\nkim,required\nlee,see vault2
name;host;passwd\nkim;db1;changeme
user\tpassword\nkim\tin 1Password
"user","password_id"\n"kim","pw-2026-05"
login,secret\nci,vault/ci/deploy2
suite,pass,fail\nunit1,132ok,4no
user | pass\nkim | yes
user | pass rate\n--- | ---\nkim | 98.7%
login page / src/login2.py
login flow / OAuth2
log in to Grafana as admin with 2FA
Sign in as kim with OAuth2
Log in as admin using the hardware key YubiKey5
The TOTP seed is kept in the HSM
TOTP uses HMACSHA1 and 30s steps
-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----
-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA...\n-----END RSA PRIVATE KEY-----
-----BEGIN OPENSSH PRIVATE KEY-----\nYOUR KEY GOES HERE\n-----END OPENSSH PRIVATE KEY-----
restic backup --password-file=<(pass show restic2)
diff <(echo first1) <(echo second2)
sudo -S <<< $PASS2
sudo -S apt update <<< "$(cat pw2)"
wc -l <<< 'some text of 4 words2'
net use Z: \\files\share2 * /user:kim
net use Z: /delete
the token bucket from RateLimiter2 to RateLimiterV3b
We moved the signing key from Vault1.12 to KMSv2
"""
"""As many phrases without a secret, like those above."""


class Trial(NamedTuple):
    """A text and all secrets in it."""

    text: str
    secrets: tuple[str, ...]


def _password(random: Random) -> str:
    return drawn(random, UPPER, 1) + "7k" + drawn(random, WORD, 3) + "2Lp4x"


def _token(random: Random, length: int = 16) -> str:
    return "8f3K" + drawn(random, WORD, length - 8) + "Zm9a"


def trials(seed: int) -> Iterator[Trial]:
    """Yield the phrases with secrets drawn for them."""
    random = Random(seed)
    for phrase in SECRETS.strip().splitlines():
        made = {
            "p": _password(random),
            "q": _password(random),
            "u": f"Winter{random.randrange(2000, 2030)}!",
            "v": f"Summer{random.randrange(2000, 2030)}!",
            "b": _token(random),
            "c": _token(random),
            "k": "wJ7+" + drawn(random, BASE64, 32) + "4xQ2",
            "a": "AKIA" + drawn(random, UPPER + "234567", 16),
            "o": "J4" + drawn(random, UPPER + "234567", 14),
        }
        used = tuple(value for name, value in made.items() if f"{{{name}}}" in phrase)
        yield Trial(_lines(phrase).format(**made), used)


def innocents() -> Iterator[str]:
    """Yield the phrases without a secret."""
    yield from map(_lines, INNOCENT.strip().splitlines())


def _lines(phrase: str) -> str:
    return phrase.replace("\\n", "\n").replace("\\t", "\t")
