"""Ranking: from a question to the documents that answer it, pure and without a model."""
