"""The checks that every answer passes, whoever gives it, before anything is made of it."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final, cast

import msgspec

from pmem.core import secrets
from pmem.core.consent import sensitive
from pmem.core.instructions import instruction_in
from pmem.core.style_rules import Rule, lints
from pmem.core.text.sentences import split_sentences
from pmem.core.visible import visible
from pmem.model.founded import LEAST_SHARE, FoundedText, check_founded, source_of
from pmem.model.models import AnswerRefused
from pmem.model.tasks import (
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

MOST_FACT: Final = 500
LEAST_FACT: Final = 5
MOST_INSIGHT: Final = 280
MOST_TITLE: Final = 80
MOST_EPISODE: Final = 300
MOST_STEP: Final = 300
MOST_REASON: Final = 1000
MOST_TAG: Final = 60
"""Characters of what answers say."""
MOST_SENTENCES: Final = 4
"""Of an app's memory."""
_LOOSE: Final = 0.25
"""The share of known words in what is told of several records, or as orders."""
_FORMAL: Final[Collection[Rule]] = ("third_person", "tone")
_OTHERS: Final = frozenset("he she they it this that these those his her their its".split())
"""What no fact begins with: within it, they stand for what it names."""
_STANDING_ALONE: Final[Collection[Rule]] = ("complete", "third_person", "pronouns", "tone")


class CheckRules(msgspec.Struct, frozen=True):
    """What the settings say: what may not be said of a person, and what is no secret."""

    private: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()


class _Check(msgspec.Struct, frozen=True):
    """What is looked at in one answer."""

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
        """See that a text may be kept; without a share it need not be founded.

        Raises:
            AnswerRefused: It may not.
        """
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
        """See that a text has the length it may have, and holds nothing that harms its readers.

        Raises:
            AnswerRefused: It does not, or it does.
        """
        if not text.strip():
            raise AnswerRefused(f"{what} is empty")
        if len(text) > most:
            raise AnswerRefused(f"{what} has {len(text)} characters, and the limit is {most}")
        if visible(text) != text:
            raise AnswerRefused(f"{what} has hidden characters")
        if secrets.find(text, self.rules.allowed):
            raise AnswerRefused(f"{what} holds what looks like a secret")
        told = instruction_in([text])
        if told is not None:
            raise AnswerRefused(f"{what} {told}")


def checked_answer(kind: TaskKind, given: Given, answer: Any, rules: CheckRules) -> Any:
    """Return an answer that may be used, without the space around its texts.

    Args:
        kind: The task.
        given: What it was given.
        answer: What was answered, in its form.
        rules: What the settings say.

    Raises:
        AnswerRefused: It may not be used.
    """
    tidy = _stripped(answer)
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


def _stripped(value: Any) -> Any:
    """Return the same without the space around each text."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, tuple):
        return tuple(map(_stripped, value))
    if isinstance(value, msgspec.Struct):
        return type(value)(**dict(_stripped_fields(value)))
    return value


def _stripped_fields(value: msgspec.Struct) -> Iterator[tuple[str, Any]]:
    for name in value.__struct_fields__:
        yield name, _stripped(getattr(value, name))
