"""The block that a model reads: what goes in, and how it is written."""
