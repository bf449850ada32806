"""What a message tells of: the sentences that make a key moment, and the trouble it reports."""

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import islice
from typing import Final, NamedTuple

from pmem.core.extraction.clauses import clauses, is_hazy, is_own, opening
from pmem.core.extraction.facts import extract
from pmem.core.extraction.phrases import Clause, Cue, Cues, matches, read_cues
from pmem.core.text.sentences import ParsedSentence, sentences
from pmem.core.text.terms import terms
from pmem.values.records import EpisodeType, MemoryType, Message, Role

SURE: Final = 0.8  # confidence of a decision that is a moment
_SENTENCES: Final = 40  # of a message

_TABLE: Final = """
pivot 1 start: new direction :|new strategy :|new approach :|new plan :|scrap that|scrap the
pivot 1 start: let us scrap|let us abandon|forget the|let us drop -onward|let us pivot|instead of
problem_solved 1 free: plays now|runs now|loads now|starts now|opens now|builds now|compiles now
problem_solved 1 free: connects now|prints now|boots now|renders now|syncs now|plays again
problem_solved 1 free: runs again|loads again|starts again|builds again|boots again|is fixed
problem_solved 1 free: are fixed|got fixed|is resolved|are resolved|is solved|are solved
problem_solved 1 free: been fixed|been resolved|been solved|works now|works again|works fine now
problem_solved 1 free: now works|now it works|working again|working now|back up|is back|are back
problem_solved 1 free: back online|tests pass|test passes|tests passed|tests are green|passes now
problem_solved 1 free: pass now|no longer fails|no longer crashes|no longer happens
problem_solved 1 free: problem is gone|error is gone|bug is gone|did the trick|that did it
problem_solved 1 free: that solved it|that fixed it|is gone now|recovered|green again
problem_solved 1 free: back to normal|normal again
issue_identified 1 free: serious problem|critical problem|serious issue|critical issue
issue_identified 1 free: users cannot|customers cannot|nobody can log|returns 500|returns 502
issue_identified 1 free: returns 503|by accident|accidentally deleted|lost our|an outage|data loss
issue_identified 1 free: security hole|a vulnerability|data breach|memory leak|a deadlock in
issue_identified 1 free: a race condition in|a regression in|there is a bug in|found a bug
issue_identified 1 free: found a serious|found a critical|found a nasty|serious bug|critical bug
issue_identified 1 free: production is down|production down
task_completed 1 ours: launched -vague|went live|handed in|turned in|wrapped up -vague|signed the
task_completed 1 ours: deployed -vague|merged -vague|released -vague|published -vague
task_completed 1 ours: shipped -vague|finished +own|completed +own|submitted -vague
task_completed 1 ours: delivered -vague
pivot 1 free: change of plan|change of plans|plans have changed|the plan has changed
pivot 1 ours: no longer +pursue|changed direction|changing direction|changed our mind
pivot 1 ours: changed our plan|pivoting to|pivoted to|are pivoting|abandon|abandoned -vague
pivot 1 ours: abandoning|start over with|starting over with|going in a different direction
problem_solved 1 start: fixed|resolved|solved|i fixed|i have fixed|i solved|i resolved
problem_solved 1 ours: fixed -vague|fixed it|solved -vague|solved it|resolved -vague|resolved it
breakthrough 1 free: root cause is|root cause was|found the root|the culprit was|the culprit is
breakthrough 1 free: turns out +clause|turned out that|it all makes sense|a breakthrough
breakthrough 1 free: the trick was|the trick is|the missing piece|the real reason is
breakthrough 1 free: that explains why|reason was that|it was the whole time|all along
breakthrough 1 ours: finally +discover|figured out why|figured out how|finally got +exact
breakthrough 1 ours: finally managed +exact|finally reached +exact|found the cause
problem_solved 1 thing: work again|work now
breakthrough 1 start: figured out why|figured it out|aha|eureka|we got it|we found out why
pivot 1 we: are going to +instead|will +instead|are now +instead|shifting to|shifted to
issue_identified 1 thing: is gone|are gone|is down|are down|was down|been down|went down|is broken
issue_identified 1 thing: are broken|crashes|crash when|crashes with|is crashing|keeps crashing
issue_identified 1 thing: is blocked|are blocked|is corrupted|are corrupted|is leaking|got hacked
issue_identified 1 thing: leaks|blocks the|blocks our
issue_identified 1 ours: am stuck -there|are stuck -there|are blocked|am blocked|lost all -vague
issue_identified 1 ours: lost the +data|blocked by|blocked on
task_completed 1 free: is done|are done|is finished|are finished|is complete|are complete
task_completed 1 free: is deployed|are deployed|is merged|are merged|is released|is published
task_completed 1 free: are published|is submitted|is live|are live|are migrated|is migrated
task_completed 1 free: been deployed|been merged|been released|been published|been migrated
task_completed 1 free: been submitted|been completed
task_completed 1 start: done|all done|deployed|merged|released|published|shipped|finished +own
task_completed 1 start: completed +own
"""
_ORDER: Final = tuple(
    EpisodeType(name)
    for name in (
        "pivot", "problem_solved", "breakthrough", "issue_identified", "decision_made",
        "task_completed",
    )
)  # fmt: skip
_TROUBLE: Final = frozenset(
    """fail fails failed failing failure crash crashes crashed crashing broken breaks broke error
    errors bug bugs issue issues problem problems timeout timeouts hangs hang hanging leak leaks
    leaking outage exception traceback stuck blocked lost corrupt corrupted flaky regression
    vulnerability deadlock 500 502 503 504 segfault oom incorrect incorrectly freezes frozen
    unreachable panics cannot unable slow red missing wrong stopped empty gone""".split()
)
_TROUBLE_WRITTEN: Final = _TROUBLE | {"down", "working", "can", "cant"}

