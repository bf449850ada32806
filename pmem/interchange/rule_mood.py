"""What kind of memory a rule is: an order, a command, or a description, by how it is written."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from pmem.core.extraction.facts import extract
from pmem.core.text.words import STOP_WORDS
from pmem.values.records import MemoryType, Message, Role
from pmem.values.times import UNDATED

_BINDING: Final = re.compile(
    r"\b(?:must|shall|should|avoid|please)\b"
    r"|(?:\A|[.,;:!?(–—-] ?|\b(?:and|then|please|you) )(?:do not|don['’]t)\b"
    r"|(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bhas )(?<!\bhave )(?<!\bbe )\b(?:always|never)\b",
    re.IGNORECASE,
)
_FORBIDDING: Final = re.compile(r"\b(?:must not|do not|don['’]t|never|avoid)\b", re.IGNORECASE)
_STATED: Final = (MemoryType.DECISION, MemoryType.CONSTRAINT, MemoryType.PREFERENCE)
_CODE: Final = re.compile(r"`[^`]*`")
_PLACEHOLDER: Final = re.compile(
    r"\{\{.*?\}\}|\A\W*(?:TODO|TBD|FIXME|N/A)\b|\A\W*\[[^\]]{3,}\]\W*\Z|\A[\W_]*\Z"
)
_LABEL: Final = re.compile(
    r"\A(?:\[[\w-]+\] )?(?:(?:[^\s:.,;`]+|`[^`]*`)(?: (?:[^\s:.,;`]+|`[^`]*`)){0,2}"
    r"(?: \([^)]*\))?: )?"
)
_DASH: Final = re.compile(r" [-–—]{1,2} ")
_NAMED: Final = re.compile(r"\A`[^`]*`(?: \([^)]*\))?(?::| [-–—]{1,2}) ")
_BEFORE: Final = re.compile(
    r"\A(?:If|When|Whenever|Before|After|For|On|In|Where|Unless|Once|Until|At|During|While|To)\b"
    r"[^.;:]{1,160}?, ",
    re.IGNORECASE,
)
_MOST_COMMAS: Final = 4
_STRESS: Final = re.compile(r"\A(?:Only|Also|Just|Then|Instead|First),? ", re.IGNORECASE)
_ASKS: Final = re.compile(r"\A(?:Do|Please|Be) ", re.IGNORECASE)
_OPENING: Final = re.compile(r"\A([A-Z]?[a-z]{2,}) (?=[`\w./*(\[\"'“-])")
_PREFERS: Final = re.compile(r"prefer\b", re.IGNORECASE)
_FINITE: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|will|does|did|may|might|would|could)\b"
    r"|\b[a-z]+[^s]s (?:the|an?|its)\b|\b[a-z]+[^s]s `"
)
_FORM: Final = re.compile(r"(?:[^su]s|ing|ed|ion|ity|ness|ly)\Z")
_NEAR: Final = 4
_COMMAND: Final = re.compile(
    r"`(?:(?:[A-Z_]+=\S+ )+[^`()]+|(?:[a-z~][\w./@-]*|\.{1,2}/[\w./-]+)(?::[\w-]+)?(?: [^`()]+)+)`"
)
_BARE: Final = re.compile(r"(?:\A|: )(?:[A-Z_]+=\S+ |\./)\S.*")
_ASIDE: Final = re.compile(r"\([^()]*\)")
_AT_END: Final = re.compile(r"\W*(?:\([^)]*\)\W*)?")
_MOST_PROSE: Final = 8
_SENTENCE: Final = re.compile(r"(?<=[.!?]) +")


def type_of(text: str) -> MemoryType:
    """Return what a rule is: an order that binds, a command, a decision, a preference, else a fact.

    An order to use one thing instead of another binds, and decides nothing.
    """
    if _BINDING.search(text):
        stated = _stated_types(text)
        return MemoryType.DECISION if stated[:1] == [MemoryType.DECISION] else MemoryType.CONSTRAINT
    if is_command(text):
        return MemoryType.PROCEDURE
    if any(map(_is_imperative, _sentences(text))):
        prefers = _PREFERS.match(_rest(text)) or _stated_types(text)[:1] == [MemoryType.PREFERENCE]
        return MemoryType.PREFERENCE if prefers else MemoryType.CONSTRAINT
    return next((one for one in _stated_types(text)[:1] if one in _STATED), MemoryType.FACT)


def is_rule(text: str) -> bool:
    """Tell whether a text says what to do, or states something of the project."""
    return is_order(text) or is_statement(text)


def is_statement(text: str) -> bool:
    """Tell whether a text states something of the project."""
    return bool(_stated_types(text))


def is_order(text: str) -> bool:
    """Tell whether a sentence of a text says what has to be, must not be, or is to be done.

    A sentence orders where it begins with a word that can be a verb and neither a name nor a
    plural, with no finite verb close behind it: "Use the exact revisions". Other languages have
    no orders here.
    """
    return is_binding(text) or any(map(_is_imperative, _sentences(text)))


def is_binding(text: str) -> bool:
    """Tell whether a text says in so many words what has to be or must not be."""
    return _BINDING.search(text) is not None


def forbids(text: str) -> bool:
    """Tell whether a text says what must not be."""
    return _FORBIDDING.search(text) is not None


def has_label(text: str) -> bool:
    """Tell whether a text begins with a name and a colon."""
    return bool(_LABEL.sub("", text, count=1) != text)


def describes(text: str) -> bool:
    """Tell whether a text surely says how something is: a finite verb is near its beginning."""
    return _FINITE.search(" ".join(_rest(text).split()[: 3 * _NEAR])) is not None


def is_placeholder(text: str) -> bool:
    """Tell whether a text only stands for one that is to be written."""
    return _PLACEHOLDER.search(_CODE.sub("code", text)) is not None


def _rest(text: str) -> str:
    """Return a text without its label, what it depends on, and what only stresses it."""
    for opening in (_LABEL, _BEFORE, _STRESS):
        text = opening.sub("", text, count=1)
    return text


def _is_imperative(text: str) -> bool:
    if _NAMED.match(text):
        return False
    clauses = _DASH.split(text, maxsplit=1)
    if _BEFORE.match(text):
        clauses += text.split(", ", _MOST_COMMAS)[1:]
    return any(_opens_with_verb(_rest(clause)) for clause in clauses)


def _opens_with_verb(clause: str) -> bool:
    found = _OPENING.match(clause)
    if found is None or _ASKS.match(clause):
        return _ASKS.match(clause) is not None
    verb, near = found[1].casefold(), clause[found.end() :].split()[: _NEAR - 1]
    is_said = near[:1] != ["that"] and _FINITE.search(" ".join(near))
    return verb not in STOP_WORDS and not _FORM.search(verb) and not is_said


def is_command(text: str) -> bool:
    """Tell whether a text is a command line with few words around it, or says what one does."""
    codes = [one for one in _CODE.finditer(text) if _COMMAND.fullmatch(one[0])]
    if codes and codes[0].start() == 0 and _NAMED.match(text):
        return True
    bare = _CODE.sub("", text)
    ends = bool(codes) and _AT_END.fullmatch(text, codes[-1].end()) is not None
    prose = _ASIDE.sub("", _BARE.sub("", bare))
    runs = ends or _BARE.search(bare) is not None
    return runs and len(re.findall(r"\w+", prose)) <= _MOST_PROSE


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text; one that calls out orders nothing."""
    return (one for one in _SENTENCE.split(text) if not one.endswith("!"))


@lru_cache(maxsize=1024)
def _stated_types(text: str) -> list[MemoryType]:
    """Return the types of what a text states, the surest first."""
    said = Message(id="note", role=Role.USER, content=text, created_at=UNDATED)
    return [fact.type for fact in sorted(extract(said), key=lambda fact: -fact.confidence)]
