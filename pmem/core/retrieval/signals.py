"""What a document shows and what a question asks for, by rule. Pure."""

import datetime
import re
from collections.abc import Iterable, Sequence

from pmem.core.text.terms import date_terms, time_vocabulary
from pmem.core.text.words import NUMBER_WORDS, WEEKDAYS

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
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_WHEN = re.compile(
    r"\A(?:\w+ ){0,2}when\b|\b(?:what|which) (?:date|day|month|year|time|week)\b"
    r"|什么时候|何时|几点|哪天|哪年|いつ|언제"
)
_HOW_MANY = re.compile(r"\bhow (?:many|much|old)\b|多少|几个|几次|いくつ|몇")
_WHAT = re.compile(r"\A\W*(?:what|which)\b")
_OUTPUT = re.compile(
    r"\b(?:(?:the|what|which) (?:output|log|logs|commands?)|printed|std(?:out|err)|exit codes?"
    r"|stack ?traces?|tracebacks?|error messages?)\b"
)
_NAMED_ERROR = re.compile(r"\w(?:Error|Exception)\b|\bE[A-Z]{4,}\b")
_SEVERAL = re.compile(
    r"\A\W*(?:what|which|where|who)\b.*\b(?:has|have)\b"
    r"|\A\W*how many\b|\bboth\b"
    r"|\A\W*(?:what|which) (?:\w+ )?\w+[^\Ws]s (?:has|have|does|do|did|are|were)\b"
)
_AGO = r"\b(\d{1,3}|an?|two|three|four|five|six) (day|week|month|year)s? ago\b"
_TURN = (
    r"\b(last|this past|next|this) (night|week|weekend|month|year|" + "|".join(WEEKDAYS) + r")\b"
    r"|\b(yesterday|tomorrow)\b"
)


def traits(text: str, found: Iterable[str]) -> int:
    """Return the bits TIME, NUMBER, QUESTION, ONLY_ASKS and QUOTED of a document."""
    bits = QUOTED if '"' in text or "“" in text or "「" in text else 0
    if _asks(re.sub(_ANNOTATION, "", text[-2000:])):
        bits |= QUESTION if _states(text[-2000:]) else QUESTION | ONLY_ASKS
    for term in set(found):
        if term in _TIME_TERMS:
            bits |= TIME
        if any(map(str.isdigit, term)):
            bits |= NUMBER
    return bits


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
