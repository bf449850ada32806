"""The facts that messages state, by rules: decisions, preferences, constraints, goals and others.

A sentence is read as words. A phrase of `cues.CUES` counts where its speaker fits and nothing
before it makes it a question, a condition, a guess or somebody else's word. Some kinds have a
form rather than a phrase (steps, who is who, changes): see `pmem.core.extraction.shapes`. Every
step looks at one sentence of bounded length, so the time is linear in the length of the message.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from pmem.core.extraction import shapes
from pmem.core.extraction.attempts import cut_to_memory, outcome
from pmem.core.extraction.cues import CORRECTIONS, LABELS, NOTES, SETS, WISHES
from pmem.core.extraction.phrases import (
    BREAKS,
    LINKS,
    Clause,
    clauses,
    closing,
    first_word,
    is_exact,
    is_hazy,
    is_thought,
    names_code,
    opening,
    phrase_at,
)
from pmem.core.extraction.shapes import StatementMatch, split_workflow
from pmem.core.extraction.third_person import called_in, in_third_person, with_others
from pmem.core.text.paths import named_paths, named_symbols
from pmem.core.text.sentences import (
    LINK,
    LONGEST,
    ParsedSentence,
    joining_cannot,
    normal,
    read,
    sentences,
)
from pmem.core.text.speech import is_talk
from pmem.core.text.terms import fold
from pmem.core.text.words import GIVEN_NAMES, STOP_WORDS
from pmem.values.defaults import DEFAULT_CATEGORY
from pmem.values.patterns import lazily
from pmem.values.records import Fact, MemoryType, Message, Role

LEAST: Final = 0.5  # confidence
SHORTEST: Final = 5  # characters
WISHED: Final = 0.95  # confidence of what is to be remembered
NOTED: Final = 0.75  # confidence of "for your information"
THOUGHT: Final = 0.25  # less confidence after "I think"
OUTCOME: Final = 0.6  # confidence of what the last words of a turn say was done
REPORTED: Final = 0.8  # an assistant's word, as a share of a user's
_OPENING: Final = 2  # words: an article and a name
_PAUSES: Final = frozenset("-–—,(")
_PRONOUNS: Final = frozenset(("it", "they", "them", "he", "she", "him"))
_SELF: Final = frozenset(("i", "my"))
_RULINGS: Final = (MemoryType.DECISION, MemoryType.CONSTRAINT, MemoryType.PROCEDURE)
_REASONS: Final = frozenset("because since as if unless when where who whose which".split())
_ARTICLES: Final = frozenset(("a", "an", "the"))
_LEADS: Final = frozenset(("we", "i", "have"))
_CHINESE: Final = (
    (MemoryType.FACT, WISHED, ("请记住", "记住", "请记得")),
    (MemoryType.DECISION, 0.85, ("我们决定", "我决定", "决定使用", "决定采用", "我们选择了")),
    (MemoryType.CONSTRAINT, 0.75, ("必须", "不能", "不要", "不得", "禁止", "不允许")),
    (MemoryType.PREFERENCE, 0.75, ("我更喜欢", "我们更喜欢", "我偏好", "以后请")),
    (MemoryType.GOAL, 0.8, ("目标是",)),
)
_NOTE_WORDS: Final = 4
"""A note of fewer words, such as "note that it fails", says nothing to keep."""
_CHINESE_CLOUDS: Final = (
    "吗", "如果", "假如", "要是", "也许", "可能", "是否", "没有决定", "还没", "应该", "据说", "说",
    "不要紧", "不能不", "觉得", "什么", "不要担心", "为什么",
)  # fmt: skip


class Candidate(NamedTuple):
    """A fact that a message states.

    Attributes:
        content: A clause or sentence of the message, 5 to 500 characters.
        type: What kind of memory it would be.
        confidence: How sure it is that this was meant to last, between 0.5 and 1.
        subject: Whom or what it is about, if that is named: a person, a file, a symbol.
    """

    content: str
    type: MemoryType
    confidence: float
    subject: str | None = None


def extract(message: Message) -> list[Candidate]:
    """Return the facts that a message states, each once, in their order.

    System and tool messages state none. Of an assistant's message count decisions and changes
    that it reports, with less confidence than a user's.
    """
    if not is_talk(message):
        return []
    found: dict[str, Candidate] = {}
    for fact in _candidates_in(message):
        if fact.confidence >= LEAST and len(fact.content) >= SHORTEST:
            found.setdefault(key(fact.content), fact)
    told: dict[str, Candidate] = {}
    for fact in (_of_speaker(one, message) for one in found.values()):
        told.setdefault(key(fact.content), fact)
    return list(told.values())


def _candidates_in(message: Message) -> Iterator[Candidate]:
    """Yield what a message states in its own words, an outcome in place of what it includes."""
    share = 1.0 if message.role is Role.USER else REPORTED
    done = outcome(message.content) if message.role is Role.ASSISTANT else None
    exact = done is not None and names_code(read(done))
    ready = Candidate(done, MemoryType.FACT, OUTCOME) if done is not None and exact else None
    said = message.content
    flow = split_workflow(said) if message.role is Role.USER else None
    if flow is not None:
        yield Candidate(flow.steps, MemoryType.PROCEDURE, shapes.PROCEDURE)
        said = flow.rest
    for sentence in sentences(said):
        for fact in stated(sentence, message.role):
            weighed = fact._replace(confidence=round(fact.confidence * share, 2))
            if ready is None or weighed.content not in ready.content:
                yield weighed
            elif ready.content.startswith(weighed.content):
                ready = weighed._replace(content=ready.content)
    if ready is not None:
        yield ready


def _of_speaker(fact: Candidate, message: Message) -> Candidate:
    """A fact in the third person; it is about its speaker if it names him alone."""
    is_person = message.role is Role.USER
    alone = in_third_person(fact.content, called_in(fact.content, message))
    told = with_others(alone, message.speaker) if is_person else cut_to_memory(alone)
    if alone == fact.content:
        return fact._replace(content=told[:LONGEST], subject=fact.subject or _named_first(told))
    return fact._replace(content=told[:LONGEST], subject=fact.subject or message.speaker)


def _named_first(content: str) -> str | None:
    """The file or symbol that a statement begins with, which it is about."""
    opening_ = " ".join(content.split(maxsplit=_OPENING)[:_OPENING])
    return next(iter((*named_paths(opening_), *named_symbols(opening_))), None)


def key(content: str) -> str:
    """Return the form by which two facts are the same.

    Case, accents, punctuation, articles, contractions and a leading "we", "I" or "have" do not
    count; numbers with their signs and units, links, comparisons and negations do.
    """
    plain = [word for word in _plain_words(content) if word not in _ARTICLES]
    words, _ = joining_cannot(plain)
    begin = 0
    while begin < len(words) - 1 and words[begin] in _LEADS:
        begin += 1
    return " ".join(words[begin:]) or " ".join(content.casefold().split())


def _plain_words(content: str) -> Iterator[str]:
    for token in _KEY_PATTERN.findall(fold(content).casefold()):
        if LINK in token:
            yield token.rstrip(".,;:!?)")
        else:
            yield from normal(token.replace(",", ""))


_KEY_PATTERN: Final = lazily(
    r"https?://[^\s\"`<>]+|(?<!\w)-(?=\d)[\d.,]*\d|\w+(?:[./@:_'’-]\w+|,\d+)*[%+#]*|[<>=≤≥$€£¥]+"
)
"""Compiled when first needed: most commands never compare facts."""


def stated(sentence: ParsedSentence, role: Role) -> list[Candidate]:
    """Return what a sentence states, in its own words."""
    if sentence.asked:
        return []
    if role is Role.ASSISTANT:
        return _best_statements(sentence, opening(sentence.words), shapes.REPORTED)
    if not sentence.text.isascii():
        chinese = _chinese(sentence.text)
        if chinese:
            return chinese
    return _wished(sentence) or _labelled(sentence) or _users(sentence)


def _users(sentence: ParsedSentence) -> list[Candidate]:
    """What a user's sentence states without a wish or a label."""
    words = sentence.words
    begin = opening(words)
    steps = shapes.procedure(sentence, begin)
    if steps is not None and not is_hazy(words, begin, begin):
        return [_candidate(sentence, Clause(begin, closing(words)), steps)]
    stated = _best_statements(sentence, begin, shapes.STATEMENTS)
    if not stated and phrase_at(words, first_word(words), NOTES):
        clause = Clause(begin, closing(words))
        note = StatementMatch(begin, MemoryType.FACT, NOTED)
        return [_candidate(sentence, clause, note)] if clause.end - begin >= _NOTE_WORDS else []
    return stated


