"""Where a statement begins, its clauses, and the phrases of a table in each clause.

A phrase counts where its speaker fits, and nothing before it makes it somebody else's word.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain, product
from typing import Final, NamedTuple

from pmem.core.extraction.cues import ASIDES, CORRECTIONS, IMPERATIVES, NOTES, SETS
from pmem.core.text.sentences import CODE, ParsedSentence
from pmem.core.text.words import MONTHS, NUMBER_WORDS, STOP_WORDS, WEEKDAYS

_OURS: Final = frozenset("we i team everyone everybody board committee company group".split())
_SPEAKERS: Final = {
    "ours": _OURS,
    "we": _OURS - {"i"},
    "i": frozenset(("i",)),
    "it": frozenset(("it",)),
}
_PEOPLE: Final = _OURS | {"you"}
_PASSING: Final = frozenset(
    """have has had are am is was were been being will just also really actually finally
    definitely now already currently recently all both unanimously officially therefore thus
    usually generally strongly highly much still always then do did only mostly mainly""".split()
)

_EMPTY: Final = frozenset(
    """i it there that this he she they who which what and or but , : ; ( ) if as so to of not a
    an the one someone somebody something anything nothing""".split()
)
OWNERS: Final = frozenset("the our my this these all every each their both any".split())
_LEADS_IN: Final = frozenset("please then so just now go ahead and also".split())
_LASTING: Final = 4  # words
_NEXT: Final = 3  # words
_ENDINGS: Final = {"state": ("ed", "able", "ible"), "onward": ("ing",)}
"""How further words of a set end."""
_PERMITTING: Final = frozenset(("may", "allowed"))
_BE: Final = frozenset(("is", "are"))
_JOINTS: Final = frozenset("_/.")
_NO_COMMANDS: Final = frozenset("mind say heard seen knew".split())
_SPANS: Final = frozenset("quarter year sprint spring summer autumn fall winter".split())
_TIMES: Final = frozenset((*MONTHS, *WEEKDAYS, *_SPANS))


class Clause(NamedTuple):
    """A stretch of a sentence's words: from `begin` to before `end`."""

    begin: int
    end: int


class Cue(NamedTuple):
    """A phrase, the condition on what follows it, and who must say it."""

    words: tuple[str, ...]
    condition: str
    who: str
    label: str
    confidence: float


Cues = dict[str, list[Cue]]


@lru_cache(maxsize=8)
def by_first_word(phrases: str) -> dict[str, list[tuple[str, ...]]]:
    """Return phrases apart by `|` or lines as tuples of words, by their first word."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for phrase in phrases.strip().replace("\n", "|").split("|"):
        words = tuple(phrase.split())
        found.setdefault(words[0], []).append(words)
    return found


def phrase_at(words: list[str], place: int, phrases: str) -> tuple[str, ...]:
    """Return the phrase that stands at a place, or nothing."""
    known = by_first_word(phrases).get(words[place], ()) if place < len(words) else ()
    return next((one for one in known if tuple(words[place : place + len(one)]) == one), ())


def read_cues(table: str) -> Cues:
    """Return the cues of a table in the form of `cues.CUES`, by their first word."""
    found: Cues = {}
    for line in filter(None, table.strip().split("\n")):
        head, _, phrases = line.partition(": ")
        label, confidence, who = head.split()
        for words in chain.from_iterable(map(_each_wording, phrases.split("|"))):
            condition = words.pop() if words[-1][0] in "+-~" else ""
            cue = Cue(tuple(words), condition, who, label, float(confidence))
            found.setdefault(words[0], []).append(cue)
    return found


def _each_wording(phrase: str) -> Iterator[list[str]]:
    """Yield a phrase as words, once for each wording of the sets that it names."""
    choices = [sorted(_sets()[word[1:]]) if word[0] == "*" else [word] for word in phrase.split()]
    for words in product(*choices):
        yield [part for word in words for part in (word.split("_") if word[0] != "+" else [word])]


def matches(sentence: ParsedSentence, clause: Clause, cues: Cues) -> Iterator[tuple[int, Cue]]:
    """Yield the places where a cue's phrase stands and its speaker fits."""
    words = sentence.words
    for place in range(clause.begin, clause.end):
        for cue in cues.get(words[place], ()):
            after = place + len(cue.words)
            known = after <= clause.end and tuple(words[place:after]) == cue.words
            if known and _follows(cue, sentence, after) and fits(cue.who, sentence, clause, place):
                yield place, cue


