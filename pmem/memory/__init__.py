"""Memories: kept, looked at, changed, cited, and what became of them."""
