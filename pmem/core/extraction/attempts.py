"""What was tried and failed, as people and assistants say it: tried, did not work, taken back.

Few forms count, each with its reason in the same sentence: whoever says why something failed says
it for the next one who thinks of it. What is asked, supposed or planned is none of them.
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
)
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
    """Yield what a text says was tried and failed.

    Args:
        text: What a person or an assistant said.
    """
    for sentence in split_sentences(text):
        if len(sentence) > _LONGEST or sentence.rstrip().endswith("?"):
            continue
        said = " ".join(sentence.split()).rstrip(".!")
        found = next(filter(None, (form.search(said) for form in _FORMS)), None)
        if found is None or _SUPPOSED.search(said[: found.end("tried")]):
            continue
        tried, because = found["tried"].strip(" ,"), found["because"].strip(" ,")
        if len(tried.split()) >= _LEAST and not _VAGUE.fullmatch(tried):
            yield FailedAttempt(tried, because)