def _best_statements(
    sentence: ParsedSentence, begin: int, readers: Iterable[shapes.Reader]
) -> list[Candidate]:
    """The best hit of each clause that has one."""
    found: list[tuple[Clause, StatementMatch | None]] = []
    for clause in clauses(sentence, begin):
        hits = [hit for reader in readers for hit in reader(sentence, clause)]
        sound = [hit for hit in hits if not is_hazy(sentence.words, begin, hit.place)]
        best = max(sound, key=lambda hit: (hit.confidence, -hit.place), default=None)
        if best is not None and is_thought(sentence.words, begin, best.place):
            best = best._replace(confidence=best.confidence - THOUGHT)
        if found and best is None and sentence.words[clause.begin - 1] != "and":
            (start, _), told = found[-1]
            found[-1] = (Clause(start, clause.end), told)
        else:
            found.append((clause, best))
    return [
        _candidate(sentence, _without_remark(sentence.words, clause, hit), hit)
        for clause, hit in found
        if hit is not None
    ]


def _without_remark(words: list[str], clause: Clause, hit: StatementMatch) -> Clause:
    """What somebody says of himself up to a comma with a pronoun behind it: ", they calm me".

    A reason stays, and so does what is said of a decision or a rule.
    """
    if hit.type in _RULINGS or _SELF.isdisjoint(words[clause.begin : hit.place + 1]):
        return clause
    comma = clause.end
    for place in range(hit.place, clause.end):
        if words[place] in _PRONOUNS:
            return Clause(clause.begin, comma)
        if words[place] in _PAUSES and _REASONS.isdisjoint(words[place + 1 : place + 2]):
            comma = place
    return clause


