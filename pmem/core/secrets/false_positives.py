"""What looks like a secret and is not one: examples, placeholders, references, words, numbers."""

import re
from itertools import pairwise
from math import log2
from typing import Final

from pmem.values.patterns import lazily

_EXAMPLE: Final = lazily(
    r"example|placeholder|change[-_]?me|redacted|not-?a-?real|xxxx|\*{4}|\.{4}"
    r"|123456789|012345678|abcdefgh|(?<![a-z])(?:your|fake|mock|todo|dummy|sample|insert)(?![a-z])"
    r"|(.)\1{5}"
)
"""What a value in lower case has only where documentation shows it in a secret's place."""
_USUAL: Final = frozenset(
    """
    pass passwd password passwort pwd secret user username admin administrator root guest test
    testing postgres mysql mongo redis rabbitmq minio default none null nil true false required
    optional string token hidden masked empty unset undefined unknown foo bar baz
    hunter2 x-oauth-basic x-access-token x-token-auth letmein pw p
    """.split()
)
"""Words that stand for a password, or that everybody knows as the first one."""
_PLAIN: Final = (
    r"(?:(?:test|tester|testing|admin|administrator|root|user|guest|demo|default|dev|local|temp|tmp"
    r"|initial|pass|passwd|password|passwort|pwd|secret|token|key|my|db|qwerty|qwertz|asdf|abc|letmein"
    r"|changeit|hello|foo|bar|baz|mock|stub|value|some|the|new|old|geheim|secreto|segreto|sekret|hemlig|tajne|p[a@]ssw[o0]rd|s3cr[e3]t|passw0rd"
    r")[-_.]?){1,4}(?:1|12|123|1234|12345|123456|321|0{1,4}|[1-9])?[!?]{0,3}"
)
"""What everybody takes for an example: `admin123`, `test_password_1`."""
_TECHNICAL: Final = lazily(
    r"(?i)sha-?[0-9]{1,3}|md5|base-?(?:32|58|62|64)|argon2[a-z]*|pbkdf2|bcrypt[0-9]*|scrypt|oauth-?2?"
    r"|utf-?(?:8|16|32)|aes-?[0-9]*|[reh]s(?:256|384|512)|ed25519|x25519|x509|hmac|i18n|k8s|http2?"
    r"|ipv[46]|ecdsa|rsa-?[0-9]*|[0-9]fa|pkcs-?[0-9]*|p12|k3s|ec2|s3|saml2|chacha20|poly1305|oidc|1password|tls1?|uuid-?v?[0-9]?"
)
_PHRASE: Final = lazily(r"[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+){1,9}")
_NAMING: Final = frozenset(
    """
    app apps has not with for psk
    db database prod production staging stage dev test tests testing vault secret
    secrets password passwords passwd pass pwd token tokens key keys tls ssl cert server service
    svc api env var vars variable name names file path config cfg conf settings user users admin
    login auth access root the your see from must field input form page value values string
    default local localhost host example sample dummy fake mock placeholder build release
    version policy hash type legacy client cluster node region east west north south team
    project repo master backup web shop job task step phase case item entry record message
    request response session group role account min max len length size bits chars rotation
    rotate expires required optional none null sha md base utf aes rsa oauth jwt http https
    redis postgres mysql mongo kafka aws gcp azure
    """.split()
)
"""Parts of names of things: what has one is a name, and no phrase that somebody made up."""
_MANY_SIGNS: Final = 4
_MANY_PARTS: Final = 4
_LEAST_WORD: Final = 3
_NUMBER: Final = lazily(
    r"(?:[A-Za-z]{2,20}-?[0-9]+(?:\.[0-9]+)+)|[v~+-]?[0-9][0-9.,:_/TZ+-]*(?:-[a-z]{1,16}[0-9]{0,4}|[A-Za-z%]{1,3}){0,2}"
)
_PART: Final = lazily(r"[A-Za-z]{1,20}|[0-9]{1,4}|[A-Za-z]{0,4}[0-9]{1,3}[A-Za-z]{0,2}")
_WORDS: Final = lazily(r"(?:[a-z]{1,20}[0-9]{0,6}[_.-]+)+[a-z]{1,20}[0-9]{0,6}[_.-]?")
_DIGEST: Final = lazily(r"(?i)(?:sha[0-9]{1,3}|md5)[:-]|sha[0-9]{1,3}sum|ssh-|AAAA[BCE]|\$2[aby]\$")
_UNFIT_STARTS: Final = frozenset("$<{[(%/.~\\")
_CODE: Final = lazily(r"[({\[]|://|\)\.|::|->|=>|[a-z]\.[a-z]+[A-Z]\w*$|\w\.\w+\.\w+$")
_CODED: Final = lazily(
    r"0x[0-9A-Fa-f]{1,16}$|(?:[0-9A-Fa-f]{2}:){5}|[A-Za-z]\w*=\w+;|pk_(?:live|test)_|#[0-9A-Fa-f]{3,8}$|MII[A-Za-z0-9+/]{2}[AI]NBgkqhkiG9w0BAQEFAAOC"
)
"""Numbers, colours, and public keys."""
_ATTRIBUTE: Final = lazily(
    r"[a-z_]\w*=(?:True|False|None|null|[a-z_]+[0-9]?)|[A-Za-z_.-]+="
    r"|(?:[a-z_]+[0-9]{0,2}[a-z_]*\.)+[a-z_]+[0-9]{0,2}[a-z_]*"
)
"""What is given to a call, or a name with dots."""
_EMAIL: Final = lazily(r"[^@\s]{1,64}@[\w.-]{1,200}\.[a-z]{2,10}")
_ID: Final = lazily(r"[0-9a-z]{1,11}-[0-9A-Za-z]{8}")
_LETTERS: Final = lazily(r"[A-Za-z]")
_SYMBOLS: Final = frozenset("!@#$%^&*+=~?|")
_ODD: Final = frozenset("!#$%^&*?")
"""Signs that stand in no name, address, or assignment."""
_PLACE: Final = lazily(
    r"(?:(?:[A-Za-z_.-]*[0-9]{0,3}|[0-9]+)/)+(?:[A-Za-z_.-]*[0-9]{0,3})?(?:\.[a-z0-9]{1,5})?"
)
"""A path of names."""
_SUBTEST: Final = lazily(r"(?:Test|Benchmark|Example|Fuzz)[A-Z0-9_]\w*(?:/\S+)+")
"""A part of a test, as Go names it."""
_HEX: Final = lazily(r"[0-9a-f-]{7,64}|[0-9A-F-]{7,64}")
_PATH: Final = lazily(r"\w/\w*(?:/|\.\w|$)|^\w+://|^[0-9]{2,5}/")
_CAMEL: Final = lazily(r"[A-Z][A-Za-z]*[a-z][A-Za-z]*[0-9]{2,5}")
_COLOUR: Final = lazily(r":#[0-9a-fA-F]{3,8}(?![0-9A-Za-z])")
_ASSIGNED: Final = lazily(r"(?:^|[&;?,{])[A-Za-z_][\w.-]*=")
_FILE: Final = lazily(r"[\w-]+\.[a-z]{1,5}[0-9]?")
_RUN: Final = lazily(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^A-Za-z0-9]")
_FEWEST_RUNS: Final = 4
_LONGEST_RUN: Final = 2.7
_SHAKEN: Final = 2.2
_LEAST_MIXED: Final = 8
_FEWEST_CHARACTERS: Final = 5
_LEAST_PASSWORD: Final = 6
_LEAST_TOKEN: Final = 16
_LEAST_STRONG: Final = 10
_LEAST_CHANGES: Final = 3
_LONGEST_PLAIN: Final = 32
_LEAST_DIGITS: Final = 2
_LEAST_SHUFFLED: Final = 20
_LEAST_CASE: Final = 0.25
"""Share of letters of either case; a name of several words has fewer capitals."""
_LEAST_ENTROPY: Final = 2.9
"""Bits per character; random hexadecimal digits have 3.2 or more from 16 of them on."""


