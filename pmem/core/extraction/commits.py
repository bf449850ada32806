"""What a commit's message says that is worth keeping: what was taken back, decided, and why.

Three kinds of messages do: a revert (something was tried, and failed), trailers such as
`Constraint:` and `Rejected: this | why` (arXiv 2603.15566), and bodies that give a reason.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from pmem.core.dead_ends import describe_attempt
from pmem.values.records import MemoryType

_MOST_REASONS: Final = 2
"""Sentences with a reason that are taken of one message."""
_SHORTEST, _LONGEST = 40, 320
_REVERT: Final = re.compile(r'(?:Revert|Back out|Roll ?back)s?:? "(?P<what>.{3,200})"\W{0,3}$')
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
_CHOICE: Final = re.compile(r"\b(?:instead of|rather than)\b", re.IGNORECASE)
_CHOOSING: Final = re.compile(
    r"(?:use|switch|replace|move|drop|remove|prefer|avoid|disable|pin|require|stop|migrate)\b",
    re.IGNORECASE,
)
_NOISE: Final = re.compile(r"https?://|```|^\s*[-*#>|+]|^\s{2,}\S|[{};]$|\b[0-9a-f]{12,}\b|@\w+\.")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'`(])")
_BOT: Final = re.compile(r"\[bot\]|dependabot|renovate", re.IGNORECASE)
_TYPES: Final = {
    "Constraint": MemoryType.CONSTRAINT,
    "Directive": MemoryType.CONSTRAINT,
    "Decision": MemoryType.DECISION,
    "Rejected": MemoryType.DECISION,
}
_SURE, _TOLD, _LIKELY, _BARE = 0.85, 0.8, 0.65, 0.5


class CommitClaim(NamedTuple):
    """What a commit says, how sure that is; of a dead end what was tried, and why it failed."""

    type: MemoryType
    content: str
    confidence: float
    tried: str | None = None
    because: str | None = None


def proposals_of(text: str, author: str = "") -> Iterator[CommitClaim]:
    """Yield what a commit's message says that is worth keeping.

    Args:
        text: The message.
        author: Who wrote it; programs that keep dependencies fresh give no reasons.
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
    return None if found is None else found["what"].strip()


def plain_subject(subject: str) -> str:
    """Return a subject without what only sorts it: `fix(api): `, `[core] `, ` (#12)`."""
    while True:
        shorter = _MARKS.sub("", subject.strip(), count=1).strip()
        if shorter == subject:
            return subject
        subject = shorter


def _dead_end(reverted: str, body: str) -> CommitClaim:
    tried = plain_subject(reverted)
    why = " ".join(_paragraphs(_OUGHT.sub("", body)))
    because = " ".join(_SENTENCE_END.split(why)[:_MOST_REASONS])[:_LONGEST].strip()
    if len(because) < len("it broke"):
        because, confidence = "it was reverted", _BARE
    else:
        confidence = _TOLD
    content = describe_attempt(tried, because)
    return CommitClaim(MemoryType.DEAD_END, content, confidence, tried, because)


def _of_trailers(subject: str, body: str) -> Iterator[CommitClaim]:
    for line in body.splitlines():
        found = _TRAILER.fullmatch(line.strip())
        type_ = found and _TYPES.get(found["key"])
        if not found or type_ is None:
            continue
        value = found["value"].strip()
        if found["key"] == "Rejected":
            what, _, why = map(str.strip, value.partition("|"))
            because = f": {why}" if why else ""
            value = f"{plain_subject(subject)}, instead of {what}{because}"
        yield CommitClaim(type_, value, _SURE)


def _of_reasons(subject: str, body: str) -> Iterator[CommitClaim]:
    """Yield the sentences that give a reason, each behind what the commit does."""
    title = plain_subject(subject)
    found = 0
    for paragraph in _paragraphs(body):
        for sentence in _SENTENCE_END.split(paragraph):
            chosen = _CHOOSING.match(title) is not None
            gives_one = _REASON.search(sentence) or (chosen and _CHOICE.search(sentence))
            fits = _SHORTEST <= len(sentence) <= _LONGEST and gives_one
            if not fits or _NOISE.search(sentence) or found == _MOST_REASONS:
                continue
            found += 1
            type_ = MemoryType.DECISION if chosen else MemoryType.FACT
            yield CommitClaim(
                type_, f"{title.rstrip('.')}. {sentence}", _LIKELY if chosen else _BARE
            )


def _paragraphs(body: str) -> Iterator[str]:
    """Yield the prose of a message: no lists, quotes, code or trailers."""
    for block in re.split(r"\n\s*\n", body):
        lines = block.strip("\n").splitlines()
        if lines and not any(_NOISE.search(line) or _TRAILER.fullmatch(line) for line in lines):
            yield " ".join(" ".join(lines).split())
