"""A statement in the third person: its speaker's name in place of "I" and "my".

A request says who asked, "let me" who wants to, and a report without a subject who did it. "We"
are the speaker and others, which is all that the word says; but a decision that one person tells,
or proposes, names that person alone. Everything else stays in its own words.
"""

from collections.abc import Collection, Mapping
from itertools import groupby
from typing import Final

from pmem.core.extraction.cues import DONE, IMPERATIVES, SETS
from pmem.core.extraction.phrases import BREAKS
from pmem.core.extraction.shapes import deciding
from pmem.core.text.sentences import ParsedSentence, read
from pmem.core.text.words import STOP_WORDS
from pmem.values.records import Message, Role

AND_OTHERS: Final = "and others"
_GENERIC: Final = {"user": "the user", "human": "the user", "assistant": "the assistant"}
_FORMS: Final = {
    **{"am": "is", "are": "is", "were": "was"},
    **{"have": "has", "do": "does", "go": "goes", "try": "tries"},
    **{verb: f"{verb}s" for verb in "need feed speed embed exceed proceed succeed".split()},
}
_ALL: Final = frozenset(("all", "both"))
_SAME: Final = frozenset(
    """was had did will would can could should must may might shall cannot was went chose took made
    bought got said told thought found left met built grew began became came gave knew saw spoke
    wrote felt kept lost paid sent sold slept spent stood taught understood won ran put set cut hit
    let read drove ate fell heard held led meant rode sang sat swam threw wore broke brought caught
    forgot hurt quit shut""".split()
)
"""Verbs that have no other form behind a name: past ones and auxiliaries."""
_LEADS_IN: Final = frozenset("please let us lets now just also go ahead and".split())
_REQUESTS: Final = (
    ("make", "sure"), ("ensure",), ("mention",), ("be", "sure"),
    *((word,) for word in SETS["request"].split()),
)  # fmt: skip
_ADDING: Final = frozenset(("and", "or", "but"))
_VERBS: Final = frozenset("am do enjoy go hate have like love need prefer think use want".split())
_LIKELY_VERBS: Final = IMPERATIVES | frozenset("live play speak study teach work".split())
_ALL_VERBS: Final = _VERBS | _LIKELY_VERBS
_SOME_VERBS: Final = frozenset(("become", "like", "own"))
"""Verbs among the stop words."""
_SMALL: Final = BREAKS | {"others", "asked", "please"}
_YOU: Final = frozenset("you your yours yourself".split())
_OTHERS: Final = frozenset(
    """he she it they him her them his hers its their theirs himself herself itself
    themselves""".split()
)
_MARKS: Final = ("/", "@", "#", "'", "‘")
"""What stands before a word that is a path's or a handle's, or is only quoted."""
_BETWEEN: Final = frozenset("just also always never really still now already then often".split())


def called_in(text: str, message: Message) -> str | None:
    """Return what a statement calls its speaker: "user" for who has no name, or tells it."""
    name = message.speaker
    if message.role is Role.USER and (name is None or _tells_name(text, name.casefold())):
        return "user"
    return name


def _tells_name(text: str, name: str) -> bool:
    """Tell "My name is Mira", as Mira says it."""
    pieces = (text[start:end] for start, end in read(text).places)
    return {piece.casefold() for piece in pieces if piece[0].isupper()}.issuperset(name.split())


def in_third_person(text: str, speaker: str | None) -> str:
    """Return a statement that names its speaker where that is who it is about.

    Without a speaker it stays as it was.

    "user" and "assistant" are no names.
    """
    if speaker is None:
        return text
    name = _GENERIC.get(speaker.casefold(), speaker)
    sentence = read(text)
    forms = dict.fromkeys(("i", "me", "myself"), name) | dict.fromkeys(("my", "mine"), f"{name}'s")
    verbs = {place: _agreed(sentence.words[place]) for place in _own_verbs(sentence.words)}
    told = _with_words(sentence, forms, verbs, _beginning(sentence, name))
    return told[:1].upper() + told[1:] if told.startswith(name) else told


def with_others(text: str, speaker: str | None) -> str:
    """Return a statement with its speaker and others for "we", and "the" for "our".

    Nobody else is said to have decided. Without a name it stays as it was.
    """
    if speaker is None or speaker.casefold() in _GENERIC:
        return text
    sentence, we = read(text), f"{speaker} {AND_OTHERS}"
    words = sentence.words
    is_wish = words[:2] == ["let", "us"] and len(words) > 2
    beginning = (f"{speaker} wants to", sentence.places[1][1]) if is_wish else ("", 0)
    alone: dict[int, str] = {}
    for place in deciding(sentence):
        verb = place + 1
        if not _ALL.isdisjoint(words[verb : verb + 2]):
            alone[place] = "we"
            continue
        while _is_adverb(words[verb]):
            verb += 1
        alone |= {place: speaker, verb: _agreed(words[verb])}
    told = _with_words(sentence, {"we": we, "us": we, "our": "the"}, alone, beginning)
    is_begun = text[:1].isupper() or told.startswith(speaker)
    return told[:1].upper() + told[1:] if is_begun else told


