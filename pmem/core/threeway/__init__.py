"""Three-way merging of one record, as git asks for it: a base and what became of it on two sides.

Everything here works on JSON as it stands in the files, so keys that this version does not know
are merged like all others. It needs the standard library alone: git starts a process for every
file that it merges.
"""

from pmem.core.threeway.conflicts import open_conflicts
from pmem.core.threeway.record import Merged, merged
from pmem.core.threeway.shapes import SHAPES, RecordShape
from pmem.core.threeway.values import Doubt

__all__ = ["SHAPES", "Doubt", "Merged", "RecordShape", "merged", "open_conflicts"]
