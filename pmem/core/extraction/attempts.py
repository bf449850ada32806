"""What was tried and failed, as people and assistants say it, and what a turn says was done.

Few forms count, each with its reason: whoever says why something failed says it for the next one
who thinks of it. Most stand in one sentence. Two need the sentence that follows: a cause with what
to do instead, and a failure after which something else is tried. What is asked, supposed or planned
is none of them.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from pmem.core.extraction.cues import DONE
from pmem.core.extraction.phrases import phrase_at
from pmem.core.text.blocks import prose_lines
from pmem.core.text.sentences import MOST, ParsedSentence, sentences, split_sentences
from pmem.values.patterns import lazily

FAILED: Final = 0.7
"""How sure it is that somebody was telling of a dead end: a person settles it."""
_LONGEST: Final = 400
_LEAST: Final = 2
"""Words that say what was tried."""
_WHO: Final = r"(?:\b(?:i|we|they|he|she|you)(?:'ve| have| had)?(?: also| already| just| first)? )?"
_FAILURE: Final = (
    r"(?:fail|(?:did|does|could)(?:n't| not)|can(?:'t|not)|won't|broke|break|error"
    r"|block|crash|hang|hung|timed? out|refuse|lost|los[et]s|corrupt|made \w+ worse|no effect"
    r"|was (?:too )?slow|still )"
)
_REASON: Final = r"(?:because|since|as)\b"
_FORMS: Final = (
    lazily(
        rf"{_WHO}\btried (?P<tried>[^;:?]{{4,160}}?),? (?:but|and|which) "
        rf"(?P<because>[^;?]{{0,60}}?{_FAILURE}[^;?]{{2,200}})$",
        re.IGNORECASE,
    ),
    lazily(
        rf"^(?P<tried>[^;?]{{6,120}}?) (?:did(?:n't| not)|does(?:n't| not)) work,? "
        rf"(?:{_REASON}|:) ?(?P<because>[^;?]{{6,240}})$",
        re.IGNORECASE,
    ),
    lazily(
        rf"{_WHO}\b(?:reverted|rolled back|backed out|undid|abandoned|gave up on|dropped) "
        rf"(?P<tried>[^;?]{{4,120}}?),? {_REASON} (?P<because>[^;?]{{6,240}})$",
        re.IGNORECASE,
    ),
    lazily(
        r"^(?P<tried>[^,;?]{4,120}?) "
        r"(?P<because>only works? (?:if|when|for|with|on) [^;?]{6,160}?,?"
        r" (?:which|and that|but that) (?:is|are|was|does|do|did)(?:n't| not) [^;?]{4,160})$",
        re.IGNORECASE,
    ),
)
_CAUSE: Final = lazily(
    r"^(?:the|root|real)? ?(?:issue|problem|cause|catch|trouble)(?: here)? (?:is|was) (?:that )?"
    r"(?P<because>[^?]{12,300})$",
    re.IGNORECASE,
)
_INSTEAD: Final = lazily(
    r"\b(?:use|using|switch(?:ed|ing)? to|go with|rely on) (?P<worked>[^,;:?]{2,80}?) instead"
    r"(?: of (?P<tried>[^,;:?]{2,80}))?$",
    re.IGNORECASE,
)
_REMEDY: Final = 2
"""Within so many sentences after a cause stands what to do instead."""
_TROUBLE: Final = lazily(
    r"^(?P<tried>[^,;:?]{4,80}?) (?P<because>(?:(?:still |just )?(?:seems? to|keeps?|fails?|failed)"
    r"|(?:is|are|was|were) (?:still )?(?:having|failing|dropping|refusing|not)"
    r"|(?:does|do|did|can|could)(?:n't|not| not)) [^;?]{6,200})$",
    re.IGNORECASE,
)
_ANOTHER: Final = lazily(
    r"^(?:so |ok,? |okay,? )?(?:let me|let's|let us|i'll|i will) (?:now )?try "
    r"(?:an?other|a different|one more|an alternative|something else)\b",
    re.IGNORECASE,
)
_CODE: Final = lazily(r"`[^`]{2,80}`")
_SUPPOSED: Final = lazily(
    r"\b(?:if|unless|would|should|could|might|may|let me|going to|will|want(?:s|ed)? to|whether)\b",
    re.IGNORECASE,
)
_VAGUE: Final = lazily(
    r"(?:it|this|that|they|these|those|everything|something|again|which|the (?:test|command|fix))",
    re.IGNORECASE,
)


class FailedAttempt(NamedTuple):
    """Something that was tried, and why it failed."""

    tried: str
    because: str


def failed_attempts(text: str) -> Iterator[FailedAttempt]:
    """Yield what a text says was tried and failed."""
    said = [" ".join(sentence.split()) for sentence in split_sentences(text)]
    for place, sentence in enumerate(said):
        if len(sentence) > _LONGEST or sentence.endswith("?"):
            continue
        following = said[place + 1 : place + 1 + _REMEDY]
        for tried, because in _tell_failures(sentence.rstrip(".!"), following):
            what = tried.strip(" ,")
            if len(what.split()) >= _LEAST and not _VAGUE.fullmatch(what):
                yield FailedAttempt(what, because.strip(" ,"))


def _tell_failures(said: str, following: list[str]) -> Iterator[tuple[str, str]]:
    """Yield what a sentence says was tried and why it failed, alone or with those behind it."""
    form = next(filter(None, (form.search(said) for form in _FORMS)), None)
    if form is not None and not _SUPPOSED.search(said[: form.end("tried")]):
        yield form["tried"], form["because"]
    cause = _CAUSE.match(said)
    remedies = (_INSTEAD.search(one.rstrip(".!")) for one in following)
    remedy = next(filter(None, remedies), None) if cause else None
    if cause is not None and remedy is not None:
        code = _CODE.search(cause["because"])
        tried = remedy["tried"] or (f"use {code.group()}" if code else "")
        yield tried, f"{cause['because']}; use {remedy['worked']} instead"
    trouble = _TROUBLE.match(said) if any(map(_ANOTHER.match, following[:1])) else None
    if trouble is not None and not _SUPPOSED.search(said):
        yield trouble["tried"], f"it {trouble['because']}"


_READ: Final = 2000  # characters from which its lines are taken
_LOOKED_AT: Final = 3  # sentences in which the work is named
_BEFORE: Final = frozenset("been is are was were now successfully i we have has just".split())
_SPEAKERS: Final = frozenset("i we you now".split())
_SUMMED_UP: Final = """
summary of|final summary|what was changed|what changed|what i built|what i did|what was done
"""
_ANNOUNCED: Final = "let me|let us|i will|i need to|i am going to|would you"


def outcome(text: str) -> str | None:
    """Return what a message says was done: a piece of it, no longer than a memory should be.

    A message that goes on to do something ("Let me ...", "Now the tests:") tells no outcome.
    """
    text = text[:MOST].rstrip()
    if text.endswith(":"):
        return None
    first = list(islice(sentences(text), _LOOKED_AT))
    telling = next((one for one in first if says_done(one)), None)
    if telling is None or any(_announces(sentence.words) for sentence in first):
        return None
    begin = text.find(telling.text)
    told = "\n".join(filter(None, map(_bare, prose_lines(text[begin : begin + _READ]))))
    return cut_to_memory(_SUMMING_UP.sub(r"\1", told).replace("\n", " "))


def _bare(line: str) -> str:
    """A line without marks of bold text and lists; the number of a point is in brackets."""
    return _NUMBER.sub(r"(\1) ", _CODE_OR_BOLD.sub(r"\1\2", line).lstrip(" #*-•"))


def says_done(sentence: ParsedSentence) -> bool:
    """Tell whether a sentence says that something was done."""
    words = sentence.words
    if sentence.asked or not words:
        return False
    if sums_up(words) or ("now" in words[2:] and words[0] not in _SPEAKERS):
        return True
    return any(
        word in DONE and (place == 0 or words[place - 1] in _BEFORE)
        for place, word in enumerate(words)
    )


def sums_up(words: list[str]) -> bool:
    """Tell whether a sentence only says that a summary follows: "Here's what changed"."""
    return _has(words, _SUMMED_UP)


def _announces(words: list[str]) -> bool:
    summing = "summarize" in words or "summarise" in words
    return not summing and _has(words, _ANNOUNCED)


def _has(words: list[str], phrases: str) -> bool:
    return any(phrase_at(words, place, phrases) for place in range(len(words)))


def cut_to_memory(text: str) -> str:
    """Return as much of a text as a memory may hold, up to the end of a sentence or word."""
    from pmem.core.style_rules import MOST_CHARACTERS, MOST_SENTENCES

    ends = [match.end() for match in _END.finditer(text, 0, MOST_CHARACTERS)][:MOST_SENTENCES]
    if len(ends) < MOST_SENTENCES:
        if len(text) <= MOST_CHARACTERS:
            return text
        if not ends or ends[-1] <= MOST_CHARACTERS // 2:
            ends = [max(0, text.rfind(" ", 0, MOST_CHARACTERS)) or MOST_CHARACTERS]
    return text[: ends[-1]].rstrip(" ,;:-–—(")


_END: Final = lazily(r"(?<!\be\.g)(?<!\bi\.e)[.!?](?=\s)")
_SUMMING_UP: Final = lazily(r"([.!])\s+Here(?:'s|’s| is| are) [^.:!?`\n]{1,60}:(?=\n)")
"""A line's end that says only that points follow, behind what was done."""

_NUMBER: Final = lazily(r"^(\d{1,2})[.)]\s+")
"""The number of a point, which ends no sentence."""

_CODE_OR_BOLD: Final = lazily(r"(`[^`]*`)|\*\*((?:`[^`]*`|[^*`])+)\*\*")
"""Code, which stays as it is, or what stands between the marks of bold text."""
