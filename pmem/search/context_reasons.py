"""Why each memory is in a context, in words that a reader can check by hand."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from pmem.core.context.parts import Context, Section, ShownItem
from pmem.core.filters import EVERYTHING, cited_symbols, covers
from pmem.core.lifecycle.neighbours import OUTRANKS
from pmem.core.lines import shortened
from pmem.core.places import applies_within
from pmem.core.retrieval.documents import shown_text, summary_id
from pmem.core.retrieval.forms import likeness
from pmem.core.retrieval.question import is_english, searched_part
from pmem.core.retrieval.related_words import related
from pmem.core.text.terms import terms
from pmem.project.workspace import Workspace
from pmem.search.context_answers import ContextSource, task_paths, task_symbols
from pmem.values.ids import short
from pmem.values.records import Memory

REASONS: Final = {
    "pinned": "it is pinned",
    "importance": "it is among the most important",
    "rule": "it is a rule of the whole project",
    "lifted": "it is among the most important",
    "whole": "contexts show all of its category",
    "answers": "it answers the task",
    "place": "it applies to a file or a name that the task is about",
    "kin": "it has the same subject as an answer",
    "related": "an answer is linked to it",
    "few": "all memories fit into half of the budget",
    "system": "it is the system prompt",
    "memory": "it stands in every context",
    "updates": "it is new to the thread",
    "recalled": "it answers the task",
    "yours": "it is a rule of your own",
    "further": "there is room left",
    "summaries": "it sums up earlier messages",
    "earlier": "it answers the task",
    "recent": "it is recent",
    "over_budget": "its share of the budget is spent",
    "pinned_over_budget": "it is pinned, but the budget is too small for it",
    "no_match": "nothing connects it with the task",
    "below_threshold": "it has too little to do with the task",
    "unasked": "it is shown where it answers a task",
    "over_length": "there are enough of its category",
    "repeated": "something shown says the same",
    "mode_none": "contexts leave its category out",
    "not_valid_yet": "it is not valid yet",
    "expired": "it has expired",
    "unconfirmed": "an agent noted it, and nobody has confirmed it",
    "pruned": "pruning hides it",
    "unreviewed": "nobody has reviewed it",
    "settled": "it is a dead end that was settled",
}
"""The reasons that contexts give, and the names of their sections, as a reader takes them."""


def say_why(reason: str) -> str:
    """Return a reason in plain words; one that nobody wrote down stays as it is, in words."""
    return REASONS.get(reason, reason.replace("_", " "))


_BOTH: Final = 2
_WORDS: Final = 3
"""Shared words that are named."""
_WORD: Final = re.compile(r"\w[\w'’.:/-]*\w|\w")


STARTS: Final = 80
"""Of what is left out, so many characters are told where that is asked for."""


class Reasons:
    """What speaks for the items of one context."""

    def __init__(self, source: ContextSource) -> None:
        self._mask = source.workspace.mask.text
        self._source, self._usable = source, source.usable
        self._paths = task_paths(source.request.paths, self._source.asked)
        self._standing = set(terms(source.workspace.settings.context.standing))
        self._symbols = set(task_symbols(self._source.asked))
        self._first = {one.against: id_ for id_, one in source.differing.items() if one.against}

    def told(self, context: Context, own: Iterable[ContextSource]) -> Context:
        """Return a context whose items say what speaks for each.

        Where that is wanted, what it leaves out says how it begins; `own` are the
        sources beside the project's.
        """
        sections = tuple(
            Section(
                part.name,
                part.tokens,
                tuple(replace(item, reason=self._said(item, part.name)) for item in part.items),
            )
            for part in context.sections
        )
        if not self._source.request.explain:
            return replace(context, sections=sections)
        places = (*(one.workspace for one in own), self._source.workspace)
        starts = _starts(places, {one.id for one in context.omitted})
        omitted = (replace(one, text=starts.get(one.id, one.text)) for one in context.omitted)
        return replace(context, sections=sections, omitted=tuple(omitted))

    def _said(self, item: ShownItem, section: str) -> str:
        memory = None if item.mine else self._usable.get(item.id)
        if item.why == "answers":
            return self._of_answer(item.text, memory)
        if memory is None:
            return say_why(item.why or section)
        said = {
            "rule": lambda: self._of_rule(item.text, memory),
            "lifted": lambda: f"its importance is {memory.importance:g}",
            "importance": lambda: f"by importance, which is {memory.importance:g}",
            "place": lambda: self._of_place(memory),
            "kin": lambda: (
                "it has the subject of an answer, "
                + short(self._source.valuation.akin(memory) or "")
            ),
            "related": lambda: self._of_link(memory),
        }
        return said[item.why]() if item.why in said else say_why(item.why)

    def _of_answer(self, text: str, memory: Memory | None) -> str:
        """Name the words that an answer shares with the task, else words related to these."""
        task = searched_part(self._source.asked)
        asked = set(terms(task))
        places = [("", text)]
        if memory is not None:
            places = [("", f"{memory.subject or ''} {text}")]
            places += [("its tag ", tag) for tag in memory.tags]
        for where, part in places:
            shared = _words_with(part, asked)
            if shared:
                return f"{where}shares {self._mask(', '.join(shared))} with the task"
        for where, part in places:
            held = set() if is_english(task) else set(terms(part))
            forms = ((word, {one for one in held if likeness(word, one)}) for word in sorted(asked))
            others = ((word, set(related(word))) for word in sorted(asked))
            meant = [("spelled like", *one) for one in forms]
            meant += [("a word related to", *one) for one in others]
            for how, word, wanted in meant:
                pair = [*_words_with(part, wanted)[:1], *_words_with(task, {word})[:1]]
                if len(pair) == _BOTH:
                    return f"{where}has {self._mask(f', {how} '.join(pair))}"
        return "the search for the task found it"

    def _of_rule(self, text: str, memory: Memory) -> str:
        """Name its type, and the words that it shares with the standing question."""
        said = f"a {memory.type.replace('_', ' ')} of the whole project"
        shared = _words_with(f"{memory.subject or ''} {text}", self._standing)
        if not shared:
            return said
        return f"{said}; has {self._mask(', '.join(shared))} of context.standing"

    def _of_place(self, memory: Memory) -> str:
        for path in self._paths:
            if memory.places and applies_within(memory.places, path):
                return f"it is for {self._mask(path)}"
            if covers(memory, path):
                return f"it cites {self._mask(path)}"
        symbols = sorted(self._symbols & cited_symbols(memory))
        return f"it cites {self._mask(symbols[0])}" if symbols else say_why("place")

    def _of_link(self, memory: Memory) -> str:
        """Name what brought a memory: an answer that is linked to it, or an older text of it."""
        found = self._source.related.get(memory.id)
        if found is not None:
            return f"{short(found.via)}, an answer, is linked to it"
        behind = self._first.get(memory.id)
        if behind is None:
            return say_why("related")
        is_newer = self._source.differing[behind].relation != OUTRANKS
        return f"it {'is newer' if is_newer else 'is trusted more'} than {short(behind)}"


def _starts(places: Iterable[Workspace], wanted: set[str]) -> dict[str, str]:
    """Return how some records and messages begin; no more is read than has them."""
    found: dict[str, str] = {}
    for place in places:
        for identifier, text in _texts(place):
            if wanted == found.keys():
                return found
            if identifier in wanted:
                found[identifier] = shortened(" ".join(place.mask.text(text).split()), STARTS)
    return found


def _texts(workspace: Workspace) -> Iterator[tuple[str, str]]:
    """Yield the text of each memory, episode, summary and message, by its id."""
    yield from ((memory.id, memory.content) for memory in workspace.memories.find(EVERYTHING))
    for episode in workspace.episodes.find(EVERYTHING):
        yield episode.id, shown_text(episode)
    for chunk in workspace.chunks.find():
        yield from ((chunk.id, chunk.summary), (summary_id(chunk), chunk.summary))
        yield from ((message.id, message.content) for message in chunk.messages)
    for talk in workspace.conversations.find():
        yield from ((message.id, message.content) for message in talk.recent_messages)


def _words_with(text: str, wanted: set[str]) -> list[str]:
    """Return the first words of a text that have one of some terms, quoted, each once.

    The digits of a version, a price or a name are no number.
    """
    found: dict[str, str] = {}
    for word in _WORD.findall(text):
        held = wanted.intersection(terms(word))
        if not word.isdigit() and not word.isalpha():
            held = {term for term in held if not term.isdigit()}
        if held and held - found.keys():
            found.update(dict.fromkeys(held, f'"{word}"'))
        if len(set(found.values())) == _WORDS:
            break
    return list(dict.fromkeys(found.values()))
