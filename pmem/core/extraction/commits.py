"""What a commit's message says that is worth keeping: reverts, decisions and reasons.

Three kinds of messages count: a revert (something was tried, and failed), trailers such as
`Constraint:` and `Rejected: this | why` (arXiv 2603.15566), and bodies that give a reason.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from pmem.core.lines import split_lines
from pmem.core.outcomes import describe_attempt
from pmem.values.records import MemoryType

_MOST_REASONS: Final = 2
"""Sentences with a reason that are taken of one message."""
_SHORTEST, _LONGEST = 40, 320
_REVERT: Final = re.compile(
    r"(?:Revert|Back[ -]?out|Roll[ -]?back)(?:s|ed)?(?:\([^)]{1,40}\))?!?:? ?"
    r'"(?P<quoted>.{3,200})"\W{0,3}$'
    r'|Revert(?:\([^)]{1,40}\))?!?:? (?!to\b)(?P<bare>[^"]{3,200})$',
    re.IGNORECASE,
)
_SUBJECT_REASON: Final = re.compile(
    r"(?P<tried>[^:]{3,80}?)(?:,? because |(?:: | [-–—] )(?=(?:it|they|we|the|this|that|there)\b))"
    r"(?P<why>\S+(?: \S+){2,})",
    re.IGNORECASE,
)
"""What was taken back, and behind a colon or a dash a sentence that says why."""
_HOLLOW: Final = re.compile(
    r"(?:(?:a |the )?(?:initial|first|more|minor|small|some|various|misc|wip)\b ?)*"
    r"(?:commit|start|init|wip|update|change|fix|fixe|tweak|edit|cleanup|work|misc|stuff)?s?\.?",
    re.IGNORECASE,
)
"""A subject that says nothing."""
_AGAIN: Final = re.compile(r'(?:Reapply|Reland|Revert "Revert|Revert "Reapply)\b', re.IGNORECASE)
_OUGHT: Final = re.compile(r"This reverts (?:commit|PR|pull request)\b.*", re.IGNORECASE)
_TRAILER: Final = re.compile(r"(?P<key>[A-Z][A-Za-z]{2,20}): (?P<value>\S.*)")
_MARKS: Final = re.compile(
    r"^[\w,./-]{1,25}(?:\([^)]{1,40}\))?!?: |\s*\(#\d{1,7}\)$|^\[[^\]]{1,30}\] ?"
)
_REASON: Final = re.compile(
    r"\b(?:because|turn(?:s|ed) out|otherwise|to avoid|so that we"
    r"|no longer (?:need|work|support)\w*|is not (?:safe|supported|reliable|possible))\b",
    re.IGNORECASE,
)
_SOFT_REASON: Final = re.compile(
    r"\b(?:since (?:it|the|this|that|we|they|there)\b"
    r"|as (?:it|this|that|they) (?:breaks?|broke|causes?|caused|fails?|failed|leads?|would)\b"
    r"|due to|caus(?:es|ed|ing) |breaks? |broke |crash(?:es|ed) |le(?:ads|d) to "
    r"|fail(?:s|ed)? (?:on|with|when|under|if|for)\b"
    r"|(?:does|did|do)(?:n't| not) (?:work|support)\b)",
    re.IGNORECASE,
)
"""What gives a reason more often than not: such sentences come after those that surely do."""
_REVERT_REASON: Final = re.compile(r"(?:Reason for (?:the )?revert|Why|Reason): +", re.IGNORECASE)
_BULLET: Final = re.compile(r"^\s*[-*+] +")
_CHOICE: Final = re.compile(r"\b(?:instead of|rather than)\b", re.IGNORECASE)
_CHOOSING: Final = re.compile(
    r"(?:use|switch|replace|move|drop|remove|prefer|avoid|disable|pin|require|stop|migrate)\b",
    re.IGNORECASE,
)
_SIGNED: Final = re.compile(r"[A-Z][a-z]+(?:-[A-Za-z]+)+: ")
_NOISE: Final = re.compile(r"https?://|```|^\s*[-*#>|+]|^\s{2,}\S|[{};]$|\b[0-9a-f]{12,}\b|@\w+\.")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'`(])")
_BOT: Final = re.compile(r"\[bot\]|dependabot|renovate", re.IGNORECASE)
_TYPES: Final = {
    "Constraint": MemoryType.CONSTRAINT,
    "Directive": MemoryType.CONSTRAINT,
    "Decision": MemoryType.DECISION,
    "Rejected": MemoryType.DECISION,
}
_SURE, _TOLD, _LIKELY, _SOFT, _BARE, _FAINT, _NO_REASON = 0.85, 0.8, 0.65, 0.55, 0.5, 0.4, 0.3


class CommitClaim(NamedTuple):
    """What a commit says, how sure that is; of a dead end what was tried, and why it failed."""

    type: MemoryType
    content: str
    confidence: float
    tried: str | None = None
    because: str | None = None


def proposals_of(text: str, author: str = "") -> Iterator[CommitClaim]:
    """Yield what a commit's message says that is worth keeping.

    Authors that are programs, which keep dependencies fresh, give no reasons.
    """
    subject, _, body = text.partition("\n")
    if _BOT.search(author) or _AGAIN.match(subject):
        return
    reverted = reverted_subject(text)
    if reverted is not None:
        yield _dead_end(reverted, body)
        return
    yield from _of_trailers(subject, body)
    yield from _of_reasons(subject, body)


def reverted_subject(text: str) -> str | None:
    """Return the subject of the commit that a commit takes back, if it does that."""
    found = _REVERT.match(text.partition("\n")[0].strip())
    return None if found is None else (found["quoted"] or found["bare"]).strip()


def plain_subject(subject: str) -> str:
    """Return a subject without what only sorts it: `fix(api): `, `[core] `, ` (#12)`."""
    while True:
        shorter = _MARKS.sub("", subject.strip(), count=1).strip()
        if shorter == subject:
            return subject
        subject = shorter


def _dead_end(reverted: str, body: str) -> CommitClaim:
    tried = plain_subject(reverted)
    said = _SUBJECT_REASON.fullmatch(tried)
    tried, why = (said["tried"], said["why"]) if said else (tried, "")
    told = (_why_reverted(_OUGHT.sub("", body)), why)
    because, confidence = next((it for it in told if len(it) >= len("it broke")), ""), _TOLD
    if not because:
        because, confidence = "it was reverted, and the commit gives no reason", _NO_REASON
    content = describe_attempt(tried, because)
    return CommitClaim(MemoryType.DEAD_END, content, confidence, tried, because)


def _why_reverted(body: str) -> str:
    """Return the first sentences of what a revert says, in prose or in lists."""
    lines = (_BULLET.sub("", line) for line in split_lines(body))
    noise = (_NOISE.search, _TRAILER.fullmatch, _SIGNED.match)
    said = [line for line in map(str.strip, lines) if not any(is_it(line) for is_it in noise)]
    why = _REVERT_REASON.sub("", " ".join(" ".join(said).split()))
    return " ".join(_SENTENCE_END.split(why)[:_MOST_REASONS])[:_LONGEST].strip()


def _of_trailers(subject: str, body: str) -> Iterator[CommitClaim]:
    for line in split_lines(body):
        found = _TRAILER.fullmatch(line.strip())
        type_ = found and _TYPES.get(found["key"])
        if not found or type_ is None:
            continue
        value = found["value"].strip()
        if found["key"] == "Rejected":
            what, _, why = map(str.strip, value.partition("|"))
            because = f": {why}" if why else ""
            done = plain_subject(subject)
            value = f"{done}, instead of {what}" if _says(done) else f"{what} was rejected"
            value += because
        yield CommitClaim(type_, value, _SURE)


def _of_reasons(subject: str, body: str) -> Iterator[CommitClaim]:
    """Yield the sentences that give a reason, each behind what the commit does."""
    title = plain_subject(subject)
    chosen = _CHOOSING.match(title) is not None
    said = [sentence for part in _paragraphs(body) for sentence in _SENTENCE_END.split(part)]
    reasons = [(_weight_of(sentence, chosen=chosen), sentence) for sentence in said]
    given = sorted((one for one in reasons if one[0]), key=lambda one: -one[0])[:_MOST_REASONS]
    type_ = MemoryType.DECISION if chosen else MemoryType.FACT
    for confidence, sentence in given:
        told = f"{title.rstrip('.')}. {sentence}" if _says(title) else sentence
        yield CommitClaim(type_, told, confidence)


def _says(subject: str) -> bool:
    return not _HOLLOW.fullmatch(subject)


def _weight_of(sentence: str, *, chosen: bool) -> float:
    """Return how surely a sentence gives a reason; 0 for one that does not."""
    if not _SHORTEST <= len(sentence) <= _LONGEST or _NOISE.search(sentence):
        return 0.0
    if _REASON.search(sentence) or (chosen and _CHOICE.search(sentence)):
        return _LIKELY if chosen else _BARE
    if _SOFT_REASON.search(sentence):
        return _SOFT if chosen else _FAINT
    return 0.0


def _paragraphs(body: str) -> Iterator[str]:
    """Yield the prose of a message: no lists, quotes, code or trailers."""
    for block in re.split(r"\n\s*\n", body):
        lines = split_lines(block.strip("\n"))
        if lines and not any(_NOISE.search(line) or _TRAILER.fullmatch(line) for line in lines):
            yield " ".join(" ".join(lines).split())
