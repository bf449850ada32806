"""What kind of memory a rule is: an order, or a description, by the mood of its sentence."""

import re
from typing import Final

from pmem.core.extraction.facts import extract
from pmem.core.text.words import STOP_WORDS
from pmem.values.records import MemoryType, Message, Role
from pmem.values.times import UNDATED

_BINDING: Final = re.compile(
    r"\b(?:always|never|must|shall|should|do not|don['’]t|only|avoid)\b", re.IGNORECASE
)
_STATED: Final = (MemoryType.DECISION, MemoryType.CONSTRAINT, MemoryType.PREFERENCE)
_PLACEHOLDER: Final = re.compile(
    r"\{\{.*?\}\}|\A\W*(?:TODO|TBD|FIXME|N/A)\b|\A\W*\[[^\]]{3,}\]\W*\Z|\A[\W_]*\Z"
)
_OPENING: Final = re.compile(
    r"\A(?:[\w`./-]+(?: [\w`./-]+){0,3}: ([a-z]+) |([A-Z]?[a-z]+) )(?=[`\w./*-])"
)
_FINITE: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|will|does|did)\b|\b[a-z]+[^s]s (?:the|an?|its|`)"
)
_FORM: Final = re.compile(r"(?:[^s]s|ing|ed|ion|ity|ness)\Z")
_NEAR: Final = 4


def type_of(text: str) -> MemoryType:
    """Return what a rule is: a decision, an order that binds, a preference, else a fact."""
    stated = next(iter(_stated_types(text)), MemoryType.FACT)
    if stated is not MemoryType.DECISION and _BINDING.search(text):
        return MemoryType.CONSTRAINT
    if stated in _STATED:
        return stated
    return MemoryType.CONSTRAINT if _is_imperative(text) else MemoryType.FACT


def is_rule(text: str) -> bool:
    """Tell whether a text says what to do, or states something of the project."""
    return is_order(text) or bool(_stated_types(text))


def is_order(text: str) -> bool:
    """Tell whether a text says what has to be, must not be, or is to be done.

    A sentence orders where it begins with a word that can be a verb and neither a name nor a
    plural, with no finite verb close behind it: "Use the exact revisions". Other languages have
    no orders here.
    """
    return _BINDING.search(text) is not None or _is_imperative(text)


def is_placeholder(text: str) -> bool:
    """Tell whether a text only stands for one that is to be written."""
    return _PLACEHOLDER.search(text) is not None


def _is_imperative(text: str) -> bool:
    found = _OPENING.match(text)
    if found is None:
        return False
    verb = (found[1] or found[2]).casefold()
    near = " ".join(text[found.end() :].split()[: _NEAR - 1])
    return verb not in STOP_WORDS and not _FORM.search(verb) and not _FINITE.search(near)


def _stated_types(text: str) -> list[MemoryType]:
    """Return the types of what a text states, the surest first."""
    said = Message(id="note", role=Role.USER, content=text, created_at=UNDATED)
    return [fact.type for fact in sorted(extract(said), key=lambda fact: -fact.confidence)]
