"""Key moments of work with an assistant, found by the shape of the dialogue.

Where tools are called, a person's words and the last words of each turn are what counts. A
person who reports trouble, or pastes it, raises an issue; one who rules or chooses decides; and an
assistant that says what was done has solved the open issue, or completed the task. An issue is
open until something was done about it and its reporter goes on with something else.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from pmem.core.extraction.attempts import outcome, sums_up
from pmem.core.extraction.cues import IMPERATIVES, SETS
from pmem.core.extraction.facts import extract, stated
from pmem.core.extraction.phrases import (
    Clause,
    Cue,
    Cues,
    clauses,
    is_hazy,
    matches,
    opening,
    phrase_at,
    read_cues,
)
from pmem.core.text.blocks import BlockKind, blocks
from pmem.core.text.sentences import ParsedSentence, read, sentences
from pmem.core.text.speech import is_talk
from pmem.core.text.terms import terms
from pmem.values.patterns import lazily
from pmem.values.records import EpisodeType, MemoryType, Message, Role

SURE: Final = 0.8  # confidence of a decision that is a moment
_SENTENCES: Final = 40  # of a message
TABLE: Final = """
pivot 1 start: new *plan :|scrap that|scrap the|forget the|let us *drop -onward|instead of
pivot 1 free: change of plan|change of plans|*plan has changed|*plan have changed
pivot 1 ours: no longer +pursue|changed direction|changed our *plan|are pivoting|pivoting to
pivot 1 ours: abandon|abandoned -vague
pivot 1 we: are going to +instead|will +instead|are now +instead
problem_solved 1 free: *works now|*works again|*works fine now|now *works|now it works
problem_solved 1 free: *be *fixed|is back|are back|back up|back online|back to normal
problem_solved 1 free: tests pass|test passes|tests passed|no longer *fails|that did it
problem_solved 1 free: did the trick|that *fixed it|*problem is gone
problem_solved 1 start: *fixed
problem_solved 1 ours: *fixed -vague|*fixed it
issue_identified 1 free: *serious *problem|found a *serious|a *problem in|memory leak|security hole
issue_identified 1 free: production is down|returns *status|users cannot|customers cannot
issue_identified 1 free: by accident|an outage|data loss|data breach
issue_identified 1 thing: *be *broken|crashes|crash when|keeps crashing|leaks|blocks the|blocks our
issue_identified 1 ours: am stuck|are stuck|*be blocked|am blocked
issue_identified 1 ours: blocked by|blocked on|lost all -vague|lost the +data
task_completed 1 ours: *shipped -vague|went live|handed in|finished +own|completed +own
task_completed 1 free: *be *finished|*be *shipped
task_completed 1 start: done|all done|*shipped|finished +own|completed +own
breakthrough 1 free: root cause *was|the culprit *was|the trick *was|found the root|found the cause
breakthrough 1 free: turns out +clause|turned out that|that explains why
breakthrough 1 ours: finally +discover|figured out why|figured out how
breakthrough 1 start: figured it out|aha|eureka|we got it
"""
_ORDER: Final = tuple(
    EpisodeType(name)
    for name in (
        "pivot", "problem_solved", "breakthrough", "issue_identified", "decision_made",
        "task_completed",
    )
)  # fmt: skip
TROUBLE: Final = frozenset(
    """fail fails failed failing failure crash crashes crashed crashing broken breaks broke error
    errors bug bugs issue issues problem problems timeout timeouts hangs hang hanging leak leaks
    leaking outage exception traceback stuck blocked lost corrupt corrupted flaky regression
    vulnerability deadlock 500 502 503 504 segfault oom incorrect incorrectly freezes frozen
    unreachable panic panics cannot unable slow red missing wrong stopped empty gone down denied
    twice duplicates""".split()
)
_DENIALS: Final = """
is not|are not|does not|did not|was not|were not|has not|have not|will not|left out|no longer
"""
_WORK: Final = frozenset("run write fix make".split()) | IMPERATIVES | set(SETS["request"].split())
_REPORTED: Final = 4  # sentences of a message, in which trouble is looked for
_SHOWN: Final = frozenset((BlockKind.PROSE, BlockKind.LOG, BlockKind.CODE))
_RELIEF: Final = """fixed fix fixes resolved resolve solved solve works work worked working now
again done root cause culprit reason back thanks finally still"""


class Sign(NamedTuple):
    """A sentence that tells of a moment, and the words of its clause that does."""

    type: EpisodeType
    sentence: ParsedSentence
    title: str


class MessageReading(NamedTuple):
    """What stands in the beginning of a message; of each sentence the weightiest sign.

    `trouble` is the first sentence or line in which it reports a problem, or nothing.
    """

    sentences: tuple[ParsedSentence, ...]
    signs: tuple[Sign, ...]
    trouble: str
    terms: frozenset[str]

    def tells(self, kind: EpisodeType) -> bool:
        """Tell whether it has a sign of a type."""
        return any(sign.type is kind for sign in self.signs)


def reading(message: Message, most: int) -> MessageReading:
    """Read the beginning of a message; the same is read once."""
    return _read_text(message.content[:most], message.role)


@lru_cache(maxsize=256)
def _read_text(text: str, role: Role) -> MessageReading:
    own = tuple(islice(sentences(text), _SENTENCES))
    is_tool = role not in (Role.USER, Role.ASSISTANT)
    return MessageReading(
        sentences=own,
        signs=() if is_tool else tuple(_signs(own, role)),
        trouble=pasted_trouble(text) if is_tool else trouble(own, text),
        terms=frozenset(terms(text)),
    )


def trouble(said: Iterable[ParsedSentence], text: str) -> str:
    """Return the sentence or line in which somebody reports trouble or pastes it, or nothing."""
    told = (one.text for one in islice(said, _REPORTED) if _reports(one.words))
    return next(told, "") or pasted_trouble(text)


def _reports(words: list[str]) -> bool:
    if not words or words[0] in _WORK:
        return False
    for place, word in enumerate(words):
        if word in TROUBLE or phrase_at(words, place, _DENIALS):
            return not is_hazy(words, opening(words), place)
    return False


def pasted_trouble(text: str) -> str:
    """Return the first line that a program wrote of its trouble, or a prompt, or nothing."""
    shown = "\n".join(block.text for block in blocks(text) if block.kind in _SHOWN)
    pasted = _PROGRAM.search(shown)
    return "" if pasted is None else pasted.group().strip()


_PROGRAM: Final = lazily(
    r"(?im)^[ \t]{0,8}(?:[❯$%>] \S.*|\w{0,30}error\b.{0,40}:.*|(?-i:ERROR).*|fatal:.*"
    r"|traceback \(.*|panic:.*|failed?[: ].*)"
)


@lru_cache(maxsize=1)
def empty_terms() -> frozenset[str]:
    """The index terms that say no more than that something fails, or works again."""
    return frozenset(terms(f"{' '.join(sorted(TROUBLE))} {_RELIEF}"))


def _signs(own: tuple[ParsedSentence, ...], role: Role) -> Iterator[Sign]:
    """Yield of each sentence in earnest its weightiest sign."""
    for sentence in (one for one in own if not one.asked):
        found = {sign.type: sign for sign in reversed(list(_find_signs(sentence, role)))}
        yield from [found[kind] for kind in _ORDER if kind in found][:1]


@lru_cache(maxsize=1)
def _cues() -> Cues:
    return read_cues(TABLE)


def _find_signs(sentence: ParsedSentence, role: Role) -> Iterator[Sign]:
    begin = opening(sentence.words)
    for clause in clauses(sentence, begin):
        for place, cue in matches(sentence, clause, _cues()):
            if _counts(sentence, clause, begin, place, cue, role):
                yield Sign(EpisodeType(cue.label), sentence, _text(sentence, clause))
    for fact in stated(sentence, role) if role is Role.USER else ():
        if fact.type is MemoryType.DECISION and fact.confidence >= SURE:
            yield Sign(EpisodeType.DECISION_MADE, sentence, fact.content)


def _counts(
    sentence: ParsedSentence, clause: Clause, begin: int, place: int, cue: Cue, role: Role
) -> bool:
    words = sentence.words
    if is_hazy(words, begin, place):
        return False
    if cue.label == "issue_identified":
        relieved = cue.words[-1] == "gone" and "all" not in words[:place]
        return role is Role.USER and not relieved
    if cue.label == "task_completed":
        return _is_finished(words, clause, place, cue)
    return cue.words[0] != "instead" or "now" in words or "we" in words[place + 2 :]


def _is_finished(words: list[str], clause: Clause, place: int, cue: Cue) -> bool:
    """Tell "the guide is done" from "I am done" and "done with this week"."""
    after = words[place + len(cue.words) : clause.end]
    if after[:1] == ["with"]:
        return False
    if cue.words == ("done",):
        return words[:1] != ["well"] and (not after or after[0] in (",", ":", "–", "—"))
    return place > clause.begin or len(after) > 0 or cue.words[-1] in ("deployed", "merged")


def _text(sentence: ParsedSentence, clause: Clause) -> str:
    start, end = sentence.places[clause.begin][0], sentence.places[clause.end - 1][1]
    return sentence.text[start:end].strip(" ,;:-–")


READ: Final = 1000  # characters of a message
_STEPS: Final = 6  # tool messages of a turn that was a task
_CURT: Final = 3  # words; a message of so few only says to go on
_BARE: Final = 2  # words of "Done" or "All set"
_CHOICE: Final = 200  # characters of an answer to options
_RULES: Final = (MemoryType.DECISION, MemoryType.CONSTRAINT)
_ASKING: Final = (["can"], ["could"], ["would"])
_SENT: Final = frozenset("committed merged pushed released deployed published".split())


class Turn(NamedTuple):
    """What a message makes of a dialogue: `told` are the words that tell of it.

    It began at the message at `first`, where `source` was reported or asked for, or nothing.
    """

    type: EpisodeType
    title: str
    summary: str
    told: str
    first: int
    source: str


class _Open(NamedTuple):
    """The issue that is open: where it was reported, and whether something was done about it."""

    place: int
    told: str
    done: bool


def is_work(said: Sequence[Message]) -> bool:
    """Tell whether tools were called in a dialogue."""
    return any(message.tool_call is not None for message in said)


def turn_of(said: Sequence[Message]) -> Turn | None:
    """Return what the last message makes of a dialogue, if it does."""
    last = len(said) - 1
    issue: _Open | None = None
    asked, steps, has_told = last, 0, False
    for place, message in enumerate(said):
        beginning = message.content[:READ]
        if not is_talk(message):
            steps += 1
        elif message.role is Role.USER:
            told = _trouble(beginning)
            is_new = issue is None or issue.done
            if place == last:
                return _of_person(message, told if is_new else "", last)
            if told:
                issue = _Open(place, told, done=False)
            elif issue is not None and issue.done:
                issue = None
            is_request = len(beginning.split()) > _CURT
            asked, steps, has_told = place if is_request else asked, 0, False
        elif (done := _done(beginning)) is not None:
            if place == last:
                return None if has_told else _of_assistant(said, done, issue, asked, steps)
            has_told = True
            issue = None if issue is None else issue._replace(done=True)
    return None


def _of_person(message: Message, report: str, place: int) -> Turn | None:
    if report:
        return _turn(EpisodeType.ISSUE_IDENTIFIED, report, place)
    rule = next((fact for fact in extract(message) if fact.type in _RULES), None)
    if rule is not None:
        return _turn(EpisodeType.DECISION_MADE, rule.content, place)
    text = message.content.strip()
    is_choice = len(text) <= _CHOICE and _OPTION.search(text) is not None
    asks = any(one.asked or one.words[:1] in _ASKING for one in sentences(text[:_CHOICE]))
    return _turn(EpisodeType.DECISION_MADE, text, place) if is_choice and not asks else None


def _of_assistant(
    said: Sequence[Message], done: str, issue: _Open | None, asked: int, steps: int
) -> Turn | None:
    if issue is not None and not issue.done and (issue.place >= asked or _on_one(issue.told, done)):
        return _turn(EpisodeType.PROBLEM_SOLVED, done, issue.place, issue.told)
    if steps < _STEPS and read(done).words[0] not in _SENT:
        return None
    told = () if asked == len(said) - 1 else sentences(said[asked].content[:READ])
    request = next((one.text for one in told), "")
    return _turn(EpisodeType.TASK_COMPLETED, done, asked, request)


def _on_one(told: str, done: str) -> bool:
    """Tell whether what was done may be about what was reported some requests before."""
    return not (frozenset(terms(told)) - empty_terms()).isdisjoint(terms(done))


def _turn(kind: EpisodeType, told: str, first: int, source: str = "") -> Turn:
    told = " ".join(told.split())
    summary = f"{source.rstrip(' .!?')}. {told}" if source else told
    is_outcome = kind in (EpisodeType.PROBLEM_SOLVED, EpisodeType.TASK_COMPLETED)
    title = _outcome_title(told, source) if is_outcome else told
    return Turn(kind, title, summary, told, first, source)


def _outcome_title(told: str, source: str) -> str:
    """What was done: the first sentence that says more than "Committed" or that a list follows.

    Where neither of the first two does, it is what was asked for.
    """
    for sentence in islice(sentences(told), 2):
        title = _FIRST_POINT.sub("", sentence.text)
        if len(title.split()) > _BARE and title[-1] != ":" and not sums_up(read(title).words):
            return title
    return source or told.partition(":")[2].strip() or told


_FIRST_POINT: Final = lazily(r":? \(1\)(?:\s.*)?$")
"""The number of a first point, and all that follows."""


@lru_cache(maxsize=128)
def _done(text: str) -> str | None:
    return outcome(text)


@lru_cache(maxsize=128)
def _trouble(text: str) -> str:
    return trouble((one for one in sentences(text) if not one.asked), text)


_OPTION: Final = lazily(
    r"(?i)\b(?:options? (?:\d|[a-e]\b)|both\b|neither\b"
    r"|the (?:first|second|third|last) (?:one|option))|(?<!\S)#\d\b"
)
