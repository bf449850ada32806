"""Whether two memories say the same, an update, the opposite, or share only a subject.

In other languages than English texts may differ in the forms of their words only. A form begins as
the other one does. Where a noun changes its number, so may what agrees with it: a short word
before it (an article) may be another or be left out, and one short verb behind it may be another
("jest" and "są"). No other word may be missing, so that none is a "not" or a name.
"""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import Final

import msgspec

from pmem.core.duplicates import tables
from pmem.core.duplicates.changes import IN, changes, state, uses, values_gone
from pmem.core.duplicates.lexicon import Meaning, WordClass, are_opposite, base, look, stem
from pmem.core.duplicates.reading import Claim
from pmem.core.duplicates.roles import same_roles
from pmem.core.text.terms import fold

SAME_WORDS: Final = 1.0
OTHER_ORDER: Final = 0.95
OTHER_WORDS: Final = 0.9
OPPOSED: Final = 0.85
CHANGED: Final = 0.8
NEAREST: Final = 0.75
"""The score of a neighbour with all words in common."""
LEAST: Final = 0.15
"""The score below which memories have nothing in common."""
_LEAST_WORDS: Final = 2
"""Words of content that make a claim, which another one may have as well."""
_SLOT: Final = 3
"""The most words of a value that an update replaces."""
_NOTHING: Final = "nothing in common"
_MODALS: Final = frozenset(("must", "should"))
_ALLOWING: Final = _MODALS | {"may"}
"""What "must not" denies: nobody may what one must not."""
_PERSONS: Final = frozenset(("i", "you", "he", "she", "they"))
_UNOPPOSED: Final = _PERSONS | {"still"}
_UNIVERSAL: Final = frozenset(("all", "every", "each"))
_DONE: Final = (WordClass.CONTENT, WordClass.SOFT, WordClass.USE)
_HEADS: Final = (WordClass.SUBJECT, WordClass.EXACT, WordClass.BREAK)
_SLIGHT_VERBS: Final = (WordClass.SOFT, WordClass.USE)
_BREAK: Final = Meaning(WordClass.BREAK, "")


class Relation(StrEnum):
    """What one memory is to another."""

    DUPLICATE = "duplicate"
    UPDATE = "update"
    CONTRADICTION = "contradiction"
    NEIGHBOUR = "neighbour"
    DISTINCT = "distinct"


class Verdict(msgspec.Struct, frozen=True):
    """How two memories relate, how close they are (0 to 1), and why, in a short phrase."""

    relation: Relation
    score: float
    reason: str


def compare(one: Claim, other: Claim) -> Verdict:
    """Tell how two memories relate; relation and score do not depend on their order.

    Where a reason tells of a change, `other` is the later one.
    """
    if one.items == other.items and one.spelled == other.spelled and one.said == other.said:
        return Verdict(Relation.DUPLICATE, SAME_WORDS, "the same words")
    common = one.base & other.base
    found = None
    if one.base == other.base:
        found = _on_one_matter(one, other)
    elif common:
        found = _find_update(one, other)
    return found or (find_change(one, other) if common else None) or near(one, other)


def find_change(one: Claim, other: Claim) -> Verdict | None:
    """Return an update where one of two claims tells what became of what the other says."""
    for teller, claim in ((one, other), (other, one)):
        for value, subject in values_gone(teller):
            if uses(claim, value) and all(item.value in claim.content for item in subject):
                return Verdict(Relation.UPDATE, CHANGED, "one tells what became of the other")
        told = list(changes(teller))
        if not told:
            continue
        said = state(claim.items)
        held = [said, *(now for _, now in changes(claim))]
        for before, now in told:
            if any(_begins(each, before) for each in held) or _differ_in_value(said, now):
                return Verdict(Relation.UPDATE, CHANGED, "one tells what became of the other")
    return None


def _begins(said: Sequence[Meaning], before: Sequence[Meaning]) -> bool:
    """Tell whether a state is one that held before, and not only somewhere or at times."""
    said, before = _without_places(said), _without_places(before)
    rest = said[len(before) :]
    goes_on = rest[:1] != [IN] and all(item.kind is not WordClass.SIGN for item in rest)
    return len(before) > 1 and said[: len(before)] == before and goes_on


def _without_places(items: Sequence[Meaning]) -> list[Meaning]:
    """A state without the "in" behind "is"."""
    listed = pairwise([_BREAK, *items])
    return [item for last, item in listed if item != IN or last.kind is not WordClass.BE]


