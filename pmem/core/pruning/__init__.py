"""Pruning: which messages of a conversation a context leaves out, and why."""
