"""Secrets that a text says are some: `password: ...`, `X_TOKEN=...`, "the API key is ..."."""

import re
from collections.abc import Iterator
from functools import lru_cache
from string import ascii_letters, digits
from typing import Final

from pmem.core.secrets.innocent import is_password, is_token
from pmem.core.secrets.secret import Secret
from pmem.core.secrets.spoken import given, looks_drawn

PASSWORDS: Final = (
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "passwort",
    "kennwort",
    "contraseña",
    "mot de passe",
    "wachtwoord",
    "lösenord",
    "hasło",
    "senha",
    "clave",
    "пароль",
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
    "pwd",
    "pass",
    "pw",
)
TOKENS: Final = (
    *("secret", "token", "key", "credential", "密钥", "секрет", "schlüssel", "chiave"),
    *("clé api", "clave api", "chave api", "ключ api", "apiキー"),
)
_SHORT: Final = ("pass", "pw")
"""Words for passwords that are parts of many others."""
_KEYS: Final = ("key", "schlüssel", "chiave")
_NO_PASS: Final = frozenset(
    """
    first second third fourth last final next previous single one two each every this that per
    compiler optimizer optimization lint render forward backward type parser analysis llvm mlir ssa
    rewrite boarding season bus train nth multi cleanup review shadow depth lighting
    """.split()
)
"""What stands before `pass` where it is a turn or a ticket."""
_KINDS_OF_KEYS: Final = (
    "api",
    "access",
    "secret",
    "private",
    "auth",
    "authentication",
    "signing",
    "encryption",
    "master",
    "account",
    "client",
    "deploy",
    "license",
    "storage",
    "service",
    "session",
    "subscription",
    "integration",
    "admin",
    "write",
    "ingest",
    "ingestion",
    "webhook",
    "application",
    "app",
    "bot",
    "recovery",
    "decryption",
    "unseal",
    "root",
    "hmac",
    "jwt",
    "aes",
    "cookie",
)
"""What stands before `key` where a key is a secret: a primary key or a cache key is none."""
_BEFORE_KEY: Final = 16
_SERVICES: Final = frozenset(
    """
    airtable algolia amplitude anthropic asana auth0 azure bitly bugsnag cloudflare cloudinary
    cohere contentful coveralls datadog deepl deepseek digitalocean discord dropbox elastic
    elevenlabs fastly figma firebase flickr freshdesk gemini geocoding giphy github gitlab google
    grafana groq heroku honeycomb hubspot huggingface hunter intercom ipinfo jira klaviyo
    launchdarkly linear loggly mailchimp mailgun mailjet mandrill mapbox mistral mixpanel nasa
    netlify newrelic notion okta openai openrouter openweather opsgenie pagerduty paddle paypal
    pinecone pingdom plaid postmark posthog pusher rapidapi razorpay rollbar segment sendgrid
    sentry shodan shopify slack snyk sonarqube sparkpost splunk spotify square stripe supabase
    tavily telegram tiingo tmdb together trello twilio twitch typesense unsplash vercel virustotal
    vonage voyage weatherapi wolfram yelp youtube zapier zendesk zoom
    """.split()
)
_NO_SERVICES: Final = frozenset(
    """
    the a an our my your their his her its this that each every which one no any new old same
    primary foreign cache sort partition public object row lookup index unique composite natural
    surrogate routing idempotency dedup redis kafka git commit shard bucket hash group host map
    dictionary message event document item entry record translation answer content image layer
    chunk blob block build lock s3 etag join ssh gpg pgp and or of for with
    """.split()
)
"""Capitalised or not, what stands before `key` where that is no secret."""
_PROPER: Final = r"([A-Za-z][\w.+-]{1,24})(?:'s)?[ _-]{1,2}$"
_OF_SERVICE: Final = r"s? (?:for|of|to|from) (?:the |our |my )?(\w{3,24})"
_VARIABLE: Final = "KEY="
_HELD: Final = re.compile(
    r"""
    (?P<rest>[A-Za-z0-9_-]{0,60}+)(?:[ ](?:key|token|value)(?![\w-]))?+
    ["'`*\])]{0,3}+
    (?:\s?\([^()\n]{0,40}+\))?+
    (?:
      ["']?\s{1,3}value=(?=["'])
      | ["']?>\s{0,8}+(?:<!\[CDATA\[)?+(?=[^\s<>]{4,256}+<|[^\s<>]{4,256}+\]\]>)
      | \s{0,4}+(?::=|=>|->|={1,3}|:{1,2}|：)\s{0,8}+(?:=\s?|[|>][+-]?\s{1,12}+)?+
      | (?:\s(?:for|of|to|on|in|at|from|used|we|i|you|für|des|der|vom|von|zum|de|del|du|di|da|do
              |voor|para|per|pour|la|для|от)(?:\s[\w'./-]{1,24}+){1,5}?)?
        (?:
          \s{1,3}+(?:is|was|are|ist|lautet|es|est|equals|became|to|это|è|é|är|to:|reads|says)
          (?:\s(?:now|currently|still|set|changed|reset|to)\b)*+ (?:\s?:)?+
          | \s?[:=]
        )
        \s{1,3}+
      | \s?(?:是|は|为|為|는|은)[：:]?\s?
      | (?P<flag>[ ]{1,3}(?=[^\s=:-]))
    )
    (?:
      (?P<quote>["'`])(?P<quoted>[^"'`\n]{4,256}+)(?P=quote)
      | ["'`*]{0,3}+(?P<bare>[^\s"'`<>]{4,96}+)
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NOT_SECRET: Final = re.compile(
    r"""(?:[_-]?(?:ids?|names?|files?|paths?|dir|urls?|uris?|counts?|limits?|budgets?|types?|hash|hashes
    |digests?|lengths?|sizes?|polic(?:y|ies)|expiry|expires|expiration|ttl|reset|fields?|managers?
    |endpoints?|formats?|rules?|hints?|prefix|version|algorithm|ref|refs|arn|vault|store|usage|total
    |words?|code|codes|board|map|pair|pairs|est|estimate|fingerprint|label|header|param|alias))(?![a-z])""",
    re.VERBOSE | re.IGNORECASE,
)
_GLUED: Final = re.compile(r"s?(?:[_-]|[0-9]|[A-Z]|$|s$)")
_IN_FLAG: Final = re.compile(
    r"(?:(?:^|\s)--[A-Za-z-]{0,40}[A-Za-z]|(?:^|\s)(?:ENV|ARG|set|setx|setenv)\s+\w{1,40})$"
)
_GOING_ON: Final = frozenset(f"{ascii_letters}{digits} \n\t\"'`*)](_-:=：是は为為는은>")
"""What follows a word that a value is given for."""
_PARAMETER: Final = re.compile(r"[;&,|](?=[\w .-]{1,30}=)|\\n|\\r")
_QUOTES: Final = "\"'`<>(["
_TRAILING: Final = ".,;:)]}»”’*"
_CALLING: Final = frozenset({"as", "is", "="})
_LEAST_ROOM: Final = 7
"""How much room a sign and a value need; where a word comes again and again, there is none."""
_MANY: Final = 256
"""Of so many words in a text some surroundings may be equal; so many of them are remembered."""
_LOOK_AHEAD: Final = 640
"""No value begins and is judged farther behind its word."""
_LONGEST_SERVICE: Final = 30
_WORDS_BACK: Final = 5
_LONGEST_WORD: Final = 12
_LOOK_BACK: Final = 240
_NEAR: Final = 48
_LONG: Final = 32
_MOST: Final = 96
"""How much of a value is judged; what is longer is found whole all the same."""
_UNBROKEN: Final = re.compile(r"[^\s\"'`<>]*")


_Seen = dict[tuple[int, str], Secret | None]


def held(text: str, lowered: str, word: str) -> Iterator[Secret]:
    """Yield what a text calls by one of the words in `PASSWORDS` or `TOKENS`.

    Args:
        text: Any text.
        lowered: The same in lower case, as long.
        word: The word.
    """
    seen: _Seen | None = {} if lowered.count(word) > _MANY else None
    place = lowered.find(word)
    following = _next(lowered, word, place)
    while place >= 0:
        after = _next(lowered, word, following)
        if after < 0 or max(following - place, after - following) >= len(word) + _LEAST_ROOM:
            found = _seen_around(text, lowered, word, place, seen)
            if found is not None:
                yield found
                if following < found.end:
                    following = lowered.find(word, max(place + len(word), found.end))
                    after = _next(lowered, word, following)
        place, following = following, after


def _next(lowered: str, word: str, place: int) -> int:
    """Return where a word stands after the one at a place; less than 0 if nowhere."""
    return place if place < 0 else lowered.find(word, place + len(word))


def _seen_around(
    text: str, lowered: str, word: str, place: int, seen: _Seen | None
) -> Secret | None:
    """Return `_around`, which in a text that repeats itself is looked for but once."""
    if seen is None:
        return _around(text, lowered, word, place)
    first = max(0, place - _LOOK_BACK - _NEAR)
    key = place - first, text[first : place + _LOOK_AHEAD]
    if key in seen:
        old = seen[key]
        return old and old._replace(start=old.start + first, end=old.end + first)
    found = _around(text, lowered, word, place)
    if len(seen) < _MANY and (found is None or found.end < place + _LOOK_AHEAD):
        seen[key] = found and found._replace(start=found.start - first, end=found.end - first)
    return found


def _around(text: str, lowered: str, word: str, place: int) -> Secret | None:
    """Return the value that belongs to a word at a place: after it, else before it."""
    if not names_a_secret(text, lowered, word, place):
        return None
    end = place + len(word)
    found = None
    if text[end : end + 1] in _GOING_ON:
        found = _after(text, word, end) or _given(text, word, end)
    if found is None and _may_be_called(lowered[max(0, place - _NEAR) : place]):
        return _before(text, word, place)
    return found


def names_a_secret(text: str, lowered: str, word: str, place: int) -> bool:
    """Tell whether a word is one for secrets here: an API key and `X_KEY=`, but no primary key.

    Args:
        text: Any text.
        lowered: The same in lower case, as long.
        word: The word.
        place: Where it begins.
    """
    if word in _SHORT:  # no compass, and no password either
        return _stands_alone(text, lowered, word, place)
    if word not in _KEYS:
        return True
    if text.startswith(_VARIABLE, place):
        return text[place - 1 : place] == "_"
    before = lowered[max(0, place - _BEFORE_KEY) : place].rstrip(" _-")
    return before.endswith(_KINDS_OF_KEYS) or _is_of_service(text, place, place + len(word))


def _stands_alone(text: str, lowered: str, word: str, place: int) -> bool:
    """Tell whether a short word is one of its own, and no turn or ticket: `first pass = ...`."""
    end = place + len(word)
    if any(map(str.isalpha, lowered[place - 1 : place] + lowered[end : end + 1])):
        return False
    if text[place - 1 : place] not in (" ", "-"):
        return True
    words = lowered[max(0, place - _BEFORE_KEY) : place].replace("-", " ").split()
    return not words or words[-1] not in _NO_PASS


def _is_of_service(text: str, place: int, end: int) -> bool:
    """Tell whether a key is one of a service: "our Datadog key", "the key for Mapbox"."""
    match = re.search(_PROPER, text[max(0, place - _LONGEST_SERVICE) : place])
    if match is not None:
        name = match[1].removesuffix("'s")
        if name.lower() not in _NO_SERVICES and (name[0].isupper() or name.lower() in _SERVICES):
            return True
    match = re.match(_OF_SERVICE, text[end : end + _NEAR], re.IGNORECASE)
    return match is not None and match[1].lower() in _SERVICES


def _after(text: str, word: str, end: int) -> Secret | None:
    """Return what is given after a word that ends at a place: `password: ...`."""
    match = _HELD.match(text, end)
    if match is None or not _is_holder(text, word, match):
        return None
    group = "bare" if match["quoted"] is None else "quoted"
    start, value = match.start(group), match[group]
    if group == "bare":
        parameter = _PARAMETER.search(value)
        value = (value if parameter is None else value[: parameter.start()]).rstrip(_TRAILING)
    found = judged(word, value, start)
    if found is not None and len(value) == _MOST:  # it goes on
        return found._replace(end=_UNBROKEN.match(text, found.end).end())  # type: ignore[union-attr]
    return found


def _given(text: str, word: str, end: int) -> Secret | None:
    """Return what a sentence gives after a word: `changed the password to ...`."""
    found = given(text, end, is_short=word in PASSWORDS)
    return None if found is None else judged(word, found.value, found.start, is_drawn=True)


def _is_holder(text: str, word: str, match: re.Match[str]) -> bool:
    """Tell whether the name in which the word stands holds a secret, not something about one."""
    if match["flag"] is not None and not _is_flag(text, match.start()):
        value = match["bare"] or match["quoted"]
        bare = value.rstrip(_TRAILING)
        return not match["rest"] and looks_drawn(bare, is_short=word in PASSWORDS)
    return not match["rest"] or is_end(match["rest"])


def _is_flag(text: str, end: int) -> bool:
    """Tell whether the word that ends at a place takes a value after it: `--token x`."""
    before = text[max(0, end - _NEAR) : end]
    return ("--" in before or "_" in before) and _IN_FLAG.search(before) is not None


def _may_be_called(near: str) -> bool:
    return " as " in near or " is " in near or " = " in near


def _before(text: str, word: str, place: int) -> Secret | None:
    """Return what is called by the word after it: `use ... as the password`."""
    words = text[max(0, place - _LOOK_BACK) : place].rsplit(" ", _WORDS_BACK)
    for number in range(len(words) - 2, 0, -1):
        if words[number] in _CALLING:
            return _called(text, word, place - len(" ".join(words[number:])) - 1)
        if len(words[number]) > _LONGEST_WORD:
            return None
    return None


def _called(text: str, word: str, end: int) -> Secret | None:
    """Return the value that ends at a place, without the signs around it."""
    words = text[max(0, end - _LOOK_BACK) : end].split()
    value = words[-1].rstrip(_TRAILING + _QUOTES) if words else ""
    start = end - len(words[-1]) if words else end
    bare = value.lstrip(_QUOTES)
    return judged(word, bare, start + len(value) - len(bare))


def is_end(rest: str) -> bool:
    """Tell whether a name that goes on after a word for secrets is one of a secret itself.

    Args:
        rest: What follows the word.
    """
    ending = max(0, len(rest) - _BEFORE_KEY)
    about = _NOT_SECRET.match(rest) or _NOT_SECRET.search(rest, ending)
    return not rest or (about is None and _GLUED.match(rest) is not None)


def judged(word: str, value: str, start: int, *, is_drawn: bool = False) -> Secret | None:
    """Return a value if it can be a secret of its kind.

    Args:
        word: The word for it, of `PASSWORDS` or `TOKENS`.
        value: The value.
        start: Where it begins.
        is_drawn: Whether its look tells that it can be one.
    """
    if len(value) > _LONG and word in value.lower():  # one value after the other, and no secret
        return None
    is_short = word in PASSWORDS
    kind = "password" if is_short else "assigned-secret"
    fits = is_drawn or (value and _fits(value, is_short))
    return Secret(kind, start, start + len(value)) if fits else None


@lru_cache(maxsize=256)
def _fits(value: str, is_short: bool) -> bool:
    return is_password(value) if is_short else is_token(value)
