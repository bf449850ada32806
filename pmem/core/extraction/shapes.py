"""What a clause states, by its phrases and by its form."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from pmem.core.extraction.clauses import does
from pmem.core.extraction.cues import CAUSES, CUES, IMPERATIVES, KIN, ROLES
from pmem.core.extraction.phrases import (
    OWNERS,
    Clause,
    Cues,
    fits,
    has_exact,
    is_everyday,
    is_exact,
    is_named,
    matches,
    read_cues,
    subject_of,
)
from pmem.core.text.sentences import ParsedSentence
from pmem.core.text.words import STOP_WORDS
from pmem.values.records import MemoryType

_BE: Final = frozenset(("is", "are"))

_AIMS: Final = frozenset(
    """goal goals objective objectives aim target ambition mission purpose intention
    vision""".split()
)

_AIM_NEXT: Final = frozenset("is are of for this that by with in here".split())

_OWN: Final = frozenset(("our", "my"))

_CHANGES: Final = frozenset(
    """changed renamed bumped upgraded raised lowered increased reduced set configured updated
    downgraded moved switched pointed""".split()
)

_RELEASES: Final = frozenset("deployed released published shipped tagged".split())

_OWNED: Final = frozenset("owned maintained run managed led".split())

_NEEDS: Final = frozenset(("need", "needs", "requires", "require"))
_FLEETING: Final = frozenset(
    """error answer commit result output problem message status reason question build test issue
    point thing""".split()
)
_STATES: Final = frozenset("sorry fine sure done back ready here happy glad sad tired busy".split())
_STEPS: Final = frozenset("way process procedure workflow steps recipe".split())

_ADDRESSED: Final = frozenset("you we first just simply always then also".split())

_CONDITIONS: Final = frozenset("when whenever if after before once".split())

_TALKERS: Final = frozenset("you i we he she they it this that there".split())

_NEEDED: Final = (["you", "have", "to"], ["you", "need", "to"], ["we", "have", "to"])

_SHOWN: Final = (["here", "is", "how"], ["this", "is", "how"], ["here", "are", "the", "steps"])

_ONCE_ONLY: Final = frozenset("have get are can find want need finish like were think see".split())

_EACH: Final = frozenset(("every", "each", "any"))


class StatementMatch(NamedTuple):
    """Where a clause states something, what kind of thing, and how surely."""

    place: int
    type: MemoryType
    confidence: float
    subject: str | None = None


Reader = Callable[[ParsedSentence, Clause], Iterator[StatementMatch]]


def phrased(sentence: ParsedSentence, clause: Clause) -> Iterator[StatementMatch]:
    """Yield what the phrases of `cues.CUES` say about a clause.

    Args:
        sentence: Where the clause stands.
        clause: Its words.
    """
    if _is_reserved(sentence.words, clause):
        yield StatementMatch(clause.begin, MemoryType.CONSTRAINT, 0.75)
    for place, cue in matches(sentence, clause, _cues()):
        after = place + len(cue.words)
        proposed = cue.words[:2] == ("let", "us")
        if not (proposed and is_everyday(sentence.words[after : after + 4])):
            yield StatementMatch(place, MemoryType(cue.label), cue.confidence)


@lru_cache(maxsize=1)
def _cues() -> Cues:
    return read_cues(CUES)


def _is_reserved(words: list[str], clause: Clause) -> bool:
    """Only some may do this, or every one of them needs that."""
    first, rest = words[clause.begin], words[clause.begin + 1 : clause.end]
    if first in ("every", "each", "all") and not _NEEDS.isdisjoint(rest[:4]):
        return "to" not in rest[:6]
    if first == "nobody" and "may" in rest:
        return True
    if "only" not in words[clause.begin : clause.end]:
        return False
    place = words.index("only", clause.begin, clause.end)
    rest = words[place + 1 : min(place + 8, clause.end)]
    return "may" in rest or "allowed" in rest or ("can" in rest and place == clause.begin)


def reported(sentence: ParsedSentence, clause: Clause) -> Iterator[StatementMatch]:
    """Yield the decisions that the speaker reports as his own, for messages of assistants.

    Args:
        sentence: Where the clause stands.
        clause: Its words.
    """
    for hit in phrased(sentence, clause):
        own = subject_of(sentence.words, clause.begin, hit.place) in ("i", "we")
        future = "will" in sentence.words[clause.begin : hit.place + 1]
        if hit.type is MemoryType.DECISION and own and not future:
            yield hit


def caused(sentence: ParsedSentence, clause: Clause) -> Iterator[StatementMatch]:
    """Yield causes that were found: "the problem was that `x` is never set".

    Args:
        sentence: Where the clause stands.
        clause: Its words.
    """
    for place, cue in matches(sentence, clause, _causes()):
        yield StatementMatch(place, MemoryType(cue.label), cue.confidence)


@lru_cache(maxsize=1)
def _causes() -> Cues:
    return read_cues(CAUSES)


def changed(sentence: ParsedSentence, clause: Clause) -> Iterator[StatementMatch]:
    """Yield changes with their outcome: "I changed the port to 8443", "Deployed v2.3".

    Args:
        sentence: Where the clause stands.
        clause: Its words.
    """
    words, (begin, end) = sentence.words, clause
    for place in range(begin, end):
        if words[place] not in _CHANGES and words[place] not in _RELEASES:
            continue
        own = place == begin or fits("ours", sentence, clause, place)
        if "will" in words[begin:place]:
            continue
        if words[place] in _RELEASES:
            passive = place > begin and words[place - 1] in ("been", "was", "is")
            if (own and has_exact(sentence, place + 1, end)) or (
                passive and has_exact(sentence, begin, place)
            ):
                yield StatementMatch(place, MemoryType.FACT, 0.7)
        elif own and has_exact(sentence, _after(words[:end], place + 2, "to"), end):
            yield StatementMatch(place, MemoryType.FACT, 0.7)


def aimed(sentence: ParsedSentence, clause: Clause) -> Iterator[StatementMatch]:
    """Yield goals that are called so: "the goal of this quarter is ...".

    Args:
        sentence: Where the clause stands.
        clause: Its words.
    """
    words = sentence.words
    for place in range(clause.begin + 1, clause.end - 2):
        if words[place] in _AIMS and words[place + 1] in _AIM_NEXT:
            owned = not OWNERS.isdisjoint(words[max(clause.begin, place - 3) : place])
            if owned and not _BE.isdisjoint(words[place + 1 : place + 9]):
                yield StatementMatch(place, MemoryType.GOAL, 0.8)


def valued(sentence: ParsedSentence, clause: Clause) -> Iterator[StatementMatch]:
    """Yield what something of ours is: "our database is PostgreSQL", "my boss is Alec".

    Args:
        sentence: Where the clause stands.
        clause: Its words.
    """
    words = sentence.words
    place = next((i for i in range(clause.begin, clause.end) if words[i] in _BE), clause.end)
    left = words[clause.begin : place]
    if place + 1 >= clause.end or not 2 <= len(left) <= 8 or "," in left:
        return
    value = _value(sentence, place + 1, clause.end)
    exact = value < clause.end and is_exact(sentence, value)
    if left[0] in _OWN and exact and not ROLES.isdisjoint(left) and sentence.capital(value):
        yield StatementMatch(place, MemoryType.ENTITY, 0.85, _name(sentence, value, clause.end))
    elif (
        left[0] in _OWN
        and len(left) > 2
        and ("favourite" in left or "favorite" in left or "preferred" in left)
    ):
        yield StatementMatch(place, MemoryType.PREFERENCE, 0.8)
    elif not _FLEETING.isdisjoint(left):
        return
    elif left[0] == "the" and left[1] in ROLES and exact and sentence.capital(value):
        yield StatementMatch(place, MemoryType.ENTITY, 0.75, _name(sentence, value, clause.end))
    elif left[0] in ("our", "the") and (exact or _is_placed(sentence, place + 1, clause.end)):
        yield StatementMatch(place, MemoryType.FACT, 0.65)


def _is_placed(sentence: ParsedSentence, place: int, end: int) -> bool:
    """Tell whether it says where something is, exactly."""
    if sentence.words[place] not in ("in", "at", "on", "under"):
        return False
    return has_exact(sentence, place + 1, min(end, place + 7))


def known(sentence: ParsedSentence, clause: Clause) -> Iterator[StatementMatch]:
    """Yield who somebody is, or what a name means: "Sarah is our tech lead".

    Args:
        sentence: Where the clause stands.
        clause: Its words.
    """
    words, begin = sentence.words, clause.begin
    if words[begin : begin + 2] == ["i", "am"] and _introduces(sentence, clause):
        yield StatementMatch(begin, MemoryType.ENTITY, 0.8, _name(sentence, begin + 2, clause.end))
    elif words[begin] in _OWN and begin + 2 < clause.end and words[begin + 1] in KIN:
        if is_named(sentence, begin + 2):
            yield StatementMatch(
                begin, MemoryType.ENTITY, 0.7, _name(sentence, begin + 2, clause.end)
            )
    else:
        yield from _read_named_clause(sentence, clause)
    for place in range(begin + 1, clause.end - 2):
        if words[place] in _BE and words[place + 1] in _OWNED and words[place + 2] == "by":
            yield StatementMatch(place, MemoryType.ENTITY, 0.75)


def procedure(sentence: ParsedSentence, begin: int) -> StatementMatch | None:
    """Return the hit of a sentence that says how something is done, if it does.

    Args:
        sentence: The whole sentence.
        begin: Where its statement begins.
    """
    words = sentence.words[begin:]
    if len(words) < 4:
        return None
    sure = (
        0.75 * _is_purpose(words)
        or 0.75 * _is_sequence(words)
        or 0.75 * _is_method(words)
        or 0.7 * _is_reaction(words)
        or 0.65 * _is_habit(words)
    )
    return StatementMatch(begin, MemoryType.PROCEDURE, sure) if sure else None


def _value(sentence: ParsedSentence, place: int, end: int) -> int:
    """The place of what is stated, behind articles and prepositions."""
    while place < end and sentence.words[place] in ("a", "an", "the", "at", "on", "in", "called"):
        place += 1
    return place


def _name(sentence: ParsedSentence, place: int, end: int) -> str | None:
    """The name that begins at a place: its capitalised words, titles included."""
    last = place
    while last < end and last < place + 4 and is_named(sentence, last):
        last += 1
    if last == place:
        return None
    return sentence.text[sentence.places[place][0] : sentence.places[last - 1][1]]


def _introduces(sentence: ParsedSentence, clause: Clause) -> bool:
    place = clause.begin + 2
    if place >= clause.end or not is_named(sentence, place):
        return False
    if sentence.words[place] in _STATES:
        return False
    return place + 1 == clause.end or sentence.words[place + 1] in (",", "and", "from")


def _read_named_clause(sentence: ParsedSentence, clause: Clause) -> Iterator[StatementMatch]:
    """What a clause that opens with a name says about its bearer."""
    words, place = sentence.words, clause.begin
    while place < clause.end and is_named(sentence, place):
        place += 1
    if place == clause.begin or place + 1 >= clause.end:
        return
    name = _name(sentence, clause.begin, clause.end)
    if words[place] in ("from", "in", "at") and place + 3 < clause.end:
        place += 2
    if words[place] == "is" and _is_role(words[place + 1 : clause.end]):
        yield StatementMatch(place, MemoryType.ENTITY, 0.85, name)
    elif does(words, place):
        yield StatementMatch(place, MemoryType.ENTITY, 0.75, name)


def _is_role(words: list[str]) -> bool:
    if words[0] in _OWN:
        return len(words) > 1
    if words[0] not in ("the", "a", "an"):
        return False
    return not ROLES.isdisjoint(words[1:5])


def _is_step(words: list[str], place: int) -> bool:
    """Tell whether an imperative stands at a place, or an address and then one."""
    while place < len(words) and words[place] in _ADDRESSED:
        place += 1
    return place < len(words) and words[place] in IMPERATIVES


def _has_step(words: list[str], begin: int) -> bool:
    """Tell whether an imperative opens what follows, or a later item of it."""
    later = [i + 1 for i in range(begin, len(words)) if words[i] in (",", "and", "then")]
    return any(_is_step(words, place) for place in (begin, *later))


def _after_comma(words: list[str]) -> int:
    return _after(words, 0, ",")


def _after(words: list[str], begin: int, word: str) -> int:
    """The place behind a word's first place from `begin` on, or behind the end."""
    return words.index(word, begin) + 1 if word in words[begin:] else len(words)