@lru_cache(maxsize=1)
def _sets() -> dict[str, frozenset[str]]:
    sets = {name: frozenset(words.split()) for name, words in SETS.items()}
    doing = (sets["doing"] | IMPERATIVES) - sets["idle"]
    return sets | {"doing": doing, "imperative": IMPERATIVES}


def _follows(cue: Cue, sentence: ParsedSentence, after: int) -> bool:
    if not cue.condition:
        return True
    words = sentence.words
    sign, name = cue.condition[0], cue.condition[1:]
    if after >= len(words):
        return False
    if name in _FORMS:
        return _FORMS[name](sentence, after) is (sign == "+")
    if sign == "~":
        return not _sets()[name].isdisjoint(words[after : after + _NEXT])
    word = words[after]
    there = not _sets()[name].isdisjoint((word, "_".join(words[after : after + 2])))
    return (there or word.endswith(_ENDINGS.get(name, ()))) is (sign == "+")


def _is_dated(sentence: ParsedSentence, after: int) -> bool:
    """Tell whether a time is set: "by March", "until the end of the year"."""
    words = sentence.words
    for place in range(after, len(words) - 1):
        near = words[place + 1 : place + 4]
        if words[place] in ("by", "before", "until", "this", "next"):
            if "end" in near or near[0] in _SPANS or is_exact(sentence, place + 1):
                return True
        elif words[place] in ("in", "on") and (near[0] in _TIMES or near[0].isdigit()):
            return True
    return False


def _is_command(sentence: ParsedSentence, place: int) -> bool:
    """Tell whether a verb in its plain form and what it is done to follow: "paste names here"."""
    word, *following = sentence.words[place : place + 2]
    if not word.replace("-", "").isalpha() or word in _NO_COMMANDS or word in STOP_WORDS:
        return False
    inflected = word.endswith(("ed", "ing", "en", "ly")) or (word[-1] == "s" and word[-2:] != "ss")
    return not inflected and bool(following) and following[0].isalnum()


def subject_of(words: list[str], begin: int, place: int) -> str:
    """The word before a phrase that is no auxiliary and no adverb."""
    place -= 1
    while place > begin and (words[place] in _PASSING or words[place].endswith("ly")):
        place -= 1
    before = words[max(place, begin)]
    return words[begin] if before == "and" else before  # "I looked at both and decided"


def fits(who: str, sentence: ParsedSentence, clause: Clause, place: int) -> bool:
    """Tell whether the subject of a phrase is one that its cue asks for."""
    words, begin = sentence.words, clause.begin
    if who in _PLACED:
        return _PLACED[who](sentence, clause, place)
    subject = subject_of(words, begin, place) if place > begin else ""
    if who in _SPEAKERS:
        return subject in _SPEAKERS[who]
    if not subject or subject in _EMPTY or subject in _PASSING:
        return False
    return who == "anyone" or (_names_a_thing(sentence, begin) and subject not in _PEOPLE)


def _names_a_thing(sentence: ParsedSentence, place: int) -> bool:
    word = sentence.words[place]
    if word in IMPERATIVES:
        return False
    return (
        word in OWNERS
        or is_exact(sentence, place)
        or (sentence.capital(place) and word not in STOP_WORDS)
    )


def is_exact(sentence: ParsedSentence, place: int) -> bool:
    """Tell numbers, identifiers, code and names from common words."""
    text = sentence.text[slice(*sentence.places[place])]
    word = sentence.words[place]
    if word == CODE or not _JOINTS.isdisjoint(text) or any(letter.isdigit() for letter in text):
        return True
    return sentence.capital(place) and word not in STOP_WORDS


def has_exact(sentence: ParsedSentence, begin: int, end: int) -> bool:
    """Tell whether a number, an identifier, code or a name is within two places."""
    return any(is_exact(sentence, place) for place in range(begin, end))


