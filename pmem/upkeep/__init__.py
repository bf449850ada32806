"""Keeping the memory in order: checks, consolidation, statistics."""