def is_example(value: str) -> bool:
    """Tell whether a value is one that documentation shows in a secret's place."""
    few = min(_FEWEST_CHARACTERS, len(value))
    return len(set(value)) < few or _EXAMPLE.search(value.lower()) is not None


def is_usual(value: str) -> bool:
    """Tell whether a value stands for a password: `password`, `user`, `***`, `changeme`."""
    bare = value.strip("*.-_").lower()
    return (
        bare in _USUAL
        or is_example(value)
        or not value.strip("*.xX-_")
        or (len(bare) <= _LONGEST_PLAIN and re.fullmatch(_PLAIN, bare) is not None)
    )


def is_strong(value: str) -> bool:
    """Tell whether a value looks drawn even where nothing says that it is a secret's."""
    if len(value) < _LEAST_STRONG or _is_reference(value):
        return False
    if not is_token((value * 2)[: max(_LEAST_TOKEN, len(value))]):
        return False
    kinds = (str.islower, str.isupper, str.isdigit)
    mixed = all(any(map(kind, value)) for kind in kinds)
    changes = sum(one.isdigit() != other.isdigit() for one, other in pairwise(value))
    return changes >= _LEAST_CHANGES and (mixed or len(value) >= _LEAST_SHUFFLED)


def is_drawn(value: str, *, is_short: bool, is_near: bool) -> bool:
    """Tell whether a value is a secret by its look where a sentence only hints at one.

    One that `is_short` may be a password that a person made up, and one that `is_near` to its name
    of hexadecimal digits.
    """
    if not is_near and (_HEX.fullmatch(value) or (_PATH.search(value) and not _is_shuffled(value))):
        return False
    if is_short and is_near and _CAMEL.fullmatch(value) and is_password(value):
        return True
    if _COLOUR.search(value) or _ASSIGNED.search(value):
        return False
    if is_short and is_chosen(value):
        return True
    is_rough = len(value) < _LONGEST_RUN * len(_RUN.findall(value))
    return is_rough and (is_strong(value) or (is_short and _is_mixed(value)))


