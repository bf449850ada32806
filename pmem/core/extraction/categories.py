"""Which category the memory of a fact has, where its type alone does not say it.

Who somebody is belongs to `person`; a fact about a project to `project`; where its speaker works,
lives or is to be found to `context`.
"""

from itertools import pairwise
from typing import Final

from pmem.core.extraction.cues import SETS
from pmem.core.text.sentences import read
from pmem.core.text.words import GIVEN_NAMES, STOP_WORDS
from pmem.values.defaults import DEFAULT_CATEGORY
from pmem.values.records import Fact, MemoryType

PERSON: Final = "person"
CONTEXT: Final = "context"
PROJECT: Final = "project"

_COMPANIES: Final = frozenset("client customer vendor supplier provider name codename".split())
"""Roles that a company or a thing may have as well."""
_PEOPLE: Final = frozenset(
    "team department joined leads manages heads reports_to moved_to".split()
) | (frozenset(f"{SETS['role']} {SETS['kin']}".split()) - _COMPANIES)
_MAY_BE_PROGRAMS: Final = frozenset(("manager", "assistant"))
_OFFICES: Final = frozenset(
    """account area bank branch brand campaign community construction content customer delivery
    design engineering event executive finance general hiring hotel hr junior kitchen legal line
    logistics marketing medical new office old operations people personal procurement product
    production program programme project property quality regional release research restaurant sales
    senior shift shop store success support teaching team technical tour warehouse""".split()
)
"""What stands before "manager" or "assistant" where that is a person, and no program."""
_EMPLOYED: Final = frozenset(("at", "for", "as"))
_ABOUT_ONESELF: Final = frozenset(
    "work works live lives team timezone zone hours office based".split()
)


def category_of(fact: Fact) -> str:
    """Return the category that the memory of a fact has."""
    words = read(fact.content).words
    if fact.type is MemoryType.ENTITY and _is_of_person(words, fact.subject or ""):
        return PERSON
    if fact.type is MemoryType.FACT and PROJECT in words:
        return PROJECT
    own = fact.subject == fact.user if fact.user else fact.content.startswith("The user")
    if fact.type is MemoryType.FACT and own and not _ABOUT_ONESELF.isdisjoint(words):
        return CONTEXT
    return DEFAULT_CATEGORY[fact.type]


def _is_of_person(words: list[str], name: str) -> bool:
    has_given_name = name.split(" ", 1)[0] in GIVEN_NAMES
    spoken = {"_".join(pair) for pair in pairwise(words)} | {
        word
        for place, word in enumerate(words)
        if word not in _MAY_BE_PROGRAMS or has_given_name or _is_office(words[:place])
    }
    return not _PEOPLE.isdisjoint(spoken) or any(f"works_{word}" in spoken for word in _EMPLOYED)


def _is_office(before: list[str]) -> bool:
    """Tell "our manager" and "our sales manager" from "our password manager"."""
    return any(
        word in _OFFICES or word in STOP_WORDS or word.endswith("'s") for word in before[-1:]
    )