def near(one: Claim, other: Claim) -> Verdict:
    """Tell how much two memories have in common, whatever they say about it."""
    score = closeness(one, other)
    if score < LEAST:
        return Verdict(Relation.DISTINCT, score, "little in common" if score else _NOTHING)
    common = one.base & other.base
    words = {word for word in one.content if word in other.content} or common
    named = sorted(words, key=lambda word: (word.isalpha(), -len(word), word))
    return Verdict(Relation.NEIGHBOUR, score, "both on " + " and ".join(named[:2]))


def has_all_of(whole: Claim, part: Claim) -> bool:
    """Tell whether a claim has all words of content, numbers and negations of another one."""
    return len(part.base) >= _LEAST_WORDS and not any(
        Counter(mine) - Counter(theirs)
        for mine, theirs in (
            (part.content, whole.content),
            (part.numbers, whole.numbers),
            (part.signs, whole.signs),
        )
    )


def closeness(one: Claim, other: Claim) -> float:
    """Return the common words as a share of all (Dice's coefficient), from 0 to `NEAREST`."""
    shared = len(one.base & other.base)
    return round(NEAREST * 2 * shared / (len(one.base) + len(other.base)), 4) if shared else 0.0


def _on_one_matter(one: Claim, other: Claim) -> Verdict | None:
    """Compare claims that have all words in common but for numbers and opposites."""
    same_numbers = _same_numbers(one, other)
    same_signs = _same_signs(one, other)
    if same_numbers and same_signs and one.content == other.content:
        return _if_same_roles(one, other)
    if same_signs and one.content == other.content and one.base:
        return _find_update(one, other)
    if same_numbers:
        opposed = _opposed(one, other)
        if opposed and same_roles(_unsigned(one), _unsigned(other)):
            return Verdict(Relation.CONTRADICTION, OPPOSED, opposed)
    return None


def _if_same_roles(one: Claim, other: Claim) -> Verdict | None:
    if one.said != other.said or not _same_spelling(one, other) or not _same_verbs(one, other):
        return None
    if not same_roles(one.items, other.items):
        return None
    if _compared_items(one) == _compared_items(other):
        return Verdict(Relation.DUPLICATE, OTHER_ORDER, "the same words in another order")
    return Verdict(Relation.DUPLICATE, OTHER_WORDS, "the same in other words")


def _compared_items(claim: Claim) -> Counter[Meaning]:
    """The items, in no order, but for those that only part the others."""
    return Counter(i for i in claim.items if i.kind not in (WordClass.SUBJECT, WordClass.BREAK))


def _same_spelling(one: Claim, other: Claim) -> bool:
    """Tell whether no identifier differs in its capitals."""
    first = {word.casefold(): word for word in one.spelled}
    return all(first.get(word.casefold(), word) == word for word in other.spelled)


def _same_verbs(one: Claim, other: Claim) -> bool:
    """Tell whether a claim without a verb such as "store" says "is" or "uses" in its place."""
    if one.soft == other.soft:
        return True
    lean, rich = (one, other) if one.soft < other.soft else (other, one)
    plain = any(item.kind in (WordClass.BE, WordClass.USE) for item in lean.items)
    return plain and lean.soft < rich.soft


def _same_numbers(one: Claim, other: Claim) -> bool:
    """Tell whether the same numbers stand in the same order, and amounts before the same words."""
    if one.numbers != other.numbers:
        return False
    return len(one.numbers) < 2 or _words_behind(one.items) == _words_behind(other.items)


def _words_behind(items: Sequence[Meaning]) -> list[str]:
    """The word of content that follows each amount, the last first; days may stand anywhere."""
    found: list[str] = []
    following = ""
    for kind, value in reversed(items):
        if kind is WordClass.CONTENT or kind is WordClass.EXACT:
            following = value
        elif kind is WordClass.NUMBER and not value.isalpha():
            found.append(following)
    return found


def _same_signs(one: Claim, other: Claim) -> bool:
    if one.signs == other.signs:
        return True
    first, second = set(one.signs), set(other.signs)
    if _asks(other, one):
        first -= _MODALS
    elif _asks(one, other):
        second -= _MODALS
    if not (first & _PERSONS and second & _PERSONS):
        first, second = first - _PERSONS, second - _PERSONS
    if "every" in first | second and first & _UNIVERSAL and second & _UNIVERSAL:
        first, second = first - _UNIVERSAL, second - _UNIVERSAL
    return first == second and one.signs.count("not") == other.signs.count("not")