def names_code(sentence: ParsedSentence) -> bool:
    """Tell whether a sentence names code: a quoted piece, a path, an option, an identifier."""
    if CODE in sentence.words:
        return True
    pieces = (sentence.text[start:end] for start, end in sentence.places)
    return any(
        not _JOINTS.isdisjoint(piece) or (piece[1:] != piece[1:].lower() and not piece.isupper())
        for piece in pieces
        if piece[0].isalpha()
    )


def is_named(sentence: ParsedSentence, place: int) -> bool:
    """Tell whether a capitalised word that could be a name stands at a place."""
    if place >= len(sentence.words) or not sentence.capital(place):
        return False
    word = sentence.words[place]
    return word[0].isalpha() and word not in STOP_WORDS


def name_at(sentence: ParsedSentence, place: int, end: int) -> str | None:
    """Return the name that begins at a place: up to four capitalised words, titles included."""
    last = _name_end(sentence, place, min(end, place + 4))
    if last == place:
        return None
    return sentence.text[sentence.places[place][0] : sentence.places[last - 1][1]]


def _name_end(sentence: ParsedSentence, place: int, end: int) -> int:
    while place < end and is_named(sentence, place):
        place += 1
    return place


def _is_of_name(sentence: ParsedSentence, clause: Clause, place: int) -> bool:
    """Tell whether a clause opens with a name, and perhaps where it is, up to a place."""
    end = _name_end(sentence, clause.begin, place)
    whence = sentence.words[end : end + 1] in (["from"], ["in"], ["at"])
    return end > clause.begin and place in (end, end + 2 * whence)


def _became(sentence: ParsedSentence, place: int) -> bool:
    """Tell whether something exact follows a "to": "the port to 8443"."""
    words = sentence.words
    to = words.index("to", place) if "to" in words[place:] else len(words)
    return to > place and has_exact(sentence, to + 1, len(words))


_PLACED: Final[dict[str, Callable[[ParsedSentence, Clause, int], bool]]] = {
    "free": lambda sentence, clause, place: True,
    "code": lambda sentence, clause, place: names_code(sentence),
    "name": _is_of_name,
    "owned": lambda sentence, clause, place: (
        not OWNERS.isdisjoint(sentence.words[max(clause.begin, place - _NEXT) : place])
    ),
    "denied": lambda sentence, clause, place: (
        place == clause.begin and sentence.words[max(place - 2, 0) : place] == ["no", ","]
    ),
    "start": lambda sentence, clause, place: _LEADS_IN.issuperset(
        sentence.words[clause.begin : place]
    ),
}
"""Who must say it, told by what stands before a phrase rather than by its subject."""


def _is_lasting(sentence: ParsedSentence, place: int) -> bool:
    """Tell whether enough follows to say what is wanted; in "change of plan" there is no verb."""
    words = sentence.words[place:]
    return len(words) >= _LASTING and words[0] != "of"


_FORMS: Final[dict[str, Callable[[ParsedSentence, int], bool]]] = {
    "dated": _is_dated,
    "lasting": _is_lasting,
    "ing": lambda sentence, place: sentence.words[place].endswith("ing"),
    "named": ParsedSentence.capital,
    "number": lambda sentence, place: (
        sentence.words[place][0].isdigit() or sentence.words[place] in NUMBER_WORDS
    ),
    "command": _is_command,
    "instead": lambda sentence, place: "instead" in sentence.words[place:],
    "permitting": lambda sentence, place: (
        not _PERMITTING.isdisjoint(sentence.words[place : place + 7])
    ),
    "being": lambda sentence, place: not _BE.isdisjoint(sentence.words[place : place + 8]),
    "became": _became,
    "exact": lambda sentence, place: has_exact(sentence, place, len(sentence.words)),
}
"""What is told by the form of what follows, not by a set of words."""

_VERBS: Final = frozenset(
    """is are was has have uses runs must cannot needs need will may prefer prefers should can
    depends takes costs expires listens lives returns works""".split()
)


def has_verb(words: list[str], place: int) -> bool:
    """Tell whether a noun phrase is soon followed by a verb, so that it opens a clause."""
    return not _VERBS.isdisjoint(words[place + 1 : place + 6])


def is_name_with_verb(sentence: ParsedSentence, place: int) -> bool:
    """Tell whether a name and what its bearer does open a clause."""
    if not is_named(sentence, place):
        return False
    after = place + 1
    while after < len(sentence.words) and is_named(sentence, after):
        after += 1
    return has_verb(sentence.words, after - 1)


