"""pmem in Python: one class with the operations that the command line has.

Everything returns values and nothing prints. `from pmem import Project`.
"""

from pmem.library.project import Project
from pmem.search.context_request import BuiltContext

__all__ = ["BuiltContext", "Project"]
