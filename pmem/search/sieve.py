"""The filters of a search, by number."""

from collections import Counter
from collections.abc import Collection
from datetime import datetime

from pmem.core.filters import Filter, judge_of
from pmem.core.retrieval.pool import Pool
from pmem.search.hits import SearchKind


class Sieve:
    """The filters of a search, applied to documents by number; counts what each removes."""

    def __init__(self, pool: Pool, wanted: Filter, at: datetime) -> None:
        self.removed: Counter[str] = Counter()
        self._pool = pool
        self._judge = judge_of(wanted)
        self._filtering = wanted != Filter()
        self._invalid = set(pool.invalid(at))
        self.hidden = frozenset(pool.hidden())
        self._judged: dict[int, bool] = {}

    def is_needed(self, kind: SearchKind) -> bool:
        """Tell whether anything of a kind could be filtered away."""
        rarely = kind is SearchKind.MEMORY and bool(self._invalid)
        return self._filtering or bool(self.hidden) or rarely

    def __call__(self, numbers: Collection[int]) -> Collection[int]:
        numbers = [number for number in numbers if number not in self.hidden]
        fresh = [number for number in numbers if number not in self._judged]
        facts = self._pool.facts(fresh) if self._filtering else {}
        for number in fresh:
            reason = "validity" if number in self._invalid else None
            if reason is None and self._filtering:
                reason = self._judge(facts[number])
            self._judged[number] = reason is None
            if reason is not None:
                self.removed[reason] += 1
        return {number for number in numbers if self._judged[number]}
