"""Reading what a model wrote, and the checks that it passes before anything is made of it.

Is it founded in what the model was given, by its names, numbers, paths, and words? That is cheap
and strict: what is refused wrongly costs a better sentence, since the rules' answer
stands in its place; what is let through wrongly would be remembered.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from typing import Any, Final, cast

import msgspec

from pmem.core import secrets
from pmem.core.consent import sensitive
from pmem.core.instructions import instruction_in
from pmem.core.style_rules import Rule, lints
from pmem.core.summaries.worth import everyday_terms
from pmem.core.text.paths import named_paths, named_symbols
from pmem.core.text.sentences import split_sentences
from pmem.core.text.terms import fold, terms
from pmem.core.text.words import NUMBER_WORDS, STOP_WORDS
from pmem.core.visible import visible
from pmem.model.models import AnswerRefused
from pmem.model.tasks import (
    TASKS,
    ChunkGiven,
    CompactionAnswer,
    CompactionGiven,
    ConversationGiven,
    EpisodeAnswer,
    FactsAnswer,
    Given,
    InsightsAnswer,
    PairsAnswer,
    PairsGiven,
    ProcedureAnswer,
    SummaryAnswer,
    TaskKind,
)

MOST_CHARACTERS: Final = 65_536  # of an answer: no task needs more than a few thousand
_MOST_TRIED: Final = 20  # opening brackets from which an object is tried to be read
_SAID: Final = 200


def read_model_answer(kind: TaskKind, said: Any) -> msgspec.Struct:
    """Return what a model answered, unless it is too long, no whole JSON or has another form."""
    wanted = TASKS[kind].answer
    if isinstance(said, bytes):
        said = said.decode(errors="replace")
    if isinstance(said, str):
        said = _first_object(said)
    try:
        if isinstance(said, msgspec.Struct):
            said = msgspec.to_builtins(said)
        answer: msgspec.Struct = msgspec.convert(said, wanted)
        msgspec.json.encode(answer)
    except UnicodeEncodeError:
        raise AnswerRefused("the answer is not valid UTF-8") from None
    except (msgspec.ValidationError, RecursionError, TypeError) as error:
        raise AnswerRefused(f"the answer has another form: {str(error)[:_SAID]}") from None
    return answer


def _first_object(text: str) -> Any:
    if len(text) > MOST_CHARACTERS:
        raise AnswerRefused(
            f"the answer has {len(text)} characters, and at most {MOST_CHARACTERS} are read"
        )
    from json import JSONDecoder

    decoder = JSONDecoder()
    for bracket in islice(re.finditer("{", text), _MOST_TRIED):
        with suppress(ValueError, RecursionError):
            return decoder.raw_decode(text, bracket.start())[0]
    raise AnswerRefused("the answer holds no whole JSON object")


LEAST_SHARE: Final = 0.4
"""Of the words of an answer that say something, so many must stand in what was given."""
_FEW: Final = 4  # so few words are held to no share: one of them must be known
_QUOTED: Final = 60
_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:[.,:]\d+)*|\d+")
_WORD: Final = re.compile(r"[^\W\d_][\w'’+#-]*")
_BEGINS: Final = re.compile(r"(?:^|[.!?:;。！？\n]|[-*•]\s)[\s\"'“”‘’()\[\]*_`-]*\Z")
_OPENERS: Final = frozenset(
    """agent app application argument assistant build bug chat client code command comment
    conversation customer database decision developer discussion engineer error exchange facts
    feature file fix folder issue maintainer meeting member message migration model nobody
    option people person project question release repository request requirement review
    service session setting somebody speaker speakers step system task team test tests tool
    topic user users version workflow writer both instead later earlier first second third
    next finally meanwhile then afterwards""".split()
)
"""Words that sentences about a conversation begin with, and that name nothing."""


class FoundedText(msgspec.Struct, frozen=True):
    """What a text names: the text without case and accents, its words, their base forms, and its
    numbers without commas between thousands.
    """

    folded: str
    words: frozenset[str]
    stems: frozenset[str]
    numbers: frozenset[str]


def source_of(given: Given) -> FoundedText:
    """Return all that a task is given in words."""
    text = "\n".join(_texts_in(msgspec.to_builtins(given)))
    folded = _small(text)
    words = frozenset(match[0].strip("'’-") for match in _WORD.finditer(folded))
    parts = frozenset(part for word in words for part in re.split(r"['’+#-]", word))
    numbers = set(map(_plain_number, _NUMBER.findall(text)))
    numbers |= {NUMBER_WORDS[word] for word in words & NUMBER_WORDS.keys()}
    return FoundedText(folded, words | parts, frozenset(terms(text)), frozenset(numbers))


def check_founded(text: str, source: FoundedText, what: str, share: float = LEAST_SHARE) -> None:
    """Refuse a text with a number, a path, a symbol or a name that its source does not have.

    So large a `share` of its telling words must stand there, too, and one of few: otherwise it may
    be invented, or in another language.
    """
    for kind, name in _unknown_names(text, source):
        raise AnswerRefused(f"{what} has the {kind} {name[:_QUOTED]!r}, which the source has not")
    telling = [term for term in dict.fromkeys(terms(text)) if term not in everyday_terms()]
    known = sum(term in source.stems for term in telling)
    enough = known >= share * len(telling) if len(telling) >= _FEW else known or not telling
    if not enough:
        raise AnswerRefused(f"{what} has {known} of {len(telling)} telling words from its source")


def _unknown_names(text: str, source: FoundedText) -> Iterator[tuple[str, str]]:
    for number in _NUMBER.findall(text):
        plain = re.escape(_plain_number(number))
        # perhaps as the first part of a longer one, `16.2`, or as the minutes of a time
        if not any(re.fullmatch(rf"(.*:)?{plain}([.:].*)?", known) for known in source.numbers):
            yield "number", number
    for name in named_paths(text):
        if _small(name) not in source.folded:
            yield "path", name
    for name in named_symbols(text):
        if _small(name).removesuffix("()") not in source.folded:
            yield "name", name
    for match in _WORD.finditer(text):
        word = match[0].strip("'’-")
        if _is_name(word, bool(_BEGINS.search(text[: match.start()]))) and not _knows(source, word):
            yield "name", word


def _plain_number(text: str) -> str:
    return re.sub(r",(?=\d{3}(?!\d))", "", text).strip(".,:")


def _is_name(word: str, begins: bool) -> bool:
    """Tell whether a word is written as a name; the first of a sentence has a capital anyway."""
    if word == "I" or not any(map(str.isupper, word)):
        return False
    return not (begins and word[1:] == word[1:].lower() and _is_common(_small(word)))


@lru_cache(maxsize=4096)
def _is_common(word: str) -> bool:
    """Tell whether a word names nothing: one of everyday talk, or of talk about a task."""
    if word in STOP_WORDS or word in _OPENERS or word.removesuffix("s") in _OPENERS:
        return True
    stems = terms(word)
    return not stems or all(stem in everyday_terms() for stem in stems)


def _knows(source: FoundedText, word: str) -> bool:
    whole = re.sub(r"['’]s?\Z", "", _small(word))
    if whole in source.words or whole.removesuffix("s") in source.words:
        return True
    parts = [part for part in re.split(r"[-+#'’]", whole) if part]
    if len(parts) > 1 and all(part in source.words or _is_common(part) for part in parts):
        return True
    stems = terms(word)
    return bool(stems) and all(stem in source.stems for stem in stems)


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            if name != "id":
                yield from _texts_in(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts_in(part)


def _small(text: str) -> str:
    return fold(text).casefold()


MOST_FACT: Final = 500
LEAST_FACT: Final = 5
MOST_INSIGHT: Final = 280
MOST_TITLE: Final = 80
MOST_EPISODE: Final = 300
MOST_STEP: Final = 300
MOST_REASON: Final = 1000
MOST_TAG: Final = 60
"""Characters of what answers say."""
MOST_SENTENCES: Final = 4  # of an app's memory
_LOOSE: Final = 0.25  # the share of known words in what is told of several records, or as orders
_FORMAL: Final[Collection[Rule]] = ("third_person", "tone")
_OTHERS: Final = frozenset("he she they it this that these those his her their its".split())
"""What no fact begins with: within it, they stand for what it names."""
_STANDING_ALONE: Final[Collection[Rule]] = ("complete", "third_person", "pronouns", "tone")


class CheckRules(msgspec.Struct, frozen=True):
    """What the settings say: what may not be said of a person, and what is no secret."""

    private: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()


class _Check(msgspec.Struct, frozen=True):
    source: FoundedText
    rules: CheckRules

    def text(
        self,
        text: str,
        what: str,
        most: int,
        *,
        style: Collection[Rule] = (),
        episodic: bool = False,
        private: bool = True,
        share: float | None = LEAST_SHARE,
    ) -> None:
        """See that a text may be kept; without a share it need not be founded."""
        self.form(text, what, most)
        broken = [lint for lint in lints(text, episodic=episodic) if lint.rule in style]
        if broken:
            raise AnswerRefused(f"{what} breaks a writing rule: {broken[0].sentence}")
        field = sensitive(text, self.rules.private) if private else None
        if field is not None:
            raise AnswerRefused(f"{what} tells a person's {field.replace('_', ' ')}")
        if share is not None:
            check_founded(text, self.source, what, share)

    def form(self, text: str, what: str, most: int) -> None:
        """See that a text has the length it may have, and holds nothing that harms its readers."""
        if not text.strip():
            raise AnswerRefused(f"{what} is empty")
        if len(text) > most:
            raise AnswerRefused(f"{what} has {len(text)} characters, and the limit is {most}")
        if visible(text) != text:
            raise AnswerRefused(f"{what} has hidden characters")
        if secrets.find(text, self.rules.allowed):
            raise AnswerRefused(f"{what} holds what looks like a secret")
        told = instruction_in(text)
        if told is not None:
            raise AnswerRefused(f"{what} {told}")


def checked_answer(kind: TaskKind, given: Given, said: Any, rules: CheckRules) -> Any:
    """Return an answer without the space around its texts; raise why it may not be used."""
    tidy = with_texts(read_model_answer(kind, said), str.strip)
    _CHECKS[kind](_Check(source_of(given), rules), given, tidy)
    return tidy


def _chunk_summary(check: _Check, given: ChunkGiven, answer: SummaryAnswer) -> None:
    check.text(answer.summary, "the summary", given.most_characters, style=_FORMAL, private=False)


def _conversation_summary(check: _Check, given: ConversationGiven, answer: SummaryAnswer) -> None:
    if not answer.summary:
        return
    check.text(answer.summary, "the summary", given.most_characters, style=_FORMAL)
    count = len(split_sentences(answer.summary))
    if count > MOST_SENTENCES:
        raise AnswerRefused(f"the summary has {count} sentences, and the limit is {MOST_SENTENCES}")


def _compaction(check: _Check, given: CompactionGiven, answer: CompactionAnswer) -> None:
    known = {memory.id: memory for memory in given.memories}
    target, merged = answer.targetMemoryId, answer.mergedMemoryId or given.memories[-1].id
    for name in (target, merged):
        if name not in known:
            raise AnswerRefused(f"the decision names {name[:60]!r}, which is no memory of the app")
    check.text(answer.reason, "the reason", MOST_REASON, share=None)  # "outdated" is no quotation
    if answer.action == "delete":
        if known[target].pinned and not all(memory.pinned for memory in given.memories):
            raise AnswerRefused(f"the decision deletes {target}, which is pinned")
    else:
        if target == merged:
            raise AnswerRefused(f"the decision merges {target} with itself")
        content = answer.newContent or ""
        check.text(content, "the new content", given.most_characters, style=_FORMAL)


def _turn_facts(check: _Check, given: Given, answer: FactsAnswer) -> None:  # noqa: ARG001
    for fact in answer.facts:
        if len(fact.content) < LEAST_FACT:
            raise AnswerRefused(f"a fact has fewer than {LEAST_FACT} characters")
        if fact.content.split()[0].lower().strip("\"'") in _OTHERS:
            raise AnswerRefused("a fact begins with a pronoun: name who or what it is")
        style: Collection[Rule] = ("complete", *_FORMAL)
        check.text(fact.content, "a fact", MOST_FACT, style=style, private=False)


def _episode(check: _Check, given: Given, answer: EpisodeAnswer) -> None:  # noqa: ARG001
    check.text(answer.title, "the title", MOST_TITLE)
    style: Collection[Rule] = (*_STANDING_ALONE, "sentences", "past_tense")
    check.text(answer.summary, "the summary", MOST_EPISODE, style=style, episodic=True)


def _insight(check: _Check, given: Given, answer: InsightsAnswer) -> None:  # noqa: ARG001
    style: Collection[Rule] = (*_STANDING_ALONE, "sentences")
    for insight in answer.insights:
        check.text(insight.summary, "an insight", MOST_INSIGHT, style=style, share=_LOOSE)
        for tag in insight.tags:
            check.text(tag, "a tag", MOST_TAG, share=_LOOSE)


def _same_fact(check: _Check, given: PairsGiven, answer: PairsAnswer) -> None:  # noqa: ARG001
    asked = {pair.id for pair in given.pairs}
    told = [verdict.id for verdict in answer.pairs]
    for name in told:
        if name not in asked:
            raise AnswerRefused(f"the answer names the pair {name[:60]!r}, which was not asked for")
    if len(set(told)) < len(told):
        raise AnswerRefused("the answer has two verdicts for one pair")
    if not told:  # the same pairs would be taken for done, and never asked about again
        raise AnswerRefused("the answer has a verdict for none of the pairs")


def _procedure(check: _Check, given: Given, answer: ProcedureAnswer) -> None:  # noqa: ARG001
    if not answer.steps:
        return
    check.text(answer.title, "the title", MOST_TITLE, share=_LOOSE)
    for step in answer.steps:
        if "\n" in step or step[:1].isdigit():
            raise AnswerRefused("a step is one line that begins with a verb")
        check.text(step, "a step", MOST_STEP, style=_FORMAL, share=_LOOSE)


_CHECKS: Final = cast(
    Mapping[TaskKind, Callable[[_Check, Any, Any], None]],
    {
        "chunk_summary": _chunk_summary,
        "conversation_summary": _conversation_summary,
        "compaction": _compaction,
        "turn_facts": _turn_facts,
        "episode": _episode,
        "insight": _insight,
        "same_fact": _same_fact,
        "procedure": _procedure,
    },
)


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return the same with each text in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, tuple):
        return tuple(with_texts(part, change) for part in value)
    if isinstance(value, msgspec.Struct):
        parts = ((name, getattr(value, name)) for name in value.__struct_fields__)
        return type(value)(**{name: with_texts(part, change) for name, part in parts})
    return value
