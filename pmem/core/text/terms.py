"""The one tokeniser, for indexing and for asking. Pure: no input, output, clock or environment.

`terms` turns any text into index terms:

* English words lose stop words, irregular forms go to their base, the rest through Snowball.
* Identifiers (camelCase, snake_case, dotted and slashed paths, versions, error codes) are kept
  whole and in parts.
* Accents are folded, compatibility forms unified (NFKC), case removed.
* Scripts written without spaces, and Korean, become character bigrams; see `characters`.

Every regular expression consumes its input without backtracking over more than one character, so
the time is linear in the length of the text.
"""

import re
import unicodedata
from collections.abc import Callable, Collection
from functools import cache, lru_cache
from typing import Final, NamedTuple

import Stemmer

from pmem.core.text.words import IRREGULAR_FORMS, MONTHS, NUMBER_WORDS, STOP_WORDS, WEEKDAYS
from pmem.values.patterns import lazily

MAX_WHOLE = 128  # characters; a longer compound is indexed in parts only
MAX_PART = 64  # characters; a longer part is cut
MAX_CACHED = 100_000  # chunks; the memo is emptied when it is full
MAX_KNOWN = 4096  # texts that are remembered, emptied when they are so many
MAX_KNOWN_TEXT = 1000  # characters

# Han, kana, Hangul, Thai, Lao, Burmese, Khmer: written without spaces, or with suffixes attached
_UNSPACED = (
    "\u3005\u3040-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\u1100-\u11ff\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003ffff"
)
_MARKS = "\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0981-\u0dff"
_CONNECTOR = r"(?:::|[-./:@&+'’\\]|(?<=[0-9]),(?=[0-9]{3}(?![0-9])))"
_CHUNK_FORM = r"{0}+(?:" + _CONNECTOR + r"{0}+)*(?:\+\+|#(?!\w))?"
_ASCII_CHUNK = lazily(_CHUNK_FORM.replace("{0}", "[A-Za-z0-9_]"))
_PART = lazily(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\x00-\x7f]+")
_SEGMENT = lazily(r"[/\\]")
_ORDINAL = lazily(r"([0-9]{1,4})(?:st|nd|rd|th)")
_CONTRACTION = lazily(r"(?:n['’]t|['’](?:s|re|ve|ll|d|m))\Z", re.IGNORECASE)
_NOT_ASCII = lazily(r"[^\x00-\x7f]{1,1024}")
_QUOTED = lazily('"([^"]+)"|“([^“”]+)”|「([^「」]+)」|«([^«»]+)»')
_RELEASE = lazily(r"[vV]?([0-9]{1,9}\.[0-9]{1,9})\.[0-9]")
_ISO_DATE = lazily(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)", re.ASCII)
_UNDECOMPOSED = str.maketrans(
    {"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th",
     "Þ": "Th", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "ß": "ss", "ı": "i",
     "\u0640": "", "\u00ad": "", "\u200c": "", "\u200d": ""}
)  # fmt: skip

_LANGUAGES = {
    "ARABIC": "arabic", "ARMENIAN": "armenian", "CYRILLIC": "russian", "DEVANAGARI": "hindi",
    "GREEK": "greek", "TAMIL": "tamil",
}  # fmt: skip
_stem = Stemmer.Stemmer("english", 0).stemWord  # our own memo is faster than the library's
_memo: dict[str, tuple[str, ...]] = {}
_known: dict[str, list[str]] = {}


class Query(NamedTuple):
    """A question taken apart.

    `terms` keeps the order and the repetitions of the text; `phrases` holds the `sequence` of each
    quoted part of more than one term; `names` holds the terms of capitalised words.
    """

    terms: list[str]
    phrases: list[tuple[str, ...]]
    names: frozenset[str]


def fold(text: str) -> str:
    """Return `text` in NFKC without the accents of Latin, Greek and Cyrillic letters.

    Non-ASCII runs are normalised in bounded pieces, because sorting one long run of combining
    marks takes quadratic time.
    """
    return text if text.isascii() else _NOT_ASCII.sub(_fold_piece, text)


def terms(text: str) -> list[str]:
    """Return the index terms of `text`, in order, with repetitions.

    The same function serves documents and queries, so whatever is indexed can be asked for.
    """
    found = _known.get(text)
    if found is None:
        found = _terms(text)
        if len(text) <= MAX_KNOWN_TEXT:
            if len(_known) >= MAX_KNOWN:
                _known.clear()
            _known[text] = found
    return found.copy()


def _terms(text: str) -> list[str]:
    found: list[str] = []
    memo = _memo
    for chunk in _chunks(fold(text)):
        known = memo.get(chunk)
        if known is None:
            known = _remember(chunk)
        found += known
    return found