_OPENERS: Final = frozenset(
    """so ok okay and well but also oh yes yeah yep hey hi hello right alright anyway then plus ,
    actually now great perfect confirmed fine cool sure btw fyi :""".split()
)
_LEADS: Final = (NOTES, ASIDES, CORRECTIONS)
_LONGEST_ASIDE: Final = 3  # words
LINKS: Final = frozenset("and but so while whereas then because since".split())
BREAKS: Final = frozenset(", – — : - (".split())
_PRONOUNS: Final = frozenset(
    "we i you he she they it let lets never always please do ensure".split()
)
_NOUNS: Final = frozenset("our my the these all every this".split())
_CLOUDS: Final = frozenset(
    """whether suppose supposing imagine assuming maybe perhaps possibly wish wonder
    wondering hypothetically according reads why formerly previously originally
    hindsight""".split()
)
_CONDITIONS: Final = frozenset("if unless once until when".split())
_HAZE: Final = frozenset(
    """might may could should would what how who whom where reads say says said saying claim claims
    claimed ask asks asked tell tells told write writes wrote thinks thought believes believed
    suggest suggests suggested recommend recommends recommended mention mentions mentioned heard
    know remember recall forgot forget doubt guess old previous former used not never nobody
    nothing""".split()
)
_THOUGHTS: Final = frozenset(("think", "believe", "feel"))
_HENCEFORTH: Final = frozenset(("from now on", "going forward", "in future", "in the future"))


def clauses(sentence: ParsedSentence, begin: int) -> Iterator[Clause]:
    """Split a sentence where a comma or a conjunction brings a new subject."""
    end = closing(sentence.words)
    start = begin
    for place in range(begin + 1, end):
        if _is_boundary(sentence, begin, place):
            yield Clause(start, place)
            start = place
    if start < end:
        yield Clause(start, end)


def _is_boundary(sentence: ParsedSentence, begin: int, place: int) -> bool:
    words = sentence.words
    before, word = words[place - 1], words[place]
    if before not in BREAKS and before not in LINKS:
        return False
    is_henceforth = " ".join(words[begin:place]).removesuffix(" ,") in _HENCEFORTH
    if before in ("because", "since") or is_henceforth:
        return False
    if word in _PRONOUNS and words[begin] not in ("when", "whenever", "if"):
        return True
    if word in _NOUNS:
        return "that" not in words[begin:place] and has_verb(words, place)
    return is_name_with_verb(sentence, place)


def is_hazy(words: list[str], begin: int, place: int) -> bool:
    """Tell whether what stands before a phrase makes it no statement of the speaker's own."""
    if not _CLOUDS.isdisjoint(words[begin:place]):
        return True
    condition = next((i for i in range(begin, place) if words[i] in _CONDITIONS), place)
    if condition < place and "," not in words[condition : place + 1]:
        return True
    near = place
    while near > begin and words[near - 1] not in BREAKS:
        near -= 1
    if words[near : near + 2] in (["what", "we"], ["what", "i"]):
        near += 1
    return not _HAZE.isdisjoint(words[near:place])


def is_thought(words: list[str], begin: int, place: int) -> bool:
    """Tell whether a phrase follows "I think" or the like."""
    return not _THOUGHTS.isdisjoint(words[begin:place])


def first_word(words: list[str]) -> int:
    """The place of the first word that is more than an opener such as "so" or "ok"."""
    begin = 0
    while begin < len(words) and words[begin] in _OPENERS and words[begin] != "fyi":
        begin += 1
    return begin


def opening(words: list[str]) -> int:
    """The place where the statement begins, after openers, asides and "as you asked"."""
    begin = 0
    while begin < len(words):
        aside = next(filter(None, (phrase_at(words, begin, one) for one in _LEADS)), ())
        if aside:
            begin += len(aside)
        elif words[begin] in _OPENERS:
            begin += 1
        else:
            break
    return begin


def closing(words: list[str]) -> int:
    """The place behind the last word, without an aside at the end."""
    end = len(words)
    for place in range(max(0, end - _LONGEST_ASIDE), end):
        if place + len(phrase_at(words, place, ASIDES)) == end:
            end = place
            break
    while end and words[end - 1] == ",":
        end -= 1
    return end
