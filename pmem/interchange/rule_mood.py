"""What kind of memory a rule is: an order, a command, or a description, by how it is written."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from pmem.core.extraction.cues import IMPERATIVES, SETS
from pmem.core.extraction.facts import extract
from pmem.core.text.words import BASE_VERBS, STOP_WORDS
from pmem.values.records import MemoryType, Message, Role
from pmem.values.times import UNDATED

_BINDING: Final = re.compile(
    r"\b(?:must|shall|should|avoid|please)\b"
    r"|\b[a-z]{3,}s require(?= [a-z])|\b(?:is|are) \w+ only (?:if|when|after)\b"
    r"|(?:\A|[.,;:!?(–—-] ?|\b(?:and|then|please|(?<!if )(?<!when )you) )(?:do not|don['’]t)\b"
    r"|(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bhas )(?<!\bhave )(?<!\bbe )\b(?:always|never)\b",
    re.IGNORECASE,
)
_FORBIDDING: Final = re.compile(r"\b(?:must not|do not|don['’]t|never|avoid)\b", re.IGNORECASE)
_STATED: Final = (MemoryType.DECISION, MemoryType.CONSTRAINT, MemoryType.PREFERENCE)
_CODE: Final = re.compile(r"`[^`]*`")
_PLACEHOLDER: Final = re.compile(
    r"\A\W*(?:TODO|TBD|FIXME|N/A)\b|\A\W*\[[^\]]{3,}\]\W*\Z|\A[\W_]*\Z"
)
_FILLED: Final = re.compile(r"\{\{[^{}]*\}\}")
_MOST_FILLED: Final = 8
"""Words around each part that is to be filled in, from which on a text only shows one."""
_LABEL: Final = re.compile(
    r"\A(?:\[[\w-]+\] )?(?:(?:[^\s:.,;`]+|`[^`]*`)(?: (?:[^\s:.,;`]+|`[^`]*`)){0,2}"
    r"(?: \([^)]*\))?: )?"
)
_ORDERING_LABEL: Final = re.compile(r"\A\w+ \w+ \w+: ")
_DASH: Final = re.compile(r" [-–—]{1,2} |, (?:but|so) |; ")
NAME: Final = r"(?:`[^`]+`|[\w.*@-]*/[\w.*@/-]*)"
"""Code, or a path that is not marked as such."""
_NAMED: Final = re.compile(rf"\A{NAME}(?: \([^)]*\))?(?::| [-–—]{{1,2}}) ")
_WHEN: Final = (
    r"\A(?:If|When|Whenever|Before|After|For|On|In|Where|Unless|Once|Until|At|During|While|To)\b"
)
_BEFORE: Final = re.compile(_WHEN + r"(?:\([^()]*\)|[^.;:(]){1,160}?, ", re.IGNORECASE)
_OPEN: Final = frozenset(
    "must shall should not never to if when unless until before after with by for include".split()
)
_DEPENDING: Final = re.compile(_WHEN, re.IGNORECASE)
_HOW: Final = re.compile(r"\A([^`→:(]{3,60}?) (?:→|->|=>) ")
_MOST_COMMAS: Final = 4
_STRESS: Final = re.compile(r"\A(?:Only|Also|Just|Then|Instead|First|Otherwise),? ", re.IGNORECASE)
_ASKS: Final = re.compile(r"\A(?:Do|Please|Be) ", re.IGNORECASE)
_BANS: Final = re.compile(r"No (?=[\w`])(?!one\b)")
_FEW: Final = 2
"""Sentences of a text that may be a rule for every one of something, and no description."""
_EVERY: Final = re.compile(r"(?:Every|Each) [\w`]")
_CLAUSE: Final = re.compile(r"\b(?:that|which|who|whose|if|whether|when|where|what|how|why|as)\b")
_NO_VERBS: Final = STOP_WORDS | {"see"}
_ASKED: Final = frozenset(
    """adapt adhere adjust align analyse analyze append assert attach attempt batch cancel
    challenge checkout clarify compare compile comply compose configure consider consult
    convert cover debug declare decouple define delegate describe destroy detect
    determine disclose discuss dispose emit encapsulate enforce ensure escalate escape evaluate
    exclude extract filter flag focus generate guard guess handle identify ignore inform inject
    inline inspect integrate introduce investigate isolate iterate launch lint listen load localize
    look maintain manage map measure migrate mind minimize mirror monitor navigate normalize
    observe omit optimize organize override parenthesize parse paste perform place populate prefix
    prepare preserve prioritize produce propagate propose protect provide quarantine read
    redirect refactor reference register reject render reproduce resolve respect retain reuse
    sanitize save scan separate simulate solve specify stash stay strip stub suggest surround sync
    throttle tidy track transform treat try tune unwrap vary visit warn watch wrap""".split()
)
"""More verbs that instructions begin with; no word that is as often a noun before another."""
_VERBS: Final = (
    IMPERATIVES | BASE_VERBS | {*SETS["doing"].split(), *SETS["request"].split()} | _ASKED
) - _NO_VERBS
_AFTER_VERBS: Final = frozenset(
    """a all an any both each every it its me my no our that the their them these this those what
    your""".split()
)
_OPENING: Final = re.compile(r"\A(?:[Rr]e-)?([A-Z]?[a-z]{2,})(?::| (?=[`\w./*(\[\"'“-]))")
_PREFERS: Final = re.compile(r"prefer\b", re.IGNORECASE)
_FINITE: Final = re.compile(
    r"\b(?i:is|are|was|were|has|have|had|can|will|does|did|may|might|would|could)\b"
    r"|\b[a-z]+[^s]s (?:the|an?|its|it|each|every)\b|\b[a-z]+[^s]s `"
)
_ACTS: Final = re.compile(r"`[^`]+` (?!is\b|has\b|was\b)[a-z]+[^su]s\b")
_FORM: Final = re.compile(r"(?:[^su]s|ing|ed|ion|ity|ness|ly)\Z")
_NEAR: Final = 4
_FAR: Final = 12
_COMMAND: Final = re.compile(
    r"`\(?(?!(?:as|await|class|const|def|from|function|import|is|let|not|return|var)\b)"
    r"(?:(?:[A-Z_]+=\S+ )+[^`()]+|(?:[a-z~](?:[\w./@-]*\w)?|\.{1,2}/[\w./-]+)(?::[\w-]+)?(?! [={])"
    r" [^`()]+)\)?`"
)
_SCRIPT: Final = r"`\.{1,2}/(?:[\w.-]+/)*[\w-]+(?:\.(?:bash|bat|cmd|js|php|pl|ps1|py|rb|sh|ts))?`"
_LABELLED: Final = re.compile(
    rf"\A(?:\([^()]*\)|[^`:.(]){{2,60}}: (?:(?:[Uu]se|[Rr]un) )?"
    rf"(?:(?={_COMMAND.pattern})|{_SCRIPT})"
)
_VALUE: Final = re.compile(r"[^`:.]{2,60}: `[^`]+`\W*")
_BARE: Final = re.compile(r"(?:\A|: )(?:[A-Z_]+=\S+ |\./)\S.*")
_ASIDE: Final = re.compile(r"(?<!`)\([^()]*\)(?!`)")
_AT_END: Final = re.compile(r"\W*(?:\([^)]*\)\W*)?")
_MOST_PROSE: Final = 8
_SENTENCE: Final = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.) +")


def type_of(text: str) -> MemoryType:
    """Return what a rule is: an order that binds, a command, a decision, a preference, else a fact.

    An order to use one thing instead of another binds, and decides nothing.
    """
    if _BINDING.search(text):
        decides = _stated_types(text)[:1] == [MemoryType.DECISION] and not _is_ordering(text)
        return MemoryType.DECISION if decides else MemoryType.CONSTRAINT
    how = _HOW.match(text)
    if is_command(text) or (how and is_order(how[1])):
        return MemoryType.PROCEDURE
    if _is_ordering(text):
        return MemoryType.PREFERENCE if _PREFERS.match(_rest(text)) else MemoryType.CONSTRAINT
    return next((one for one in _stated_types(text)[:1] if one in _STATED), MemoryType.FACT)


def is_rule(text: str) -> bool:
    """Tell whether a text says what to do, or states something of the project."""
    return is_order(text) or is_statement(text)


def is_statement(text: str) -> bool:
    """Tell whether a text states something of the project."""
    return bool(_stated_types(text))


def is_order(text: str) -> bool:
    """Tell whether a sentence of a text says what has to be, must not be, or is to be done.

    A sentence orders where it begins with a verb, or with a word that is followed as a verb is,
    with no finite verb close behind it: "Use the exact revisions". Other languages have no orders
    here.
    """
    return is_binding(text) or _is_ordering(text)


def is_sure_order(text: str) -> bool:
    """Tell whether a text is an order whatever stands around it."""
    return is_binding(text) or any(map(_is_imperative, _sentences(text)))


def sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    return _SENTENCE.split(text)


def is_binding(text: str) -> bool:
    """Tell whether a text says in so many words what has to be or must not be."""
    return _BINDING.search(text) is not None


def forbids(text: str) -> bool:
    """Tell whether a text says what must not be."""
    return _FORBIDDING.search(text) is not None


def depends(text: str) -> bool:
    """Tell whether a text begins with what something else depends on: "Before you ship"."""
    return _DEPENDING.match(text) is not None


def describes(text: str) -> bool:
    """Tell whether a text surely says how something is: a finite verb is near its beginning.

    What is said of every one of them is a rule.
    """
    first = text.partition(" ")[0].casefold()
    does = first[-1:] == "s" and first[:-1] in _VERBS
    is_state = first[-2:] == "ed" and first not in _VERBS
    does = does or is_state or acts(text) or _VALUE.fullmatch(text) is not None
    return does or (_is_said(_rest(text), _FAR) and not _EVERY.match(text))


def acts(text: str) -> bool:
    """Tell whether a text says what a file or a name does, and not how it has to be."""
    return _ACTS.match(text) is not None


def ends_open(text: str) -> bool:
    """Tell whether a text is no sentence without what comes after it: "Before you ship, run:"."""
    last = re.split(r"\W+", text.rstrip(" :*_.…"))[-1].casefold()
    return last in _OPEN or last in _VERBS


def is_placeholder(text: str) -> bool:
    """Tell whether a text only stands for one that is to be written."""
    bare = _CODE.sub("code", text)
    words = re.findall(r"\w+", _FILLED.sub("", bare))
    return _PLACEHOLDER.search(bare) is not None or len(words) < _MOST_FILLED * len(
        _FILLED.findall(bare)
    )


def _rest(text: str) -> str:
    """Return a text without its label, what it depends on, and what only stresses it.

    A label of three words may be the order: "Keep layers thin: routes ...".
    """
    first = text.partition(" ")[0].casefold()
    if first in _VERBS and _ORDERING_LABEL.match(text):
        return text
    for opening in (_LABEL, _BEFORE, _STRESS):
        text = opening.sub("", text, count=1)
    return text


def _is_ordering(text: str) -> bool:
    told = list(_sentences(text))
    is_of_all = len(told) <= _FEW and any(map(_EVERY.match, told))
    return is_of_all or any(map(_is_imperative, told))


def _is_imperative(text: str) -> bool:
    if _NAMED.match(text):
        return False
    first, *clauses = _DASH.split(text)
    if _BEFORE.match(text):
        clauses += text.split(", ", _MOST_COMMAS)[1:]
    return any(_opens_with_verb(_rest(clause)) for clause in (first, *clauses))


def _opens_with_verb(clause: str) -> bool:
    if _ASKS.match(clause):
        return True
    if _BANS.match(clause):
        return not _is_said(clause, _FAR)
    found = _OPENING.match(clause)
    if found is None:
        return False
    verb, after = found[1].casefold(), clause[found.end() :]
    next_word = re.split(r"\W", after.casefold(), maxsplit=1)[0]
    follows = next_word in _AFTER_VERBS or after.startswith("`")
    is_verb = verb in _VERBS or (follows and not _FORM.search(verb) and verb not in _NO_VERBS)
    is_whole = found[0].endswith(":") or not _is_said(after, _NEAR - 1)
    return is_verb and is_whole and next_word != "of"


def _is_said(text: str, far: int) -> bool:
    """Tell whether one of the next words is a finite verb of the sentence itself."""
    near = " ".join(_ASIDE.sub("", text).split()[:far])
    return _FINITE.search(_CLAUSE.split(near, maxsplit=1)[0]) is not None


def is_command(text: str) -> bool:
    """Tell whether a text is a command line with few words around it, or says what one does."""
    if _LABELLED.match(text):
        return True
    text = _ASIDE.sub("", text)
    codes = [one for one in _CODE.finditer(text) if _COMMAND.fullmatch(one[0])]
    if codes and codes[0].start() == 0 and _NAMED.match(text):
        return True
    bare = _CODE.sub("", text)
    ends = bool(codes) and _AT_END.fullmatch(text, codes[-1].end()) is not None
    prose = _ASIDE.sub("", _BARE.sub("", bare))
    runs = ends or _BARE.search(bare) is not None
    return runs and len(re.findall(r"\w+", prose)) <= _MOST_PROSE


def is_command_line(text: str) -> bool:
    """Tell whether a line can be a command: a program's name and what it is given."""
    return _COMMAND.fullmatch(f"`{text}`") is not None


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text; one that calls out orders nothing."""
    return (one for one in _SENTENCE.split(text) if not one.endswith("!"))


@lru_cache(maxsize=1024)
def _stated_types(text: str) -> list[MemoryType]:
    """Return the types of what a text states, the surest first."""
    said = Message(id="note", role=Role.USER, content=text, created_at=UNDATED)
    return [fact.type for fact in sorted(extract(said), key=lambda fact: -fact.confidence)]
