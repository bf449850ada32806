"""What a memory says, reduced to what comparisons need."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from pmem.core.duplicates import lexicon
from pmem.core.duplicates.lexicon import Meaning, Special, WordClass
from pmem.core.duplicates.tables import BE
from pmem.core.text.terms import fold
from pmem.core.text.words import spelled_out

_LAST_NAMING: Final = int(WordClass.EXACT)
_NUMBER: Final = int(WordClass.NUMBER)
_SIGN: Final = int(WordClass.SIGN)
_SOFT: Final = int(WordClass.SOFT)
MOST_READ: Final = 6000
"""Characters that are read word by word; of what follows only whether it is the same counts."""

_LETTER: Final = re.compile(r"[^\W_]")
_STOPS: Final = frozenset(".;:!。；：！")
_PAUSES: Final = frozenset(",、，–—")
_OPERATORS: Final = frozenset("< > = <= >= != == + * / % -> => ≤ ≥".split())
_QUOTES: Final = '`"“”«»「」'
_AMOUNT: Final = re.compile(r"([-+$€£¥]{0,2})(\d[\d.,]*)-?([^\W\d_]{0,12})(%?)")
_DATED: Final = re.compile(r"v?\d[\d.:/-]*[.:/-]\d+")  # 04:00, 2026-03-01, v2.4.0
_BEFORE_NUMBERS: Final = lexicon.BEFORE_NUMBERS
_APART: Final = Meaning(WordClass.SUBJECT, "")
_ENOUGH: Final = 2  # words of content that tell what a claim is on
_SLIGHT: Final = frozenset("a an the we our please so . ,".split())
_MONTH: Final = "May"  # written so it is no modal
_OPENINGS: Final = frozenset("never always not do please let us also avoid".split())
_OPENING: Final = 40  # words among which a request begins
_LONGEST_KEPT: Final = 64  # characters of a token in the memo
_AUXILIARY: Final = frozenset("have has had having 've be been being".split())


class Claim(NamedTuple):
    """A content, read once.

    Attributes:
        items: What it says, in order, without articles and the like.
        base: Its words, opposites as one; two claims on one matter have the same.
        content: Its words, sorted.
        numbers: Its numbers, dates and times, in order.
        signs: Its negations, modals, quantifiers and tenses, sorted.
        soft: Verbs such as "run" and "store" that often say no more than "is".
        asks: Whether it is a request, as "use tabs" is.
        spelled: Identifiers and code as they are written.
        weight: What the words of `base` weigh together.
        said: All words of a question and of what holds hardly a word of content, else nothing.
    """

    items: tuple[Meaning, ...]
    base: frozenset[str]
    content: tuple[str, ...]
    numbers: tuple[str, ...]
    signs: tuple[str, ...]
    soft: frozenset[str]
    asks: bool
    spelled: tuple[str, ...]
    weight: float
    said: str


def claim_of(content: str) -> Claim:
    """Read a content for comparisons, in time linear in its length.

    Args:
        content: What a memory says.
    """
    text, rest = content[:MOST_READ], content[MOST_READ:]
    words, spelled = _words(fold(text))
    words = _without_leads(words)
    items = _items(_with_phrases(words))
    while items and items[-1].kind is WordClass.BREAK:
        items.pop()
    if not items or not _LETTER.search(text):
        plain = " ".join(fold(text).casefold().split())
        items = [Meaning(WordClass.EXACT, plain.rstrip(".!") or plain)]
    if rest.strip():
        items.append(Meaning(WordClass.EXACT, _digest(rest)))
    return _claim(items, words, spelled)


def _digest(text: str) -> str:
    """What stands for the rest of a long text, which is the same or is not."""
    from hashlib import blake2b

    return blake2b(fold(text).encode("utf-8", "replace"), digest_size=16).hexdigest()


def _claim(items: list[Meaning], words: list[str], spelled: list[str]) -> Claim:
    content: set[str] = set()
    numbers: list[str] = []
    signs: list[str] = []
    soft: set[str] = set()
    for kind, value in items:
        if kind <= _LAST_NAMING:
            content.add(value)
        elif kind == _NUMBER:
            numbers.append(value)
        elif kind == _SIGN:
            signs.append(value)
        elif kind == _SOFT:
            soft.add(value)
    common = lexicon.bases().get
    base = frozenset([common(word, word) for word in content])
    if not "".join(base).isascii():
        base = frozenset(_in_pairs(base))
    slight = len(base) + len(numbers) + len(soft) < _ENOUGH or "?" in signs
    return Claim(
        tuple(items),
        base,
        tuple(sorted(content)),
        tuple(numbers),
        tuple(sorted(signs)),
        frozenset(soft),
        _is_request(words),
        tuple(sorted(spelled)),
        sum(map(lexicon.weight, base)),
        " ".join(word for word in words if word not in _SLIGHT) if slight else "",
    )


def _in_pairs(words: Iterable[str]) -> Iterator[str]:
    """The words, those written without spaces as their pairs of characters."""
    for word in words:
        if word.isascii() or len(word) < 3 or not lexicon.is_unspaced(word):
            yield word
        else:
            yield from map("".join, pairwise(word))


_Read = tuple[tuple[str, ...], str]
_memo: dict[str, _Read] = {}


def _words(text: str) -> tuple[list[str], list[str]]:
    """The words of a text, code with a mark before it; and what counts as it is written."""
    pieces = _piece().findall(text)
    words: list[str] = []
    spelled: list[str] = []
    known = _memo.get
    for piece in pieces:
        found, cased = known(piece) or _remember(piece)
        words += found
        if cased:
            spelled.append(cased)
    if "A" in pieces[1:] or ("a" in pieces and not _OPERATORS.isdisjoint(pieces)):
        words = _with_names(pieces)
    return words, spelled


@lru_cache(maxsize=1)
def _piece() -> re.Pattern[str]:
    """Code, a quotation, a link, a word, an operator or a mark; compiled when first needed."""
    return re.compile(
        r"`{1,3}[^`]{1,300}`{1,3}|[\"“”«»「」][^\"“”«»「」]{1,300}[\"“”«»「」]"
        r"|https?://[^\s\"`<>]{1,500}"
        r"|(?:(?<!\w)[-+#$€£¥@~^/.\\]{1,3})?\w+(?:[-./:@_'’+&\\*=]{1,3}\w+)*(?:[+#%°]{1,2}|/)?"
        r"|!=|[<>=≤≥≠→←]{1,3}|[^\s\w()\[\]{}'’\"“”«»「」`…・-]"
    )


def _with_names(pieces: list[str]) -> list[str]:
    """The words where an "A" is a name, as in "service A" and "x = a + b"."""
    words: list[str] = []
    for place, piece in enumerate(pieces):
        named = piece == "A" and words and words[-1] not in (".", ",")
        if piece == "a":
            around = pieces[max(0, place - 1) : place + 2]
            named = not _OPERATORS.isdisjoint(around)
        words += ("`a",) if named else _remember(piece)[0]
    return words


def _remember(piece: str) -> _Read:
    found = _memo.get(piece)
    if found is None:
        found = _analysed(piece)
        if len(piece) < _LONGEST_KEPT:
            if len(_memo) >= lexicon.MOST_KNOWN:
                _memo.clear()
            _memo[piece] = found
    return found


def _analysed(piece: str) -> _Read:
    """The words that a piece stands for, and how it is written if that counts."""
    if piece[0] in _QUOTES:
        inner = " ".join(piece.strip(_QUOTES).split())
        return ("`" + inner.casefold(),), inner
    if piece.startswith(("http://", "https://")):
        return ("`" + piece.rstrip(".,;:!?)"),), ""
    if any(letter.isalnum() for letter in piece):
        return tuple(_plain(piece)), piece if _is_cased(piece) else ""
    plain = "." if piece in _STOPS else "," if piece in _PAUSES else "`" + piece
    return ("?" if piece in "?？" else plain,), ""


def _is_cased(token: str) -> bool:
    """Tell an identifier, whose capitals count, from a word: "maxSize" and "-v", not "Max"."""
    if token[0] == "-":
        return True
    return not token.isupper() and any(letter.isupper() for letter in token[1:])


def _plain(token: str) -> list[str]:
    """A token in lower case, contractions in full, joined words apart."""
    if token.isalpha():
        if len(token) > 2 and token.endswith("s") and token[:-1].isupper():
            return [token[:-1].casefold()]
        return lexicon.spelled_out("may-month" if token == _MONTH else token.casefold())
    word = token.casefold()
    if "'" in word or "’" in word:
        return _contracted(word)
    if "-" in word and word[0] != "-" and word.replace("-", "").isalpha():
        whole = word.replace("-", "")
        return [whole] if lexicon.is_known(whole) else [part for part in word.split("-") if part]
    if word.endswith("/") and "/" not in word[:-1]:
        return ["`" + word]
    return [word]


def _contracted(word: str) -> list[str]:
    meant = spelled_out(word)
    base = meant[0].removesuffix("'s")
    return [base, "'s"] if (base,) != meant[:1] else list(meant)


def _without_leads(words: list[str]) -> list[str]:
    """The words without "please note that", "we decided to" or "decision:" before them."""
    begin = 0
    while begin < len(words):
        length = _lead(words, begin)
        if not length:
            break
        begin += length
        while begin < len(words) and words[begin] in (",", "."):
            begin += 1
    return words[begin:] if 0 < begin < len(words) else words


def _lead(words: list[str], begin: int) -> int:
    """How many words from a place on lead to a statement."""
    leads, labels = lexicon.leads()
    first = words[begin]
    if first in labels and words[begin + 1 : begin + 2] in ([","], ["."]):
        return 1
    for lead in leads.get(first, ()):
        if tuple(words[begin : begin + len(lead)]) == lead:
            return len(lead)
    return 0


def _with_phrases(words: list[str]) -> list[str]:
    """The words with turns of phrase in their plain form."""
    phrases = lexicon.phrases()
    if phrases.keys().isdisjoint(pairwise(words)):
        return words
    found: list[str] = []
    skipped = 0
    for place, (word, following) in enumerate(zip(words, [*words[1:], ""], strict=True)):
        if skipped:
            skipped -= 1
            continue
        found.append(word)
        for phrase, meant in phrases.get((word, following), ()):
            if tuple(words[place : place + len(phrase)]) == phrase:
                found[-1:] = meant
                skipped = len(phrase) - 1
                break
    return found


def _items(words: list[str]) -> list[Meaning]:
    items: list[Meaning] = []
    look = lexicon.look
    for place, word in enumerate(words):
        found, special = look(word)
        if special is None:
            items += found
        elif special is Special.PAST:
            _add_past(items, words, place)
            items += found
        elif special is Special.UNIT:
            _add_unit(items, found)
        elif special is Special.ODD:
            items += _odd(word)
        elif special is Special.ARTICLE:
            if items and items[-1].kind <= _NUMBER:  # "on weekdays the job": a part by itself
                items.append(_APART)
        else:
            near = lexicon.is_number(words[place + 1 : place + 2])
            items += look(_BEFORE_NUMBERS[word]).items if near else found
    return items


def _add_unit(items: list[Meaning], found: tuple[Meaning, ...]) -> None:
    """Join a unit to the number before it; elsewhere it is a word like another."""
    if items and items[-1].kind is WordClass.NUMBER:
        items[-1] = Meaning(WordClass.NUMBER, f"{items[-1].value} {found[0].value}")
    else:
        items += found[1:]


def _add_past(items: list[Meaning], words: list[str], place: int) -> None:
    """Note that a verb tells of the past, or that "is" before it makes it passive."""
    before = words[max(0, place - 3) : place]
    verb = lexicon.base(lexicon.stem(words[place]))
    if "was" in before or "were" in before:
        if Meaning(WordClass.SIGN, "was") in items:
            items.remove(Meaning(WordClass.SIGN, "was"))
        items += (Meaning(WordClass.SIGN, f"past {verb}"), Meaning(WordClass.PASSIVE, ""))
    elif not BE.isdisjoint(before):
        items.append(Meaning(WordClass.PASSIVE, ""))
    elif _AUXILIARY.isdisjoint(before) and lexicon.is_simple_past(words[place]):
        items.append(Meaning(WordClass.SIGN, f"past {verb}"))


def _odd(word: str) -> tuple[Meaning, ...]:
    """What is no common word: an amount, an identifier, code, Chinese."""
    if word[0] == "`":
        return (Meaning(WordClass.EXACT, word[1:]),)
    if word[-1].isdigit() and _DATED.fullmatch(word):
        return (Meaning(WordClass.NUMBER, word.lstrip("v")),)
    amount = _AMOUNT.fullmatch(word) if len(word) < _LONGEST_KEPT else None
    if amount:
        return _amount(*amount.groups())
    if not word.isascii() and lexicon.is_unspaced(word):
        return tuple(lexicon.unspaced(word))
    return (Meaning(WordClass.EXACT, word),)


def _amount(sign: str, digits: str, unit: str, percent: str) -> tuple[Meaning, ...]:
    """An amount in one spelling: "1,000", "10MB" and "10 MB", "1st"."""
    plain = digits.rstrip(".,")
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", plain):
        plain = plain.replace(",", "")
    value = sign + plain
    if unit in ("st", "nd", "rd", "th"):
        return (Meaning(WordClass.NUMBER, value + unit),)
    if unit and unit not in lexicon.units():
        return (Meaning(WordClass.EXACT, value + unit), Meaning(WordClass.NUMBER, value + unit))
    known = lexicon.units().get(unit) or percent
    return (Meaning(WordClass.NUMBER, f"{value} {known}" if known else value),)


def _is_request(words: list[str]) -> bool:
    """Tell "use tabs" and "before a release, run the tests" from statements."""
    if not words or (words[0] not in _OPENINGS and "," not in words and "." not in words):
        return bool(words) and lexicon.is_request(words[0])
    fresh = True
    for word in words[:_OPENING]:
        if fresh and word in _OPENINGS:
            continue
        if fresh and lexicon.is_request(word):
            return True
        fresh = word in (",", ".")
    return False
