"""How a memory should be written: rules for its form, and what a text breaks of them.

A memory is read later, by somebody who was not there. So it says who and what by name (no
pronouns), of a third person, in one or two whole and calm sentences of 280 characters at the
most; what happened is told in the past tense. What tells how something is done
has numbered steps instead.

The rules are for English. Of a text in another script only the length and the number of sentences
count. What stands in quotation marks or back ticks is somebody else's word and is left out.
"""

import re
from collections.abc import Iterator
from itertools import pairwise, zip_longest
from typing import Final, Literal, NamedTuple

from pmem.core.text.words import spelled_out
from pmem.values.patterns import lazily

MOST_CHARACTERS: Final = 280
MOST_SENTENCES: Final = 2
_FEWEST_WORDS: Final = 3
_MOST_READ: Final = 4000
"""Characters that are read for words; the rest is too long anyway."""

Rule = Literal[
    "orders",
    "length",
    "sentences",
    "complete",
    "third_person",
    "pronouns",
    "tone",
    "past_tense",
    "steps",
]

_SPEAKERS: Final = frozenset(
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves".split()
)
_SUBJECTS: Final = frozenset(("i", "we", "you", "they"))
_OTHERS: Final = frozenset(
    "he she they it him her them his hers its their theirs"
    " himself herself itself themselves".split()
)
_PAST: Final = frozenset(
    "was were had did went came got made took gave knew thought said meant paid began became broke"
    " brought built bought caught chose cut drew drove fell felt found forgot grew heard held hit"
    " kept led left lent lost met put ran read rose sat saw sold sent set shut sang spoke spent"
    " split stood stuck taught told threw understood undid won wrote rewrote"
    " froze hung overran withdrew".split()
)
_NO_STEP: Final = (
    _SPEAKERS
    | _OTHERS
    | frozenset(
        "the a an this that these those there everybody everyone somebody someone nobody".split()
    )
)
"""Words with which no imperative begins."""
_HELPERS: Final = frozenset(
    "am is are was were be has have had do does did can could will would shall should may might"
    " must".split()
)
_VERBS: Final = _HELPERS | frozenset("use run keep need go get make write read".split())


_STEP_NUMBER: Final = lazily(r"(?:^|(?<=\s))(\d{1,2})[.)]\s+")
_QUOTED: Final = lazily(
    r"`[^`]{0,400}`|\"[^\"]{0,400}\"|“[^”]{0,400}”|(?<!\w)'[^']{0,400}'(?!\w)|‘[^’]{0,400}’(?!\w)"
)
_WORD: Final = lazily(r"[^\W\d_](?:[\w'’/.-]*[\w])?")


class Lint(NamedTuple):
    """A rule that a text breaks, and what to do about it in a short sentence."""

    rule: Rule
    sentence: str


_SENTENCES: Final[dict[Rule, str]] = {
    "complete": "write a whole sentence",
    "third_person": "say who it is instead of I, we or you",
    "pronouns": "name people and things instead of he, she, it or they",
    "tone": "leave out capitals and exclamation marks that shout",
    "past_tense": "say in the past tense what happened",
    "steps": "number the steps from 1, and begin each with what to do",
}


def lints(text: str, *, episodic: bool = False) -> list[Lint]:
    """Return the rules that a text breaks, each once, in a fixed order."""
    stripped = text.strip()
    found = [*_of_orders(text), *_of_size(stripped)]
    if stripped and _is_english(stripped):
        words = _words(stripped)
        found += [Lint(rule, _SENTENCES[rule]) for rule in _of_words(stripped, words, episodic)]
    return found


def lints_of_steps(text: str) -> list[Lint]:
    """Return the rules that a text breaks that is to tell how something is done.

    It may stand in several sentences: numbered steps, each in the imperative.
    """
    found = list(_of_orders(text))
    if not _is_english(text):
        return found
    words = _words(text)
    rules: list[Rule] = []
    steps = _steps(text)
    if not steps or not all(map(_is_imperative, steps)):
        rules.append("steps")
    if "!" in _without_quotes(text) or _shouts(words):
        rules.append("tone")
    return [*found, *(Lint(rule, _SENTENCES[rule]) for rule in rules)]


