"""The memory that an app gets of a conversation: two to four whole sentences of it."""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from pmem.core.consent import sensitive
from pmem.core.filters import fold
from pmem.core.text.speech import TALK, speech_of
from pmem.core.text.terms import terms
from pmem.values.defaults import DEFAULT_IMPORTANCE
from pmem.values.records import Message

if TYPE_CHECKING:
    from pmem.core.summaries.clauses import Piece

MOST_SENTENCES: Final = 4
MOST_MESSAGES: Final = 400
"""Of a longer conversation both ends are read: what it was about, and what came of it."""
_PLAIN: Final = 0.5
SHORTEST: Final = 12
"""Characters below which one or two words in ASCII say nothing by themselves."""
_PASSING: Final = "yesterday today tonight tomorrow last next soon"
"""Says nothing to somebody who reads it later."""
_OUTCOME: Final = "Outcome"
"""Stands before what came of it, so that this is none of the last speaker's words."""
_ANNOUNCED: Final = "let me"
_SAID_AT_WORK: Final = f"{_ANNOUNCED}|let us|i will|i am going to|i need to|i want to"
_LOOKED: Final = frozenset(
    """ask check confirm dig double-check examine explain figure find inspect investigate know look
    read review scan search see show tell think try verify view""".split()
)
_LIGHT: Final = frozenset("a also first go have just now quick quickly take then to and".split())
_CLOSED: Final = (".", "!", "。", "！", "…")
_KINDS: Final = ("prose", "remark", "code")
"""Kinds of clauses, those that state facts first."""


def digest(
    messages: Iterable[Message], outcome: str | None, most: int, private: Collection[str] = ()
) -> str:
    """Say in a few sentences of a conversation, on one line, what is worth keeping, if anything is.

    Clauses that state facts come first, then those with the most words that are likely to be
    asked for (see `core.summaries`). None is cut: one that does not fit into `most` characters is
    left out, and so is what is `private` of a person (see `core.consent`).
    """
    said = _ends([item for item in messages if speech_of(item) in TALK])
    closing = _sentence(" ".join((outcome or "").split()))
    chosen: list[tuple[int, str, str]] = []
    if closing and len(closing) <= most and not sensitive(closing, private):
        chosen.append((len(said), _OUTCOME, closing))
    for piece in _best(said):
        entry = _entry(piece, said[piece.message])
        written = _write_digest([*chosen, entry])
        fits = len(written) <= most and not _is_told(entry[2], chosen)
        if fits and not any(sensitive(text, private) for text in (piece.text, entry[2], written)):
            chosen.append(entry)
        if len(chosen) == MOST_SENTENCES:
            break
    return _write_digest(chosen)


def importance(messages: Iterable[Message]) -> float:
    """Return what a conversation's memory is worth, from 0 to 1: as its weightiest kind of fact."""
    from pmem.core.extraction.facts import extract

    said = _ends([item for item in messages if speech_of(item) in TALK])
    kinds = {candidate.type for item in said for candidate in extract(item)}
    return max((DEFAULT_IMPORTANCE[kind] for kind in kinds), default=_PLAIN)


def _entry(piece: "Piece", message: Message) -> tuple[int, str, str]:
    """Return where a clause stands, who says it unless it names its speaker itself, and what."""
    from pmem.core.extraction.third_person import called_in, in_third_person

    speaker = message.speaker or message.role
    text = piece.text + piece.end
    if piece.kind != "prose":
        return piece.message, speaker, text
    told = in_third_person(text, called_in(text, message) or speaker)
    named = "" if told != text else speaker
    return piece.message, named, _sentence(told[:1].upper() + told[1:] if not named else told)


def _ends(said: list[Message]) -> list[Message]:
    half = MOST_MESSAGES // 2
    return said if len(said) <= MOST_MESSAGES else said[:half] + said[-half:]


