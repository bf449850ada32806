"""What a document shows and what a question asks for, by rule; and the formulas of scoring."""

import datetime
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import log, log1p

from pmem.core.text.terms import date_terms, time_vocabulary
from pmem.core.text.words import NUMBER_WORDS, WEEKDAYS
from pmem.values.patterns import lazily
from pmem.values.times import HALF_LIFE_DAYS

_SAID_AGAIN = 10

TIME = 1  # holds a word of time
NUMBER = 2  # holds a number
QUESTION = 4  # ends as a question
QUOTED = 8  # holds a quotation, such as a title
INSIGHT = 16  # is an insight: concluded, not said
ASSISTANT = 32  # a model says it
CALL = 64  # a tool was told it
RESULT = 128  # a tool answered it
TOOLS = CALL | RESULT
ONLY_ASKS = 256  # says nothing but a question

_SAYS = 3  # words of a sentence that is more than a greeting
_TIME_TERMS = time_vocabulary()
_ANNOTATION = r"\[[^\[\]]*\]\s*\Z"
_SENTENCE_END = lazily(r"(?<=[.!?。！？])\s+|\n+")
_WHEN = lazily(
    r"\A(?:\w+ ){0,2}when\b|\b(?:what|which) (?:date|day|month|year|time|week)\b"
    r"|什么时候|何时|几点|哪天|哪年|いつ|언제"
)
_HOW_MANY = lazily(r"\bhow (?:many|much|old)\b|多少|几个|几次|いくつ|몇")
_WHAT = lazily(r"\A\W*(?:what|which)\b")
_OUTPUT = lazily(
    r"\b(?:(?:the|what|which) (?:output|log|logs|commands?)|printed|std(?:out|err)|exit codes?"
    r"|stack ?traces?|tracebacks?|error messages?)\b"
)
_NAMED_ERROR = lazily(r"\w(?:Error|Exception)\b|\bE[A-Z]{4,}\b")
_SEVERAL = lazily(
    r"\A\W*(?:what|which|where|who)\b.*\b(?:has|have)\b"
    r"|\A\W*how many\b|\bboth\b"
    r"|\A\W*(?:what|which) (?:\w+ )?\w+[^\Ws]s (?:has|have|does|do|did|are|were)\b"
)
_AGO = r"\b(\d{1,3}|an?|two|three|four|five|six) (day|week|month|year)s? ago\b"
_TURN = (
    r"\b(last|this past|next|this) (night|week|weekend|month|year|" + "|".join(WEEKDAYS) + r")\b"
    r"|\b(yesterday|tomorrow)\b"
)

_TURNS = ("last", "this", "next", "yesterday", "tomorrow", " ago")
"""What stands in every text that names a day relative to its own."""


def traits(text: str, found: Sequence[str]) -> int:
    """Return the bits TIME, NUMBER, QUESTION, ONLY_ASKS and QUOTED of a document."""
    bits = QUOTED if '"' in text or "“" in text or "「" in text else 0
    if ("?" in text or "？" in text) and _asks(re.sub(_ANNOTATION, "", text[-2000:])):
        bits |= QUESTION if _states(text[-2000:]) else QUESTION | ONLY_ASKS
    letters = "".join(found)
    if not letters.isalpha() and any(map(str.isdigit, letters)):
        bits |= NUMBER
    return bits if _TIME_TERMS.isdisjoint(found) else bits | TIME


def _asks(text: str) -> bool:
    return text.rstrip().endswith(("?", "？"))


def _states(text: str) -> bool:
    """Tell whether a text has a sentence that is no question and more than a greeting."""
    sentences = _SENTENCE_END.split(text)
    return any(not _asks(one) and len(one.split()) >= _SAYS for one in sentences)


def frequencies(fields: Iterable[tuple[Iterable[str], float]]) -> dict[str, float]:
    """Count the terms of weighted fields into one frequency each.

    Adding weighted counts before the saturation is BM25F: Robertson, Zaragoza and Taylor, Simple
    BM25 Extension to Multiple Weighted Fields (2004).
    """
    counts: dict[str, float] = {}
    for found, weight in fields:
        for term in found:
            counts[term] = counts.get(term, 0.0) + weight
    return counts


def repeats(words: Sequence[str]) -> dict[str, int]:
    """Return how often words are said beyond what counts, so that nothing is found for repeating.

    That is more often than once, and than once for each ten different words besides.
    """
    if len(set(words)) == len(words):
        return {}
    told = Counter(words)
    most = 1 + len(told) // _SAID_AGAIN
    return {word: times - most for word, times in told.items() if times > most}


def day_terms(text: str, day: datetime.date) -> list[str]:
    """Return the terms of a text's date and of the dates that it speaks of."""
    return date_terms(day.year, day.month, day.day) + spoken_dates(text, day)


def spoken_dates(text: str, day: datetime.date) -> list[str]:
    """Return as terms the dates that a text of `day` names relative to it.

    "yesterday", "last Friday", "two weeks ago", "next month". A week or month away yields the
    month and the year only as far as they are certain.
    """
    lowered = text.lower()
    found: list[str] = []
    if not any(map(lowered.__contains__, _TURNS)):
        return found
    for which, unit, plain in re.findall(_TURN, lowered):
        found += _turned(which or plain, unit or plain, day)
    for count, unit in re.findall(_AGO, lowered):
        number = 1 if count in ("a", "an") else int(NUMBER_WORDS.get(count, count))
        found += _away(-number, unit, day)
    return found


