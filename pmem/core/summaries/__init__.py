"""Summaries of chunks: which clauses of the messages keep what is asked for later."""