def _asks(one: Claim, other: Claim) -> bool:
    """Tell whether a claim asks for what the other says must be done: "use tabs"."""
    if _MODALS.isdisjoint(other.signs) or not _MODALS.isdisjoint(one.signs):
        return False
    begin = next(place for place, item in enumerate(other.items) if item.value in _MODALS)
    done = next((item for item in other.items[begin:] if item.kind in _DONE), None)
    heads = [item for item in one.items if item.kind in (*_DONE, *_HEADS)]
    firsts = [item for last, item in pairwise([_BREAK, *heads]) if last.kind is WordClass.BREAK]
    slight = all(item.kind is not WordClass.BE for item in one.items)  # "the host is": no verb
    return done in firsts or (slight and any(item.kind in _SLIGHT_VERBS for item in firsts))


def _opposed(one: Claim, other: Claim) -> str:
    """In what two claims contradict each other, or nothing."""
    mine, theirs = (
        [s for s in (Counter(a.signs) - Counter(b.signs)).elements() if s not in _UNOPPOSED]
        + sorted(set(a.content) - set(b.content))
        for a, b in ((one, other), (other, one))
    )
    if [sign for sign in mine + theirs if sign not in _ALLOWING] == ["not"]:
        return "one says not"
    if sorted(mine + theirs) == ["always", "not"]:
        return "always against never"
    if len(mine) == len(theirs) == 1 and are_opposite(mine[0], theirs[0]):
        return f"{mine[0]} against {theirs[0]}"
    return ""


def _unsigned(claim: Claim) -> list[Meaning]:
    """The items with opposites as one and without negations and the like."""
    kept = [item for item in claim.items if item.kind is not WordClass.SIGN]
    return [item._replace(value=base(item.value)) for item in kept]


def _find_update(one: Claim, other: Claim) -> Verdict | None:
    """An update where two claims agree but for one value."""
    if not _same_signs(one, other):
        return None
    kinds = _COUNTED if one.content == other.content else _SPOKEN
    verbs = _verbs_of_us(one) & _verbs_of_us(other) if kinds is _SPOKEN else set()
    mine, theirs = (
        [item._replace(kind=WordClass.SOFT) if item in verbs else item for item in told]
        for told in ([i for i in claim.items if i.kind in kinds] for claim in (one, other))
    )
    changed = _differ_in_value(mine, theirs)
    if changed is None:
        return None
    gone, came = changed
    was, now = (" ".join(item.value for item in part) for part in (gone, came))
    return Verdict(Relation.UPDATE, CHANGED, f"{was} became {now}")


def _verbs_of_us(claim: Claim) -> set[Meaning]:
    """The words behind "we", which say what is done."""
    kinds = (WordClass.SUBJECT, WordClass.CONTENT)
    return {item for last, item in pairwise(claim.items) if (last.kind, item.kind) == kinds}


def _differ_in_value(
    mine: Sequence[Meaning], theirs: Sequence[Meaning]
) -> tuple[Sequence[Meaning], Sequence[Meaning]] | None:
    """The one value in which statements differ, of words of some kinds."""
    begin = 0
    while begin < min(len(mine), len(theirs)) and mine[begin] == theirs[begin]:
        begin += 1
    end = 0
    most = min(len(mine), len(theirs)) - begin
    while end < most and mine[-1 - end] == theirs[-1 - end]:
        end += 1
    gone, came = mine[begin : len(mine) - end], theirs[begin : len(theirs) - end]
    least = (
        0 if all(i.kind is WordClass.NUMBER for i in (*gone, *came)) else max(len(gone), len(came))
    )
    if not _is_statement([*mine[:begin], *mine[len(mine) - end :]], least):
        return None
    if not _are_values(gone) or not _are_values(came):
        return None
    if not set(gone).isdisjoint(came) or _are_scopes(gone, came):
        return None
    return gone, came


_COUNTED: Final = (WordClass.CONTENT, WordClass.EXACT, WordClass.NUMBER, WordClass.SIGN)
_PREDICATES: Final = (WordClass.BE, WordClass.USE, WordClass.SOFT, WordClass.SIGN)
_SPOKEN: Final = (*_COUNTED, WordClass.SOFT, WordClass.PREPOSITION, WordClass.BE, WordClass.USE)


