"""Related words: what a question calls a thing and what a text may call it.

"pet" finds "dog", "job" finds "career", a pair of Chinese characters finds each of the two. The
tables are searched as text and only the groups that matter are analysed, which keeps the first
question of a process cheap.
"""

from functools import lru_cache

from pmem.core.retrieval.related_words import KINDS, SYNONYMS
from pmem.core.text.terms import characters, terms

_KIND_LINES = tuple(" " + line for line in KINDS.strip().split("\n"))
_SYNONYM_LINES = tuple(" " + group for group in SYNONYMS.replace("|", "\n").strip().split("\n"))


@lru_cache(maxsize=4096)
def related(term: str) -> tuple[str, ...]:
    """Return the terms related to a term of a question, sorted, without the term itself."""
    if not term.isascii():
        return tuple(sorted(set(characters(term))))
    start = " " + (term[:-1] if len(term) > 3 else term)
    found: set[str] = set()
    for line in _KIND_LINES:
        if start in line:
            general, instances = line.split(":")
            if start in general and term in terms(general):
                found.update(terms(instances))
    for line in _SYNONYM_LINES:
        if start in line:
            group = terms(line)
            if term in group:
                found.update(group)
    return tuple(sorted(one for one in found - {term} if not one.isdigit()))