def asks_when(question: str) -> bool:
    """Tell whether a question asks for a time."""
    return _WHEN.search(question.lower()) is not None


def asks_how_many(question: str) -> bool:
    """Tell whether a question asks for a number."""
    return _HOW_MANY.search(question.lower()) is not None


def asks_for_output(question: str) -> bool:
    """Tell whether a question asks for what a tool was told or answered, or names an error."""
    return bool(_OUTPUT.search(question.lower()) or _NAMED_ERROR.search(question))


def asks_what(question: str) -> bool:
    """Tell whether a question begins with "what" or "which"."""
    return _WHAT.search(question.lower()) is not None


def asks_several(question: str) -> bool:
    """Tell whether the answer is likely spread over several occasions.

    "What books has Ann read?", "How many times ...", "... both ...".
    """
    return _SEVERAL.search(question.lower()[:1000]) is not None


def holds_phrase(sequence: Sequence[str], phrase: Sequence[str]) -> bool:
    """Tell whether the terms of `phrase` stand in `sequence` one after the other.

    Both come from `text.sequence`, where a stop word is an empty term.
    """
    size = len(phrase)
    first, wanted = phrase[0], list(phrase)
    return any(
        term == first and list(sequence[at : at + size]) == wanted
        for at, term in enumerate(sequence)
    )


def _turned(which: str, unit: str, day: datetime.date) -> list[str]:
    """Dates of "last week", "next Friday", "yesterday"."""
    if unit in ("yesterday", "night"):
        return _away(-1 if which != "this" else 0, "day", day)
    if unit == "tomorrow":
        return _away(1, "day", day)
    step = {"next": 1, "this": 0}.get(which, -1)
    if unit not in WEEKDAYS:
        return _away(step, "week" if unit == "weekend" else unit, day)
    ahead = (WEEKDAYS.index(unit) - day.weekday()) % 7
    if step < 0 and ahead >= 0:
        ahead -= 7
    return _away(ahead or 7, "day", day)


def _away(count: int, unit: str, day: datetime.date) -> list[str]:
    """The certain part of a date `count` units from `day`; nothing outside the calendar."""
    try:
        if unit in ("day", "week"):
            then = day + datetime.timedelta(days=count * (7 if unit == "week" else 1))
            found = date_terms(then.year, then.month, then.day)
            return found if unit == "day" else found[1:2]
        if unit == "month":
            return date_terms(2000, (day.month - 1 + count) % 12 + 1, 1)[1:2]
        return [str(day.year + count)]
    except OverflowError:
        return []


DAY = 86_400.0  # seconds


def idf(documents: int, containing: float) -> float:
    """Return the always positive inverse document frequency of a term.

    log(1 + (N - n + 0.5) / (n + 0.5)), where n of N documents have the term: Robertson and Sparck
    Jones' weight with 1 added inside the logarithm, as in Lucene, so that a term of more than half
    the documents never counts against a document.
    """
    return log(1.0 + (documents - containing + 0.5) / (containing + 0.5))


def length_norm(length: float, average: float, k1: float, b: float) -> float:
    """Return BM25's k1 * (1 - b + b * length / average), the frequency that scores half.

    Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), equation 3.15. An average
    of 0 counts as no length information.
    """
    return k1 * (1.0 - b + b * (length / average if average else 1.0))


def saturation(frequency: float, norm: float, k1: float) -> float:
    """Return BM25's term weight tf * (k1 + 1) / (tf + norm), below k1 + 1.

    Robertson and Zaragoza (2009), equation 3.15, with the customary (k1 + 1) in the numerator.
    `norm` comes from `length_norm`.
    """
    return frequency * (k1 + 1.0) / (frequency + norm)


def recency(age: float, half_life: float = HALF_LIFE_DAYS) -> float:
    """Return 0.5 ** (age / half_life): 1 now or in future, one half after `half_life` days.

    `age` is in seconds.
    """
    return float(0.5 ** (max(age, 0.0) / DAY / half_life))


def familiarity(accesses: int) -> float:
    """Return how often something was used, in [0, 1): log(1 + n) / (1 + log(1 + n))."""
    grown = log1p(max(accesses, 0))
    return grown / (1.0 + grown)


def plain_idf(documents: int, containing: int) -> float:
    """Return log(N / n), the inverse document frequency of specification S2; 0 for n = 0."""
    return log(documents / containing) if containing else 0.0


def relative_frequency(frequency: float, highest: float) -> float:
    """Return count / highest count of any term of the document: specification S2's tf."""
    return frequency / highest if highest else 0.0


def confidence(ratio: float, low: float, high: float) -> float:
    """Return 0 up to `low`, 1 from `high` on, and a straight line between."""
    return min(1.0, max(0.0, (ratio - low) / (high - low)))


def substance(length: float, full: float = 40.0, power: float = 0.1) -> float:
    """Return a prior for messages that say something: (min(length, full) / full) ** power.

    A one-word reply ("Thanks!") rarely answers a question. `length` is in terms.
    """
    return float((max(min(length, full), 1.0) / full) ** power)


def smooth_share(part: float, whole: float) -> float:
    """Return `part / whole` held within [0, 1]; 0 for an empty whole."""
    return min(1.0, max(0.0, part / whole)) if whole else 0.0
