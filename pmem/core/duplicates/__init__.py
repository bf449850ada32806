"""Duplicates among memories, updates of them, contradictions and neighbours.

A content is read once (`claim_of`), two are compared (`compare`), and of many only those that may
relate (`pairs`). See docs/duplicates.md.
"""

from pmem.core.duplicates.comparing import Relation, Verdict, compare
from pmem.core.duplicates.pairing import Pair, pairs
from pmem.core.duplicates.reading import Claim, claim_of

__all__ = ["Claim", "Pair", "Relation", "Verdict", "claim_of", "compare", "pairs"]
