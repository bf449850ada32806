"""Tests of what apps remember."""
