"""Whether the same words have the same roles: "A calls B" is not "B calls A"."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from pmem.core.duplicates import tables
from pmem.core.duplicates.lexicon import Meaning, WordClass

_LOOSE: Final = frozenset(
    "of in on at for with as via through within per about into onto by bei mit für auf als".split()
)
"""Prepositions that paraphrases exchange; the others say a direction."""
_OF_USE: Final = ("for", "as", "to")
"""What leads to what something is used for."""
_NAME: Final = "name"
_BARE: Final = ""
_FREE: Final = "~"
_AGENT: Final = "agent"
_NAMING: Final = (WordClass.CONTENT, WordClass.EXACT)
_PLAIN: Final = frozenset(
    (*_NAMING, WordClass.BE, WordClass.SUBJECT, WordClass.SOFT, WordClass.PREPOSITION)
)
_COUPLED: Final = (*_NAMING, WordClass.SOFT, WordClass.PREPOSITION)


class ClauseRole(NamedTuple):
    """The clause of a word by its conjunction, and its preposition."""

    clause: str
    preposition: str


def same_roles(one: Sequence[Meaning], other: Sequence[Meaning]) -> bool:
    """Tell whether claims of the same words give each word the same part."""
    if _bound_signs(one) != _bound_signs(other):
        return False
    if _PLAIN_ORDER.issuperset(i.kind for i in (*one, *other)):
        return [i for i in one if i.kind in _NAMING] == [i for i in other if i.kind in _NAMING]
    first, second = _sorted_lists(one), _sorted_lists(other)
    told, said = ([i for i in items if i.kind in _TOLD] for items in (first, second))
    if told == said or _as_stated(told) == said or told == _as_stated(said):
        return True
    mine, theirs = _copula(first), _copula(second)
    if mine and theirs and mine == theirs[::-1]:
        return True
    verbs = {i.value for i in one if i.kind is WordClass.SOFT}
    verbs &= {i.value for i in other if i.kind is WordClass.SOFT}
    return _agree(_roles(first, verbs), _roles(second, verbs))


def _as_stated(told: list[Meaning]) -> list[Meaning]:
    """A request with the verb behind its object: "ship v1 by May" as "v1 ships by May"."""
    if not told or told[0].value not in tables.SHIPPED:
        return told
    end = next((n for n, item in enumerate(told) if item.kind not in _NAMING), len(told))
    return [*told[1:end], told[0], *told[end:]]


_TOLD: Final = (
    WordClass.CONTENT,
    WordClass.EXACT,
    WordClass.SIGN,
    WordClass.PREPOSITION,
    WordClass.SOFT,
    WordClass.CLAUSE,
)
_PLAIN_ORDER: Final = frozenset(
    (WordClass.CONTENT, WordClass.EXACT, WordClass.NUMBER, WordClass.SIGN)
)
_FOCUSED: Final = frozenset(
    """only all every each any some most few both even also other not except still always
    he she""".split()
)


def _bound_signs(items: Sequence[Meaning]) -> list[tuple[str, str]]:
    """What "only", "all" and, beside these or in more than one clause, "not" stand before."""
    focused = [i for i in items if i.kind is WordClass.SIGN and i.value in _FOCUSED]
    parted = any(item.kind in (WordClass.CLAUSE, WordClass.BREAK) for item in items)
    if not parted and all(item.value == "not" for item in focused):
        return []
    found, following = [], ""
    for kind, value in reversed(items):
        if kind in _NAMING or kind is WordClass.NUMBER:
            following = value
        elif kind is WordClass.SIGN and value in _FOCUSED:
            found.append(("every" if value in ("all", "each") else value, following))
    return sorted(found, key=lambda each: each[1])  # signs of one word keep their order


def _sorted_lists(items: Sequence[Meaning]) -> list[Meaning]:
    """The items with "A and B" in the order of the alphabet."""
    found = list(items)
    for place in range(1, len(found) - 1):
        before, here, after = found[place - 1 : place + 2]
        if here.kind is WordClass.AND and before.kind in _NAMING and after.kind in _NAMING:
            found[place - 1], found[place + 1] = sorted((before, after))
    return found


class _Clause:
    """The roles of a clause's words as they are read, one item after another."""

    def __init__(self, conjunction: str) -> None:
        self.words: list[tuple[str, ClauseRole]] = []
        self.conjunction = conjunction
        self.preposition = _BARE
        self.passive = self.used = False
        self.agents = 0

    def add(self, word: str, is_verb: bool) -> None:
        """Take a word; the agent of a passive clause goes to the front, and its verb behind it."""
        is_agent = self.preposition == _AGENT
        moved = is_agent or is_verb
        place = self.agents * is_agent if moved else len(self.words)
        self.agents += is_agent
        preposition = _BARE if moved else self.preposition
        self.words.insert(place, (word, ClauseRole(self.conjunction, preposition)))

    def use(self, passive: bool) -> None:
        """Take "use X for Y" and "X is used for Y" as "Y with X"."""
        if passive:
            tool = ClauseRole(self.conjunction, _FREE)
            self.words = [(word, role if role.preposition else tool) for word, role in self.words]
        self.used = True
        self.preposition = _BARE if passive else _FREE

    def govern(self, preposition: str) -> None:
        """Take a preposition."""
        if preposition == "by" and self.passive:
            self.preposition = _AGENT
        elif (self.used and preposition in _OF_USE) or (preposition == "to" and not self.words):
            self.preposition = _BARE
        else:
            self.preposition = _FREE if preposition in _LOOSE else preposition


