"""How alike texts and a question are by their letters, whatever forms their words have.

Words of one stem, compounds and slips of the pen have most groups of letters in common. The texts
are those that were found by words: they are too few for an index, and enough to tell which groups
are rare.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from pmem.core.retrieval.bm25 import idf, length_norm, saturation
from pmem.core.text.terms import fold

MOST_GROUPS: Final = 512
"""Groups of letters of a question that are looked for, at the most."""
_SIZE: Final = 4
_K1: Final = 0.9
_B: Final = 0.4
_WORD: Final = re.compile(r"\w+")
_EDGE: Final = " "


def alike_by_letters(question: str, texts: Sequence[str]) -> list[float]:
    """Return how alike each text is to a question, from 0 to 1 for the most alike; 1 if none is.

    That is BM25 over groups of four letters within words, of which a word's first and last begin
    and end with a space; how rare a group is, these texts alone say.
    """
    written = [_words(text) for text in texts]
    lengths = [len(text) for text in written]
    mean = sum(lengths) / len(lengths) if lengths else 0.0
    norms = [length_norm(length, mean, _K1, _B) for length in lengths]
    scores = [0.0] * len(texts)
    for group in islice(dict.fromkeys(_groups(_words(question))), MOST_GROUPS):
        held = [text.count(group) for text in written]
        rare = idf(len(texts), sum(map(bool, held)))
        for place, count in enumerate(held):
            if count:
                scores[place] += rare * saturation(count, norms[place], _K1)
    best = max(scores, default=0.0)
    return [score / best if best else 1.0 for score in scores]


def _words(text: str) -> str:
    """Return the folded words of a text, each between spaces."""
    return _EDGE + _EDGE.join(_WORD.findall(fold(text).casefold())) + _EDGE


def _groups(words: str) -> Iterator[str]:
    """Yield the groups of letters of words."""
    for word in words.split():
        edged = f"{_EDGE}{word}{_EDGE}"
        yield from (edged[at : at + _SIZE] for at in range(max(1, len(edged) - _SIZE + 1)))
