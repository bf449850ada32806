"""Asking language models: tasks, prompts, ways to ask, and the checks that every answer passes."""