def _is_purpose(words: list[str]) -> bool:
    """To do this, do that."""
    if words[0] != "to" and words[:3] != ["in", "order", "to"]:
        return False
    if words[1] in ("be", "me", "us", "my", "the", "a", "you"):
        return False
    if any(words[i : i + 3] in _NEEDED for i in range(2, len(words) - 3)):
        return True
    return "first" in words or _has_step(words, _after_comma(words))


def _is_sequence(words: list[str]) -> bool:
    """First do this, then do that."""
    if words[0] != "first" or "then" not in words or words[1] in STOP_WORDS:
        return False
    return _is_step(words, 1) or words.count("then") > 1


def _is_method(words: list[str]) -> bool:
    """The way to do this is that."""
    if words[:3] in _SHOWN or words[:4] in _SHOWN or "works like this :" in " ".join(words):
        return True
    if words[0] not in OWNERS or words[1] not in _STEPS or words[2] not in ("to", "for", "of"):
        return False
    return not _BE.isdisjoint(words[3:])


def _is_reaction(words: list[str]) -> bool:
    """When this happens, do that."""
    if words[0] not in _CONDITIONS:
        return False
    step = _after_comma(words)
    if words[1] in _TALKERS:
        return words[step : step + 1] == ["always"] and _is_step(words, step)
    return _is_step(words, step)


def _is_habit(words: list[str]) -> bool:
    """Before every release, and every Friday, we do that."""
    if words[:2] == ["we", "always"] and words[2] in IMPERATIVES:
        return True
    timed = (words[0] in _EACH and words[1] != "time") or (
        words[0] in ("before", "after") and words[1] in _EACH
    )
    return timed and ("we" in words[1:7] or _is_step(words, _after_comma(words)))


STATEMENTS: Final[tuple[Reader, ...]] = (phrased, caused, changed, aimed, valued, known)

REPORTS: Final[tuple[Reader, ...]] = (reported, changed, caused)