def _best(said: Sequence[Message]) -> "list[Piece]":
    """Return the clauses that state facts, and then those whose words tell something.

    Words do not if they are everyday ones: "Sounds good", "I will look into it tomorrow".
    """
    from pmem.core.extraction.facts import extract
    from pmem.core.summaries.clauses import called, pieces
    from pmem.core.summaries.summary import ordered
    from pmem.core.summaries.worth import everyday_terms, worths

    names = called(said)
    found = _up_to_date([piece for piece in pieces(said, names) if _states(piece)])
    facts = [[fold(candidate.content) for candidate in extract(message)] for message in said]
    values = worths(found, names)
    plain = everyday_terms().union(terms(_PASSING))
    stated = [
        any(
            form in fact
            for form in _forms(item.text, said[item.message])
            for fact in facts[item.message]
        )
        for item in found
    ]
    telling = (
        place
        for place in ordered(found, values)
        if values[place].keys() - plain and not _announces(found[place])
    )
    kept = dict.fromkeys((*telling, *(place for place, holds in enumerate(stated) if holds)))
    best = sorted(kept, key=lambda place: (not stated[place], _KINDS.index(found[place].kind)))
    return [found[place] for place in best]


def _forms(text: str, message: Message) -> set[str]:
    """Return a clause in its own words and as facts name who says it, folded."""
    from pmem.core.extraction.third_person import called_in, in_third_person, with_others

    speaker = message.speaker or message.role
    alone = in_third_person(text, called_in(text, message) or speaker)
    return set(map(fold, (text, alone, with_others(alone, speaker))))


def _up_to_date(stating: "list[Piece]") -> "list[Piece]":
    """Leave out what a later clause corrects, which then says what it is about."""
    from pmem.core.extraction.facts import outdated, with_corrected

    new = [piece.text for piece in stating]
    gone = outdated(new)
    for before, after in gone.items():
        new[after] = with_corrected(new[after], new[before])
    told = [piece._replace(text=text) for piece, text in zip(stating, new, strict=True)]
    return [piece for place, piece in enumerate(told) if place not in gone]


def _states(piece: "Piece") -> bool:
    """Tell whether a clause can say something: no question, and no bare "Noted" or "In Graz"."""
    short = len(piece.text) < SHORTEST and len(piece.text.split()) < 3 and piece.text.isascii()
    return not short and not piece.end.endswith(("?", "？"))


def _announces(piece: "Piece") -> bool:
    """Tell whether a clause says only what its speaker does next: "Let me check the logs"."""
    from pmem.core.extraction.phrases import opening, phrase_at
    from pmem.core.text.sentences import read

    words = read(piece.text).words
    begin = opening(words)
    lead = phrase_at(words, begin, _ANNOUNCED if piece.by_person else _SAID_AT_WORK)
    verbs = [word for word in words[begin + len(lead) :] if word not in _LIGHT]
    is_at_work = not piece.by_person and lead == ("let", "me")
    return bool(lead) and (is_at_work or not _LOOKED.isdisjoint(verbs[:1]))


def _sentence(text: str) -> str:
    """Return a clause as a sentence of its own."""
    text = " ".join(text.split()).rstrip(",;: ")
    if not text or text.endswith(_CLOSED):
        return text
    is_wide = "\u3040" <= text[-1] <= "\u9fff"
    return f"{text}。" if is_wide else f"{text}."


def _is_told(text: str, chosen: Sequence[tuple[int, str, str]]) -> bool:
    from pmem.core.apps.deciding import adds_little

    words = fold(text).rstrip(".。")
    return any(words in fold(other) or adds_little(text, other) for _, _, other in chosen)


def _write_digest(chosen: Iterable[tuple[int, str, str]]) -> str:
    """Write sentences in their order, each speaker's behind the name."""
    parts: list[str] = []
    last = ""
    for _, name, text in sorted(chosen, key=lambda entry: entry[0]):
        is_plain = not name or name == last or (name == _OUTCOME and not parts)
        parts.append(text if is_plain else f"{name}: {text}")
        last = name
    return " ".join(parts)
