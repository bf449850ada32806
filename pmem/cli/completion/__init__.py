"""Completion of command lines in shells: asked at every press of a key, so little is loaded."""
