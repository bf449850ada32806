"""Scenarios and acceptance lines of what was asked for, section by section."""
