"""A memory reduced to what comparisons need.

A memory is not taken apart as the sentences of a talk are (`core.text.sentences`), for code,
quotations, operators and flags count here as they are written.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from pmem.core.duplicates import lexicon, tables
from pmem.core.duplicates.lexicon import (
    LONGEST_KEPT,
    MOST_KNOWN,
    Meaning,
    WordClass,
    is_simple_past,
    stem,
)
from pmem.core.text.terms import fold
from pmem.core.text.words import GIVEN_NAMES, spelled_out
from pmem.values.patterns import lazily

MOST_READ: Final = 6000
"""Characters that are read word by word; of what follows only whether it is the same counts."""
_LETTER: Final = lazily(r"[^\W_]")
_STOPS: Final = frozenset(".;:!。；：！")
_PAUSES: Final = frozenset(",、，–—")
_OPERATORS: Final = frozenset("< > = <= >= != == + * / % -> => ≤ ≥".split())
_QUOTES: Final = '`"“”«»「」'
_WAS: Final = Meaning(WordClass.SIGN, "was")
_ENOUGH: Final = 2  # words of content that tell what a claim is on
_SLIGHT: Final = frozenset("a an the we our please so . ,".split())
_MONTH: Final = "May"  # written so it is no modal
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
        spelled: Identifiers and code as they are written.
        said: All words of a question and of what holds hardly a word of content, else nothing.
    """

    items: tuple[Meaning, ...]
    base: frozenset[str]
    content: tuple[str, ...]
    numbers: tuple[str, ...]
    signs: tuple[str, ...]
    soft: frozenset[str]
    spelled: tuple[str, ...]
    said: str


def claim_of(content: str) -> Claim:
    """Read a content for comparisons, in time linear in its length."""
    text, rest = content[:MOST_READ], content[MOST_READ:]
    words, spelled = _words(fold(text))
    words = _without_leads(_as_we(words))
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
    by_class: dict[WordClass, list[str]] = {}
    for kind, value in items:
        by_class.setdefault(kind, []).append(value)
    content = {*by_class.get(WordClass.CONTENT, ()), *by_class.get(WordClass.EXACT, ())}
    numbers, signs = by_class.get(WordClass.NUMBER, []), by_class.get(WordClass.SIGN, [])
    soft = frozenset(by_class.get(WordClass.SOFT, ()))
    base = frozenset(_in_pairs(map(lexicon.base, content)))
    slight = len(base) + len(numbers) + len(soft) < _ENOUGH or "?" in signs
    return Claim(
        items=tuple(items),
        base=base,
        content=tuple(sorted(content)),
        numbers=tuple(numbers),
        signs=tuple(sorted(signs)),
        soft=soft,
        spelled=tuple(sorted(spelled)),
        said=" ".join(word for word in words if word not in _SLIGHT) if slight else "",
    )


def _in_pairs(words: Iterable[str]) -> Iterator[str]:
    """The words, those written without spaces as their pairs of characters."""
    for word in words:
        if word.isascii() or len(word) < 3 or not lexicon.is_unspaced(word):
            yield word
        else:
            yield from map("".join, pairwise(word))


_AND_OTHERS: Final = ["and", "others"]
_LONGEST_NAME: Final = 2
"""Words of a speaker's name."""
_ReadPiece = tuple[tuple[str, ...], str]


def _words(text: str) -> tuple[list[str], list[str]]:
    """The words of a text, code with a mark before it; and what counts as it is written."""
    pieces = _PIECE.findall(text)
    words: list[str] = []
    spelled: list[str] = []
    for place, piece in enumerate(pieces):
        if piece in ("a", "A") and _is_name(pieces, place):
            words.append("`a")
            continue
        analyse = _analysed if len(piece) <= LONGEST_KEPT else _analysed.__wrapped__
        found, cased = analyse(piece)
        words += found
        if cased:
            spelled.append(cased)
    return words, spelled


_PIECE: Final = lazily(
    r"`{1,3}[^`]{1,300}`{1,3}|[\"“”«»「」][^\"“”«»「」]{1,300}[\"“”«»「」]"
    r"|https?://[^\s\"`<>]{1,500}"
    r"|(?:(?<!\w)[-+#$€£¥@~^/.\\]{1,3})?\w+(?:[-./:@_'’+&\\*=]{1,3}\w+)*(?:[+#%°]{1,2}|/)?"
    r"|!=|[<>=≤≥≠→←]{1,3}|[^\s\w()\[\]{}'’\"“”«»「」`…・-]"
)
"""Code, a quotation, a link, a word, an operator or a mark; compiled when first needed."""


