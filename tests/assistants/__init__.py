"""Tests of what stands between the memory and coding assistants."""
