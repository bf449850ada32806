"""Scenarios that the source documents name, by document and section."""
