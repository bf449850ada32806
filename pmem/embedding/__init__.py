"""Vectors of texts: what makes them, when they are made, and what a search gets of them."""
