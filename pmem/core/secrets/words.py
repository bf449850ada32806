"""The words by which texts name a secret, and the words that give such a word another meaning.

Words of other languages are stems: `парол` goes on as `паролем`. They need no grammar, since it is
the value beside them that must look like a secret.
"""

import re
from typing import Final

from pmem.core.secrets.rules import alternatives
from pmem.values.patterns import lazily

ENGLISH: Final = alternatives("password|passwd|passphrase|passcode|pass phrase|pwd|psk|pass|pw")
PASSWORDS: Final = (
    *ENGLISH,
    *alternatives(
        "securestring|identified by|masterauth|wifi key|wi-fi key|wlan key|wlan-schlüssel|"
        "wlan schlüssel|network key|clé wifi|zugangscode|passwort|passwört|kennwort|"
        "wachtwoord|wagwoord|lösenord|adgangskode|kodeord|passord|salasana|contraseña|"
        "contrasen|contrasinal|clave|mot de passe|mdp|senha|palavra-passe|palavra passe|"
        "parola|parol|hasł|hesl|geslo|lozink|zaporka|jelsz|slaptažod|parool|salasõna|"
        "fjalëkalim|lykilorð|şifre|sifre|şifrə|kata sandi|kata laluan|mật khẩu|nenosiri|"
        "pasahitza|парол|лозинк|құпиясөз|κωδικό|συνθηματικ|գաղտնաբառ|პაროლ|كلمة المرور|"
        "كلمة مرور|كلمة السر|رمز عبور|گذرواژه|پاس ورڈ|סיסמ|पासवर्ड|कूटशब्द|পাসওয়ার্ড|"
        "கடவுச்சொல்|పాస్వర్డ్|รหัสผ่าน|密码|密碼|口令|パスワード|暗証番号|비밀번호|패스워드|암호"
    ),
)
KEYS: Final = alternatives(
    "key|schlüssel|sleutel|nyckel|nøgle|nøkkel|avain|clé|chiave|chave|klíč|kľúč|klucz|kulcs|"
    "ključ|anahtar|cheie|khóa|ключ|кључ|κλειδί|مفتاح|کلید|מפתח|कुंजी|密钥|密鑰|金鑰|キー|키"
)
TOKENS: Final = (
    "secret",
    "token",
    "credential",
    "auth",
    "секрет",
    "トークン",
    "토큰",
    "令牌",
    *KEYS,
)
_ALL: Final = sorted((*PASSWORDS, *TOKENS), key=len)
STEMS: Final = tuple(
    word for place, word in enumerate(_ALL) if not any(map(word.__contains__, _ALL[:place]))
)
"""One of them stands in every text in lower case that has one of the words for secrets."""
ASCII_STEMS: Final = tuple(filter(str.isascii, STEMS))
USERS: Final = frozenset(
    "admin administrator root postgres sa deploy sysadmin superuser ubuntu svc oracle ftp".split()
)
"""Names that need no such word: `admin:...`."""
APART: Final = frozenset(
    """pass pw psk auth clave hesl geslo parola parol parool sifre mdp senha 키
    キー avain chave cheie clé""".split()
)
"""Words that are parts of many others, and count only at the beginning of a word."""
SHORT: Final = frozenset(("pass",))
NO_PASS: Final = frozenset(
    """
    first second third fourth last final next previous single one two each every this that per
    compiler optimizer optimization lint render forward backward type parser analysis llvm mlir ssa
    rewrite boarding season bus train nth multi cleanup review shadow depth lighting tests should
    """.split()
)
"""What stands before `pass` where it is a turn or a ticket."""
KINDS_OF_KEYS: Final = tuple(
    """
    api access secret private auth authentication signing encryption master account client
    deploy license licence storage service session subscription integration admin write
    ingest ingestion webhook application app bot recovery decryption unseal root hmac jwt
    aes cookie pass routing security publisher partner function host ssh_host production
    prod staging sdk server consumer shared accès acceso доступа доступу
    """.split()
)
"""What stands before `key` where a key is a secret: a primary key or a cache key is none."""
SERVICES: Final = frozenset(
    """
    airtable algolia wandb kaggle steam epic amplitude anthropic asana auth0 azure bitly
    bugsnag cloudflare cloudinary cohere contentful coveralls datadog deepl deepseek
    digitalocean discord dropbox elastic elevenlabs fastly figma firebase flickr freshdesk
    gemini geocoding giphy github gitlab google grafana groq heroku honeycomb hubspot
    huggingface hunter intercom ipinfo jira klaviyo launchdarkly linear loggly mailchimp
    mailgun mailjet mandrill mapbox mistral mixpanel nasa netlify newrelic notion okta
    openai openrouter openweather opsgenie pagerduty paddle paypal pinecone pingdom plaid
    postmark posthog pusher rapidapi razorpay rollbar segment sendgrid sentry shodan shopify
    slack snyk sonarqube sparkpost splunk spotify square stripe supabase tavily telegram
    tiingo tmdb together trello twilio twitch typesense unsplash vercel virustotal vonage
    voyage weatherapi wolfram yelp youtube zapier zendesk zoom
    """.split()
)
NO_SERVICES: Final = frozenset(
    """
    the a an our my your their his her its this that each every which one no any new old
    same primary foreign cache sort partition public object correlation idempotence registry
    dedupe sharding tenant lock press row lookup index unique composite natural surrogate
    idempotency dedup redis kafka git commit shard bucket hash group host map dictionary
    message event document item entry record translation answer content image layer chunk
    blob block build s3 etag join ssh gpg pgp and or of for with
    """.split()
)
"""Capitalised or not, what stands before `key` where that is no secret."""
ABOUT: Final = frozenset(
    """
    id ids name names file files path paths dir url urls uri uris count counts limit limits
    budget type types hash hashes hashed hasher hashing digest digests length lengths size
    sizes policy policies expiry expires expiration ttl field fields manager managers
    endpoint endpoints format formats rule rules hint hints prefix version algorithm ref
    refs arn vault store usage total word words code codes board map pair pairs estimate
    fingerprint label header param alias bucket column input prompt rotation strength scheme
    generator validator checker parser test tests variable mgr char chars placeholder page
    form server service-account rate
    """.split()
)
"""What follows a word for secrets that tells about one: a policy, a hash, an id."""
OTHER_THINGS: Final = frozenset(
    """
    id ids uuid guid commit sha sha1 sha256 md5 hash digest checksum fingerprint build
    version release rev revision request trace span order ticket issue pr rfc branch tag
    tags image etag nonce serial session instance node pod container object kid thumbprint
    package
    """.split()
)
"""What stands right before a value that is of that kind then, and no secret."""
COPULAS: Final = frozenset(
    """
    is was are be = ist lautet war sind es est era è é är er je jest to this equals became
    reads says as now это є е هو هي ser será være zijn als är: to: be: olarak : to, reset
    changed
    """.split()
)
"""What stands between a name and its value."""
HINTS: Final = ("root", "admin", "login", "log in", "logs in", "sign in", "creds", "credentials")
"""What only hints at a password: it must show that somebody made it up."""
CALLING: Final = frozenset("as is = ist als como comme come jako som olarak är est es è é".split())
"""What stands between a value and its name after it."""
VALUES: Final = frozenset(("value", "val", "default", "data", "text", "content", "string"))
_ENDINGS: Final = ABOUT | {"reset", "est"}
_PART: Final = lazily(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_GLUED: Final = lazily(r"s?(?:[_-]|[0-9]|[A-Z]|$|s$)")
_ENDING: Final = 16
_PROPER: Final = lazily(r"([A-Za-z][\w.+-]{1,24})(?:'s)?[ _-]{1,2}$")
_OF_SERVICE: Final = lazily(r"s? (?:for|of|to|from) (?:the |our |my )?(\w{3,24})", re.IGNORECASE)
_OF_KIND: Final = lazily(
    r"\w{0,6}[ -](?:d\w{1,3} |of the )?(?:api|accès|acceso|доступ)", re.IGNORECASE
)
_OWNERS: Final = lazily(
    r"(?<![a-z])(?:db|root|user|my|s?ftp|smtp|mysql|pg|admin|auth|require|bind|mail|https?|proxy|ssh|wifi"
    r"|key|store|trust|redis|sql|login|new|old|wpa)$"
)
"""What is glued to `pass` and `pw` in names of small letters."""
_IN_CODE: Final = lazily(r"\s?:?=\s?(?:[A-Za-z_.]{1,30}\()?[\"']")
_BARE: Final = lazily(r"[\"'`]?[:,]?\s?[\"'`]")
_OPEN: Final = ("public", "publickey", "publishable", "csrf", "site")
_NEAR: Final = 48
_OF_A_TEST: Final = lazily(r"[\]*:]{0,3}\s{1,4}(?:Test|Benchmark|Example|Fuzz|test_)\w")
"""What follows the verdict on a test: its name."""


def names_a_secret(text: str, lowered: str, word: str, place: int) -> bool:
    """Tell whether a word is one for secrets here: an API key and `X_KEY=`, but no primary key."""
    if word in APART and not _begins(text, lowered, place):  # no compass
        return False
    if word in SHORT:
        return _is_no_turn(text, lowered, place, place + len(word))
    before = lowered[max(0, place - _ENDING) : place].rstrip(" _-.:\n\"'{")
    if before.endswith(_OPEN):
        return False
    if word not in KEYS:
        return (
            not lowered[max(0, place - _ENDING) : place]
            .rstrip(" _-")
            .endswith(("public", "publickey", "csrf"))
        )
    if text.startswith("KEY=", place):
        return text[place - 1 : place] == "_"
    of_kind = before.endswith(KINDS_OF_KEYS) or _OF_KIND.match(text, place + len(word)) is not None
    end = place + len(word)
    return of_kind or _is_of_service(text, place, end) or _is_given(text, lowered, place, end)


def is_end(rest: str, word: str = "") -> bool:
    """Tell whether a name that goes on after a word for secrets is one of a secret itself.

    Words that are not English have endings.
    """
    if not rest or (word and word in PASSWORDS[len(ENGLISH) :] and rest.isalpha()):
        return True
    parts = _PART.findall(rest)
    return _GLUED.match(rest) is not None and not any(part.lower() in _ENDINGS for part in parts)


def _begins(text: str, lowered: str, place: int) -> bool:
    """Tell whether a word begins at a place: `x_pass`, `dbPass`, `dbpass`, and no compass."""
    if not lowered[place - 1 : place].isalpha():
        return True
    if text[place].isupper() and text[place - 2 : place].isalpha() and text[place - 1].islower():
        return True
    return _OWNERS.search(lowered, max(0, place - _ENDING), place) is not None


def _is_no_turn(text: str, lowered: str, place: int, end: int) -> bool:
    """Tell whether `pass` is no turn, ticket or verdict: `first pass = ...`, `PASS: test_1`."""
    if lowered[end : end + 1].isalpha():
        return False
    if text[place:end] == "PASS" and _OF_A_TEST.match(text, end):
        return False
    if text[place - 1 : place] not in (" ", "-", ""):
        return True
    if text[place:end] == "PASS" and text[end : end + 1] in (":", " "):
        return False
    words = lowered[max(0, place - _ENDING) : place].replace("-", " ").split()
    return not words or words[-1] not in NO_PASS


def _is_given(text: str, lowered: str, place: int, end: int) -> bool:
    """Tell whether a plain `key` is given as a secret is: in a query, in code, or to a user."""
    if text[place - 1 : place] in ("?", "&") and text[end : end + 1] == "=":
        return True
    if _IN_CODE.match(text, end) is not None:
        return text[place - 1 : place] in ("", " ", "\t", "\n", ".", "(")
    return _BARE.match(text, end) is not None and "user" in lowered[max(0, place - _NEAR) : place]


def _is_of_service(text: str, place: int, end: int) -> bool:
    """Tell whether a key is one of a service: "our Datadog key", "the key for Mapbox"."""
    match = _PROPER.search(text[max(0, place - 30) : place])
    if match is not None:
        name = match[1].removesuffix("'s")
        if name.lower() not in NO_SERVICES and (name[0].isupper() or name.lower() in SERVICES):
            return True
    match = _OF_SERVICE.match(text[end : end + _NEAR])
    return match is not None and match[1].lower() in SERVICES