def leaves_open(text: str, speaker: str | None) -> bool:
    """Tell whether a statement has a pronoun before anything that this could stand for.

    `speaker` is whom it names as its speaker. In what he says of himself "you" is somebody, too;
    elsewhere it is anybody who reads.
    """
    name = (speaker or _GENERIC["user"]).casefold()
    names, words = {"user", *name.split()}, read(text).words
    if text.casefold().startswith(name) and not _YOU.isdisjoint(words):
        return True
    first = next((place for place, word in enumerate(words) if word in _OTHERS), len(words))
    return first < len(words) and not any(_is_thing(word, names) for word in words[:first])


def _is_thing(word: str, names: Collection[str]) -> bool:
    """Tell whether a word may name what a pronoun stands for: no verb, and not who speaks."""
    is_verb = word in _SAME or word.endswith(("ing", "ed")) or word.removesuffix("s") in _ALL_VERBS
    return not (is_verb or word in STOP_WORDS or word in _SMALL or word in names)


def _stays(sentence: ParsedSentence, place: int) -> bool:
    """Tell "the US", "let us", "all of us", "the variable i", "GET /me", and "our own"."""
    words, (start, stop) = sentence.words, sentence.places[place]
    if sentence.text[:start].endswith(_MARKS):
        return True
    if words[place] == "us":
        before = words[max(0, place - 1)]
        return sentence.text[start:stop].isupper() or before in ("let", "of")
    if words[place] == "i":
        return place > 0 and BREAKS.issuperset(words[place + 1 : place + 2])
    return words[place] == "our" and words[place + 1 : place + 2] == ["own"]


def _beginning(sentence: ParsedSentence, name: str) -> tuple[str, int]:
    """What comes before a request, or a report without a subject; and where its words begin."""
    words = sentence.words
    if words[:1] and words[0] in DONE:
        start = sentence.places[0][0]
        return f"{name} {words[0]}", start + len(words[0])
    begin = 0
    while begin < len(words) and words[begin] in _LEADS_IN:
        begin += 1
    if words[begin - 1 : begin + 1] == ["let", "me"] and words[begin + 1 :]:
        return f"{name} wants to {words[begin + 1]}", sentence.places[begin + 1][1]
    if not any(tuple(words[begin : begin + len(one)]) == one for one in _REQUESTS):
        return "", 0
    return f"{name} asked to {words[begin]}", sentence.places[begin][1]


def _with_words(
    sentence: ParsedSentence,
    forms: Mapping[str, str],
    placed: Mapping[int, str],
    beginning: tuple[str, int],
) -> str:
    """A sentence with other words: at some places, and wherever a word has another form.

    `beginning` is what it begins with instead, up to which place.
    """
    told, end = beginning
    words, places = sentence.words, sentence.places
    for (start, stop), group in groupby(range(len(words)), key=places.__getitem__):
        own = list(group)
        new = [placed.get(place, forms.get(words[place], words[place])) for place in own]
        is_new = new != words[own[0] : own[-1] + 1] and not _stays(sentence, own[-1])
        if is_new and start >= end:
            told += sentence.text[end:start] + " ".join(new)
            end = stop
    return told + sentence.text[end:]


def _own_verbs(words: list[str]) -> set[int]:
    """The places of the verbs of "I": the one behind it, and those that "and" adds to that.

    Behind "Dana and I" they stay: those are two.
    """
    found: set[int] = set()
    awaited = is_changed = is_added = False
    for place, word in enumerate(words):
        if _is_adverb(word):
            continue
        if word in ("i", "to"):
            is_one = bool(found) or words[max(0, place - 1)] != "and"
            awaited, is_changed = word == "i" and is_one, False
        elif awaited or (is_added and is_changed and _is_verb(words, place)):
            found.add(place)
            awaited, is_changed = False, _agreed(word) != word
        is_added = word in _ADDING
    return found


def _is_adverb(word: str) -> bool:
    return word in _BETWEEN or word.endswith("ly")


def _is_verb(words: list[str], place: int) -> bool:
    """Tell whether a verb stands behind "and": "and run it", but not "and run time"."""
    following = words[place + 1 : place + 2]
    return words[place] in _VERBS or (
        words[place] in _LIKELY_VERBS and not STOP_WORDS.isdisjoint(following)
    )


def _agreed(verb: str) -> str:
    """Return the form that a verb has behind a name."""
    if verb in _FORMS:
        return _FORMS[verb]
    if verb in _SAME or verb.endswith("ed") or not verb.isalpha():
        return verb
    if verb in STOP_WORDS and verb not in _SOME_VERBS:
        return verb
    if verb.endswith(("s", "sh", "ch", "x", "z")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if verb[-1] == "y" and verb[-2:-1] not in "aeou" else f"{verb}s"