def _is_mixed(value: str) -> bool:
    """Tell whether a value is of many short runs of letters and digits, and of no words."""
    runs = _RUN.findall(value)
    is_rough = (
        len(runs) >= _FEWEST_RUNS
        and any(map(str.islower, value))
        and len(value) < _LONGEST_RUN * len(runs)
    )
    is_long = len(value) >= _LEAST_MIXED
    is_name = _EMAIL.fullmatch(value) is not None or _FILE.fullmatch(value) is not None
    return is_long and is_rough and not is_name and is_password(value)


def is_chosen(value: str) -> bool:
    """Tell whether a value is like a password that a person made up: `Winter`, a year, a sign."""
    kinds = (str.islower, str.isupper, str.isdigit, _ODD.__contains__)
    return all(any(map(kind, value)) for kind in kinds) and is_password(value)


def is_password(value: str) -> bool:
    """Tell whether a value that a text calls a password can be one."""
    if len(value) < _LEAST_PASSWORD or value.isalpha():
        return False
    inside = value.strip("!?*.#")
    if _is_phrase(value):
        return True
    has_symbol = not _SYMBOLS.isdisjoint(inside) and _EMAIL.fullmatch(value) is None
    if not has_symbol and _is_name(value):
        return False
    if is_usual(value) or _is_reference(value):
        return False
    plain = _TECHNICAL.sub("", value)
    if not any(character.isdigit() for character in plain):
        return (has_symbol and not (value.islower() or value.isupper())) or _is_shaken(value)
    return _LETTERS.search(plain) is not None


def is_token(value: str) -> bool:
    """Tell whether a value that a text calls a token or key can be one."""
    if len(value) < _LEAST_TOKEN or " " in value or is_usual(value) or _is_reference(value):
        return False
    plain = _TECHNICAL.sub("", value)
    if _is_name(plain) or _WORDS.fullmatch(value):
        return False
    digits = sum(character.isdigit() for character in plain)
    is_random = digits >= _LEAST_DIGITS or _is_shuffled(plain)
    return is_random and bool(_LETTERS.search(plain)) and entropy(value) >= _LEAST_ENTROPY


def entropy(value: str) -> float:
    """Return the Shannon entropy of a text in bits per character."""
    counts = [value.count(character) for character in set(value)]
    return -sum(count / len(value) * log2(count / len(value)) for count in counts)


def _is_reference(value: str) -> bool:
    """Tell whether a value names where a secret is, or is another thing that is no secret."""
    return (
        value[0] in _UNFIT_STARTS
        or (_CODE.search(value) is not None and len(_ODD.intersection(value)) < _MANY_SIGNS)
        or _DIGEST.match(value) is not None
        or _NUMBER.fullmatch(value.rstrip("*")) is not None
        or _CODED.match(value) is not None
        or _ATTRIBUTE.fullmatch(value) is not None
        or _ID.fullmatch(value) is not None
        or _PLACE.fullmatch(value) is not None
        or _SUBTEST.fullmatch(value) is not None
    )


def _is_shaken(value: str) -> bool:
    """Tell whether letters of both cases follow each other as in no words."""
    letters = "".join(_LETTERS.findall(value))
    return len(letters) >= _LEAST_STRONG and len(letters) < _SHAKEN * len(_RUN.findall(letters))


def _is_shuffled(value: str) -> bool:
    """Tell whether capitals and small letters are as mixed as they are where they are drawn."""
    letters: list[str] = _LETTERS.findall(value)
    if len(letters) < _LEAST_SHUFFLED:
        return False
    capitals = sum(letter.isupper() for letter in letters) / len(letters)
    return _LEAST_CASE <= capitals <= 1 - _LEAST_CASE


def _is_name(value: str) -> bool:
    """Tell whether a value is words and numbers: `my-app-tls-2026`, `PROD_DB_2`, `src/app.py`."""
    parts = re.split(r"[-_./:]", value)
    is_of_words = any(len(part) >= _LEAST_WORD and part.isalpha() for part in parts)
    return is_of_words and all(not part or _PART.fullmatch(part) for part in parts)


def _is_phrase(value: str) -> bool:
    """Tell whether a value is of words that belong to no program: `oyster-Sunset28`."""
    if not _PHRASE.fullmatch(value) or not any(map(str.isdigit, value)):
        return False
    parts = [part for part in re.split("[^A-Za-z]", value) if part]
    is_long = len(parts) >= _MANY_PARTS
    is_mixed = any(part[0].isupper() and part != part.upper() for part in parts)
    is_word = all(len(part) >= _LEAST_WORD for part in parts)
    return (is_long or is_mixed) and is_word and _NAMING.isdisjoint(map(str.lower, parts))