def _wished(sentence: ParsedSentence) -> list[Candidate]:
    """What is to be remembered by the user's own words."""
    words = sentence.words
    first = first_word(words)
    wish = phrase_at(words, first, WISHES)
    begin = first + len(wish)
    if not wish:
        return []
    clause = Clause(begin - (wish[-1] in ("my", "our")), closing(words))
    if clause.begin >= clause.end:
        return []
    hits = [hit for reader in shapes.STATEMENTS for hit in reader(sentence, clause)]
    plain = StatementMatch(0, MemoryType.FACT, 0)
    best = max(hits, key=lambda hit: hit.confidence, default=plain)
    return [_candidate(sentence, clause, best._replace(confidence=WISHED))]


def _labelled(sentence: ParsedSentence) -> list[Candidate]:
    """What a note with a label says: "Decision: we keep the old name"."""
    words = sentence.words
    first = opening(words)
    colon = words.index(":", first) if ":" in words[first : first + 3] else first
    known = LABELS.get(" ".join(words[first:colon]))
    if known is None or sentence.text.rstrip()[-1:] in "}]:" or colon + 2 >= len(words):
        return []
    return [
        _candidate(
            sentence,
            Clause(first, closing(words)),
            StatementMatch(first, MemoryType(known[0]), known[1]),
        )
    ]


def _chinese(text: str) -> list[Candidate]:
    if any(cloud in text for cloud in _CHINESE_CLOUDS):
        return []
    for kind, confidence, phrases in _CHINESE:
        for phrase in phrases:
            if phrase in text:
                content = text.partition(phrase)[2] if confidence == WISHED else text
                return [Candidate(content.strip(" ：:，,。！"), kind, confidence)]
    return []


def _candidate(sentence: ParsedSentence, clause: Clause, hit: StatementMatch) -> Candidate:
    """Cut the clause out of the sentence; its last word's punctuation stays outside."""
    text, places = sentence.text, sentence.places
    last = clause.end - 1
    while last > clause.begin and sentence.words[last] in BREAKS | LINKS:
        if sentence.words[last - 1 : last + 1] == ["a", "while"]:
            break
        last -= 1
    if clause.begin > last:
        return Candidate("", hit.type, hit.confidence)
    start, end = places[clause.begin][0], places[last][1]
    if start and text[start - 1] in "$€£/@#.-":
        start -= 1
    if last == len(places) - 1:
        end = len(text.rstrip(" .!;"))
    return Candidate(text[start:end].strip(), hit.type, round(hit.confidence, 2), hit.subject)


