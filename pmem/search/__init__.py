"""Finding what is kept: search, contexts, queries, and how good they are."""