def _roles(items: Sequence[Meaning], verbs: set[str]) -> list[tuple[str, ClauseRole]]:
    clauses = [_Clause("")]
    is_passive = False
    for kind, value in items:
        clause = clauses[-1]
        if kind in _NAMING or (kind is WordClass.SOFT and value in verbs):
            clause.add(value, is_passive)
        elif kind is WordClass.USE:
            clause.use(is_passive)
        elif kind is WordClass.PREPOSITION:
            clause.govern(value)
        elif kind is WordClass.CLAUSE or kind is WordClass.BREAK:
            clauses.append(_Clause(value if kind is WordClass.CLAUSE else ""))
        elif kind is WordClass.BE or kind is WordClass.SUBJECT:
            clause.preposition = _BARE
        is_passive = kind is WordClass.PASSIVE
        clause.passive = clause.passive or is_passive
    return [word for clause in clauses for word in clause.words]


def _copula(items: Sequence[Meaning]) -> tuple[list[str], list[str]] | None:
    """What stands before and after the one "is" of a claim."""
    kinds = [item.kind for item in items]
    if kinds.count(WordClass.BE) != 1 or not _PLAIN.issuperset(kinds):
        return None
    place = kinds.index(WordClass.BE)
    thing, said = (
        [i.value for i in part if i.kind in _COUPLED] for part in (items[:place], items[place:])
    )
    if said[:1] == [_NAME] and said[1:2] != ["of"]:  # "is named Atlas": its name is Atlas
        return [_NAME, "of", *thing], said[1:]
    return thing, said


def _agree(one: list[tuple[str, ClauseRole]], other: list[tuple[str, ClauseRole]]) -> bool:
    """Tell whether words keep their roles, or move one way between loose ones."""
    mine, theirs = set(one), set(other)
    gone, come = dict(mine - theirs), dict(theirs - mine)
    if gone.keys() != come.keys() or len(one) != len(other) or len(gone) < len(mine - theirs):
        return False
    moves = {(gone[word], come[word]) for word in sorted(gone)}
    if len(moves) > 1 or not all(_is_loose(before, after) for before, after in moves):
        return False
    return _in_order(one, theirs) == _in_order(other, mine)


def _is_loose(before: ClauseRole, after: ClauseRole) -> bool:
    loose = (_BARE, _FREE)
    return (
        before.clause == after.clause and before.preposition in loose and after.preposition in loose
    )


def _in_order(
    words: list[tuple[str, ClauseRole]], kept: set[tuple[str, ClauseRole]]
) -> list[tuple[ClauseRole, str]]:
    """The words that keep their role, by role, each role's in their order."""
    stable = [(role, word) for word, role in words if (word, role) in kept]
    return sorted(stable, key=lambda each: each[0])