def sequence(text: str) -> list[str]:
    """Return the terms of `text` with an empty one for each word that has none.

    So "lock file" is not found where a text says "lock the file".
    """
    return [term for chunk in _chunks(fold(text)) for term in _remember(chunk) or ("",)]


def characters(text: str) -> list[str]:
    """Return the Chinese characters and Korean syllables within the longer words of `text`.

    Many are words of their own ("猫", "책"). Indexed beside the pairs of `terms`, one that is
    asked alone, or with another particle, finds the words that it is part of.
    """
    if text.isascii():
        return []
    _, runs, unspaced = _wide_patterns()
    words = (run for run in runs.findall(fold(text)) if len(run) > 1 and unspaced.match(run))
    return [letter for word in words for letter in word if _is_syllable(letter)]


def parse_query(text: str) -> Query:
    """Take a question apart into terms, quoted phrases and capitalised names.

    A date in ISO form also counts as the words of `date_terms`. A quotation mark without its
    partner is plain punctuation.
    """
    folded = fold(text)
    wanted = terms(folded)
    wanted += written_dates(folded)
    quoted = (_phrase("".join(groups)) for groups in _QUOTED.findall(text))
    phrases = [phrase for phrase in quoted if len(phrase) > 1]
    return Query(wanted, phrases, _names(folded))


def date_terms(year: int, month: int, day: int) -> list[str]:
    """Return a date as terms (year, month name, day), as a question would name it.

    Raises:
        IndexError: `month` is not within 1 and 12.
    """
    return [str(year), _month_term(month), str(day)]


@cache
def _month_term(month: int) -> str:
    return _plain_word(MONTHS[month - 1])


def written_dates(text: str) -> list[str]:
    """Return the dates in ISO form within `text` as the words of `date_terms`."""
    return [
        term
        for year, month, day in (_ISO_DATE.findall(text) if "-" in text else ())
        if 1 <= int(month) <= 12
        for term in date_terms(int(year), int(month), int(day))
    ]


@cache
def time_vocabulary() -> frozenset[str]:
    """Return the terms that say when: months, weekdays and words such as "yesterday"."""
    spoken = (
        "yesterday today tonight tomorrow ago last next week weekend month year morning "
        "afternoon evening night recently soon spring summer autumn fall winter christmas "
        "birthday anniversary holiday date"
    )
    chinese = "昨天 今天 明天 前天 后天 上周 下周 周末 去年 今年 明年 上午 下午 晚上 星期 生日"
    english = map(_plain_word, (*MONTHS, *WEEKDAYS, *spoken.split()))
    return frozenset(english) | frozenset(chinese.split())


