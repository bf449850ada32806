"""The topics of a stretch of conversation: names of things, and words that recur."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, zip_longest
from typing import Final, NamedTuple

from pmem.core.summaries.clauses import called, contents
from pmem.core.summaries.worth import everyday_terms, is_identifier
from pmem.core.text.blocks import read_prose
from pmem.core.text.commands import command_line, edited_files
from pmem.core.text.speech import TOOLS, Speech, speech_of
from pmem.core.text.terms import terms, time_vocabulary
from pmem.core.text.words import STOP_WORDS
from pmem.values.records import Message

TOPICS: Final = 8
NAMED: Final = 2.0
"""How much more a name or an identifier weighs than a word."""
LAST_RESORT: Final = 0.001
"""What an everyday word weighs; such are topics only where there are no others."""
ENOUGH: Final = 3
"""Topics that recur or are names, beside which words said once are none."""
LONGEST: Final = 40
"""Characters of a topic."""
_WORD: Final = re.compile(r"[^\W_][\w'’.:/@%+#&-]*")
_GENITIVE: Final = re.compile(r"['’]s\Z")
_EAST: Final = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_RUN: Final = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff]{2,}|[\u30a1-\u30fa\u30fc]{3,20}|[\uac00-\ud7af]{2,12}|[A-Za-z]{2,}"
)
_FUNCTION: Final = re.compile(
    "[的了是我你您他她它们們在有和与跟就不都也很吗嗎呢吧啊呀这這那个個么麼什把被让讓对對会會要想说說"
    "去来來到從从给給没沒还還再又但因为為所以如果可能一上下里]"
)
_PARTICLE: Final = re.compile("(?<=..)(?:에서|으로|[을를이가은는에의도로와과])\\Z")
Key = tuple[str, ...]


class _TopicSighting(NamedTuple):
    """A word or name as it was met: what it counts as, its spelling, and what it weighs."""

    key: Key
    spelling: str
    weight: float


def key_topics(messages: Iterable[Message], most: int = TOPICS) -> tuple[str, ...]:
    """Return what recurs most in messages, the weightiest first and equals by alphabet.

    Of what people and assistants say only their own words count, of what tools do the names of the
    files that they write; where nobody says anything, the calls do.

    Forms of a word count together and stand in the most frequent of them; names of two words stay
    whole. Chinese is taken in short runs, Japanese by its Chinese and
    katakana words, Korean by words without their particles.
    """
    said = list(messages)
    speakers = frozenset(term for name in called(said) for term in terms(name))
    weights: defaultdict[Key, float] = defaultdict(float)
    spellings: defaultdict[Key, Counter[str]] = defaultdict(Counter)
    for seen in chain.from_iterable(_sightings(text, speakers) for text in _own_words(said)):
        weights[seen.key] += seen.weight
        spellings[seen.key][seen.spelling] += 1
    again = [key for key, weight in weights.items() if weight > 1]
    telling = again if len(again) >= ENOUGH else [key for key in weights if weights[key] >= 1]
    ordered = sorted(telling or weights, key=lambda key: (-weights[key], key))
    return tuple(
        min(spellings[key], key=lambda one: (-spellings[key][one], len(one), one))
        for key in _apart(ordered, most)
    )


def _own_words(said: Sequence[Message]) -> list[str]:
    """Return what was said, and the files that tools wrote; with no talk, what tools were asked."""
    spoken = [speech_of(message) for message in said]
    words = [
        read_prose(text)
        for text, speech in zip(contents(said), spoken, strict=True)
        if speech not in TOOLS
    ]
    calls = [said[place] for place, speech in enumerate(spoken) if speech is Speech.CALL]
    files = [name.rpartition("/")[2] for call in calls for name in edited_files(call)]
    return [*words, *files] if words or files else list(map(command_line, calls))


def merged_topics(
    earlier: Sequence[str], then: Sequence[str], most: int = TOPICS
) -> tuple[str, ...]:
    """Put the topics of two stretches together, forms of a word once.

    Those of both come first, for they lasted; then the best of either in turn, the later first.
    """
    known = set(map(_key, earlier))
    lasting = (topic for topic in then if _key(topic) in known)
    turns = chain.from_iterable(zip_longest(then, earlier, fillvalue=""))
    kept: dict[Key, str] = {}
    for topic in filter(str.strip, (*lasting, *turns)):
        kept.setdefault(_key(topic), topic)
    return tuple(kept.values())[: max(0, most)]


def _key(topic: str) -> Key:
    return tuple(terms(topic)) or (topic.casefold(),)


def _apart(ordered: Iterable[Key], most: int) -> list[Key]:
    """Return the first keys of which none is part of one taken before, nor the other way round."""
    taken: list[Key] = []
    for key in ordered:
        if len(taken) >= most:
            break
        if not any(_overlap(key, other) for other in taken):
            taken.append(key)
    return taken


def _overlap(one: Key, other: Key) -> bool:
    if _EAST.match(one[0]) and _EAST.match(other[0]):
        return one[0] in other[0] or other[0] in one[0]
    return set(one) <= set(other) or set(other) <= set(one)


@lru_cache(maxsize=1)
def _plain() -> frozenset[str]:
    """Return terms that are no topic: everyday words and those that only say when."""
    return everyday_terms() | time_vocabulary()


def _sightings(text: str, speakers: frozenset[str]) -> Iterator[_TopicSighting]:
    previous: re.Match[str] | None = None
    for match in _WORD.finditer(text):
        word = _GENITIVE.sub("", match.group().rstrip(".:/-'’&"))
        if _EAST.search(word):
            yield from _eastern(word)
        else:
            opens = _opens(text, match.start())
            yield from _western(word, opens, speakers)
            if previous is not None and match.start() - previous.end() == 1:
                yield from _pair(previous.group(), word, speakers)
        previous = match


def _opens(text: str, place: int) -> bool:
    """Tell whether a word opens a sentence or a line."""
    before = text[max(0, place - 3) : place].rstrip(" \"'(*#>-")
    return not before or before[-1] in ".!?:\n"


def _western(word: str, opens: bool, speakers: frozenset[str]) -> Iterator[_TopicSighting]:
    found = terms(word)
    if not found or not 2 <= len(word) <= LONGEST or word[0].isdigit():
        return
    key = found[0]
    capital = word[0].isupper()
    is_shouted = len(word) > 2 and word.isupper() and word.lower() in STOP_WORDS  # "NOT"
    if key in speakers or (len(word) == 2 and not capital) or is_shouted:
        return
    if key in _plain() or key.isdigit() or "n't" in word.lower().replace("’", "'"):
        yield _TopicSighting((key,), word.lower(), LAST_RESORT)
        return
    named = is_identifier(word) or word.isupper() or (capital and not opens)
    yield _TopicSighting((key,), word if named else word.lower(), NAMED if named else 1.0)


def _pair(first: str, second: str, speakers: frozenset[str]) -> Iterator[_TopicSighting]:
    """Yield a name of two words that both have a capital; a mark between them parts them."""
    if not (first[0].isupper() and second[0].isupper() and first[-1].isalnum()):
        return
    parts = (*terms(first)[:1], *terms(second)[:1])
    plain = _plain()
    if len(parts) == 2 and speakers.isdisjoint(parts) and not plain.issuperset(parts):
        if parts[0] in plain or len(first) + len(second) >= LONGEST:
            return
        yield _TopicSighting(parts, f"{first} {second}", NAMED + 1.0)


def _eastern(word: str) -> Iterator[_TopicSighting]:
    """Yield words of scripts whose words the eye must part."""
    for match in _RUN.finditer(word):
        run = match.group()
        if "\uac00" <= run[0] <= "\ud7af":
            bare = _PARTICLE.sub("", run)
            yield _TopicSighting((bare,), bare, 1.0)
        elif "\u3400" <= run[0] <= "\u9fff":
            parts = [part for part in _FUNCTION.split(run) if 2 <= len(part) <= 4]
            yield from (_TopicSighting((part,), part, len(part) - 0.5) for part in parts)
        elif run[0] > "\u00ff":
            yield _TopicSighting((run,), run, 1.5)
        else:
            yield from _western(run, False, frozenset())