def _steps(text: str) -> list[str]:
    """Return the steps of a text that are numbered from 1, on lines of their own or on one."""
    numbers: list[re.Match[str]] = []
    for found in _STEP_NUMBER.finditer(text[:_MOST_READ]):
        if int(found[1]) == len(numbers) + 1:
            numbers.append(found)
    pairs = zip_longest(numbers, numbers[1:])
    return [text[one.end() : after.start() if after else None] for one, after in pairs]


def _is_imperative(step: str) -> bool:
    """Tell whether a step may begin with what to do, or is a command; who does it is not said."""
    lower = [word.lower() for word in _words(step)]
    if not lower:
        return step.startswith("`")
    first, second = lower[0], lower[1] if len(lower) > 1 else ""
    is_form = (first.endswith("ing") and len(first) > 5) or _is_regular_past(first)
    return not is_form and not ({first} & _NO_STEP or second in _HELPERS)


def _of_orders(text: str) -> Iterator[Lint]:
    from pmem.core.instructions import instruction_in

    if what := instruction_in(text):
        yield Lint("orders", f"say what is so; this {what}")


def _of_size(text: str) -> Iterator[Lint]:
    from pmem.core.text.sentences import split_sentences

    if len(text) > MOST_CHARACTERS:
        sentence = f"say it in {MOST_CHARACTERS} characters; these are {len(text)}"
        yield Lint("length", sentence)
    count = len(split_sentences(" ".join(text[: 4 * _MOST_READ].split())))
    if count > MOST_SENTENCES:
        yield Lint("sentences", f"say it in one or two sentences; these are {count}")


def _of_words(text: str, words: list[str], episodic: bool) -> Iterator[Rule]:
    lower = [word.lower() for word in words]
    if (
        len(words) < _FEWEST_WORDS
        or text[-1:] in ":,-"
        or lower[-1] in ("and", "or")
        or not _has_verb(lower)
    ):
        yield "complete"
    if any(_is_speaker(word) for word in words):
        yield "third_person"
    if any(word in _OTHERS or (word.istitle() and word.lower() in _OTHERS) for word in words):
        yield "pronouns"
    if "!" in _without_quotes(text) or _shouts(words):
        yield "tone"
    if episodic and not any(map(_is_past, lower)):
        yield "past_tense"


def _is_speaker(word: str) -> bool:
    """Tell a word for who speaks or is spoken to; `US` is a country and `i` a variable."""
    if word == "I":
        return True
    return word != "i" and not word.isupper() and word.lower() in _SPEAKERS


def _has_verb(lower: list[str]) -> bool:
    """Tell whether a word may be a finite verb; the first word of an English sentence is none.

    What follows `I`, `we`, `you` or `they` is one sooner or later.
    """
    return any(word in _SUBJECTS for word in lower[:-1]) or any(
        word in _VERBS
        or (len(word) > 2 and word[-1] == "s" and word[-2] not in "su'")
        or _is_past(word)
        for word in lower[1:]
    )


def _is_past(word: str) -> bool:
    return word in _PAST or _is_regular_past(word)


def _is_regular_past(word: str) -> bool:
    if word.endswith(("eed", "embed", "hundred")):
        return word in ("agreed", "freed")
    return len(word) > 3 and word.endswith("ed")


def _shouts(words: list[str]) -> bool:
    """Tell whether two long words in a row are all in capitals."""
    loud = [len(word) > 3 and word.isalpha() and word.isupper() for word in words]
    return any(one and other for one, other in pairwise(loud))


def _is_english(text: str) -> bool:
    """Tell whether most of a text's letters are Latin ones."""
    letters = [letter for letter in text[:_MOST_READ] if letter.isalpha()]
    return not letters or 2 * sum(letter < "ɐ" for letter in letters) > len(letters)


def _words(text: str) -> list[str]:
    """Return the words of a text, those of a contraction apart, with their capital letters."""
    found: list[str] = []
    for word in _WORD.findall(_without_quotes(text[:_MOST_READ])):
        if "/" not in word:
            first, *others = spelled_out(word.lower())
            kept = word[: len(first)] if word.lower().startswith(first) else first
            found += ("I" if others and first == "i" else kept, *others)
    return found


def _without_quotes(text: str) -> str:
    return _QUOTED.sub(" ", text)
