"""Finishing merges that git left unfinished: from its three stages, or from conflict markers.

Versions are gathered by the id inside of them, not by the file they stand in: git's rename
detection pairs a purged record with a new one that looks like it.
"""

from pmem.vcs.repair.service import Repair, Repaired, RepairRequest, problems, repair

__all__ = ["Repair", "RepairRequest", "Repaired", "problems", "repair"]
