"""What looks like a secret and is none: examples, placeholders, references, words and numbers."""

import re
from itertools import pairwise
from math import log2
from typing import Final

_EXAMPLE: Final = re.compile(
    r"example|placeholder|change[-_]?me|redacted|not-?a-?real|xxxx|\*{4}|\.{4}"
    r"|123456789|012345678|abcdefgh|(?<![a-z])(?:your|fake|todo|dummy|sample|insert)(?![a-z])"
    r"|(.)\1{5}"
)
"""What a value in lower case has only where documentation shows it in a secret's place."""
_USUAL: Final = frozenset(
    """
    pass passwd password passwort pwd secret user username admin administrator root guest test
    testing postgres mysql mongo redis rabbitmq minio default none null nil true false required
    optional string token hidden masked empty unset undefined unknown foo bar baz
    x-oauth-basic x-access-token x-token-auth letmein pw p
    """.split()
)
"""Words that stand for a password, or that everybody knows as the first one."""
_PLAIN: Final = (
    r"(?:(?:test|tester|testing|admin|administrator|root|user|guest|demo|default|dev|local|temp|tmp"
    r"|initial|pass|passwd|password|passwort|pwd|secret|token|key|my|db|qwerty|qwertz|asdf|abc|letmein"
    r"|changeit|hello|foo|bar|baz|mock|stub|value|some|the|new|old|p[a@]ssw[o0]rd|s3cr[e3]t|passw0rd"
    r")[-_.]?){1,4}(?:1|12|123|1234|12345|123456|321|0{1,4}|[1-9])?[!?]{0,3}"
)
"""What everybody takes for an example: `admin123`, `test_password_1`."""
_TECHNICAL: Final = re.compile(
    r"(?i)sha-?[0-9]{1,3}|md5|base-?(?:32|58|62|64)|argon2[a-z]*|pbkdf2|bcrypt[0-9]*|scrypt|oauth-?2?"
    r"|utf-?(?:8|16|32)|aes-?[0-9]*|[reh]s(?:256|384|512)|ed25519|x25519|x509|hmac|i18n|k8s|http2?"
    r"|ipv[46]|ecdsa|rsa-?[0-9]*|[0-9]fa|pkcs-?[0-9]*|p12|k3s|ec2|s3|saml2|oidc|1password|tls1?|uuid-?v?[0-9]?"
)
_NUMBER: Final = re.compile(r"[v~+-]?[0-9][0-9.,:_/TZ+-]*(?:-[a-z]{1,16}|[A-Za-z%]{1,3}){0,2}")
_PART: Final = re.compile(r"[A-Za-z]{1,20}|[0-9]{1,4}|[A-Za-z]{0,4}[0-9]{1,3}[A-Za-z]{0,2}")
_DIGEST: Final = re.compile(
    r"(?i)(?:sha[0-9]{1,3}|md5)[:-]|sha[0-9]{1,3}sum|ssh-|AAAA[BCE]|\$2[aby]\$"
)
_UNFIT_STARTS: Final = frozenset("$<{[(%/.~\\")
_CODE: Final = re.compile(r"[({\[]|://|\)\.|::|->|=>|[a-z]\.[a-z]+[A-Z]\w*$|\w\.\w+\.\w+$")
_EMAIL: Final = re.compile(r"[^@\s]{1,64}@[\w.-]{1,200}\.[a-z]{2,10}")
_ID: Final = re.compile(r"[0-9a-z]{1,11}-[0-9A-Za-z]{8}")
_LETTERS: Final = re.compile(r"[A-Za-z]")
_SYMBOLS: Final = frozenset("!@#$%^&*+=~?|")
_ODD: Final = frozenset("!#$%^&*~?")
"""Signs that stand in no name, address, or assignment."""
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
    """Tell whether a value is one that documentation shows in a secret's place.

    Args:
        value: What stands where a secret would.
    """
    few = min(_FEWEST_CHARACTERS, len(value))
    return len(set(value)) < few or _EXAMPLE.search(value.lower()) is not None


def is_usual(value: str) -> bool:
    """Tell whether a value stands for a password: `password`, `user`, `***`, `changeme`.

    Args:
        value: What stands where a password would.
    """
    bare = value.strip("*.-_").lower()
    return (
        bare in _USUAL
        or is_example(value)
        or not value.strip("*.xX-_")
        or (len(bare) <= _LONGEST_PLAIN and re.fullmatch(_PLAIN, bare) is not None)
    )


def is_strong(value: str) -> bool:
    """Tell whether a value looks drawn even where nothing says that it is a secret's.

    Args:
        value: A word of a text.
    """
    if len(value) < _LEAST_STRONG or not is_token((value * 2)[: max(_LEAST_TOKEN, len(value))]):
        return False
    kinds = (str.islower, str.isupper, str.isdigit)
    mixed = all(any(map(kind, value)) for kind in kinds)
    changes = sum(one.isdigit() != other.isdigit() for one, other in pairwise(value))
    return changes >= _LEAST_CHANGES and (mixed or len(value) >= _LEAST_SHUFFLED)


def is_chosen(value: str) -> bool:
    """Tell whether a value looks like a password that a person made up: `Winter`, a year, a sign.

    Args:
        value: A word of a text.
    """
    kinds = (str.islower, str.isupper, str.isdigit, _ODD.__contains__)
    return all(any(map(kind, value)) for kind in kinds) and is_password(value)


def is_password(value: str) -> bool:
    """Tell whether a value that a text calls a password can be one.

    Args:
        value: What the text says it is.
    """
    if len(value) < _LEAST_PASSWORD or value.isalpha():
        return False
    inside = value.strip("!?*.#")
    has_symbol = not _SYMBOLS.isdisjoint(inside) and _EMAIL.fullmatch(value) is None
    if not has_symbol and _is_name(value):
        return False
    if is_usual(value) or _is_reference(value):
        return False
    plain = _TECHNICAL.sub("", value)
    if not any(character.isdigit() for character in plain):
        return has_symbol and not (value.islower() or value.isupper())
    return _LETTERS.search(plain) is not None


def is_token(value: str) -> bool:
    """Tell whether a value that a text calls a token or key can be one.

    Args:
        value: What the text says it is.
    """
    if len(value) < _LEAST_TOKEN or " " in value or is_usual(value) or _is_reference(value):
        return False
    plain = _TECHNICAL.sub("", value)
    if _is_name(plain):
        return False
    digits = sum(character.isdigit() for character in plain)
    is_random = digits >= _LEAST_DIGITS or _is_shuffled(plain)
    return is_random and bool(_LETTERS.search(plain)) and entropy(value) >= _LEAST_ENTROPY


def entropy(value: str) -> float:
    """Return the Shannon entropy of a text in bits per character.

    Args:
        value: Any text but an empty one.
    """
    counts = [value.count(character) for character in set(value)]
    return -sum(count / len(value) * log2(count / len(value)) for count in counts)


def _is_reference(value: str) -> bool:
    """Tell whether a value names where a secret is, or is another thing that is no secret."""
    return (
        value[0] in _UNFIT_STARTS
        or _CODE.search(value) is not None
        or _DIGEST.match(value) is not None
        or _NUMBER.fullmatch(value) is not None
        or _ID.fullmatch(value) is not None
    )


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
    return len(parts) > 1 and all(not part or _PART.fullmatch(part) for part in parts)
