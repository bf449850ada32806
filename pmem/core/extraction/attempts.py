"""What was tried and failed, as people and assistants say it.

Few forms count, each with its reason: whoever says why something failed says it for the next one
who thinks of it. Most stand in one sentence. Two need the sentence that follows: a cause with what
to do instead, and a failure after which something else is tried. What is asked, supposed or planned
is none of them.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from pmem.core.text.sentences import split_sentences

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
    re.compile(
        rf"{_WHO}\btried (?P<tried>[^;:?]{{4,160}}?),? (?:but|and|which) "
        rf"(?P<because>[^;?]{{0,60}}?{_FAILURE}[^;?]{{2,200}})$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^(?P<tried>[^;?]{{6,120}}?) (?:did(?:n't| not)|does(?:n't| not)) work,? "
        rf"(?:{_REASON}|:) ?(?P<because>[^;?]{{6,240}})$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_WHO}\b(?:reverted|rolled back|backed out|undid|abandoned|gave up on|dropped) "
        rf"(?P<tried>[^;?]{{4,120}}?),? {_REASON} (?P<because>[^;?]{{6,240}})$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?P<tried>[^,;?]{4,120}?) "
        r"(?P<because>only works? (?:if|when|for|with|on) [^;?]{6,160}?,?"
        r" (?:which|and that|but that) (?:is|are|was|does|do|did)(?:n't| not) [^;?]{4,160})$",
        re.IGNORECASE,
    ),
)
_CAUSE: Final = re.compile(
    r"^(?:the|root|real)? ?(?:issue|problem|cause|catch|trouble)(?: here)? (?:is|was) (?:that )?"
    r"(?P<because>[^?]{12,300})$",
    re.IGNORECASE,
)
_INSTEAD: Final = re.compile(
    r"\b(?:use|using|switch(?:ed|ing)? to|go with|rely on) (?P<worked>[^,;:?]{2,80}?) instead"
    r"(?: of (?P<tried>[^,;:?]{2,80}))?$",
    re.IGNORECASE,
)
_REMEDY: Final = 2
"""Within so many sentences after a cause stands what to do instead."""
_TROUBLE: Final = re.compile(
    r"^(?P<tried>[^,;:?]{4,80}?) (?P<because>(?:(?:still |just )?(?:seems? to|keeps?|fails?|failed)"
    r"|(?:is|are|was|were) (?:still )?(?:having|failing|dropping|refusing|not)"
    r"|(?:does|do|did|can|could)(?:n't|not| not)) [^;?]{6,200})$",
    re.IGNORECASE,
)
_ANOTHER: Final = re.compile(
    r"^(?:so |ok,? |okay,? )?(?:let me|let's|let us|i'll|i will) (?:now )?try "
    r"(?:an?other|a different|one more|an alternative|something else)\b",
    re.IGNORECASE,
)
_CODE: Final = re.compile(r"`[^`]{2,80}`")
_SUPPOSED: Final = re.compile(
    r"\b(?:if|unless|would|should|could|might|may|let me|going to|will|want(?:s|ed)? to|whether)\b",
    re.IGNORECASE,
)
_VAGUE: Final = re.compile(
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
        told = sentence.rstrip(".!")
        yield from _told_at_once(told)
        yield from _told_by_remedy(told, said[place + 1 : place + 1 + _REMEDY])
        yield from _told_by_another(told, said[place + 1 : place + 2])


def _told_at_once(said: str) -> Iterator[FailedAttempt]:
    """Yield what a sentence alone says."""
    found = next(filter(None, (form.search(said) for form in _FORMS)), None)
    if found is not None and not _SUPPOSED.search(said[: found.end("tried")]):
        yield from _named(found["tried"], found["because"])


def _told_by_remedy(said: str, following: list[str]) -> Iterator[FailedAttempt]:
    """Yield the cause of a failure, where what to do instead is said after it."""
    cause = _CAUSE.match(said)
    remedies = (_INSTEAD.search(one.rstrip(".!")) for one in following)
    remedy = next(filter(None, remedies), None) if cause else None
    if cause is not None and remedy is not None:
        code = _CODE.search(cause["because"])
        tried = remedy["tried"] or (f"use {code.group()}" if code else "")
        yield from _named(tried, f"{cause['because']}; use {remedy['worked']} instead")


def _told_by_another(said: str, following: list[str]) -> Iterator[FailedAttempt]:
    """Yield a failure after which its teller tries something else."""
    found = _TROUBLE.match(said) if any(map(_ANOTHER.match, following)) else None
    if found is not None and not _SUPPOSED.search(said):
        yield from _named(found["tried"], f"it {found['because']}")


def _named(tried: str, because: str) -> Iterator[FailedAttempt]:
    """Yield an attempt, if it says what was tried."""
    tried = tried.strip(" ,")
    if len(tried.split()) >= _LEAST and not _VAGUE.fullmatch(tried):
        yield FailedAttempt(tried, because.strip(" ,"))