@lru_cache(maxsize=1)
def _wide_patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Patterns of a chunk, of a run of one kind of script, and of a script without spaces.

    Compiled when first needed: large character classes cost as much as the rest of the module.
    """
    chunk = re.compile(_CHUNK_FORM.replace("{0}", rf"[\w{_UNSPACED}{_MARKS}]"))
    run = re.compile(rf"[{_UNSPACED}]+|[^{_UNSPACED}]+")
    return chunk, run, re.compile(f"[{_UNSPACED}]")


def _chunks(folded: str) -> list[str]:
    pattern = _ASCII_CHUNK if folded.isascii() else _wide_patterns()[0]
    return pattern.findall(folded)


def _fold_piece(match: re.Match[str]) -> str:
    piece = unicodedata.normalize("NFKD", match.group())
    plain = "".join(letter for letter in piece if not _is_accent(letter))
    return unicodedata.normalize("NFC", plain).translate(_UNDECOMPOSED)


def _is_accent(letter: str) -> bool:
    """Tell marks that are often left out from those that are part of a syllable, by their class.

    Above and below letters (202 and more), Hebrew points and Arabic vowels (10 to 36), the dot of
    Hindi (7); not the vowel signs of India (0), the voicing of kana (8), the tones of Thai (107).
    """
    place = unicodedata.combining(letter)
    return place >= 202 or 10 <= place <= 36 or place == 7


def _phrase(text: str) -> tuple[str, ...]:
    """The sequence of a quoted part, from its first term to its last."""
    words = sequence(text)
    held = [place for place, word in enumerate(words) if word]
    return tuple(words[held[0] : held[-1] + 1]) if held else ()


def _names(text: str) -> frozenset[str]:
    """Terms of words with an initial capital that is not only the capital of a sentence."""
    chunks = _chunks(text)[1:]
    return frozenset(term for chunk in chunks if chunk[0].isupper() for term in _remember(chunk))


def _remember(chunk: str) -> tuple[str, ...]:
    known = _memo.get(chunk)
    if known is not None:
        return known
    analysed = tuple(_analyse(chunk))
    if len(chunk) <= MAX_PART:
        if len(_memo) >= MAX_CACHED:
            _memo.clear()
        _memo[chunk] = analysed
    return analysed


def _analyse(chunk: str) -> list[str]:
    if chunk.isascii():
        return _spaced(chunk)
    _, runs, unspaced = _wide_patterns()
    found: list[str] = []
    for run in runs.findall(chunk):
        found += _bigrams(run) if unspaced.match(run) else _spaced(run)
    return found


def _bigrams(run: str) -> list[str]:
    """Overlapping pairs of characters; a single character stands for itself."""
    if len(run) == 1:
        return [run]
    return [run[i : i + 2] for i in range(len(run) - 1)]


def _is_syllable(letter: str) -> bool:
    """Tell Han and Hangul from alphabets and kana, whose letters mean nothing by themselves."""
    return "\u3400" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7a3" or letter >= "\uf900"


def _spaced(chunk: str) -> list[str]:
    """Terms of a chunk in a script with spaces: a word, or an identifier whole and in parts."""
    if not chunk.isalnum():
        chunk = _CONTRACTION.sub("", chunk).strip("_").replace(",", "")
    if chunk.isalpha() and (chunk[1:].islower() or len(chunk) == 1):
        return _word(chunk.casefold())
    if chunk.isalpha() and chunk.isupper():
        return [_plain_word(chunk.casefold())]
    ordinal = _ORDINAL.fullmatch(chunk)
    if ordinal:
        return [ordinal.group(1)]
    return _compound(chunk)


def _word(word: str) -> list[str]:
    if word in STOP_WORDS or (len(word) == 1 and word.isascii()):
        return []
    return [_plain_word(word)]


def _plain_word(word: str) -> str:
    word = word[:MAX_PART]
    number = NUMBER_WORDS.get(word)
    if number is not None:
        return number
    if word.isascii():
        return str(_stem(IRREGULAR_FORMS.get(word, word)))
    return _stem_of_script(word)


def _stem_of_script(word: str) -> str:
    """The stem of a word in another script, by the most common language that is written in it."""
    script = unicodedata.name(word[0], "").partition(" ")[0]
    language = _LANGUAGES.get(script)
    return word if language is None else str(_stemmer(language)(word))


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    """Made when first needed, where this version of the library has it."""
    known = language in Stemmer.algorithms()
    return Stemmer.Stemmer(language, 0).stemWord if known else str


def _compound(chunk: str) -> list[str]:
    """A compound whole, the compounds between its slashes, and its parts."""
    parts = _PART.findall(chunk)
    if len(parts) == 1 and parts[0] == chunk:
        return [_plain_word(chunk.casefold())]
    found = _wholes(chunk)
    for part in parts:
        if part.isdigit():
            found.append(part[:MAX_PART])
        elif len(part) > 1 or not part.isascii():
            found += _word(part.casefold())
    return found


def _wholes(chunk: str) -> list[str]:
    if not chunk or len(chunk) > MAX_WHOLE:
        return []
    if chunk.isalnum():
        return [_canonical_word(chunk)]
    segments = _SEGMENT.split(chunk)
    wholes = [_canonical_word("/".join(segments))]
    release = _RELEASE.match(chunk)
    if release:  # "3.11" finds 3.11.4
        wholes.append(release.group(1))
    if len(segments) > 1:
        wholes += [_canonical_word(part) for part in segments if not part.isalnum() and part]
    return wholes


def _canonical_word(chunk: str) -> str:
    """One canonical spelling: no capitals, `v` of a version dropped, hyphenated words joined."""
    folded = chunk.casefold().replace("’", "'")
    if folded[0] == "v" and folded[1:2].isdigit():
        return folded[1:]
    joined = folded.replace("-", "").replace("'", "")
    if joined.isalpha():
        return _plain_word(joined)
    return folded


_WORDS_BEFORE: Final = 8


def snippet(words: list[str], asked: Collection[str], most: int) -> str:
    """Return a text's words, so many at the most, from shortly before the first asked for."""
    if len(words) <= most:
        return " ".join(words)
    found = (place for place, word in enumerate(words) if not set(terms(word)).isdisjoint(asked))
    start = max(0, min(next(found, 0) - _WORDS_BEFORE, len(words) - most))
    shown = words[start : start + most]
    end = "" if start + most >= len(words) else " …"
    return ("… " if start else "") + " ".join(shown) + end
