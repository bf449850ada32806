"""Where a statement begins, which clauses it has, and whether its speaker stands behind it."""

from collections.abc import Iterator
from typing import Final

from pmem.core.extraction.cues import ASIDES, CORRECTIONS, NOTES
from pmem.core.extraction.phrases import Clause, is_named, phrase_at
from pmem.core.text.sentences import ParsedSentence

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
    if before in ("because", "since") or _is_henceforth(words, begin, place):
        return False
    if word in _PRONOUNS and words[begin] not in ("when", "whenever", "if"):
        return True
    if word in _NOUNS:
        return "that" not in words[begin:place] and has_verb(words, place)
    return is_name_with_verb(sentence, place)


def _is_henceforth(words: list[str], begin: int, place: int) -> bool:
    """Tell whether all before a place is "from now on" or the like."""
    lead = " ".join(words[begin:place]).removesuffix(" ,")
    return lead in _HENCEFORTH


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