def _is_name(pieces: list[str], place: int) -> bool:
    """Tell whether an "a" is no article, as in "service A" and "x = a + b"."""
    before, after = pieces[max(0, place - 1) : place], pieces[place + 1 : place + 2]
    if pieces[place] == "A" and before and before[0] not in _STOPS | _PAUSES:
        return True
    return not _OPERATORS.isdisjoint(before + after)


@lru_cache(maxsize=MOST_KNOWN)
def _analysed(piece: str) -> _ReadPiece:
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
    word = token.casefold()
    if token.isalpha():
        if len(token) > 2 and token.endswith("s") and token[:-1].isupper():
            return [word[:-1]]
        return ["may-month"] if token == _MONTH else list(spelled_out(word))
    if "'" in word or "’" in word:
        base, *rest = spelled_out(word)
        return [base.removesuffix("'s"), "'s"] if base.endswith("'s") else [base, *rest]
    if "-" in word and word[0] != "-" and word.replace("-", "").isalpha():
        whole = word.replace("-", "")
        return [whole] if lexicon.is_known(whole) else [part for part in word.split("-") if part]
    if word.endswith("/") and "/" not in word[:-1]:
        return ["`" + word]
    return [word]


def _as_we(words: list[str]) -> list[str]:
    """The words with "we" for "Mira and others", as a conversation's memory names who said it.

    "Redis and others" are things: they have no given name, and decide nothing.
    """
    for end in range(1, _LONGEST_NAME + 1):
        if words[end : end + 2] == _AND_OTHERS:
            told = ["we", *words[end + 2 :]]
            return told if words[0] in _given_names() or _lead(told, 0) else words
    return words


@lru_cache(maxsize=1)
def _given_names() -> frozenset[str]:
    return frozenset(map(str.casefold, GIVEN_NAMES))


def _without_leads(words: list[str]) -> list[str]:
    """The words without "please note that", "we decided to" or "decision:" before them."""
    begin = 0
    while begin < len(words) and (length := _lead(words, begin)):
        begin += length
        while begin < len(words) and words[begin] in (",", "."):
            begin += 1
    return words[begin:] if begin < len(words) else words


def _lead(words: list[str], begin: int) -> int:
    """How many words from a place on lead to a statement."""
    if words[begin] in tables.LABELS and words[begin + 1 : begin + 2] in ([","], ["."]):
        return 1
    listed = lexicon.leads().get(words[begin], ())
    return next((len(lead) for lead in listed if _stands_at(words, begin, lead)), 0)


def _stands_at(words: list[str], place: int, phrase: tuple[str, ...]) -> bool:
    return tuple(words[place : place + len(phrase)]) == phrase


def _with_phrases(words: list[str]) -> list[str]:
    """The words with turns of phrase in their plain form."""
    phrases = lexicon.phrases()
    if phrases.keys().isdisjoint(pairwise(words)):
        return words
    found: list[str] = []
    place = 0
    while place < len(words):
        listed = phrases.get((words[place], "".join(words[place + 1 : place + 2])), ())
        phrase, meant = next(
            (each for each in listed if _stands_at(words, place, each[0])),
            ((words[place],), [words[place]]),
        )
        found += meant
        place += len(phrase)
    return found


def _items(words: list[str]) -> list[Meaning]:
    items: list[Meaning] = []
    for place, word in enumerate(words):
        unit = lexicon.unit(word) if items and items[-1].kind is WordClass.NUMBER else ""
        if unit:
            items[-1] = Meaning(WordClass.NUMBER, lexicon.measured(items[-1].value, unit))
            continue
        following = "".join(words[place + 1 : place + 2])
        before_number = word in tables.BEFORE_NUMBERS and lexicon.is_number(following)
        found, is_past = lexicon.look(tables.BEFORE_NUMBERS[word] if before_number else word)
        if is_past:
            _add_past(items, words, place)
        items += found
    return items


def _add_past(items: list[Meaning], words: list[str], place: int) -> None:
    """Note that a verb tells of the past, or that "is" before it makes it passive."""
    before = words[max(0, place - 3) : place]
    told = Meaning(WordClass.SIGN, f"past {lexicon.base(stem(words[place]))}")
    if "was" in before or "were" in before:
        if _WAS in items:
            items.remove(_WAS)
        items += (told, Meaning(WordClass.PASSIVE, ""))
    elif not tables.BE.isdisjoint(before):
        items.append(Meaning(WordClass.PASSIVE, ""))
    elif _AUXILIARY.isdisjoint(before) and is_simple_past(words[place]):
        items.append(told)