PERSON: Final = "person"
CONTEXT: Final = "context"
PROJECT: Final = "project"
_COMPANIES: Final = frozenset("client customer vendor supplier provider name codename".split())
"""Roles that a company or a thing may have as well."""
_PEOPLE: Final = frozenset(
    "team department joined leads manages heads reports_to moved_to".split()
) | (frozenset(f"{SETS['role']} {SETS['kin']}".split()) - _COMPANIES)
_MAY_BE_PROGRAMS: Final = frozenset(("manager", "assistant"))
"""What may be programs as well, where no name before them is one that people are given."""
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
        word for word in words if word not in _MAY_BE_PROGRAMS or has_given_name
    }
    return not _PEOPLE.isdisjoint(spoken) or any(f"works_{word}" in spoken for word in _EMPLOYED)


NEAR: Final = 4
"""Messages of people and assistants before a correction that it may be about."""
_EMPTY: Final = STOP_WORDS | frozenset(
    "use using user asked decided make instead , : ; ( ) - –".split()
)
_CHANGE: Final = frozenset("changed changes moved moves now instead longer actually became".split())
"""Words of a statement that tells what something is from now on."""


def is_correction(text: str) -> bool:
    """Tell whether a message begins by taking back what was said before it."""
    first = next(sentences(text), None)
    if first is None or first.asked:
        return False
    words = first.words
    return bool(phrase_at(words, first_word(words), CORRECTIONS)) or words[-1:] == ["instead"]


def corrected(content: str, earlier: Sequence[str]) -> int | None:
    """Return the place of the statement that a correction takes the place of, if there is one.

    That is the one that shares the most words with it, else the latest with a value of the same
    kind: a number for a number, a name for a name.
    """
    new, before = read(content), list(map(read, earlier))
    words, kinds = _telling(new), _kinds(new)
    shared = [len(words & _telling(one)) for one in before]
    alike = [not kinds.isdisjoint(_kinds(one)) for one in before]
    best = max(range(len(earlier)), key=lambda at: (shared[at], alike[at], at), default=None)
    return best if best is not None and (shared[best] or alike[best]) else None


def outdated(said: Sequence[str]) -> dict[int, int]:
    """Return where statements stand that a later one takes the place of, and where that one does.

    A later one does so where it says that something has changed, is on the same matter, and gives
    a value of the same kind, or where it begins by taking back.
    """
    gone: dict[int, int] = {}
    for place, text in enumerate(said):
        is_taking_back = is_correction(text)
        if not is_taking_back and _CHANGE.isdisjoint(read(text).words):
            continue
        before = [at for at in range(place) if at not in gone]
        near = (
            before[-NEAR:] if is_taking_back else [at for at in before if _updates(text, said[at])]
        )
        at = corrected(text, [said[one] for one in near])
        if at is not None:
            gone[near[at]] = place
    return gone


def _updates(content: str, earlier: str) -> bool:
    new, old = read(content), read(earlier)
    alike = not _kinds(new).isdisjoint(_kinds(old))
    return alike and not _telling(new).isdisjoint(_telling(old))


def with_corrected(content: str, earlier: str) -> str:
    """Return a correction that says what it is about: what it replaces, where no word tells."""
    if _telling(read(content)) & _telling(read(earlier)):
        return content
    return f"{content} (before: {earlier})"[:LONGEST]


def _telling(sentence: ParsedSentence) -> frozenset[str]:
    """Its words that could say what it is about; names and numbers are what may change."""
    plain = (place for place in range(len(sentence.words)) if not is_exact(sentence, place))
    return frozenset(sentence.words[place] for place in plain) - _EMPTY


def _kinds(sentence: ParsedSentence) -> frozenset[bool]:
    """Whether it gives a number, or a name or code; its first word may be its speaker."""
    exact = (place for place in range(1, len(sentence.words)) if is_exact(sentence, place))
    return frozenset(sentence.words[place][0].isdigit() for place in exact)
