"""Every use case of pmem, once: what it means, where it is, and what it needs.

The command line, the library and every server read this table; the pipeline runs what stands in
it. A row's type names its request and its answer. Nothing of a use case is loaded before it runs.
"""

# ruff: noqa: F403 - a row's name stands once, where the row does

from typing import Any, Final

from pmem.operations.operation import Operation
from pmem.operations.table.conversations import *
from pmem.operations.table.memories import *
from pmem.operations.table.upkeep import *

TABLE: Final[dict[str, Operation[Any, Any]]] = {
    row.name: row for row in list(globals().values()) if isinstance(row, Operation)
}
"""Every operation by its name."""
