"""Deciding what an app remembers: summing up, choosing what goes, writing it out."""