def _is_statement(common: Sequence[Meaning], least: int) -> bool:
    """Tell whether what two claims share says something of a value; without a verb more does."""
    said = any(item.kind in _PREDICATES for item in common)
    named = sum(item.kind in _VALUES and _is_word(item) for item in common)
    return named >= (least + 2 * (not said) if least else 1)


_VALUES: Final = (WordClass.CONTENT, WordClass.EXACT, WordClass.NUMBER)


def _are_values(items: Sequence[Meaning]) -> bool:
    return 0 < len(items) <= _SLOT and all(i.kind in _VALUES and _is_word(i) for i in items)


def _is_word(item: Meaning) -> bool:
    return any(map(str.isalnum, item.value))


def _are_scopes(gone: Sequence[Meaning], came: Sequence[Meaning]) -> bool:
    """Tell whether what changed is where something holds: in staging, on Windows."""
    return any({gone[-1].value, came[-1].value} <= scope for scope in _scopes())


@lru_cache(maxsize=1)
def _scopes() -> list[frozenset[str]]:
    return [frozenset(map(stem, scope)) for scope in tables.SCOPES]


_LONGEST: Final = 600
"""Characters of a text; a longer one is not compared."""
_START: Final = 3
"""Letters with which forms begin alike at least, and half of the longer form."""
_ARTICLE: Final = 4
"""The most letters of an article that one of the texts leaves out."""
_ARTICLES: Final = 3
"""The most letters of two articles, which share one: "el" and "los"."""
_VERB: Final = (3, 4)
"""The most letters of two forms of a verb that have no beginning in common, the shorter first."""
_MARKS: Final = '.,;:!?…()[]"“”„«»…。،؛؟।'


def in_other_forms(one: str, other: str) -> bool:
    """Tell whether two texts have the same words in the same order, some in other forms."""
    if max(len(one), len(other)) > _LONGEST:
        return False
    mine, theirs = _words(one), _words(other)
    matched, changed, verbs = 0, 0, 0
    while mine and theirs:
        first, second = mine[0], theirs[0]
        if _is_same(first, second) or _is_form(first, second):
            matched += 1
            changed += first != second
            mine, theirs = mine[1:], theirs[1:]
        elif not changed and (skipped := _article(mine, theirs)):
            mine, theirs = mine[skipped[0] :], theirs[skipped[1] :]
        elif changed == 1 and not verbs and _fits(first, second):
            verbs += not (first.startswith(second) or second.startswith(first))
            mine, theirs = mine[1:], theirs[1:]
        else:
            return False
    return not mine and not theirs and changed > 0 and matched >= _LEAST_WORDS


def _words(text: str) -> list[str]:
    spaced = fold(text).casefold().replace("'", " ").replace("’", " ").split()
    return [word for word in (each.strip(_MARKS) for each in spaced) if word]


def _is_same(one: str, other: str) -> bool:
    """Tell whether two words are one, or stand for the same sign or the same stem."""
    return one == other or look(one).items[:1] == look(other).items[:1] != ()


def _is_form(one: str, other: str) -> bool:
    if not _is_spelled(one) or not _is_spelled(other):
        return False
    common = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    return common >= _START and 2 * common >= max(len(one), len(other))


def _is_spelled(word: str) -> bool:
    return word.isalpha() if word.isascii() else not any(map(str.isdigit, word))


def _article(mine: list[str], theirs: list[str]) -> tuple[int, int] | None:
    """How many words to skip on either side: two articles, or one before a form of a noun."""
    if max(len(mine[0]), len(theirs[0])) <= _ARTICLES and set(mine[0]) & set(theirs[0]):
        return 1, 1
    if _is_left_out(mine, theirs[0]):
        return 1, 0
    return (0, 1) if _is_left_out(theirs, mine[0]) else None


def _is_left_out(words: list[str], noun: str) -> bool:
    article, *nouns = words[:2]
    return len(article) <= _ARTICLE and nouns != [noun] and any(_is_form(n, noun) for n in nouns)


def _fits(one: str, other: str) -> bool:
    """Tell whether two short words may be one verb: "is" and "zijn"."""
    shortest, longest = sorted((len(one), len(other)))
    return shortest <= _VERB[0] and longest <= _VERB[1]