_JOINED: Final = frozenset(
    "let us is are am have will would not cannot do did does i we going to want".split()
)
"""Words that may be written as part of a contraction."""

_STRONG: Final = frozenset("completely totally entirely utterly absolutely fully".split())

_RELIEF: Final = """fixed fix fixes resolved resolve solved solve works work worked working now
again done root cause culprit reason back thanks finally still"""

_NOT_BEFORE: Final = frozenset(("not", "never", "nothing", "no", "still", "yet", "almost", "will"))


class Sign(NamedTuple):
    """A sentence that tells of a moment, and its clause that does, from one place to another."""

    type: EpisodeType
    sentence: ParsedSentence
    title: str


class MessageBeginning:
    """The beginning of a message; each reading of it is made once, when it is first asked for.

    Attributes:
        message: The message with what is read of it only.
    """

    def __init__(self, message: Message, most: int) -> None:
        """Take the first `most` characters of a message."""
        self.message = _beginning_of(message, most)

    @cached_property
    def sentences(self) -> list[ParsedSentence]:
        """Its first sentences, without words such as "completely"."""
        return [_plain(one) for one in islice(sentences(self.message.content), _SENTENCES)]

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words as they are written, in lower case: a first look before it is read."""
        return frozenset(_word().findall(self.message.content.lower()))

    @cached_property
    def terms(self) -> frozenset[str]:
        """The index terms of its text."""
        return frozenset(terms(self.message.content))

    @cached_property
    def signs(self) -> list[Sign]:
        """What its sentences tell of, the weightiest type of a sentence only."""
        decisions = _decisions(self.message) if self._told else []
        found = []
        for sentence, told in self._told:
            known = dict(told)
            for text in decisions:
                if text in sentence.text:
                    kind = EpisodeType.DECISION_MADE
                    known.setdefault(kind, Sign(kind, sentence, text))
            found += [known[kind] for kind in _ORDER if kind in known][:1]
        return found

    @property
    def asks(self) -> bool:
        """Whether one of its sentences is a question."""
        content = self.message.content
        return ("?" in content or "？" in content) and any(one.asked for one in self.sentences)

    @cached_property
    def solves(self) -> bool:
        """Whether it says that a problem is solved."""
        pivot, solved = EpisodeType.PIVOT, EpisodeType.PROBLEM_SOLVED
        if _keys()[solved].isdisjoint(self.words):
            return False
        return any(solved in known and pivot not in known for _, known in self._told)

    @cached_property
    def trouble(self) -> str:
        """The first sentence or line in which it reports a problem, or nothing."""
        if _is_of_people(self.message) and not _TROUBLE_WRITTEN.isdisjoint(self.words):
            for sentence in self.sentences:
                place = _trouble_place(sentence.words)
                if place is not None and not is_hazy(
                    sentence.words, opening(sentence.words), place
                ):
                    return sentence.text
        for line in self.message.content.splitlines():
            if "Traceback (most" in line or "ERROR" in line or "FAILED" in line:
                return line.strip()
        return ""

    def may_tell(self, kind: EpisodeType) -> bool:
        """Tell whether it may have a sign of a type: false is sure, true is not."""
        return kind is EpisodeType.DECISION_MADE or not _keys()[kind].isdisjoint(self.words)

    @cached_property
    def _told(self) -> list[tuple[ParsedSentence, dict[EpisodeType, Sign]]]:
        """Its sentences in earnest, with the first sign of each type but decisions."""
        if not _is_of_people(self.message):
            return []
        own = [sentence for sentence in self.sentences if is_own(sentence)]
        return [
            (one, {sign.type: sign for sign in reversed(list(_find_signs(one, self.message)))})
            for one in own
        ]


@lru_cache(maxsize=1)
def empty_terms() -> frozenset[str]:
    """The index terms that say no more than that something fails, or works again."""
    return frozenset(terms(f"{' '.join(sorted(_TROUBLE))} {_RELIEF}"))


def _is_of_people(message: Message) -> bool:
    return message.role in (Role.USER, Role.ASSISTANT)


def _plain(sentence: ParsedSentence) -> ParsedSentence:
    """A sentence without words that only make the next one stronger."""
    words = sentence.words
    if _STRONG.isdisjoint(words[:-1]):
        return sentence
    kept = [i for i, word in enumerate(words) if word not in _STRONG or i == len(words) - 1]
    return sentence._replace(
        words=[words[i] for i in kept], places=[sentence.places[i] for i in kept]
    )


@lru_cache(maxsize=1)
def _word() -> re.Pattern[str]:
    return re.compile(r"\w+")


@lru_cache(maxsize=1)
def _keys() -> dict[EpisodeType, frozenset[str]]:
    """For each type words of which a message holds one if it has a sign of that type."""
    found: dict[EpisodeType, set[str]] = {}
    for cues in _cues().values():
        for cue in cues:
            telling = [word for word in cue.words if word not in _JOINED] or [cue.condition[1:]]
            found.setdefault(EpisodeType(cue.label), set()).add(max(telling, key=len))
    return {kind: frozenset(words) for kind, words in found.items()}


@lru_cache(maxsize=1)
def _cues() -> Cues:
    return read_cues(_TABLE)


def _decisions(message: Message) -> list[str]:
    if message.role is not Role.USER:
        return []
    return [
        fact.content
        for fact in extract(message)
        if fact.type is MemoryType.DECISION and fact.confidence >= SURE
    ]


def _find_signs(sentence: ParsedSentence, message: Message) -> Iterator[Sign]:
    begin = opening(sentence.words)
    for clause in clauses(sentence, begin):
        for place, cue in matches(sentence, clause, _cues()):
            if _counts(sentence, clause, begin, place, cue, message):
                yield Sign(EpisodeType(cue.label), sentence, _text(sentence, clause))


def _counts(
    sentence: ParsedSentence, clause: Clause, begin: int, place: int, cue: Cue, message: Message
) -> bool:
    words = sentence.words
    if is_hazy(words, begin, place) or not _NOT_BEFORE.isdisjoint(words[clause.begin : place]):
        return False
    if cue.label == "issue_identified":
        relieved = cue.words[-1] == "gone" and "all" not in words[:place]
        return message.role is Role.USER and not relieved
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


def _trouble_place(words: list[str]) -> int | None:
    """The place of the first word of trouble: "down", "broken", "not working"."""
    for place, word in enumerate(words):
        if word == "down" or word in _TROUBLE or words[place : place + 2] == ["not", "working"]:
            return place
    return None


def _text(sentence: ParsedSentence, clause: Clause) -> str:
    start, end = sentence.places[clause.begin][0], sentence.places[clause.end - 1][1]
    return sentence.text[start:end].strip(" ,;:-–")


def _beginning_of(message: Message, most: int) -> Message:
    """A message with its beginning only."""
    if len(message.content) <= most:
        return message
    return Message(
        id=message.id,
        role=message.role,
        speaker=message.speaker,
        content=message.content[:most],
        created_at=message.created_at,
    )
